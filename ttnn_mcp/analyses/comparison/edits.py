"""The edits between two windows, as somebody would list them: what is gone, what is new, what became what."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from ttnn_mcp.analyses.comparison.alignment import Edit
    from ttnn_mcp.analyses.comparison.comparison import Comparison

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
    """Ops that became others, the same way in `count` places."""

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


def edits_of(found: Comparison) -> Edits:
    """Fold the edits of a comparison. An op name on both sides of one edit is neither gone nor new."""
    names = found.names(0), found.names(1)
    if found.little_in_common:
        return _by_name(found, names)
    times = found.times[0].tolist(), found.times[1].tolist()
    added: dict[tuple[str, str], Listed] = {}
    removed: dict[tuple[str, str], Listed] = {}
    rewritten: dict[tuple[str, str], Rewritten] = {}
    for edit in found.alignment.edits:
        before, after = [names[0][row] for row in edit.before], [names[1][row] for row in edit.after]
        came, went = _how(edit, before, after)
        for row in _surplus(edit.before, before, after):
            _count(removed, names[0][row], went, row, times[0][row])
        for row in _surplus(edit.after, after, before):
            _count(added, names[1][row], came, row, times[1][row])
        if edit.before and edit.after:
            texts = _spoken(before), _spoken(after)
            one = rewritten.setdefault(texts, Rewritten(*texts, first=edit.after[0]))
            one.count += 1
            one.before_ns += sum(times[0][row] for row in edit.before)
            one.after_ns += sum(times[1][row] for row in edit.after)
    return Edits(
        sorted(added.values(), key=lambda one: -one.ns),
        sorted(removed.values(), key=lambda one: -one.ns),
        sorted(rewritten.values(), key=lambda one: -abs(one.after_ns - one.before_ns)),
    )


def _by_name(found: Comparison, names: tuple[list[str], list[str]]) -> Edits:
    """Names that only one side has; all that can be said of two very different windows."""
    groups = found.groups("op_code")
    new = [one for one in groups if not one.before_count]
    gone = [one for one in groups if not one.after_count]
    return Edits(
        [Listed(one.key, "new", names[1].index(one.key), one.after_count, one.after_ns) for one in new],
        [Listed(one.key, "gone", names[0].index(one.key), one.before_count, one.before_ns) for one in gone],
        [],
    )


def _how(edit: Edit, before: Sequence[str], after: Sequence[str]) -> tuple[str, str]:
    """(how the new ones came, how the old ones went)."""
    into, out_of = _spoken(after), _spoken(before)
    match edit.kind:
        case "fused":
            return f"fused from {out_of}", f"fused into {into}"
        case "split":
            return f"split from {out_of}", f"split into {into}"
        case "replaced":
            return f"replaces {out_of}", f"replaced by {into}"
        case _:
            return "inserted", "removed"


def _surplus(rows: Sequence[int], own: Sequence[str], other: Sequence[str]) -> list[int]:
    """Rows whose name the other side has fewer of; the last ones, as the first keep their place."""
    more = Counter(own) - Counter(other)
    kept: list[int] = []
    for row, name in zip(reversed(rows), reversed(own), strict=True):
        if more[name]:
            more[name] -= 1
            kept.append(row)
    return kept[::-1]


def _count(listed: dict[tuple[str, str], Listed], op: str, how: str, row: int, ns: int) -> None:
    one = listed.setdefault((op, how), Listed(op, how, row))
    one.count += 1
    one.ns += ns


def _spoken(names: Iterable[str]) -> str:
    """`3 Matmul + Reshape`, in order, repeats counted."""
    counts = Counter(names)
    parts = [f"{count} {name}" if count > 1 else name for name, count in counts.items()]
    more = [f"{len(parts) - PARTS_NAMED} more"] if len(parts) > PARTS_NAMED else []
    return " + ".join([*parts[:PARTS_NAMED], *more])
