"""experiments: the feedback loop's memory."""

from __future__ import annotations

from math import inf
from typing import TYPE_CHECKING, Literal

from pydantic import Field

from ttnn_mcp.checks.check import STEP_TITLES
from ttnn_mcp.errors import ArgumentsInvalid, QuestionRefused
from ttnn_mcp.tools.tool import Arguments as Closed
from ttnn_mcp.tools.tool import Tool
from ttnn_mcp.wire import Ms, NextCall, Share, Table, Wire

if TYPE_CHECKING:
    from ttnn_mcp.session.session import Session

LONGEST_TEXT = 500


class Arguments(Closed):
    """Arguments of experiments; bounds are checked when asked, in the schema every reader would pay for them."""

    action: Literal["list", "record", "target", "export", "import"] = "list"
    change: str | None = Field(None, description="The one thing that was changed")
    step: int | None = Field(None, description="Of the skill, 1 to 7")
    hypothesis: str | None = None
    baseline: str | None = Field(None, description="Run before; default: best so far")
    candidate: str | None = Field(None, description="Run after; default: the newest")
    pcc: float | None = Field(None, description="Against the reference")
    note: str | None = None
    wall_before_ms: float | None = Field(None, description="Profiler off; for steps 4, 5")
    wall_after_ms: float | None = None
    start_signpost: str | None = None
    end_signpost: str | None = None
    target: str | None = Field(None, description="'10 ms', '100 samples/s', '60 % of roofline'")
    batch: int = Field(1, description="Samples per iteration")
    path: str | None = Field(None, description="JSON file, for export and import")


class BeforeAfter(Wire):
    """Milliseconds on both sides."""

    before: Ms
    after: Ms


class Recorded(Wire):
    """One experiment as it was recorded."""

    id: int
    verdict: Literal["keep", "revert", "inconclusive"]
    why: str
    flags: tuple[str, ...] = ()
    judged_by: Literal["kernel", "wall", "per_sample"]
    change_share: Share
    noise_share: Share
    kernel_ms: BeforeAfter
    baseline: str
    candidate: str


class RunSaid(Wire):
    """A run of the loop."""

    run: str
    name: str
    kernel_ms: Ms
    wall_ms: Ms | None = None
    gain_share: Share | None = None


class TargetSaid(Wire):
    """The target, how far it is, and whether to stop."""

    target: str
    status: Literal["met", "within_reach", "out_of_reach", "unknown"]
    stop: bool
    why: str


class Moved(Wire):
    """What an export or import did."""

    path: str
    experiments: int
    new: int | None = None


class Answer(Wire):
    """Answer of experiments; which fields are there depends on the action."""

    experiment: Recorded | None = None
    baseline: RunSaid | None = None
    best: RunSaid | None = None
    target: TargetSaid | None = None
    log: Table | None = None
    earlier: str | None = None
    try_next: Table | None = None
    checklist: Table | None = None
    file: Moved | None = None
    notes: tuple[str, ...] = ()
    next: tuple[NextCall, ...] = ()


async def experiments(session: Session, asked: Arguments) -> Answer:
    """The feedback loop's memory.

    record: one change with its PCC and runs; measures and answers keep, revert or inconclusive. list: the story so
    far (best, target, log, what to try next, checklist). target: when to stop.
    """
    from ttnn_mcp.tools.parts import loop_actions as loop  # noqa: PLC0415 - checks and store load with the first call
    from ttnn_mcp.tools.parts import loop_story  # noqa: PLC0415

    _check(asked)
    match asked.action:
        case "record":
            if not (asked.change or "").strip():
                raise ArgumentsInvalid(
                    "experiments: 'change' is required to record: say what was changed, one thing."
                )
            return await loop.record(session, asked)
        case "target":
            if asked.target is None:
                raise ArgumentsInvalid("experiments: 'target' is required, such as '10 ms' or '100 samples/s'.")
            return await loop.set_target(session, asked, asked.target)
        case "export":
            return await loop.export(session, asked.path)
        case "import":
            if asked.path is None:
                raise QuestionRefused("experiments: 'path' is required to import: the file an export wrote.")
            return await loop.bring_in(session, asked.path)
        case _:
            return await loop_story.tell(session, asked.baseline)


def _check(asked: Arguments) -> None:
    walls = asked.wall_before_ms, asked.wall_after_ms
    texts = {"change": asked.change, "hypothesis": asked.hypothesis, "note": asked.note}
    wrong = [
        *(["'step' is 1 to 7"] if asked.step is not None and asked.step not in STEP_TITLES else []),
        *(["'pcc' is -1 to 1"] if asked.pcc is not None and not -1 <= asked.pcc <= 1 else []),
        *(["'batch' is 1 or more"] if asked.batch < 1 else []),
        *(["wall_before_ms and wall_after_ms come together"] if (walls[0] is None) != (walls[1] is None) else []),
        *(["wall times are positive"] if any(one is not None and not 0 < one < inf for one in walls) else []),
        *(f"'{name}' has more than {LONGEST_TEXT} characters" for name, text in texts.items() if _long(text)),
    ]
    if wrong:
        raise ArgumentsInvalid(f"experiments: {'; '.join(wrong)}.")


def _long(text: str | None) -> bool:
    return len(text or "") > LONGEST_TEXT


TOOL = Tool(
    name="experiments",
    title="Experiments",
    arguments=Arguments,
    answer=Answer,
    ask=experiments,
    writes=True,
    search_hint="record change keep revert log progress checklist target iterate optimization pcc",
)
