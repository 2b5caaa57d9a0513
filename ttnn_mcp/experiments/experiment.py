"""What the loop remembers: one change with its runs, its accuracy and what came of it."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Annotated, Literal, TypeAlias
from uuid import uuid4

from pydantic import Field

Verdict: TypeAlias = Literal["keep", "revert", "inconclusive"]
JudgedBy: TypeAlias = Literal["kernel", "wall", "per_sample"]
LONGEST_TEXT = 500  # characters of what a person writes; the same bound as in the call that records it
Id = Annotated[str, Field(min_length=1, max_length=64)]
Text = Annotated[str, Field(max_length=LONGEST_TEXT)]
Sentence = Annotated[str, Field(max_length=2000)]  # ours; the longest verdict so far has some 300 characters
Path = Annotated[str, Field(min_length=1, max_length=4096)]  # PATH_MAX of Linux
Flags = Annotated[tuple[Sentence, ...], Field(max_length=50)]
Nanoseconds = Annotated[int, Field(ge=1, le=10**15)]  # up to eleven days; a window without time compares to nothing
Milliseconds = Annotated[float, Field(gt=0, le=1e9, allow_inf_nan=False)]
Change = Annotated[float, Field(ge=-1, le=1e9, allow_inf_nan=False)]  # nothing gets faster by more than all of it
Noise = Annotated[float, Field(ge=0, le=1e9, allow_inf_nan=False)]
Correlation = Annotated[float, Field(ge=-1, le=1, allow_inf_nan=False)]
Moment = Annotated[float, Field(ge=0, le=1e11, allow_inf_nan=False)]  # seconds since 1970
Number = Annotated[int, Field(ge=0, le=2**53)]  # what JSON readers keep exact
Step = Annotated[int, Field(ge=1, le=7)]
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

    id: Id
    name: Sentence
    performance: Path | None
    memory: Path | None
    kernel_ns: Nanoseconds
    warm: bool
    rank: Number | None = None


@dataclass(frozen=True, slots=True)
class Experiment:
    """One recorded change. Shares are relative changes of what it was judged by; negative is faster.

    Attributes:
        id: number in this store; 0 until it is recorded.
        uid: the same in every store it is imported into.
        recorded: seconds since 1970.
        flags: what makes the verdict doubtful, such as several changes at once.
    """

    change: Annotated[Text, Field(min_length=1)]
    step: Step | None
    baseline: RunSeen
    candidate: RunSeen
    pcc: Correlation | None
    wall_before_ms: Milliseconds | None
    wall_after_ms: Milliseconds | None
    measured: Sentence
    judged_by: JudgedBy
    change_share: Change
    noise_share: Noise
    verdict: Verdict
    why: Sentence
    flags: Flags = ()
    hypothesis: Text | None = None
    note: Text | None = None
    recorded: Moment = 0.0
    uid: Id = field(default_factory=lambda: uuid4().hex)
    id: Number = 0


@dataclass(frozen=True, slots=True)
class Target:
    """When to stop: a latency, a throughput or a share of the roofline, for the loop that starts at `baseline`."""

    baseline: RunSeen
    kind: TargetKind
    value: Annotated[float, Field(gt=0, le=1e12, allow_inf_nan=False)]
    batch: Annotated[int, Field(ge=1, le=10**9)] = 1
    recorded: Moment = 0.0

    @property
    def said(self) -> str:
        """The target as a person writes it."""
        if self.kind == "latency_ms":
            return f"{self.value:g} ms"
        if self.kind == "samples_per_s":
            return f"{self.value:g} samples/s at batch {self.batch}"
        return f"{self.value:.0%} of the roofline"
