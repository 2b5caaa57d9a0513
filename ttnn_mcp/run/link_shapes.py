"""Whether a link holds: what an operation writes by the memory report has the size that its rows show.

Names alone match another batch of the same model, or two like ops that changed places. A tensor's number of elements
tells them apart. Only operations that launched one device op are compared: what a composite operation does between
its ops is not in the memory report.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from math import prod

import numpy as np

from ttnn_mcp.arrays import Integers
from ttnn_mcp.hardware import TILE_SIDE
from ttnn_mcp.readers.memory.report import MemoryReport
from ttnn_mcp.run.link import Launched, Linked, not_linked
from ttnn_mcp.run.performance import Performance

REFUTED_SHARE = 0.5  # of the operations compared: from there on it is another run, not an op that changed (ours)


def confirmed(linked: Linked, performance: Performance, memory: MemoryReport, launched: Launched) -> Linked:
    """The link without the lines whose sizes contradict it; none at all where most do."""
    if linked.link.status != "linked" or not performance.ops.outputs:
        return linked
    device_ops = Counter(launched.operations)
    lines, operations = (
        np.array([*part], dtype=np.int64) for part in zip(*linked.operation_at.items(), strict=True)
    )
    sizes = _sizes_written(memory, {each for each in set(operations.tolist()) if device_ops[each] == 1})
    rows = np.searchsorted(performance.ops.lines, lines)
    compared = np.isin(operations, [*sizes])
    refuted: list[int] = []
    shown = _sizes_shown(performance, rows[compared])
    for line, operation, row_sizes in zip(
        lines[compared].tolist(), operations[compared].tolist(), shown, strict=True
    ):
        if any(row_sizes) and not sizes[operation] & set(row_sizes):
            refuted.append(line)
    if not refuted:
        return linked
    first = min(refuted)
    if len(refuted) > REFUTED_SHARE * int(compared.sum()):
        return not_linked(
            f"the names fit, the sizes do not: line {first} shows no tensor of the size that operation "
            f"{linked.operation_at[first]} writes, and so with {len(refuted)} of {int(compared.sum())} ops compared: "
            "another batch, or another run of the model"
        )
    left = {line: operation for line, operation in linked.operation_at.items() if line not in set(refuted)}
    why = f"{len(refuted)} ops whose tensors have other sizes are left out, the first at line {first}"
    return Linked(linked.link.model_copy(update={"matched": len(left), "why": why}), left)


def _sizes_written(memory: MemoryReport, operations: set[int]) -> dict[int, set[int]]:
    """Operation -> numbers of elements (logical and padded) of the tensors it writes, where they are known."""
    sizes: dict[int, set[int]] = {}
    for operation in operations:
        tensors = [memory.tensors.get(tensor) for tensor in memory.outputs.of(operation)]
        shapes = [tensor.shape for tensor in tensors if tensor is not None and tensor.shape is not None]
        if shapes:
            sizes[operation] = {
                prod(dims) for shape in shapes for dims in (shape.logical, _in_tiles(shape.logical))
            }
    return sizes


def _in_tiles(dims: Sequence[int]) -> tuple[int, ...]:
    """The dims with the last two filled up to whole tiles, as reports before 2025-09 write them."""
    return (*dims[:-2], *(-(-size // TILE_SIDE) * TILE_SIDE for size in dims[-2:]))


def _sizes_shown(performance: Performance, rows: Integers) -> list[list[int]]:
    """Per row, the numbers of elements (logical and padded) of its outputs; zeros where it shows none."""
    outputs = performance.ops.outputs
    columns = [shape[rows].prod(axis=1) for output in outputs for shape in (output.logical, output.padded)]
    return np.stack(columns, axis=1).tolist()
