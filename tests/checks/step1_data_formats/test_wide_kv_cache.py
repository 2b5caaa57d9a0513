"""wide-kv-cache: decode attention on keys and values of 16 bits."""

from __future__ import annotations

import pytest

from tests.checks.rows import ONE_PASS, put
from tests.checks.step3_programs import assert_cannot_tell, no_such_ops, without
from tests.for_all import for_all
from tests.profiles import DRAM, L1, Program
from tests.profiles.model import DeviceOp
from ttnn_mcp.analyses.roofline.launch import LAUNCH_FLOOR_NS


def attend(program, dtype="BFLOAT16", *, place=DRAM, name="SdpaDecode", ns=100_000):
    q, out = (program.tensor([1, 8, 32, 128]) for _ in range(2))
    keys = [program.tensor([8, 8, 1024, 128], dtype, placement=place) for _ in range(2)]
    put(program, DeviceOp(f"{name}DeviceOperation", (q, *keys), (out,), ns, fidelity="HiFi2"))


def of(*args, **how):
    program = Program("wormhole_b0")
    attend(program, *args, **how)
    return program


def test_a_cache_of_16_bits_is_named(check):
    claim = check.assert_sound(of())
    assert claim.claim.startswith(
        "1 decode attention op reads a cache in BFLOAT16 (100 us, 100.0%): 8x8x1024x128, "
    )
    assert claim.at_most_ns.tolist() == pytest.approx([(1 - 1088 / 2048) * (100_000 - LAUNCH_FLOOR_NS)])
    assert "dtype=ttnn.bfloat8_b" in claim.fix
    assert [one.value for one in claim.evidence] == [100_000, "BFLOAT16", "DEV_0_DRAM_INTERLEAVED"]


def test_float32_spares_more(check):
    assert check.ask(of("FLOAT32")).at_most_ns == pytest.approx((1 - 1088 / 4096) * 99_000, rel=0.01)


@for_all("dtype", ["BFLOAT8_B", "BFLOAT4_B"])
def test_narrow_caches_stay(check, dtype):
    check.pair(of, silent=dtype, fires="BFLOAT16")


def test_a_cache_in_l1_stays(check):
    check.pair(lambda place: of(place=place), silent=L1, fires=DRAM)


@for_all(("latent", "caches"), [(True, 1), (False, 2)])
def test_a_small_cache_is_read_in_less_than_the_time_tells(check, latent, caches):
    """A latent of 64 kB per user is key and value; its bytes need far less than the 100 us."""

    def program(positions):
        made = Program("wormhole_b0")
        q, out = (made.tensor([1, 8, 32, 128]) for _ in range(2))
        keys = made.tensor([8, 1, positions, 128])
        op = DeviceOp("SdpaDecodeDeviceOperation", (q, keys, keys), (out,), 100_000, fidelity="HiFi2")
        op.attributes = {"use_mla": latent}
        put(made, op)
        return made

    claim = check.ask(program(1024)).claim
    spared = 8 * 1024 * 128 * 2 * (1 - 1088 / 2048)
    assert claim.at_most_ns.tolist() == pytest.approx([2 * caches * spared / 240], rel=0.01)


def test_prefill_is_not_asked(check):
    assert check.ask(of(name="ScaledDotProductAttention")).status == "not_applicable"
    assert check.ask(of(name="PagedScaledDotProductAttentionDecode")).fires


def test_what_128_tokens_take_in_any_format_is_no_matter_of_bytes(check):
    check.pair(lambda ns: of(ns=ns), silent=34_000, fires=34_001)


def test_several_are_several(check):
    program = of()
    attend(program, ns=150_000)
    assert check.ask(program, ONE_PASS, chosen="all").claim.claim.startswith(
        "2 decode attention ops read a cache in BFLOAT16 (250 us"
    )


def test_only_decode_attention_on_wide_caches_is_claimed(check):
    program = of("BFLOAT8_B", ns=40_000)
    attend(program)
    attend(program, name="ScaledDotProductAttention")
    assert check.ask(program, ONE_PASS, chosen="all").claim.rows.tolist() == [1]


def test_one_percent_of_the_window_is_the_line(check):
    check.share_pair(attend, 0.01, of="saving")


def test_a_compilers_user_sets_an_option(check):
    assert "experimental-kv-cache-dtype" in check.ask(of(), generation="tt-torch").claim.fix


def test_a_run_without_decode_attention_is_not_applicable(check):
    assert check.ask(no_such_ops()).status == "not_applicable"


def test_what_it_cannot_see_it_cannot_tell(check, tmp_path):
    assert_cannot_tell(check.ask(without(tmp_path, ("PUT_",), of())), "INPUT_n")


def test_bytes_that_explain_under_70_percent_of_the_time_expect_nothing(check, measured):
    """Two caches of 16.8 MB take 139.8 us at 240 GB/s."""
    measured("wide-kv-cache")
    expects = [check.ask(of(ns=ns)).claim.expected is not None for ns in (199_000, 201_000)]
    assert expects == [True, False]
