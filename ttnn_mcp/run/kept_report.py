"""A performance report that was read before, from a copy in the state folder: its columns and its iterations.

The copy's name holds the fingerprint of the file's contents, so that a changed file never meets the copy of its former
self; and a digest of everything that decides what is read from a file, so that no other version's copy is used.
"""

from __future__ import annotations

import struct
from functools import cache
from hashlib import blake2b
from importlib import metadata
from pathlib import Path
from stat import S_ISREG
from typing import TYPE_CHECKING

from ttnn_mcp import __version__
from ttnn_mcp.readers.fingerprint import fingerprint
from ttnn_mcp.readers.performance.csv_file import read_performance_csv
from ttnn_mcp.readers.performance.kept_columns import packed, unpacked
from ttnn_mcp.run.iterations import Iterations
from ttnn_mcp.run.performance import Performance

if TYPE_CHECKING:
    from ttnn_mcp.readers.kept_files import KeptFiles

FORMAT = 1
LARGE_BYTES = 1 << 24  # smaller files (some ten thousand rows) are read in a tenth of a second
# what bytes that we did not write may raise
NOT_OURS = (
    ArithmeticError,
    AttributeError,
    LookupError,
    MemoryError,
    RecursionError,
    TypeError,
    ValueError,
    struct.error,
)
CODE = ("readers", "run", "hardware.py", "errors.py", "quoting.py")  # what decides how a file is read


def performance_of(path: Path, kept: KeptFiles | None = None, large_bytes: int = LARGE_BYTES) -> Performance:
    """The report at `path`, its iterations computed: from its copy if the file did not change since, else read.

    Raises:
        ReportError: the file is missing, foreign or broken.
    """
    code = reading_digest()
    if kept is None or not kept.most_bytes or code is None or not _is_large(path, large_bytes):
        return _read(path)
    contents = fingerprint(path, kept)
    name = f"{contents}-{code}"
    report = _from_copy(path, kept, name)
    if report is not None:
        return report
    report = _read(path)
    if fingerprint(path, kept) == contents:  # otherwise it changed while it was read
        kept.write(name, _as_parts(report))
    return report


def _read(path: Path) -> Performance:
    report = Performance(read_performance_csv(path))
    _ = report.iterations  # computed here, off the event loop
    return report


def _is_large(path: Path, large_bytes: int) -> bool:
    try:
        status = path.stat()
    except (OSError, ValueError):
        return False  # reading it says what is wrong
    return S_ISREG(status.st_mode) and status.st_size >= large_bytes


def _as_parts(report: Performance) -> list[bytes | memoryview]:
    iterations = report.iterations
    told = {
        "count": iterations.count,
        "ops": iterations.ops,
        "found_by": iterations.found_by,
        "may_be_layers": iterations.may_be_layers,
    }
    return packed(report.csv, told, {"number": iterations.number})


def _from_copy(path: Path, kept: KeptFiles, name: str) -> Performance | None:
    contents = kept.read(name)
    if contents is None:
        return None
    try:
        csv, told, arrays = unpacked(contents, path)
        return Performance(csv, Iterations(arrays["number"], **told))
    except NOT_OURS:
        return None  # the file is read, and its copy written anew


@cache
def reading_digest() -> str | None:
    """16 hex digits: the versions and the code that decide what is read from a file; None where they are not seen."""
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
