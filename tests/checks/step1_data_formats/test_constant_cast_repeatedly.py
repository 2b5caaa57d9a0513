"""constant-cast-repeatedly: casts of what never changes."""

import pytest

from tests.checks.programs import NARROW, WIDE, cast, relu
from tests.checks.rows import ONE_PASS, pass_time
from tests.profiles import Program


@pytest.fixture
def program() -> Program:
    return Program("wormhole_b0")


def constant(program):
    cast(program, program.weight([1, 1, 512, 512]), NARROW)


def test_one_percent_of_the_window_is_the_line(check):
    check.share_pair(constant, 0.01, of="saving")


def test_the_claim_is_sound(check, program):
    constant(program)
    check.assert_sound(program)


def test_a_run_without_casts_is_not_applicable(check, program):
    pass_time(program, 1000)
    assert check.ask(program).status == "not_applicable"


def test_a_constant_cast_per_iteration_shows_only_when_there_are_iterations(check, program):
    constant(program)
    assert "per iteration" in check.ask(program).claim.claim
    assert not check.ask(program, ONE_PASS).fires


def test_what_the_iteration_made_is_no_constant(check, program):
    constant(program)
    x = relu(program, program.tensor([1, 1, 1024, 1024], WIDE))
    cast(program, x, "FLOAT32")
    assert check.ask(program).claim.rows.tolist() == [0]


def test_other_ops_that_read_weights_are_no_casts(check, program):
    constant(program)
    relu(program, program.weight([1, 1, 1024, 1024]))
    assert check.ask(program).claim.rows.tolist() == [0]


def test_a_front_end_is_told_to_change_its_model(check, program):
    constant(program)
    assert "cast constants once, outside forward()" in check.ask(program, generation="tt-torch").claim.fix
    assert "w = ttnn.typecast(w, ttnn.bfloat8_b)" in check.ask(program).claim.fix
