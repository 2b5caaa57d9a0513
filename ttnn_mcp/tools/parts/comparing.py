"""Two runs opened and compared: for compare_runs, and for experiments that record a change.

The tables of a comparison have columns that add up to the last digit, and rows that matter.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal, NamedTuple

from ttnn_mcp.analyses.comparison.comparison import Comparison, Delta
from ttnn_mcp.analyses.comparison.edits import Listed, Rewritten
from ttnn_mcp.analyses.comparison.matching_windows import like_windows, measured
from ttnn_mcp.analyses.memory.memory_comparison import MemoryDelta
from ttnn_mcp.run.run import Run
from ttnn_mcp.session.session import Session
from ttnn_mcp.wire import Cell, Columns, Table

WORTH_A_ROW = 0.001  # of kernel time, for ops of which only the time changed
GROUPS = Columns("key", "before_us", "after_us", "delta_us", "before_count", "after_count", quoted=("key",))
ADDED = Columns("op_code", "how", "count", "kernel_us", "op", quoted=("op_code", "how"))
REMOVED = Columns("op_code", "how", "count", "kernel_us", "baseline_op", quoted=("op_code", "how"))
REWRITTEN = Columns("before", "after", "count", "before_us", "after_us", "op", quoted=("before", "after"))
CHANGED = Columns("op_code", "what", "count", "before_us", "after_us", "op", quoted=("op_code", "what"))
MEMORY = Columns("bytes_per_bank", "before", "after", "delta")


class RunsCompared(NamedTuple):
    """The runs of a comparison, opened.

    Attributes:
        before: the run before the change.
        after: the run after it.
        repeats: more runs of the unchanged baseline, for the noise.
        memory: what the change did to memory, where that was asked for.
        ran_out: which of the two ran out of it, in a sentence.
    """

    before: Run
    after: Run
    repeats: tuple[Run, ...] = ()
    memory: MemoryDelta | None = None
    ran_out: str | None = None

    @property
    def runs(self) -> tuple[Run, ...]:
        """All of them."""
        return self.before, self.after, *self.repeats


class Windows(NamedTuple):
    """Which rows are compared.

    Attributes:
        iteration: the window of both.
        candidate_iteration: of the candidate, where it differs.
        start_signpost: of both.
        end_signpost: of both.
    """

    iteration: Literal["last", "all"] | int = "last"
    candidate_iteration: int | None = None
    start_signpost: str | None = None
    end_signpost: str | None = None


async def runs_compared(
    session: Session, baseline: str, candidate: str | None, repeats: Sequence[str] = ()
) -> RunsCompared:
    """Open the runs; the candidate is by default the newest.

    Raises:
        RunUnknown: a run is not there.
    """
    before, after = await session.run(baseline), await session.run(candidate)
    return RunsCompared(before, after, tuple([await session.run(run) for run in repeats]))


def compared(pair: RunsCompared, windows: Windows) -> Comparison:
    """The comparison.

    Raises:
        QuestionRefused: one has no such window, or a repeat is none.
    """
    bracket = (windows.start_signpost, windows.end_signpost)
    later = windows.iteration if windows.candidate_iteration is None else windows.candidate_iteration
    if (windows.iteration, later, *bracket) == ("last", "last", None, None):
        # a repeat is windowed as the baseline is: iterations that were joined there would be other ops here
        sides = [like_windows(run, pair.after) for run in (pair.before, *pair.repeats)]
        return Comparison(*sides[0], [repeat for repeat, _ in sides[1:]])
    sides = measured(pair.before, windows.iteration, bracket), measured(pair.after, later, bracket)
    return Comparison(*sides, [measured(run, windows.iteration, bracket) for run in pair.repeats])


def exact_us(ns: int) -> float | int:
    """Whole nanoseconds as microseconds, unrounded, so that deltas add up to the last digit."""
    return ns // 1000 if ns % 1000 == 0 else round(ns / 1000, 3)


def groups(deltas: Sequence[Delta], rows: int) -> Table:
    """The largest changes, and all others in one row, so that the column still adds up."""
    shown = list(deltas)
    if len(deltas) > rows + 1:
        shown = [*deltas[:rows], _together(deltas[rows:])]
    return GROUPS.exact(
        [
            (
                one.key,
                exact_us(one.before_ns),
                exact_us(one.after_ns),
                exact_us(one.delta_ns),
                one.before_count,
                one.after_count,
            )
            for one in shown
        ]
    )


def _together(deltas: Sequence[Delta]) -> Delta:
    return Delta(
        f"({len(deltas)} others)",
        sum(one.before_ns for one in deltas),
        sum(one.after_ns for one in deltas),
        sum(one.before_count for one in deltas),
        sum(one.after_count for one in deltas),
    )


def added(edits: Sequence[Listed], rows: int, lines: Sequence[int]) -> Table | None:
    """Ops that are new; `op` is the line of the first in the candidate's file."""
    return ADDED.exact(_listed(edits[:rows], lines)) if edits else None


def removed(edits: Sequence[Listed], rows: int, lines: Sequence[int]) -> Table | None:
    """Ops that are gone; `baseline_op` is the line of the first in the baseline's file."""
    return REMOVED.exact(_listed(edits[:rows], lines)) if edits else None


def _listed(edits: Sequence[Listed], lines: Sequence[int]) -> list[tuple[Cell, ...]]:
    return [(one.op, one.how, one.count, exact_us(one.ns), lines[one.first]) for one in edits]


def rewritten(edits: Sequence[Rewritten], rows: int, lines: Sequence[int]) -> Table | None:
    """Ops that became others; None where none did."""
    if not edits:
        return None
    return REWRITTEN.exact(
        [
            (one.before, one.after, one.count, exact_us(one.before_ns), exact_us(one.after_ns), lines[one.first])
            for one in edits[:rows]
        ]
    )


def changed(comparison: Comparison, rows: int) -> Table | None:
    """Ops that kept their place: their record changed, or their time by more than noise explains."""
    if comparison.little_in_common:
        return None
    folded: dict[tuple[str, str], list[int]] = {}  # count, before, after, first line
    pairs, lines = comparison.alignment, comparison.ops[1].lines
    before, after = comparison.times[0][pairs.before], comparison.times[1][pairs.after]
    for change in comparison.changes:
        first = int(lines[pairs.after[change.pairs[0]]])
        sums = folded.setdefault((change.op, change.what or "only its time"), [0, 0, 0, first])
        sums[0] += len(change.pairs)
        sums[1] += int(before[change.pairs].sum())
        sums[2] += int(after[change.pairs].sum())
        noise = comparison.noise.share * max(sums[1:3]) + WORTH_A_ROW * comparison.total.before_ns
        if not change.what and abs(sums[2] - sums[1]) <= noise:
            del folded[change.op, "only its time"]
    largest = sorted(folded.items(), key=lambda item: -abs(item[1][2] - item[1][1]))[:rows]
    if not largest:
        return None
    return CHANGED.exact(
        [(*key, count, exact_us(ns), exact_us(later_ns), line) for key, (count, ns, later_ns, line) in largest]
    )


def memory(delta: MemoryDelta | None) -> Table | None:
    """Memory on both sides; None where it was not compared."""
    if delta is None or not delta.figures:
        return None
    return MEMORY.exact([(one.name, one.before, one.after, one.delta) for one in delta.figures])
