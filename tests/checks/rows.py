"""Small cases for checks: a program made by `tests.profiles`, written as a report, read back, asked."""

from __future__ import annotations

from itertools import count
from typing import TYPE_CHECKING

from tests.profiles import L1, Iteration, Program, write_performance_report
from tests.profiles.model import DeviceOp

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from tests.profiles import Tensor
    from ttnn_mcp.analyses.window_facts import WindowFacts as Case

COLD_THEN_WARM = (Iteration(cold=True), Iteration())
ONE_PASS = (Iteration(cold=True),)
_numbers = count()


def read(csv: Path) -> Case:
    from tests.checks.asking import case_of_reports  # it imports this module

    return case_of_reports(csv)


def case_of(
    folder: Path, program: Program, iterations: Sequence[Iteration] = COLD_THEN_WARM, generation: str = "C7"
) -> Case:
    report = folder / f"report{next(_numbers)}"
    return read(write_performance_report(report, program, iterations, generation=generation))


def put(program: Program, op: DeviceOp) -> Tensor:
    """A call of one device op; its output."""
    program.call("ttnn.made_up", op.inputs, op.outputs, (op,))
    return op.outputs[0]


def pass_time(program: Program, kernel_ns: float) -> None:
    """An op that no check of data formats or layouts speaks of, to make the window longer."""
    x, y = (program.tensor([1, 1, 32, 224], "UINT16", placement=L1) for _ in range(2))
    put(program, DeviceOp("MadeUpOfNoFamily", (x,), (y,), max(1, round(kernel_ns))))
