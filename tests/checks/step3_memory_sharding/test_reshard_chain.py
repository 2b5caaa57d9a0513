"""reshard-chain: moves that follow one another on one tensor, which one move could replace."""

from __future__ import annotations

from tests.checks.rows import put
from tests.checks.step3_programs import (
    BLOCK,
    SHAPE,
    TALLER,
    assert_cannot_tell,
    cells,
    no_such_ops,
    relu,
    sharded,
    timeless,
    to,
    without,
)
from tests.for_all import for_all
from tests.profiles import DRAM, Program, height_sharded
from tests.profiles.model import DeviceOp


def chain(program, first_ns=12_000, second_ns=30_000, shape=SHAPE):
    middle = to(program, sharded(program, shape), TALLER, kernel_ns=first_ns)
    relu(program, to(program, middle, BLOCK, kernel_ns=second_ns))


def chained(*ns):
    program = Program("wormhole_b0")
    chain(program, *ns)
    return program


def test_moves_in_a_row_are_one_too_many(check):
    outcome = check.ask(chained())
    claim, first, second = outcome.claim, *(outcome.case.line(row) for row in (1, 2))
    assert claim.at_most_ns.tolist() == [12_000, 18_000]  # one stays, at the price of the cheaper
    assert claim.claim == (
        "2 moves follow one another on the same tensor (42 us, 74.3%): "
        f"L1_HEIGHT_SHARDED -> L1_HEIGHT_SHARDED -> L1_BLOCK_SHARDED, 2048x512, lines {first} and {second}"
    )
    assert f"in place of lines {first} and {second}" in claim.fix
    assert "[256, 64]" in claim.fix or "256x64" in claim.fix
    assert f"no chain at line {second}" in claim.verify
    assert cells(outcome) == [
        (first, "DEVICE KERNEL DURATION [ns]"),
        (first, "OUTPUT_0_MEMORY"),
        (second, "DEVICE KERNEL DURATION [ns]"),
        (second, "OUTPUT_0_MEMORY"),
    ]


def test_texts_are_short_and_cells_its_own(check):
    check.assert_sound(chained())


def test_the_longest_of_several_chains_is_shown(check):
    program = chained()
    chain(program, 20_000, 40_000, [1, 1, 1024, 512])
    outcome = check.ask(program)
    assert "4 moves follow" in outcome.claim.claim
    assert outcome.claim.claim.endswith(f"lines {outcome.case.line(5)} and {outcome.case.line(6)}")


def test_the_second_move_is_shown_even_where_the_first_costs_more(check):
    outcome = check.ask(chained(30_000, 12_000))
    assert outcome.claim.claim.endswith(f"lines {outcome.case.line(1)} and {outcome.case.line(2)}")


def test_a_window_without_kernel_time_is_clean(check):
    program = Program("wormhole_b0")
    relu(program, to(program, sharded(program), TALLER))
    assert check.ask(timeless(program)).status == "clean"


def test_three_moves_are_one_chain(check):
    program = Program("wormhole_b0")
    x = to(program, to(program, sharded(program), TALLER, kernel_ns=10_000), BLOCK, kernel_ns=20_000)
    relu(program, to(program, x, height_sharded(128, 512, (8, 2)), kernel_ns=30_000))
    assert check.ask(program).claim.at_most_ns.tolist() == [10_000, 20_000, 10_000]


def test_a_chain_whose_middle_is_read_is_none(check):
    program = Program("wormhole_b0")
    middle = to(program, sharded(program), TALLER)
    relu(program, to(program, middle, BLOCK))
    relu(program, middle)
    assert check.ask(program).status == "clean"


def test_a_way_back_is_another_checks(check):
    program = Program("wormhole_b0")
    relu(program, to(program, to(program, sharded(program), DRAM), TALLER))
    assert check.ask(program).status == "clean"


def test_one_move_is_no_chain(check):
    program = Program("wormhole_b0")
    relu(program, to(program, sharded(program), TALLER))
    assert check.ask(program).status == "clean"


def test_two_moves_in_a_row_on_different_tensors_are_no_chain(check):
    program = Program("wormhole_b0")
    whole = relu(program, program.tensor([1, 1, 4096, 512]))
    to(program, sharded(program), DRAM)
    relu(program, to(program, whole, height_sharded(64, 512, (8, 8))))
    assert check.ask(program).status == "clean"


def test_half_a_percent_of_the_window_is_worth_telling(check):
    check.share_pair(chain, 0.005, of="saving")


def test_what_the_last_one_writes_is_named_as_the_report_names_it(check):
    """A move that says nothing of its memory config is described by the placement of its output."""
    program = Program("wormhole_b0")
    x = to(program, sharded(program), TALLER, kernel_ns=12_000)
    y = program.tensor(SHAPE, placement=BLOCK)
    relu(program, put(program, DeviceOp("ReshardDeviceOperation", (x,), (y,), 30_000)))
    assert "(L1_BLOCK_SHARDED)" in check.ask(program).claim.fix


def test_a_compiler_has_an_option_instead(check):
    fix = check.ask(chained(), generation="tt-torch").claim.fix
    assert "optimization_level" in fix
    assert fix.endswith("keeps chains in shards")


def test_a_run_without_moves_is_not_applicable(check):
    outcome = check.ask(no_such_ops())
    assert (outcome.status, outcome.why) == ("not_applicable", "no op changes a placement")


@for_all("lost", ["PUT_", "_MEMORY"])
def test_without_placements_it_cannot_tell(check, tmp_path, lost):
    assert_cannot_tell(check.ask(without(tmp_path, (lost,))), "MEMORY columns")
