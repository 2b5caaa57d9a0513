"""Iterations are found from what ran: replays, signposts, or the repeating tail."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from tests.for_all import for_all
from tests.profiles import Iteration, header_of, performance_rows, write_performance_report, write_rows
from tests.profiles.program import Program
from tests.programs import block
from ttnn_mcp.readers.performance.csv_file import read_performance_csv
from ttnn_mcp.run.iterations import repeating_tail
from ttnn_mcp.run.performance import Performance
from ttnn_mcp.run.run import Run
from ttnn_mcp.run.window import scope_of


def tail(text: str) -> tuple[int, int]:
    return repeating_tail(np.array([ord(char) for char in text], dtype=np.uint64))


@for_all(
    ("ops", "found"),
    [
        ("abcabc", (3, 2)),
        ("abcabcabcabc", (3, 4)),  # the largest period is two passes; one pass repeats within it
        ("xyabcabc", (3, 2)),  # weights prepared before the first pass
        ("abcabd", (0, 0)),
        ("aab", (0, 0)),
        ("abab" * 3, (2, 6)),
        ("", (0, 0)),
        ("a", (0, 0)),
        ("aa", (1, 2)),
    ],
)
def test_the_repeating_tail_is_the_smallest_block(ops, found):
    assert tail(ops) == found


@given(prefix=st.text("abc", max_size=6), block=st.text("abcd", min_size=1, max_size=9), repeats=st.integers(2, 5))
def test_a_repeated_block_is_always_found(prefix, block, repeats):
    length, count = tail(prefix + block * repeats)
    whole = prefix + block * repeats
    assert length * count >= len(block) * 2
    assert whole.endswith(whole[-length:] * count)


def report(folder, program, iterations, **kind) -> Performance:
    return Performance(read_performance_csv(write_performance_report(folder, program, iterations, **kind)))


def test_two_passes_are_two_iterations_per_device(tmp_path):
    found = report(tmp_path, block(devices=2), [Iteration(cold=True), Iteration()]).iterations
    assert (found.count, found.ops, found.found_by) == (2, len(block().device_ops), "repeating ops")
    assert np.bincount(found.number).tolist() == [0, 2 * found.ops, 2 * found.ops]


def test_one_pass_has_no_iterations(tmp_path):
    assert report(tmp_path, block(), [Iteration(cold=True)]).iterations.count == 0


def test_trace_replays_are_iterations_and_the_capture_is_none(tmp_path):
    passes = [Iteration(cold=True), Iteration(capture=True), *(Iteration(trace=(7, n)) for n in (1, 2, 3))]
    found = report(tmp_path, block(), passes).iterations
    assert (found.count, found.found_by) == (3, "trace replays")
    assert (found.number == 0).sum() == len(block().device_ops)


def test_signposts_that_bracket_the_same_ops_are_iterations(tmp_path):
    passes = [Iteration(cold=True, signposts=("start", "stop")), *[Iteration(signposts=("start", "stop"))] * 2]
    found = report(tmp_path, block(), passes).iterations
    assert (found.count, found.found_by) == (3, "signposts")


def test_a_last_iteration_that_was_cut_off_is_left_out(tmp_path):
    program = block(layers=4)
    rows = performance_rows(program, [Iteration(cold=True), Iteration(), Iteration()])
    path = write_rows(tmp_path / "cut.csv", rows[:-3], header_of(rows, "C7"))
    found = Performance(read_performance_csv(path)).iterations
    assert (found.count, found.ops) == (2, len(program.device_ops))
    assert found.number.tolist() == [1] * found.ops + [2] * found.ops + [0] * (found.ops - 3)


def test_an_output_fetched_once_after_the_loop_belongs_to_no_iteration(tmp_path):
    rows = performance_rows(block(layers=4), [Iteration(cold=True), Iteration(), Iteration()])
    fetched = {**rows[-1], "OP CODE": "UntilizeDeviceOperation", "DEVICE FW END CYCLE": "99999999999999"}
    found = Performance(
        read_performance_csv(write_rows(tmp_path / "x.csv", [*rows, fetched], header_of(rows, "C7")))
    )
    assert found.iterations.count == 3
    assert found.iterations.number[-1] == 0


def test_a_layer_that_repeats_at_the_end_is_no_iteration(tmp_path):
    program = block(layers=12)
    for _ in range(2):
        program.op("UnaryDeviceOperation", [program.tensor([1, 1, 32, 32])])
    assert report(tmp_path, program, [Iteration(cold=True)]).iterations.count == 0


def layered(layers: int, tail: int = 1, *, embedded: bool = True) -> Program:
    """An embedding, equal layers that hand one tensor on, a final norm: what one pass of an encoder looks like."""
    program = Program()
    x = program.tensor([1, 1, 32, 64])
    if embedded:
        x = program.op("EmbeddingsDeviceOperation", [program.weight([1, 1, 512, 64])], shape=[1, 1, 32, 64])
    for _ in range(layers):
        y = program.op("LayerNormDeviceOperation", [x])
        for name in ("MatmulDeviceOperation", "SoftmaxDeviceOperation", "TransposeDeviceOperation"):
            y = program.op(name, [y])
        x = program.op("BinaryNgDeviceOperation", [x, y])
    for _ in range(tail):
        x = program.op("PermuteDeviceOperation", [x])
    return program


def after_set_up(folder, rows) -> Performance:
    """One op more in front, so that the passes do not cover all rows."""
    first = {**rows[0], "OP CODE": "FillPadDeviceOperation", "DEVICE FW END CYCLE": "14000000000000"}
    return Performance(read_performance_csv(write_rows(folder / "x.csv", [first, *rows], header_of(rows, "C7"))))


@for_all("tail", [0, 1, 3])
def test_layers_of_one_pass_are_no_iterations(tmp_path, tail):
    assert report(tmp_path, layered(12, tail), [Iteration(cold=True)]).iterations.count == 0


def test_passes_made_of_layers_are_iterations(tmp_path):
    found = report(tmp_path, layered(12), [Iteration(cold=True), Iteration(before_ns=800)]).iterations
    assert (found.count, found.ops) == (2, 62)


@for_all(("pause_ns", "count"), [(60_000, 5), (1_500, 0)])
def test_a_layer_run_again_and_again_is_an_iteration_if_it_pauses(tmp_path, pause_ns, count):
    rows = performance_rows(
        layered(1, 0, embedded=False), [Iteration(cold=True)] + [Iteration(before_ns=pause_ns)] * 4
    )
    assert after_set_up(tmp_path, rows).iterations.count == count


@for_all(("embedded", "pause_ns", "doubt"), [(False, 1_500, True), (False, 60_000, False), (True, 1_500, False)])
def test_equal_layers_and_nothing_else_are_cut_but_not_unsaid(tmp_path, embedded, pause_ns, doubt):
    passes = [Iteration(before_ns=pause_ns, kernel_scale=scale) for scale in (1, 1, 1, 2)]
    passes = [Iteration(cold=True, signposts=("go", None)), *passes]
    found = report(tmp_path, layered(1, 0, embedded=embedded), passes)
    assert (found.iterations.count, found.iterations.may_be_layers) == (5, doubt)
    for start in (None, "go"):  # and nothing else between the signposts
        window = scope_of(found, start_signpost=start).window
        assert (window.iteration, "equal layers" in window.why) == (5, doubt)
    unlike = [doubt.code for doubt in Run("x", "x", found, None).scope().doubts]
    assert unlike == ["pass_unlike_others"] * (not doubt)  # a layer may be unlike the others


def test_a_decode_loop_that_feeds_its_token_back_is_no_stack_of_layers(tmp_path):
    program = layered(8, tail=0)
    token = program.op("ArgMaxDeviceOperation", [program.calls[-1].outputs[0]], shape=[1, 1, 512, 64])
    assert token.shape == program.calls[0].inputs[0].shape
    rows = performance_rows(program, [Iteration(cold=True), *[Iteration(before_ns=700)] * 3])
    assert after_set_up(tmp_path, rows).iterations.count == 4


def replays(*pairs: tuple[int, int]) -> list[Iteration]:
    return [Iteration(cold=True), Iteration(capture=True), *(Iteration(trace=pair) for pair in pairs)]


@for_all(
    ("pairs", "count", "replays_each"),
    [
        ([(1, 1), (1, 2), (2, 1), (2, 2), (2, 3)], 3, 1),  # prefill twice, then decode
        ([(1, 1), (2, 1), (1, 2), (2, 2)], 2, 2),  # two traces take turns
        ([(1, 1), (2, 1)], 2, 1),
        ([(7, 4)], 1, 1),
    ],
)
def test_replays_of_several_traces_are_told_apart(tmp_path, pairs, count, replays_each):
    found = report(tmp_path, block(), replays(*pairs)).iterations
    assert (found.count, found.ops) == (count, replays_each * len(block().device_ops))


def test_ops_whose_row_lost_its_trace_ran_in_the_replay_around_them(tmp_path):
    program = block(devices=2)
    rows = performance_rows(program, replays((1, 1), (1, 2)))
    timed = [row for row in rows if row.get("METAL TRACE REPLAY SESSION ID") and str(row["DEVICE ID"]) == "1"]
    length = len(block().device_ops)
    for row in (timed[2], timed[3], timed[length + 1], timed[-1]):  # the last one may have run behind the replay
        row["METAL TRACE ID"] = row["METAL TRACE REPLAY SESSION ID"] = ""
    path = write_rows(tmp_path / "ops.csv", rows, header_of(rows, "C7"))
    iterations = Performance(read_performance_csv(path)).iterations
    assert np.bincount(iterations.number).tolist()[1:] == [2 * length, 2 * length - 1]


def test_a_device_that_lost_rows_does_not_cost_the_others_their_iterations(tmp_path):
    program = block(devices=4, layers=4)
    rows = performance_rows(program, [Iteration(cold=True), Iteration(), Iteration()])
    lost = next(n for n, row in enumerate(rows) if row["DEVICE ID"] == "2" and n > 40)
    path = write_rows(tmp_path / "x.csv", rows[:lost] + rows[lost + 1 :], header_of(rows, "C7"))
    here = Performance(read_performance_csv(path))
    assert here.iterations.count == 3
    assert (here.iterations.number == 0).sum() == 0
    assert np.bincount(here.iterations.number).sum() == len(rows) - 1
    assert scope_of(here).window.warm


def test_a_device_may_run_fewer_ops_of_each_pass_than_the_other(tmp_path):
    rows = performance_rows(block(devices=2), [Iteration(cold=True), Iteration(), Iteration()])
    own = [row for row in rows if row["DEVICE ID"] == "1"]
    for row in own[:: len(own) // 3]:
        rows.remove(row)
    here = Performance(read_performance_csv(write_rows(tmp_path / "x.csv", rows, header_of(rows, "C7"))))
    assert (here.iterations.count, here.iterations.may_be_layers) == (3, False)


def test_replays_of_equal_layers_are_iterations_without_a_doubt(tmp_path):
    passes = [Iteration(cold=True), Iteration(capture=True)]
    passes += [Iteration(trace=(1, session), before_ns=1_500) for session in (1, 2, 3)]
    found = report(tmp_path, layered(1, 0, embedded=False), passes).iterations
    assert (found.found_by, found.may_be_layers) == ("trace replays", False)


@for_all("lost", [False, True])
def test_whether_repeats_are_layers_is_asked_of_the_first_device_that_lost_no_rows(tmp_path, lost):
    program = layered(1, 0, embedded=False)
    program.devices = 3
    rows = performance_rows(program, [Iteration(cold=True)] + [Iteration(before_ns=1_500)] * 4)
    for row in rows:
        if row["DEVICE ID"] != ("1" if lost else "0") and row["OP TO OP LATENCY [ns]"] == "1500":
            row["OP TO OP LATENCY [ns]"] = "60000"
    if lost:
        rows.remove([row for row in rows if row["DEVICE ID"] == "0"][7])
    found = Performance(read_performance_csv(write_rows(tmp_path / "x.csv", rows, header_of(rows, "C7"))))
    assert (found.iterations.count, found.iterations.may_be_layers) == (5, True)


def test_what_ran_before_the_repeats_has_no_part_in_the_doubt(tmp_path):
    """As many ops of set-up as there are passes: counted in, each pass would seem to be one op longer."""
    rows = performance_rows(
        layered(1, 0, embedded=False), [Iteration(cold=True)] + [Iteration(before_ns=60_000)] * 4
    )
    names = ("FillPad", "Pad", "Fold", "Tilize", "Typecast")
    first = [
        {**rows[0], "OP CODE": name, "DEVICE FW END CYCLE": str(14_000_000_000_000 + place)}
        for place, name in enumerate(names)
    ]
    path = write_rows(tmp_path / "x.csv", [*first, *rows], header_of(rows, "C7"))
    found = Performance(read_performance_csv(path)).iterations
    assert (found.count, found.may_be_layers) == (5, False)


def test_all_rows_raise_no_doubt_about_layers(tmp_path):
    passes = [Iteration(cold=True)] + [Iteration(before_ns=1_500)] * 4
    here = report(tmp_path, layered(1, 0, embedded=False), passes)
    assert "equal layers" in scope_of(here).window.why
    assert (
        f"then all figures are per layer, and the run has {here.iterations.count} of them"
        in scope_of(here).window.why
    )
    assert "equal layers" not in scope_of(here, "all").window.why
