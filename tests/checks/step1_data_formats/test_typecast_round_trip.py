"""typecast-round-trip: casts that undo each other."""

import pytest

from tests.checks.programs import NARROW, WIDE, cast, relu
from tests.checks.rows import pass_time, put
from tests.profiles import Program
from tests.profiles.model import DeviceOp


@pytest.fixture
def program() -> Program:
    return Program("wormhole_b0")


def made(program, dtype=NARROW, side=512):
    """A tensor that an op of the window made."""
    return relu(program, program.tensor([1, 1, side, side], dtype))


def round_trip(program, side=512):
    relu(program, cast(program, cast(program, made(program, side=side), WIDE), NARROW))


def test_one_percent_of_the_window_is_the_line(check):
    check.share_pair(round_trip, 0.01, of="saving")


def test_the_claim_is_sound(check, program):
    round_trip(program)
    check.assert_sound(program)


def test_a_run_without_casts_is_not_applicable(check, program):
    pass_time(program, 1000)
    assert check.ask(program).status == "not_applicable"


def test_one_cast_between_two_ops_is_what_it_should_be(check, program):
    relu(program, cast(program, made(program), WIDE))
    assert check.ask(program).status == "clean"


def test_both_casts_can_go(check, program):
    round_trip(program)
    claim = check.ask(program).claim
    assert claim.rows.tolist() == [1, 2]
    assert claim.at_most_ns.tolist() == [20_000, 20_000]
    assert claim.claim.startswith("1 tensors are cast and cast straight back")


def test_a_linked_memory_report_makes_the_saving_sure(check, program):
    round_trip(program)
    assert check.ask(program).claim.at_least_ns is None
    assert check.ask(program, memory="3.3").claim.at_least_ns.tolist() == [20_000, 20_000]


def test_a_cast_that_somebody_else_reads_stays(check, program):
    x = cast(program, made(program), WIDE)
    relu(program, x, "FLOAT32")
    cast(program, x, NARROW)
    assert check.ask(program).claim.at_most_ns.tolist() == [0.0, 20_000.0]


def test_a_cast_to_a_third_type_is_no_way_back(check, program):
    cast(program, cast(program, made(program), WIDE), "FLOAT32")
    assert check.ask(program).status == "clean"


def test_an_op_between_two_casts_may_need_the_other_type(check, program):
    x = cast(program, made(program, WIDE), "UINT32")
    y = put(program, DeviceOp("AccumulationDeviceOperation", (x,), (program.tensor([1, 1, 512, 512], "UINT32"),)))
    cast(program, y, WIDE)
    assert not check.ask(program).fires


def test_a_front_end_is_told_to_change_its_model(check, program):
    round_trip(program)
    assert check.ask(program, generation="tt-torch").claim.fix.startswith("drop the .to() pair in the model")
    assert "drop both ttnn.typecast calls" in check.ask(program).claim.fix
