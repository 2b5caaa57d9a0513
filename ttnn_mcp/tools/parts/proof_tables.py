"""The tables that prove or question a gain: where a change took hold, and what is suspicious."""

from __future__ import annotations

from collections.abc import Sequence

from ttnn_mcp.analyses.comparison.engaged import Engaged
from ttnn_mcp.analyses.comparison.places import LayersReached
from ttnn_mcp.analyses.comparison.reasons import Reason
from ttnn_mcp.wire import Columns, Table

LINES_SHOWN = 4
LAYERS_SHOWN = 8
SUSPICIOUS = Columns("code", "what", "do", quoted=("what",))
ENGAGED = Columns("kind", "op_code", "what", "took", "of", "layers", "missing_ops", quoted=("op_code", "what"))


def suspicious(reasons: Sequence[Reason]) -> Table | None:
    """Why nothing may be called faster; None where nothing is suspicious."""
    return SUSPICIOUS.exact([(reason.code, reason.what, reason.do) for reason in reasons]) if reasons else None


def engaged(changes: Sequence[Engaged], rows: int) -> Table | None:
    """On how many ops alike each change is seen; `missing_ops` are lines of the candidate's file."""
    if not changes:
        return None
    return ENGAGED.exact(
        [
            (
                change.kind,
                change.op,
                change.what,
                change.took,
                change.of,
                _layers(change.layers),
                _some(change.missing, LINES_SHOWN),
            )
            for change in changes[:rows]
        ]
    )


def _layers(reached: LayersReached | None) -> str | None:
    """`24 of 30; missing in 1, 30`, layers counted from 1."""
    if reached is None:
        return None
    missing = f"; missing in {_some(reached.missing, LAYERS_SHOWN)}" if reached.missing else ""
    return f"{reached.took} of {reached.of}{missing}"


def _some(numbers: Sequence[int], most: int) -> str | None:
    """The first numbers, and how many more there are; None where there are none."""
    listed = ", ".join(map(str, numbers[:most]))
    return (f"{listed} and {len(numbers) - most} more" if len(numbers) > most else listed) or None
