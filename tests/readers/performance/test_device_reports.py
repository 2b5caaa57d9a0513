"""Reports of the device profiler alone: read where they name their ops, and otherwise refused by what they are.

Made: the headers are those that tt-metal's writers have in their source (profiler_analysis.cpp, the streaming
profiler's OpsCsvConsumer, realtime_profiler_csv_report_handler.cpp, memory_reporter.cpp). No real file was at hand.
"""

import pytest

from tests.asking import ask, session
from tests.for_all import for_all
from ttnn_mcp.errors import ReportForeign
from ttnn_mcp.readers.performance.csv_file import read_performance_csv
from ttnn_mcp.readers.performance.header import DEVICE_ONLY

NAMES = (
    "GLOBAL CALL COUNT,METAL TRACE ID,METAL TRACE REPLAY SESSION ID,DEVICE ID,DEVICE ARCH,OP NAME,CORE COUNT,"
    "AVAILABLE WORKER CORE COUNT,DEVICE FW DURATION [ns],DEVICE FW START CYCLE,DEVICE FW END CYCLE,"
    "DEVICE KERNEL DURATION [ns],OP TO OP LATENCY [ns],OP TO OP LATENCY BR/NRISC START [ns]"
)
STREAMED = (
    "DEVICE ID,GLOBAL CALL COUNT,EXECUTION,CORE COUNT,DEVICE KERNEL START CYCLE,DEVICE KERNEL END CYCLE,"
    "DEVICE KERNEL DURATION [ns],DEVICE KERNEL DURATION DM START [ns]"
)
QUICK = (
    "GLOBAL CALL COUNT,METAL TRACE ID,METAL TRACE REPLAY SESSION ID,DEVICE ID,DEVICE ARCH,OP NAME,CORE COUNT,"
    "AVAILABLE WORKER CORE COUNT,DEVICE KERNEL DURATION [ns],DEVICE KERNEL START CYCLE,DEVICE KERNEL END CYCLE,"
    "OP TO OP LATENCY [ns],OP TO OP LATENCY BR/NRISC START [ns]"
)
OPS = ("MatmulDeviceOperation", "UnaryDeviceOperation", "SoftmaxDeviceOperation") * 3


def rows(ops=OPS, device=0):
    for place, name in enumerate(ops):
        start = 1_000_000 + place * 12_000
        yield (
            f"{(place + 1) << 10 | device},,,{device},wormhole_b0,{name},64,64,11000,{start},{start + 11_000},10200,"
            f"{'' if not place else 1000},\n"
        )


@pytest.fixture
def written(tmp_path):
    def write(lines, header=NAMES, name="cpp_device_perf_report.csv"):
        path = tmp_path / name
        path.write_text(header + "\n" + "".join(lines))
        return path

    return write


async def test_times_gaps_and_cores_are_told_with_names(tmp_path, written):
    path = written(rows())
    card = await ask(session(tmp_path), "open_run", performance=str(path))
    assert (card["arch"], card["iterations"], card["kernel_ms"]) == ("wormhole_b0", 3, 0.031)
    assert DEVICE_ONLY in card["caveats"]
    ops = await ask(session(tmp_path), "list_ops", run=str(path), group_by="op_code")
    assert {row[ops["groups"]["columns"].index("key")] for row in ops["groups"]["rows"]} == set(OPS)
    detail = await ask(session(tmp_path), "op_detail", run=str(path), op=8)
    assert detail["kernel_us"] == 10.2
    for tool in ("optimization_check", "time_budget", "tensor_formats", "host_overhead"):
        assert await ask(session(tmp_path), tool, run=str(path))


def test_a_name_that_is_missing_on_some_rows_is_no_reason_to_refuse(written):
    assert len(read_performance_csv(written(rows([*OPS, ""]))).frame) == len(OPS) + 1
    assert len(read_performance_csv(written(rows(OPS[:1]))).frame) == 1
    kernels = NAMES.replace("DEVICE KERNEL DURATION", "DEVICE KERNEL START CYCLE,DEVICE KERNEL DURATION")
    lines = [line.replace(",10200,", f",{place},10200,") for place, line in enumerate(rows())]
    assert len(read_performance_csv(written(lines, kernels)).frame) == len(OPS)


def test_ops_without_names_are_refused(written):
    with pytest.raises(ReportForeign, match="TTNN_OP_PROFILER=1"):
        read_performance_csv(written(rows([""] * 4)))


def test_ops_in_another_order_than_they_ran_are_refused_with_how_to_sort_them(written):
    lines = list(rows())
    with pytest.raises(ReportForeign, match="sort -t, -k10,10n"):
        read_performance_csv(written([lines[1], lines[0], *lines[2:]]))
    assert read_performance_csv(written([*lines, *rows(device=1)]))  # each device begins anew


def test_without_cycles_nobody_can_say_in_which_order_they_ran(written):
    lines = [",".join([*line.split(",")[:9], *line.split(",")[11:]]) for line in rows()]
    header = NAMES.replace("DEVICE FW START CYCLE,DEVICE FW END CYCLE,", "")
    assert len(read_performance_csv(written([*lines[4:], *lines[:4]], header)).frame) == len(OPS)


@for_all(
    ("header", "name", "said"),
    [
        (STREAMED, "ops.csv", "streaming profiler's table"),
        (QUICK, "rt_device_perf_report.csv", "quick report.*names no op"),
        ("Device Time,Op-to-Op Gap", "x.csv", "tt-perf-report's output"),
        (",Total,Allocated", "x_detailed_memory_usage.csv", "dump of device memory"),
        (",Total,Allocated", "memory_usage_summary.csv", "dump of device memory"),
        (",Total,Allocated", "l1_usage_summary.csv", "dump of device memory"),
        ("ARCH: wormhole_b0, CHIP_FREQ[MHz]: 1000", "zones.csv", "raw device log"),
    ],
)
def test_what_is_no_report_is_named(written, header, name, said):
    with pytest.raises(ReportForeign, match=said):
        read_performance_csv(written(["1,2,3\n"], header, name))
