"""The ops behind a turn: what took more or less time after it, and whether they were still the same ops."""

# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false, reportUnknownArgumentType=false

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Sequence

    import pandas as pd

    from ttnn_mcp.archive.turns import Course, Turn

NEAR = 5  # runs on either side of a turn whose median counts
SHOWN = 4  # ops named per turn
MINOR = 0.05  # of the turn: a smaller change of an op is noise beside it, or hardly behind it


class Behind(NamedTuple):
    """An op that took more or less time after a turn.

    Attributes:
        op_code: its name.
        before_us: its time per run and device before, the median of some runs.
        after_us: the same after.
        how: what changed in it.
        line: where it first stands in the run at the turn; None where it is gone.
    """

    op_code: str
    before_us: float
    after_us: float
    how: str
    line: int | None


def behind(
    work: pd.DataFrame, places: Sequence[int], turn: Turn, course: Course, devices: int
) -> tuple[Behind, ...]:
    """The ops whose time changed most at a turn, the largest change first.

    Args:
        work: ops, kernel time and first line by run, signature and settings.
        places: the runs of the series, in order, by their number in `work`.
        turn: the turn, by place in the series.
        course: the whole series' course: another turn ends the runs that count.
        devices: of each run.
    """
    edges = [0, *(each.at for each in course.turns), len(places)]
    start = max(edge for edge in edges if edge < turn.at)
    end = min(edge for edge in edges if edge > turn.at)
    before = places[max(start, turn.at - NEAR) : turn.at]
    after = places[turn.at : min(end, turn.at + NEAR)]
    sides = [work[work["run"].isin(list(runs))] for runs in (before, after)]
    times = [_per_run(side, runs, devices) for side, runs in zip(sides, (before, after), strict=True)]
    changes = times[1].sub(times[0], fill_value=0.0)
    sizes = changes.abs().sort_values(ascending=False, kind="stable")[:SHOWN]
    order = sizes.index[sizes >= min(MINOR * abs(float(changes.sum())), float(sizes.max()))]
    at_turn = sides[1][sides[1]["run"] == places[turn.at]]
    changed: list[Behind] = []
    for op_code in order:
        first, second = (side[side["op_code"] == op_code] for side in sides)
        lines = at_turn.loc[at_turn["op_code"] == op_code, "line"]
        changed.append(
            Behind(
                str(op_code),
                float(times[0].get(op_code, 0.0)),
                float(times[1].get(op_code, 0.0)),
                _how(first, second),
                int(lines.min()) if len(lines) else None,
            )
        )
    return tuple(each for each in changed if each.before_us != each.after_us)


def _per_run(side: pd.DataFrame, runs: Sequence[int], devices: int) -> pd.Series:
    """Per op, the median of its time over these runs; 0 in a run without it."""
    table = side.pivot_table(index="op_code", columns="run", values="kernel_us", aggfunc="sum", observed=True)
    return table.reindex(columns=list(runs)).fillna(0.0).median(axis=1) / max(devices, 1)


def _how(before: pd.DataFrame, after: pd.DataFrame) -> str:
    """What changed in an op: there at all, its operands, how often, its settings; else only its time."""
    if not len(before) or not len(after):
        return "gone" if len(after) == 0 else "new"
    if set(before["signature"]) != set(after["signature"]):
        return "other shapes, formats or placements"
    if before.groupby("run")["ops"].sum().median() != after.groupby("run")["ops"].sum().median():
        return "another number of ops"
    settings = [
        set(side[["signature", "settings_hash"]].itertuples(index=False, name=None)) for side in (before, after)
    ]
    return "other settings" if settings[0] != settings[1] else "same ops and settings"
