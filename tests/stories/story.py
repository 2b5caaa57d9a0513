"""A public story of an optimisation as a small made report, and what `optimization_check` says of it.

The figures (times before and after, shapes where the source tells them) are the source's. What it does not tell is made
up, and `made_up` says what: then a missing saving means that only the naming of the change is judged.
"""

from __future__ import annotations

import asyncio
import re
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

from tests.checks.rows import COLD_THEN_WARM
from tests.profiles import Program, write_performance_report
from tests.profiles.model import DeviceOp
from ttnn_mcp.session.session import Session, Settings
from ttnn_mcp.tools import TOOLS, answering

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence
    from typing import Any

    from tests.profiles import Iteration, Tensor

WIDE_AT = 5  # an upper bound beyond so many times the measured saving is called wide
NOISE = 1.02  # of the source's figures
A_PROMISE = 0.05  # of the kernel time: less than this from a change that brought nothing is within its noise
SPLIT = "how the time is split over the ops"
SHAPE = "the shape"
TIMES = "the times"


@dataclass(frozen=True)
class Story:
    """One optimisation that somebody measured.

    Attributes:
        id: of facts.json, or a name of our own.
        source: where it is told.
        ran: what ran before.
        change: what worked, or what did not.
        build: the ops before the change.
        first: what the checks said when they met the story first: no check knew it.
        now: what they say today.
        saving_us: what was measured; None where the source has no figure for these ops alone.
        names: pattern of a fix that names the change.
        denies: pattern of a change that was measured to bring nothing, or to cost time.
        made_up: what the source does not tell.
        unknown: why the change cannot be known from a report; empty where it is named, or should be.
        iterations: how the ops ran.
        several: whether the change was several levers at once: what the findings promise that name them is then added.
    """

    id: str
    source: str
    ran: str
    change: str
    build: Callable[[], Program]
    first: str
    now: str
    saving_us: float | None = None
    names: str = ""
    denies: str = ""
    made_up: str = SPLIT
    unknown: str = ""
    iterations: Sequence[Iteration] = COLD_THEN_WARM
    several: bool = False


def run_op(program: Program, name: str, inputs: Sequence[Tensor], out: Tensor, us: float, **how: Any) -> Tensor:
    """One device op that took `us` microseconds; its output."""
    op = DeviceOp(f"{name}DeviceOperation", tuple(inputs), (out,), round(us * 1e3), **how)
    program.call("ttnn.made_up", op.inputs, op.outputs, (op,))
    return out


_told: dict[str, tuple[list[dict[str, Any]], float]] = {}


def findings_of(story: Story) -> tuple[list[dict[str, Any]], float]:
    """Every finding about the story's report, small ones too, and the kernel time of its window in us; asked once."""
    if story.id not in _told:
        with TemporaryDirectory() as folder:
            _told[story.id] = _findings(story, Path(folder))
    return _told[story.id]


def _findings(story: Story, folder: Path) -> tuple[list[dict[str, Any]], float]:
    report = write_performance_report(folder / story.id, story.build(), story.iterations)
    tool = answering.tool_named("optimization_check", TOOLS)
    session = Session(Settings(state=folder / "state"))
    answer = asyncio.run(answering.all_findings(session, tool, {"run": str(report), "min_saving_share": 0}))
    return answer["findings"], answer["kernel_ms"] * 1e3


def naming(story: Story, found: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """The findings whose fix names the change."""
    pattern = story.names or story.denies
    return [one for one in found if re.search(pattern, one["fix"])]


def verdict(story: Story, found: list[dict[str, Any]], kernel_us: float) -> str:
    """As the judge of the first table gives it."""
    named = naming(story, found)
    if story.denies:
        promised = sum(_most(one) for one in named if one["saving_us"].get("expected") is not None)  # no trial
        return "right" if promised <= A_PROMISE * kernel_us else "false promise"
    if not named:
        return "other change" if any(_most(one) > 0 for one in found) else "silent"
    saving = story.saving_us
    if saving is None or not any(_most(one) for one in named):
        return "named"
    holding = [
        most for least, most in _promises(story, named) if least <= saving * NOISE and saving <= most * NOISE
    ]
    if not holding:
        return "bound wrong"
    return "right" if min(holding) <= WIDE_AT * saving else "right, wide"


def _promises(story: Story, named: list[dict[str, Any]]) -> Iterator[tuple[float, float]]:
    """The bounds of each check that names the change, those of its findings added; of all, for several levers."""
    checks = {one.get("check") for one in named}
    for check in [checks] if story.several else [{check} for check in checks]:
        bounds = [one["saving_us"] for one in named if one.get("check") in check]
        yield sum(us["at_least"] for us in bounds), sum(us["at_most"] for us in bounds)


def _most(finding: Mapping[str, Any]) -> float:
    return float(finding["saving_us"]["at_most"])
