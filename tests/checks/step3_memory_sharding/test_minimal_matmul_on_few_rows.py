"""minimal-matmul-on-few-rows: made for large M, it does not stream the weights of one row of tiles."""

from __future__ import annotations

import pytest

from tests.checks.rows import pass_time, put
from tests.checks.step3_programs import assert_cannot_tell, cells, no_such_ops, rewritten, timeless, without
from tests.for_all import for_all
from tests.profiles import Program
from tests.profiles.model import DeviceOp
from ttnn_mcp.analyses.roofline.launch import LAUNCH_FLOOR_NS

MOVED = (1280 * 1280 + 2 * 32 * 1280) * 2  # 3.4 MB: 18.1 us at 190 GB/s


def minimal(program, *, rows=19, batch=1, times=4, kernel_ns=60_000, layout="TILE", width=1280):
    x, y = (program.tensor([1, batch, rows, side], layout=layout) for side in (1280, width))
    w = program.weight([1, 1, 1280, width])
    for _ in range(times):
        put(program, DeviceOp("MinimalMatmulOp", (x, w), (y,), kernel_ns, fidelity="HiFi4"))


def program_of(**how):
    program = Program("wormhole_b0")
    minimal(program, **how)
    return program


def test_minimal_matmul_over_one_row_of_tiles_is_the_wrong_tool(check):
    program = program_of()
    minimal(program, rows=64, times=1)
    outcome = check.ask(program)
    claim, line = outcome.claim, outcome.case.line(0)
    assert claim.at_most_ns.tolist() == [pytest.approx(60_000 - MOVED / 190)] * 4
    assert claim.claim == (
        "4 minimal_matmul calls with at most 32 rows (240 us, 78.4%) at 20% of DRAM peak: "
        f"19[32]x1280 * 1280x1280 -> 19[32]x1280 at line {line}"
    )
    assert claim.assumption == "weights at the 190 GB/s measured: 72 us"
    assert claim.fix.startswith("w interleaved, ttnn.MatmulMultiCoreReuseMultiCast1DProgramConfig(")
    assert claim.fix.endswith("; compute_kernel_config=<as now>"), "a linear has other passes of its own"
    assert cells(outcome) == [(line, "DEVICE KERNEL DURATION [ns]"), (line, "INPUT_1_MEMORY")]


def test_without_a_format_no_share_of_the_peak_is_told(check, tmp_path):
    assert "peak" not in check.ask(without(tmp_path, ("INPUT_1_DATATYPE",), program_of())).claim.claim


def test_texts_are_short_and_cells_its_own(check):
    check.assert_sound(program_of())


def test_what_does_more_than_multiply_is_no_linear(check):
    def of(**attributes):
        made = program_of()
        for op in made.device_ops:
            op.attributes = attributes
        return made

    check.pair(lambda flag: of(fuse_swiglu=flag), silent="true", fires="false")
    applied = "(op_type=UnaryOpType::{},param={{}})".format
    check.pair(lambda name: of(fused_activation=applied(name)), silent="SQUARE", fires="SILU")


def test_minimal_matmul_is_fine_from_two_rows_of_tiles_on(check):
    check.pair(lambda rows: program_of(rows=rows, layout="ROW_MAJOR"), silent=33, fires=32)


def test_rows_of_all_batches_count_together(check):
    check.pair(lambda batch: program_of(rows=8, batch=batch, layout="ROW_MAJOR"), silent=5, fires=4)


def test_minimal_matmul_that_streams_is_fine_too(check):
    """18,108 ns / 0.6."""
    assert pytest.approx(18_108, abs=1) == MOVED / 190
    check.pair(lambda ns: program_of(kernel_ns=ns), silent=30_181, fires=30_182)


def test_a_long_inner_dimension_goes_to_the_banks_on_wormhole(check):
    """Measured from K of 2048 on; Blackhole's multicast is faster than its banks."""

    def long(arch):
        program = Program(arch)
        x, y = (program.tensor([1, 1, 32, 2048]) for _ in range(2))
        op = DeviceOp("MinimalMatmulOp", (x, program.weight([1, 1, 2048, 2048])), (y,), 200_000, fidelity="LoFi")
        put(program, op)
        return check.ask(program)

    wormhole, blackhole = long("wormhole_b0"), long("blackhole")
    assert "DRAMShardedProgramConfig(in0_block_w=8, per_core_M=1" in wormhole.claim.fix
    moved = (2048 * 2048 + 2 * 32 * 2048) * 2
    assert wormhole.at_most_ns == pytest.approx(200_000 - moved / 240, abs=1)
    assert "MultiCast1DProgramConfig" in blackhole.claim.fix
    assert blackhole.at_most_ns == pytest.approx(200_000 - moved / 390, abs=1)


def test_one_call_is_one(check):
    assert check.ask(program_of(times=1)).claim.claim.startswith("1 minimal_matmul call with at most")


def test_a_small_matmul_takes_a_launch(check):
    program = Program("wormhole_b0")
    x, w, y = (program.tensor([1, 1, 32, 32]) for _ in range(3))
    put(program, DeviceOp("MinimalMatmulOp", (x, w), (y,), 10_000, fidelity="LoFi"))
    assert check.ask(program).at_most_ns == 10_000 - LAUNCH_FLOOR_NS


def test_one_percent_of_the_window_is_worth_telling(check):
    def build(program):
        minimal(program)
        pass_time(program, 10_000)

    check.share_pair(build, 0.01, of="saving")


def test_the_range_of_bandwidth_is_told(check):
    program = program_of(times=1)
    minimal(program, times=1, kernel_ns=100_000, width=640)
    outcome = check.ask(program)
    slow, fast = (1280 * 640 + 32 * 1920) * 2 / 288 / 100_000, MOVED / 288 / 60_000
    assert f"at {slow:.0%} to {fast:.0%} of DRAM peak" in outcome.claim.claim
    assert outcome.claim.claim.endswith(f"19[32]x640 at line {outcome.case.line(1)}")
    assert len(outcome.claim.evidence) == 4


def test_a_window_without_kernel_time_is_clean(check):
    assert check.ask(timeless(program_of())).status == "clean"


def test_without_a_fidelity_the_share_of_dram_peak_is_still_known(check):
    program = program_of()
    for op in program.device_ops:
        op.fidelity = None
    assert "at 20% of DRAM peak" in check.ask(program).claim.claim


def test_a_compiler_has_an_option_instead(check):
    fix = check.ask(program_of(), generation="tt-torch").claim.fix
    assert "optimization_level" in fix
    assert fix.endswith("chooses matmul configs")


def test_a_run_without_minimal_matmuls_is_not_applicable(check):
    outcome = check.ask(no_such_ops())
    assert (outcome.status, outcome.why) == ("not_applicable", "no minimal_matmul ops")


@for_all("lost", ["PUT_", "PUT_1"])
def test_without_operands_it_cannot_tell(check, tmp_path, lost):
    assert_cannot_tell(check.ask(without(tmp_path, (lost, "INPUT_2"))), "INPUT_n")


def test_an_unknown_chip_has_no_bandwidth_to_compare_with(check, tmp_path):
    outcome = check.ask(rewritten(tmp_path, program_of(), DEVICE_ARCH="quasar"))
    assert_cannot_tell(outcome, "DRAM bandwidth", "DEVICE ARCH")


def test_an_unknown_chip_does_not_matter_to_many_rows(check, tmp_path):
    assert check.ask(rewritten(tmp_path, program_of(rows=64), DEVICE_ARCH="quasar")).status == "clean"
