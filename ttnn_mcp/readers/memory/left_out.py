"""Caveats about rows of a memory report that are not read."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ttnn_mcp.readers.memory.tables import DEVICES_AT_MOST

if TYPE_CHECKING:
    from ttnn_mcp.readers.memory.columns import Device
    from ttnn_mcp.readers.memory.rows import Rows

_IDS = {"operations": "operation_id", "tensors": "tensor_id"}


async def rows_left_out(rows: Rows, devices: tuple[Device, ...]) -> tuple[str, ...]:
    """One caveat for each table that has such rows."""
    caveats = [f"only the first {DEVICES_AT_MOST} rows of devices are read"] * (len(devices) == DEVICES_AT_MOST)
    for table, column in _IDS.items():
        [number] = rows.numbers(table, (column,))
        [[count]] = await rows.few(table, [f"COUNT(CASE WHEN {number} < 0 THEN 1 END)"]) or [[0]]
        if count:
            caveats.append(f"left out, because TTNN counts to no such {column}: rows of {table} ({count})")
    return tuple(caveats)
