"""What lives between calls: the roots, the default run, and the runs opened so far.

A caller's text for a run is tried in this order: `demo`; an id; a name that a person gave; a path; a name that comes
from folders. An id stands for contents: if a report was overwritten, its old id is an error that names the new id,
because the caller meant the old numbers. A path or a name stands for the report that is there now.
"""

from __future__ import annotations

import asyncio
import copy
import os
from dataclasses import replace
from typing import TYPE_CHECKING

from ttnn_mcp.errors import ReportMissing, RunUnknown, nearest, shown, shown_path
from ttnn_mcp.readers.kept_files import KeptFiles
from ttnn_mcp.readers.memory_dump import is_dump, refused
from ttnn_mcp.replay.kept import Replays
from ttnn_mcp.session.archiving import Archiving
from ttnn_mcp.session.known_runs import DEMO, KnownRuns, check_name, known_run, only_one
from ttnn_mcp.session.open_runs import Opening, OpenRuns, read_unchanged
from ttnn_mcp.session.places import DEMO_CAVEAT, OUTSIDE, Roots, demo_reports, is_there, place_of
from ttnn_mcp.session.registry import ID, SHOWN_CHARS, KnownRun, Pair, Registry, identity, stamps_of
from ttnn_mcp.session.settings import MB, Settings

if TYPE_CHECKING:
    from pathlib import Path

    from ttnn_mcp.archive.store import Archive
    from ttnn_mcp.readers.discover import FoundReport
    from ttnn_mcp.run.run import Run
    from ttnn_mcp.session.registry import Stamps

OVERWRITTEN = "the report was overwritten: before, its file held run {id}"
SHARED = "names are shared by all clients of this server, and so are experiments"
FORGOTTEN = (
    "this id ends with this process, because the state folder cannot be written ({why}): --state chooses another"
)

__all__ = ["DEMO", "Pair", "Session", "Settings", "identity"]


class Session:
    """The runs that one server, or one shell call, can answer for.

    Attributes:
        settings: what the command line or the environment decided.
        roots: the folders in which reports may lie.
        registry: the record of runs opened before.
        kept: copies of large reports' columns, in the state folder; safe to remove.
        replays: results of replayed ops, in the state folder.
        archiving: what was seen in earlier runs, in the state folder; adds the runs of this session to it.
        skipped: sentences on what the latest search under the roots could not read.
        forgetful: why the run opened last is not on record; None where it is.
    """

    def __init__(self, settings: Settings) -> None:
        self.settings = settings
        self.roots = Roots(settings)
        self.registry = Registry(settings.state_folder, self.roots.permits)
        self.kept = KeptFiles(settings.state_folder / "cache", settings.cache_mb * MB)
        self.archiving = Archiving(settings, settings.archive_folder if settings.archive_at_most_mb else None)
        self.replays = Replays(settings.state_folder / "replays", settings.ttnn, settings.confined)
        self.skipped: tuple[str, ...] = ()
        self.forgetful: str | None = None
        self._runs = OpenRuns()
        self._known = KnownRuns(self.registry)

    def of_client(self, folder: Path) -> Session:
        """A session with names, loops and targets of its own in `folder`; reports that are open are open for all."""
        own = copy.copy(self)
        settings, registry = replace(self.settings, state=folder), Registry(folder, self.roots.permits)
        vars(own).update(settings=settings, registry=registry, _known=KnownRuns(registry, self._known))
        return own

    async def run(self, name_or_path: str | None) -> Run:
        """The run by id, name or path; for None the default run, or the newest one under the roots.

        Raises:
            RunUnknown: there is no such run, several have that name, or its report was overwritten.
            ReportError: the run is there but cannot be read.
        """
        if name_or_path is None:
            return await self._default()
        if name_or_path == DEMO:
            return await self._demo()
        known = await self._by_id(name_or_path) if ID.fullmatch(name_or_path) else None
        known = known or await self._known.named(name_or_path)
        if known is None and await asyncio.to_thread(self._lies_at, name_or_path):
            known = await asyncio.to_thread(self._at, name_or_path)
        known = known or await self._by_derived_name(name_or_path)
        if known is None and os.sep in name_or_path:
            known = await asyncio.to_thread(self._at, name_or_path)  # raises an error with similar names
        if known is None:
            hint = nearest(name_or_path, await self._names())
            raise RunUnknown(f"No run '{shown(name_or_path)}'.{hint} Call list_runs, or give a path.")
        return await self._opened(known)

    async def open(
        self,
        performance: str | None,
        memory: str | None,
        name: str | None = None,
        rank: int | None = None,
        *,
        move_name: bool = False,
    ) -> Run:
        """Pair two reports (either may be None) and remember the pair.

        Args:
            performance: where the performance report lies.
            memory: where the memory report lies.
            name: for people.
            rank: of a memory report with several.
            move_name: whether the name may be taken from another run.

        Raises:
            RunUnknown: neither was given.
            ArgumentsInvalid: the name cannot be a run's, or is another's and may not be moved.
            ReportError: one is missing, foreign or broken.
        """
        if name is not None:
            check_name(name)
        if performance is None and memory is None:
            raise RunUnknown("Nothing to open: give `performance`, `memory` or both, as paths to reports.")
        known = await asyncio.to_thread(self._paired, performance, memory, name, rank)
        return await self._opened(known, move_name=move_name)

    async def named(self, run: Run, name: str, *, move_name: bool = False) -> Run:
        """The run under a name, for people."""
        performance = str(run.performance.csv.path) if run.performance else None
        memory, rank = (str(run.memory.path), run.memory.rank) if run.memory else (None, None)
        return await self.open(performance, memory, name, rank, move_name=move_name)

    @property
    def archive(self) -> Archive | None:
        """What was seen in earlier runs; None where it is switched off."""
        return self.archiving.archive

    @property
    def opened(self) -> tuple[KnownRun, ...]:
        """The runs that this session opened, wherever they lie."""
        return self._known.opened

    async def runs_under_roots(self, identified: int | None = None) -> list[KnownRun]:
        """The runs under the roots, newest first: one per report, or one per folder that holds one of each kind.

        Args:
            identified: for how many of them the id is needed (None means all); it takes reading their files once.
                The ids of the others are "".
        """
        return await asyncio.to_thread(self._runs_under_roots, identified)

    async def _default(self) -> Run:
        settings = self.settings
        if settings.run is not None:
            return await self.run(settings.run)
        if settings.performance is not None or settings.memory is not None:
            return await self.open(settings.performance, settings.memory)
        newest = await asyncio.to_thread(self._newest)
        if newest is None:
            roots = ", ".join(map(shown_path, settings.searched))
            skipped = f" ({self.skipped[0]})" if self.skipped else ""
            raise RunUnknown(
                f"No run given and no report found under {roots}{skipped}. "
                "Give the path of a report, call open_run, or take the run 'demo'."
            )
        unseen = [skipped for skipped in self.skipped[:1] if skipped not in " ".join(newest.caveats)]
        caveats = (*newest.caveats, *(f"taken as the newest, but {skipped}" for skipped in unseen))
        return await self._opened(replace(newest, caveats=caveats))

    async def _demo(self) -> Run:
        known = await asyncio.to_thread(self._paired, *demo_reports(), None, None)
        return await self._opened(
            KnownRun(DEMO, DEMO, known.performance, known.memory, None, None, caveats=(DEMO_CAVEAT,))
        )

    async def _by_id(self, run_id: str) -> KnownRun | None:
        existing = [known for known in await self._known.beginning_with(run_id) if known.is_there]
        ids = [await asyncio.to_thread(identity, known.pair, self.kept) for known in existing]
        matches = {now: known for now, known in zip(ids, existing, strict=True) if now.startswith(run_id)}
        if not matches:
            matches = {known.id: known for known in await self.runs_under_roots() if known.id.startswith(run_id)}
        if not matches and ids:
            raise RunUnknown(
                f"Run {run_id} no longer exists: its report was overwritten, the file now holds run "
                f"{ids[0][:SHOWN_CHARS]}. Give that id if you mean it, or the path of a copy of the old report."
            )
        if len(matches) > 1:
            raise RunUnknown(
                f"{len(matches)} runs have ids that begin with {run_id}. Give one: {', '.join(matches)}."
            )
        return next(iter(matches.values()), None)

    async def _by_derived_name(self, name: str) -> KnownRun | None:
        under_roots = await self.runs_under_roots()
        candidates: dict[Pair, KnownRun] = {}
        for known in (*under_roots, *await self._known.called(name)):
            if known.name == name and known.pair not in candidates and known.is_there:
                candidates[known.pair] = known
        return only_one(name, list(candidates.values()))

    async def _names(self) -> list[str]:
        opened = [known for known in await self._known.all() if known.is_there]
        known_runs = (*await self.runs_under_roots(), *opened)
        return [*(known.shown_id for known in known_runs), *(known.name for known in known_runs), DEMO]

    def _lies_at(self, written: str) -> bool:
        try:
            place = place_of(written)
        except ReportMissing:
            return False
        return self.roots.permits(place) and is_there(place)

    def _at(self, written: str) -> KnownRun:
        """The run at a path. Blocks."""
        return known_run(self.roots.classified(written))

    def _paired(self, performance: str | None, memory: str | None, name: str | None, rank: int | None) -> KnownRun:
        """The run of two paths. Blocks."""
        tables = self.roots.classified(performance) if performance is not None else ()
        databases = self.roots.classified(memory) if memory is not None else tables
        table = next((report for report in tables if report.kind == "performance"), None)
        database = next((report for report in databases if report.kind == "memory"), None)
        if performance is not None and table is None:
            raise ReportMissing(f"{shown(performance)} holds no performance report (ops_perf_results*.csv).")
        if memory is not None and database is None:
            if is_dump(place := place_of(memory)):
                raise refused(place)
            raise ReportMissing(f"{shown(memory)} holds no memory report (db.sqlite).")
        return known_run([report for report in (table, database) if report], name, rank)

    def _pairs(self) -> list[KnownRun]:
        """The runs under the roots, newest first, without ids; reports that share a folder are one run. Blocks.

        A CSV beside a newer one is a run of its own.
        """
        reports, self.skipped = self.roots.reports()
        by_folder: dict[Path, dict[str, FoundReport]] = {}
        for report in reports:
            by_folder.setdefault(report.path if report.older else report.folder, {}).setdefault(report.kind, report)
        return [
            known_run([kinds[kind] for kind in ("performance", "memory") if kind in kinds])
            for kinds in by_folder.values()
        ]

    def _newest(self) -> KnownRun | None:
        pairs = self._pairs()
        return next((known for known in pairs if known.performance), next(iter(pairs), None))

    def _runs_under_roots(self, identified: int | None) -> list[KnownRun]:
        pairs = self._pairs()
        count = len(pairs) if identified is None else min(identified, len(pairs))
        return [*(replace(known, id=identity(known.pair, self.kept)) for known in pairs[:count]), *pairs[count:]]

    async def _opened(self, known: KnownRun, *, move_name: bool = False) -> Run:
        pair = known.pair
        stamps, run_id = await asyncio.to_thread(self._looked_at, pair)
        run_id = DEMO if known.id == DEMO else run_id
        if known.id and known.id != run_id:  # its report was overwritten: the name stays with what got it
            caveat = OVERWRITTEN.format(id=known.shown_id)
            known = replace(known, named_by_hand=False, caveats=(*known.caveats, caveat))
        known = replace(known, id=run_id)
        known, renamed = await self._known.with_name(known, move=move_name)
        shown_id = await self._known.shown_id(run_id)
        opened = await self._runs.run(Opening(run_id, pair, stamps), lambda: self._read(known, stamps))
        alone = self._known.shared is None
        run = opened if alone else copy.copy(opened)  # other clients call it otherwise, and found it otherwise
        run.id, run.name, run.renamed = shown_id, known.name, renamed
        notes = (*run.notes_of_reading, *(run.notes if alone else ()), *known.caveats)
        shared = (SHARED,) if known.named_by_hand and self.settings.confined and alone else ()
        run.notes = tuple(dict.fromkeys((*notes, *shared)))
        self.archiving.note(run)
        run.kept.store(self.replays)
        if run_id != DEMO and not self._known.holds(known):
            self.forgetful = await self._known.remember(known)
            run.notes += (FORGOTTEN.format(why=self.forgetful),) if self.forgetful else ()
        return run

    def _looked_at(self, pair: Pair) -> tuple[Stamps, str]:
        """The stamps and the id of a pair's files as they are now. Blocks."""
        if not self.roots.permits(*pair.paths):
            raise ReportMissing(f"The report {OUTSIDE}")
        return stamps_of(pair), identity(pair, self.kept)

    async def _read(self, known: KnownRun, stamps: Stamps) -> Run:
        run = await read_unchanged(known, stamps, self.kept)
        earlier = [former for former in self._known.opened if former.pair == known.pair and former.id != known.id]
        if earlier:
            run.notes_of_reading = (OVERWRITTEN.format(id=earlier[-1].shown_id),)
        return run
