"""Which chips a run used, each named once; and caveats about what is not read of them.

Since TTNN 0.70 a device that is opened is a mesh with an id of its own: the `devices` table lists the mesh's id and
the chips' side by side, tensors carry the mesh's.
"""

from __future__ import annotations

import re

import numpy as np

from ttnn_mcp.readers.memory.columns import Device, Executions, Tensors
from ttnn_mcp.readers.memory.rows import Rows
from ttnn_mcp.readers.memory.tables import DEVICES_AT_MOST

_IDS = {"operations": "operation_id", "tensors": "tensor_id"}
_GRAPHS = 40  # looked at; the first tensor on the device tells
_GRAPH_CHARS = 200_000
_CHIP = re.compile(r'device_id\\*":\s*(\d{1,6}),\s*\\*"mesh_device_id')  # JSON within JSON: quotes are escaped


async def read_chips(
    rows: Rows, devices: tuple[Device, ...], tensors: Tensors, executions: Executions | None
) -> tuple[int, ...]:
    """Ids of the chips: of their executions (3.5), of the tensors' copies in graphs, else the described devices."""
    described = tuple(sorted({one.id for one in devices}))
    if executions is not None and len(executions.chips) and (executions.chips >= 0).all():
        return tuple(np.unique(executions.chips).tolist())
    if len(described) < 2:
        return described
    graph = rows.text("captured_graph", "captured_graph", _GRAPH_CHARS)
    graphs = await rows.few("captured_graph", [graph], limit=_GRAPHS)
    chips = {int(chip) for (text,) in graphs for chip in _CHIP.findall(text or "")}
    meshes = set(tensors.devices[tensors.devices >= 0].tolist())
    if chips and not meshes <= chips:  # where the two have the same ids there is nothing to tell apart
        return tuple(sorted(chips))
    return described


async def read_sub_devices(rows: Rows) -> tuple[str, ...]:
    """A caveat where the run cut the grid into sub-devices: no figure of ours takes them apart."""
    managers = await rows.few(
        "sub_devices", rows.numbers("sub_devices", ("device_id", "sub_device_manager_id", "sub_device_id"))
    )
    most = max((sub_device for *_, sub_device in managers), default=0) + 1
    return (f"the run cut its grid into {most} sub-devices: figures are of the whole grid",) if most > 1 else ()


async def rows_left_out(rows: Rows, devices: tuple[Device, ...]) -> tuple[str, ...]:
    """One caveat for each table that has rows which are not read."""
    caveats = [f"only the first {DEVICES_AT_MOST} rows of devices are read"] * (len(devices) == DEVICES_AT_MOST)
    for table, column in _IDS.items():
        [number] = rows.numbers(table, (column,))
        [[count]] = await rows.few(table, [f"COUNT(CASE WHEN {number} < 0 THEN 1 END)"]) or [[0]]
        if count:
            caveats.append(f"left out, because TTNN counts to no such {column}: rows of {table} ({count})")
    return tuple(caveats)
