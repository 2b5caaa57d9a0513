"""Windows: the last warm iteration by default, signposts on request, and always said why."""

from dataclasses import replace

import pytest

from tests.for_all import for_all
from tests.profiles import Iteration, header_of, performance_rows, write_performance_report, write_rows
from tests.programs import block
from ttnn_mcp.analyses.devices.host_gaps import static_shapes
from ttnn_mcp.errors import QuestionRefused
from ttnn_mcp.readers.performance.csv_file import read_performance_csv
from ttnn_mcp.run import window
from ttnn_mcp.run.doubt import Doubt
from ttnn_mcp.run.doubts import doubts_of
from ttnn_mcp.run.iterations import signatures
from ttnn_mcp.run.ops.artefact import stored
from ttnn_mcp.run.performance import Performance
from ttnn_mcp.run.trust import caveats_of
from ttnn_mcp.run.window import scope_of

OPS = len(block().device_ops)


def report(folder, iterations, **kind) -> Performance:
    return Performance(read_performance_csv(write_performance_report(folder, block(), iterations, **kind)))


KERNEL = "DEVICE KERNEL DURATION [ns]"
ONE, TWO = "one of its ops ran without a kernel time", "2 of its ops ran without a kernel time"


@for_all(
    ("passes", "lost", "chosen", "said"),
    [
        (3, {}, (3, True), ""),
        (2, {1: [0]}, (2, True), ""),  # its first op ran before, though it has no time there
        (2, {2: [3]}, (1, False), f"; iteration 2 is passed over: {ONE}"),
        (2, {2: [0, 4]}, (1, False), f"; iteration 2 is passed over: {TWO}"),
        (2, {2: range(OPS)}, (1, False), f"; iteration 2 is passed over: {OPS} of its ops ran without"),
        (3, {2: [3]}, (3, True), ""),
        (4, {1: [2], 3: [0, 4], 4: [3]}, (2, True), f"; iteration 3 is passed over: {TWO}; iteration 4 is passed"),
        (4, {2: [1], 3: [0, 4], 4: [3]}, (1, False), f"; iteration 2 is passed over: {ONE}; iteration 3 is passed"),
    ],
)
def test_the_last_iteration_with_all_its_times_is_the_default(tmp_path, passes, lost, chosen, said):
    rows = performance_rows(block(), [Iteration(cold=number == 0) for number in range(passes)])
    for number, places in lost.items():
        for place in places:
            rows[OPS * (number - 1) + place][KERNEL] = ""
    here = Performance(read_performance_csv(write_rows(tmp_path / "x.csv", rows, header_of(rows, "C7"))))
    scope = scope_of(here)
    window = scope.window
    assert (window.kind, window.rows, window.iteration, window.of_iterations, window.warm) == (
        "iteration",
        OPS,
        chosen[0],
        passes,
        chosen[1],
    )
    assert window.first_row == 2 + OPS * (chosen[0] - 1)
    assert (said in window.why, "passed over" in window.why) == (True, bool(said))
    assert here.iterations.whole == [number for number in range(1, passes + 1) if number not in lost]
    assert replace(scope).doubted((Doubt("times_lost", "made up"),)).in_doubt.endswith(": times_lost")
    assert len(scope.cold) == (0 if chosen[0] == 1 else OPS - len(lost.get(1, ())))
    of_short = [caveat for caveat in caveats_of(here) if "its sums are too low" in caveat]
    assert [int(caveat.split()[1]) for caveat in of_short] == [*lost]
    assert scope_of(here, "all").window.rows == OPS * passes - sum(map(len, lost.values()))
    assert not {doubt.code for doubt in doubts_of(here, scope)} & {"pass_unlike_others", "times_lost"}
    if lost:
        assert static_shapes(here) is None
        number = min(lost)
        if len(lost[number]) < OPS:
            assert scope_of(here, number).window.why.count("sums are too low") == 1
            assert scope_of(here, number).window.rows == OPS - len(lost[number])


@for_all(
    ("passes", "blank"),
    [
        (1, {}),
        (2, {0: [KERNEL], -1: [KERNEL]}),  # no pass has all of its times
        (2, {0: [KERNEL, "DEVICE FW END CYCLE"]}),  # nothing says that the op ran
    ],
)
def test_without_a_whole_pass_that_repeats_the_report_is_taken_cold_and_says_how_to_do_better(
    tmp_path, passes, blank
):
    rows = performance_rows(block(), [Iteration(cold=number == 0) for number in range(passes)])
    for number, names in blank.items():
        rows[number].update(dict.fromkeys(names, ""))
    here = Performance(read_performance_csv(write_rows(tmp_path / "x.csv", rows, header_of(rows, "C7"))))
    window = scope_of(here).window
    assert (window.kind, window.rows, window.warm) == ("whole_report", OPS * passes - len(blank), False)
    assert "re-profile 2 or more iterations" in window.why
    assert (here.iterations.count, here.iterations.short, here.iterations.whole) == (0, (), [])


def test_one_iteration_can_be_named(tmp_path):
    here = report(tmp_path, [Iteration(cold=True), Iteration()])
    first = scope_of(here, 1)
    assert (first.window.first_row, first.window.warm) == (2, False)
    assert scope_of(here, "all").window.rows == 2 * OPS
    with pytest.raises(QuestionRefused, match="there are 2"):
        scope_of(here, 3)


def test_a_replayed_trace_is_warm(tmp_path):
    passes = [Iteration(cold=True), Iteration(capture=True), Iteration(trace=(3, 1)), Iteration(trace=(3, 2))]
    window = scope_of(report(tmp_path, passes)).window
    assert (window.iteration, window.of_iterations, window.warm) == (2, 2, True)


def test_all_rows_of_a_traced_report_are_warm_only_without_the_pass_that_compiled(tmp_path):
    replays = [Iteration(capture=True), Iteration(trace=(3, 1)), Iteration(trace=(3, 2))]
    traced = report(tmp_path / "a", [Iteration(cold=True), *replays])
    assert scope_of(traced, "all").window.warm is False
    assert scope_of(traced, "last").window.warm is True
    assert scope_of(report(tmp_path / "b", replays), "all").window.warm is True


@for_all("lost", ["METAL TRACE ID", "METAL TRACE REPLAY SESSION ID"])
def test_a_row_is_replayed_with_a_trace_and_a_session(tmp_path, lost):
    rows = performance_rows(block(), [Iteration(capture=True), Iteration(trace=(3, 1)), Iteration(trace=(3, 2))])
    rows[OPS][lost] = ""
    here = Performance(read_performance_csv(write_rows(tmp_path / "x.csv", rows, header_of(rows, "C7"))))
    assert scope_of(here, "all").window.warm is False


def test_signposts_choose_rows_and_know_whether_they_are_warm(tmp_path):
    here = report(
        tmp_path, [Iteration(cold=True, signposts=("compile", "compiled")), Iteration(signposts=("go", "done"))]
    )
    warm = scope_of(here, start_signpost="go", end_signpost="done").window
    assert (warm.kind, warm.rows, warm.warm) == ("signposts", OPS, True)
    cold = scope_of(here, start_signpost="compile", end_signpost="compiled").window
    assert (cold.rows, cold.warm) == (OPS, False)


def test_iterations_between_signposts_are_not_mixed(tmp_path):
    inner = [Iteration(signposts=("go", None)), Iteration(), Iteration(signposts=(None, "done"))]
    here = report(tmp_path, [Iteration(cold=True), *inner])
    window = scope_of(here, start_signpost="go", end_signpost="done").window
    assert (window.kind, window.rows, window.iteration, window.of_iterations) == ("iteration", OPS, 3, 3)


def test_of_a_repeated_signpost_the_last_is_meant_and_said(tmp_path):
    here = report(tmp_path, [Iteration(cold=True, signposts=("go", "done")), Iteration(signposts=("go", "done"))])
    scope = scope_of(here, start_signpost="go", end_signpost="done")
    assert scope.window.first_row > 2 + OPS
    assert "one of 2" in scope.window.why


def test_unknown_signposts_are_refused_with_the_nearest(tmp_path):
    here = report(tmp_path, [Iteration(signposts=("start pass", "stop pass"))])
    with pytest.raises(QuestionRefused, match="start pass"):
        scope_of(here, start_signpost="start")
    with pytest.raises(QuestionRefused, match="no signposts"):
        scope_of(report(tmp_path / "none", [Iteration()]), start_signpost="start")
    with pytest.raises(QuestionRefused, match="never comes after"):
        scope_of(here, start_signpost="stop pass", end_signpost="start pass")


def test_rows_without_device_times_are_refused_with_the_remedy(tmp_path):
    with pytest.raises(QuestionRefused, match="tracy -r"):
        scope_of(report(tmp_path, [Iteration(capture=True)]))


def test_every_device_is_in_the_window_and_the_slowest_is_critical(tmp_path):
    program = block(devices=2)
    program.op("UnaryDeviceOperation", [program.tensor([1, 1, 32, 32])], kernel_ns=[1_000, 90_000])
    path = write_performance_report(tmp_path, program, [Iteration(cold=True), Iteration()])
    scope = scope_of(Performance(read_performance_csv(path)))
    assert scope.window.rows == 2 * (OPS + 1)
    assert scope.critical_device == 1
    assert len(scope.critical) == OPS + 1


def compiled(folder, const_eval_rows: int) -> Performance:
    """A front end's report whose first ops prepare constants once."""
    passes = [Iteration(cold=True), Iteration(), Iteration()]
    rows = performance_rows(block(), passes, "tt-torch")
    for row in rows:
        row["CONST_EVAL_OP"] = "false"
    prepared = [{**row, "CONST_EVAL_OP": "true"} for row in rows[:const_eval_rows]]
    path = write_rows(folder / "device_ops_perf_trace.csv", [*prepared, *rows], header_of(rows, "tt-torch"))
    return Performance(read_performance_csv(path))


def test_const_eval_ops_stay_out_of_the_steady_state(tmp_path):
    here = compiled(tmp_path, 3)
    assert len(here.ops) == 3 * OPS + 3
    scope = scope_of(here)
    assert (scope.window.rows, scope.window.iteration, scope.window.of_iterations) == (OPS, 3, 3)
    assert "3 const-eval ops left out" in scope.window.why
    assert scope_of(here, "all").window.rows == 3 * OPS


def test_an_iteration_without_a_device_op_is_refused(tmp_path, monkeypatch):
    """Rows of a damaged report may belong to no iteration."""
    monkeypatch.setattr(window, "_chosen", lambda *_, **_more: 99)
    with pytest.raises(QuestionRefused, match="iteration 99"):
        scope_of(report(tmp_path, [Iteration(cold=True), Iteration()]))


def test_the_kinds_of_a_window_s_ops_are_those_that_its_own_rows_tell(tmp_path):
    two = report(tmp_path, [Iteration(), Iteration()])
    assert two.iterations.count == 2
    for iteration in ("last", "all"):
        rows = scope_of(two, iteration).ops
        assert stored(rows, signatures) is not None
        assert signatures(rows).tolist() == signatures.__wrapped__(rows).tolist()
        assert not signatures(rows).flags.writeable
