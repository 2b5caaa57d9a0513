"""Op tables for analyses: a made program, written as a report, read back."""

from __future__ import annotations

import re
from itertools import count
from typing import TYPE_CHECKING

from tests.profiles import (
    Iteration,
    Program,
    Tensor,
    header_of,
    performance_rows,
    write_performance_report,
    write_rows,
)
from ttnn_mcp.readers.performance.csv_file import read_performance_csv
from ttnn_mcp.run.performance import Performance

if TYPE_CHECKING:
    from pathlib import Path

    from tests.profiles.model import DeviceOp
    from ttnn_mcp.run.ops.op_table import OpTable

_numbers = count()


def performance_of(
    folder: Path, program: Program, generation: str = "C7", without: str = "", emptied: str = ""
) -> Performance:
    """One pass over the program; columns that match the pattern `without` are lost, of `emptied` their cells."""
    report = folder / f"report{next(_numbers)}"
    path = write_performance_report(report, program, [Iteration()], generation=generation)
    if without or emptied:
        rows = performance_rows(program, [Iteration()], generation)
        header = [name for name in header_of(rows, generation) if not (without and re.search(without, name))]
        lost = [name for name in header if emptied and re.search(emptied, name)]
        write_rows(path, [{**row, **dict.fromkeys(lost, "")} for row in rows], header)
    return Performance(read_performance_csv(path))


def ops_of(folder: Path, program: Program, generation: str = "C7", without: str = "", emptied: str = "") -> OpTable:
    return performance_of(folder, program, generation, without, emptied).ops


def put(program: Program, op: DeviceOp) -> Tensor:
    """A call of one device op; its output."""
    program.call("ttnn.made_up", op.inputs, op.outputs, (op,))
    return op.outputs[0]
