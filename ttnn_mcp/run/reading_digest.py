"""A digest of everything that decides what is read from a file: a copy made by other code is never used."""

from __future__ import annotations

from functools import cache
from hashlib import blake2b
from pathlib import Path

from ttnn_mcp import __version__

FORMAT = 5  # unmoved: any number does that no other version has
CODE = ("readers", "run", "hardware.py", "errors.py", "quoting.py")  # what decides how a file is read


@cache
def reading_digest() -> str | None:
    """16 hex digits: the versions and the code that decide what is read from a file; None where they are not seen."""
    from importlib import metadata  # noqa: PLC0415 - 10 ms, for large reports only

    package = Path(__file__).parents[1]
    try:
        versions = (FORMAT, __version__, metadata.version("pandas"), metadata.version("numpy"))
        digest = blake2b(repr(versions).encode(), digest_size=8)
        for part in CODE:
            place = package / part
            for file in sorted(place.rglob("*.py")) if place.is_dir() else [place]:
                digest.update(file.read_bytes())
    except (OSError, metadata.PackageNotFoundError):
        return None
    return digest.hexdigest()
