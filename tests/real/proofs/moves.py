"""Moves, which nothing but a run shows: freed room above a tensor is filled."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from tests.real.rig.proof_calls import Operands

KINDS = ("n150",)
DISPATCHED = True


def calls(on: Operands) -> Iterator[Callable[[], object]]:
    """Of tiles and rows, to a place beside and to one that overlaps; of shards."""
    ttnn, l1 = on.ttnn, on.ttnn.L1_MEMORY_CONFIG
    place = on.shards("HEIGHT", (32, 512), (8, 1))
    for make, memory in ((on.tiles, l1), (on.rows, l1), (on.tiles, place)):
        for rows in (256, 64):
            above, x = make(1, 1, rows, 512, memory=l1), make(1, 1, 256, 512, memory=memory)

            def moved(above: object = above, x: object = x) -> object:
                ttnn.deallocate(above)
                return ttnn.move(x)

            yield moved
