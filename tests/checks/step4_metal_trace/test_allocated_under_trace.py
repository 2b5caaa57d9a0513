"""allocated-under-trace: a result that is read after the next replay of a trace."""

from __future__ import annotations

import pytest

from tests.checks.rows import ONE_PASS, put
from tests.for_all import for_all
from tests.profiles import Program, header_of, performance_rows, write_rows
from tests.profiles.model import DeviceOp

OUT, IN = None, 7  # of a trace
KEPT = [  # name, traced, width that it reads, width that it writes: line 6 reads what line 3 wrote before the replay
    ("Unary", IN, 512, 544),
    ("Unary", OUT, 32, 64),
    ("Unary", IN, 512, 544),
    ("Unary", OUT, 96, 128),
    ("Unary", OUT, 64, 160),
]


@pytest.fixture
def report(tmp_path):
    def of(ops, devices=1):
        program = Program("wormhole_b0", devices=devices)
        for name, _, read, written in ops:
            x, y = (program.tensor([1, 1, 32, width]) for width in (read, written))
            put(program, DeviceOp(f"{name}DeviceOperation", (x,), (y,), 10_000))
        rows = performance_rows(program, ONE_PASS)
        for place, row in enumerate(rows):
            trace = ops[place // devices][1]
            if trace is not None:
                row["METAL TRACE ID"] = row["METAL TRACE REPLAY SESSION ID"] = str(trace)
        path = tmp_path / "ops_perf_results_2026_01_01_00_00_00.csv"
        write_rows(path, rows, header_of(rows, "C7"))
        return path

    return of


@for_all("devices", [1, 2])
def test_a_result_that_is_read_after_the_next_replay_is_a_risk(check, report, devices):
    outcome = check.ask(report(KEPT, devices))
    claim, first = outcome.claim, outcome.case.line(0)
    maker, reader = first + devices, first + 4 * devices
    assert claim.claim == (
        "1 result allocated beside a live trace, read after its next replay, which may overwrite them: first Unary at "
        f"line {maker}, read at line {reader}"
    )
    assert [one.row for one in claim.evidence] == [maker, reader]
    assert claim.promise_ns == 0
    assert "ttnn.allocate_tensor_on_device" in claim.fix


def test_the_first_of_several_is_named(check, report):
    ops = [*KEPT, KEPT[2], ("Unary", OUT, 160, 192)]
    claim = check.ask(report(ops)).claim
    assert claim.claim.startswith("2 results allocated beside a live trace")
    assert claim.claim.endswith("first Unary at line 3, read at line 6")


@for_all(
    "ops",
    [
        [KEPT[0], KEPT[1], KEPT[4], KEPT[2], KEPT[3]],  # used up before the replay
        [KEPT[0], KEPT[1], KEPT[4], KEPT[2], KEPT[4]],  # read before it too
        [KEPT[1], KEPT[0], KEPT[4]],  # there before the first replay
        [*KEPT[:2], ("Unary", OUT, 192, 224), *KEPT[3:]],  # no second replay
        [*KEPT[:4], ("Unary", IN, 64, 160)],  # read by the trace, which knew it
        [KEPT[0], ("Unary", IN, 32, 64), ("Unary", OUT, 224, 256), *KEPT[2:]],  # written by it
        [KEPT[0], ("PagedFillCache", OUT, 32, 64), *KEPT[2:]],
        [KEPT[0], ("Copy", OUT, 32, 64), *KEPT[2:]],
    ],
)
def test_others_are_safe(check, report, ops):
    assert check.ask(report(ops)).status == "clean"


def test_without_operands_it_cannot_tell(check, report):
    path = report(KEPT)
    path.write_text(path.read_text("utf-8").replace("INPUT_", "LOST_").replace("OUTPUT_", "GONE_"), "utf-8")
    assert check.ask(path).status == "cannot_tell"


def test_without_replays_it_does_not_apply(check, report):
    assert check.ask(report([(name, OUT, *widths) for name, _, *widths in KEPT])).status == "not_applicable"
