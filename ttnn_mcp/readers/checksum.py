"""CRC-32 of a whole file, computed from its pieces, so that two threads can share the work."""

from __future__ import annotations

import os
import zlib
from contextlib import closing
from functools import cache

from ttnn_mcp.readers.ordered_work import in_order

# Read at once: in the cache of a core when its checksum is computed.
BLOCK_BYTES = 1_048_576  # unmoved: the sum of any blocks is the same, and only its time differs
# A piece of work for a thread.
PIECE_BYTES = 8_388_608  # unmoved: likewise
# Polynomials modulo that of CRC-32 (IEEE 802.3), with coefficients 0 or 1: the highest bit is that of x to the power 0.
MODULUS = 0xEDB88320  # without its highest power
ONE, X = 1 << 31, 1 << 30


class RunningChecksum:
    """CRC-32 of a file whose pieces come one after the other, each with a checksum of its own.

    Attributes:
        total: of all pieces so far.
        length: bytes of all pieces so far.
    """

    def __init__(self) -> None:
        self.total = self.length = 0

    def add(self, piece: int, length: int) -> None:
        """Add the next piece by its checksum."""
        self.total = _product(self.total, _shift(length)) ^ piece
        self.length += length

    def of_all(self, size: int) -> int | None:
        """The checksum of the file of this size; None if pieces are missing."""
        return self.total if self.length == size else None


def checksum(descriptor: int, size: int) -> int:
    """CRC-32 of the first `size` bytes, or of as many as there are.

    Raises:
        OSError: the file cannot be read.
    """
    running_sum = RunningChecksum()
    with closing(in_order(lambda begin: _of_piece(descriptor, begin, size), range(0, size, PIECE_BYTES))) as pieces:
        for piece, length in pieces:
            running_sum.add(piece, length)
    return running_sum.total


def _of_piece(descriptor: int, begin: int, size: int) -> tuple[int, int]:
    """The checksum of the piece that begins there, and its length."""
    total, place, end = 0, begin, min(begin + PIECE_BYTES, size)
    while block := os.pread(descriptor, min(BLOCK_BYTES, end - place), place):
        total, place = zlib.crc32(block, total), place + len(block)
    return total, place - begin


@cache
def _shift(length: int) -> int:
    """What a checksum is multiplied with when so many bytes follow: x to the power of their bits."""
    power, square = ONE, X
    for bit in range((8 * length).bit_length()):
        if 8 * length >> bit & 1:
            power = _product(power, square)
        square = _product(square, square)
    return power


def _product(one: int, other: int) -> int:
    """The product of two polynomials."""
    product = 0
    for power in range(32):
        if one & ONE >> power:
            product ^= other
        other = other >> 1 ^ (MODULUS if other & 1 else 0)
    return product
