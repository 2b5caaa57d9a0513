"""The streaming profiler's ops CSV joined with a report: made by what OpsCsvConsumer of tt-metal writes, no real one was at hand."""

import csv
import io

import pytest

from tests.asking import ask, session
from tests.for_all import for_all
from tests.profiles import Iteration, Program, header_of, performance_rows, write_rows
from ttnn_mcp.errors import ReportForeign
from ttnn_mcp.readers.performance.header import JOINED
from ttnn_mcp.shell import cli
from ttnn_mcp.shell.join_command import join

COLUMNS = (
    "DEVICE ID,GLOBAL CALL COUNT,EXECUTION,CORE COUNT,DEVICE KERNEL START CYCLE,DEVICE KERNEL END CYCLE,"
    "DEVICE KERNEL DURATION [ns],DEVICE KERNEL DURATION DM START [ns],DEVICE KERNEL DURATION PER CORE MIN [ns],"
    "DEVICE KERNEL DURATION PER CORE MAX [ns],DEVICE KERNEL DURATION PER CORE AVG [ns],"
    "DEVICE KERNEL FIRST TO LAST START [ns],DEVICE BRISC KERNEL DURATION [ns],DEVICE NCRISC KERNEL DURATION [ns],"
    "DEVICE TRISC0 KERNEL DURATION [ns],DEVICE TRISC1 KERNEL DURATION [ns],DEVICE TRISC2 KERNEL DURATION [ns],"
    "DEVICE ERISC KERNEL DURATION [ns]"
)
NAMES = ("MatmulDeviceOperation", "UnaryDeviceOperation", "SoftmaxDeviceOperation")


@pytest.fixture
def report(tmp_path):
    """Three ops of Blackhole, each 9 us long in it."""
    program = Program("blackhole")
    x = program.tensor([1, 1, 64, 64])
    for name in NAMES:
        program.op(name, [x, x] if "Matmul" in name else [x], kernel_ns=9_000, cores=64)
    rows = performance_rows(program, [Iteration()])
    return write_rows(tmp_path / "ops_perf_results.csv", rows, header_of(rows, "C7"))


def counts(report):
    with report.open(newline="") as file:
        return [row["GLOBAL CALL COUNT"] for row in csv.DictReader(file)]


def line(count, execution=0, start=1000, ns=4_000, cores=64):
    """A launch at 1.35 cycles a nanosecond; without a start, as of an ethernet kernel, both cycles are blank."""
    cycles = f"{start},{start + int(ns * 1.35)}" if start else ","
    return (
        f"0,{count},{execution},{cores},{cycles},{ns},{ns},{ns - 50},{ns},{ns - 20},30,{ns},{ns},{ns},{ns},{ns},\n"
    )


@pytest.fixture
def streamed(tmp_path):
    def write(*lines):
        path = tmp_path / "streamed.csv"
        path.write_text(COLUMNS + "\n" + "".join(lines))
        return path

    return write


def rows_of(text):
    return [*csv.DictReader(io.StringIO(text))]


async def test_names_come_from_the_report_and_times_from_the_streaming_profiler(tmp_path, report, streamed, capsys):
    first, second, third = counts(report)
    times = streamed(line(first, start=20_000), line(second, start=1_000), line(third, start=30_000, ns=2_000))
    assert cli.main(["join", str(times), str(report)]) == 0
    text, told = capsys.readouterr()
    assert told == ""
    rows = rows_of(text)
    assert [row["OP CODE"] for row in rows] == [NAMES[1], NAMES[0], NAMES[2]]  # as they began
    assert [row["OP TO OP LATENCY [ns]"] for row in rows] == ["0", f"{(20_000 - 6_400) / 1.35:.0f}", "3407"]
    assert {row["METAL TRACE REPLAY SESSION ID"] for row in rows} == {""}
    assert {"MATH FIDELITY", "INPUT_0_DATATYPE", "DEVICE ARCH", "PROGRAM HASH"} <= rows[0].keys()
    assert not {"DEVICE FW DURATION [ns]", "HOST START TS", "DEVICE KERNEL START CYCLE"} & rows[0].keys()
    joined = tmp_path / "joined.csv"
    joined.write_text(text)
    card = await ask(session(tmp_path), "open_run", performance=str(joined))
    assert JOINED in card["caveats"]
    assert (card["kernel_ms"], card["arch"]) == (0.010, "blackhole")
    detail = await ask(session(tmp_path), "op_detail", run=str(joined), op=2)
    assert (detail["op_code"], detail["kernel_us"]) == (NAMES[1], 4.0)
    for tool in ("optimization_check", "time_budget", "tensor_formats", "host_overhead"):
        assert await ask(session(tmp_path), tool, run=str(joined))


async def test_an_execution_is_a_replay(tmp_path, report, streamed):
    times = [
        line(count, turn, 1_000 + 9_000 * (3 * turn + at))
        for at, count in enumerate(counts(report))
        for turn in (0, 1)
    ]
    rows = rows_of(join(streamed(*times), report)[0])
    assert [(row["METAL TRACE ID"], row["METAL TRACE REPLAY SESSION ID"]) for row in rows] == [("0", "1")] * 3 + [
        ("0", "2")
    ] * 3
    path = tmp_path / "joined.csv"
    path.write_text(join(streamed(*times), report)[0])
    assert (await ask(session(tmp_path), "open_run", performance=str(path)))["iterations"] == 2


def test_a_launch_without_cycles_stays_where_it_is_and_has_no_gap(report, streamed):
    first, second, third = counts(report)
    text, _ = join(streamed(line(first, start=9_000), line(second, start=0), line(third, start=20_000)), report)
    rows = rows_of(text)
    assert [row["OP CODE"] for row in rows] == [*NAMES]
    assert [row["OP TO OP LATENCY [ns]"] for row in rows] == ["0", "0", f"{(20_000 - 14_400) / 1.35:.0f}"]


@for_all(
    "damaged",
    [
        line(77)[:-1] + "1,2\n",
        "0,77,0,64",
        "0,x,0,64,1,2,3,4,5,6,7,8,9,1,2,3,4,\n",
        "0,1024,-1" + "," * 15 + "\n",
        "0,9" + "9" * 5000,
    ],
)
def test_a_line_that_is_damaged_is_left_out(report, streamed, damaged):
    whole = [line(count, start=9_000 * at) for at, count in enumerate(counts(report), 1)]
    assert join(streamed(*whole, damaged), report) == join(streamed(*whole), report)


@for_all(("execution", "left_out"), [(10**19, 1), (10**20, 0)])
def test_a_number_has_at_most_64_bits(report, streamed, execution, left_out):
    times = streamed(
        *(line(count, start=9_000 * at) for at, count in enumerate(counts(report), 1)), line(9, execution)
    )
    assert join(times, report)[1].startswith("1 launches") == bool(left_out)


def test_launches_of_no_name_are_told_and_left_out(report, streamed, capsys):
    times = streamed(*(line(count, start=9_000 * at) for at, count in enumerate([*counts(report), 77_000], 1)))
    assert len(rows_of(join(times, report)[0])) == 3
    assert cli.main(["join", str(times), str(report)]) == 0
    assert capsys.readouterr().err == "1 launches are not in ops_perf_results.csv: left out\n"


@for_all(("cores", "same"), [((64, 64, 63, 63), True), ((64, 64, 63, 63, 63), False)])
def test_another_program_is_refused(report, streamed, cores, same):
    numbers = [*counts(report), *counts(report)]
    times = streamed(
        *(
            line(count, at // 3, 9_000 * (at + 1), cores=on)
            for at, (count, on) in enumerate(zip(numbers, cores, strict=False))
        )
    )
    if same:
        assert join(times, report)[1] == ""
    else:
        with pytest.raises(ReportForeign, match="of 5 launches 5 stand in both, 2 on as many cores"):
            join(times, report)


def test_files_in_the_wrong_places_are_refused(report, streamed):
    times = streamed(line(5), line(6))
    with pytest.raises(ReportForeign, match="streaming profiler's ops CSV: give that one first"):
        join(report, times)
    with pytest.raises(ReportForeign, match="ttnn-mcp join IT CSV"):
        join(times, times)
    with pytest.raises(ReportForeign, match="of 2 launches 0 stand in both"):
        join(times, report)
