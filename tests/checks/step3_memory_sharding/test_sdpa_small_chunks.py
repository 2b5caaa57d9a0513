"""sdpa-small-chunks: fused attention in chunks smaller than its sequence, its grid and L1 allow."""

from __future__ import annotations

import pytest

from tests.checks.rows import put
from tests.checks.step3_programs import assert_cannot_tell, cells, no_such_ops, timeless, without
from tests.for_all import for_all
from tests.profiles import Program, header_of, performance_rows, write_rows
from tests.profiles.model import DeviceOp

SMALL = (32, 32)
ENGINE_NS = 262_144  # 34.4 GFLOP over 4096 rows at HiFi2 on 64 cores


def sdpa(
    program,
    *,
    rows=4096,
    chunks=None,
    kernel_ns=4_000_000,
    name="ScaledDotProductAttention",
    heads=8,
    width=64,
    dtype="BFLOAT16",
    grid="",
):
    shape = [1, heads, rows, width]
    q, k, v = (program.tensor(shape, dtype) for _ in range(3))
    config = (
        f"SDPAProgramConfig({grid}q_chunk_size={chunks[0]},k_chunk_size={chunks[1]},exp_approx_mode=0)"
        if chunks
        else None
    )
    op = DeviceOp(f"{name}DeviceOperation", (q, k, v), (program.tensor(shape, dtype),), kernel_ns, fidelity="HiFi2")
    op.attributes = {"is_causal": False, "program_config": config}
    put(program, op)


def attending(**how):
    program = Program("wormhole_b0")
    sdpa(program, **how)
    return program


def decoding(program, *, chunk=32, cached=128, kernel_ns=92_000, name="SdpaDecode", outside=True):
    q, y = (program.tensor([1, 4, 16, width]) for width in (576, 512))
    op = DeviceOp(f"{name}DeviceOperation", (q, program.tensor([4, 1, cached, 576], "BFLOAT8_B")), (y,), kernel_ns)
    config = f"SDPAProgramConfig(q_chunk_size=0,k_chunk_size={chunk},exp_approx_mode=0)"
    op.attributes = {"k_chunk_size": str(chunk)} if outside else {"program_config": config}
    put(program, op)


def decoded(**how):
    program = Program("wormhole_b0")
    decoding(program, **how)
    return program


def test_sdpa_in_small_chunks_over_a_long_sequence_is_told(check):
    outcome = check.ask(attending(chunks=SMALL))
    claim, line = outcome.claim, outcome.case.line(0)
    assert claim.at_most_ns.tolist() == [pytest.approx(4_000_000 - ENGINE_NS / 0.81)]
    assert claim.claim.startswith(
        "1 fused attention over 4096 rows works in chunks of 32x32 (4.0 ms, 100.0%): 8x4096x64 * "
    )
    assert claim.claim.endswith(f"at line {line}")
    assert "q_chunk_size=256, k_chunk_size=256, exp_approx_mode=False" in claim.fix
    assert "compute_with_storage_grid_size=device.compute_with_storage_grid_size()" in claim.fix
    assert f"op_detail(op={line})" in claim.verify
    assert cells(outcome) == [(line, "DEVICE KERNEL DURATION [ns]"), (line, "ATTRIBUTES")]


def test_a_ladder_measured_on_a_p100a_stays_within_its_bounds(check):
    """tt-metal #55756: 6831 us at 32 x 128, 1835 at 128 x 128, 1284 at 256 x 256; causal, BFLOAT8_B, 110 cores."""

    def at(chunks, kernel_ns):
        program = Program("blackhole", grid=(11, 10))
        shape, kept = [1, 32, 4096, 128], [1, 8, 4096, 128]
        q, k, v, y = (program.tensor(one, "BFLOAT8_B") for one in (shape, kept, kept, shape))
        op = DeviceOp("ScaledDotProductAttentionDeviceOperation", (q, k, v), (y,), kernel_ns, fidelity="HiFi2")
        config = f"SDPAProgramConfig(q_chunk_size={chunks[0]},k_chunk_size={chunks[1]},exp_approx_mode=0)"
        op.attributes = {"is_causal": True, "program_config": config}
        put(program, op)
        return check.ask(program)

    for chunks, us in (((32, 128), 6831), ((128, 128), 1835)):
        assert us - 1284 <= at(chunks, us * 1000).at_most_ns / 1e3 <= us
    assert at((256, 256), 1_284_000).status == "clean"


@for_all("program", [attending, decoded])
def test_texts_are_short_and_cells_its_own(check, program):
    check.assert_sound(program())


def test_no_config_means_chunks_of_32(check):
    assert "over 4096 rows has no program config: chunks of 32x32 (4.0 ms" in check.ask(attending()).claim.claim


def test_a_chunk_of_0_is_one_of_32(check):
    """tt-metal #51911: the default and what 0 stands for."""
    assert "chunks of 32x128" in check.ask(attending(chunks=(0, 128))).claim.claim


def test_the_heaviest_tells_whether_a_config_was_given(check):
    program = attending()
    sdpa(program, chunks=SMALL, rows=2048, kernel_ns=5_000_000)
    outcome = check.ask(program)
    assert "2 fused attentions over 2048 rows work in chunks of 32x32 (9.0 ms" in outcome.claim.claim
    assert len(outcome.claim.evidence) == 4


def test_half_the_pairs_of_chunks_are_worth_a_try(check):
    check.pair(lambda q: attending(chunks=(q, 256)), silent=256, fires=128)
    check.pair(lambda q: attending(chunks=(q, 256)), silent=192, fires=128)


def test_what_has_large_chunks_is_not_claimed_with_others(check):
    program = attending()
    sdpa(program, rows=2048, chunks=(256, 256))
    assert check.ask(program).claim.rows.tolist() == [0]
    program = decoded()
    decoding(program, cached=256, chunk=128)
    assert check.ask(program).claim.rows.tolist() == [0]


def test_an_op_that_is_no_attention_is_not_claimed_with_others(check):
    program = attending()
    x, y = program.tensor([1, 1, 4096, 64]), program.tensor([1, 1, 4096, 64])
    put(program, DeviceOp("UnaryDeviceOperation", (x, x), (y,), 4_000_000))
    assert check.ask(program).claim.rows.tolist() == [0]
    program = decoded()
    decoding(program, name="MadeUpDecode", cached=256)
    assert check.ask(program).claim.rows.tolist() == [0]


def test_the_pairs_that_go_away_bound_the_gain(check):
    """4 pairs become one: of 4 ms 1 ms stays, more than the 324 us of the engine."""
    assert check.ask(attending(chunks=(128, 128))).at_most_ns == pytest.approx(3_000_000)


def test_every_core_keeps_a_chunk_of_queries(check):
    """One head of 2048 rows: 8 chunks of 256 for 64 cores; with 32 every core has one, and K alone grows."""
    alone, both = (check.ask(attending(heads=heads, rows=2048)).claim for heads in (1, 8))
    assert "q_chunk_size=32, k_chunk_size=64" in alone.fix
    assert "q_chunk_size=256" in both.fix
    assert (alone.expected is None, both.expected is None) == (True, False)


def test_chunks_of_attention_whose_pairs_no_report_tells_are_a_trial(check):
    """Nobody knows how much of the engine they use (tt-metal #54492)."""
    made = [
        check.ask(attending(chunks=SMALL, name=f"{kind}ScaledDotProductAttention"))
        for kind in ("", "Windowed", "Neighborhood")
    ]
    assert [outcome.claim.expected is None for outcome in made] == [False, True, True]


def test_chunks_that_do_not_fit_l1_are_not_advised(check):
    after = [
        check.ask(attending(chunks=SMALL, width=width)).claim.fix.endswith("; then try 512") for width in (32, 64)
    ]
    assert after == [True, False]
    """Heads of 512 in FLOAT32 take 2 x 8 x 16 x 4096 bytes for K alone."""
    assert (
        "q_chunk_size=256, k_chunk_size=256"
        not in check.ask(attending(width=512, dtype="FLOAT32", kernel_ns=40_000_000)).claim.fix
    )


def test_sdpa_over_a_short_sequence_is_left_alone(check):
    check.pair(lambda rows: attending(rows=rows), silent=511, fires=512)


def test_half_of_the_engine_is_well_used(check):
    check.pair(lambda ns: attending(kernel_ns=ns), silent=2 * ENGINE_NS, fires=2 * ENGINE_NS + 1)


def test_what_is_moved_stays(check):
    """33.6 MB of Q in and out: 284 us at 240 GB/s; short K and V leave little arithmetic."""
    program = Program("wormhole_b0")
    q, y = program.tensor([16, 8, 2048, 64]), program.tensor([16, 8, 2048, 64])
    k, v = program.tensor([16, 8, 32, 64]), program.tensor([16, 8, 32, 64])
    op = DeviceOp("ScaledDotProductAttentionDeviceOperation", (q, k, v), (y,), 500_000, fidelity="LoFi")
    op.attributes = {"is_causal": False, "program_config": None}
    put(program, op)
    assert check.ask(program).at_most_ns == pytest.approx(500_000 - 2 * (q.bytes + k.bytes) / 240)


@for_all("build", [sdpa, decoding])
def test_one_percent_of_the_window_is_worth_telling(check, build):
    check.share_pair(build, 0.01, of="saving")


@for_all("name", ["JointScaledDotProductAttention", "RingJointSDPA", "SDPA"])
def test_joint_and_ring_forms_have_chunks_too(check, name):
    assert check.ask(attending(name=name)).fires


@for_all("name", ["ScaledDotProductAttentionDecode", "SdpaDecode", "FlashMLADecode", "FlashMLA"])
def test_decode_attention_has_no_chunks_of_q(check, name):
    assert check.ask(attending(name=name, chunks=(32, 128))).status == "clean"


@for_all("outside", [True, False])
def test_decode_over_a_cache_in_small_chunks_is_told(check, outside):
    """tt-metal PR #36440: 92 us with 32, 34 with 128."""
    outcome = check.ask(decoded(outside=outside))
    claim, line = outcome.claim, outcome.case.line(0)
    assert claim.at_most_ns.tolist() == [92_000 * 0.75]
    assert claim.claim.startswith(
        "1 fused attention over a cache of 128 rows takes 32 of them at a time (92 us, 100.0%)"
    )
    assert claim.claim.endswith(f"at line {line}")
    assert claim.fix.startswith("k_chunk_size=128 in ttnn.SDPAProgramConfig")
    assert cells(outcome) == [(line, "DEVICE KERNEL DURATION [ns]"), (line, "ATTRIBUTES")]


def test_a_cache_chunk_of_128_is_large_enough(check):
    check.pair(lambda chunk: decoded(chunk=chunk), silent=128, fires=96)


def test_a_chunk_that_ttnn_chose_for_decode_is_left_alone(check):
    check.pair(lambda chunk: decoded(chunk=chunk), silent=0, fires=32)
    check.pair(lambda chunk: decoded(chunk=chunk, outside=False), silent=0, fires=32)


def test_a_short_cache_has_no_larger_chunk(check):
    """Blocks of a paged cache neither: they do not show how long a sequence is."""
    check.pair(lambda cached: decoded(cached=cached), silent=96, fires=128)


def test_chunks_divide_the_padded_cache(check):
    """Real TTNN: "K sequence length must be multiple of chunk size"; a cache of 1000 rows is padded to 1024."""
    check.pair(lambda cached: decoded(cached=cached), silent=288, fires=1000)


def test_chunks_divide_where_they_start(check):
    """Real TTNN: "chunk_start_idx must be a multiple of q_chunk_size", and of k_chunk_size (#35225)."""

    def chunks(start):
        made = attending()
        made.device_ops[0].attributes["chunk_start_idx"] = start
        return check.ask(made).claim.fix

    assert "q_chunk_size=128, k_chunk_size=128" in chunks("1152")
    assert "q_chunk_size=256, k_chunk_size=256" in chunks("1280")
    assert "q_chunk_size=256, k_chunk_size=256" in chunks("std::nullopt")


def test_a_start_that_a_tensor_says_is_only_known_to_divide_by_the_present_chunks(check):
    """Real TTNN rounds it down to whole chunks and says nothing: the rows would be wrong."""

    def asked(start):
        made = attending()
        made.device_ops[0].attributes["chunk_start_idx_tensor"] = start
        return made

    check.pair(asked, silent="Tensor(storage=DeviceStorage())", fires="std::nullopt")


def test_an_approximate_exponent_stays(check):
    """Without it the op computes other values, in more time."""
    made = attending(chunks=SMALL)
    made.device_ops[0].attributes["program_config"] = (
        "SDPAProgramConfig(q_chunk_size=32,k_chunk_size=32,exp_approx_mode=1)"
    )
    assert "exp_approx_mode=True)" in check.ask(made).claim.fix
    made.device_ops[0].attributes["program_config"] = (
        "SDPAProgramConfig(q_chunk_size=32,k_chunk_size=32,sub_core_grids={[(x=0;y=0) - (x=7;y=1)]})"
    )
    assert "exp_approx_mode=True, sub_core_grids=<as now>)" in check.ask(made).claim.fix
    assert "exp_approx_mode=False)" in check.ask(attending(chunks=SMALL)).claim.fix


def test_decode_of_five_microseconds_is_about_its_launch(check):
    check.pair(lambda ns: decoded(kernel_ns=ns), silent=4_999, fires=6_000)
    assert check.ask(decoded(kernel_ns=6_000)).at_most_ns == 1_000
    program = decoded()
    decoding(program, cached=256, kernel_ns=4_999)
    assert check.ask(program).claim.rows.tolist() == [0]


def test_prefill_and_decode_are_two_claims(check):
    program = attending()
    decoding(program, kernel_ns=1_000_000)
    prefill, decode = check.ask(program).claims
    assert (prefill.rows.tolist(), decode.rows.tolist()) == ([0], [1])


def test_a_window_without_kernel_time_is_clean(check):
    assert check.ask(timeless(attending(chunks=(256, 256)))).status == "clean"


def test_no_option_of_a_compiler_sets_the_chunks(check):
    """tt-mlir's SDPAFusingPattern.cpp of August 2026 passes an empty program config at every optimization level."""
    fix = check.ask(attending(), generation="tt-torch").claim.fix
    assert "optimization_level" not in fix
    assert "tt-xla has no option for it" in fix


def test_a_run_without_fused_attention_is_not_applicable(check):
    outcome = check.ask(no_such_ops())
    assert (outcome.status, outcome.why) == ("not_applicable", "no fused attention")


@for_all(("lost", "word"), [("PUT_", "INPUT_n"), ("INPUT_", "INPUT_n"), ("ATTRIBUTES", "no ATTRIBUTES")])
def test_what_it_cannot_see_it_cannot_tell(check, tmp_path, lost, word):
    assert_cannot_tell(check.ask(without(tmp_path, (lost,))), word)


def test_one_op_with_attributes_is_enough_to_look(check, tmp_path):
    program = attending(rows=2080)
    sdpa(program)
    rows = performance_rows(program)
    for row in rows[1::2]:
        row["ATTRIBUTES"] = ""
    assert check.ask(write_rows(tmp_path / "ops_perf_results_made.csv", rows, header_of(rows, "C7"))).fires


def test_without_keys_nothing_tells_how_long_the_cache_is(check):
    assert check.ask(decoded(), without="INPUT_[1-9]").status == "cannot_tell"


def test_of_a_paged_cache_all_blocks_are_known_and_chunks_of_512_are_its_trial(check):
    """At 131,071 tokens chunks of 64 took 492 us, TTNN's own 199 (Muse-Glimmer 30B)."""

    def paged(blocks, *, told=True, rows=64, chunk=64, causal=True):
        program = Program("blackhole")
        q, keys = program.tensor([1, 1, 32, 128]), program.tensor([blocks, 2, rows, 128])
        out = program.tensor([1, 1, 32, 128])
        op = DeviceOp("SdpaDecodeDeviceOperation", (q, keys, keys), (out,), 492_000, fidelity="HiFi2")
        op.attributes = {"paged_attention": told, "program_config": f"SDPAProgramConfig(k_chunk_size={chunk})"}
        op.attributes |= {} if causal is None else {"is_causal": causal}
        put(program, op)
        return program

    claim = check.pair(paged, silent=1, fires=2).claim
    assert claim.claim.startswith(
        "1 fused attention over a paged cache of 2 blocks of 64 rows takes 64 of them at "
    )
    assert claim.at_most_ns.tolist() == [492_000 * 7 / 8]
    assert claim.expected is None
    for how in ({"told": False}, {"chunk": 128}):
        assert check.ask(paged(2048, **how)).status == "clean"
    for rows in (128, 160):  # blocks that 128 need not divide
        assert check.ask(paged(2048, rows=rows)).claim.at_most_ns.tolist() == [492_000 / 2]
    # real TTNN of those: "K sequence length must be multiple of chunk size"
    for rows, causal, status in (
        (64, False, "clean"),
        (64, None, "found"),
        (160, False, "clean"),
        (256, False, "found"),
    ):
        assert check.ask(paged(2048, rows=rows, causal=causal)).status == status
