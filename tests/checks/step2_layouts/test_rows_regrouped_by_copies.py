"""rows-regrouped-by-copies: reshapes that keep the width, and the height that would make them views."""

import pytest

from tests.checks.programs import relu, reshape
from tests.checks.rows import pass_time
from tests.for_all import for_all
from tests.profiles import Program


@pytest.fixture
def program() -> Program:
    return Program("wormhole_b0")


def same_width(program):
    reshape(program, [1, 1, 25281, 256], [1, 159, 159, 256])


def test_one_percent_of_the_window_is_the_line(check):
    check.share_pair(same_width, 0.01, of="saving")


def test_the_claim_is_sound(check, program):
    same_width(program)
    check.assert_sound(program)


@for_all("other", [lambda program: pass_time(program, 1000), lambda p: relu(p, p.tensor([1, 1, 32, 32]))])
def test_a_run_without_reshapes_is_not_applicable(check, program, other):
    other(program)
    assert check.ask(program).status == "not_applicable"


@for_all("lost", ["INPUT_", "OUTPUT_"])
def test_a_report_without_operands_is_no_evidence(check, program, lost):
    same_width(program)
    assert check.ask(program, without=lost).status in ("not_applicable", "cannot_tell")


@for_all(("width", "tiny"), [(31, True), (32, False)])
def test_tiny_rows_are_another_checks_business(check, program, width, tiny):
    reshape(program, [1, 1, 64_000, width], [1, 64, 1000, width], layout="ROW_MAJOR", kernel_ns=10_000_000)
    assert check.ask(program).status == ("clean" if tiny else "found")


def test_other_ops_and_other_widths_are_not_claimed_with_them(check, program):
    same_width(program)
    relu(program, program.tensor([1, 1, 512, 256]))
    reshape(program, [1, 1, 19, 1280], [1, 19, 20, 64])  # reshape-not-a-view
    assert check.ask(program).claim.rows.tolist() == [0]


@for_all(
    ("before", "after", "height"),
    [
        ([1, 1, 25281, 256], [1, 159, 159, 256], 159),
        ([1, 1, 480, 256], [1, 32, 15, 256], 15),
        ([1, 32, 15, 256], [1, 1, 480, 256], 15),
    ],
    ids=["neither side whole", "cut", "joined"],
)
def test_rows_that_are_no_whole_tiles_are_named(check, program, before, after, height):
    reshape(program, before, after)
    claim = check.ask(program).claim
    assert f"{height} rows are no whole tiles" in claim.claim
    assert "ROW_MAJOR (a view there)" in claim.fix


def test_whole_tiles_of_equal_width_need_no_copy(check, program):
    reshape(program, [1, 1, 1024, 256], [1, 32, 32, 256])
    assert "though width and whole tiles stay: a view would do" in check.ask(program).claim.claim


def test_a_front_end_gets_advice_on_its_model(check, program):
    same_width(program)
    claim = check.ask(program, generation="tt-torch").claim
    assert "pad sequence and head dims" in claim.fix
    assert "ttnn." not in claim.fix
    assert any(one.column == "LOC" for one in claim.evidence)
