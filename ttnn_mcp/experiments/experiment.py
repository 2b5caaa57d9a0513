"""What the loop remembers: one change with its runs, its accuracy and what came of it."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal, TypeAlias
from uuid import uuid4

Verdict: TypeAlias = Literal["keep", "revert", "inconclusive"]
JudgedBy: TypeAlias = Literal["kernel", "wall", "per_sample"]
TargetKind: TypeAlias = Literal["latency_ms", "samples_per_s", "roofline_share"]


@dataclass(frozen=True, slots=True)
class RunSeen:
    """A run as it was when recorded; `id` is of its contents, so a moved report is the same run.

    Attributes:
        performance: path of its performance report then.
        rank: of a memory report with several.
        kernel_ns: kernel time of the window that was compared.
        warm: whether that window was warm.
    """

    id: str
    name: str
    performance: str | None
    memory: str | None
    kernel_ns: int
    warm: bool
    rank: int | None = None


@dataclass(frozen=True, slots=True)
class Experiment:
    """One recorded change. Shares are relative changes of what it was judged by; negative is faster.

    Attributes:
        id: number in this store; 0 until it is recorded.
        uid: the same in every store it is imported into.
        recorded: seconds since 1970.
        flags: what makes the verdict doubtful, such as several changes at once.
    """

    change: str
    step: int | None
    baseline: RunSeen
    candidate: RunSeen
    pcc: float | None
    wall_before_ms: float | None
    wall_after_ms: float | None
    measured: str
    judged_by: JudgedBy
    change_share: float
    noise_share: float
    verdict: Verdict
    why: str
    flags: tuple[str, ...] = ()
    hypothesis: str | None = None
    note: str | None = None
    recorded: float = 0.0
    uid: str = field(default_factory=lambda: uuid4().hex)
    id: int = 0


@dataclass(frozen=True, slots=True)
class Target:
    """When to stop: a latency, a throughput or a share of the roofline, for the loop that starts at `baseline`."""

    baseline: RunSeen
    kind: TargetKind
    value: float
    batch: int = 1
    recorded: float = 0.0

    @property
    def said(self) -> str:
        """The target as a person writes it."""
        if self.kind == "latency_ms":
            return f"{self.value:g} ms"
        if self.kind == "samples_per_s":
            return f"{self.value:g} samples/s at batch {self.batch}"
        return f"{self.value:.0%} of the roofline"
