"""What lives between calls: the roots, the default run, and the runs opened so far."""

from __future__ import annotations

import asyncio
import os
from dataclasses import dataclass
from hashlib import blake2b
from pathlib import Path
from typing import TYPE_CHECKING

from ttnn_mcp.errors import ReportMissing, RunUnknown, nearest, shown
from ttnn_mcp.readers.discover import FoundReport, classify, find_reports
from ttnn_mcp.readers.fingerprint import fingerprint
from ttnn_mcp.served.documents import home
from ttnn_mcp.session.registry import Known, Registry

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ttnn_mcp.run.run import Run

DEMO = "demo"
KEPT_OPEN = 4  # runs held in memory; a million rows are some hundred MB
ID_CHARS = 8


@dataclass(frozen=True, slots=True)
class Settings:
    """What the command line or the environment decided.

    Attributes:
        roots: where reports are looked for; empty means $TT_METAL_HOME/generated, else ./generated.
        run: the default run (id or path).
        performance: the default performance report, used where `run` is not given.
        memory: the default memory report, likewise.
        confined: only paths under the roots may be opened (HTTP), after symlinks are resolved.
        state: the folder for what we remember (opened runs, experiments); None means the user's state folder.
    """

    roots: Sequence[Path] = ()
    run: str | None = None
    performance: str | None = None
    memory: str | None = None
    confined: bool = False
    state: Path | None = None

    @property
    def searched(self) -> tuple[Path, ...]:
        """The folders reports are looked for in."""
        if self.roots:
            return tuple(self.roots)
        home = os.environ.get("TT_METAL_HOME")
        return (Path(home) / "generated" if home else Path.cwd() / "generated",)

    @property
    def state_folder(self) -> Path:
        """Where opened runs and experiments are remembered."""
        if self.state is not None:
            return self.state
        base = os.environ.get("XDG_STATE_HOME")
        return (Path(base) if base else Path.home() / ".local" / "state") / "ttnn-mcp"


@dataclass(frozen=True, slots=True)
class Pair:
    """The reports of one run, by path."""

    performance: Path | None
    memory: Path | None
    rank: int | None = None


class Session:
    """The runs one server, or one shell call, can speak of."""

    def __init__(self, settings: Settings) -> None:
        self.settings = settings
        self.registry = Registry(settings.state_folder)
        self._open: dict[str, tuple[tuple[object, ...], Run]] = {}
        self._opening = asyncio.Lock()

    async def run(self, wanted: str | None) -> Run:
        """The run by id or path; without either, the default or the newest found.

        Raises:
            RunUnknown: no such run; names the nearest.
            ReportError: it is there and cannot be read.
        """
        if wanted is None:
            return await self._default()
        if wanted == DEMO:
            return await self.open(*demo_reports(), name=DEMO)
        for run_id, (_, run) in self._open.items():
            if wanted in (run_id, run.name):
                return await self._opened(self._pair_of(run), run.name)
        known = await self.registry.find(wanted)
        if known is not None:
            return await self._opened(Pair(known.performance, known.memory, known.rank), known.name)
        for entry in await self.found():
            if wanted == entry.id:
                return await self._opened(Pair(entry.performance, entry.memory), entry.name)
        if not await asyncio.to_thread(_looks_like_path, wanted):
            ids = [entry.id for entry in await self.found()] + [one.id for one in await self.registry.all()]
            raise RunUnknown(
                f"No run '{shown(wanted)}'.{nearest(wanted, [*ids, DEMO])} Call list_runs, or give a path."
            )
        return await self._opened(self._classified(wanted), None)

    async def open(
        self, performance: str | None, memory: str | None, name: str | None = None, rank: int | None = None
    ) -> Run:
        """Pair two reports (either may be None) and remember the pair.

        Raises:
            RunUnknown: neither was given.
            ReportError: one is missing, foreign or broken.
        """
        if performance is None and memory is None:
            raise RunUnknown("Nothing to open: give `performance`, `memory` or both, as paths to reports.")
        by_performance = self._classified(performance) if performance else Pair(None, None)
        by_memory = self._classified(memory) if memory else Pair(None, None)
        if performance and by_performance.performance is None:
            raise ReportMissing(f"{shown(performance)} holds no performance report (ops_perf_results*.csv).")
        if memory and by_memory.memory is None:
            raise ReportMissing(f"{shown(memory)} holds no memory report (db.sqlite).")
        chosen = by_memory.memory or (by_performance.memory if memory is None else None)
        return await self._opened(Pair(by_performance.performance, chosen, rank), name)

    async def found(self) -> list[Known]:
        """Reports under the roots, newest first; one run per report, or per folder holding one of each."""
        reports = await asyncio.to_thread(find_reports, self.settings.searched)
        return await asyncio.to_thread(lambda: [_known(pair) for pair in _paired(reports)])

    async def _default(self) -> Run:
        settings = self.settings
        if settings.run is not None:
            return await self.run(settings.run)
        if settings.performance is not None or settings.memory is not None:
            return await self.open(settings.performance, settings.memory)
        found = await self.found()
        newest = next((known for known in found if known.performance), next(iter(found), None))
        if newest is None:
            where = ", ".join(shown(root) for root in settings.searched)
            raise RunUnknown(
                f"No run given and no report found under {where}. "
                "Give `run` a path, call open_run, or try run='demo'."
            )
        return await self._opened(Pair(newest.performance, newest.memory), newest.name)

    async def _opened(self, pair: Pair, name: str | None) -> Run:
        self._confine(pair.performance, pair.memory)
        async with self._opening:
            run_id = DEMO if name == DEMO else await asyncio.to_thread(identity, pair)
            stamp = tuple(_stamp(path) for path in (pair.performance, pair.memory))
            held = self._open.pop(run_id, None)
            if held is None or held[0] != stamp:
                held = (stamp, await self._read(run_id, pair, name))
            elif name and name != held[1].name:
                held[1].name = name
            self._open[run_id] = held
            while len(self._open) > KEPT_OPEN:
                self._open.pop(next(iter(self._open)))
        return held[1]

    async def _read(self, run_id: str, pair: Pair, name: str | None) -> Run:
        from ttnn_mcp.session.opening import read_run  # noqa: PLC0415 - numpy and pandas load with the first report

        run = await read_run(run_id, name or _name_of(pair), pair.performance, pair.memory, pair.rank)
        if name != DEMO:
            await self.registry.remember(Known(run_id, run.name, pair.performance, pair.memory, pair.rank, None))
        return run

    def _classified(self, path: str) -> Pair:
        place = Path(path).expanduser().absolute()
        self._confine(place)  # before anything near it is looked at or named
        reports = {found.kind: found.path for found in classify(place)}
        return Pair(reports.get("performance"), reports.get("memory"))

    def _confine(self, *paths: Path | None) -> None:
        if not self.settings.confined:
            return
        roots = [root.resolve() for root in self.settings.searched]
        roots += [Path(path).resolve().parent for path in demo_reports()]
        for path in paths:
            if path is not None and not any(path.resolve().is_relative_to(root) for root in roots):
                raise ReportMissing(f"{shown(path)} lies outside the served roots. Start the server with --root.")

    def _pair_of(self, run: Run) -> Pair:
        return Pair(
            run.performance.csv.path if run.performance else None,
            run.memory.path if run.memory else None,
            run.memory.rank if run.memory else None,
        )


def demo_reports() -> tuple[str, str]:
    """The bundled demo run's performance and memory report: made by tests.profiles.demo, no real profile."""
    demo = home() / "resources" / "demo"
    return str(demo / "performance"), str(demo / "memory")


def identity(pair: Pair) -> str:
    """The run's id: from the reports' contents, so it survives moves and restarts."""
    digest = blake2b(digest_size=ID_CHARS // 2)
    for path in (pair.performance, pair.memory):
        digest.update(fingerprint(path).encode() if path else b"-")
    if pair.rank:
        digest.update(str(pair.rank).encode())
    return digest.hexdigest()


def _looks_like_path(text: str) -> bool:
    return os.sep in text or Path(text).exists()


def _stamp(path: Path | None) -> tuple[int, int] | None:
    if path is None:
        return None
    seen = path.stat()
    return seen.st_mtime_ns, seen.st_size


def _name_of(pair: Pair) -> str:
    path = pair.performance or pair.memory
    return path.stem if path is pair.performance and path else (path.parent.name if path else "")


def _known(pair: tuple[FoundReport | None, FoundReport | None]) -> Known:
    performance, memory = pair
    paths = Pair(performance.path if performance else None, memory.path if memory else None)
    newest = max(report.modified for report in pair if report)
    return Known(identity(paths), _name_of(paths), paths.performance, paths.memory, None, newest)


def _paired(reports: list[FoundReport]) -> list[tuple[FoundReport | None, FoundReport | None]]:
    """Newest first; a performance and a memory report in one folder are one run, others stay apart."""
    by_folder: dict[Path, dict[str, FoundReport]] = {}
    for report in reports:
        by_folder.setdefault(report.folder, {}).setdefault(report.kind, report)
    return [(kinds.get("performance"), kinds.get("memory")) for kinds in by_folder.values()]
