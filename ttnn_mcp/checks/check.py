"""What a check is: which ops it looks at, what it needs, and how it yields problems, or says why it cannot tell."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from typing import Concatenate, ParamSpec, TypeAlias

import numpy as np

from ttnn_mcp.analyses.window_facts import WindowFacts
from ttnn_mcp.checks.arrays import Floats, Mask, Rows, no_saving
from ttnn_mcp.checks.levers import OTHER_OP, Lever
from ttnn_mcp.checks.needs import Need
from ttnn_mcp.checks.problem import Affected, Claim, Problem, Words
from ttnn_mcp.checks.worth import ALWAYS, Worth
from ttnn_mcp.records import dataclass
from ttnn_mcp.wire import Evidence

# what checks are written with, from here or from the modules named above
__all__ = [
    "Affected",
    "Claim",
    "Evidence",
    "Floats",
    "Mask",
    "Problem",
    "Rows",
    "WindowFacts",
    "Words",
    "no_saving",
]
__all__ += [
    "ANY_OPS",
    "CannotTell",
    "Clean",
    "Problems",
    "Subject",
    "check",
    "ops_named",
    "ops_of_family",
    "spoken_of",
]
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


@dataclass(frozen=True, slots=True)
class CannotTell:
    """The run lacks the evidence; `why` tells what to capture."""

    why: str


@dataclass(frozen=True, slots=True)
class Clean:
    """There is no problem though the report looks so; `why` tells what shows it."""

    why: str


Problems: TypeAlias = "Iterator[Problem | CannotTell | Clean]"
Look: TypeAlias = "Callable[[WindowFacts], Problems]"
Parts = ParamSpec("Parts")


@dataclass(frozen=True, slots=True)
class Subject:
    """The ops a check is about: their mask, and the answer if there are none; whether they are known by their kind."""

    mask: Callable[[WindowFacts], Mask]
    none: str
    by_kind: bool = False

    def rows(self, facts: WindowFacts) -> Rows:
        """Their positions."""
        return np.flatnonzero(self.mask(facts))


def ops_named(none: str, *names: str) -> Subject:
    """The ops with one of these canonical names."""
    return Subject(lambda facts: facts.named(*names), none, by_kind=True)


def ops_of_family(none: str, *families: str) -> Subject:
    """The ops of these families."""
    return Subject(lambda facts: facts.of_family(*families), none, by_kind=True)


ANY_OPS = Subject(lambda facts: np.ones(len(facts), dtype=np.bool_), "no ops")


@dataclass(frozen=True, slots=True)
class Check:
    """One problem we look for.

    Attributes:
        look: yields problems, or one CannotTell; nothing means clean. Called only if `of` and `needs` allow it.
        title: a few words for a list.
        lever: what its fix changes in the code.
        of: the ops it is about; without such ops the check is not applicable.
        needs: what the run must have; without it the check cannot tell.
        worth: the least that a claim must save to be reported.
        compiled: the fix for a compiled program: its author cannot change the TTNN call.
        general: it sees a symptom, other checks know causes: where they change half of its ops, its edit stands last.
        slot: what its fix sets of an op, where it is more special than the lever's.
        costs_accuracy: whether its fix may lower the PCC.
        risk: it warns of what may go wrong, and promises no time.
        principal: a step of which it cannot tell is not clean, whatever the others say.
        id: kebab-case, names the problem affected, not the remedy.
        step: of the skill, 1 to 7.
    """

    look: Look
    title: str
    lever: Lever = OTHER_OP
    of: Subject = ANY_OPS
    needs: tuple[Need, ...] = ()
    worth: Worth = ALWAYS
    compiled: str | None = None
    general: bool = False
    slot: str = ""
    costs_accuracy: bool = False
    risk: bool = False
    principal: bool = False
    id: str = ""
    step: int = 0

    def __post_init__(self) -> None:
        """A check is named like its module, and belongs to the step of its folder."""
        *_, folder, module = self.look.__module__.split(".")
        object.__setattr__(self, "id", self.id or module.replace("_", "-"))
        object.__setattr__(self, "slot", self.slot or self.lever.slot or self.id)
        object.__setattr__(self, "step", self.step or int(folder.removeprefix("step")[0]))

    @property
    def read_next(self) -> str:
        """The skill page that teaches the fix."""
        return STEP_PAGES[self.step]

    @property
    def documentation(self) -> str:
        """The docstring of its module."""
        return (sys.modules[self.look.__module__].__doc__ or "").strip()

    @property
    def problem(self) -> str:
        """The first sentence of its documentation."""
        return self.documentation.partition("\n")[0]

    @property
    def page(self) -> str:
        """Its documentation with a heading."""
        title = f"# {self.id}\n\n*Step {self.step}, {STEP_TITLES[self.step]}: {self.title}.*"
        return f"{title}\n\n{self.documentation}\n"


def _declared(make: Callable[Concatenate[Look, Parts], Check]) -> Callable[Parts, Callable[[Look], Check]]:
    return lambda *parts, **named: lambda look: make(look, *parts, **named)


check = _declared(Check)  # what stands above a function makes it a check: @check(title=..., lever=...)


def spoken_of(other: Check, facts: WindowFacts) -> Rows:
    """The rows of which another check speaks: they are left to it. Where its needs are not met it speaks of none."""
    about = other.of.mask(facts)
    if not all(need.met(facts, about) for need in other.needs):
        return np.zeros(0, dtype=np.int64)
    rows = [each.rows for each in other.look(facts) if isinstance(each, Problem)]
    return np.unique(np.concatenate(rows)) if rows else np.zeros(0, dtype=np.int64)
