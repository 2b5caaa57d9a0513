"""An op whose settings can be judged, by the memory report alone: as its operation's graph prints it."""

from __future__ import annotations

import re
from collections.abc import Mapping

from ttnn_mcp.analyses.memory.replay import replay_of
from ttnn_mcp.analyses.settings.kinds import NORMS
from ttnn_mcp.analyses.settings.printed_row import PLAIN, row_of
from ttnn_mcp.analyses.settings.room import graph_of, room_of
from ttnn_mcp.analyses.settings.told_shards import fitting_shards
from ttnn_mcp.analyses.settings.trial import Op, op_of
from ttnn_mcp.errors import QuestionRefused, shown
from ttnn_mcp.readers.graph.graph_memory import GraphMemory
from ttnn_mcp.readers.graph.launches import Launch, launch_of
from ttnn_mcp.run.ops.op_names import canonical, family
from ttnn_mcp.run.run import Run

CALLS = ("linear", "matmul", "minimal_matmul")
SCALING = ("multiply", "add", "subtract")  # what becomes an op of this kind, with the number as it is
_NUMBER = re.compile(r"[-+]?\d+(\.\d+)?(e[-+]?\d+)?")
JUDGED = ("conv", "matmul", "attention")
JUDGED_KINDS = "conv, matmul, attention or norm to judge"


async def captured_op(run: Run, operation: int) -> tuple[Op, int | None]:
    """The op of an operation, and the bytes per core below the lowest tensor while it ran."""
    op, room, _ = await captured_in_full(run, operation)
    return op, room


async def captured_in_full(run: Run, operation: int, *, others: bool = False) -> tuple[Op, int | None, Launch]:
    """The same, and what its graph prints of it; with `others` also of an op that has no settings to judge.

    Raises:
        QuestionRefused: no such operation, none or several ops of it can be judged, or the graph does not print enough.
    """
    memory = run.memory_report
    place = memory.operations.row(operation)
    if place is None:
        raise QuestionRefused(f"No operation {operation} in this memory report. list_ops gives their ids.")
    name = shown(memory.operations.names[place])
    graph = await graph_of(memory, operation)
    at = (_judged(graph) or (_others(graph) if others else [])) if graph is not None else []
    if graph is None or not at:  # unmoved: without a graph nothing is at any place
        ran = ", ".join(sorted({canonical(one.name) for one in graph.device_ops})) if graph and others else ""
        nothing = "no device op" if others else f"no {JUDGED_KINDS}"
        shows = f"not all that {shown(ran)} was called with: its row does" if ran else nothing
        raise QuestionRefused(f"The graph of operation {operation} ({name}) shows {shows}.")
    if len(at) > 1:
        raise QuestionRefused(
            f"Operation {operation} ({name}) launched {len(at)} such ops; a performance report tells them apart."
        )
    arguments = {one.name: one.value for one in await memory.arguments_of(operation)}
    if name.rpartition(".")[2].removesuffix("_") in SCALING and _NUMBER.fullmatch(arguments.get("1", "")):
        arguments["scalar"] = arguments["1"]  # a graph prints `<variant>`
    if family(graph.device_ops[at[0]].name) == "matmul" and not tells_config(name, arguments):
        raise QuestionRefused(
            f"Operation {operation} ({name}) set the config of its matmul itself, and a graph does not print it. "
            "Profile with `python -m tracy -r` to have it judged by its row."
        )
    launch = launch_of(graph, at[0], memory.tensors)
    row = row_of(launch, arguments) if launch.inputs else None
    if row is None:
        raise QuestionRefused(
            f"The graph of operation {operation} ({name}) does not print all of this op (no function that it runs, "
            "before TTNN 0.81 no attributes). Profile with `python -m tracy -r` to have it judged by its row."
        )
    before = tuple(device_op.name for device_op in graph.device_ops[: at[0]][::-1])
    shards = {
        **fitting_shards(row.inputs, 0, launch.inputs),
        **fitting_shards(row.outputs, 0, launch.outputs),
    }
    room = room_of(await replay_of(run), operation, graph, at)
    return op_of(row, run.chip, before, shards), room, launch


def tells_config(call: str, arguments: Mapping[str, str]) -> bool:
    """Whether the arguments of a call tell the config of its matmul: other calls, as a conv of one point, make one."""
    return "program_config" in arguments or call.rpartition(".")[2] in CALLS


def _judged(graph: GraphMemory) -> list[int]:
    """The device ops whose settings can be judged."""
    return [
        place
        for place, device_op in enumerate(graph.device_ops)
        if family(device_op.name) in JUDGED or canonical(device_op.name) in NORMS
    ]


def _others(graph: GraphMemory) -> list[int]:
    """The device ops without such settings of which a graph may print enough."""
    return [place for place, device_op in enumerate(graph.device_ops) if canonical(device_op.name) in PLAIN]
