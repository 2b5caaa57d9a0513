"""Whether a run died, and in which operation. Reads only the tables of its report, so `open_run` can tell it."""

from __future__ import annotations

import numpy as np

from ttnn_mcp.errors import shown
from ttnn_mcp.readers.memory.columns import OperationError
from ttnn_mcp.readers.memory.report import MemoryReport
from ttnn_mcp.records import dataclass


@dataclass(frozen=True, slots=True)
class Death:
    """The operation in which a run died. Name and message are foreign text.

    Attributes:
        operation: its id; None if the report lists no such operation.
        after: the last operation of the report, if the one that died is not listed.
    """

    operation: int | None
    name: str
    message: str
    after: int | None = None

    @property
    def where(self) -> str:
        """For a sentence: 'operation 5 ttnn.linear'."""
        return f"operation {self.operation} {shown(self.name)}" if self.operation is not None else shown(self.name)

    @property
    def sentence(self) -> str:
        """For a caveat: 'the run died in operation 5 ttnn.linear: Out of Memory: ...'."""
        behind = f", after operation {self.after}" if self.after is not None else ""
        why = " ".join(self.message.split("backtrace:")[0].split())
        why = why.partition("info: ")[2] or why
        message = f": {shown(why)}" if why else ""
        return f"the run died in {self.where}{behind}{message}"


def went_wrong(memory: MemoryReport) -> bool:
    """Whether an error was recorded, or an operation never finished."""
    return bool(memory.errors) or bool(np.isnan(memory.operations.duration_s).any())


def death_of(memory: MemoryReport) -> Death | None:
    """The operation in which the run died; None if the run ended normally.

    An exception that the model caught is not a death: later operations ran. Only the last operation of the report
    counts, or one that an error names and the report does not list.
    """
    operations = memory.operations
    last = len(operations) - 1
    for error in reversed(memory.errors):
        place = operations.row(error.operation) if error.operation is not None else _by_name(memory, error)
        if place is None:
            after = int(operations.ids[last]) if last >= 0 else None
            return Death(None, error.operation_name, error.message, after)
        if place == last:
            return Death(int(operations.ids[place]), operations.names[place], error.message)
    if last >= 0 and np.isnan(operations.duration_s[last]):
        return Death(int(operations.ids[last]), operations.names[last], "")
    return None


def _by_name(memory: MemoryReport, error: OperationError) -> int | None:
    """Place of the last operation of the name in the error; importers store errors under an id of no operation."""
    operations = memory.operations
    name = error.operation_name.replace("::", ".")
    places = [place for place, operation in enumerate(operations.names) if operation.replace("::", ".") == name]
    unfinished = [place for place in places if np.isnan(operations.duration_s[place])]
    if unfinished:
        return unfinished[-1]
    return places[-1] if places and error.kind != "incomplete_operation" else None
