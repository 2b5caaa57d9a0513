"""Compares two windows on their critical devices, in whole nanoseconds.

The deltas of groups add up exactly to the total, because every op is in one group on its side. Alignment only adds
what became of the ops (inserted, removed, fused, split or changed) and the layer they belong to; equal changes are one.

A mesh whose devices take nearly the same time has another slowest one in each run. The ops of two devices differ though
nothing was changed (links, cores and tensor slices depend on a device's place), so both sides are taken on one device.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import cached_property
from itertools import pairwise

import numpy as np

from ttnn_mcp.analyses.comparison.alignment import Alignment, absorbed, aligned
from ttnn_mcp.analyses.comparison.aspects import SAME, Aspect, Family, aspects_of
from ttnn_mcp.analyses.comparison.batches import Work, arithmetic_share, same_arithmetic, work_of
from ttnn_mcp.analyses.comparison.clocks import clock_ratio
from ttnn_mcp.analyses.comparison.grouping import (
    Delta,
    Grouping,
    Labels,
    PerSample,
    deltas_by,
    layer_labels,
    stage_labels,
)
from ttnn_mcp.analyses.comparison.noise import FLOOR_SHARE, Measured, Noise, noise_of
from ttnn_mcp.analyses.comparison.op_tokens import Tokens, tokens_of
from ttnn_mcp.analyses.layers.layer_blocks import LayerBlocks, blocks_of
from ttnn_mcp.arrays import Integers
from ttnn_mcp.errors import QuestionRefused, shown
from ttnn_mcp.quoting import figure
from ttnn_mcp.records import dataclass
from ttnn_mcp.run.ops.op_names import canonical, family
from ttnn_mcp.run.ops.op_table import OpTable
from ttnn_mcp.run.ops.texts import Texts

SHOWN_PARTS = 3
LITTLE = 0.25  # share of the shorter window's ops with a partner of the same shapes: less means another model
FEW_OPS = 10  # windows with fewer ops are too short for shares


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
        self.before, self.after = before, after = on_one_device(before, after)
        self._ops = before.scope.critical, after.scope.critical
        for repeat in repeats:
            _check_repeat(repeat, before)
        baseline_ns = [side.kernel_ns for side in (before, *repeats)]
        one_file = before.run.id == after.run.id and not self.mixed_windows
        self.noise: Noise = noise_of((before, after), baseline_ns, one_file=one_file)

    @property
    def ops(self) -> tuple[OpTable, OpTable]:
        """Ops of both critical devices, in the order they ran."""
        return self._ops

    @cached_property
    def clock_ratio(self) -> float:
        """The candidate's clock over the baseline's; 1 where they are the same or one was not measured."""
        return clock_ratio(self.before.run, self.after.run)

    @cached_property
    def times(self) -> tuple[Integers, Integers]:
        """Kernel time per op in whole ns, of both sides; the candidate's cycles at the baseline's clock."""
        before, after = (ops.numbers("kernel_ns") for ops in self._ops)
        return np.rint(before).astype(np.int64), np.rint(after * self.clock_ratio).astype(np.int64)

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
    def tokens(self) -> tuple[Tokens, Tokens]:
        """Numbers that identify the ops of both sides."""
        return tokens_of(*self._ops, padded=self.padded)

    @cached_property
    def _aligned(self) -> Alignment:
        return aligned(*self.tokens)

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
    def arithmetic_share(self) -> float | None:
        """Arithmetic of the matrix engine after over that before; None where that cannot be counted."""
        return arithmetic_share(*self._ops, padded=self.padded)

    @property
    def same_arithmetic(self) -> bool:
        """Whether the arithmetic proves that both windows hold the same pass of the model."""
        return bool(same_arithmetic(self.arithmetic_share))

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

    @property
    def aligns(self) -> bool:
        """Whether ops without a partner tell what is missing: one model, one batch, and not too long."""
        return self.alignment.complete and not self.little_in_common and self.work.ratio == 1.0

    @cached_property
    def layers(self) -> LayerBlocks | None:
        """The layers of the baseline; None where its ops do not repeat or no alignment is possible."""
        if not self.alignment.complete or self.little_in_common:
            return None
        return blocks_of(self.tokens[0].name, self._ops[0])

    @property
    def per_sample(self) -> PerSample | None:
        """Time per sample; None where the batch is the same."""
        if self.work.ratio == 1.0:
            return None
        before, after = self.work.batch or (1, self.work.ratio)
        return PerSample(self.total.before_ns / before, self.total.after_ns / after, self.work.batch)

    @cached_property
    def kinds(self) -> tuple[Texts, Texts]:
        """Canonical names of both sides' ops, one code per name."""
        before, after = (ops.texts("op_code").folded(lambda text: shown(canonical(text))) for ops in self._ops)
        return before, after

    @cached_property
    def _names(self) -> tuple[list[str], list[str]]:
        before, after = (kinds.mapped(str, missing="", dtype=np.object_).tolist() for kinds in self.kinds)
        return before, after

    def names(self, side: int) -> list[str]:
        """The canonical name of each op of a side (0 before, 1 after)."""
        return self._names[side]

    def groups(self, by: Grouping) -> list[Delta]:
        """The groups, the largest change first; every op is in exactly one group."""
        return deltas_by(self._labels(by), self.times)

    def _labels(self, by: Grouping) -> Labels:
        if by == "layer":
            return layer_labels(self.layers, self.alignment, self.times)
        if by == "stage":
            return stage_labels(self.before), stage_labels(self.after)
        before, after = self._names
        return (before, after) if by == "op_code" else ([*map(family, before)], [*map(family, after)])

    @cached_property
    def stages(self) -> list[Delta]:
        """The stages that both sides have (prefill, decode, ...), by kernel time."""
        return [delta for delta in self.groups("stage") if delta.key and delta.before_ns and delta.after_ns]

    @property
    def stages_moved(self) -> tuple[list[str], list[str]]:
        """Stages that gained and that lost more than noise explains: a gain must not hide a loss elsewhere."""
        changes = [(stage.key, stage.delta_ns / stage.before_ns) for stage in self.stages]
        gained = [f"{key} {figure(change, '+.1%')}" for key, change in changes if change < -self.noise.share]
        return gained, [f"{key} {figure(change, '+.1%')}" for key, change in changes if change > self.noise.share]


def _check_repeat(repeat: Measured, baseline: Measured) -> None:
    baseline_ops, ops = (side.scope.critical for side in on_one_device(baseline, repeat))
    tokens = tokens_of(ops, baseline_ops)
    if not np.array_equal(tokens[0].record, tokens[1].record):
        raise QuestionRefused(
            f"Run {repeat.run.id} is no repeat of the baseline: it runs other ops. "
            "Give runs of the unchanged model, or none."
        )


def on_one_device(before: Measured, after: Measured) -> tuple[Measured, Measured]:
    """Both sides on one device, where on either side it takes as long as the slowest one but for the least noise."""
    first, second = before.scope.critical_device, after.scope.critical_device
    if first == second:  # unmoved: another scope of the same device would only compute all again
        return before, after
    if _as_slow(after, first):
        return before, led_by(after, first)
    return (led_by(before, second), after) if _as_slow(before, second) else (before, after)


def device_changes(comparison: Comparison) -> dict[int, float]:
    """Relative change of kernel time of each device that both sides have, at the baseline's clock."""
    before, after = (
        side.scope.ops.by_device(side.scope.ops.numbers("kernel_ns") * ratio)
        for side, ratio in ((comparison.before, 1.0), (comparison.after, comparison.clock_ratio))
    )
    return {device: after[device] / ns - 1 for device, ns in before.items() if device in after and ns}


def led_by(side: Measured, device: int) -> Measured:
    """The side with this device in place of its slowest one."""
    return replace(side, scope=replace(side.scope, lead=device))


def _as_slow(side: Measured, device: int) -> bool:
    kernel_ns = float(side.scope.of_device(device).numbers("kernel_ns").sum())
    return kernel_ns >= (1 - FLOOR_SHARE) * side.kernel_ns


@dataclass(frozen=True, slots=True)
class Change:
    """Pairs of ops that changed in the same way.

    Attributes:
        op: the op's canonical name.
        text: `in1 BFLOAT16 -> BFLOAT8_B, fidelity HiFi4 -> HiFi2`; empty where only the time changed.
        families: what kinds of settings these are.
        pairs: numbers of the pairs.
    """

    op: str
    what: str
    families: frozenset[Family]
    pairs: Integers


def changes_of(aspects: Sequence[Aspect], right: OpTable) -> list[Change]:
    """The changes of all pairs; each pair is in exactly one. Pairs without a visible difference have an empty text.

    Args:
        aspects: in what the pairs differ.
        right: the candidate's ops of the pairs.
    """
    names = right.texts("op_code").folded(canonical)
    columns = [names.codes, *(aspect.codes for aspect in aspects)]
    kinds, place = np.unique(np.stack(columns, axis=1), axis=0, return_inverse=True)
    order = np.argsort(place.ravel(), kind="stable")
    bounds = np.searchsorted(place.ravel()[order], np.arange(len(kinds) + 1)).tolist()
    listed: list[list[int]] = kinds.tolist()
    return [
        _change(names.distinct[kind[0]] if kind[0] >= 0 else "", kind[1:], aspects, order[start:end])
        for kind, (start, end) in zip(listed, pairwise(bounds), strict=True)
    ]


def _change(op: str, codes: list[int], aspects: Sequence[Aspect], pairs: Integers) -> Change:
    differing = [(aspect, code) for aspect, code in zip(aspects, codes, strict=True) if code != SAME]
    parts = [aspect.labels[code] for aspect, code in differing]
    more = [f"{len(parts) - SHOWN_PARTS} more"] if len(parts) > SHOWN_PARTS else []
    families: list[Family] = [aspect.family for aspect, _ in differing]
    return Change(op, ", ".join([*parts[:SHOWN_PARTS], *more]), frozenset(families), pairs)
