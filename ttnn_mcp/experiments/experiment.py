"""What the loop records: one change with its runs, its accuracy, its measurement and the verdict."""

from __future__ import annotations

from dataclasses import field
from typing import Annotated, Literal, TypeAlias
from uuid import uuid4

from pydantic import Field

from ttnn_mcp.quoting import figure
from ttnn_mcp.records import dataclass

Verdict: TypeAlias = Literal["keep", "revert", "inconclusive"]
JudgedBy: TypeAlias = Literal["kernel", "wall", "per_sample", "memory"]
LONGEST_TEXT = 500  # characters of a person's text; the same limit as in the call that records it
Id = Annotated[str, Field(min_length=1, max_length=64)]
Digest = Annotated[str, Field(min_length=1, max_length=64)]
Text = Annotated[str, Field(max_length=LONGEST_TEXT)]
# our own texts; the longest verdict so far has about 300 characters
Sentence = Annotated[str, Field(max_length=2000)]
Path = Annotated[str, Field(min_length=1, max_length=4096)]  # PATH_MAX of Linux
Flags = Annotated[tuple[Sentence, ...], Field(max_length=50)]
Nanoseconds = Annotated[int, Field(ge=1, le=10**15)]  # up to eleven days; a window without time cannot be compared
Microseconds = Annotated[float, Field(ge=0, le=1e12, allow_inf_nan=False)]
Milliseconds = Annotated[float, Field(gt=0, le=1e9, allow_inf_nan=False)]
Change = Annotated[float, Field(ge=-1, le=1e9, allow_inf_nan=False)]  # -1 would mean that no time is left
Noise = Annotated[float, Field(ge=0, le=1e9, allow_inf_nan=False)]
Correlation = Annotated[float, Field(ge=-1, le=1, allow_inf_nan=False)]
Moment = Annotated[float, Field(ge=0, le=1e11, allow_inf_nan=False)]  # seconds since 1970
Number = Annotated[int, Field(ge=0, le=2**53)]  # JSON readers keep these exact
LayerPcc = tuple[Number, Correlation]  # a layer's number, and the PCC of all up to it
MOST_LAYERS = 10_000
LayerPccs = Annotated[tuple[LayerPcc, ...], Field(max_length=MOST_LAYERS)]
Step = Annotated[int, Field(ge=1, le=7)]
TargetKind: TypeAlias = Literal["latency_ms", "samples_per_s", "roofline_share"]


@dataclass(frozen=True, slots=True)
class RunSeen:
    """A run as it was when an experiment was recorded.

    Attributes:
        id: from the reports' contents, so a moved report is the same run.
        name: for people.
        performance: path of the performance report at that time.
        memory: path of the memory report at that time.
        rank: the rank that was read, of a memory report with several.
        kernel_ns: kernel time of the window that was compared.
        warm: whether that window was warm.
        reading: a digest of its kernel times; None where it came from a ledger, or it holds few ops.
        program: a digest of what ran in it; None where it came from a ledger.
    """

    id: Id
    name: Sentence
    performance: Path | None
    memory: Path | None
    kernel_ns: Nanoseconds
    warm: bool
    rank: Number | None = None
    reading: Digest | None = None
    program: Digest | None = None

    @property
    def of_ledger(self) -> bool:
        """Whether it is a row of an imported ledger, without a report."""
        return self.performance is None and self.memory is None


@dataclass(frozen=True, slots=True)
class Experiment:
    """One recorded change. Shares are relative changes of the figure in `judged_by`; negative is faster.

    Attributes:
        id: number in this store; 0 until it is recorded.
        uid: stays the same in every store that imports it.
        recorded: seconds since 1970.
        flags: what makes the verdict doubtful, `code: evidence`, such as several changes at once.
        finding: the check whose finding on the baseline was tried; None where nobody said.
        at_most_us: what that finding promised at most.
        layer_pccs: what the candidate keeps after each layer; none where nobody measured it.
        drifts_at: its first layer that loses more than others.
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
    finding: Id | None = None
    at_most_us: Microseconds | None = None
    layer_pccs: LayerPccs = ()
    drifts_at: Number | None = None
    recorded: Moment = 0.0
    uid: Id = field(default_factory=lambda: uuid4().hex)
    id: Number = 0

    @property
    def has_wrong_walls(self) -> bool:
        """Whether its wall times were doubted themselves: another unit, or another part of the model."""
        return any(flag.startswith(("wall_below_kernels:", "wall_above_window:")) for flag in self.flags)

    @property
    def batch_ratio(self) -> float:
        """Samples of an iteration, after over before: a change per sample tells it beside the one per iteration."""
        times: tuple[float | None, float | None] = (None, None)
        if self.judged_by == "per_sample":
            times = self.baseline.kernel_ns, self.candidate.kernel_ns
        elif self.judged_by == "wall":
            times = self.wall_before_ms, self.wall_after_ms
        if times[0] is None or times[1] is None or self.change_share == -1:
            return 1.0
        return times[1] / times[0] / (1 + self.change_share)


@dataclass(frozen=True, slots=True)
class Target:
    """The goal of the loop that starts at `baseline`: a latency, a throughput or a share of the roofline.

    Attributes:
        kind: which of them.
        value: in ms, samples per second, or as a share.
        batch: samples per iteration.
        recorded: seconds since 1970.
        rounds: after so many experiments the loop ends.
        hours: after so many hours the loop ends.
    """

    baseline: RunSeen
    kind: TargetKind
    value: Annotated[float, Field(gt=0, le=1e12, allow_inf_nan=False)]
    batch: Annotated[int, Field(ge=1, le=10**9)] = 1
    recorded: Moment = 0.0
    rounds: Annotated[int, Field(ge=1, le=10**6)] | None = None
    hours: Annotated[float, Field(gt=0, le=10**6)] | None = None

    @property
    def text(self) -> str:
        """The target in words."""
        if self.kind == "latency_ms":
            return f"{figure(self.value, 'g')} ms"
        if self.kind == "samples_per_s":
            return f"{figure(self.value, 'g')} samples/s at batch {self.batch}"
        return f"{figure(self.value, '.0%')} of the roofline"
