"""Op tables for analyses: a made program, written as a report, read back."""

from __future__ import annotations

from itertools import count
from typing import TYPE_CHECKING

from tests.profiles import Iteration, Program, Tensor, write_performance_report
from ttnn_mcp.readers.performance.csv_file import read_performance_csv
from ttnn_mcp.run.performance import Performance

if TYPE_CHECKING:
    from pathlib import Path

    from tests.profiles.model import DeviceOp
    from ttnn_mcp.run.ops.op_table import OpTable

_numbers = count()


def performance_of(folder: Path, program: Program, generation: str = "C7") -> Performance:
    """One pass over the program."""
    report = folder / f"report{next(_numbers)}"
    return Performance(
        read_performance_csv(write_performance_report(report, program, [Iteration()], generation=generation))
    )


def ops_of(folder: Path, program: Program, generation: str = "C7") -> OpTable:
    return performance_of(folder, program, generation).ops


def put(program: Program, op: DeviceOp) -> Tensor:
    """A call of one device op; its output."""
    program.call("ttnn.made_up", op.inputs, op.outputs, (op,))
    return op.outputs[0]
