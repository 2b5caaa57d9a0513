"""Which rows a window has, of a few ops and signposts, and what is said about them."""

import pytest

from tests.for_all import for_all
from tests.run.test_performance import DEVICE, MARK, report
from ttnn_mcp.errors import QuestionRefused
from ttnn_mcp.run.window import REPROFILE, scope_of


def written(text, **numbers):
    """Capitals are ops, other words signposts; the first word stands in line 2."""
    words = text.split()
    return report([DEVICE if word.isupper() else MARK for word in words], words, **numbers)


def lines(ops):
    return ops.lines.tolist()


def test_one_signpost_is_enough():
    here = written("go A done B")
    assert lines(scope_of(here, start_signpost="go").ops) == [3, 5]
    assert lines(scope_of(here, start_signpost="done").ops) == [5]
    assert lines(scope_of(here, end_signpost="done").ops) == [3]


@for_all("text", ["A go done B", "A B go done"])
def test_signposts_with_nothing_between_them_are_refused(text):
    with pytest.raises(QuestionRefused, match="No device op ran after signpost 'go' and before signpost 'done'"):
        scope_of(written(text), start_signpost="go", end_signpost="done")


def test_only_signposts_between_the_two_mark_iterations():
    here = written("it A it A go it B it B done it A it A")
    window = scope_of(here, start_signpost="go", end_signpost="done").window
    assert (window.of_iterations, window.first_row, window.why.split(";")[0]) == (
        *(2, 10),
        "found by signposts after signpost 'go' and before signpost 'done'",
    )


@for_all(
    ("text", "gap_us", "rows", "may_be_layers"),
    [
        ("go A B C D B C D done", 1, 7, False),  # blocks of the part that was marked
        ("go A B C D B C D done", 30, 3, False),  # iterations behind their set-up
        ("go B C D B C D done", 1, 3, False),
        ("A B C D B C D", 1, 3, True),
        ("A B C D B C D", 30, 3, False),
    ],
)
def test_who_marks_a_part_of_a_model_is_told_of_all_of_it(text, gap_us, rows, may_be_layers):
    words = text.split()
    begins = [float(word == "B") * gap_us * 1_000 or 500.0 for word in words]
    here, marks = written(text, gap_ns=begins), ("go", "done") if "go" in words else (None, None)
    window = scope_of(here, "last", *marks).window
    assert (window.rows, window.of_iterations) == (rows, 2 if rows == 3 else None)
    assert ("all ops: some repeat 2 times without a pause" in window.why) == (rows == 7)
    assert ("equal layers of one pass would look the same" in window.why) == may_be_layers
    assert scope_of(here, 2, *marks).window.rows == 3


def test_the_first_iteration_is_cold_to_all_but_itself():
    here = written("A B A B A B")
    assert lines(scope_of(here).cold) == [2, 3]
    assert lines(scope_of(here, 2).cold) == [2, 3]
    assert lines(scope_of(here, 1).cold) == []


def test_what_is_said_fits_what_was_asked():
    here = written("A B A B")
    assert scope_of(here).window.why == "found by repeating ops"
    assert scope_of(here, 1).window.why == "found by repeating ops"
    everything = scope_of(here, "all").window
    assert (everything.why, everything.of_iterations) == ("all rows asked for, 2 iterations together", 2)
    one_pass = written("A B C")
    assert scope_of(one_pass).window.why == f"no repeating iterations; {REPROFILE}"
    assert scope_of(one_pass, "all").window.why == "all rows asked for"


def test_a_device_outside_the_window_compiled_nothing_before_it():
    later = written("go A done A", device=[0, 0, 0, 1])
    assert not scope_of(later, start_signpost="go", end_signpost="done").window.warm
    earlier = written("A B go A done B", device=[0, 1, 0, 0, 0, 0])
    assert scope_of(earlier, start_signpost="go", end_signpost="done").window.warm


def test_the_critical_device_is_the_slowest_or_the_one_that_is_told():
    scope = scope_of(written("A B A", device=[0, 1, 1], kernel_ns=[300, 100, 100]), "all")
    assert (scope.critical_device, lines(scope.critical)) == (0, [2])
    chosen = type(scope)(scope.ops, scope.window, scope.cold, lead=1)
    assert (chosen.critical_device, lines(chosen.critical)) == (1, [3, 4])
