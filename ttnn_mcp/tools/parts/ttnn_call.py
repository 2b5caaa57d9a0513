"""One op as op_detail shows it: its operands and attributes, and the ttnn call behind it."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from typing import TypedDict

import numpy as np

from ttnn_mcp.errors import ReportBroken, shown
from ttnn_mcp.readers.graph.graph_memory import read_graph_memory
from ttnn_mcp.readers.memory.report import Argument, MemoryReport
from ttnn_mcp.readers.printed.attributes import parse_attributes
from ttnn_mcp.run.ops.op_names import canonical
from ttnn_mcp.run.ops.op_table import OpTable
from ttnn_mcp.run.run import Run
from ttnn_mcp.wire import Pcc, Quoted, Wire

VALUE_CHARS = 180  # an attribute's value: enough for a program config, not for a kernel list
WHOLE_CHARS = 8_000  # of the one value that is asked for in full
OPERANDS_SHOWN = 5
TELLING = (
    *("program_config", "config", "block_config", "parallelization_config", "compute_kernel_config"),
    *("memory_config", "output_mem_config", "output_memory_config", "dtype", "output_dtype", "groups"),
    *("enable_act_double_buffer", "enable_weights_double_buffer", "transpose_a", "transpose_b", "user_core_coord"),
)
ARGUMENT_CHARS = 60
ARGUMENTS_CHARS = 90  # of all arguments together: the operands and attributes of the op say the rest
PATH_CHARS = 160
DEVICE_OPS_SHOWN = 6


class Call(Wire):
    """The ttnn call that launched the op."""

    operation: Quoted
    operation_id: int
    host_ms: float | None = None
    arguments: dict[Quoted, Quoted]
    more_arguments: int = 0
    file: Quoted | None = None
    line: int | None = None
    text: Quoted | None = None
    device_ops: tuple[Quoted, ...] = ()
    pcc_local: Pcc | None = None
    pcc_global: Pcc | None = None
    below_bound: bool = False


async def call_of(run: Run, operation: int, whole: str | None = None) -> Call:
    """The ttnn call by its operation id; the argument named `whole` is shown in full."""
    memory = run.memory_report
    place = memory.operations.row(operation)
    source = await memory.source_of(operation)
    arguments, more = _arguments(await memory.arguments_of(operation, WHOLE_CHARS + 1), whole)
    graph = await memory.graph_of(operation)
    seconds = float(memory.operations.duration_s[place]) if place is not None else float("nan")
    return Call(
        operation=shown(memory.operations.names[place]) if place is not None else "",
        operation_id=operation,
        host_ms=round(seconds * 1e3, 3) if np.isfinite(seconds) else None,
        arguments=arguments,
        more_arguments=more,
        file=_path_text(source.file) if source else None,
        line=source.line if source else None,
        text=cut(source.text, ARGUMENT_CHARS) if source and source.text else None,
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


def _arguments(arguments: Sequence[Argument], whole: str | None) -> tuple[dict[str, str], int]:
    """(arguments as many as fit, configs first; how many are left out). Tensors are in `operands` already."""
    others = [argument for argument in arguments if not argument.value.startswith("ttnn.Tensor(")]
    order = sorted(others, key=lambda argument: (argument.name != whole, "config" not in argument.name))
    shown_arguments: dict[str, str] = {}
    used = 0
    for argument in order:
        value = cut(argument.value, WHOLE_CHARS if argument.name == whole else ARGUMENT_CHARS)
        used += len(argument.name) + min(len(value), ARGUMENT_CHARS)
        if used > ARGUMENTS_CHARS and shown_arguments:
            break
        shown_arguments[shown(argument.name)] = value
    return shown_arguments, len(others) - len(shown_arguments)


def _path_text(path: str) -> str:
    clean = "".join(char for char in path if char.isprintable())
    return clean if len(clean) <= PATH_CHARS else "..." + clean[-PATH_CHARS:]


class Placed(Wire):
    """An operand (INPUT_0) or tensor and where it lives."""

    name: str
    shape: str
    layout: Quoted
    dtype: Quoted
    placement: Quoted
    bytes: int | None = None


def operands_of_op(ops: OpTable) -> tuple[tuple[Placed, ...], int]:
    """The operands, outputs first where not all fit; and how many did not."""
    operands = [one for one in (*ops.outputs, *ops.inputs) if one.present[0]]
    shown_first = sorted(operands[:OPERANDS_SHOWN], key=lambda one: one.name)
    placed = (
        Placed(
            name=one.name,
            shape=one.shape_text(0),
            layout=shown(one.layout[0]),
            dtype=shown(one.dtype[0]),
            placement=shown(one.placement[0]),
            bytes=int(one.bytes[0]) if np.isfinite(one.element_bytes[0]) else None,
        )
        for one in shown_first
    )
    return tuple(placed), max(0, len(operands) - OPERANDS_SHOWN)


def attributes_of_op(op: OpTable, whole: str | None = None) -> dict[str, str]:
    """The attributes with a value, the telling ones first; long values are cut, but for the one named `whole`."""
    attributes = parse_attributes(op.texts("attributes")[0])
    first = [name for name in (whole, *TELLING) if name is not None and name in attributes]
    order = dict.fromkeys([*first, *attributes])
    return {
        shown(name): cut(attributes[name], WHOLE_CHARS if name == whole else VALUE_CHARS)
        for name in order
        if attributes[name] not in ("std::nullopt", "")
    }


def cut(text: str, most: int) -> str:
    """One printable line of at most `most` characters."""
    line = "".join(char if char.isprintable() else " " for char in text)
    return line if len(line) <= most else f"{line[: most - 3]}..."
