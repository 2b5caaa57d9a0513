"""The runs that a session knows, those that it opened and those on record, by id and by name.

An id stands for contents; a name is for people, and can never be mistaken for an id. A name is one run's, and a run has
one name: whoever takes a name from a run has to say so.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from dataclasses import replace
from itertools import islice
from pathlib import Path

from ttnn_mcp.errors import SHOWN_NAME_CHARS, ArgumentsInvalid, RunUnknown, shown, shown_path
from ttnn_mcp.readers.discover import FoundReport
from ttnn_mcp.session.registry import ID, SHOWN_CHARS, KnownRun, Registry

DEMO = "demo"
LISTED = 5  # runs that an error lists
LOOKED_AT = 1000  # files of a report's folder


def check_name(name: str) -> None:
    """Refuse a name that could be taken for something else, or that is too long for an answer.

    Raises:
        ArgumentsInvalid: it is the demo's, looks like an id, is too long or cannot be shown.
    """
    if name == DEMO:
        raise ArgumentsInvalid(f"The name '{DEMO}' belongs to the bundled run. Choose another.")
    if ID.fullmatch(name):
        raise ArgumentsInvalid(f"The name '{name}' could be a run's id. Add a dash or another letter.")
    if is_too_long(name):
        raise ArgumentsInvalid(f"The name has {len(name)} characters; at most {SHOWN_NAME_CHARS} are allowed.")
    if not name.strip() or shown(name) != name:
        raise ArgumentsInvalid("The name is blank or has characters that cannot be seen. Choose plain text.")


def run_name(reports: Sequence[FoundReport]) -> str:
    """A run's name from its folders (`<name>/<timestamp>`), with the file's name where the folder holds several."""
    first = reports[0]
    if first.kind == "performance" and _several_tables(first):
        return shown(f"{first.name}/{first.path.stem}")
    return shown(first.name)


def known_run(reports: Sequence[FoundReport], name: str | None = None, rank: int | None = None) -> KnownRun:
    """One report, or one of each kind, as a run; its id is not known yet and stays empty."""
    paths: dict[str, Path] = {report.kind: report.path for report in reports}
    return KnownRun(
        "",
        name or run_name(reports),
        paths.get("performance"),
        paths.get("memory"),
        rank,
        max(report.modified for report in reports),
        named_by_hand=name is not None,
        caveats=tuple(caveat for report in reports for caveat in report.caveats),
    )


def _several_tables(report: FoundReport) -> bool:
    try:
        with os.scandir(report.folder) as listing:
            tables = (entry for entry in islice(listing, LOOKED_AT) if entry.name.endswith(".csv"))
            return len(tuple(islice(tables, 2))) > 1  # asked for each of them: a folder may hold 25,000
    except (OSError, ValueError):
        return False


def is_too_long(name: str) -> bool:
    """Whether no run can be called this; most paths are."""
    return len(name) > SHOWN_NAME_CHARS


def given(name: str, runs: Iterable[KnownRun]) -> KnownRun | None:
    """The run to which a person gave this name; of several records one whose reports lie where they lay."""
    named = [run for run in runs if run.named_by_hand and run.name == name]
    return next((run for run in named if run.is_there), next(iter(named), None))


def only_one(name: str, candidates: Sequence[KnownRun]) -> KnownRun | None:
    """The only run among the candidates; None if there is none.

    Where one candidate is a pair of reports, a candidate that is only this performance report is the same run.

    Raises:
        RunUnknown: several runs have this name; lists their ids.
    """
    pairs = {run.performance for run in candidates if run.memory is not None}
    runs = {run.shown_id: run for run in candidates if run.memory is not None or run.performance not in pairs}
    if len(runs) < 2:
        return next(iter(runs.values()), None)
    locations = [f"{run_id} at {shown_path(run.pair.paths[0].parent)}" for run_id, run in runs.items()]
    more = f" and {len(locations) - LISTED} more" if len(locations) > LISTED else ""
    raise RunUnknown(
        f"{len(locations)} runs are called '{shown(name)}': {', '.join(locations[:LISTED])}{more}. Give an id."
    )


class KnownRuns:
    """They, and who has which name.

    Attributes:
        registry: the record of runs opened before.
        shared: those of the whole server, where these are a client's: their names are known here too.
    """

    def __init__(self, registry: Registry, shared: KnownRuns | None = None) -> None:
        self.registry = registry
        self.shared = shared
        self._opened: dict[str, KnownRun] = {}  # in this session, by id: the registry may be read-only
        self._short: dict[str, str] = {}  # ids that are shown in full, since another begins alike

    @property
    def opened(self) -> tuple[KnownRun, ...]:
        """The runs that this session opened, wherever they lie."""
        return tuple(self._opened.values())

    async def all(self) -> tuple[KnownRun, ...]:
        """Those on record and those opened."""
        return (*await self.registry.all(), *self.opened)

    async def beginning_with(self, run_id: str) -> list[KnownRun]:
        """Those whose id begins so."""
        opened = [known for known in self.opened if known.id.startswith(run_id)]
        opened = opened or await self.registry.with_id(run_id)
        return opened or ([] if self.shared is None else await self.shared.registry.with_id(run_id))

    async def called(self, name: str) -> tuple[KnownRun, ...]:
        """Those opened, and those on record that are called so."""
        return (*self.opened, *await self.registry.called(name))

    async def named(self, name: str) -> KnownRun | None:
        """The run to which a person gave this name."""
        if is_too_long(name):  # unmoved: it only saves a look at the record
            return None
        known = given(name, await self.called(name))
        if known is not None and not known.is_there:  # a folder of that name is not what was meant
            raise RunUnknown(
                f"Run {known.shown_id}, called '{name}', is gone: {shown_path(known.pair.paths[0])} is not there. Give "
                f"the name to another: open_run with move_name=true, or at a shell `ttnn-mcp baseline {name} PATH`."
            )
        if known is None and self.shared is not None:
            known = await self.shared.named(name)
            caveats = (f"the name '{name}' is shared by all clients of this server",)
            return replace(known, named_by_hand=False, caveats=caveats) if known else None  # it stays the server's
        return known

    async def with_name(self, known: KnownRun, *, move: bool) -> tuple[KnownRun, str]:
        """The run with the name that a person gave it, now or before; and what lost its name by that, in words.

        Raises:
            ArgumentsInvalid: the name is another run's, or the run has another name, and neither may be moved.
        """
        if not known.named_by_hand:
            earlier = self._opened.get(known.id, known)
            return replace(known, name=earlier.name, named_by_hand=True) if earlier.named_by_hand else known, ""
        theirs = await self.shared.owner_of(known) if self.shared else None
        if theirs is not None:
            raise ArgumentsInvalid(
                f"The name '{known.name}' is run {theirs.shown_id}'s for all clients of this server. Choose another."
            )
        owner = await self.owner_of(known)
        if owner is not None and not move:
            raise ArgumentsInvalid(
                f"The name '{known.name}' is run {owner.shown_id}'s. Choose another, or "
                f"move it: move_name=true, or at a shell `ttnn-mcp baseline {known.name} PATH`."
            )
        lost = await self._name_before(known)
        if lost and not move:
            raise ArgumentsInvalid(
                f"The run is called '{lost}', and a run has one name. Ask by that, or move it: move_name=true, or at "
                f"a shell `ttnn-mcp baseline {known.name} PATH`; then no run is called '{lost}'."
            )
        for former in self.opened:
            if former.named_by_hand and former.name == known.name:
                self._opened[former.id] = replace(former, name=former.shown_id, named_by_hand=False)
        moved = [f"the name '{known.name}' was run {owner.shown_id}'s until now"] if owner else []
        moved += [f"the run was called '{lost}' until now, and none is any more"] if lost else []
        return known, "; ".join(moved)

    async def owner_of(self, known: KnownRun) -> KnownRun | None:
        """The other run that has the name which a person gives this one; None where it is free."""
        holders = await self.called(known.name)
        return next((run for run in holders if _is_another(run, known)), None)

    async def _name_before(self, known: KnownRun) -> str:
        """The name that a person gave this run before it gets another; empty where it has none."""
        runs = (*self.opened, *await self.registry.with_id(known.id))
        return next(
            (run.name for run in runs if run.id == known.id and run.named_by_hand and run.name != known.name), ""
        )

    async def shown_id(self, run_id: str) -> str:
        """As much of an id as no other run begins with."""
        short = run_id[:SHOWN_CHARS]
        if run_id == DEMO or run_id in self._opened:  # unmoved: it only saves a look at the record
            return self._short.get(run_id, short)
        others = [*self._opened, *(known.id for known in await self.registry.with_id(short))]
        if any(other.startswith(short) and other != run_id for other in others):
            self._short[run_id] = run_id
        return self._short.get(run_id, short)

    def holds(self, known: KnownRun) -> bool:
        """Whether this session opened it as it is."""
        return self._opened.get(known.id) == known

    async def remember(self, known: KnownRun) -> str | None:
        """Keep it, also on record; why it is not on record, None where it is."""
        self._opened[known.id] = known
        return await self.registry.remember(known)


def _is_another(run: KnownRun, known: KnownRun) -> bool:
    """Whether a person gave `run`, which is another one, the name of `known`."""
    return run.named_by_hand and run.name == known.name and known.id != run.id
