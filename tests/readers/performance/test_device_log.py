"""The device log: the marks of one op, whatever else the file holds and however large it is."""

import io
import tracemalloc

import pytest

from tests.for_all import for_all
from tests.profiles.device_log import streamed_lines, write_device_log, zone_lines
from ttnn_mcp.errors import ReportBroken, ReportMissing
from ttnn_mcp.readers.performance import device_log
from ttnn_mcp.readers.performance.device_log import chip_beside, marks_of

ZONES = [((1, 2), "BRISC", "BRISC-KERNEL", 100, 250), ((1, 3), "TRISC_0", "TRISC-KERNEL", 110, 300)]


@for_all("old", [False, True])
def test_the_marks_of_one_op_are_read_in_both_formats(tmp_path, old):
    others = zone_lines(ZONES, 2048, old=old) + zone_lines(ZONES, 1024, device=1, old=old)
    path = write_device_log(tmp_path, others + zone_lines(ZONES, 1024, old=old), old=old)
    marks = marks_of(path, 0, 1024, None)
    assert (marks.arch, marks.clock_mhz, marks.complete) == ("wormhole_b0", 1000, True)
    assert [(mark.core, mark.processor, mark.zone, mark.starts, mark.cycle) for mark in marks.marks] == [
        ((1, 2), "BRISC", "BRISC-KERNEL", True, 100),
        ((1, 2), "BRISC", "BRISC-KERNEL", False, 250),
        ((1, 3), "TRISC_0", "TRISC-KERNEL", True, 110),
        ((1, 3), "TRISC_0", "TRISC-KERNEL", False, 300),
    ]


def test_the_zones_of_the_streaming_profiler_are_read(tmp_path):
    """As its writer prints them: blanks, the process as run host ID, the op as trace id, logical places at the end."""
    path = write_device_log(tmp_path, [*streamed_lines(ZONES, 2048), *streamed_lines(ZONES, 1024)])
    first, names, *lines = path.read_text().splitlines()
    path.write_text("\n".join([first, f"{names}, logical_x, logical_y", *lines, ""]))
    assert [(mark.core, mark.cycle) for mark in marks_of(path, 0, 1024, None).marks] == [
        ((1, 2), 100), ((1, 2), 250), ((1, 3), 110), ((1, 3), 300),
    ]  # fmt: skip
    assert marks_of(path, 0, 4242, None).marks == ()  # the process
    path.write_text("\n".join([first, names.replace("trace id", "other id"), *lines, ""]))
    assert marks_of(path, 0, 1024, None).marks == ()


def test_in_a_streamed_log_the_zones_of_a_kernel_tell_replays_apart(tmp_path):
    """A zone is printed when it ends: those within a kernel before it, processor by processor in any order."""
    inner, first, second = ((1, 2), "BRISC", "READ", 120, 130), ZONES[0], ((1, 2), *ZONES[1][1:])
    later = [
        (core, risc, zone, start + 1000, end + 1000) for core, risc, zone, start, end in (inner, first, second)
    ]
    order = [inner, first, later[0], second, later[1], later[2]]
    path = write_device_log(tmp_path, streamed_lines(order, 1024))
    cycles = [[mark.cycle for mark in marks_of(path, 0, 1024, session).marks] for session in (1, 2, 3, None)]
    assert cycles[0] == [120, 130, 100, 250, 110, 300]
    assert cycles[1:3] == [[cycle + 1000 for cycle in cycles[0]], []]
    assert len(cycles[3]) == 12


def test_counters_of_several_passes_are_no_marks(tmp_path):
    """As tracy's merge appends them (perf_counter_multipass.py): of the same op, by the clock of another pass."""
    counters = [
        f"0,1,2,BRISC,9090,{cycle},77,1024,,,,TS_DATA,1,f,{{'counter type': 'L1'; 'value': 3}}" for cycle in (7, 9)
    ]
    path = write_device_log(
        tmp_path, [*zone_lines(ZONES, 1024), *counters, "0,1,2,BRISC,5,40,9,1024,,,Z,ZONE_TOTAL,1,f,"]
    )
    assert [mark.cycle for mark in marks_of(path, 0, 1024, None).marks] == [100, 250, 110, 300]


def test_replays_of_a_trace_are_told_apart(tmp_path):
    lines = [
        *zone_lines(ZONES[:1], 1024),
        *zone_lines(ZONES[1:], 1024, session=2),
        *zone_lines(ZONES, 1024, session=3),
    ]
    path = write_device_log(tmp_path, lines)
    assert [mark.cycle for mark in marks_of(path, 0, 1024, 2).marks] == [110, 300]


@for_all("block", [1, 7, 100, 1 << 20])
def test_lines_may_lie_across_blocks(tmp_path, monkeypatch, block):
    path = write_device_log(tmp_path, zone_lines(ZONES, 512) + zone_lines(ZONES, 1024))
    path.write_text(path.read_text().rstrip("\n"))
    monkeypatch.setattr(device_log, "BLOCK_BYTES", block)
    assert [mark.cycle for mark in marks_of(path, 0, 1024, None).marks] == [100, 250, 110, 300]


def test_numbers_that_only_look_like_the_op_s_are_no_marks_of_it(tmp_path):
    # cycle 1024 of another op, and a count that ends alike
    others = zone_lines([((1, 2), "BRISC", "BRISC-KERNEL", 1024, 2000)], 7) + zone_lines(ZONES, 11024)
    path = write_device_log(tmp_path, [*others, "cut,off,1024,", "0,x,2,BRISC,1,5,0,1024,,,Z,ZONE_START,1,f,"])
    assert marks_of(path, 0, 1024, None).marks == ()


@pytest.mark.slow
def test_a_large_log_takes_little_memory(tmp_path):
    path = write_device_log(tmp_path, [])
    filler = "\n".join(zone_lines(ZONES * 5_000, 2048)) + "\n"
    with path.open("a") as file:
        for _ in range(30):
            file.write(filler)
        file.write("\n".join(zone_lines(ZONES, 1024)) + "\n")
    assert path.stat().st_size > 30e6
    tracemalloc.start()
    marks = marks_of(path, 0, 1024, None)
    most = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert len(marks.marks) == 4
    assert most < 6 * device_log.BLOCK_BYTES


@for_all(("most", "complete"), [(4, True), (3, False)])
def test_marks_beyond_the_most_are_left_out_and_that_is_told(tmp_path, monkeypatch, most, complete):
    monkeypatch.setattr(device_log, "MARKS_AT_MOST", most)
    marks = marks_of(write_device_log(tmp_path, zone_lines(ZONES, 1024)), 0, 1024, None)
    assert (len(marks.marks), marks.complete) == (most, complete)


def test_what_is_no_device_log_is_refused(tmp_path):
    path = tmp_path / "profile_log_device.csv"
    with pytest.raises(ReportMissing):
        marks_of(path, 0, 1024, None)
    for text in ("", "ARCH: wormhole_b0, CHIP_FREQ[MHz]: 1000\n", "a,b\nc,d\n", "\0" * 100):
        path.write_text(text)
        with pytest.raises(ReportBroken, match="no device log"):
            marks_of(path, 0, 1024, None)


class Recording(io.BytesIO):
    """A file that tells how much was read at once."""

    def __init__(self, content):
        super().__init__(content)
        self.asked = set()

    def read(self, size=-1):
        self.asked.add(size)
        return super().read(size)


@for_all(("length", "held"), [(65_536, 1), (65_537, 0)])
def test_a_line_across_blocks_is_kept_if_it_is_no_longer_than_a_mark_can_be(length, held):
    before = b"x" * (4 * 2**20 - 1 - length) + b"\n"
    file = Recording(before + b",7," + b"y" * (length - 3) + b"z\n")
    assert len([*device_log._lines_with(file, {7: b",7,"})]) == held
    assert file.asked == {4 * 2**20}


def test_400_000_marks_of_an_op_are_kept(tmp_path, monkeypatch):
    path = write_device_log(tmp_path, [])
    for count, complete in ((400_000, True), (400_001, False)):
        monkeypatch.setattr(device_log, "_lines_with", lambda *_, count=count: ((1024, b"") for _ in range(count)))
        monkeypatch.setattr(device_log, "_mark", lambda *_: "a mark")
        marks = marks_of(path, 0, 1024, None)
        assert (len(marks.marks), marks.complete) == (400_000, complete)


def test_a_log_without_one_of_its_columns_is_none(tmp_path):
    path = write_device_log(tmp_path, zone_lines(ZONES, 1024))
    first, second, *rest = path.read_text().split("\n")
    path.write_text("\n".join((first, second.replace("core_x", "core_q"), *rest)))
    with pytest.raises(ReportBroken, match="no device log"):
        marks_of(path, 0, 1024, None)
    path.write_text("\n".join(("ARCH wormhole", second, *rest)))
    with pytest.raises(ReportBroken, match="no device log"):
        marks_of(path, 0, 1024, None)


HEADER = {"device": 0, "x": 1, "y": 2, "processor": 3, "cycle": 4, "call_count": 5, "zone": 6, "phase": 7}


@for_all(
    ("line", "is_mark"),
    [
        (b"0,1,2,BRISC,9,1024,Z,ZONE_START", True),
        (b" 0 , 1 ,2,BRISC,9, 1024 ,Z, begin ", True),
        (b"0,1,2,BRISC,9,1024,Z", False),  # cut off
        (b"0,1,2,BRISC,9,1025,Z,ZONE_START", False),
        (b"0,1,2,BRISC,9,1024,Z,TS_DATA", False),
        (b"1,1,2,BRISC,9,1024,Z,ZONE_START", False),
        (b"x,1,2,BRISC,9,1024,Z,ZONE_START", False),
        (b"0,1,2,BRISC,9.5,1024,Z,ZONE_START", False),
    ],
)
def test_a_line_is_a_mark_of_the_op_or_none(line, is_mark):
    mark = device_log._mark(line, HEADER, 0, 1024, None)
    assert mark == (device_log.Mark((1, 2), "BRISC", "Z", True, 9) if is_mark else None)


@for_all(("session", "cell", "is_mark"), [(2, b"2", True), (2, b"3", False), (2, b"", False), (None, b"3", True)])
def test_a_replay_is_told_where_the_log_tells_it(session, cell, is_mark):
    line = b"0,1,2,BRISC,9,1024,Z,ZONE_END," + cell
    assert (device_log._mark(line, {**HEADER, "session": 8}, 0, 1024, session) is not None) is is_mark
    assert device_log._mark(line, HEADER, 0, 1024, session) is not None


def test_chip_and_clock_stand_in_the_first_line(tmp_path):
    path = write_device_log(tmp_path, [])
    assert chip_beside(tmp_path / "x.csv") == ("wormhole_b0", 1000)
    path.write_text("what\n")
    assert chip_beside(tmp_path / "x.csv") is None
    assert chip_beside(tmp_path / "nowhere" / "x.csv") is None
