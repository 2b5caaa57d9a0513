"""The trace: what a reader of the wire format finds in it. `make browser` reads it with Perfetto's own classes too."""

import pytest

from tests.asking import ask, session
from tests.for_all import for_all
from tests.pairs import Model, write
from tests.profiles import DatabaseStyle, write_memory_report
from tests.profiles.demo_model import demo_program
from ttnn_mcp.errors import QuestionRefused
from ttnn_mcp.report.answers import answers_of
from ttnn_mcp.report.plotted import slots_of
from ttnn_mcp.report.trace import BEGINNING, trace, varint

COLUMNS = ("op", "device", "kernel_us", "gap_us")


def test_an_op_starts_after_its_gap_and_the_first_at_once():
    rows = [[7, 0, 2.5, 900.0], [8, 0, 1.25, 0.5], [9, 0, 1.0, None], [10, 0, 4.0, -3.0], [7, 1, 2.0, 4.0]]
    slots = slots_of(COLUMNS, rows)
    assert [(slot.start_ns, slot.end_ns, slot.gap_ns) for slot in slots] == [
        (0, 2500, 0),
        (3000, 4250, 500),
        (4250, 5250, 0),
        (2250, 6250, 0),
        (0, 2000, 0),
    ]


@for_all(
    ("value", "coded"), [(0, b"\0"), (127, b"\x7f"), (128, b"\x80\1"), (300, b"\xac\2"), (-1, b"\xff" * 9 + b"\1")]
)
def test_whole_numbers_are_coded_seven_bits_a_byte(value, coded):
    assert varint(value) == coded


async def test_the_window_of_the_trace_is_the_window_of_the_budget(demo_answers, tmp_path):
    slots = slots_of(demo_answers.ops["ops"]["columns"], demo_answers.ops["ops"]["rows"])
    budget = await ask(session(tmp_path), "time_budget", run="demo")
    assert slots[-1].end_ns / 1e3 == pytest.approx(budget["window_us"], abs=0.01 * len(slots))


def test_a_trace_holds_every_op_gap_and_finding_that_cites_one(demo_answers):
    written = trace(demo_answers)
    assert written.startswith(BEGINNING)
    for row in demo_answers.ops["ops"]["rows"]:
        assert row[1].encode() in written
    assert b"gaps" in written
    assert b"1. stalled-on-host" in written


async def test_every_device_has_its_tracks(tmp_path):
    path = write(tmp_path / "run", Model(devices=2))
    written = trace(await answers_of(session(tmp_path), str(path), None))
    assert b"device 0" in written
    assert b"device 1" in written


async def test_without_device_times_there_is_no_trace(tmp_path):
    path = write_memory_report(tmp_path / "memory", demo_program(), style=DatabaseStyle())
    answers = await answers_of(session(tmp_path), str(path), None)
    with pytest.raises(QuestionRefused, match="no device times"):
        trace(answers)
