"""tilize-round-trip: a layout left and taken again, where nothing in between needed the other one."""

import pytest

from tests.checks.programs import L1, relu, scaled, to_rows, to_tiles
from tests.checks.rows import pass_time, put
from tests.for_all import for_all
from tests.profiles import DRAM, Program
from tests.profiles.model import DeviceOp

ROWS = "ROW_MAJOR"


@pytest.fixture
def program() -> Program:
    return Program("wormhole_b0")


def round_trips(program):
    for height in (512, 1024):
        relu(program, to_tiles(program, to_rows(program, relu(program, program.tensor([1, 1, height, 256])))))


def test_one_percent_of_the_window_is_the_line(check):
    check.share_pair(round_trips, 0.01, of="saving")


def test_the_claim_is_sound(check, program):
    round_trips(program)
    check.assert_sound(program)


@for_all("one_way", [to_rows, to_tiles])
def test_one_way_alone_is_no_round_trip(check, program, one_way):
    x = relu(program, program.tensor([1, 1, 512, 256], layout=ROWS if one_way is to_tiles else "TILE"))
    relu(program, one_way(program, x), "FLOAT32")
    assert check.ask(program).status == "not_applicable"


def test_a_run_without_conversions_is_not_applicable(check, program):
    pass_time(program, 1000)
    scaled(program)
    assert check.ask(program).status == "not_applicable"


@for_all("lost", ["INPUT_", "OUTPUT_", "(IN|OUT)PUT_"])
def test_a_report_without_operands_is_no_evidence(check, program, lost):
    round_trips(program)
    assert check.ask(program, without=lost).status in ("clean", "not_applicable", "cannot_tell")


def test_conversions_of_different_tensors_are_no_round_trip(check, program):
    relu(program, to_rows(program, relu(program, program.tensor([1, 1, 512, 256]))), "FLOAT32")
    relu(program, to_tiles(program, relu(program, program.tensor([1, 1, 128, 64], layout=ROWS))), "FLOAT32")
    assert check.ask(program).status == "clean"


def test_the_heaviest_pair_is_that_of_the_longest_two(check, program):
    """The first pair untilizes longer, the second takes longer in all."""
    for height, times in ((512, (30_000, 5_000)), (1024, (20_000, 40_000))):
        x = relu(program, program.tensor([1, 1, height, 256]))
        relu(program, to_tiles(program, to_rows(program, x)))
        for call, kernel_ns in zip((program.calls[-3], program.calls[-2]), times, strict=True):
            call.ops[0].kernel_ns = kernel_ns
    outcome = check.ask(program)
    assert "heaviest 1024x256 -> 1024x256" in outcome.claim.claim
    assert outcome.claim.evidence[0].row == outcome.case.line(5)


def test_both_ops_of_a_round_trip_can_go(check, program):
    round_trips(program)
    outcome = check.ask(program)
    assert outcome.claim.claim.startswith("2 Untilize->Tilize pairs")
    assert outcome.at_most_ns == 2 * (30_000 + 40_000)
    assert outcome.claim.fix.startswith("drop both: pass the TILE tensor on")


def test_an_untilize_that_somebody_else_reads_stays(check, program):
    rows = to_rows(program, relu(program, program.tensor([1, 1, 512, 256])))
    to_tiles(program, rows)
    put(program, DeviceOp("GridSampleDeviceOperation", (rows,), (program.tensor([1, 1, 8, 8], layout=ROWS),)))
    assert check.ask(program).claim.at_most_ns.tolist() == [0, 40_000]


def test_of_two_ops_that_tilize_the_same_rows_again_the_nearest_counts(check, program):
    rows = to_rows(program, relu(program, program.tensor([1, 1, 512, 256])))
    to_tiles(program, rows)
    to_tiles(program, rows)
    assert check.ask(program).claim.at_most_ns.tolist() == [30_000, 40_000]


def test_a_round_trip_that_moves_on_the_way_needs_one_move_still(check, program):
    x = relu(program, program.tensor([1, 1, 512, 256], placement=L1))
    to_tiles(program, to_rows(program, x, placement=DRAM))
    assert check.ask(program).claim.fix.startswith("replace both by one ttnn.to_memory_config")


@for_all(
    ("before", "after", "is_trip"),
    [
        ([1, 1, 1024, 160], [1, 32, 32, 160], True),
        ([1, 1, 25281, 64], [1, 159, 159, 64], False),
        ([1, 1, 640, 64], [1, 64, 10, 64], False),
        ([1, 64, 10, 64], [1, 1, 640, 64], False),
        ([1, 1, 1024, 160], [1, 1, 512, 320], False),
        ([1, 1, 19, 256], [1, 1, 19, 256], True),
    ],
    ids=["whole tiles on both sides", "neither", "whole before", "whole after", "another width", "the same rows"],
)
def test_a_reshape_in_rows_is_a_reason_only_where_it_breaks_tiles(check, program, before, after, is_trip):
    rows = to_rows(program, relu(program, program.tensor(before)))
    view = program.tensor(after, layout=ROWS, alias_of=rows)
    put(program, DeviceOp("TilizeWithValPaddingDeviceOperation", (view,), (program.tensor(after),), 40_000))
    assert check.ask(program).fires is is_trip


def test_rows_to_tiles_to_rows_is_a_round_trip_too(check, program):
    x = program.tensor([1, 1, 512, 256], layout=ROWS)
    y = put(program, DeviceOp("GridSampleDeviceOperation", (x,), (program.tensor([1, 1, 512, 256], layout=ROWS),)))
    to_rows(program, to_tiles(program, y))
    assert check.ask(program).claim.claim.startswith("1 Tilize->Untilize")


def test_a_front_end_gets_advice_on_its_model(check, program):
    round_trips(program)
    claim = check.ask(program, generation="tt-torch").claim
    assert "keep one layout in the model code" in claim.fix
    assert "ttnn." not in claim.fix
    assert any(one.column == "LOC" for one in claim.evidence)


def test_a_window_that_took_no_time_has_nothing_to_save(check, program):
    to_rows(program, program.tensor([1, 1, 512, 256]), 0)
    to_tiles(program, program.tensor([1, 1, 256, 256], layout=ROWS), 0)
    assert check.ask(program).status == "clean"


@for_all(("length", "pairs", "gone"), [(3, 1, 2), (4, 2, 4), (5, 2, 4)])
def test_an_op_that_ends_one_pair_and_begins_the_next_is_in_one_pair(check, program, length, pairs, gone):
    x = relu(program, program.tensor([1, 1, 512, 256]))
    for place in range(length):
        x = to_tiles(program, x, 30_000) if place % 2 else to_rows(program, x, 30_000)
    relu(program, x, "FLOAT32")
    outcome = check.ask(program)
    assert outcome.claim.claim.startswith(f"{pairs} ")
    assert len(outcome.claim.rows) == gone
    assert outcome.at_most_ns == gone * 30_000
    assert outcome.case.share(outcome.claim.rows) <= 1


def test_of_three_conversions_in_a_row_the_cheapest_way_out_stays(check, program):
    x = relu(program, program.tensor([1, 1, 512, 256]))
    to_rows(program, to_tiles(program, to_rows(program, x, 10_000), 30_000), 20_000)
    outcome = check.ask(program)
    assert outcome.claim.rows.tolist() == [2, 3]
    assert outcome.at_most_ns == 50_000


def test_a_linked_memory_report_makes_the_saving_sure(check, program):
    round_trips(program)
    alone = check.ask(program)
    linked = check.ask(program, memory="3.3")
    assert alone.claim.at_least_ns is None
    assert linked.claim.at_least_ns is not None
    assert linked.claim.at_least_ns.sum() == linked.at_most_ns == 2 * (30_000 + 40_000)


def test_rows_that_the_host_reads_too_are_not_surely_needless(check, program):
    rows = to_rows(program, relu(program, program.tensor([1, 1, 512, 256])))
    program.call("ttnn.to_torch", (rows,))  # no device op, so only the memory report knows
    to_tiles(program, rows)
    outcome = check.ask(program, memory="3.3")
    assert outcome.at_most_ns == 30_000 + 40_000
    assert outcome.claim.at_least_ns.tolist() == [0, 0]


def test_two_tensors_that_look_alike_are_not_surely_one(check, program):
    to_rows(program, relu(program, program.tensor([1, 1, 512, 256])))
    to_tiles(program, program.tensor([1, 1, 512, 256], layout=ROWS))  # not what the untilize wrote
    outcome = check.ask(program, memory="3.3")
    assert outcome.at_most_ns == 30_000 + 40_000
    assert outcome.claim.at_least_ns.tolist() == [0, 0]


def test_what_may_stay_is_not_surely_saved(check, program):
    """By ids the rows are read once; by its shape another op seems to read them too."""
    rows = to_rows(program, relu(program, program.tensor([1, 1, 512, 256])))
    to_tiles(program, rows)
    alike = program.tensor([1, 1, 512, 256], layout=ROWS)
    put(program, DeviceOp("GridSampleDeviceOperation", (alike,), (program.tensor([1, 1, 8, 8], layout=ROWS),)))
    claim = check.ask(program, memory="3.3").claim
    assert claim.at_most_ns.tolist() == claim.at_least_ns.tolist() == [0, 40_000]


def test_of_a_pair_that_casts_on_the_way_one_op_stays(check, program):
    x = relu(program, program.tensor([1, 1, 512, 256]))
    relu(program, to_tiles(program, to_rows(program, x), dtype="BFLOAT8_B"))
    assert check.ask(program, memory="3.3").claim.at_least_ns is None
