"""Where accuracy is lost: the first operation whose output missed its PCC bound, as the memory report records it."""

from __future__ import annotations

import numpy as np

from ttnn_mcp.errors import shown
from ttnn_mcp.quoting import figure
from ttnn_mcp.readers.memory.comparisons import TABLES, ComparedTensor
from ttnn_mcp.readers.memory.report import MemoryReport
from ttnn_mcp.records import dataclass


@dataclass(frozen=True, slots=True)
class Loss:
    """One operation whose output missed its bound.

    Attributes:
        operation: its id.
        name: as the report has it; foreign text.
        record: the comparison that shows it.
    """

    operation: int
    name: str
    record: ComparedTensor

    @property
    def table(self) -> str:
        """The table that holds the record."""
        return TABLES[self.record.scope]

    @property
    def sentence(self) -> str:
        """'PCC 0.9312 below 0.99 first at operation 7 ttnn.matmul (local comparison)'."""
        actual = "not known" if self.record.actual is None else f"{figure(self.record.actual, '.4f')}"
        bound = "its bound" if self.record.desired is None else f"{figure(self.record.desired, '.6g')}"
        return (
            f"PCC {actual} below {bound} first at operation {self.operation} {shown(self.name)} "
            f"({self.record.scope} comparison)"
        )


def losses_of(memory: MemoryReport) -> list[Loss]:
    """Every operation whose output missed its bound, in execution order; `local` precedes `global` at each."""
    missed = [record for record in memory.comparisons if not record.matches]
    order = np.argsort(memory.outputs.tensors, kind="stable")
    tensors = memory.outputs.tensors[order]
    losses: list[Loss] = []
    for record in missed:
        index = int(np.searchsorted(tensors, record.tensor))
        if index < len(tensors) and tensors[index] == record.tensor:
            operation = int(memory.outputs.operations[order[index]])
            place = memory.operations.row(operation)
            losses.append(Loss(operation, memory.operations.names[place] if place is not None else "", record))
    return sorted(losses, key=lambda loss: (loss.operation, loss.record.scope != "local"))


def worst_global(memory: MemoryReport) -> float | None:
    """The lowest `global` PCC of any tensor; None if the run compared nothing."""
    reached = [
        record.actual for record in memory.comparisons if record.scope == "global" and record.actual is not None
    ]
    return min(reached, default=None)
