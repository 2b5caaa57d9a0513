"""Bytes per bank of sharded tensors, from their shard specs: for graphs of 2024, which record only whole sizes."""

from __future__ import annotations

from functools import cached_property

from ttnn_mcp.hardware import filled_up, shard_bytes
from ttnn_mcp.readers.memory.columns import Tensors
from ttnn_mcp.readers.memory.spaces import keys_of

BANK_ALIGNMENT_BYTES = 32  # allocations of a bank begin at multiples of it: tt_metal allocator


class ShardBytes:
    """Bytes per bank of sharded L1 buffers; computed on first use.

    Args:
        tensors: of the report.
        banks: number of L1 banks on the device; None if unknown.
    """

    def __init__(self, tensors: Tensors, banks: int | None) -> None:
        self._tensors = tensors
        self._banks = banks

    def at(self, key: int, size_bytes: int) -> tuple[int, bool]:
        """Bytes of the buffer of that size at that address (`spaces.key_of`), and whether a shard spec tells them.

        Otherwise they are a lower bound: the buffer spread over all banks.
        """
        by_size = self._sizes.get(key, {})
        if size_bytes in by_size or len(set(by_size.values())) == 1:
            return by_size.get(size_bytes) or next(iter(by_size.values())), True
        return (-(-max(size_bytes, 0) // self._banks) if self._banks else 0), False

    @cached_property
    def _sizes(self) -> dict[int, dict[int, int]]:
        tensors = self._tensors
        by_address: dict[int, dict[int, int]] = {}
        for row, key in enumerate(keys_of(tensors.addresses, tensors.buffers).tolist()):
            size = self.of_bank(row) if key >= 0 else None
            if size is not None:
                by_address.setdefault(key, {})[int(tensors.size_bytes[row])] = size
        return by_address

    def of_bank(self, row: int) -> int | None:
        """Bytes in a bank of the sharded tensor in that row of the tensors; None if its shard spec does not tell."""
        tensors = self._tensors
        placement, dtype, layout = tensors.placements[row], tensors.dtypes[row], tensors.layouts[row]
        if (
            placement is None
            or placement.shard is None
            or len(placement.shard.shape) != 2
            or not dtype
            or not layout
        ):
            return None
        rows, columns = placement.shard.shape
        size = shard_bytes((rows, columns), dtype, layout)
        return None if size is None else filled_up(size, BANK_ALIGNMENT_BYTES)
