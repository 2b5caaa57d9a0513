"""The history of a model or of one op: its time in each run, where it turned, and the ops behind each turn.

Behind a turn are the ops that took more or less time after it, and whether they were still the same ops.
"""

# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false, reportUnknownArgumentType=false

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Literal, NamedTuple

from ttnn_mcp.archive.engine import failing_as_ours
from ttnn_mcp.archive.past_runs import (
    PastRun,
    counts_by,
    kin_of,
    past_run,
    run_named,
    runs_alike,
    runs_elsewhere,
    work_of,
)
from ttnn_mcp.archive.rows import rows_of
from ttnn_mcp.archive.turns import Course, course_of
from ttnn_mcp.errors import QuestionRefused, RunUnknown, shown

if TYPE_CHECKING:
    import pandas as pd
    from duckdb import DuckDBPyConnection

    from ttnn_mcp.archive.rows import RunRows
    from ttnn_mcp.archive.store import Archive
    from ttnn_mcp.archive.turns import Turn
    from ttnn_mcp.run.run import Run

NEAR = 5  # runs on either side of a turn whose median counts
SHOWN = 4  # ops named per turn
MINOR = 0.05  # of the turn: a smaller change of an op is noise beside it, or hardly behind it


class Behind(NamedTuple):
    """An op that took more or less time after a turn.

    Attributes:
        op_code: its name.
        before_us: its time per run and device before, the median of some runs; in an op's own history its mean.
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


Measure = Literal["kernel", "window"]


class Turned(NamedTuple):
    """A turn of a history.

    Attributes:
        of: kernel time, or the whole window with its gaps.
        turn: where, as a place in `History.runs`.
        ops: what is behind a turn of the kernel time, by op.
    """

    of: Measure
    turn: Turn
    ops: tuple[Behind, ...]


class History(NamedTuple):
    """A model's or an op's time over runs.

    Attributes:
        subject: the run that was asked for.
        op_code: the op; None for the whole model.
        runs: the runs, oldest first.
        times_us: the time in each: the kernel time of the window, or the op's mean.
        course: how the times went.
        turns: where they turned, in order.
        through: how many runs are alike only to others of them.
        unsure: runs that may be of the same model; ops cannot tell.
        elsewhere: how many runs did the heaviest work at another clock or on other devices.
        doubtful: runs of the same model or op whose times are in doubt; no other attribute counts them.
    """

    subject: PastRun
    op_code: str | None
    runs: tuple[PastRun, ...]
    times_us: tuple[float, ...]
    course: Course
    turns: tuple[Turned, ...]
    through: int
    unsure: tuple[PastRun, ...]
    elsewhere: int
    doubtful: tuple[PastRun, ...] = ()


def history_of(archive: Archive, run: Run | str, line: int | None) -> History:
    """The history of an open run, or of the newest one in the archive by that name; of the op at `line` if given.

    Raises:
        ArchiveUnusable: the archive cannot be read.
        RunUnknown: the archive has no run of that name.
        QuestionRefused: the run has no device times or no known clock, or no op is at that line.
    """
    fresh = None if isinstance(run, str) else rows_of(run)

    def asked() -> History:
        with archive.connection() as cursor, failing_as_ours("read", archive.place.shown):
            if fresh is not None:
                return _told(cursor, past_run(fresh.run), fresh, line)
            subject = run_named(cursor, str(run))
            if subject is None:
                raise RunUnknown(
                    f"No run '{shown(run)}', neither under the roots nor in the archive. Call list_runs."
                )
            return _told(cursor, subject, None, line)

    return archive.steady(asked)


def _told(cursor: DuckDBPyConnection, subject: PastRun, fresh: RunRows | None, line: int | None) -> History:
    if subject.arch is None or subject.clock_mhz is None:
        raise QuestionRefused(
            f"{shown(subject.called)} does not tell its architecture or clock, and only runs with the same are "
            "compared. Profile with a build that writes DEVICE ARCH."
        )
    runs = runs_alike(cursor, subject)
    work = work_of(cursor, runs, fresh)
    place = [run.run_key for run in runs].index(subject.run_key)
    mine = work[work["run"] == place]
    if not mine["kernel_us"].sum():
        raise QuestionRefused(
            f"{shown(subject.called)} has no op with a time in its window: nothing can be followed."
        )
    if line is not None:
        return _of_op(cursor, subject, runs, work, _op_at(cursor, subject, fresh, line))
    kin = kin_of(place, counts_by(work, "signature"), counts_by(work, "op_code"), [run.label for run in runs])
    heaviest = int(mine.groupby("signature")["kernel_us"].sum().idxmax())
    places = _proven(kin.same, runs)
    same = tuple(runs[each] for each in places)
    times = tuple(run.kernel_us for run in same)
    course = course_of(times)
    turns = [Turned("kernel", turn, behind(work, places, turn, course, subject.devices)) for turn in course.turns]
    return History(
        subject,
        None,
        same,
        times,
        course,
        (*turns, *_of_windows(same, course)),
        len(_proven(kin.through, runs)),
        tuple(runs[each] for each in kin.unsure),
        runs_elsewhere(cursor, subject, heaviest),
        _doubtful(kin.same, runs),
    )


def _proven(places: Sequence[int], runs: Sequence[PastRun]) -> tuple[int, ...]:
    """Those whose times are not in doubt."""
    return tuple(place for place in places if not runs[place].doubts)


def _doubtful(places: Sequence[int], runs: Sequence[PastRun]) -> tuple[PastRun, ...]:
    return tuple(runs[place] for place in places if runs[place].doubts)


def _of_windows(runs: tuple[PastRun, ...], kernels: Course) -> list[Turned]:
    """Turns of the whole window that the kernels do not explain; only warm windows tell of the host."""
    walls = [run.window_us for run in runs if run.warm and run.window_us]
    if len(walls) < len(runs):
        return []
    known = [turn.at for turn in kernels.turns]
    turns = course_of(walls).turns
    return [Turned("window", turn, ()) for turn in turns if all(abs(turn.at - at) > 1 for at in known)]


def _of_op(
    cursor: DuckDBPyConnection,
    subject: PastRun,
    runs: list[PastRun],
    work: pd.DataFrame,
    op: tuple[int, str],
) -> History:
    signature, op_code = op
    mine = work[work["signature"] == signature]
    summed = mine.groupby("run")[["ops", "kernel_us"]].sum()
    summed = summed[summed["kernel_us"] > 0]  # a counter that stood still tells no time
    everywhere = [int(place) for place in summed.index]
    places = _proven(everywhere, runs)
    summed = summed.loc[list(places)]
    times = tuple((summed["kernel_us"] / summed["ops"]).tolist())
    course = course_of(times)
    # the mean of an op, as in the series
    each = mine.assign(kernel_us=mine["kernel_us"] / mine.groupby("run")["ops"].transform("sum"))
    turns = tuple(Turned("kernel", turn, behind(each, places, turn, course, devices=1)) for turn in course.turns)
    elsewhere = runs_elsewhere(cursor, subject, signature)
    series = tuple(runs[place] for place in places)
    return History(subject, op_code, series, times, course, turns, 0, (), elsewhere, _doubtful(everywhere, runs))


def _op_at(cursor: DuckDBPyConnection, subject: PastRun, fresh: RunRows | None, line: int) -> tuple[int, str]:
    """Signature and name of the op at a line of the subject's report."""
    if fresh is not None:
        ops = fresh.ops[fresh.ops["line"].to_numpy() == line]
        rows = list(zip(ops["signature"].tolist(), ops["op_code"].astype(str).tolist(), strict=True))
    else:
        query = "SELECT signature, op_code FROM ops WHERE run_key = ? AND line = ?"
        rows = cursor.execute(query, [subject.run_key, line]).fetchall()
    if not rows:
        raise QuestionRefused(
            f"No timed device op at line {line} of {shown(subject.called)}. list_ops gives the lines."
        )
    return int(rows[0][0]), str(rows[0][1])
