"""The checksum of a file, computed plainly."""

import struct

from xxhash import xxh3_64_intdigest


def plain_checksum(contents, piece=1 << 20):
    """XXH3 over the XXH3 of each piece, with the size as its seed."""
    sums = [xxh3_64_intdigest(contents[begin : begin + piece]) for begin in range(0, len(contents), piece)]
    return xxh3_64_intdigest(struct.pack(f"={len(sums)}Q", *sums), seed=len(contents))
