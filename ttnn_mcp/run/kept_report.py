"""A performance report that was read before, from a copy in the state folder: its columns, iterations and caveats.

The copy's name holds the fingerprint of the file's contents, so that a changed file never meets the copy of its former
self; and a digest of everything that decides what is read from a file, so that no other version's copy is used.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator
from pathlib import Path
from stat import S_ISREG

import numpy as np

from ttnn_mcp.arrays import Array, Integers
from ttnn_mcp.readers.fingerprint import fingerprint
from ttnn_mcp.readers.kept_files import KeptFiles
from ttnn_mcp.readers.performance.csv_file import read_performance_csv
from ttnn_mcp.readers.performance.kept_columns import packed, unpacked
from ttnn_mcp.run.iterations import Iterations, signatures
from ttnn_mcp.run.ops.artefact import known
from ttnn_mcp.run.performance import Performance
from ttnn_mcp.run.reading_digest import reading_digest
from ttnn_mcp.run.trust import caveats_of

COUNTS = ("count", "ops", "found_by", "may_be_layers", "short")
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


def performance_of(path: Path, kept: KeptFiles | None = None, large_bytes: int = LARGE_BYTES) -> Performance:
    """The report at `path`, its iterations computed: from its copy if the file did not change since, else read.

    Args:
        path: the report.
        kept: where copies of large reports lie.
        large_bytes: smaller reports have no copy.

    Raises:
        ReportError: the file is missing, foreign or broken.
    """
    if kept is None or not kept.most_bytes or not is_large(path, large_bytes):
        return _read(path)
    code = reading_digest()
    if code is None:
        return _read(path)
    contents = fingerprint(path, kept)
    name = f"{contents}-{code}"
    report = _from_copy(path, kept, name)
    if report is not None:
        return report
    report = _read(path)
    if fingerprint(path, kept) == contents:  # else it changed meanwhile
        kept.write_later(name, _parts_of(report))
    return report


def _read(path: Path) -> Performance:
    report = Performance(read_performance_csv(path))
    _ = report.iterations  # computed here, off the event loop
    return report


def is_large(path: Path, large_bytes: int = LARGE_BYTES) -> bool:
    """Whether the report is large enough for a copy."""
    try:
        status = path.stat()
    except (OSError, ValueError):
        return False  # reading it says what is wrong
    return S_ISREG(status.st_mode) and status.st_size >= large_bytes


def _parts_of(report: Performance) -> Iterator[bytes | memoryview]:
    """The copy's bytes. Making them reads columns only, and changes nothing, so that the answer need not wait."""
    iterations = report.iterations
    figures, bits = report.figures()
    counts = {name: getattr(iterations, name) for name in COUNTS}
    more = {"counts": counts, "trust": caveats_of(report), "figures": figures}
    arrays = {"number": _short(iterations.number), "signatures": _short(signatures(report.steady)), "bits": bits}
    return packed(report.csv, more, arrays)


def _short(numbers: Integers) -> Array:
    """The numbers, none of which is negative, in the shortest type that holds them."""
    return numbers.astype(np.min_scalar_type(-int(numbers.max(initial=0)) - 1))


def _from_copy(path: Path, kept: KeptFiles, name: str) -> Performance | None:
    contents = kept.read(name)
    if contents is None:  # unmoved: None is none of our copies either, and what it raises is caught
        return None
    try:
        csv, more, arrays = unpacked(contents, path)
        numbers = {name: arrays[name].astype(np.int64) for name in ("number", "signatures")}
        counts = more["counts"]
        counts["short"] = tuple((int(number), int(ops)) for number, ops in counts["short"])
        report = Performance(csv, Iterations(numbers["number"], **counts))
        report.know(more["figures"], arrays["bits"])
        report.known_caveats = tuple(more["trust"])
        if any(len(array) != len(report.steady) for array in numbers.values()):
            return None
        known(report.steady, signatures, numbers["signatures"])
    except NOT_OURS:
        return None  # the file is read, and its copy written again
    return report
