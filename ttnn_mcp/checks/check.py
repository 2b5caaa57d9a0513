"""What a check is, and its answer: claims with cited evidence and bounded savings, or why it cannot tell."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from ttnn_mcp.analyses.window_facts import WindowFacts
from ttnn_mcp.checks.needs import Need
from ttnn_mcp.checks.worth import ALWAYS, Worth
from ttnn_mcp.wire import Evidence

STEP_TITLES = {
    1: "Data formats",
    2: "Tensor layouts",
    3: "Memory and sharding",
    4: "Metal Trace",
    5: "Multi-CQ",
    6: "Conv2d",
    7: "Multi-device",
}
STEP_PAGES = {
    1: "step-01-data-formats.md",
    2: "step-02-tensor-layouts.md",
    3: "step-03-memory-sharding.md",
    4: "step-04-metal-trace.md",
    5: "step-05-multi-cq.md",
    6: "step-06-conv2d-optimization.md",
    7: "step-07-multi-device.md",
}
Rows: TypeAlias = NDArray[np.int64]  # positions in `facts.ops`
Mask: TypeAlias = NDArray[np.bool_]  # one per op of `facts.ops`
Floats: TypeAlias = NDArray[np.float64]  # one per row, or one per op


@dataclass(frozen=True, slots=True)
class Claim:
    """One problem on some ops of the window.

    Attributes:
        claim: the problem, with the figures that matter; one sentence.
        rows: the ops of the claim, each once: a repeated row keeps its highest bounds.
        at_most_ns: per row, the most that a change can save. Never above the op's time.
        at_least_ns: per row, the least; zeros if only an upper bound is known.
        assumption: the assumption behind the bounds.
        evidence: cells cited with `facts.cite`; the heaviest examples first, three are enough.
        fix: current TTNN code with this op's numbers in it.
        verify: the tool to call after re-profiling, and the field that must change.
        caveat: when not to trust the claim.
        gap_ns: saving in the gaps between ops (at least, at most) instead of in the ops themselves.
    """

    claim: str
    rows: Rows
    at_most_ns: Floats
    assumption: str
    evidence: tuple[Evidence, ...]
    fix: str
    verify: str
    caveat: str | None = None
    at_least_ns: Floats | None = None
    gap_ns: tuple[float, float] | None = None

    def __post_init__(self) -> None:
        """A claim cannot exist without evidence, and bounds belong to its rows."""
        if not self.evidence:
            raise ValueError(f"no evidence for: {self.claim}")
        if len(self.rows) != len(self.at_most_ns):
            raise ValueError(f"one bound per row: {self.claim}")
        if not (np.diff(self.rows) > 0).all():  # unmoved: it only saves the time of sorting
            self._count_once()

    def _count_once(self) -> None:
        """Count an op once that is part of two patterns."""
        rows, at = np.unique(self.rows, return_inverse=True)
        object.__setattr__(self, "rows", rows)
        object.__setattr__(self, "at_most_ns", _highest(self.at_most_ns, at, len(rows)))
        if self.at_least_ns is not None:
            object.__setattr__(self, "at_least_ns", _highest(self.at_least_ns, at, len(rows)))

    @property
    def promise_ns(self) -> float:
        """The most that it can save."""
        return self.gap_ns[1] if self.gap_ns is not None else float(self.at_most_ns.sum())

    @property
    def sure(self) -> bool:
        """Whether it saves something for certain."""
        if self.gap_ns is not None:
            return self.gap_ns[0] > 0
        return self.at_least_ns is not None and bool((self.at_least_ns > 0).any())


def _highest(bounds: Floats, at: Rows, rows: int) -> Floats:
    highest = np.full(rows, -np.inf)
    np.maximum.at(highest, at, bounds)
    return highest


@dataclass(frozen=True, slots=True)
class NotApplicable:
    """The run has no ops that this check is about."""

    why: str


@dataclass(frozen=True, slots=True)
class CannotTell:
    """The run lacks the evidence; `why` tells what to capture."""

    why: str


Claims: TypeAlias = "Iterator[Claim | CannotTell]"


@dataclass(frozen=True, slots=True)
class Subject:
    """The ops a check is about: their mask, and the answer if there are none."""

    mask: Callable[[WindowFacts], Mask]
    none: str

    def rows(self, facts: WindowFacts) -> Rows:
        """Their positions."""
        return np.flatnonzero(self.mask(facts))


def ops_named(none: str, *names: str) -> Subject:
    """The ops with one of these canonical names."""
    return Subject(lambda facts: facts.named(*names), none)


def ops_of_family(none: str, *families: str) -> Subject:
    """The ops of these families."""
    return Subject(lambda facts: facts.of_family(*families), none)


ANY_OPS = Subject(lambda facts: np.ones(len(facts), dtype=np.bool_), "no ops")


@dataclass(frozen=True, slots=True)
class Check:
    """One problem we look for.

    Attributes:
        id: kebab-case, names the problem seen, not the remedy.
        title: a few words for a list.
        step: of the skill, 1 to 7.
        look: yields claims, or one CannotTell; nothing means clean. Called only if `of` and `needs` allow it.
        of: the ops it is about; without such ops the check is not applicable.
        needs: what the run must have; without it the check cannot tell.
        worth: the least that a claim must save to be reported.
        compiled: the fix for a compiled program: its author cannot change the TTNN call.
        general: it sees a symptom, other checks know causes. On ops that both claim, the other claims keep their
            bounds, and this one promises only the rest.
    """

    id: str
    title: str
    step: int
    look: Callable[[WindowFacts], Claims]
    of: Subject = ANY_OPS
    needs: tuple[Need, ...] = ()
    worth: Worth = ALWAYS
    compiled: str | None = None
    general: bool = False

    @property
    def read_next(self) -> str:
        """The skill page that teaches the fix."""
        return STEP_PAGES[self.step]

    @property
    def page(self) -> str:
        """The check's documentation: the docstring of its module."""
        import sys  # noqa: PLC0415

        text = sys.modules[self.look.__module__].__doc__ or ""
        return f"# {self.id}\n\n*Step {self.step}, {STEP_TITLES[self.step]}: {self.title}.*\n\n{text.strip()}\n"


def no_saving(rows: Rows) -> Floats:
    """Bounds of a claim that is a risk, not a saving."""
    return np.zeros(len(rows))
