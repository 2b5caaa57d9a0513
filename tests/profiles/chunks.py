"""The detailed rows of an L1 tensor: its pages, or (from 3.1) one chunk of pages per bank."""

from __future__ import annotations

from typing import TYPE_CHECKING

from .model import BUFFER_NUMBERS, Tensor

if TYPE_CHECKING:
    from collections.abc import Iterator


def _pages(tensor: Tensor, address: int, banks: int, columns: int) -> Iterator[tuple[int, int, int, int, int]]:
    """(page, bank, core x, core y, address of the page): round robin, or shard by shard."""
    placement = tensor.placement
    assert placement is not None
    cores, per_shard = placement.cores, tensor.shard_pages
    for page in range(tensor.pages):
        if per_shard:
            shard, slot = divmod(page, per_shard)
            if shard >= len(cores):
                return
            x, y = cores[shard]
            bank = y * columns + x
        else:
            slot, bank = divmod(page, banks)
            x, y = bank % columns, bank // columns
        yield page, bank, x, y, address + slot * tensor.page_bytes


def page_rows(
    tensor: Tensor, *, operation: int, device: int, address: int, banks: int, columns: int
) -> list[tuple[int, ...]]:
    buffer = BUFFER_NUMBERS["L1"]
    return [
        (operation, device, address, y, x, bank, page, at, tensor.page_bytes, buffer)
        for page, bank, x, y, at in _pages(tensor, address, banks, columns)
    ]


def chunk_rows(
    tensor: Tensor, *, operation: int, device: int, address: int, banks: int, columns: int
) -> list[tuple[int, ...]]:
    counts: dict[tuple[int, int, int], int] = {}
    for _, bank, x, y, _at in _pages(tensor, address, banks, columns):
        counts[bank, x, y] = counts.get((bank, x, y), 0) + 1
    size, buffer = tensor.page_bytes, BUFFER_NUMBERS["L1"]
    return [
        (operation, device, address, bank, x, y, address, count * size, size, count, buffer)
        for (bank, x, y), count in sorted(counts.items())
    ]
