"""The ops of a comparison in groups: by op, category, layer or stage. Every op is in exactly one."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

import numpy as np

from ttnn_mcp.analyses.comparison.deltas import Delta
from ttnn_mcp.analyses.stages.stages import stages_of
from ttnn_mcp.run.ops.op_names import family

if TYPE_CHECKING:
    from ttnn_mcp.analyses.comparison.comparison import Comparison

Grouping = Literal["op_code", "category", "layer", "stage"]


def groups_of(comparison: Comparison, by: Grouping) -> list[Delta]:
    """The groups, the largest change first."""
    before_labels, after_labels = _labels(comparison, by)
    keys = sorted({*before_labels, *after_labels})
    place = {key: number for number, key in enumerate(keys)}
    sums: list[tuple[list[int], list[int]]] = []
    for names, times in zip((before_labels, after_labels), comparison.times, strict=True):
        codes = np.array([place[name] for name in names], dtype=np.int64)
        total = np.zeros(len(keys), dtype=np.int64)
        np.add.at(total, codes, times)  # exact: bincount would add weights as floats
        sums.append((total.tolist(), np.bincount(codes, minlength=len(keys)).tolist()))
    (before, before_counts), (after, after_counts) = sums
    deltas = map(Delta, keys, before, after, before_counts, after_counts)
    return sorted(deltas, key=lambda delta: (-abs(delta.delta_ns), -delta.before_ns, delta.key))


def _labels(comparison: Comparison, by: Grouping) -> tuple[list[str], list[str]]:
    if by == "layer":
        return _layer_labels(comparison)
    if by == "stage":
        return _stage_labels(comparison, 0), _stage_labels(comparison, 1)
    before, after = comparison.names(0), comparison.names(1)
    return ([*map(family, before)], [*map(family, after)]) if by == "category" else (before, after)


def _stage_labels(comparison: Comparison, side: int) -> list[str]:
    """The stage of each op of a side; "" where it belongs to none."""
    ops, measured = comparison.ops[side], (comparison.before, comparison.after)[side]
    labels = [""] * len(ops)
    for stage in stages_of(ops, measured.run.performance_report.signposts):
        for row in stage.rows.tolist():
            labels[row] = stage.kind
    return labels


def _layer_labels(comparison: Comparison) -> tuple[list[str], list[str]]:
    """The layer of each op; a candidate's op is in its partner's, an inserted one in that of the op before it."""
    layers, (before_times, after_times) = comparison.layers, comparison.times
    if layers is None:
        return ["the window"] * len(before_times), ["the window"] * len(after_times)
    before = layers.numbers(np.arange(len(before_times)))
    after = np.full(len(after_times), -1, dtype=np.int64)
    after[comparison.alignment.after] = before[comparison.alignment.before]
    for edit in comparison.alignment.edits:
        if edit.before:
            after[list(edit.after)] = before[edit.before[0]]
    last_known = np.maximum.accumulate(np.where(after >= 0, np.arange(len(after)), 0))
    after = np.maximum(after[last_known], 0)
    names = [
        "before the layers",
        *(f"layer {layer}" for layer in range(1, layers.count + 1)),
        "behind the layers",
    ]
    return [names[code] for code in before.tolist()], [names[code] for code in after.tolist()]
