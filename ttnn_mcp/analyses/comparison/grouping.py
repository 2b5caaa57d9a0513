"""Ops in groups, by a label per op: of an op, category, layer or stage. Every op is in exactly one group.

Their times, and those of one sample, are compared as deltas.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

import numpy as np

from ttnn_mcp.analyses.comparison.alignment import Alignment
from ttnn_mcp.analyses.comparison.noise import Measured
from ttnn_mcp.analyses.layers.layer_blocks import LayerBlocks
from ttnn_mcp.analyses.stages.stages import stages_of
from ttnn_mcp.arrays import Integers
from ttnn_mcp.records import dataclass

Times = tuple[Integers, Integers]
Labels = tuple[Sequence[str], Sequence[str]]
Grouping = Literal["op_code", "category", "layer", "stage"]


def deltas_by(labels: Labels, times: Times) -> list[Delta]:
    """The groups, the largest change first."""
    keys = sorted({*labels[0], *labels[1]})
    place = {key: number for number, key in enumerate(keys)}
    sums: list[tuple[list[int], list[int]]] = []
    for names, kernel_ns in zip(labels, times, strict=True):
        codes = np.array([place[name] for name in names], dtype=np.int64)
        total = np.zeros(len(keys), dtype=np.int64)
        np.add.at(total, codes, kernel_ns)  # exact: bincount would add weights as floats
        sums.append((total.tolist(), np.bincount(codes, minlength=len(keys)).tolist()))
    (before, before_counts), (after, after_counts) = sums
    deltas = map(Delta, keys, before, after, before_counts, after_counts)
    return sorted(deltas, key=lambda delta: (-abs(delta.delta_ns), -delta.before_ns, delta.key))


def stage_labels(side: Measured) -> list[str]:
    """The stage of each op of a side; "" where it belongs to none."""
    labels = [""] * len(side.scope.critical)
    for stage in stages_of(side.scope.critical, side.run.performance_report.signposts):
        for row in stage.rows.tolist():
            labels[row] = stage.kind
    return labels


def layer_labels(layers: LayerBlocks | None, alignment: Alignment, times: Times) -> Labels:
    """The layer of each op; a candidate's op is in its partner's, an inserted one in that of the op before it."""
    if layers is None:
        return ["the window"] * len(times[0]), ["the window"] * len(times[1])
    before = layers.numbers(np.arange(len(times[0])))
    after = np.full(len(times[1]), -1, dtype=np.int64)
    after[alignment.after] = before[alignment.before]
    for edit in alignment.edits:
        if edit.before:
            after[list(edit.after)] = before[edit.before[0]]
    last_known = np.maximum.accumulate(np.where(after >= 0, np.arange(len(after)), 0))
    after = np.maximum(after[last_known], 0)
    names = [
        "outside the layers" if layers.scattered else "before the layers",
        *(f"layer {layer}" for layer in range(1, layers.count + 1)),
        "behind the layers",
    ]
    numbers: tuple[list[int], list[int]] = before.tolist(), after.tolist()
    return [names[number] for number in numbers[0]], [names[number] for number in numbers[1]]


@dataclass(frozen=True, slots=True)
class Delta:
    """One group of ops on both sides: kernel time in ns, and number of ops."""

    key: str
    before_ns: int
    after_ns: int
    before_count: int
    after_count: int

    @property
    def delta_ns(self) -> int:
        """Change of kernel time in ns; positive is slower."""
        return self.after_ns - self.before_ns


@dataclass(frozen=True, slots=True)
class PerSample:
    """Kernel time in ns of one sample, where the batch differs; `batch` is None where that is not certain."""

    before_ns: float
    after_ns: float
    batch: tuple[int, int] | None

    @property
    def change_share(self) -> float:
        """Relative change of the time per sample; negative is faster."""
        return self.after_ns / self.before_ns - 1
