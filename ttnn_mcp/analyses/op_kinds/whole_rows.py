"""Parts of a tensor that lie in one piece in DRAM: a view can be such a part without a copy.

`ttnn.narrow` gives such a view of an interleaved tensor along the first dim that is not 1, if the part begins on the
first DRAM bank: the number of pages before it is a multiple of the number of banks (narrow.cpp of TTNN 0.81.1, tried).
"""

from __future__ import annotations

from math import prod
from typing import TYPE_CHECKING, NamedTuple

from ttnn_mcp.hardware import TILE_SIDE

if TYPE_CHECKING:
    from collections.abc import Sequence

DIMS = 4  # of a tensor in a report


class Part(NamedTuple):
    """`length` of dim `dim` from `start` on."""

    dim: int
    start: int
    length: int


def part_of(whole: Sequence[int], start: Sequence[int], end: Sequence[int]) -> Part | None:
    """The one dim that is cut; None if no dim or several dims are cut."""
    if not len(whole) == len(start) == len(end) == DIMS:
        return None
    cut = [dim for dim in range(DIMS) if (start[dim], end[dim]) != (0, whole[dim])]
    return Part(cut[0], start[cut[0]], end[cut[0]] - start[cut[0]]) if len(cut) == 1 else None


def lies_in_one_piece(part: Part, whole: Sequence[int], layout: str, banks: int) -> bool:
    """Whether a view can be the part: first dim that is not 1, whole pages, and it begins on the first bank."""
    if prod(whole[: part.dim]) != 1 or part.dim == DIMS - 1:
        return False
    side = TILE_SIDE if layout == "TILE" else 1
    if part.dim == DIMS - 2 and (part.start % side or part.length % side):
        return False
    heights = [-(-whole[DIMS - 2] // side) if dim == DIMS - 2 else whole[dim] for dim in range(DIMS - 1)]
    across = -(-whole[-1] // TILE_SIDE) if layout == "TILE" else 1
    first = part.start // side if part.dim == DIMS - 2 else part.start
    return first * prod(heights[part.dim + 1 :]) * across % banks == 0
