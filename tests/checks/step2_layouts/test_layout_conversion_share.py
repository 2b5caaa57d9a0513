"""layout-conversion-share: conversions that nothing demands, counted where they are many."""

import pytest

from tests.checks.programs import WIDE, relu, scaled, to_rows, to_tiles
from tests.checks.rows import pass_time, put
from tests.for_all import for_all
from tests.profiles import Program, height_sharded
from tests.profiles.model import DeviceOp
from ttnn_mcp.analyses.op_kinds.layouts import on_demand

ROWS = "ROW_MAJOR"


@pytest.fixture
def program() -> Program:
    return Program("wormhole_b0")


def avoidable(program):
    """30 us that nothing demands: rows are read by an op that takes TILE as well."""
    x = relu(program, program.tensor([1, 1, 512, 512]))
    relu(program, to_rows(program, x), "FLOAT32")


def for_the_boundary(program, kernel_ns=40_000):
    """The model's input is tilized: nothing to avoid."""
    relu(program, to_tiles(program, program.tensor([1, 1, 1024, 512], layout=ROWS), kernel_ns))


def round_trip(program, height):
    relu(program, to_tiles(program, to_rows(program, relu(program, program.tensor([1, 1, height, 256])))))


def test_five_percent_of_the_window_are_the_line(check):
    check.share_pair(avoidable, 0.05, of="time")


def test_one_percent_must_be_avoidable(check):
    def program(share):
        made = Program("wormhole_b0")
        avoidable(made)  # 30 us, and 10 us beside
        for_the_boundary(made, 300_000)  # and 5 us beside
        pass_time(made, 30_000 / share - 345_000)
        return made

    check.pair(program, silent=0.00995, fires=0.01005)


def test_beyond_a_quarter_of_the_time_nothing_needs_to_be_avoidable(check):
    def program(share):
        made = Program("wormhole_b0")
        for_the_boundary(made)
        pass_time(made, 40_000 / share - 45_000)
        return made

    outcome = check.pair(program, silent=0.249, fires=0.251)
    assert outcome.at_most_ns == 0
    assert "ops or the boundary need them all" in outcome.claim.claim


def test_beyond_a_quarter_of_the_time_conversions_come_first(check):
    def claim(rest):
        made = Program("wormhole_b0")
        avoidable(made)
        pass_time(made, rest)
        return check.ask(made).claim.claim

    assert "do this step first" in claim(79_000)
    assert "first" not in claim(81_000)


def test_the_claim_is_sound(check, program):
    avoidable(program)
    check.assert_sound(program)


@for_all("other", [lambda program: pass_time(program, 1000), lambda program: scaled(program, dtype=WIDE)])
def test_a_run_without_conversions_is_not_applicable(check, program, other):
    other(program)
    assert check.ask(program).status == "not_applicable"


def test_conversions_that_a_row_reader_the_boundary_or_a_round_trip_explains_are_not_promised(check, program):
    x = relu(program, to_tiles(program, program.tensor([1, 1, 512, 512], layout=ROWS)))  # the model's input
    y = to_rows(program, x)  # for the pool, through a move
    where = height_sharded(64, 512, 8)
    sharded = program.tensor([1, 1, 512, 512], layout=ROWS, placement=where)
    put(program, DeviceOp("InterleavedToShardedDeviceOperation", (y,), (sharded,)))
    pooled = program.tensor([1, 1, 128, 512], layout=ROWS)
    put(program, DeviceOp("Pool2D", (sharded,), (pooled,)))
    to_rows(program, relu(program, to_tiles(program, pooled)))  # after the pool; the model's output
    round_trip(program, 512)
    round_trip(program, 1024)
    avoidable(program)
    outcome = check.ask(program)
    assert (outcome.claim.at_most_ns > 0).tolist() == [False] * 8 + [True]
    assert outcome.at_most_ns == 30_000
    assert outcome.claim.claim.startswith("4 tilize and 5 untilize ops take")


def test_an_untilize_of_what_no_op_made_may_be_avoidable(check, program):
    relu(program, to_rows(program, program.tensor([1, 1, 512, 512])), "FLOAT32")
    assert check.ask(program).at_most_ns == 30_000


def test_a_tilize_that_no_op_reads_may_be_avoidable(check, program):
    x = relu(program, program.tensor([1, 1, 512, 512], layout=ROWS))
    to_tiles(program, x)
    assert check.ask(program).at_most_ns == 40_000


def test_a_front_end_gets_advice_on_its_model(check, program):
    avoidable(program)
    claim = check.ask(program, generation="tt-torch").claim
    assert "optimization_level" in claim.fix
    assert "ttnn." not in claim.fix
    assert any(one.column == "LOC" for one in claim.evidence)


def test_what_other_checks_read_too_stays_as_it_was(check, program):
    to_rows(program, relu(program, program.tensor([1, 1, 512, 512])))  # the model's output
    case = check.case(program)
    before = on_demand(case.ops, case.flow).tolist()
    check.ask(case)
    assert on_demand(case.ops, case.flow).tolist() == before
