"""Signs in two runs that the profiler dropped rows: on one side only, or on both alike."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from ttnn_mcp.run.trust import caveats_of, dropped_rows

if TYPE_CHECKING:
    from ttnn_mcp.run.run import Run

CUT_OFF = "the last iteration is cut off"


def new_signs(run: Run, other: Run) -> list[str]:
    """Signs of a run that the other run does not show; figures may differ."""
    shared = {_without_figures(sign) for sign in _signs(other)}
    return [sign for sign in _signs(run) if _without_figures(sign) not in shared]


def shared_signs(run: Run, other: Run) -> list[str]:
    """Signs of a run that the other run shows too: what is missing may be missing alike."""
    new = new_signs(run, other)
    return [sign for sign in _signs(run) if sign not in new]


def _signs(run: Run) -> list[str]:
    """All signs."""
    report = run.performance_report
    cut_off = [caveat for caveat in caveats_of(report) if caveat.startswith(CUT_OFF)]
    return [*cut_off, *dropped_rows(report)]


def _without_figures(sign: str) -> str:
    return re.sub(r"\d+", "", sign)
