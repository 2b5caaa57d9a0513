"""Two runs opened and compared: for compare_runs, and for experiments that record a change."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Literal, NamedTuple

from ttnn_mcp.analyses.comparison.comparison import Comparison
from ttnn_mcp.analyses.comparison.matching_windows import like_windows, measured

if TYPE_CHECKING:
    from ttnn_mcp.run.run import Run
    from ttnn_mcp.session.session import Session


class Sides(NamedTuple):
    """Which runs, and which rows of them.

    Attributes:
        baseline: the run before the change.
        candidate: the run after it; None: the newest.
        iteration: the window of both.
        candidate_iteration: of the candidate, where it differs.
        repeats: more runs of the unchanged baseline, for the noise.
    """

    baseline: str
    candidate: str | None = None
    iteration: Literal["last", "all"] | int = "last"
    candidate_iteration: int | None = None
    start_signpost: str | None = None
    end_signpost: str | None = None
    repeats: tuple[str, ...] = ()


async def compared(session: Session, sides: Sides) -> Comparison:
    """The comparison.

    Raises:
        RunUnknown: a run is not there.
        QuestionRefused: one has no such window, or a repeat is none.
    """
    before = await session.run(sides.baseline)
    after = await session.run(sides.candidate)
    repeats = [await session.run(run) for run in sides.repeats]
    return await asyncio.to_thread(_compared, before, after, repeats, sides)


def _compared(before: Run, after: Run, repeats: list[Run], sides: Sides) -> Comparison:
    bracket = (sides.start_signpost, sides.end_signpost)
    later = sides.iteration if sides.candidate_iteration is None else sides.candidate_iteration
    if (sides.iteration, later, *bracket) == ("last", "last", None, None):
        windows = like_windows(before, after)
    else:
        windows = measured(before, sides.iteration, bracket), measured(after, later, bracket)
    return Comparison(*windows, [measured(run, sides.iteration, bracket) for run in repeats])
