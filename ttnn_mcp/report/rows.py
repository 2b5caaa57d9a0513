"""One row per op: list_ops, the roofline of op_detail, stage and layer, for all ops that a page shows.

And L1 in use at every operation: what memory_summary says of one, for all of them.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from ttnn_mcp.analyses.memory.replay import replay_of
from ttnn_mcp.analyses.memory.replayed import Replayed
from ttnn_mcp.analyses.stages.stages import stages_of
from ttnn_mcp.analyses.window_facts import WindowFacts
from ttnn_mcp.quoting import cleaned
from ttnn_mcp.run.run import Run
from ttnn_mcp.tools import list_ops
from ttnn_mcp.tools.parts.memory_tables import operation_name
from ttnn_mcp.tools.parts.op_roofline import RooflineOf, roofline_said

Answer = dict[str, Any]
MOST_OPERATIONS = 20_000  # several for each pixel of a screen; of more, the fullest of each stretch is kept (ours)
COLUMNS = ("operation", "name", "bytes_per_bank", "tensors_bytes", "circular_buffers_bytes")
MOST_OPS = 50_000  # of one page: 5 MB, which browsers open at once (measured; ours)
ROOFLINE = tuple(RooflineOf.model_fields)


class WindowRows(NamedTuple):
    """The ops of a window, and for each of them its roofline, its stage and its layer; `kinds`: the same by op code."""

    ops: Answer
    rooflines: Answer
    stages: list[str | None]
    layers: list[int | None]
    kinds: Answer


def window_rows(facts: WindowFacts) -> WindowRows:
    """Everything that a page draws of the ops of a window."""
    ops = cleaned(ops_of(facts))
    rooflines = cleaned(rooflines_of(facts, ops))
    return WindowRows(
        ops, rooflines, cleaned(stages_of_ops(facts, ops)), layers_of_ops(facts, ops), cleaned(kinds_of(facts))
    )


def ops_of(facts: WindowFacts) -> Answer:
    """The ops of the window in the order they ran; of the critical device alone where all would be too many."""
    device = None if len(facts.scope.ops) <= MOST_OPS else facts.scope.critical_device
    everything = list_ops.Arguments.model_construct(sort="order", device=device, limit=MOST_OPS)
    return list_ops.list_ops(facts, everything).spoken()


def rooflines_of(facts: WindowFacts, ops: Answer) -> Answer:
    """What op_detail says of the roofline of each op in `ops`."""
    places = _places(facts, ops)
    bounds, kernel_ns = facts.roofline_of_devices, facts.scope.ops.numbers("kernel_ns")
    rows: list[list[object]] = []
    for place in places.tolist():
        spoken = roofline_said(bounds.take(np.array([place])), float(kernel_ns[place])).spoken()
        rows.append([spoken.get(name) for name in ROOFLINE])
    return {"columns": list(ROOFLINE), "rows": rows}


def stages_of_ops(facts: WindowFacts, ops: Answer) -> list[str | None]:
    """The stage of each op in `ops`, as model_stages tells them apart on the critical device."""
    stage_at: dict[int, str] = {}
    for stage in stages_of(facts.ops, facts.run.performance_report.signposts):
        stage_at.update(dict.fromkeys(facts.ops.lines[stage.rows].tolist(), stage.kind))
    return [stage_at.get(row[0]) for row in ops["ops"]["rows"]]


def layers_of_ops(facts: WindowFacts, ops: Answer) -> list[int | None]:
    """The number of the layer of each op in `ops`; None outside of all."""
    if facts.layering is None:
        return [None] * len(ops["ops"]["rows"])
    numbers = facts.layering.layer[_places(facts, ops)].tolist()
    return [number if number > 0 else None for number in numbers]


def kinds_of(facts: WindowFacts) -> Answer:
    """list_ops by op code, on the critical device: what the others wait for is what the window takes."""
    by_code = list_ops.Arguments.model_construct(
        group_by="op_code", device=facts.scope.critical_device, limit=MOST_OPS
    )
    return list_ops.list_ops(facts, by_code).spoken()


def _places(facts: WindowFacts, ops: Answer) -> np.ndarray[tuple[int], np.dtype[np.int64]]:
    """Where the ops of the answer stand among those of the window."""
    lines = facts.scope.ops.lines
    order = np.argsort(lines)
    wanted = np.array([row[0] for row in ops["ops"]["rows"]], dtype=np.int64)
    return order[np.searchsorted(lines, wanted, sorter=order)].astype(np.int64)


async def levels_of(run: Run) -> dict[str, Any] | None:
    """The levels on the fullest device; None where the report holds no operations."""
    replayed = await replay_of(run)
    if not len(replayed.operations):
        return None
    device = replayed.fullest
    rows = [
        [
            int(replayed.operations[place]),
            operation_name(replayed, place),
            int(device.l1[place]),
            int(device.tensors[place]),
            int(device.circular[place]),
        ]
        for place in places_of(replayed)
    ]
    return {"columns": list(COLUMNS), "rows": rows, "operations": len(replayed.operations)}


def places_of(replayed: Replayed) -> list[int]:
    """The operations that are drawn."""
    levels = replayed.fullest.l1
    if len(levels) <= MOST_OPERATIONS:
        return list(range(len(levels)))
    stretches = np.array_split(np.arange(len(levels)), MOST_OPERATIONS)
    return [int(places[np.argmax(levels[places])]) for places in stretches]
