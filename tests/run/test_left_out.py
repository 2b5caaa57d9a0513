"""What a window of one iteration leaves out: its repeats unsaid, anything else said."""

from tests.for_all import for_all
from tests.profiles import Iteration, Program, header_of, performance_rows, write_rows
from ttnn_mcp.readers.performance.csv_file import read_performance_csv
from ttnn_mcp.run.performance import Performance
from ttnn_mcp.run.window import scope_of

KINDS = ("Tilize", "LayerNorm", "Matmul", "Softmax", "Untilize")
MODEL = ("Embeddings", *KINDS * 4, "ArgMax")
COLD, REPLAYS = Iteration(cold=True), [Iteration(capture=True), Iteration(trace=(1, 1)), Iteration(trace=(1, 2))]


def model(names=MODEL, width=64, kernel_ns=10_000, devices=1):
    program = Program("wormhole_b0", devices=devices)
    x = program.tensor([1, 1, 32, width])
    for name in names:
        program.op(f"{name}DeviceOperation", [x], kernel_ns=kernel_ns)
    return program


def why(folder, *parts, iteration="last"):
    """Why the window of these parts of one report (each a program and its passes) was chosen."""
    rows, end, call = [], 0, 0
    for program, passes in parts:
        written = performance_rows(program, passes)
        timed = [row for row in written if row.get("DEVICE FW START CYCLE")]
        first = int(timed[0]["DEVICE FW START CYCLE"])
        for row in timed:
            for name in ("DEVICE FW START CYCLE", "DEVICE FW END CYCLE"):
                row[name] = str(int(row[name]) - first + end + 1_000_000)
        end = max(int(row["DEVICE FW END CYCLE"]) for row in timed)
        for row in (row for row in written if row.get("GLOBAL CALL COUNT")):
            row["GLOBAL CALL COUNT"] = str(int(row["GLOBAL CALL COUNT"]) + call)
        call += 1_024 * 1_024
        rows += written
    path = write_rows(folder / "x.csv", rows, header_of(rows, "C7"))
    return scope_of(Performance(read_performance_csv(path)), iteration).window.why


def told(ops, ms):
    return f"; {ops} ops ({ms} ms) outside the iterations are not all repeats of one: iteration='all' takes them"


def test_another_model_in_front_is_told(tmp_path):
    parts = (model(width=128), [COLD]), (model(), [COLD, Iteration(), Iteration()])
    assert why(tmp_path, *parts) == "found by repeating ops" + told(22, 0.22)
    assert why(tmp_path, *parts, iteration=2) == "found by repeating ops" + told(22, 0.22)
    assert "outside" not in why(tmp_path, *parts, iteration="all")


@for_all("before", [[COLD], [COLD, Iteration()], []])
def test_equal_passes_before_a_trace_are_its_repeats(tmp_path, before):
    assert why(tmp_path, (model(), [*before, *REPLAYS])) == "found by trace replays"


def test_a_part_of_the_model_that_no_trace_replays_is_told(tmp_path):
    """The trace holds the last layers only: those before it are of the same kinds, but no repeats."""
    last = model((*KINDS, *KINDS, "ArgMax"))
    parts = (model(), [COLD]), (model(MODEL[:11]), [COLD]), (last, REPLAYS)
    assert why(tmp_path, *parts) == "found by trace replays" + told(33, 0.33)


def test_what_ran_more_often_than_in_whole_passes_is_told(tmp_path):
    more = model(["Matmul"] * 20)
    assert why(tmp_path, (model(), [COLD]), (more, [COLD]), (model(), REPLAYS)).endswith(told(42, 0.42))


@for_all(("kernel_ns", "said"), [(10_900, False), (11_100, True)])
def test_a_twentieth_of_the_iteration_is_worth_telling(tmp_path, kernel_ns, said):
    """Weights are prepared once in almost every report."""
    parts = (model(["Typecast"], kernel_ns=kernel_ns), [COLD]), (model(), [COLD, Iteration()])
    assert ("1 ops (0.0" in why(tmp_path, *parts)) is said


def test_an_iteration_of_other_kinds_of_ops_is_told_though_it_has_a_number(tmp_path):
    """Three segments behind one signpost: prefill, then two of decode."""
    mark = Iteration(signposts=("step", None))
    parts = (model(width=128), [mark]), (model(), [mark, mark])
    assert why(tmp_path, *parts) == "found by signposts" + told(22, 0.22)


def test_of_several_devices_the_one_with_the_most_time_outside_is_told(tmp_path):
    first = model(width=128, devices=2, kernel_ns=(10_000, 30_000))
    assert why(tmp_path, (first, [COLD]), (model(devices=2), [COLD, Iteration()])).endswith(told(22, 0.66))
