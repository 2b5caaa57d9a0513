"""The columns of an ops_perf_results CSV that we read: declared once, by name, never by position.

Meanings follow tt-metal's tools/tracy/process_ops_logs.py and cpp_device_analyses.json. Each column states the header
generation that first wrote it and the answers that need it. So a file that lost a column can be told from a file that
is too old to have it. No later generation has dropped a column that we read.
"""

from __future__ import annotations

import re

from ttnn_mcp.readers.performance.column import DEVICES, Column, time_ns, utilisation

_CLOCK = "the device clock cannot be told"
_TRACE = "whether the run is traced cannot be told"

COLUMNS: tuple[Column, ...] = (
    Column("op_code", ("OP CODE", "OP NAME"), "text", "", "device operation, host call or signpost text"),
    Column(
        "op_type",
        ("OP TYPE",),
        "text",
        "",
        "tt_dnn_device, tt_dnn_cpu, python_fallback, signpost",
        "signposts are taken for host calls",
    ),
    Column(
        "call_count",
        ("GLOBAL CALL COUNT",),
        "number",
        "",
        "(runtime id << 10) | device since 2025",
        "dropped ops go unnoticed, and devices are matched by position only",
        counts=True,
    ),
    Column(
        "device",
        ("DEVICE ID",),
        "number",
        "",
        "chip the op ran on",
        "all ops count as one device's, whose times would add up in a mesh",
        counts=True,
        at_most=DEVICES - 1,
    ),
    Column(
        "sub_device",
        ("SUB DEVICE ID",),
        "text",
        "",
        "partition of the chip, blank = whole grid",
        "the compute grid may be that of a sub-device",
        since=7,
    ),
    Column(
        "arch",
        ("DEVICE ARCH",),
        "text",
        "",
        "wormhole_b0, blackhole",
        "the architecture can only be inferred",
        since=5,
    ),
    Column(
        "attributes",
        ("ATTRIBUTES",),
        "text",
        "",
        "the op's settings, ';' for ','",
        "checks of settings, convs and collectives cannot tell",
    ),
    Column(
        "fidelity",
        ("MATH FIDELITY",),
        "text",
        "",
        "of the last compute kernel; blank = data movement",
        "fidelity checks and compute bounds cannot tell",
    ),
    Column(
        "cores",
        ("CORE COUNT",),
        "number",
        "cores",
        "cores that logged the op",
        "checks of core use cannot tell",
        counts=True,
    ),
    Column(
        "worker_cores",
        ("AVAILABLE WORKER CORE COUNT",),
        "number",
        "cores",
        "compute grid after dispatch",
        "the compute grid can only be inferred",
        since=5,
        counts=True,
    ),
    Column(
        "host_start_ns",
        ("HOST START TS",),
        "number",
        "ns",
        "host clock; capture time on trace replays",
        at_most=2.0**63,
    ),
    Column("host_ns", ("HOST DURATION [ns]",), "number", "ns", "C++ launch only; no Python, no waiting"),
    Column("fw_start_cycle", ("DEVICE FW START CYCLE",), "number", "cycles", "device clock", _CLOCK),
    Column(
        "fw_end_cycle",
        ("DEVICE FW END CYCLE",),
        "number",
        "cycles",
        "device clock",
        "the device clock and the true order of ops cannot be told",
    ),
    Column(
        "gap_ns",
        ("OP TO OP LATENCY [ns]",),
        "number",
        "ns",
        "BEFORE this op, since the last one's end",
        "host overhead and Metal Trace cannot be judged",
    ),
    Column("fw_ns", ("DEVICE FW DURATION [ns]",), "number", "ns", "overlaps its neighbours: never summed", _CLOCK),
    Column("kernel_ns", ("DEVICE KERNEL DURATION [ns]",), "number", "ns", "first kernel start to last kernel end"),
    Column(
        "start_skew_ns",
        ("DEVICE KERNEL FIRST TO LAST START [ns]",),
        "number",
        "ns",
        "from the first core's kernel start to the last one's",
        since=2,
    ),
    time_ns("core_max_ns", "DEVICE KERNEL DURATION PER CORE MAX", "the longest core's own time", since=2),
    time_ns("core_avg_ns", "DEVICE KERNEL DURATION PER CORE AVG", "its mean over the cores", since=2),
    time_ns("brisc_ns", "DEVICE BRISC KERNEL DURATION", "data movement core 0"),
    time_ns("ncrisc_ns", "DEVICE NCRISC KERNEL DURATION", "data movement core 1"),
    time_ns("trisc0_ns", "DEVICE TRISC0 KERNEL DURATION", "unpack core"),
    time_ns("trisc1_ns", "DEVICE TRISC1 KERNEL DURATION", "math core"),
    time_ns("trisc2_ns", "DEVICE TRISC2 KERNEL DURATION", "pack core"),
    time_ns("erisc_ns", "DEVICE ERISC KERNEL DURATION", "ethernet core"),
    time_ns(
        "wait_front_ns",
        "DEVICE COMPUTE CB WAIT FRONT",
        "waits of unpackers for input, summed over cores; 0 = not measured",
    ),
    time_ns(
        "reserve_back_ns",
        "DEVICE COMPUTE CB RESERVE BACK",
        "waits of packers for room, summed over cores; 0 = not measured",
    ),
    Column(
        "trace_id",
        ("METAL TRACE ID", "TRACE ID"),
        "number",
        "",
        "set on trace replays only",
        _TRACE,
        since=2,
        counts=True,
        at_most=2.0**31 - 1,
    ),
    Column(
        "trace_session",
        ("METAL TRACE REPLAY SESSION ID", "TRACE RUNTIME ID"),
        "number",
        "",
        "which replay of the trace",
        "replays of a trace are not told apart",
        since=2,
        counts=True,
        at_most=2.0**31 - 1,
    ),
    Column("program_hash", ("PROGRAM HASH",), "text", "", "same hash = same compiled program", since=6),
    Column("cache_hit", ("PROGRAM CACHE HIT",), "text", "", "False everywhere without --no-op-info-cache", since=6),
    Column("pm_ideal_ns", ("PM IDEAL [ns]",), "number", "ns", "tt-metal's own model; 1 = not modelled"),
    Column("pm_fpu_util_pct", ("PM FPU UTIL (%)",), "number", "%", "above 100 = the model is wrong here", since=3),
    utilisation("noc_util_pct", "NOC UTIL", "of the network on chip, by tt-npe from a NoC trace", since=3),
    utilisation("dram_util_pct", "DRAM BW UTIL", "of the DRAM bandwidth, by tt-npe from a NoC trace", since=3),
    utilisation(
        "fpu_util_pct", "FPU Util Median", "matrix engine busy, by hardware counters; median core", since=5
    ),
    utilisation(
        "sfpu_util_pct", "SFPU Util Median", "vector engine busy, by hardware counters; median core", since=5
    ),
    utilisation(
        "math_util_pct", "MATH Util Median", "either engine busy, by hardware counters; median core", since=5
    ),
    utilisation("srca_wait_pct", "SrcA Valid Wait Median", "matrix engine waits for its first operand", since=6),
    utilisation("srcb_wait_pct", "SrcB Valid Wait Median", "matrix engine waits for its second operand", since=6),
    Column(
        "loc",
        ("LOC",),
        "text",
        "",
        "model line, written by tt-xla / tt-torch",
        "ops have no model line",
        since=3,
        by_compiler=True,
    ),
    Column(
        "const_eval",
        ("CONST_EVAL_OP",),
        "text",
        "",
        "true = runs once, not in steady state",
        "ops that run once count as steady ones",
        since=3,
        by_compiler=True,
    ),
)

BY_NAME = {column.name: column for column in COLUMNS}
BY_HEADER = {header: column for column in COLUMNS for header in column.headers}
OP_CODE, OP_NAME = BY_NAME["op_code"].headers  # one of them; the second is that of cpp_device_perf_report.csv
KERNEL_TIME = BY_NAME["kernel_ns"].headers[0]  # no report without it

OPERAND_HEADER = re.compile(r"(INPUT|OUTPUT)_(\d{1,4})_(W|Z|Y|X|LAYOUT|DATATYPE|MEMORY)(_PAD\[LOGICAL\])?$")
"""One cell of an operand: four dims (from 2025-09 "padded[logical]"), layout, data type, placement."""


def is_operand(header: str) -> bool:
    """Whether the column holds cells of an operand."""
    return OPERAND_HEADER.match(header) is not None


OPERAND_PARTS: dict[str, str] = {
    **dict.fromkeys("WZYX", "shapes, and what is computed from them, cannot be told"),
    "LAYOUT": "layout checks cannot tell",
    "DATATYPE": "format checks and byte counts cannot tell",
    "MEMORY": "checks of placement and sharding cannot tell",
}
"""The parts of an operand and what cannot be told without one."""

UNREAD = re.compile(
    r"PER CORE MIN|DM START|BR/NRISC START|DISPATCH|COMPUTE|DATA MOVEMENT"
    r"|KERNEL SIZE|^PM |UTIL|IMPACT|HOST_FUNC|HOST END TS|PARALLELIZATION|PROGRAM_METADATA",
    re.IGNORECASE,
)
"""Columns of TTNN that we do not read. None of them is a column that we read under another name."""
