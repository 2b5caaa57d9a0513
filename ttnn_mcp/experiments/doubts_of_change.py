"""Reasons to doubt an experiment that only its statement, its step and its wall times can tell."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from ttnn_mcp.analyses.comparison.reasons import Code, Reason
from ttnn_mcp.experiments.rules import HOST_STEPS
from ttnn_mcp.quoting import figure
from ttnn_mcp.run.ops.op_names import family

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from ttnn_mcp.analyses.comparison.comparison import Comparison
    from ttnn_mcp.analyses.comparison.engaged import Engaged
    from ttnn_mcp.experiments.statement import Statement
    from ttnn_mcp.experiments.walls import Walls

_CONVERSIONS = ("layout", "movement", "shape")  # come and go with formats and placements
_STAMP = re.compile(r"\d{4}(?:_\d\d){5}")  # in ops_perf_results_<time>.csv, written by the profiler


def doubts_of_change(
    comparison: Comparison,
    statement: Statement,
    changes: Sequence[Engaged],
    step: int | None,
    walls: Walls | None,
) -> Iterator[Reason]:
    """The reasons that stand."""
    sides = comparison.before.run, comparison.after.run
    files = [run.performance_report.csv.path.name for run in sides]
    doubts = (
        not_engaged(statement, changes),
        gain_not_from_change(comparison, statement, changes),
        kernels_worse(comparison) if step in HOST_STEPS else None,
        wall_below_kernels(comparison, walls) if walls else None,
        older_than_baseline(*files),
    )
    yield from (doubt for doubt in doubts if doubt is not None)


def unexplained(reasons: Sequence[Reason], statement: Statement) -> list[Reason]:
    """The reasons that the statement does not explain: trace that was meant, ops that were named as gone."""
    explained: set[Code] = set()
    if "trace" in statement.kinds:
        explained.add("trace_on_one_side")
    for reason in reasons:
        gone, _, _ = reason.what.partition(" gone")  # the names of the ops
        if reason.code == "ops_missing" and statement.names(gone):
            explained.add(reason.code)
    return [reason for reason in reasons if reason.code not in explained]


def not_engaged(statement: Statement, changes: Sequence[Engaged]) -> Reason | None:
    """None of the values that the change names is new on any op."""
    if not statement.values or statement.meant(changes):
        return None
    named = ", ".join(value for _, value in statement.values)
    return Reason("not_engaged", f"no op became {named}: 0 ops show the change")


def gain_not_from_change(comparison: Comparison, statement: Statement, changes: Sequence[Engaged]) -> Reason | None:
    """All of the gain lies on ops that the statement is not about, nor on conversions that came or went with it."""
    meant = statement.meant(changes)
    if not meant or not comparison.alignment.complete or comparison.change_share >= -comparison.noise.share:
        return None
    followed = [
        change for change in changes if change.kind in ("fusion", "added") and family(change.op) in _CONVERSIONS
    ]
    acted = sum(change.delta_ns for change in {*meant, *followed})
    if acted < -comparison.noise.share * comparison.total.before_ns:
        return None
    total = comparison.total.delta_ns / 1e3
    return Reason(
        "gain_elsewhere",
        f"ops with the stated change {figure(acted / 1e3, '+,.1f')} us, the window {figure(total, '+,.1f')} us",
    )


def kernels_worse(comparison: Comparison) -> Reason | None:
    """Kernels that became slower in a step that leaves kernels as they are."""
    if comparison.change_share <= comparison.noise.share:
        return None
    return Reason(
        "kernels_worse",
        f"kernel time {figure(comparison.change_share, '+.1%')}; trace and queues leave kernels as they are",
    )


def wall_below_kernels(comparison: Comparison, walls: Walls) -> Reason | None:
    """Wall times that are shorter than the kernels in them: another unit, or another part of the model."""
    busy_ms = [side.kernel_ns / 1e6 for side in (comparison.before, comparison.after)]
    for label, wall_ms, kernel_ms in zip(
        ("before", "after"), (walls.before_ms, walls.after_ms), busy_ms, strict=True
    ):
        if wall_ms < kernel_ms * (1 - comparison.noise.share):
            return Reason(
                "wall_below_kernels",
                f"wall_{label}_ms {figure(wall_ms, '.4g')} is below {figure(kernel_ms, '.4g')} ms of kernels",
            )
    return None


def older_than_baseline(before: str, after: str) -> Reason | None:
    """A candidate whose report was written before the baseline's, by the time in the names of the files."""
    stamps = [match.group() if (match := _STAMP.search(name)) else "" for name in (before, after)]
    if not all(stamps) or stamps[0] <= stamps[1]:
        return None
    return Reason("older_than_baseline", f"the candidate was measured at {stamps[1]}, the baseline at {stamps[0]}")
