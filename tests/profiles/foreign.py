"""Files that lie where profiles lie and are something else: what a reader must refuse, saying what they are."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

# tt-perf-report 1.4.1's own output, first op of its DeepLabV3 sample.
TT_PERF_REPORT_HEADER = (
    "ID,Total %,Bound,OP Code,Device,Device Time,Op-to-Op Gap,Cores,DRAM,DRAM %,FLOPs,FLOPs %,Math Fidelity,"
    "Output Datatype,Input 0 Datatype,Input 1 Datatype,DRAM Sharded,Input 0 Memory,Inner Dim Block Size,"
    "Output Subblock H,Output Subblock W,Global Call Count,Sub Device ID,Available Cores,Op Category,Bound Analysis,Advice"
)
_TT_PERF_REPORT_ROW = (
    "2,0.00081,,HaloDeviceOperation,0,11.035,,110,,,,,BF16 => BF16,BFLOAT16,BFLOAT16,nan,False,"
    "DEV_1_L1_HEIGHT_SHARDED,,,,1024,,110,DM,none,"
)
DEVICE_ONLY_HEADER = (
    "GLOBAL CALL COUNT,DEVICE ID,CORE COUNT,DEVICE FW START CYCLE,DEVICE FW END CYCLE,OP TO OP LATENCY [ns],"
    "OP TO OP LATENCY BR/NRISC START [ns],DEVICE FW DURATION [ns],DEVICE KERNEL DURATION [ns]"
)
# Spring 2024: tensors lived inside input_tensors and output_tensors, comparisons inside operations.
_G0_TENSOR = "tensor_id int, shape text, dtype text, layout text, memory_config text, device_id int, address int, buffer_type int"
_G0_OPERATION = (
    "operation_id int UNIQUE, name text, duration float, matches_golden bool, desired_pcc float, actual_pcc float"
)
_G0 = (
    f"CREATE TABLE operations ({_G0_OPERATION})",
    f"CREATE TABLE input_tensors (operation_id int, input_index int, {_G0_TENSOR})",
    f"CREATE TABLE output_tensors (operation_id int, output_index int, {_G0_TENSOR})",
    "CREATE TABLE buffers (operation_id int, device_id int, address int, max_size_per_bank int, buffer_type int)",
    "INSERT INTO operations VALUES (1, 'ttnn.add', 0.001, NULL, NULL, NULL)",
)


def _write(path: Path, lines: Iterable[str]) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return path


def write_tt_perf_report_csv(path: Path) -> Path:
    return _write(path, (TT_PERF_REPORT_HEADER, _TT_PERF_REPORT_ROW))


def write_device_only_csv(path: Path) -> Path:
    """What the profiler's C++ half writes before ops are matched: times without op codes."""
    return _write(path, (DEVICE_ONLY_HEADER, "1024,0,64,14168404359928,14168404371219,0,0,11291,10429"))


def write_unrelated_csv(path: Path) -> Path:
    return _write(path, ("name,price", "apple,1", "pear,2"))


def _database(path: Path, statements: Iterable[str]) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    with closing(sqlite3.connect(path)) as connection:
        for statement in statements:
            connection.execute(statement)
        connection.commit()
    return path


def write_g0_database(path: Path) -> Path:
    return _database(path, _G0)


def write_unrelated_database(path: Path) -> Path:
    return _database(path, ("CREATE TABLE fruit (name text, price int)", "INSERT INTO fruit VALUES ('apple', 1)"))


def truncate(path: Path, share: float = 0.5) -> Path:
    """Cut the end of a file off, as a copy that was interrupted."""
    content = path.read_bytes()
    path.write_bytes(content[: int(len(content) * share)])
    return path
