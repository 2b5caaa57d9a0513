"""The columns of an ops_perf_results CSV that we read: declared once, by name, never by position.

Meanings follow tt-metal's tools/tracy/process_ops_logs.py and cpp_device_analyses.json. A column that a
report's generation does not have is simply absent: what needs it says so.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Literal

Kind = Literal["number", "text"]


@dataclass(frozen=True, slots=True)
class Column:
    """One column of the op table.

    Attributes:
        name: our name; ends in its unit.
        headers: the names it has had in the files, newest first.
        kind: "number" (float64, NaN = not measured) or "text" (category, missing = not said).
        unit: of the values as they stand in the file.
        meaning: what it measures, and its trap.
    """

    name: str
    headers: tuple[str, ...]
    kind: Kind
    unit: str
    meaning: str


COLUMNS: tuple[Column, ...] = (
    Column("op_code", ("OP CODE",), "text", "", "device operation, host call or signpost text"),
    Column("op_type", ("OP TYPE",), "text", "", "tt_dnn_device, tt_dnn_cpu, python_fallback, signpost"),
    Column("call_count", ("GLOBAL CALL COUNT",), "number", "", "(runtime id << 10) | device since 2025"),
    Column("device", ("DEVICE ID",), "number", "", "chip the op ran on"),
    Column("sub_device", ("SUB DEVICE ID",), "text", "", "partition of the chip, blank = whole grid"),
    Column("arch", ("DEVICE ARCH",), "text", "", "wormhole_b0, blackhole"),
    Column("attributes", ("ATTRIBUTES",), "text", "", "the op's settings, ';' for ','"),
    Column("fidelity", ("MATH FIDELITY",), "text", "", "of the last compute kernel; blank = data movement"),
    Column("cores", ("CORE COUNT",), "number", "cores", "cores that logged the op"),
    Column("worker_cores", ("AVAILABLE WORKER CORE COUNT",), "number", "cores", "compute grid after dispatch"),
    Column("host_start_ns", ("HOST START TS",), "number", "ns", "host clock; capture time on trace replays"),
    Column("host_ns", ("HOST DURATION [ns]",), "number", "ns", "C++ launch only; no Python, no waiting"),
    Column("fw_start_cycle", ("DEVICE FW START CYCLE",), "number", "cycles", "device clock"),
    Column("fw_end_cycle", ("DEVICE FW END CYCLE",), "number", "cycles", "device clock"),
    Column("gap_ns", ("OP TO OP LATENCY [ns]",), "number", "ns", "BEFORE this op, since the last one's end"),
    Column("fw_ns", ("DEVICE FW DURATION [ns]",), "number", "ns", "overlaps its neighbours: never summed"),
    Column("kernel_ns", ("DEVICE KERNEL DURATION [ns]",), "number", "ns", "first kernel start to last kernel end"),
    Column("brisc_ns", ("DEVICE BRISC KERNEL DURATION [ns]",), "number", "ns", "data movement core 0"),
    Column("ncrisc_ns", ("DEVICE NCRISC KERNEL DURATION [ns]",), "number", "ns", "data movement core 1"),
    Column("trisc1_ns", ("DEVICE TRISC1 KERNEL DURATION [ns]",), "number", "ns", "math core"),
    Column("trace_id", ("METAL TRACE ID", "TRACE ID"), "number", "", "set on trace replays only"),
    Column(
        "trace_session",
        ("METAL TRACE REPLAY SESSION ID", "TRACE RUNTIME ID"),
        "number",
        "",
        "which replay of the trace",
    ),
    Column("program_hash", ("PROGRAM HASH",), "text", "", "same hash = same compiled program"),
    Column("cache_hit", ("PROGRAM CACHE HIT",), "text", "", "False everywhere without --no-op-info-cache"),
    Column("pm_ideal_ns", ("PM IDEAL [ns]",), "number", "ns", "tt-metal's own model; 1 = not modelled"),
    Column("pm_fpu_util_pct", ("PM FPU UTIL (%)",), "number", "%", "above 100 = the model is wrong here"),
    Column("loc", ("LOC",), "text", "", "model line, written by tt-xla / tt-torch"),
    Column("const_eval", ("CONST_EVAL_OP",), "text", "", "true = runs once, not in steady state"),
)

BY_NAME = {column.name: column for column in COLUMNS}
BY_HEADER = {header: column for column in COLUMNS for header in column.headers}

OPERAND_HEADER = re.compile(r"(INPUT|OUTPUT)_(\d+)_(W|Z|Y|X|LAYOUT|DATATYPE|MEMORY)(_PAD\[LOGICAL\])?$")
"""One cell of an operand: four dims (from 2025-09 "padded[logical]"), layout, data type, placement."""
