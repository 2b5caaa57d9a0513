"""Work that the candidate does not hold: layers, ops or iterations that are missing, or nothing new at all."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

import numpy as np

from ttnn_mcp.analyses.comparison.batches import SAME_WORK
from ttnn_mcp.analyses.comparison.doubts_of_capture import rows_dropped
from ttnn_mcp.analyses.comparison.places import roles_of
from ttnn_mcp.analyses.comparison.reasons import Reason
from ttnn_mcp.arrays import Integers
from ttnn_mcp.quoting import figure
from ttnn_mcp.run.ops.op_names import family

if TYPE_CHECKING:
    from ttnn_mcp.analyses.comparison.comparison import Comparison

COMPUTES = ("matmul", "conv", "attention", "norm", "softmax", "pool", "embedding")  # no optimisation drops them
TOLD = 10  # ops from which equal times are no chance: kernels jitter by cycles
SPREAD_TOLD = 3  # iterations from which two warm ones show how far they lie apart
NAMED = 3
HALF = 2.0  # of each kind of op: fewer passes or layers
MOST = 0.9  # of the kinds of op


def same_reading(comparison: Comparison) -> Reason | None:
    """The candidate's times are the baseline's: one measurement, not two."""
    before, after = comparison.before, comparison.after
    if before.run.id == after.run.id:
        same = before.scope.window == after.scope.window
        return (
            Reason("same_reading", "both sides are the same run and window: nothing was measured") if same else None
        )
    baseline, candidate = (ops.numbers("kernel_ns") for ops in comparison.ops)
    if len(baseline) < TOLD or not np.array_equal(baseline, candidate):
        return None
    return Reason("same_reading", f"all {len(baseline)} kernel times equal the baseline's: nothing was measured")


def nothing_aligned(comparison: Comparison) -> Reason | None:
    """Ops without partners, and no arithmetic that proves the same work: what is missing would not show."""
    complete, share = comparison.alignment.complete, comparison.arithmetic_share
    if not comparison.little_in_common or comparison.same_arithmetic or not (complete or share is None):
        return None
    why = "hardly an op has a partner of the same shapes" if complete else "there are too many ops to align"
    return Reason("nothing_aligned", f"{why}: what the candidate lacks cannot be told")


def collapsed(comparison: Comparison) -> Reason | None:
    """Fewer iterations than in the baseline: a window with fewer passes, or too few to tell their spread."""
    windows = comparison.before.scope.window, comparison.after.scope.window
    passes = windows[0].of_iterations or 1, windows[1].of_iterations or 1
    if passes[1] < min(passes[0], SPREAD_TOLD) and _ops_of_file(comparison) < (1 + passes[1] / passes[0]) / 2:
        return Reason(
            "collapsed", f"{passes[1]} of the baseline's {passes[0]} iterations: their spread cannot be told"
        )
    if "iteration" in (windows[0].kind, windows[1].kind):
        return None
    if passes[1] < passes[0]:
        return Reason("collapsed", f"the windows hold {passes[0]} and {passes[1]} iterations")
    before, after = (Counter(comparison.names(side)) for side in (0, 1))
    ratios = Counter(round(count / after[name], 2) for name, count in before.items() if after[name])
    [(ratio, kinds)] = ratios.most_common(1) or [(1.0, 0)]
    if ratio < HALF or kinds < MOST * len(before):
        return None
    return Reason(
        "collapsed",
        f"the candidate holds one of every {figure(ratio, 'g')} ops of each kind: fewer passes or layers",
    )


def _ops_of_file(comparison: Comparison) -> float:
    """Ops of the candidate's whole file over those of the baseline's: passes that were lost make it small."""
    before, after = (len(side.run.performance_report.steady) for side in (comparison.before, comparison.after))
    return after / before if before else 1.0


def missing(comparison: Comparison) -> Reason | None:
    """What of the baseline's work the candidate does not hold: the first reason that explains it."""
    explanations = (collapsed, *((layers_missing, kinds_missing) if comparison.aligns else ()), rows_dropped)
    by_arithmetic = comparison.aligns or not comparison.alignment.complete  # of too many ops, that alone is counted
    for explanation in (*explanations, *((ops_missing,) if by_arithmetic else ())):
        reason = explanation(comparison)
        if reason is not None:
            return reason
    return None


def layers_missing(comparison: Comparison) -> Reason | None:
    """A candidate that was captured with fewer layers."""
    layers = comparison.layers
    if layers is None or comparison.same_arithmetic:
        return None
    numbers = layers.numbers(np.arange(len(comparison.times[0]))).tolist()
    before, outside = Counter[str](), Counter[str]()
    for name, number in zip(comparison.names(0), numbers, strict=True):
        (before if 0 < number <= layers.count else outside)[name] += 1
    after = Counter(comparison.names(1))
    left = np.median([max(after[name] - outside[name], 0) * layers.count / count for name, count in before.items()])
    if round(float(left)) >= layers.count:
        return None
    return Reason("layers_missing", f"about {round(float(left))} of the baseline's {layers.count} layers are in it")


def kinds_missing(comparison: Comparison) -> Reason | None:
    """Arithmetic of the model that is gone in every place alike: it was taken out, not lost."""
    gone, roles = _gone(comparison), roles_of(comparison)
    wholly = bool(len(gone)) and bool(np.isin(roles, roles[gone]).sum() == len(gone))
    return _named(comparison, gone) if wholly else None


def ops_missing(comparison: Comparison) -> Reason | None:
    """Arithmetic of the model that is gone without anything in its place."""
    gone = _gone(comparison)
    if len(gone):
        return _named(comparison, gone)
    share = comparison.arithmetic_share
    if share is None or share >= 1 - SAME_WORK:
        return None
    return Reason(
        "ops_missing", f"matmuls, convolutions and attention do {figure(share, '.0%')} of the baseline's arithmetic"
    )


def _gone(comparison: Comparison) -> Integers:
    """Rows of the baseline that compute, and that nothing took the place of."""
    names = comparison.names(0)
    rows = [row for edit in comparison.alignment.edits if not edit.after for row in edit.before]
    return np.array([row for row in rows if family(names[row]) in COMPUTES], dtype=np.int64)


def _named(comparison: Comparison, gone: Integers) -> Reason:
    rows: list[int] = gone.tolist()
    counts = Counter(comparison.names(0)[row] for row in rows)
    kinds = ", ".join(f"{count} {name}" for name, count in counts.most_common(NAMED))
    line = comparison.ops[0].lines[rows[0]]
    return Reason("ops_missing", f"{kinds} gone, nothing in their place (baseline line {line})")
