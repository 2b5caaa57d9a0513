"""What a script measured, taken back: a verdict per candidate with its noise, bound to op, chip, clock and TTNN."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal, TypeAlias

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from ttnn_mcp import quoting
from ttnn_mcp.analyses.comparison.noise import FLOOR_SHARE
from ttnn_mcp.errors import QuestionRefused, shown
from ttnn_mcp.hardware import canonical_architecture
from ttnn_mcp.readers.regular_file import begin_of, begin_of_named
from ttnn_mcp.records import dataclass
from ttnn_mcp.replay.measuring import FORMAT

LARGEST_BYTES = 1_000_000  # a candidate takes 1 kB
FLAT_AT_LEAST = 3  # candidates that do not differ, until nothing is to be gained: field practice is 3 to 6
FLAT_WITHIN = 0.05  # noise beyond which nothing is told of what bounds the op: of kernels 1 % is usual
LEAST_PCC = 0.99  # as everywhere here
CLOCK_WITHIN = 0.01  # share by which clocks differ that are written in whole MHz and in GHz
PCC_LOST = 0.001  # beside an op that has less as profiled
Verdict = Literal[
    "faster", "alike", "slower", "wrong result", "impossible", "refused", "hung", "died", "skipped", "not measured",
    "accepted",
]  # fmt: skip
Finite = Annotated[float, Field(ge=0, le=1e12, allow_inf_nan=False)]
Short = Annotated[str, Field(max_length=500)]
Setting: TypeAlias = "Annotated[str, Field(max_length=60)] | int | bool | None"


class _Data(BaseModel):
    model_config = ConfigDict(frozen=True, extra="ignore", strict=True)


class ChipUsed(_Data):
    """The chip that the script ran on."""

    arch: Short
    mock: bool = False


class TriedCandidate(_Data):
    """One candidate as the script tells it."""

    name: Short
    settings: Annotated[dict[Short, Setting], Field(max_length=30)]
    outcome: Literal["measured", "accepted", "refused", "hung", "died", "skipped", "not measured"]
    why: Short = ""
    median_us: Finite | None = None
    noise_share: Finite | None = None
    source: Short = ""
    pcc: Annotated[float, Field(ge=-1.001, le=1.001)] | None = None
    buffer_bytes: int | None = None
    tensor_bytes: int | None = None
    device_ops: Annotated[list[Short], Field(max_length=100)] = Field(default_factory=list[str])
    output: Annotated[dict[Short, Annotated[str, Field(max_length=5_000)]], Field(max_length=10)] = Field(
        default_factory=dict[str, str]
    )


class Results(_Data):
    """All that a script wrote. The first candidate is the op as profiled."""

    format: Literal["ttnn-mcp replay 1"]
    line: int
    op: Short
    signature: Annotated[str, Field(pattern="^[0-9a-f]{16}$")]
    tuned: Annotated[str, Field(pattern="^[0-9a-f]{16}$")]
    arch: Short | None
    clock_ghz: Finite | None
    kernel_us: Finite | None
    floor_us: Finite | None
    ttnn: Short = ""
    chip: ChipUsed | None = None
    clock_mhz: int | None = None
    mode: Literal["measured", "accepted"]
    candidates: Annotated[tuple[TriedCandidate, ...], Field(min_length=1, max_length=1000)]
    ended: Short | None = None
    again_us: Finite | None = None

    @property
    def baseline(self) -> TriedCandidate:
        """The op as profiled."""
        return self.candidates[0]

    @property
    def stopped(self) -> str | None:
        """Why nothing is compared: the sweep ended, or chip or clock are not those of the profile."""
        ran = canonical_architecture(self.chip.arch) if self.chip else None
        clock, profiled = (self.clock_mhz or 0) / 1e3, self.clock_ghz or 0.0
        if self.ended is not None:
            return self.ended
        if ran and self.arch and ran != self.arch:
            return f"measured on a {ran}, and the profile is of a {self.arch}"
        if clock and profiled and abs(clock - profiled) > CLOCK_WITHIN * profiled:
            return f"measured at {clock:.2f} GHz, and the profile at {profiled:.2f}"
        return None


@dataclass(frozen=True, slots=True)
class SweepOutcome:
    """What the results say.

    Attributes:
        verdicts: per candidate, its verdict and the noise that it was judged by; None where it was not timed.
        winner: the fastest that is faster, with a right result.
        summary: all of it in a sentence.
    """

    verdicts: tuple[tuple[TriedCandidate, Verdict, float | None], ...]
    winner: TriedCandidate | None
    summary: str


def read_results(path: Path) -> Results:
    """Read what a script wrote. Blocks.

    Raises:
        ReportMissing: there is no such file.
        QuestionRefused: it is no result of a replay.
    """
    content = begin_of_named(path, LARGEST_BYTES + 1)
    try:
        return Results.model_validate_json(content[:LARGEST_BYTES])
    except ValidationError:
        raise QuestionRefused(
            f"{shown(path.name)} is no result of a replay: give the JSON that the script of replay_op wrote."
        ) from None


def is_result(path: Path) -> bool:
    """Whether the file says that it is one. Blocks."""
    try:
        return f'"{FORMAT}"'.encode() in begin_of(path, 200)
    except (OSError, ValueError):
        return False


def judged(results: Results) -> SweepOutcome:
    """The verdict on each candidate, and on all of them."""
    verdicts = tuple((one, *_verdict(one, results)) for one in results.candidates)
    faster = [one for one, verdict, _ in verdicts if verdict == "faster"]
    winner = min(faster, key=lambda one: one.median_us or 0.0, default=None)
    return SweepOutcome(verdicts, winner, _summary(results, verdicts, winner))


def _verdict(one: TriedCandidate, results: Results) -> tuple[Verdict, float | None]:
    base = results.baseline
    if one.outcome != "measured" or one.median_us is None:
        return ("not measured" if one.outcome == "measured" else one.outcome), None
    if results.floor_us is not None and one.median_us < results.floor_us:
        return "impossible", None
    if _is_wrong(one, base):
        return "wrong result", None
    if one is base:
        return "alike", one.noise_share
    if base.median_us is None or one.source != base.source or results.stopped is not None:
        return "not measured", None
    drift = abs(results.again_us - base.median_us) / base.median_us if results.again_us and base.median_us else 0.0
    noise = max(FLOOR_SHARE, base.noise_share or 0.0, one.noise_share or 0.0, drift)
    change, least = one.median_us - base.median_us, noise * base.median_us
    return ("faster" if change < -least else "slower" if change > least else "alike"), noise


def _is_wrong(one: TriedCandidate, base: TriedCandidate) -> bool:
    least = LEAST_PCC if base.pcc is None or base.pcc >= LEAST_PCC else base.pcc - PCC_LOST
    return one.pcc is not None and one.pcc < least


def _summary(
    results: Results,
    verdicts: tuple[tuple[TriedCandidate, Verdict, float | None], ...],
    winner: TriedCandidate | None,
) -> str:
    if results.mode == "accepted":
        taken = sum(one.outcome == "accepted" for one in results.candidates)
        return f"TTNN takes {taken} of {len(results.candidates)}; nothing was measured"
    if results.stopped is not None:
        return f"no candidate was compared: {quoting.reason(results.stopped)}"
    base = results.baseline
    if winner is not None and winner.median_us is not None and base.median_us:  # unmoved: both times of a winner
        saved = 1 - winner.median_us / base.median_us
        times = f"{winner.median_us:.2f} instead of {base.median_us:.2f} us"
        alone = "" if winner.pcc is not None else "; its result was not compared with torch"
        return f"{shown(winner.name)} is faster: {times} ({saved:.1%}){alone}"
    kinds = [verdict for _, verdict, _ in verdicts[1:] if verdict in ("alike", "slower")]
    noise = max((one or 0.0 for _, _, one in verdicts[1:]), default=0.0)  # of those that were compared
    if noise > FLAT_WITHIN:
        return f"none is faster by more than the noise, which was up to {noise:.0%}: measure again, with more --repeats"
    if kinds.count("alike") == len(kinds) >= FLAT_AT_LEAST:
        return "flat: bound by data movement or by its cores, no setting that was tried helps"
    return "none is faster" if kinds else "no candidate was measured"
