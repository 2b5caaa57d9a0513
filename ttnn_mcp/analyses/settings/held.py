"""Bytes per core that the tensors of an op take of L1: exactly where a report tells their shards, else two bounds.

TTNN allocates a tensor at one address on all cores at once, and a program's buffers must end below the lowest address
of any core (tt_metal program.cpp: validate_circular_buffer_region; lowest_occupied_compute_l1_address). So a shard
takes its bytes from every core, also from those that hold none: TTNN 0.81.1 refuses buffers on 56 cores for a shard
that lies on one of them.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from math import ceil
from typing import TypeAlias

from ttnn_mcp.analyses.settings.trial import Op
from ttnn_mcp.hardware import LOCAL_L1_ALIGNMENT_BYTES, TILE_BYTES, canonical_dtype, filled_up, shard_bytes
from ttnn_mcp.records import dataclass
from ttnn_mcp.run.ops.operand import Operand

Bounds: TypeAlias = "tuple[int, int]"
"""Bytes per core: at least, and at most."""


@dataclass(frozen=True, slots=True)
class Held:
    """Bytes per core of all tensors of an op in L1."""

    least: int
    most: int

    @property
    def tensors(self) -> dict[str, int]:
        """What they take at least, as a trial has it."""
        return {"OPERANDS_IN_L1": self.least}

    @property
    def unsure_bytes(self) -> int:
        """What they may take more."""
        return self.most - self.least


def held_in_l1(op: Op, implied: Mapping[str, Bounds] | None = None) -> Held:
    """The tensors of an op in L1.

    Args:
        op: the op.
        implied: bounds that follow from the op's config, by operand.
    """
    return _held(op, (*op.table.inputs, *op.table.outputs), implied or {})


def results_in_l1(op: Op) -> Held:
    """Only what it makes of them."""
    return _held(op, op.table.outputs, {})


def _held(op: Op, of: Iterable[Operand], implied: Mapping[str, Bounds]) -> Held:
    tensors = [tensor for tensor in of if tensor.in_l1[0]]
    bounds = [_shard(op, tensor, implied) if tensor.sharded[0] else _pages(op, tensor) for tensor in tensors]
    return Held(sum(least for least, _ in bounds), sum(most for _, most in bounds))


def _shard(op: Op, tensor: Operand, implied: Mapping[str, Bounds]) -> Bounds:
    """A shard as the config implies it, as the reports tell it, or else between all cores and a single one."""
    if tensor.name in implied:
        return implied[tensor.name]
    shard = op.shards.get(tensor.name)
    size = shard_bytes(shard, tensor.dtype[0], tensor.layout[0] or "TILE") if shard is not None else None
    if size is not None:
        return size, size
    whole = int(tensor.bytes[0])
    return ceil(whole / (op.chip.cores or 1)), whole


def _pages(op: Op, tensor: Operand) -> Bounds:
    """An interleaved tensor: its pages (tiles, or rows) go round the cores, so that some have one more."""
    tiled = tensor.layout[0] == "TILE"
    row = int(tensor.padded[0, 3]) * tensor.element_bytes[0]
    page = (
        TILE_BYTES.get(canonical_dtype(tensor.dtype[0]), 0) if tiled else filled_up(row, LOCAL_L1_ALIGNMENT_BYTES)
    )
    pages = tensor.bytes[0] / (page if tiled else row) if page else 0
    size = ceil(ceil(pages) / (op.chip.cores or 1)) * int(page)
    return size, size
