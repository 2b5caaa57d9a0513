"""A wall time that was measured with the profiler off: as an argument of tools, and whether it can be of a window."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, TypeAlias

from pydantic import Field

from ttnn_mcp.errors import QuestionRefused
from ttnn_mcp.quoting import figure

if TYPE_CHECKING:
    from ttnn_mcp.analyses.devices.host_gaps import Timeline
    from ttnn_mcp.analyses.window_facts import WindowFacts

WallMs: TypeAlias = Annotated[
    Annotated[float, Field(gt=0, allow_inf_nan=False)] | None, Field(description="Of one iteration, profiler off")
]


def refuse_other_rows(facts: WindowFacts, line: Timeline, wall_ms: float | None) -> None:
    """A pass takes no less than its kernels; what they wait for other chips a profile tells only of its own pass.

    Raises:
        QuestionRefused: the wall time is shorter; says what to do.
    """
    if wall_ms is None:
        return
    kernels_ns = max(line.busy_ns, facts.working_ns)
    if wall_ms * 1e6 >= kernels_ns:
        return
    below = f"wall_ms {figure(wall_ms, 'g')} is below the {figure(kernels_ns / 1e6, '.3f')} ms of kernels in this "
    if wall_ms * 1e6 >= facts.working_ns:
        raise QuestionRefused(
            f"{below}window, of which exchanges wait for chips that the host feeds late: profile a traced pass, or "
            "leave wall_ms out."
        )
    raise QuestionRefused(
        f"{below}window: it belongs to other rows. Give the time of one iteration, or choose the window it was "
        "measured on."
    )
