"""The verdict on a trial: whether TTNN accepts the value, and whether its buffers and tensors fit L1."""

from __future__ import annotations

from typing import Literal

from ttnn_mcp.analyses.memory.l1_limit import L1Limit
from ttnn_mcp.analyses.settings.trial import Trial
from ttnn_mcp.records import dataclass
from ttnn_mcp.run.run import Run

SCHEMA_OF_TODAY = [3, 5]  # of the memory reports that TTNN 0.81 writes
Verdict = Literal["fits", "legal", "too_large", "illegal", "cannot_tell"]


@dataclass(frozen=True, slots=True)
class Judged:
    """A trial and its verdict.

    Attributes:
        trial: the trial.
        verdict: "fits" or "too_large": the value is legal, and its L1 is known. "legal": it does not change L1.
            "illegal": TTNN refuses it. "cannot_tell": its legality or its L1 is unknown, or too close to the limit.
        l1_bytes: bytes per core of buffers and tensors together; None where they are not modelled.
        l1: bytes per core of each, by name.
        wrong_values: why the run's build may accept it and yet compute wrong values.
    """

    trial: Trial
    verdict: Verdict
    l1_bytes: int | None
    l1: dict[str, int]
    wrong_values: str = ""

    @property
    def fits(self) -> bool | None:
        """Whether it fits L1; None if that is unknown or does not change."""
        return {"fits": True, "too_large": False}.get(self.verdict)

    @property
    def legal(self) -> bool | None:
        """Whether TTNN accepts it; None if unknown."""
        return False if self.trial.broken else None if self.trial.unknown else True


def judge(trial: Trial, limit: L1Limit | None, room_bytes: int | None = None, *, older: bool = True) -> Judged:
    """Judge a trial.

    Args:
        trial: the value and the L1 that it takes.
        limit: the limit of L1 on this chip.
        room_bytes: bytes below the lowest tensor while the op runs, from the memory report. Buffers start at the
            bottom of L1 and tensors at its top, so holes between tensors are of no use to buffers.
        older: whether the run may come from a build before 0.81: some buffers are larger there, some programs wrong.
    """
    tensors, measured = trial.tensors, room_bytes is not None
    if room_bytes is not None and limit is not None:
        tensors = {"TENSORS": max(limit.limit_bytes - room_bytes + trial.grown, 0)}
    l1 = {**tensors, **trial.buffers} if trial.buffers else {}
    l1 = {name: size for name, size in l1.items() if size}
    total = sum(l1.values()) if l1 else None
    more = older * trial.older_bytes
    if not measured:
        more += trial.unsure_bytes
    wrong = trial.wrong_values if older else ""
    return Judged(trial, _verdict(trial, limit, (total, more), measured=measured), total, l1, wrong)


def may_be_older(run: Run) -> bool:
    """Whether the run may come from a build before 0.81, by the schema of its memory report."""
    numbers = (run.memory.schema_version or "").split(".") if run.memory else []
    known = [int(one) for one in numbers if one.isdecimal()]
    return known < SCHEMA_OF_TODAY


def _verdict(trial: Trial, limit: L1Limit | None, need: tuple[int | None, int], *, measured: bool) -> Verdict:
    if trial.broken or trial.unknown:
        return "illegal" if trial.broken else "cannot_tell"
    if trial.same_l1:
        return "legal"
    least, more = need
    if least is None or limit is None:
        return "cannot_tell"
    if not measured and _no_more_than_ran(trial):
        return "fits"
    if least > limit.limit_bytes:
        return "cannot_tell" if trial.in_slices else "too_large"
    # tensors were measured and buffers follow TTNN's source: no margin. Otherwise 5 % for tensors the report lacks
    return "fits" if least + more <= (limit.limit_bytes if measured else limit.safe_bytes) else "cannot_tell"


def _no_more_than_ran(trial: Trial) -> bool:
    """Whether the buffers take no more than those that the op ran with, beside tensors as they were."""
    if trial.ran is None or trial.grown:
        return False
    buffers, older = trial.ran
    return sum(trial.buffers.values()) <= buffers and trial.older_bytes <= older
