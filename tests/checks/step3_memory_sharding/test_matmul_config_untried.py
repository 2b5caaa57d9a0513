"""matmul-config-untried: what TTNN would take of a matmul that is short of its roofline, as a trial."""

from __future__ import annotations

import pytest

from tests.checks.matmul_programs import config, deep, linear, of_linear
from tests.checks.rows import put
from tests.checks.step3_programs import cells
from tests.profiles import DRAM, Program, width_sharded
from tests.profiles.model import Placement, core_ranges
from tests.profiles.ops import matmul

TIME, CONFIG = "DEVICE KERNEL DURATION [ns]", "ATTRIBUTES.program_config"
LINEAR_NS = 26_214  # 3 x 1024 x 1024 BFLOAT16 at 240 GB/s: its roofline


def short_of_it(used=0.5, *sizes):
    """One of 1024 x 1024 x 1024 at `used` of its roofline."""
    return of_linear(kernel_ns=round(LINEAR_NS / used), program_config=config(*(sizes or (4, 1, 4))))


def test_deeper_blocks_are_a_trial_below_60_percent_of_the_roofline(check):
    outcome = check.pair(short_of_it, silent=0.61, fires=0.59)
    claim, line = outcome.claim, outcome.case.line(0)
    assert claim.claim.startswith("1 matmul has configs that this run did not try and reaches 59% of the roofline")
    assert "program_config as now with in0_block_w=8 or 16 or 32" in claim.fix
    assert cells(outcome) == [(line, TIME), (line, CONFIG)]
    assert claim.expected is None


def test_texts_are_short_and_cells_its_own(check):
    check.assert_sound(short_of_it())


def test_all_but_arithmetic_and_the_bytes_of_the_operands_may_go(check):
    outcome = check.ask(short_of_it())
    needed = max(outcome.case.roofline.compute_ns[0], 2 * 1024 * 1024 * 2 / 288)
    assert outcome.at_most_ns == pytest.approx(outcome.took_ns - needed, rel=0.001)


def test_blocks_are_twice_as_deep_at_least(check):
    """40 tiles of K divide by 20 and 40, and no block beyond 38 was measured."""

    def fix(block):
        given = config(block, 1, 4)
        return check.ask(of_linear(k=1280, kernel_ns=80_000, program_config=given)).claim.fix

    assert "in0_block_w=20" in fix(10)
    assert "in0_block_w" not in fix(20)


def test_wider_subblocks_divide_the_share_of_a_core(check):
    """Three by five tiles hold subblocks of one by five in eight registers, and of one row of nothing in four."""

    def fix(per_core, now=(1, 1), *, fp32=False):
        made = Program("wormhole_b0")
        x, w, y = (made.tensor([1, 1, *sides]) for sides in ((1024, 1024), (1024, 1024), (1024, 1024)))
        op = matmul(x, w, y, 60_000, program_config=config(32, *now, per_core=per_core))
        if fp32:
            kernel = str(op.attributes["compute_kernel_config"]).replace("fp32_dest_acc_en=0", "fp32_dest_acc_en=1")
            op.attributes = {**op.attributes, "compute_kernel_config": kernel}
        put(made, op)
        return "; ".join(claim.fix for claim in check.ask(made).claims)

    assert "out_subblock_h=1, out_subblock_w=5" in fix((3, 5), (3, 1))
    assert "out_subblock_h=2, out_subblock_w=4" in fix((4, 4), (1, 4))
    assert "out_subblock" not in fix((4, 4), (2, 4))
    assert "out_subblock" not in fix((4, 4), (1, 4), fp32=True)
    assert "out_subblock" not in fix((7, 11), (7, 1))


def test_a_guess_of_ttnn_is_told_where_no_measured_rule_speaks_of_it(check):
    """Over 32 rows of tiles matmul-without-config speaks below 20 % of the roofline."""

    def told(used):
        return check.ask(of_linear(kernel_ns=round(LINEAR_NS / used)))

    assert "ttnn.MatmulMultiCoreReuseMultiCastProgramConfig(" in told(0.21).claim.fix
    assert told(0.19).status == "clean"


def test_what_a_measured_rule_speaks_of_is_its_own(check):
    assert check.ask(short_of_it(0.4, 1, 1, 4)).status == "clean"  # small blocks
    assert check.ask(deep(kernel_ns=900_000)).status == "clean"  # many steps
    assert check.ask(deep(block=16, kernel_ns=900_000)).fires


def test_weights_in_batches_are_not_told(check):
    made = Program("wormhole_b0")
    x, w, y = (made.tensor([1, 2, *sides]) for sides in ((1024, 1024), (1024, 1024), (1024, 1024)))
    put(made, matmul(x, w, y, 200_000, program_config=config()))
    assert check.ask(made).status == "clean"


def test_the_depth_over_sharded_activations_is_that_of_their_shards(check):
    def fix(place):
        made = Program("wormhole_b0")
        x, w, y = (
            made.tensor([1, 1, 32, 2048], placement=place),
            made.weight([1, 1, 2048, 2048]),
            made.tensor([1, 1, 32, 2048]),
        )
        put(made, matmul(x, w, y, 80_000, program_config=config(4, 1, 2, per_core=(1, 4))))
        return check.ask(made)

    assert "in0_block_w" in fix(DRAM).claim.fix
    sharded = fix(width_sharded(32, 64, 32))
    assert "in0_block_w" not in sharded.claim.fix


def test_blocks_over_banked_weights_divide_the_shares_of_their_cores(check):
    made = Program("blackhole")
    x = made.tensor([1, 1, 32, 5120], placement=width_sharded(32, 320, 16, width=8))
    place = Placement("DRAM", "WIDTH_SHARDED", core_ranges((8, 1)), (5120, 256))
    w, y = made.tensor([1, 1, 5120, 2048], "BFLOAT8_B", placement=place), made.tensor([1, 1, 32, 2048])
    given = "MatmulMultiCoreReuseMultiCastDRAMShardedProgramConfig(in0_block_w=8,per_core_M=1,per_core_N=4)"
    put(made, matmul(x, w, y, 60_000, program_config=given, fidelity="LoFi"))
    assert "in0_block_w=16" in check.ask(made).claim.fix


def test_one_percent_of_the_window_is_worth_telling(check):
    check.share_pair(lambda program: linear(program, kernel_ns=60_000, program_config=config()), 0.01, of="saving")
