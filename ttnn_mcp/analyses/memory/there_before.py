"""Tensors that were in memory before the capture: operations read them, and nothing in the report allocates them.

TTNN writes the `buffers` table only where it is asked to (full_graph_capture). Without it nobody shows weights and
other tensors of before, but the report knows the address, shape and placement of whatever an operation reads.
"""

from __future__ import annotations

from collections.abc import Mapping
from math import ceil
from typing import NamedTuple

import numpy as np

from ttnn_mcp.analyses.memory.shard_bytes import ShardBytes
from ttnn_mcp.analyses.memory.tensor_spans import first_of, keys_on
from ttnn_mcp.arrays import Integers
from ttnn_mcp.hardware import ELEMENT_BYTES, LOCAL_L1_ALIGNMENT_BYTES, TILE_BYTES, filled_up
from ttnn_mcp.readers.memory.report import MemoryReport
from ttnn_mcp.readers.memory.spaces import DRAM, L1, L1_SMALL

_SPACES = (DRAM, L1, L1_SMALL)


class EarlierBuffer(NamedTuple):
    """A buffer that an operation reads; `bytes_per_bank` in the fullest bank, `size_bytes` of all."""

    key: int
    buffer: int
    bytes_per_bank: int
    size_bytes: int


class ThereBefore:
    """The operands that no operation of the report made, by the place of the operation that reads them first.

    An operation that writes in place, as into a cache, or gives a view, gives what it takes: it did not make it.

    Args:
        memory: the report.
        operations: ids in execution order.
        device: whose addresses count.
        banks: their number by code of BUFFER_TYPES.
        dram_step: bytes that pages in DRAM are aligned to.
    """

    def __init__(
        self,
        memory: MemoryReport,
        operations: Integers,
        device: int | None,
        banks: Mapping[int, int],
        dram_step: int,
    ) -> None:
        tensors = memory.tensors
        self._tensors, self._banks = tensors, banks
        self._steps = {DRAM: dram_step, L1: LOCAL_L1_ALIGNMENT_BYTES, L1_SMALL: LOCAL_L1_ALIGNMENT_BYTES}
        self._shards = ShardBytes(tensors, banks.get(L1))
        reads, makes = (first_of(links, operations, tensors.ids) for links in (memory.inputs, memory.outputs))
        keys = keys_on(memory, device)
        unmade = (keys >= 0) & ((makes < 0) | (reads <= makes))
        unmade &= np.isin(tensors.buffers, _SPACES)
        self._by_place: dict[int, list[tuple[int, int]]] = {}
        for row in np.flatnonzero(unmade).tolist():
            self._by_place.setdefault(int(reads[row]), []).append((int(keys[row]), row))

    def at(self, place: int) -> list[EarlierBuffer]:
        """Those that the operation at `place` is the first to read, as far as their size is known."""
        operands: list[EarlierBuffer] = []
        for key, row in self._by_place.get(place, ()):
            size = self._of_bank(row)
            if size is not None:
                operands.append(
                    EarlierBuffer(key, int(self._tensors.buffers[row]), size, int(self._tensors.size_bytes[row]))
                )
        return operands

    def _of_bank(self, row: int) -> int | None:
        """Bytes in the fullest bank: pages go to the banks in turn."""
        tensors = self._tensors
        placement, dtype, shape = tensors.placements[row], tensors.dtypes[row] or "", tensors.shapes[row]
        if placement is not None and placement.sharded:
            return self._shards.of_bank(row)
        buffer, size = int(tensors.buffers[row]), int(tensors.size_bytes[row])
        if dtype not in TILE_BYTES or buffer not in self._banks or size <= 0 or shape is None:
            return None
        width = (shape.stored or shape.logical or (1,))[-1]
        page = TILE_BYTES[dtype] if tensors.layouts[row] == "TILE" else max(int(width * ELEMENT_BYTES[dtype]), 1)
        return ceil(ceil(size / page) / self._banks[buffer]) * filled_up(page, self._steps[buffer])
