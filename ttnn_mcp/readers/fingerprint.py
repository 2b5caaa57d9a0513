"""A report's identity from its contents: a moved report is the same run, an overwritten one is another."""

from __future__ import annotations

import os
import time
import zlib
from hashlib import blake2b
from typing import TYPE_CHECKING, BinaryIO

from ttnn_mcp.errors import ReportMissing, shown

if TYPE_CHECKING:
    from pathlib import Path

SMALL_BYTES = 1 << 22  # up to 4 MiB all of it is hashed
WHOLE_BYTES = 1 << 31  # up to 2 GiB every byte counts: a CRC-32 read 293 MB in 0.13 s
SAMPLES = 32  # evenly spread blocks that are hashed of a larger file, the first and the last among them
BLOCK_BYTES = 1 << 16
CHECKED_BYTES = 1 << 20
KEPT = 4096  # fingerprints of files seen lately
SETTLED_NS = 2_000_000_000  # a file changed later than this before it was looked at may change within one tick

_kept: dict[tuple[int, ...], str] = {}


def fingerprint(path: Path) -> str:
    """32 hex digits from the file's size and contents.

    Small files are hashed whole. Of larger ones a spread of blocks is hashed, together with a checksum over every
    byte, which takes a fifth of the time of a hash. Beyond 2 GiB, where no CSV is read, only the blocks count; the
    first one holds the counter that SQLite raises with every change.
    """
    try:
        with path.open("rb", buffering=0) as file:
            seen = os.fstat(file.fileno())
            stamp = (seen.st_dev, seen.st_ino, seen.st_size, seen.st_mtime_ns, seen.st_ctime_ns)
            if stamp in _kept:
                return _kept[stamp]
            digest = _digest(file, seen.st_size)
    except OSError as failed:
        raise ReportMissing(f"{shown(path)} cannot be opened ({failed.strerror}).") from None
    if time.time_ns() - max(seen.st_mtime_ns, seen.st_ctime_ns) > SETTLED_NS:
        while len(_kept) >= KEPT:
            _kept.pop(next(iter(_kept)), None)
        _kept[stamp] = digest
    return digest


def _digest(file: BinaryIO, size: int) -> str:
    digest = blake2b(str(size).encode(), digest_size=16)
    if size <= SMALL_BYTES:
        digest.update(file.read(size))
        return digest.hexdigest()
    for sample in range(SAMPLES):
        file.seek((size - BLOCK_BYTES) * sample // (SAMPLES - 1))
        digest.update(file.read(BLOCK_BYTES))
    if size <= WHOLE_BYTES:
        digest.update(_checksum(file).to_bytes(4, "little"))
    return digest.hexdigest()


def _checksum(file: BinaryIO) -> int:
    """CRC-32 of the whole file: any change of up to 32 bits in a row alters it, any other but once in 2**32."""
    file.seek(0)
    block, checksum = bytearray(CHECKED_BYTES), 0
    view = memoryview(block)
    while count := file.readinto(block):  # type: ignore[attr-defined]
        checksum = zlib.crc32(view[:count], checksum)
    return checksum
