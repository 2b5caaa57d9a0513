"""Where the operands of ops live, and which shard specs ops were told to write."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np

from ttnn_mcp.analyses.attribute_columns import attributes_of
from ttnn_mcp.analyses.memory.tensor_spans import own_buffers
from ttnn_mcp.analyses.moves.move_patterns import CONFIG_KEYS
from ttnn_mcp.arrays import Integers
from ttnn_mcp.readers.memory.columns import Tensors
from ttnn_mcp.readers.memory.report import MemoryReport
from ttnn_mcp.readers.printed.attributes import Attributes
from ttnn_mcp.readers.printed.memory_config import Placement, parse_memory_cell, parse_memory_config
from ttnn_mcp.records import dataclass
from ttnn_mcp.run.ops.groups import grouped
from ttnn_mcp.run.ops.op_table import OpTable
from ttnn_mcp.run.ops.operand import Operand

UNKNOWN = -1


@dataclass(frozen=True, slots=True)
class Lives:
    """What lies in one placement (layout and buffer, shards aside).

    Attributes:
        operands: inputs and outputs there; an operand counts once per op that names it.
        ops: ops whose first output lies there (their first input, where they have no output).
        kernel_ns: of those ops, so that all placements add up to the window.
    """

    placement: Placement
    operands: int
    ops: int
    kernel_ns: float


@dataclass(frozen=True, slots=True)
class Sharded:
    """One shard spec: the ops told to write it (rows), and the tensors that have it."""

    placement: Placement
    rows: Integers
    kernel_ns: float
    tensors: int


def where_operands_live(ops: OpTable) -> list[Lives]:
    """One entry per placement, the costliest first."""
    known: dict[Placement, int] = {}
    operands = np.zeros(0, dtype=np.int64)
    home = np.full(len(ops), UNKNOWN)
    for operand in (*ops.inputs[:1], *ops.outputs[:1]):
        code = _codes(operand, known)
        home = np.where(code == UNKNOWN, home, code)
    for operand in (*ops.inputs, *ops.outputs):
        code = _codes(operand, known)
        operands = np.concatenate((operands, code[code != UNKNOWN]))
    counts = np.bincount(operands, minlength=len(known))
    known_homes = home[home != UNKNOWN]
    kernel = np.bincount(known_homes, weights=ops.numbers("kernel_ns")[home != UNKNOWN], minlength=len(known))
    homes = np.bincount(known_homes, minlength=len(known))
    lives = [
        Lives(placement, int(counts[code]), int(homes[code]), float(kernel[code]))
        for placement, code in known.items()
        if counts[code]
    ]
    return sorted(lives, key=lambda each: (-each.kernel_ns, -each.operands))


def where_tensors_live(memory: MemoryReport) -> list[tuple[Placement, int, int]]:
    """(placement without shards, tensors, bytes of their buffers), most tensors first; host tensors left out."""
    tensors, held = memory.tensors, own_buffers(memory)
    counts: dict[Placement, tuple[int, int]] = {}
    codes = tensors.placements.codes
    for code, placement in enumerate(tensors.placements.distinct):
        rows = np.flatnonzero(codes == code)
        if len(rows):
            bare = Placement(placement.layout, placement.buffer)
            count, size = counts.get(bare, (0, 0))
            sizes = tensors.size_bytes[rows[held[rows]]]
            counts[bare] = (count + len(rows), size + int(sizes[sizes > 0].sum()))
    return sorted(((one, *counted) for one, counted in counts.items()), key=lambda one: -one[1])


def shard_specs(ops: OpTable | None, tensors: Tensors | None) -> list[Sharded]:
    """Every shard spec that ATTRIBUTES or tensors name, the costliest first."""
    written: dict[Placement, Integers] = {}
    kernel = np.zeros(0)
    if ops is not None:
        kernel = ops.numbers("kernel_ns")
        written = _written(ops)
    counted = dict(_counted(tensors)) if tensors is not None else {}
    nothing = np.zeros(0, dtype=np.int64)
    specs = [
        Sharded(
            placement,
            written.get(placement, nothing),
            float(kernel[written[placement]].sum()) if placement in written else 0.0,
            counted.get(placement, 0),
        )
        for placement in dict.fromkeys((*written, *counted))
    ]
    return sorted(specs, key=lambda one: (-one.kernel_ns, -one.tensors))


def folded(parts: Sequence[Integers]) -> Integers:
    """A number per row, the same for rows that agree in every part."""
    columns: Integers = np.stack(parts)
    _, alike = np.unique(columns, axis=1, return_inverse=True)
    flat: Integers = alike.ravel()  # numpy 2.0 hands the inverse out as a column
    return flat


def _written(ops: OpTable) -> dict[Placement, Integers]:
    distinct: dict[Placement, int] = {}

    def spec(attributes: Attributes) -> float | None:
        text = attributes.text_of(*CONFIG_KEYS)
        placement = parse_memory_config(text) if text else None
        if placement is None or placement.shard is None:
            return None
        return float(distinct.setdefault(placement, len(distinct)))

    codes = attributes_of(ops).numbers(np.arange(len(ops)), spec)
    groups = grouped(np.nan_to_num(codes, nan=UNKNOWN).astype(np.int64), ops.numbers("kernel_ns"))
    of_code = {group.key: group.rows for group in groups}
    return {placement: of_code[code] for placement, code in distinct.items()}


def _counted(tensors: Tensors) -> Iterable[tuple[Placement, int]]:
    counts: dict[Placement, int] = {}
    held = np.bincount(tensors.placements.codes[tensors.placements.codes >= 0], minlength=1)
    for code, placement in enumerate(tensors.placements.distinct):
        if placement.shard is not None and code < len(held) and held[code]:
            counts[placement] = counts.get(placement, 0) + int(held[code])
    return counts.items()


def _codes(operand: Operand, known: dict[Placement, int]) -> Integers:
    def code(cell: str) -> int:
        placement = parse_memory_cell(cell)
        return UNKNOWN if placement is None else known.setdefault(placement, len(known))

    codes = operand.memory.mapped(code, missing=UNKNOWN, dtype=np.int64)
    return np.where(operand.present, codes, UNKNOWN)
