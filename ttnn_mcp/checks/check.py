"""What a check is, and what it says: claims with cited evidence and bounded savings, or why it is silent."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, TypeAlias

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from numpy.typing import NDArray

    from ttnn_mcp.analyses.window_facts import WindowFacts
    from ttnn_mcp.wire import Evidence

Need: TypeAlias = Literal["performance", "memory", "link"]
STEP_TITLES = {
    1: "Data formats",
    2: "Tensor layouts",
    3: "Memory and sharding",
    4: "Metal Trace",
    5: "Multi-CQ",
    6: "Conv2d",
    7: "Multi-device",
}


@dataclass(frozen=True, slots=True)
class Claim:
    """One thing that is wrong, on some ops of the facts.

    Attributes:
        claim: what is seen, with the figures that matter; one sentence.
        rows: positions in `facts.ops`; the ops the claim is about.
        at_most_ns: per row, the most a change can give back. Never above what the op took.
        at_least_ns: per row, the least; zeros where only an upper bound is honest.
        assumption: what the bounds rest on.
        evidence: cells cited with `facts.cite`; the heaviest examples first, three are plenty.
        fix: current TTNN code with this op's numbers in it.
        verify: which tool to call after re-profiling, and which field must move.
        caveat: when to distrust the claim.
        gap_ns: saving in the gaps between ops (at least, at most) instead of on the ops themselves.
    """

    claim: str
    rows: NDArray[np.int64]
    at_most_ns: NDArray[np.float64]
    assumption: str
    evidence: tuple[Evidence, ...]
    fix: str
    verify: str
    caveat: str | None = None
    at_least_ns: NDArray[np.float64] | None = None
    gap_ns: tuple[float, float] | None = None

    def __post_init__(self) -> None:
        """A claim cannot exist without evidence, and bounds belong to its rows."""
        if not self.evidence:
            raise ValueError(f"no evidence for: {self.claim}")
        if len(self.rows) != len(self.at_most_ns):
            raise ValueError(f"one bound per row: {self.claim}")


@dataclass(frozen=True, slots=True)
class NotApplicable:
    """The run has nothing this check speaks of."""

    why: str


@dataclass(frozen=True, slots=True)
class CannotTell:
    """The run lacks the evidence; `why` says what to capture."""

    why: str


Said: TypeAlias = Claim | NotApplicable | CannotTell


@dataclass(frozen=True, slots=True)
class Check:
    """One problem we look for.

    Attributes:
        id: kebab-facts, names the problem seen, not the remedy.
        title: a few words for a list.
        step: of the skill, 1 to 7.
        look: yields claims; or one NotApplicable or CannotTell; nothing means clean.
        read_next: the skill page that teaches the fix.
        needs: what the run must have before `look` is asked; without it the check cannot tell.
    """

    id: str
    title: str
    step: int
    look: Callable[[WindowFacts], Iterator[Said]]
    read_next: str
    needs: tuple[Need, ...] = ("performance",)

    @property
    def page(self) -> str:
        """The check's documentation: the docstring of its module."""
        import sys  # noqa: PLC0415

        text = sys.modules[self.look.__module__].__doc__ or ""
        return f"# {self.id}\n\n*Step {self.step}, {STEP_TITLES[self.step]}: {self.title}.*\n\n{text.strip()}\n"


def no_saving(rows: NDArray[np.int64]) -> NDArray[np.float64]:
    """Bounds of a claim that is a risk, not a saving."""
    return np.zeros(len(rows))
