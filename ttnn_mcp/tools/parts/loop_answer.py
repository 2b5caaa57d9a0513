"""Arguments and answer of `experiments`: what its actions take, and what they put into it."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from ttnn_mcp.experiments.decision import Ground
from ttnn_mcp.tools.parts.proof_tables import ENGAGED, SUSPICIOUS
from ttnn_mcp.tools.tool import Arguments as Closed
from ttnn_mcp.wire import BeforeAfterMs, Columns, Ms, NextCall, Quoted, Quoting, Saving, Share, Table, Wire

LOG = Columns("id", "step", "change", "verdict", "change_share", "pcc")
TRY_NEXT = Columns("check", "step", "at_most_us")
RULED_OUT = Columns("check", "tries", "experiment", "why")
CHECKLIST = Columns("tick", "rests_on", "why", quoted=("why",))


Blocks = float | list[float] | None


class Arguments(Closed):
    """Arguments of experiments; bounds are checked when asked, in the schema every reader would pay for them."""

    action: Literal["list", "next", "record", "target", "export", "import"] = "list"
    change: str | None = Field(None, description="The one thing that was changed")
    step: int | None = Field(None, description="Of the skill, 1 to 7")
    finding: str | None = Field(None, description="Check that it follows")
    hypothesis: str | None = None
    baseline: str | None = Field(None, description="Run before; default: best so far. With import: the control")
    candidate: str | None = Field(None, description="Run after; default: newest")
    repeats: list[str] | None = None
    pcc: float | None = Field(None, description="Against the reference")
    accuracy: str | None = Field(None, description="JSON of `ttnn-mcp accuracy`'s script")
    note: str | None = None
    wall_before_ms: Blocks = Field(None, description="Profiler off; for steps 4, 5. A list: blocks of replays")
    wall_after_ms: Blocks = None
    start_signpost: str | None = None
    end_signpost: str | None = None
    target: str | None = Field(None, description="'10 ms', '100 samples/s', '60 % of roofline'")
    batch: int = Field(1, description="Samples per iteration")
    rounds: int | None = Field(None, description="With target: most experiments")
    hours: float | None = None
    path: str | None = Field(None, description="JSON, or a ledger to import: CSV, Markdown, folder of perf reports")


def blocks_of(walls: float | list[float]) -> list[float]:
    """Wall times in ms, one for each block of replays."""
    return walls if isinstance(walls, list) else [walls]


class Recorded(Wire):
    """One experiment as it was recorded.

    `layer_falls_most`: against the last experiment with layers.
    """

    id: int
    verdict: Literal["keep", "revert", "inconclusive"]
    why: Quoting
    judged_by: Literal["kernel", "wall", "per_sample", "memory"]
    change_share: Share
    noise_share: Share
    kernel_ms: BeforeAfterMs
    baseline: str
    candidate: str
    drifts_at_layer: int | None = None
    layer_falls_most: int | None = None


class LoopRun(Wire):
    """A run of the loop."""

    run: str
    name: Quoted
    kernel_ms: Ms
    wall_ms: Ms | None = None
    gain_share: Share | None = None


class TargetProgress(Wire):
    """The target, how far it is, and whether to stop."""

    target: str
    status: Literal["met", "within_reach", "out_of_reach", "unknown"]
    stop: bool
    why: Quoting


class Decided(Wire):
    """What to try next, or why to stop."""

    decision: Literal["try", "stop"]
    reason: Ground
    why: Quoting
    finding: str | None = None
    step: int | None = None
    saving_us: Saving | None = None
    fix: Quoting | None = None
    read_next: str | None = None
    ruled_out: Annotated[Table, RULED_OUT] | None = None


class Moved(Wire):
    """What an export or import did."""

    path: str
    experiments: int
    new: int | None = None
    replayed: int | None = None


class Answer(Wire):
    """Answer of experiments; which fields are there depends on the action."""

    experiment: Recorded | None = None
    suspicious: Annotated[Table, SUSPICIOUS] | None = None
    engaged: Annotated[Table, ENGAGED] | None = None
    change_taken_as: Quoting | None = None
    baseline: LoopRun | None = None
    best: LoopRun | None = None
    target: TargetProgress | None = None
    log: Annotated[Table, LOG] | None = None
    earlier: str | None = None
    try_next: Annotated[Table, TRY_NEXT] | None = None
    checklist: Annotated[Table, CHECKLIST] | None = None
    decided: Decided | None = None
    file: Moved | None = None
    notes: tuple[Quoting, ...] = ()
    next: tuple[NextCall, ...] = ()
