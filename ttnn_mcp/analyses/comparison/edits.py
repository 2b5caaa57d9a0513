"""The edits between two windows as lists: ops that are gone, ops that are new, and ops that became others."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from ttnn_mcp.analyses.comparison.alignment import Rewrite
from ttnn_mcp.analyses.comparison.comparison import Comparison
from ttnn_mcp.records import dataclass

PARTS_NAMED = 4


@dataclass(slots=True)
class Listed:
    """Ops of one side that are gone or new in the same way; `first` is the row of the first."""

    op: str
    how: str
    first: int
    count: int = 0
    ns: int = 0


@dataclass(slots=True)
class Rewritten:
    """Ops that became other ops in the same way, in `count` places; `first` is the row of the first one after."""

    before: str
    after: str
    first: int
    count: int = 0
    before_ns: int = 0
    after_ns: int = 0


class Edits(NamedTuple):
    """All edits, each list with the most time first."""

    added: list[Listed]
    removed: list[Listed]
    rewritten: list[Rewritten]


def edits_of(comparison: Comparison) -> Edits:
    """The edits of a comparison, equal ones together. An op name on both sides of an edit is neither gone nor new."""
    names = comparison.names(0), comparison.names(1)
    if comparison.little_in_common:
        return _by_name(comparison, names)
    times = comparison.times[0].tolist(), comparison.times[1].tolist()
    added: dict[tuple[str, str], Listed] = {}
    removed: dict[tuple[str, str], Listed] = {}
    rewritten: dict[tuple[str, str], Rewritten] = {}
    for edit in comparison.alignment.edits:
        before, after = [names[0][row] for row in edit.before], [names[1][row] for row in edit.after]
        how_new, how_gone = _how(edit, before, after)
        for row in _surplus(edit.before, before, after):
            _count(removed, names[0][row], how_gone, row, times[0][row])
        for row in _surplus(edit.after, after, before):
            _count(added, names[1][row], how_new, row, times[1][row])
        if edit.before and edit.after:
            descriptions = listed_ops(before), listed_ops(after)
            rewrite = rewritten.setdefault(descriptions, Rewritten(*descriptions, first=edit.after[0]))
            rewrite.count += 1
            rewrite.before_ns += sum(times[0][row] for row in edit.before)
            rewrite.after_ns += sum(times[1][row] for row in edit.after)
    return Edits(
        sorted(added.values(), key=lambda entry: -entry.ns),
        sorted(removed.values(), key=lambda entry: -entry.ns),
        sorted(rewritten.values(), key=lambda entry: -abs(entry.after_ns - entry.before_ns)),
    )


def _by_name(comparison: Comparison, names: tuple[list[str], list[str]]) -> Edits:
    """The names that only one side has: nothing more is known about two very different windows."""
    groups = comparison.groups("op_code")
    new = [group for group in groups if not group.before_count]
    gone = [group for group in groups if not group.after_count]
    return Edits(
        [Listed(group.key, "new", names[1].index(group.key), group.after_count, group.after_ns) for group in new],
        [
            Listed(group.key, "gone", names[0].index(group.key), group.before_count, group.before_ns)
            for group in gone
        ],
        [],
    )


def _how(edit: Rewrite, before: Sequence[str], after: Sequence[str]) -> tuple[str, str]:
    """How the new ops came about, and how the old ones disappeared, in words."""
    after_text, before_text = listed_ops(after), listed_ops(before)
    match edit.kind:
        case "fused":
            return f"fused from {before_text}", f"fused into {after_text}"
        case "split":
            return f"split from {before_text}", f"split into {after_text}"
        case "replaced":
            return f"replaces {before_text}", f"replaced by {after_text}"
        case _:
            return "inserted", "removed"


def _surplus(rows: Sequence[int], names: Sequence[str], other_names: Sequence[str]) -> list[int]:
    """The rows whose name occurs more often than on the other side: of each name the last ones."""
    more = Counter(names) - Counter(other_names)
    surplus_rows: list[int] = []
    for row, name in zip(reversed(rows), reversed(names), strict=True):
        if more[name]:
            more[name] -= 1
            surplus_rows.append(row)
    return surplus_rows[::-1]


def _count(listed: dict[tuple[str, str], Listed], op: str, how: str, row: int, ns: int) -> None:
    entry = listed.setdefault((op, how), Listed(op, how, row))
    entry.count += 1
    entry.ns += ns


def listed_ops(names: Iterable[str]) -> str:
    """The names in order, with their counts: `3 Matmul + Reshape`."""
    counts = Counter(names)
    parts = [f"{count} {name}" if count > 1 else name for name, count in counts.items()]
    more = [f"{len(parts) - PARTS_NAMED} more"] if len(parts) > PARTS_NAMED else []
    return " + ".join([*parts[:PARTS_NAMED], *more])
