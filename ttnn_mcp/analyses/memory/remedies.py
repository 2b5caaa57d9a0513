"""Measures that would have given an operation the memory it lacked, and how much each gives."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Literal

import numpy as np

from ttnn_mcp.analyses.memory.l1_moment import Moment, gaps_above, holes_of
from ttnn_mcp.analyses.memory.replayed import Replayed
from ttnn_mcp.analyses.memory.shortage import Shortage
from ttnn_mcp.arrays import Booleans, Integers
from ttnn_mcp.hardware import TILE_BYTES, TILE_SIDE
from ttnn_mcp.readers.memory.spaces import L1, L1_SMALL
from ttnn_mcp.readers.printed.memory_config import BUFFER_TYPES
from ttnn_mcp.records import dataclass

Measure = Literal[
    "deallocate",
    "move_to_dram",
    "narrower_dtype",
    "reallocate",
    "reallocate_halo_output",
    "smaller_act_block_h",
    "smaller_blocks",
    "dram_slicing",
    "larger_l1_small",
]
NARROWER = {"FLOAT32": "BFLOAT16", "BFLOAT16": "BFLOAT8_B"}
_CONV = re.compile(r"conv")
_WINDOW = re.compile(r"conv|pool|upsample")
_BLOCKED = re.compile(r"linear|matmul|attention")  # ops whose program_config has blocks
# as asked; as built, in tiles
_SMALLEST_BLOCK = re.compile(r"act_block_h_override\s*=\s*32\b|Conv2dBlockConfig\(1, ")
_ROWS_CUT = ("HEIGHT_SHARDED", "BLOCK_SHARDED")  # layouts that give a core a part of the rows
_REALLOCATES = re.compile(r"reallocate_halo_output\s*=\s*(?:True|true|1)\b")


@dataclass(frozen=True, slots=True)
class Remedy:
    """One measure.

    Attributes:
        at_most: whether the bytes are an upper bound; otherwise they are the tensors' exact size.
        tensors: ids of its tensors, the largest first.
        enough: whether it leaves enough room in one piece, with the other tensors where they are; None if unknown.
    """

    measure: Measure
    bytes_per_bank: int
    at_most: bool
    tensors: tuple[int, ...] = ()
    enough: bool | None = None


def remedies(replayed: Replayed, moment: Moment, shortage: Shortage, *, name: str, arguments: str) -> list[Remedy]:
    """Measures for the operation of the moment: those that are enough first, then by their effect.

    Args:
        replayed: the run.
        moment: of the operation that failed.
        shortage: the memory that it lacked.
        name: of the operation.
        arguments: as printed, of the operation; with those of its device op they tell whether a setting is at its
            limit already.
    """
    remedies = list(_measures(replayed, moment, shortage, name.lower(), f"{arguments} {moment.printed}"))
    useful = [remedy for remedy in remedies if remedy.bytes_per_bank > 0]
    return sorted(useful, key=lambda remedy: (not remedy.enough, -remedy.bytes_per_bank))


def _measures(
    replayed: Replayed, moment: Moment, shortage: Shortage, name: str, arguments: str
) -> Iterator[Remedy]:
    code = next((code for code, name in enumerate(BUFFER_TYPES) if name == shortage.buffer), L1)
    if code == L1_SMALL:
        yield Remedy("larger_l1_small", shortage.short_bytes or shortage.asked_bytes, at_most=False, enough=True)
    if shortage.kind != "beyond_l1":
        yield from _of_tensors(replayed, moment, shortage, code)
    if code == L1:
        yield from _of_the_op(replayed, moment, shortage, name, arguments)


def _of_tensors(replayed: Replayed, moment: Moment, shortage: Shortage, code: int) -> Iterator[Remedy]:
    """Tensors the operation does not read: those with no later read may be freed, the others may wait in DRAM."""
    spans, lifetimes = replayed.fullest.spans, replayed.lifetimes
    rows = moment.rows[spans.buffers[moment.rows] == code]
    rows = rows[spans.starts[rows] <= 2 * moment.place]
    read = _read_by(replayed, moment.place, rows)
    over = ~read & ~lifetimes.persistent[rows] & (lifetimes.last_reads[rows] >= 0)
    over &= lifetimes.last_touches[rows] < moment.place
    measures: dict[Measure, Integers] = {"deallocate": rows[over]}
    if code == L1:
        measures["move_to_dram"] = rows[~over & (~read | lifetimes.persistent[rows])]
    for measure, without in measures.items():
        enough = _room_without(replayed, moment, shortage, without) if code == L1 else None
        yield _remedy(replayed, measure, without, enough=enough)
    narrow = [_narrowed(replayed, row) for row in (rows[read] if code == L1 else rows).tolist()]
    tensors = tuple(int(lifetimes.names[row]) for row, saved in narrow if saved)
    yield Remedy("narrower_dtype", sum(saved for _, saved in narrow), at_most=False, tensors=tensors)


def _of_the_op(
    replayed: Replayed, moment: Moment, shortage: Shortage, name: str, arguments: str
) -> Iterator[Remedy]:
    spans = replayed.fullest.spans
    rows = moment.rows[spans.buffers[moment.rows] == L1]
    holes = holes_of(replayed, moment)
    if holes is not None and shortage.kind != "beyond_l1":
        room = holes.below + holes.holes if shortage.kind == "no_room" else holes.holes
        needed_bytes = shortage.asked_bytes if shortage.kind == "no_room" else shortage.short_bytes or 0
        measure: Measure = "reallocate_halo_output" if _WINDOW.search(name) else "reallocate"
        if not _REALLOCATES.search(arguments):
            largest = shortage.largest_free_bytes if shortage.kind == "no_room" else None
            gained = holes.holes if largest is None else room - largest
            yield Remedy(measure, gained, at_most=True, enough=room >= needed_bytes)
    circular = _circular(replayed, shortage)
    if _BLOCKED.search(name):
        yield Remedy("smaller_blocks", circular // 2, at_most=True)
    if not _CONV.search(name):
        return
    read = _read_by(replayed, moment.place, rows)
    if not (_SMALLEST_BLOCK.search(arguments) or _one_tile_high(replayed, rows[read])):
        yield Remedy("smaller_act_block_h", circular // 2, at_most=True)
    own = rows[read | (spans.starts[rows] > 2 * moment.place)]
    needed_bytes = shortage.asked_bytes if shortage.kind == "no_room" else 0
    size = int(spans.bytes_per_bank[own].sum()) + needed_bytes + circular
    yield Remedy("dram_slicing", size // 2, at_most=True)


def _one_tile_high(replayed: Replayed, rows: Integers) -> bool:
    """Whether a core of a conv holds no more than one tile of rows: there is no smaller block."""
    tensors = replayed.memory.tensors
    ids = replayed.lifetimes.names[rows].tolist()
    placements = [tensors.placements[at] for tensor in ids if (at := tensors.row(tensor)) is not None]
    shards = [one.shard for one in placements if one and one.layout in _ROWS_CUT and one.shard and one.shard.shape]
    return bool(shards) and max(shard.shape[0] for shard in shards) <= TILE_SIDE


def _circular(replayed: Replayed, shortage: Shortage) -> int:
    """Bytes of the op's circular buffers on a core, from the message; the allocator of tensors does not see them."""
    if shortage.kind == "no_room":
        return 0
    device = next(iter(replayed.memory.devices), None)
    return shortage.asked_bytes - (device.first_cb_address or 0 if device else 0)


def _read_by(replayed: Replayed, place: int, rows: Integers) -> Booleans:
    """Per span, whether the operation takes a tensor on it."""
    used, places = replayed.lifetimes.used
    return np.isin(rows, used[places == place])


def _room_without(replayed: Replayed, moment: Moment, shortage: Shortage, rows: Integers) -> bool | None:
    """Whether the operation fits after these tensors are freed, if the others stay where they are."""
    without: list[int] = rows.tolist()
    if shortage.kind == "clash":
        return _clear_of_buffers(replayed, moment, shortage.asked_bytes, rows)
    holes = holes_of(replayed, moment, without)
    return None if holes is None else holes.largest >= shortage.asked_bytes


def _clear_of_buffers(replayed: Replayed, moment: Moment, reach: int, without: Integers) -> bool:
    """Whether all tensors lie above the address that a program's buffers reach, once some are freed.

    What the operation makes itself is placed again then, into the free pieces above.
    """
    spans = replayed.fullest.spans
    kept = moment.rows[(spans.buffers[moment.rows] == L1) & ~np.isin(moment.rows, without)]
    own = spans.starts[kept] > 2 * moment.place
    if (spans.addresses[kept[~own]] < reach).any():
        return False
    pieces = gaps_above(replayed, kept[~own], reach)
    if pieces is None:
        return bool((spans.addresses[kept] >= reach).all())
    for size in sorted(spans.bytes_per_bank[kept[own]].tolist(), reverse=True):
        largest = max(pieces)
        if largest < size:
            return False
        pieces[pieces.index(largest)] -= size
    return True


def _remedy(replayed: Replayed, measure: Measure, rows: Integers, *, enough: bool | None) -> Remedy:
    spans, names = replayed.fullest.spans, replayed.lifetimes.names
    ordered = sorted(rows.tolist(), key=lambda row: -int(spans.bytes_per_bank[row]))
    tensors = tuple(int(names[row]) for row in ordered if names[row] >= 0)
    size = sum(int(spans.bytes_per_bank[row]) for row in ordered)
    return Remedy(measure, size, at_most=False, tensors=tensors, enough=enough)


def _narrowed(replayed: Replayed, row: int) -> tuple[int, int]:
    """(span, bytes per bank saved) with the next narrower dtype; block floats exist in tiles only."""
    tensor = replayed.memory.tensors.get(int(replayed.lifetimes.names[row]))
    dtype = (tensor.dtype or "") if tensor and tensor.layout == "TILE" else ""
    narrower = NARROWER.get(dtype)
    if narrower is None:
        return row, 0
    size = int(replayed.fullest.spans.bytes_per_bank[row])
    return row, size - size * TILE_BYTES[narrower] // TILE_BYTES[dtype]
