"""Names of runs. An id stands for contents; a name is for people, and can never be mistaken for an id."""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from itertools import islice
from pathlib import Path

from ttnn_mcp.errors import SHOWN_NAME_CHARS, ArgumentsInvalid, RunUnknown, shown, shown_path
from ttnn_mcp.readers.discover import FoundReport
from ttnn_mcp.session.registry import ID, KnownRun

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
