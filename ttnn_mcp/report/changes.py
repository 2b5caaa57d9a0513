"""Which kinds of op made the change between two runs."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ttnn_mcp.report.kinds import short, signed
from ttnn_mcp.report.markup import number, percent

if TYPE_CHECKING:
    from collections.abc import Sequence

MOST_OF = 0.9  # of all that changed, in either direction: what makes less is noise beside it (ours)
MOST_KINDS = 8  # as many as a screen shows at once (ours)
NAMED = 2  # in a sentence


def makers(groups: dict[str, Any]) -> list[list[Any]]:
    """The groups of compare_runs that together make most of the change, the largest first."""
    rows = sorted(groups["rows"], key=lambda row: -abs(row[3]))
    wanted = MOST_OF * sum(abs(row[3]) for row in rows)
    chosen: list[list[Any]] = []
    for row in rows[:MOST_KINDS]:
        if sum(abs(one[3]) for one in chosen) >= wanted:
            break
        chosen.append(row)
    return chosen


def change_words(chosen: Sequence[Sequence[Any]]) -> str:
    """'most by Matmul -30 us and Unary +2 us'; nothing where nothing changed."""
    named = " and ".join(f"{short(row[0])} {signed(row[3])} us" for row in chosen[:NAMED])
    return f"most by {named}" if named else ""


def totals(comparison: dict[str, Any]) -> str:
    """Both totals in a sentence, and what made most of the difference."""
    kernel, made = comparison["kernel_ms"], change_words(makers(comparison["groups"]))
    share = percent(comparison["change_share"])
    change = f"Kernel time {number(kernel['before'])} -> {number(kernel['after'])} ms ({share})"
    return f"{change}, {made}." if made else f"{change}."
