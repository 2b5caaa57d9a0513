"""What is left of the time of each op after some changes.

Changes of one op multiply: weights of half the bytes halve what a better program leaves. What an op must still take
bounds them: its arithmetic, with the passes that remain, and its DRAM bytes, less those that are spared, at peak rates.
An op that goes away takes the gap before it along, and a trace shrinks the gaps that are left. An op runs one program
and has one data type of weights: where two changes set the same, the first one counts.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from ttnn_mcp.analyses.devices.host_gaps import TRACED_GAP_NS
from ttnn_mcp.analyses.roofline.launch import LAUNCH_FLOOR_NS
from ttnn_mcp.analyses.window_facts import WindowFacts
from ttnn_mcp.checks.arrays import Floats, Mask, Rows
from ttnn_mcp.checks.problem import Bounds
from ttnn_mcp.records import dataclass

NOTHING_LEFT_NS = 1.0  # of an op: less is the rounding of its time


@dataclass(frozen=True, slots=True)
class Ground:
    """The ops of a window as they are, in nanoseconds; an op that shared its time with others counts its part.

    Attributes:
        spent: time of each op.
        gaps: time before each op in which nothing ran; zeros where gaps are not the model's (a cold window).
        floors: what each op must take as it is.
        arithmetic: of each op alone.
        dram: time of its DRAM bytes at the peak rate.
        peak_gb_s: that rate.
        scale: part of its kernel time that an op counts.
    """

    spent: Floats
    gaps: Floats
    floors: Floats
    arithmetic: Floats
    dram: Floats
    peak_gb_s: float
    scale: Floats

    @property
    def whole(self) -> float:
        """All of it."""
        return float(self.spent.sum() + self.gaps.sum())


def ground_of(facts: WindowFacts) -> Ground:
    """The window before any change."""
    line, least, roofline = facts.timeline, facts.least_times, facts.roofline
    spent, kernel = line.spent_ns, facts.kernel_ns
    floors = np.minimum(np.maximum(least.as_it_is_ns, LAUNCH_FLOOR_NS), spent)
    return Ground(
        spent=spent,
        gaps=facts.idle_ns,
        floors=floors,
        arithmetic=np.nan_to_num(roofline.compute_ns),
        dram=np.nan_to_num(roofline.dram_ns),
        peak_gb_s=facts.chip.dram_peak_gb_s or np.inf,
        scale=np.divide(spent, kernel, out=np.ones(len(spent)), where=kernel > 0),
    )


@dataclass(frozen=True, slots=True)
class Relief:
    """What one problem's fix does to some ops.

    Attributes:
        rows: the ops, in order.
        bounds: the problem's; `at` are the places of the rows among its rows.
        at: see there.
        slot: what it sets of each op.
        in_gaps: whether it shortens the gaps before the ops, not the ops.
        gap_part: of what a gap has above a traced one, the part that goes.
    """

    rows: Rows
    bounds: Bounds
    at: Rows
    slot: str
    in_gaps: bool
    gap_part: float = 1.0

    @classmethod
    def of(cls, bounds: Bounds, slot: str, among: Mask | None = None) -> Relief:
        """On all of its ops, or on those of a mask over its rows."""
        at = np.arange(len(bounds.rows)) if among is None else np.flatnonzero(among)
        return cls(bounds.rows[at], bounds, at, slot, bounds.gap_ns is not None)

    def __len__(self) -> int:
        return len(self.rows)

    def saving(self, saved_ns: Floats) -> Relief:
        """The same change if it saves so much, per row of the problem; of gaps, together."""
        if self.bounds.gap_ns is not None:
            return replace(self, gap_part=float(saved_ns.sum()) / self.bounds.gap_ns[1])
        return replace(self, bounds=replace(self.bounds, at_most_ns=saved_ns, at_least_ns=None))


class Remaining:
    """What is left of some ops; changes are made one after the other.

    Args:
        ground: the window before.
        rows: the ops, in order; all where none are named.
    """

    def __init__(self, ground: Ground, rows: Rows | None = None) -> None:
        self._rows: Rows = np.arange(len(ground.spent)) if rows is None else rows
        self._peak, count = ground.peak_gb_s, len(self._rows)
        self._spent: Floats = ground.spent[self._rows]
        self._gaps: Floats = ground.gaps[self._rows]
        self._gaps_before: Floats = ground.gaps[self._rows]
        self._floors: Floats = ground.floors[self._rows]
        self._arithmetic: Floats = ground.arithmetic[self._rows]
        self._dram: Floats = ground.dram[self._rows]
        self._scale: Floats = ground.scale[self._rows]
        self._share, self._passes, self._spared = np.ones(count), np.ones(count), np.zeros(count)
        self._lowered = np.full(count, np.inf)
        self._gone = np.zeros(count, dtype=np.bool_)
        self._taken: dict[str, Mask] = {}

    @property
    def floors_ns(self) -> Floats:
        """Per op, what it must still take; 0 for those that are gone."""
        changed = (self._passes < 1) | (self._spared > 0)
        after = np.maximum(self._arithmetic * self._passes, self._dram - self._spared / self._peak)
        floors = np.where(changed, np.minimum(np.maximum(after, LAUNCH_FLOOR_NS), self._floors), self._floors)
        return np.where(self._vanished, 0.0, np.minimum(floors, self._lowered))

    @property
    def ops_ns(self) -> Floats:
        """Per op, what is left of its time."""
        left = np.minimum(np.maximum(self._spent * self._share, self.floors_ns), self._spent)
        return np.where(self._vanished, 0.0, left)

    @property
    def _vanished(self) -> Mask:
        return self._share == 0

    @property
    def gaps_ns(self) -> Floats:
        """Per op, what is left of the gap before it."""
        return self._gaps

    @property
    def whole_ns(self) -> float:
        """All that is left."""
        return float(self.ops_ns.sum() + self._gaps.sum())

    def set_by_others(self, change: Relief) -> Mask:
        """The rows of a change on which another one has set the same."""
        taken = self._taken.get(change.slot)
        places = np.searchsorted(self._rows, change.rows)
        return np.zeros(len(places), dtype=np.bool_) if taken is None else taken[places] & ~self._gone[places]

    def gone_from(self, change: Relief) -> Mask:
        """The rows of a change that other ones have taken away."""
        return self._gone[np.searchsorted(self._rows, change.rows)]

    def make(self, change: Relief) -> None:
        """Make one change, on the rows where no other one of its slot was made."""
        places = np.searchsorted(self._rows, change.rows)
        free = ~self._gone[places] & ~self.set_by_others(change)
        free &= change.in_gaps | (change.bounds.at_most_ns[change.at] > 0)
        places, at = places[free], change.at[free]
        if change.in_gaps:
            part = change.gap_part * self._gap_share(change)
            self._gaps[places] -= part * np.maximum(self._gaps[places] - TRACED_GAP_NS, 0.0)
            return
        self._taken.setdefault(change.slot, np.zeros(len(self._rows), dtype=np.bool_))[places] = True
        bounds, spent = change.bounds, self._spent[places]
        saved = np.minimum(bounds.at_most_ns[at] * self._scale[places], spent)
        share = np.divide(spent - saved, spent, out=np.ones(len(places)), where=spent > 0)
        self._share[places] *= np.where(spent - saved < NOTHING_LEFT_NS, 0.0, share)
        if bounds.passes is not None:
            self._passes[places] = np.minimum(self._passes[places], bounds.passes[at])
        if bounds.spared_bytes is not None:
            self._spared[places] += bounds.spared_bytes[at] * self._scale[places]
        if bounds.passes is None and bounds.spared_bytes is None:  # its own bound says what the work still takes
            self._lowered[places] = np.minimum(self._lowered[places], spent - saved)
        gone = self._share[places] == 0
        if bounds.gone is not None:  # unmoved: no op is None
            gone |= np.isin(self._rows[places], bounds.gone)
        self._gone[places[gone]] = True
        self._gaps[places[gone]] = 0.0

    def _gap_share(self, change: Relief) -> float:
        """Of what its gaps have above traced ones, the part that a change saves at most."""
        above = np.maximum(self._gaps_before[np.searchsorted(self._rows, change.rows)] - TRACED_GAP_NS, 0.0).sum()
        most = change.bounds.gap_ns[1] if change.bounds.gap_ns is not None else above
        return min(1.0, float(most / above)) if above else 1.0


def saved_by(ground: Ground, changes: Sequence[Relief]) -> float:
    """What some changes save together, in their order and no others."""
    rows = changes[0].rows if len(changes) == 1 else np.unique(np.concatenate([change.rows for change in changes]))
    remaining = Remaining(ground, rows)
    for change in changes:
        remaining.make(change)
    return float(ground.spent[rows].sum() + ground.gaps[rows].sum()) - remaining.whole_ns


def time_of(ground: Ground, changes: Sequence[Relief]) -> float:
    """What some changes are about: their ops, and the gaps that they shorten or that go with an op."""
    ops, gaps, remaining = np.zeros_like(ground.spent), np.zeros_like(ground.gaps), Remaining(ground)
    for change in changes:
        remaining.make(change)
        one = gaps if change.in_gaps else ops
        one[change.rows] = (ground.gaps if change.in_gaps else ground.spent)[change.rows]
    return float(ops.sum() + np.where(remaining.gaps_ns < ground.gaps, ground.gaps, gaps).sum())
