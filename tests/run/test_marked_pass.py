"""The pass that signposts bracket: the last outermost pair that holds most of the ops."""

from tests.for_all import for_all
from tests.profiles import Iteration, header_of, performance_rows, write_rows
from tests.programs import block
from ttnn_mcp.readers.performance.csv_file import read_performance_csv
from ttnn_mcp.run.marked_pass import marked_pass
from ttnn_mcp.run.performance import Performance
from ttnn_mcp.run.window import scope_of

OPS = len(block().device_ops)


def report(folder, *marks, warm=False):
    """A cold pass of a block, and a warm one if asked for; each mark stands before the op of its number."""
    rows = performance_rows(block(), [Iteration(cold=True), *[Iteration()] * warm])
    for before, name in reversed(marks):
        rows.insert(before, {**dict.fromkeys(rows[0], ""), "OP CODE": name, "OP TYPE": "signpost"})
    return Performance(read_performance_csv(write_rows(folder / "ops.csv", rows, header_of(rows, "C7"))))


def marked(folder, *marks):
    here = report(folder, *marks)
    pair = marked_pass(here.signposts, here.steady)
    return pair and (pair.start, pair.end, pair.outside)


@for_all(("first", "outside"), [(1, 1), (OPS // 2, OPS // 2), (OPS // 2 + 1, None)])
def test_a_pair_around_most_of_the_ops_is_the_pass(tmp_path, first, outside):
    pair = marked(tmp_path, (first, "start"), (OPS, "stop"))
    assert pair == (None if outside is None else ("start", "stop", outside))


def test_where_nothing_lies_outside_there_is_nothing_to_choose(tmp_path):
    assert marked(tmp_path, (0, "model started"), (OPS, "model finished")) is None


def test_inner_pairs_ends_and_marks_of_the_same_name_do_not_close_it(tmp_path):
    marks = (
        (1, "run start"),
        (2, "run"),
        (2, "layer start"),
        (3, "layer end"),
        (3, "run start"),
        (OPS - 1, "run end"),
        (OPS, "run end"),
    )
    assert marked(tmp_path, *marks) == ("run start", "run end", 1)


def test_of_several_the_last_is_taken_unless_it_is_small(tmp_path):
    half = OPS // 2
    two = ((1, "start"), (half, "stop"), (half, "start"), (OPS, "stop"))
    assert marked(tmp_path, *two) == ("start", "stop", 1)
    small = ((1, "start"), (OPS - 1, "stop"), (OPS - 1, "start"), (OPS, "stop"))
    assert marked(tmp_path, *small) is None


def test_of_two_that_begin_the_inner_one_is_closed(tmp_path):
    marks = ((1, "run start"), (2, "run start"), (OPS, "run end"))
    assert marked(tmp_path, *marks) == ("run start", "run end", 2)


@for_all(
    "marks",
    [
        [(1, "start"), (3, "layer stop")],
        [(1, "start"), (OPS, "layer stop")],
        [(1, "stop"), (OPS, "start")],
        [(1, "start"), (OPS, "halfway")],
    ],
)
def test_a_mark_that_nothing_closes_brackets_nothing(tmp_path, marks):
    assert marked(tmp_path, *marks) is None


def test_it_is_the_window_unless_all_rows_are_asked_for(tmp_path):
    here = report(tmp_path, (1, "start"), (OPS, "stop"))
    window = scope_of(here).window
    assert (window.kind, window.rows) == ("signposts", OPS - 1)
    assert "1 ops outside of them are set-up" in window.why
    assert scope_of(here, "all").window.rows == OPS


def test_signposts_that_are_asked_for_and_iterations_come_before_it(tmp_path):
    here = report(tmp_path, (1, "start"), (2, "halfway"), (OPS, "stop"))
    assert scope_of(here, start_signpost="halfway").window.rows == OPS - 2
    twice = report(tmp_path, (1, "start"), (2 * OPS, "stop"), warm=True)
    assert (scope_of(twice).window.kind, scope_of(twice).window.iteration) == ("iteration", 2)
