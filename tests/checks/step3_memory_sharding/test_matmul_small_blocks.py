"""matmul-small-blocks: matmuls that work tile by tile, each against its roofline."""

from __future__ import annotations

import re

import pytest

from tests.checks.matmul_programs import (
    MOVED_NS,
    config,
    linear,
    of_blocks,
    of_decoding,
    of_linear,
)
from tests.checks.rows import put
from tests.checks.step3_programs import cells
from tests.for_all import for_all
from tests.profiles import (
    DRAM,
    L1,
    Program,
    block_sharded,
    header_of,
    height_sharded,
    performance_rows,
    width_sharded,
    write_rows,
)
from tests.profiles.ops import matmul

TIME, CONFIG = "DEVICE KERNEL DURATION [ns]", "ATTRIBUTES.program_config"

DEVICES_GRID = (
    "g = device.compute_with_storage_grid_size(); ttnn.linear(x, w, core_grid=ttnn.CoreGrid(y=g.y, x=g.x), comp"
)


@for_all(
    ("given", "seen", "cell"),
    [
        (
            config(block=1),
            "in0_block_w 1, subblock of 4 tiles",
            "in0_block_w=1; out_subblock_h=1; out_subblock_w=4; per_core_M=4; per_core_N=4",
        ),
        (
            config(height=1, width=1),
            "in0_block_w 4, subblock of 1 tile",
            "in0_block_w=4; out_subblock_h=1; out_subblock_w=1; per_core_M=4; per_core_N=4",
        ),
        ("MatmulMultiCoreProgramConfig()", "MatmulMultiCoreProgramConfig", "MatmulMultiCoreProgramConfig()"),
        ("SomeProgramConfig(in0_block_w=1)", "in0_block_w 1", "in0_block_w=1"),
    ],
)
def test_small_blocks_are_told(check, given, seen, cell):
    outcome = check.ask(of_linear(program_config=given))
    claim, line = outcome.claim, outcome.case.line(0)
    assert claim.at_most_ns.tolist() == [pytest.approx(100_000 - MOVED_NS)]
    assert claim.claim == (
        f"1 matmul runs with small blocks ({seen}) and reaches 26% of the roofline (100 us, 100.0%): "
        f"1024x1024 * 1024x1024 -> 1024x1024 at line {line}, 100 us"
    )
    assert cells(outcome) == [(line, TIME), (line, CONFIG)]
    assert claim.evidence[1].value == cell
    assert f"op_detail(op={line})" in claim.verify
    assert claim.caveat.endswith("pass compute_kernel_config, or bfloat16 drops to LoFi")


@for_all(("function", "is_trial"), [("GELU", True), ("SILU", True), ("RELU", False), (None, False)])
def test_blocks_of_a_matmul_that_applies_a_function_of_the_vector_unit_are_a_trial(check, function, is_trial):
    printed = config(block=1).replace("fused_activation=None", "") + (
        f"; fused_activation=UnaryWithParam(op_type=UnaryOpType::{function})" if function else ""
    )
    assert (check.ask(of_linear(program_config=printed)).claim.expected is None) is is_trial


def test_texts_are_short_and_cells_its_own(check):
    check.assert_sound(of_linear(kernel_ns=150_000, program_config=config(block=1)))


@for_all(
    ("sides", "x_lies", "y_lies", "words"),
    [
        (
            (1024, 1024),
            block_sharded(128, 128, (8, 8)),
            DRAM,
            "x in shards of 4 rows and a multiple of 8 columns of tiles",
        ),
        ((1024, 1024), DRAM, height_sharded(32, 1024, (8, 4)), "y interleaved"),
        ((1024, 1024), width_sharded(1024, 32, (8, 4)), width_sharded(1024, 32, (8, 4)), "x and y interleaved"),
        ((8192, 256), height_sharded(128, 1024, (8, 8)), DRAM, "x in shards of 4 rows of tiles"),
        ((32, 4096), width_sharded(32, 32, (8, 4)), DRAM, "x on 4 cores"),
    ],
)
def test_what_lies_in_shards_must_lie_as_the_program_takes_it(check, sides, x_lies, y_lies, words):
    """Real TTNN: 2D reads and writes blocks, 1D columns, or rows where it does not multicast x; each cut as it works."""
    made = of_linear(m=sides[0], n=sides[1], kernel_ns=2_000_000, program_config=config(block=1))
    op = made.device_ops[0]
    op.inputs[0].placement, op.outputs[0].placement = x_lies, y_lies
    fix = check.ask(made).claim.fix
    assert f"fused_activation=None); {words}; keep" in fix
    op.inputs[0].placement = op.outputs[0].placement = DRAM
    assert "fused_activation=None); keep" in check.ask(made).claim.fix


@for_all(
    ("sides", "x_lies", "words"),
    [
        (
            (256, 1024, 1024),
            block_sharded(32, 128, (8, 8)),
            "x in shards of 1 row and a multiple of 8 columns of tiles",
        ),
        ((1024, 37 * 32, 1024), block_sharded(128, 160, (8, 8)), "x in shards of 4 rows of tiles"),
        ((32, 256, 4096), width_sharded(32, 32, (8, 1)), "x on 1 core"),
    ],
)
def test_one_row_or_core_is_one_and_of_one_column_each_number_is_a_multiple(check, sides, x_lies, words):
    m, k, n = sides
    made = of_linear(m=m, k=k, n=n, kernel_ns=2_000_000, program_config=config(block=1))
    made.device_ops[0].inputs[0].placement = x_lies
    assert f"fused_activation=None); {words}; keep" in check.ask(made).claim.fix


def test_into_shards_subblocks_are_one_row_of_tiles_or_as_wide_as_the_block(check):
    """Real TTNN: "out_subblock_w (1) must equal per_core_N (2) or out_subblock_h (2) must be 1"."""

    def sizes(into):
        made = of_linear(n=32 * 9 * 8, kernel_ns=2_000_000, program_config=config(block=1))
        made.device_ops[0].outputs[0].placement = into
        return re.search(r"out_subblock_h=\d, out_subblock_w=\d", check.ask(made).claim.fix)[0]

    assert sizes(DRAM) == "out_subblock_h=2, out_subblock_w=3"
    assert sizes(block_sharded(128, 288, (8, 8))) == "out_subblock_h=1, out_subblock_w=3"


def test_one_tile_of_k_per_step_is_small(check):
    check.pair(of_blocks, silent=2, fires=1)


def test_one_tile_of_output_per_step_is_small(check):
    check.pair(lambda width: of_blocks(4, 1, width), silent=2, fires=1)
    check.pair(lambda height: of_blocks(4, height, 1), silent=2, fires=1)


def test_a_core_with_one_tile_of_output_has_no_larger_subblock(check):
    check.pair(lambda tiles: of_blocks(4, 1, 1, per_core=(1, tiles)), silent=1, fires=2)


def test_a_short_inner_dimension_leaves_nothing_to_block(check):
    check.pair(lambda k: of_linear(k=k, program_config=config(block=1)), silent=96, fires=128)


def test_a_matmul_at_sixty_percent_of_its_roofline_is_well_blocked(check):
    check.pair(lambda ns: of_linear(kernel_ns=ns, program_config=config(block=1)), silent=43_690, fires=43_691)


def test_a_good_config_far_from_the_roofline_is_not_told(check):
    """What holds it up is not its blocks."""
    assert check.ask(of_linear(program_config=config())).status == "clean"


def test_one_percent_of_the_window_is_worth_telling(check):
    check.share_pair(
        lambda program: linear(program, kernel_ns=100_000, program_config=config(block=1)), 0.01, of="saving"
    )


def test_below_five_microseconds_an_op_is_about_its_launch(check):
    tiny = {"m": 128, "k": 128, "n": 128}
    check.pair(
        lambda ns: of_linear(**tiny, kernel_ns=ns, program_config=config(block=1)), silent=4_999, fires=5_000
    )


@for_all(
    ("given", "placement", "told"),
    [
        ("MatmulMultiCoreProgramConfig()", L1, True),
        ("MatmulMultiCoreProgramConfig()", DRAM, False),
        (config(1), L1, False),
    ],
)
def test_the_fallback_for_operands_in_l1_is_told_with_its_remedy(check, given, placement, told):
    """tt-mlir #7702: 2027 us, 264 with the output in DRAM."""
    program = Program("wormhole_b0")
    x, w, y = program.tensor([1, 1, 1024, 640]), program.weight([1, 1, 640, 5120]), program.tensor([1, 1, 1024, 5120], placement=placement)  # fmt: skip
    put(program, matmul(x, w, y, 2_027_000, program_config=given))
    assert ("ttnn.DRAM_MEMORY_CONFIG" in check.ask(program).claim.fix) is told


def test_batches_that_do_not_fit_together_come_one_after_the_other(check):
    """A vision tower's 6 x 2048 rows: 2048 fit."""
    program = Program("wormhole_b0")
    x, w = program.tensor([1, 6, 2048, 1152]), program.weight([1, 1, 1152, 2304], "BFLOAT8_B")
    put(program, matmul(x, w, program.tensor([1, 6, 2048, 2304]), 3_281_000, program_config=config(1, 1, 1, per_core=(8, 9))))  # fmt: skip
    assert "per_core_M=8, per_core_N=9, transpose_mcast=False, fuse_batch=False" in check.ask(program).claim.fix


def test_the_heaviest_is_shown_and_all_together_reach_their_share(check):
    program = of_linear(program_config=config(block=1))
    linear(program, m=2048, kernel_ns=200_000, program_config=config(block=1, width=2))
    outcome = check.ask(program)
    reached = (MOVED_NS + 2_621_440 * 4 / 240) / 300_000  # (2 + 1 + 2) MiElements of 2 bytes
    assert (
        f"2 matmuls run with small blocks (in0_block_w 1, subblock of 2 tiles) and reach {reached:.0%} of the"
        in (outcome.claim.claim)
    )
    assert outcome.claim.claim.endswith(f"at line {outcome.case.line(1)}, 200 us")
    assert len(outcome.claim.evidence) == 4


def test_half_of_l1_holds_the_blocks_that_are_suggested(check):
    """2 x 8 x 2048 x (8 + 8) + 2048 x 8 x 8 = 655,360 bytes of 662,826; with 9 instead of 8 755,712."""
    outcome = check.ask(of_linear(m=2048, n=2048, kernel_ns=500_000, program_config=config(block=1)))
    assert "grid_size=(8, 8), in0_block_w=8, out_subblock_h=1, out_subblock_w=8, per_core_M=8" in outcome.claim.fix
    outcome = check.ask(of_linear(m=2304, n=2304, kernel_ns=600_000, program_config=config(block=1)))
    assert "grid_size=(8, 8), in0_block_w=4, out_subblock_h=" in outcome.claim.fix


def test_a_grid_of_no_known_card_is_left_to_the_device(check):
    program = Program("wormhole_b0", grid=(7, 7))
    linear(program, program_config=config(block=1))
    assert check.ask(program).claim.fix.startswith(DEVICES_GRID)


def test_a_batched_matmul_is_left_to_the_core_grid(check):
    program = Program("wormhole_b0")
    x, w, y = (program.tensor([1, 4, 512, 512]) for _ in range(3))
    put(program, matmul(x, w, y, 100_000, program_config=config(block=1)))
    assert check.ask(program).claim.fix.startswith(DEVICES_GRID)


def test_dram_sharded_weights_are_another_checks(check):
    name = "MatmulMultiCoreReuseMultiCast{}ProgramConfig"
    check.pair(
        lambda kind: of_decoding(kernel_ns=200_000, program_config=config(1, name=name.format(kind))),
        silent="DRAMSharded",
        fires="1D",
    )


def test_linear_ops_have_blocks_too(check):
    program = of_linear(program_config=config(block=1))
    program.device_ops[0].op_code = "LinearDeviceOperation"
    assert check.ask(program).fires


def test_a_matmul_without_fidelity_is_left_out(check, tmp_path):
    program = of_linear(program_config=config(block=1))
    linear(program, m=2048, kernel_ns=200_000, program_config=config(block=1))
    rows = performance_rows(program)
    for row in rows[1::2]:
        row["MATH FIDELITY"] = ""
    outcome = check.ask(write_rows(tmp_path / "ops_perf_results_made.csv", rows, header_of(rows, "C7")))
    assert outcome.claim.rows.tolist() == [0]
