"""A wall time that was measured with the profiler off: as an argument of tools, and whether it can be of a window."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, TypeAlias

from pydantic import Field

from ttnn_mcp.errors import QuestionRefused
from ttnn_mcp.quoting import figure

if TYPE_CHECKING:
    from ttnn_mcp.analyses.window_facts import WindowFacts

WallMs: TypeAlias = Annotated[
    Annotated[float, Field(gt=0, allow_inf_nan=False)] | None, Field(description="Of one iteration, profiler off")
]


def refuse_other_rows(facts: WindowFacts, wall_ms: float | None) -> None:
    """A pass takes no less than its kernels, but for what they wait for other chips.

    Raises:
        QuestionRefused: the wall time is shorter; says what to do.
    """
    if wall_ms is not None and wall_ms * 1e6 < facts.working_ns:
        raise QuestionRefused(
            f"wall_ms {figure(wall_ms, 'g')} is below the {figure(facts.working_ns / 1e6, '.3f')} ms of kernels in "
            "this window: it belongs to other rows. Give the time of one iteration, or choose the window of which it "
            "was measured."
        )
