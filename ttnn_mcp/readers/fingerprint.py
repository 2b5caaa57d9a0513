"""A report's identity from its contents: a moved report is the same run, an overwritten one is another."""

from __future__ import annotations

from hashlib import blake2b
from typing import TYPE_CHECKING

from ttnn_mcp.errors import ReportMissing, shown

if TYPE_CHECKING:
    from pathlib import Path

WHOLE_BYTES = 1 << 22  # up to 4 MiB the whole file counts
SAMPLES = 32  # beyond, that many evenly spread blocks, the first and the last among them
BLOCK_BYTES = 1 << 16


def fingerprint(path: Path) -> str:
    """32 hex digits from the file's size and contents (a spread of blocks where it is large)."""
    try:
        size = path.stat().st_size
        digest = blake2b(str(size).encode(), digest_size=16)
        with path.open("rb") as file:
            if size <= WHOLE_BYTES:
                digest.update(file.read())
            else:
                for sample in range(SAMPLES):
                    file.seek((size - BLOCK_BYTES) * sample // (SAMPLES - 1))
                    digest.update(file.read(BLOCK_BYTES))
    except OSError as failed:
        raise ReportMissing(f"{shown(path)} cannot be opened ({failed.strerror}).") from None
    return digest.hexdigest()
