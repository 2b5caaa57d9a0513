"""The ttnn call behind an op: its arguments and the model's line."""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING, TypedDict

import numpy as np

from ttnn_mcp.errors import ReportBroken, shown
from ttnn_mcp.readers.graph.graph_memory import read_graph_memory
from ttnn_mcp.run.ops.op_names import canonical
from ttnn_mcp.wire import Pcc, Wire

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ttnn_mcp.readers.memory.report import Argument, MemoryReport
    from ttnn_mcp.run.run import Run

ARGUMENT_CHARS = 60
ARGUMENTS_CHARS = 120  # of all arguments together: the operands and attributes of the op say the rest
PATH_CHARS = 160
DEVICE_OPS_SHOWN = 6


class Call(Wire):
    """The ttnn call that launched the op."""

    operation: str
    operation_id: int
    host_ms: float | None = None
    arguments: dict[str, str]
    file: str | None = None
    line: int | None = None
    text: str | None = None
    device_ops: tuple[str, ...] = ()
    pcc_local: Pcc | None = None
    pcc_global: Pcc | None = None
    below_bound: bool = False


async def call_of(run: Run, operation: int) -> Call:
    """The ttnn call by its operation id."""
    memory = run.remembered
    place = memory.operations.row(operation)
    source = await memory.source_of(operation)
    arguments = await memory.arguments_of(operation)
    graph = await memory.graph_of(operation)
    seconds = float(memory.operations.duration_s[place]) if place is not None else float("nan")
    return Call(
        operation=shown(memory.operations.names[place]) if place is not None else "",
        operation_id=operation,
        host_ms=round(seconds * 1e3, 3) if np.isfinite(seconds) else None,
        arguments=_arguments(arguments),
        file=_path_text(source.file) if source else None,
        line=source.line if source else None,
        text=_short(source.text) if source and source.text else None,
        device_ops=_launched(graph, operation) if graph else (),
        **_accuracy(memory, operation),
    )


class Accuracy(TypedDict, total=False):
    """What comparison mode recorded of a call's outputs."""

    pcc_local: float | None
    pcc_global: float | None
    below_bound: bool


def _accuracy(memory: MemoryReport, operation: int) -> Accuracy:
    """The lowest PCC of the call's outputs, alone and with all calls before; nothing where nothing was compared."""
    outputs = set(memory.outputs.of(operation))
    records = [record for record in memory.comparisons if record.tensor in outputs]
    lowest: dict[str, float | None] = {
        scope: min(
            (each.actual for each in records if each.scope == scope and each.actual is not None), default=None
        )
        for scope in ("local", "global")
    }
    return Accuracy(
        pcc_local=lowest["local"],
        pcc_global=lowest["global"],
        below_bound=any(not record.matches for record in records),
    )


def _launched(graph: str, operation: int) -> tuple[str, ...]:
    """The device ops of the call in the order they started; none where its graph cannot be read."""
    with suppress(ReportBroken):
        started = read_graph_memory(graph, operation=operation).completed
        return tuple(canonical(shown(scope.name)) for scope in started[:DEVICE_OPS_SHOWN])
    return ()


def _arguments(arguments: Sequence[Argument]) -> dict[str, str]:
    """As many as fit, in the order of the call; the memory report's own tensors are in `operands`."""
    kept: dict[str, str] = {}
    used = 0
    for one in arguments:
        if one.value.startswith("ttnn.Tensor("):
            continue
        value = _short(one.value)
        used += len(one.name) + len(value)
        if used > ARGUMENTS_CHARS:
            break
        kept[shown(one.name)] = value
    return kept


def _short(text: str) -> str:
    clean = "".join(char if char.isprintable() else " " for char in text)
    return clean if len(clean) <= ARGUMENT_CHARS else clean[: ARGUMENT_CHARS - 3] + "..."


def _path_text(path: str) -> str:
    clean = "".join(char for char in path if char.isprintable())
    return clean if len(clean) <= PATH_CHARS else "..." + clean[-PATH_CHARS:]
