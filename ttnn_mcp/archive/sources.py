"""The reports that patterns name, on disk or in an object store, and the stamps by which a later pass knows them."""

# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false, reportUnknownArgumentType=false

from __future__ import annotations

import glob
import os
import tempfile
from collections.abc import Generator, Iterable
from contextlib import contextmanager, suppress
from hashlib import blake2b
from pathlib import Path
from typing import Any, NamedTuple

from ttnn_mcp.archive.places import filesystem_of, written_at
from ttnn_mcp.errors import ReportMissing, nearest, shown, shown_path
from ttnn_mcp.readers.discover import SKIPPED, classify, is_performance_name

NAMES = "ops_perf_results*.csv"
_WILD = frozenset("*?[")


class Source(NamedTuple):
    """A report to read: its path or URL, its size, and when it was written, in nanoseconds since 1970."""

    address: str
    size: int
    modified_ns: int

    @property
    def stamp(self) -> str:
        """The same as long as the file is: a hash of where it lies, its size and its time; no path can be read off."""
        return blake2b("\n".join(map(str, self)).encode("utf-8", "surrogateescape"), digest_size=8).hexdigest()

    @property
    def name(self) -> str:
        """The file's name, cleaned."""
        return shown(self.address.rsplit("/", 1)[-1])

    @property
    def shown(self) -> str:
        """The path or URL, cleaned and short."""
        return shown_path(self.address)


class Sources(NamedTuple):
    """The reports found, and sentences on what could not be looked into."""

    reports: list[Source]
    skipped: list[str]


def sources(patterns: Iterable[str]) -> Sources:
    """The performance reports that the patterns name: files, folders (searched), or wildcards of both, with `**`.

    Raises:
        ReportMissing: a pattern names nothing.
        ArchiveUnusable: a package for an object store is missing.
    """
    reports: dict[str, Source] = {}
    skipped: list[str] = []
    for pattern in patterns:
        listed = _in_store(pattern) if "://" in pattern else _on_disk(pattern, skipped)
        if not listed:
            raise ReportMissing(
                f"No performance report matches {shown(pattern)}.{_hint(pattern)} "
                f"Give files, folders with {NAMES}, or wildcards in quotes."
            )
        reports.update((source.address, source) for source in listed)
    return Sources(list(reports.values()), skipped)


@contextmanager
def local_copy(source: Source) -> Generator[Path]:
    """The report as a file on this machine; one from an object store is fetched for as long as it is needed."""
    if "://" not in source.address:
        yield Path(source.address)
        return
    filesystem, path = filesystem_of(source.address)
    with tempfile.TemporaryDirectory(prefix="ttnn-mcp-") as folder:
        copy = Path(folder) / (os.path.basename(path) or "report.csv")  # noqa: PTH119 - a key, not a path
        filesystem.get_file(path, str(copy))
        yield copy


def _on_disk(pattern: str, skipped: list[str]) -> list[Source]:
    place = os.path.expanduser(pattern)  # noqa: PTH111 - Path.expanduser raises where there is no home
    wild = not os.path.lexists(place) and bool(_WILD & {*place})
    # glob, not Path.glob: patterns may be absolute
    matches = sorted(glob.glob(place, recursive=True)) if wild else [place]  # noqa: PTH207
    paths: list[Path] = []
    for match in map(Path, matches):
        if match.is_dir():
            paths += _below(match, skipped)
        elif not wild:
            paths += [report.path for report in classify(match) if report.kind == "performance"]
        elif match.suffix.lower() == ".csv" and match.is_file():
            paths.append(match)
    return [source for path in sorted(paths) for source in _source(path)]


def _below(folder: Path, skipped: list[str]) -> list[Path]:
    """All reports in a folder and below, by their names; unlike a run that is opened, each counts."""
    paths: list[Path] = []
    closed: list[OSError] = []
    for place, folders, files in os.walk(folder, onerror=closed.append):
        folders[:] = sorted(name for name in folders if not name.startswith(".") and name not in SKIPPED)
        paths += [Path(place) / name for name in files if is_performance_name(name)]
    skipped += [f"{shown_path(failed.filename)} could not be looked into" for failed in closed]
    return paths


def _source(path: Path) -> list[Source]:
    with suppress(OSError):
        status = path.stat()
        return [Source(str(path.absolute()), status.st_size, status.st_mtime_ns)]
    return []


def _in_store(pattern: str) -> list[Source]:
    filesystem, path = filesystem_of(pattern)
    protocol = pattern.split("://", 1)[0]
    if not _WILD & {*path}:
        path = path if path.endswith(".csv") else f"{path.rstrip('/')}/**/*.csv"
    listed: dict[str, Any] = filesystem.glob(path, detail=True)
    return [
        Source(f"{protocol}://{name.removeprefix('/')}", int(file["size"] or 0), int(written_at(file) * 1e9))
        for name, file in sorted(listed.items())
        if file["type"] == "file" and (pattern.endswith(".csv") or is_performance_name(name.rsplit("/", 1)[-1]))
    ]


def _hint(pattern: str) -> str:
    """' Did you mean X?' with the names beside the first part of the pattern that is not there."""
    if "://" in pattern:
        return ""
    missing = Path(os.path.expanduser(pattern))  # noqa: PTH111
    if missing.is_dir():
        return f" It holds no {NAMES}."
    while not missing.parent.is_dir() and missing.parent != missing:
        missing = missing.parent
    try:
        return nearest(missing.name, sorted(os.listdir(missing.parent)))  # noqa: PTH208
    except OSError:
        return ""
