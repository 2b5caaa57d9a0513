"""The number of banks over which a buffer is spread: graphs until TTNN 0.67 record only its total size."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ttnn_mcp.hardware import TILE_BYTES
from ttnn_mcp.readers.memory.spaces import DRAM, L1, L1_SMALL

if TYPE_CHECKING:
    from ttnn_mcp.readers.memory.report import MemoryReport
    from ttnn_mcp.readers.memory.stream import SnapshotRows

DRAM_BANKS = {"wormhole_b0": (12,), "blackhole": (8, 7)}  # soc descriptors; a p100 has 7
_SAMPLES = 200  # tensors looked at


def banks_of(memory: MemoryReport, buffers: SnapshotRows) -> dict[int, int]:
    """Number of banks by code of BUFFER_TYPES, for the types that the report tells."""
    device = next(iter(memory.devices), None)
    banks = device.l1_banks if device else None
    bank_counts = {L1: banks, L1_SMALL: banks} if banks else {}
    dram = _dram_banks(memory, buffers)
    return {**bank_counts, DRAM: dram} if dram else bank_counts


def _dram_banks(memory: MemoryReport, buffers: SnapshotRows) -> int | None:
    """The number that fits the interleaved tiled tensors of the snapshots; otherwise the architecture's."""
    candidates = DRAM_BANKS.get(memory.arch or "", tuple(count for some in DRAM_BANKS.values() for count in some))
    tensors = memory.tensors
    rows = np.flatnonzero((tensors.buffers == DRAM) & (tensors.size_bytes > 0))[:_SAMPLES]
    in_dram = buffers.buffers == DRAM
    sizes = dict(zip(buffers.addresses[in_dram].tolist(), buffers.bytes_per_bank[in_dram].tolist(), strict=True))
    agreeing = dict.fromkeys(candidates, 0)
    for row in rows.tolist():
        per_bank, placement = sizes.get(int(tensors.addresses[row])), tensors.placements[row]
        page = TILE_BYTES.get(tensors.dtypes[row] or "")
        if not page or tensors.layouts[row] != "TILE" or not placement or placement.sharded:
            continue
        pages = -(-int(tensors.size_bytes[row]) // page)
        for count in candidates:
            agreeing[count] += -(-pages // count) * page == per_bank
    best = max(agreeing, key=lambda count: agreeing[count])
    return best if agreeing[best] or memory.arch in DRAM_BANKS else None
