"""Which kinds of op made the change between two runs."""

from __future__ import annotations

from typing import Any

MOST_OF = 0.9  # of all that changed, in either direction: what makes less is noise beside it (ours)
MOST_KINDS = 8  # as many as a screen shows at once (ours)


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
