"""Two runs opened and compared: for compare_runs, and for experiments that record a change."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal, NamedTuple

from ttnn_mcp.analyses.comparison.comparison import Comparison
from ttnn_mcp.analyses.comparison.matching_windows import like_windows, measured
from ttnn_mcp.analyses.memory.memory_comparison import MemoryDelta
from ttnn_mcp.run.run import Run
from ttnn_mcp.session.session import Session


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
