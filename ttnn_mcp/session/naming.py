"""What runs are called: an id is of contents, a name is for people and never hides an id."""

from __future__ import annotations

import os
from itertools import islice
from typing import TYPE_CHECKING

from ttnn_mcp.errors import SHOWN_NAME_CHARS, ArgumentsInvalid, RunUnknown, shown, shown_path
from ttnn_mcp.session.registry import ID

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ttnn_mcp.readers.discover import FoundReport
    from ttnn_mcp.session.registry import Known

DEMO = "demo"
LISTED = 5  # runs an error tells apart
LOOKED_AT = 1000  # files beside a report


def check_name(name: str) -> None:
    """Refuse a name that could be taken for something else, or that no answer has room for.

    Raises:
        ArgumentsInvalid: it is the demo's, looks like an id, is too long or cannot be shown.
    """
    if name == DEMO:
        raise ArgumentsInvalid(f"The name '{DEMO}' is the bundled run's. Choose another.")
    if ID.fullmatch(name):
        raise ArgumentsInvalid(f"The name '{name}' could be a run's id. Add a dash or another letter.")
    if len(name) > SHOWN_NAME_CHARS:
        raise ArgumentsInvalid(f"The name has {len(name)} characters; {SHOWN_NAME_CHARS} are the most.")
    if not name.strip() or shown(name) != name:
        raise ArgumentsInvalid("The name is blank or has characters that cannot be seen. Choose plain text.")


def name_of(reports: Sequence[FoundReport]) -> str:
    """A run's name from its folders (`<name>/<timestamp>`), and from its file where a folder holds several."""
    first = reports[0]
    if first.kind == "performance" and _several_tables(first):
        return shown(f"{first.name}/{first.path.stem}")
    return shown(first.name)


def _several_tables(report: FoundReport) -> bool:
    try:
        with os.scandir(report.folder) as listing:
            tables = [entry for entry in islice(listing, LOOKED_AT) if entry.name.endswith(".csv")]
    except (OSError, ValueError):
        return False
    return len(tables) > 1


def only_one(name: str, candidates: Sequence[Known]) -> Known | None:
    """The run called `name` among those that are; a pair counts for each of its reports alone.

    Raises:
        RunUnknown: several are; lists their ids.
    """
    pairs = {each.performance for each in candidates if each.memory is not None}
    runs = {each.id: each for each in candidates if each.memory is not None or each.performance not in pairs}
    if len(runs) < 2:
        return next(iter(runs.values()), None)
    told = [f"{run_id} at {shown_path(each.pair.paths[0].parent)}" for run_id, each in runs.items()]
    more = f" and {len(told) - LISTED} more" if len(told) > LISTED else ""
    raise RunUnknown(f"{len(told)} runs are called '{shown(name)}': {', '.join(told[:LISTED])}{more}. Give an id.")
