"""The reports on disk: performance reports are found by their CSV, memory reports by their database."""

from __future__ import annotations

import os
from collections import deque
from collections.abc import Iterable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Literal

from ttnn_mcp import quoting
from ttnn_mcp.errors import ReportMissing, nearest, shown
from ttnn_mcp.readers.memory.folder import report_name
from ttnn_mcp.readers.regular_file import begin_of
from ttnn_mcp.records import dataclass

Kind = Literal["performance", "memory"]

DATABASE = "db.sqlite"
DEVICE_LOG = "profile_log_device.csv"
TT_TORCH_CSV = "device_ops_perf_trace.csv"  # tt-xla and tt-torch: results/perf/
EXPECTED = (
    f"a folder with ops_perf_results*.csv (or {TT_TORCH_CSV}), a folder with {DATABASE}, or one of these files"
)

_DEPTH = 6  # generated/profiler/reports/<name>/<timestamp>/rank<N>
_FOLDERS = 5000  # scanned per root; a larger tree is not a folder of reports
_ENTRIES = 100_000  # looked at per folder, in a tenth of a second; tensors/ of a detailed report can hold more
_DEPTH_OF_PAIR = 3  # searched below a folder that a caller gives as one run
SKIPPED = frozenset({"tensors", "graphs", "npe_viz", "node_modules", "__pycache__", "site-packages"})
_DATABASE_SUFFIXES = frozenset({".sqlite", ".sqlite3", ".db"})
_SQLITE_MAGIC = b"SQLite format 3\x00"


@dataclass(frozen=True, slots=True)
class FoundReport:
    """A report on disk.

    Attributes:
        kind: which of the two reports.
        path: its CSV or database.
        folder: the folder of that file.
        name: `<name>/<time>` below a `reports` folder, otherwise the folder's name; cleaned for answers.
        modified: when the file was written last, in seconds since 1970.
        caveats: sentences for every answer from it, such as which other CSVs the folder holds.
        older: whether it is a CSV beside a newer one: a run of its own, and not what the folder stands for.
    """

    kind: Kind
    path: Path
    folder: Path
    name: str
    modified: float
    caveats: tuple[str, ...] = ()
    older: bool = False


@dataclass(frozen=True, slots=True)
class Discovery:
    """The reports below some roots, newest first; `skipped` names, in a sentence each, what could not be read."""

    reports: tuple[FoundReport, ...]
    skipped: tuple[str, ...]


def discover(roots: Iterable[str | Path]) -> Discovery:
    """The reports below the roots. A missing root has none; folders that cannot be read are skipped and named."""
    reports: dict[Path, FoundReport] = {}
    skipped: list[str] = []
    folders_seen: set[tuple[int, int]] = set()
    for root in roots:
        for folder, entries in _walk(Path(root), _DEPTH, folders_seen, skipped):
            for report in _reports_in(folder, entries):
                reports.setdefault(report.path, report)
    newest = sorted(reports.values(), key=lambda report: (-report.modified, str(report.path)))
    return Discovery(tuple(newest), tuple(skipped))


def find_reports(roots: Iterable[str | Path]) -> list[FoundReport]:
    """The reports below the roots, newest first."""
    return list(discover(roots).reports)


def classify(path: str | Path) -> tuple[FoundReport, ...]:
    """The reports at a path: a performance report, a memory report, or one of each (in this order).

    Raises:
        ReportMissing: nothing is there, no report is, or several of one kind are; suggests similar names.
    """
    place = Path(os.path.expanduser(path))  # noqa: PTH111 - Path.expanduser raises where there is no home
    try:
        if place.is_dir():
            return _classify_folder(place)
        if place.exists():
            return _classify_file(place)
    except (OSError, ValueError) as error:
        raise ReportMissing(f"{shown(place.name)} cannot be read: check its permissions.") from error
    raise ReportMissing(_nothing_at(place))


def _classify_file(path: Path) -> tuple[FoundReport, ...]:
    if not path.is_file():  # reading a pipe or a device would block
        raise ReportMissing(f"{shown(path.name)} is not a regular file. Expected: {EXPECTED}.")
    if path.name == DEVICE_LOG:
        raise ReportMissing(f"{DEVICE_LOG} is the device's raw log: give the ops_perf_results*.csv beside it.")
    start = begin_of(path, len(_SQLITE_MAGIC))
    if start == _SQLITE_MAGIC or path.suffix in _DATABASE_SUFFIXES:
        return (_found("memory", path),)
    if path.suffix.lower() == ".csv":
        return (_found("performance", path),)
    raise ReportMissing(f"{shown(path.name)} is no report. Expected: {EXPECTED}.")


def _classify_folder(folder: Path) -> tuple[FoundReport, ...]:
    """The reports in the folder itself, otherwise those below it if there is only one of each kind."""
    skipped: list[str] = []
    chosen: list[FoundReport] = []
    for below, entries in _walk(folder, _DEPTH_OF_PAIR, set(), skipped):
        chosen.extend(report for report in _reports_in(below, entries) if not report.older)
        if below == folder and chosen:
            break
    for kind in ("performance", "memory"):
        names = [str(report.folder.relative_to(folder)) for report in chosen if report.kind == kind]
        if len(names) > 1:
            raise ReportMissing(
                f"{shown(folder.name)} holds {len(names)} {kind} reports: name the folder of one."
                f"{nearest('', sorted(names, reverse=True))}"
            )
    if not chosen:
        hint = f" {skipped[0]}." if skipped else nearest("", _names(folder))
        raise ReportMissing(
            f"There is no report in {shown(folder.name or str(folder))}. Expected: {EXPECTED}.{hint}"
        )
    return tuple(sorted(chosen, key=lambda report: report.kind, reverse=True))


def _reports_in(folder: Path, entries: list[os.DirEntry[str]]) -> Iterator[FoundReport]:
    """The reports in this folder, not below it: at most one of each kind, and older CSVs."""
    tables = [entry for entry in entries if is_performance_name(entry.name) and _is_file(entry)]
    dated = sorted(((_modified(entry), entry.name) for entry in tables), reverse=True)
    if dated:
        older = [name for _, name in dated[1:]]
        caveats = (
            [f"the folder holds {len(dated)} CSVs; the newest is read, not {', '.join(map(shown, older[:3]))}"]
            if older
            else []
        )
        if len(entries) >= _ENTRIES:
            caveats.append(f"{too_many_in(folder)}: a newer report may be among them")
        yield _found("performance", folder / dated[0][1], tuple(caveats))
        for name in older:
            yield replace(_found("performance", folder / name), older=True)
    if any(entry.name == DATABASE and _is_file(entry) for entry in entries):
        yield _found("memory", folder / DATABASE)


def _found(kind: Kind, path: Path, caveats: tuple[str, ...] = ()) -> FoundReport:
    folder = path.parent
    try:
        modified = path.stat().st_mtime
    except OSError:  # gone since it was listed
        modified = 0.0
    return FoundReport(kind, path, folder, _report_name(kind, folder), modified, caveats)


def _report_name(kind: Kind, folder: Path) -> str:
    """The folder's path below `reports/` (`<name>/<timestamp>`), or the name that a hashed memory folder stands for."""
    if kind == "memory" and folder.name.isdecimal():
        return quoting.text(report_name(folder) or folder.name)
    parts = folder.absolute().parts
    below = parts[-1 - parts[::-1].index("reports") + len(parts) + 1 :] if "reports" in parts else parts[-1:]
    return quoting.text("/".join(below or parts[-1:]))


def _walk(
    root: Path, depth: int, folders_seen: set[tuple[int, int]], skipped: list[str]
) -> Iterator[tuple[Path, list[os.DirEntry[str]]]]:
    """The folders breadth first, each once although several links may lead to it."""
    waiting = deque([(root, 0)])
    scanned = 0
    while waiting:
        folder, level = waiting.popleft()
        try:
            status = folder.stat()
            if (status.st_dev, status.st_ino) in folders_seen:
                continue
            folders_seen.add((status.st_dev, status.st_ino))
            entries = _entries(folder)
        except (FileNotFoundError, NotADirectoryError):
            continue
        except (OSError, ValueError):
            skipped.append(f"{shown(folder.name)} could not be read")
            continue
        scanned += 1
        if len(entries) >= _ENTRIES:
            skipped.append(too_many_in(folder))
        if scanned > _FOLDERS:
            skipped.append(
                f"{shown(root.name)} has more than {_FOLDERS} folders: give a root nearer to the reports"
            )
            return
        yield folder, entries
        if level < depth:
            # newest stamp first
            names = sorted((entry.name for entry in entries if _is_folder(entry)), reverse=True)
            waiting.extend((folder / name, level + 1) for name in names)


def _entries(folder: Path) -> list[os.DirEntry[str]]:
    with os.scandir(folder) as listing:
        return [entry for entry, _ in zip(listing, range(_ENTRIES), strict=False)]


def too_many_in(folder: Path) -> str:
    """What is said of a folder of which only a part was looked at."""
    return f"{shown(folder.name)} has {_ENTRIES:,} entries or more, and no others were looked at"


def _is_folder(entry: os.DirEntry[str]) -> bool:
    try:
        if entry.name.startswith(".") or entry.name in SKIPPED:
            return False
        return entry.is_dir()
    except OSError:
        return False


def _is_file(entry: os.DirEntry[str]) -> bool:
    try:
        return entry.is_file()
    except OSError:
        return False


def is_performance_name(name: str) -> bool:
    """Whether a file of this name is a performance report."""
    return name == TT_TORCH_CSV or (name.startswith("ops_perf_results") and name.endswith(".csv"))


def _modified(entry: os.DirEntry[str]) -> float:
    try:
        return entry.stat().st_mtime
    except OSError:
        return 0.0


def _names(folder: Path) -> list[str]:
    try:
        return sorted(entry.name for entry in _entries(folder) if not entry.name.startswith("."))
    except OSError:
        return []


def _nothing_at(path: Path) -> str:
    """The message for a missing path: what is missing, and similar names in the nearest existing folder."""
    missing = path
    while not missing.parent.is_dir() and missing.parent != missing:
        missing = missing.parent
    near = nearest(missing.name, _names(missing.parent))
    folder = shown(missing.parent.name or str(missing.parent))
    return f"There is no {shown(missing.name)} in {folder}.{near} Expected: {EXPECTED}."
