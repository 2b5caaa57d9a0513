"""Compares two windows on their critical devices, in whole nanoseconds.

The deltas of groups add up exactly to the total, because every op is in one group on its side. Alignment only adds
what became of the ops (inserted, removed, fused, split or changed) and the layer they belong to.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Literal

import numpy as np

from ttnn_mcp.analyses.comparison.alignment import Alignment, aligned
from ttnn_mcp.analyses.comparison.aspects import Aspect, aspects_of
from ttnn_mcp.analyses.comparison.batches import Work, same_arithmetic, work_of
from ttnn_mcp.analyses.comparison.fusions import absorbed
from ttnn_mcp.analyses.comparison.noise import DEFAULT_SHARE, Measured, Noise, noise_of
from ttnn_mcp.analyses.comparison.op_changes import Change, changes_of
from ttnn_mcp.analyses.comparison.op_tokens import Tokens, tokens_of
from ttnn_mcp.analyses.layers.repeating_names import Layers, layers_of
from ttnn_mcp.analyses.stages.stages import stages_of
from ttnn_mcp.errors import QuestionRefused, shown
from ttnn_mcp.run.ops.op_names import canonical, family

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from ttnn_mcp.run.ops.op_table import OpTable

LITTLE = 0.25  # share of the shorter window's ops with a partner of the same shapes: less means another model
FEW_OPS = 10  # windows with fewer ops are too short for shares

Grouping = Literal["op_code", "category", "layer", "stage"]
Verdict = Literal["faster", "slower", "unchanged", "mixed", "not_comparable"]


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


class Comparison:
    """Two measured windows and what they have in common.

    Attributes:
        before: the baseline.
        after: the candidate.
        noise: the share below which a change proves nothing; from `repeats` of the unchanged baseline if given.

    Raises:
        QuestionRefused: a repeat runs other ops than the baseline.
    """

    def __init__(self, before: Measured, after: Measured, repeats: Sequence[Measured] = ()) -> None:
        self.before, self.after = before, after
        self._ops = before.scope.critical, after.scope.critical
        for repeat in repeats:
            _check_repeat(repeat, before)
        baseline_ns = [side.kernel_ns for side in (before, *repeats)]
        self.noise: Noise = noise_of(
            (before, after), baseline_ns, least=DEFAULT_SHARE if self.mixed_windows else 0.0
        )

    @property
    def ops(self) -> tuple[OpTable, OpTable]:
        """Ops of both critical devices, in the order they ran."""
        return self._ops

    @cached_property
    def times(self) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Kernel time per op in whole ns, of both sides."""
        before, after = (np.rint(ops.numbers("kernel_ns")).astype(np.int64) for ops in self._ops)
        return before, after

    @property
    def total(self) -> Delta:
        """Both windows as a whole."""
        before, after = self.times
        return Delta("total", int(before.sum()), int(after.sum()), len(before), len(after))

    @property
    def change_share(self) -> float:
        """Relative change of kernel time; negative is faster."""
        return self.total.delta_ns / self.total.before_ns if self.total.before_ns else 0.0

    @cached_property
    def padded(self) -> bool:
        """Whether padded shapes are compared, because one report has no logical ones (before 2025-09)."""
        return any(not operand.has_logical for ops in self._ops for operand in ops.outputs[:1])

    @cached_property
    def _tokens(self) -> tuple[Tokens, Tokens]:
        return tokens_of(*self._ops, padded=self.padded)

    @cached_property
    def _aligned(self) -> Alignment:
        return aligned(*self._tokens)

    @cached_property
    def alignment(self) -> Alignment:
        """Which op became which."""
        return absorbed(self._aligned, *self._ops)

    @cached_property
    def changes(self) -> list[Change]:
        """What changed about the ops that have a partner."""
        return changes_of(self.aspects, self._ops[1].take(self.alignment.after))

    @cached_property
    def aspects(self) -> list[Aspect]:
        """In what the ops that have a partner differ from it."""
        before, after = self._ops
        pairs = self.alignment
        return list(aspects_of(before.take(pairs.before), after.take(pairs.after), padded=self.padded))

    @property
    def mixed_windows(self) -> bool:
        """Whether the windows are of different kinds: an iteration beside a whole report."""
        return self.before.scope.window.kind != self.after.scope.window.kind

    @cached_property
    def same_arithmetic(self) -> bool:
        """Whether the arithmetic proves that both windows hold the same pass of the model."""
        return bool(same_arithmetic(*self._ops, padded=self.padded))

    @cached_property
    def work(self) -> Work:
        """Whether both did the same amount of work."""
        return work_of(self.alignment, *self._ops, padded=self.padded)

    @cached_property
    def little_in_common(self) -> bool:
        """Whether the two windows are too different for an alignment to mean anything."""
        shorter = min(len(self.times[0]), len(self.times[1]))
        alike = int(self._aligned.same_shape.sum())
        return shorter >= FEW_OPS and self.work.ratio == 1.0 and alike < LITTLE * shorter

    @cached_property
    def layers(self) -> Layers | None:
        """The layers of the baseline; None where its ops do not repeat or no alignment is possible."""
        if not self.alignment.complete or self.little_in_common:
            return None
        return layers_of(self._tokens[0].name)

    @property
    def per_sample(self) -> PerSample | None:
        """Time per sample; None where the batch is the same."""
        if self.work.ratio == 1.0:
            return None
        before, after = self.work.batch or (1, self.work.ratio)
        return PerSample(self.total.before_ns / before, self.total.after_ns / after, self.work.batch)

    def names(self, side: int) -> list[str]:
        """The canonical name of each op of a side (0 before, 1 after)."""
        texts = self._ops[side].texts("op_code")
        folded = [shown(canonical(text)) for text in texts.distinct]
        return [folded[code] if code >= 0 else "" for code in texts.codes.tolist()]

    def groups(self, by: Grouping) -> list[Delta]:
        """The groups, the largest change first; every op is in exactly one group."""
        if by == "layer":
            labels = self._layer_labels()
        elif by == "stage":
            labels = self._stage_labels()
        else:
            labels = tuple(self.names(side) for side in (0, 1))
            if by == "category":
                labels = tuple([family(name) for name in names] for names in labels)
        keys = sorted({*labels[0], *labels[1]})
        place = {key: number for number, key in enumerate(keys)}
        sums: list[tuple[list[int], list[int]]] = []
        for names, times in zip(labels, self.times, strict=True):
            codes = np.array([place[name] for name in names], dtype=np.int64)
            total = np.zeros(len(keys), dtype=np.int64)
            np.add.at(total, codes, times)  # exact: bincount would add weights as floats
            sums.append((total.tolist(), np.bincount(codes, minlength=len(keys)).tolist()))
        (before, before_counts), (after, after_counts) = sums
        deltas = map(Delta, keys, before, after, before_counts, after_counts)
        return sorted(deltas, key=lambda delta: (-abs(delta.delta_ns), -delta.before_ns, delta.key))

    @cached_property
    def stages(self) -> list[Delta]:
        """The stages that both sides have (prefill, decode, ...), by kernel time."""
        return [delta for delta in self.groups("stage") if delta.key and delta.before_ns and delta.after_ns]

    def _stage_labels(self) -> tuple[list[str], ...]:
        """The stage of each op; "" where it belongs to none."""
        sides: list[list[str]] = []
        for side, ops in zip((self.before, self.after), self._ops, strict=True):
            labels = [""] * len(ops)
            for stage in stages_of(ops, side.run.performance_report.signposts):
                for row in stage.rows.tolist():
                    labels[row] = stage.kind
            sides.append(labels)
        return tuple(sides)

    def _layer_labels(self) -> tuple[list[str], ...]:
        """The layer of each op; a candidate's op is in its partner's, an inserted one in that of the op before it."""
        layers = self.layers
        if layers is None:
            return ["the window"] * len(self.times[0]), ["the window"] * len(self.times[1])
        before = layers.numbers(np.arange(len(self.times[0])))
        after = np.full(len(self.times[1]), -1, dtype=np.int64)
        after[self.alignment.after] = before[self.alignment.before]
        for edit in self.alignment.edits:
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


def _check_repeat(repeat: Measured, baseline: Measured) -> None:
    ops, baseline_ops = repeat.scope.critical, baseline.scope.critical
    tokens = tokens_of(ops, baseline_ops)
    if len(ops) != len(baseline_ops) or not np.array_equal(tokens[0].record, tokens[1].record):
        raise QuestionRefused(
            f"Run {repeat.run.id} is no repeat of the baseline: it runs other ops. "
            "Give runs of the unchanged model, or none."
        )
