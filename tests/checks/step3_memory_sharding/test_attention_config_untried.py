"""attention-config-untried: other chunks or cores of an attention that is short of its roofline, as a trial."""

from __future__ import annotations

import pytest

from tests.checks.step3_memory_sharding.test_sdpa_small_chunks import attending, decoded, sdpa
from tests.checks.step3_programs import assert_cannot_tell, no_such_ops, rewritten, without
from tests.for_all import for_all
from tests.profiles import Program

ENGINE_NS = 262_144  # 34.4 GFLOP over 4096 rows at HiFi2 on 64 cores


def test_an_attention_under_60_percent_of_its_roofline_is_a_trial(check):
    outcome = check.pair(
        lambda used: attending(chunks=(128, 256), kernel_ns=round(ENGINE_NS / used)), silent=0.61, fires=0.59
    )
    claim = outcome.claim
    assert claim.claim.startswith("1 fused attention (444 us, 100.0%) with settings that this run did not try: ")
    assert "q_chunk_size 64 or 256 (128 now), k_chunk_size 128 or 512 (256 now)" in claim.fix
    assert "compute_with_storage_grid_size" not in claim.fix  # it has no more cores
    assert claim.expected is None


def test_all_above_the_arithmetic_may_go(check):
    outcome = check.ask(attending(kernel_ns=2 * ENGINE_NS))
    assert outcome.at_most_ns == pytest.approx(ENGINE_NS, rel=0.001)


def test_of_a_decode_only_chunks_of_keys_and_cores_per_head_are_told(check):
    fix = check.ask(decoded(chunk=64)).claim.fix
    assert "with k_chunk_size 32 or 128 (64 now)" in fix
    assert "q_chunk_size" not in fix
    assert "max_cores_per_head_batch=32" in fix
    assert "k_chunk_size 128 (TTNN chose)" in check.ask(decoded(chunk=0)).claim.fix  # of a cache of 128 keys
    assert "max_cores_per_head_batch" not in check.ask(attending()).claim.fix


def test_chunks_of_a_cache_divide_it_and_of_pages_they_need_not(check):
    def fix(paged=False, causal=True, **how):
        made = decoded(**how)
        made.device_ops[0].attributes |= {"paged_attention": paged, "is_causal": causal}
        return check.ask(made).claim.fix

    assert "k_chunk_size 128 or 256 (TTNN chose)" in fix(chunk=0, cached=256)
    assert "k_chunk_size 128 (TTNN chose)" in fix(chunk=0, cached=384)
    assert "k_chunk_size" not in fix(chunk=0, cached=64)
    assert "k_chunk_size 128 or 256 (TTNN chose)" in fix(paged=True, chunk=0, cached=64)
    assert "k_chunk_size" not in fix(paged=True, causal=False, chunk=0, cached=64)


def test_other_ops_are_left_alone(check):
    program = attending()
    sdpa(program, name="Ternary")
    assert check.ask(program).claim.rows.tolist() == [0]


def test_only_chunks_and_cores_that_the_op_can_take_are_told(check):
    """Eight heads of 4096 rows: 128 chunks of 256 are two a core on 110 and on 64; 256 of 128 are three and four."""

    def fix(**how):
        claims = check.ask(attending(**how)).claims
        return claims[0].fix if claims else None

    def on_110(chunk, grid=""):
        program = Program("blackhole", grid=(11, 10))
        sdpa(program, chunks=(chunk, 128), grid=grid)
        return "(8, 8)" in check.ask(program).claim.fix

    assert "q_chunk_size 64 (32 now), k_chunk_size 32 or 128 (64" in fix(chunks=(32, 64))
    assert "q_chunk_size 64 or 320 (160 now), k_chunk_size 32 or 192" in fix(chunks=(160, 96)), "whole tiles"
    short = fix(rows=128, chunks=(128, 64), heads=64, kernel_ns=900_000)
    assert "q_chunk_size 64 (128 now), k_chunk_size 32 or 128 (64 now)" in short
    assert "q_chunk_size 128 (256 now), k_chunk_size 128 (256 now)" in fix(chunks=(256, 256), width=128)
    assert "q_chunk_size 256 or 1024 (512 now)" in fix(chunks=(512, 512), width=128), "the model does not know it"
    assert fix(rows=32, chunks=(32, 32), heads=512, kernel_ns=900_000) is None
    assert [on_110(chunk) for chunk in (256, 128)] == [True, False]
    assert not on_110(256, "compute_with_storage_grid_size=(x=8,y=8),")


def test_chunks_divide_where_a_prompt_s_chunk_starts(check):
    def fix(chunks=(128, 128), **start):
        made = attending(chunks=chunks, **({"width": 128} if chunks == (512, 512) else {}))
        made.device_ops[0].attributes.update(start)
        return check.ask(made).claim.fix

    assert "q_chunk_size 64 (128 now), k_chunk_size 64 (128 now)" in fix(chunk_start_idx="1152")
    assert "q_chunk_size 64 or 256 (128 now), k_chunk_size 64 or 256 (128 now)" in fix(chunk_start_idx="1280")
    assert "q_chunk_size 256 (512 now), k_chunk_size 256 (512 now)" in fix((512, 512), chunk_start_idx="1536")
    tensor = {"chunk_start_idx_tensor": "Tensor(storage=DeviceStorage())"}
    assert "q_chunk_size 64 (128 now)" in fix(**tensor)
    assert "k_chunk_size" not in fix(**tensor), "how many keys there are is not known"


@for_all("name", ["RingJointSDPA", "JointScaledDotProductAttention"])
def test_forms_with_an_exchange_or_a_second_sequence_are_told_where_they_print_their_chunks(check, name):
    """Larger chunks of keys saved 12 % of Kimi K3's ring attention."""
    ring = check.pair(lambda chunks: attending(name=name, chunks=chunks), silent=None, fires=(128, 256)).claim
    assert "check_setting first" not in ring.caveat  # it does not model their L1
    check.pair(lambda ns: attending(name=name, chunks=(128, 256), kernel_ns=ns), silent=70_000, fires=4_000_000)


def test_what_it_cannot_see_it_cannot_tell(check, tmp_path):
    assert check.ask(no_such_ops()).why == "no fused attention"
    for lost in ("PUT_", "ATTRIBUTES"):
        assert check.ask(without(tmp_path, (lost,), attending())).status == "cannot_tell"
    assert_cannot_tell(check.ask(rewritten(tmp_path, attending(), DEVICE_ARCH="quasar")), "DEVICE ARCH")


def test_texts_are_short_and_cells_its_own(check):
    check.assert_sound(attending())
    check.assert_sound(decoded())


def test_five_microseconds_and_one_percent_of_the_window_are_worth_telling(check):
    check.pair(lambda ns: decoded(kernel_ns=ns), silent=4_900, fires=5_100)
    check.share_pair(lambda program: sdpa(program, kernel_ns=2_000_000), 0.01, of="saving")
