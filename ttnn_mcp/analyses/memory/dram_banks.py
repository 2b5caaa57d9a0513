"""The number of banks over which a buffer is spread, and what narrow rows take of one.

Graphs until TTNN 0.67 record only a buffer's total size. The `buffers` table counts the bytes that fill narrow rows,
the allocator whole pages: each row of a tensor in ROW_MAJOR layout is a page, and pages begin at multiples of the
alignment. A grid of points (1,024 rows of 4 bytes) takes 8,192 bytes of each of Blackhole's eight DRAM banks, and the
table says 512 (TTNN 0.81.1).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from math import ceil

import numpy as np

from ttnn_mcp.hardware import ELEMENT_BYTES, LOCAL_L1_ALIGNMENT_BYTES, TILE_BYTES, filled_up
from ttnn_mcp.readers.memory.columns import Tensors
from ttnn_mcp.readers.memory.report import MemoryReport
from ttnn_mcp.readers.memory.spaces import DRAM, L1, L1_SMALL, keys_of
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


def with_aligned_rows(
    buffers: SnapshotRows, tensors: Tensors, banks: Mapping[int, int], dram_step: int
) -> SnapshotRows:
    """The table with the pages of such tensors counted whole.

    Args:
        buffers: the table.
        tensors: of the report.
        banks: their number by code of BUFFER_TYPES.
        dram_step: bytes that pages in DRAM are aligned to.
    """
    aligned = _aligned(tensors, banks, {DRAM: dram_step, L1: LOCAL_L1_ALIGNMENT_BYTES})
    if not aligned:
        return buffers
    keys, sizes = keys_of(buffers.addresses, buffers.buffers), buffers.bytes_per_bank
    counted = np.array(sizes, dtype=np.int64)
    order = np.argsort(keys, kind="stable")
    ends = keys[order].searchsorted([(key, key + 1) for key, _ in aligned])
    for ((_, size), whole), (start, stop) in zip(aligned.items(), ends.tolist(), strict=True):
        rows = order[start:stop]
        counted[rows[sizes[rows] == size]] = whole
    return replace(buffers, bytes_per_bank=counted)


def _aligned(tensors: Tensors, banks: Mapping[int, int], steps: Mapping[int, int]) -> dict[tuple[int, int], int]:
    """By key and by bytes per bank as the table counts them, the bytes per bank of whole pages."""
    whole: dict[tuple[int, int], int] = {}
    keys = keys_of(tensors.addresses, tensors.buffers)
    for row in np.flatnonzero((keys >= 0) & np.isin(tensors.buffers, list(steps))).tolist():
        shape, dtype, placement = tensors.shapes[row], tensors.dtypes[row], tensors.placements[row]
        space = int(tensors.buffers[row])
        if tensors.layouts[row] != "ROW_MAJOR" or dtype not in ELEMENT_BYTES or space not in banks:
            continue
        if shape is None or not shape.stored or placement is None or placement.sharded:
            continue
        page, step = int(shape.stored[-1] * ELEMENT_BYTES[dtype]), steps[space]
        if page % step == 0:
            continue
        pages = ceil(ceil(shape.elements / shape.stored[-1]) / banks[space])
        whole[int(keys[row]), pages * page] = pages * filled_up(page, step)
    return whole
