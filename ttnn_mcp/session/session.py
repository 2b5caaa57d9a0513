"""What lives between calls: the roots, the default run, and the runs opened so far.

What a caller writes for a run is read in this order: `demo`; an id; a name that a person gave; a path; a name that
comes from folders. An id stands for contents: where a report was overwritten, its old id is an error that tells the
new one, for whoever asks by id means those numbers. A path or a name stands for what lies there now.
"""

from __future__ import annotations

import asyncio
import os
from dataclasses import replace
from typing import TYPE_CHECKING

from ttnn_mcp.errors import ReportBroken, ReportMissing, RunUnknown, nearest, shown
from ttnn_mcp.session.naming import DEMO, check_name, name_of, only_one
from ttnn_mcp.session.open_runs import Opening, OpenRuns
from ttnn_mcp.session.pair import Pair, identity, stamps_of
from ttnn_mcp.session.places import OUTSIDE, Roots, demo_reports, is_there, place_of
from ttnn_mcp.session.registry import ID, Known, Registry
from ttnn_mcp.session.settings import Settings

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from ttnn_mcp.readers.discover import FoundReport
    from ttnn_mcp.run.run import Run
    from ttnn_mcp.session.pair import Stamps

__all__ = ["DEMO", "Pair", "Session", "Settings", "identity"]


class Session:
    """The runs one server, or one shell call, can speak of.

    Attributes:
        skipped: what the latest look under the roots could not look at.
    """

    def __init__(self, settings: Settings) -> None:
        self.settings = settings
        self.roots = Roots(settings)
        self.registry = Registry(settings.state_folder, self.roots.permits)
        self.skipped: tuple[str, ...] = ()
        self._runs = OpenRuns()
        self._known: dict[str, Known] = {}  # opened here, by id; the registry may not be writable

    async def run(self, wanted: str | None) -> Run:
        """The run by id, name or path; without any, the default or the newest found.

        Raises:
            RunUnknown: no such run, several of that name, or another one by now.
            ReportError: it is there and cannot be read.
        """
        if wanted is None:
            return await self._default()
        if wanted == DEMO:
            return await self._demo()
        known = await self._by_id(wanted) if ID.fullmatch(wanted) else None
        known = known or await self._by_given_name(wanted)
        if known is None and await asyncio.to_thread(self._lies_at, wanted):
            known = await asyncio.to_thread(self._at, (wanted,))
        known = known or await self._by_derived_name(wanted)
        if known is None and os.sep in wanted:
            known = await asyncio.to_thread(self._at, (wanted,))  # says what is near
        if known is None:
            raise RunUnknown(
                f"No run '{shown(wanted)}'.{nearest(wanted, await self._names())} Call list_runs, or give a path."
            )
        return await self._opened(known)

    async def open(
        self, performance: str | None, memory: str | None, name: str | None = None, rank: int | None = None
    ) -> Run:
        """Pair two reports (either may be None) and remember the pair.

        Raises:
            RunUnknown: neither was given.
            ArgumentsInvalid: the name cannot be a run's.
            ReportError: one is missing, foreign or broken.
        """
        if name is not None:
            check_name(name)
        if performance is None and memory is None:
            raise RunUnknown("Nothing to open: give `performance`, `memory` or both, as paths to reports.")
        known = await asyncio.to_thread(self._paired, performance, memory, name, rank)
        return await self._opened(known)

    async def found(self, identified: int | None = None) -> list[Known]:
        """Reports under the roots, newest first; one run per report, or per folder holding one of each.

        Args:
            identified: how many of them need their id, which costs reading the files once; the others have "".
        """
        return await asyncio.to_thread(self._found, identified)

    async def _default(self) -> Run:
        settings = self.settings
        if settings.run is not None:
            return await self.run(settings.run)
        if settings.performance is not None or settings.memory is not None:
            return await self.open(settings.performance, settings.memory)
        newest = await asyncio.to_thread(self._newest)
        if newest is None:
            where = ", ".join(shown(root) for root in settings.searched)
            skipped = f" ({self.skipped[0]})" if self.skipped else ""
            raise RunUnknown(
                f"No run given and no report found under {where}{skipped}. "
                "Give `run` a path, call open_run, or try run='demo'."
            )
        return await self._opened(newest)

    async def _demo(self) -> Run:
        known = await asyncio.to_thread(self._paired, *demo_reports(), None, None)
        return await self._opened(Known(DEMO, DEMO, known.performance, known.memory, None, None))

    async def _by_id(self, wanted: str) -> Known | None:
        opened = [self._known[wanted]] if wanted in self._known else await self.registry.with_id(wanted)
        there = [each for each in opened if all(map(is_there, each.pair.paths))]
        now = [await asyncio.to_thread(identity, each.pair) for each in there]
        if wanted in now:
            return there[now.index(wanted)]
        moved = next((each for each in await self.found() if each.id == wanted), None)
        if moved is None and now:
            raise RunUnknown(
                f"Run {wanted} is no more: its report was overwritten, the file now holds run {now[0]}. "
                "Give that id if you mean it, or the path of a copy of the old report."
            )
        return moved

    async def _by_given_name(self, wanted: str) -> Known | None:
        for known in (*self._known.values(), *await self.registry.called(wanted)):
            if known.given and known.name == wanted and all(map(is_there, known.pair.paths)):
                return known
        return None

    async def _by_derived_name(self, wanted: str) -> Known | None:
        under_roots = await self.found()
        candidates: dict[Pair, Known] = {}
        for known in (*under_roots, *self._known.values(), *await self.registry.called(wanted)):
            if known.name == wanted and known.pair not in candidates and all(map(is_there, known.pair.paths)):
                candidates[known.pair] = known
        return only_one(wanted, list(candidates.values()))

    async def _names(self) -> list[str]:
        everything = (*await self.found(), *await self.registry.all(), *self._known.values())
        return [*(each.id for each in everything), *(each.name for each in everything), DEMO]

    def _lies_at(self, written: str) -> bool:
        try:
            place = place_of(written)
        except ReportMissing:
            return False
        return self.roots.permits(place) and is_there(place)

    def _at(self, written: tuple[str, ...], name: str | None = None, rank: int | None = None) -> Known:
        """The run at a path, or at two of which each is to give its kind of report. Blocks."""
        return self._known_of([report for each in written for report in self.roots.classified(each)], name, rank)

    def _paired(self, performance: str | None, memory: str | None, name: str | None, rank: int | None) -> Known:
        """The run of two paths. Blocks."""
        tables = self.roots.classified(performance) if performance is not None else ()
        databases = self.roots.classified(memory) if memory is not None else tables
        table = next((report for report in tables if report.kind == "performance"), None)
        database = next((report for report in databases if report.kind == "memory"), None)
        if performance is not None and table is None:
            raise ReportMissing(f"{shown(performance)} holds no performance report (ops_perf_results*.csv).")
        if memory is not None and database is None:
            raise ReportMissing(f"{shown(memory)} holds no memory report (db.sqlite).")
        return self._known_of([report for report in (table, database) if report], name, rank)

    def _known_of(self, reports: Sequence[FoundReport], name: str | None = None, rank: int | None = None) -> Known:
        """One report, or one of each kind, as a run whose id is not looked up yet."""
        paths: dict[str, Path] = {report.kind: report.path for report in reports}
        caveats = tuple(caveat for report in reports for caveat in report.caveats)
        newest = max(report.modified for report in reports)
        return Known(
            "",
            name or name_of(reports),
            paths.get("performance"),
            paths.get("memory"),
            rank,
            newest,
            given=name is not None,
            caveats=caveats,
        )

    def _pairs(self) -> list[Known]:
        """The runs under the roots, newest first, without their ids; reports that share a folder are one run."""
        reports, self.skipped = self.roots.reports()
        by_folder: dict[Path, dict[str, FoundReport]] = {}
        for report in reports:
            by_folder.setdefault(report.folder, {}).setdefault(report.kind, report)
        return [
            self._known_of([kinds[kind] for kind in ("performance", "memory") if kind in kinds])
            for kinds in by_folder.values()
        ]

    def _newest(self) -> Known | None:
        pairs = self._pairs()
        return next((each for each in pairs if each.performance), next(iter(pairs), None))

    def _found(self, identified: int | None) -> list[Known]:
        pairs = self._pairs()
        named = len(pairs) if identified is None else min(identified, len(pairs))
        return [*(replace(each, id=identity(each.pair)) for each in pairs[:named]), *pairs[named:]]

    async def _opened(self, known: Known) -> Run:
        pair = known.pair
        stamps, run_id = await asyncio.to_thread(self._looked_at, pair)
        run_id = DEMO if known.id == DEMO else run_id
        known = self._with_name(replace(known, id=run_id))
        run = await self._runs.run(Opening(run_id, pair, stamps), lambda: self._read(known, stamps))
        run.name = known.name
        run.notes = tuple(dict.fromkeys((*run.notes, *known.caveats)))
        if run_id != DEMO and self._known.get(run_id) != known:
            self._known[run_id] = known
            await self.registry.remember(known)
        return run

    def _looked_at(self, pair: Pair) -> tuple[Stamps, str]:
        """What a pair's files are now. Blocks."""
        if not self.roots.permits(*pair.paths):
            raise ReportMissing(f"The report {OUTSIDE}")
        return stamps_of(pair), identity(pair)

    def _with_name(self, known: Known) -> Known:
        """The run with the name it was given before, if it brings none; a name given now is taken from others."""
        if known.given:
            for other in [each for each in self._known.values() if each.given and each.name == known.name]:
                self._known[other.id] = replace(other, name=other.id, given=False)
            return known
        earlier = self._known.get(known.id)
        return replace(known, name=earlier.name, given=True) if earlier and earlier.given else known

    async def _read(self, known: Known, stamps: Stamps) -> Run:
        from ttnn_mcp.session.opening import read_run  # noqa: PLC0415 - numpy and pandas load with the first report

        try:
            run = await read_run(known.id, known.name, known.performance, known.memory, known.rank)
        except MemoryError:
            raise ReportBroken(
                f"Memory ran short while run '{shown(known.name)}' was read. Ask again when other questions are "
                "answered, or on a machine with more of it."
            ) from None
        if await asyncio.to_thread(stamps_of, known.pair) != stamps:
            raise ReportBroken(
                f"The report of run '{shown(known.name)}' changed while it was read. Wait until the run has ended, "
                "then ask again."
            )
        earlier = [each for each in self._known.values() if each.pair == known.pair and each.id != known.id]
        if earlier:
            run.notes = (f"the report was overwritten: before, its file held run {earlier[-1].id}",)
        return run
