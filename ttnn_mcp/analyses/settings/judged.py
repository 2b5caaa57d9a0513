"""The verdict on a trial: what its buffers and tensors come to, against the room that there is."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from ttnn_mcp.analyses.memory.l1_limit import L1Limit
    from ttnn_mcp.analyses.settings.trial import Trial

Verdict = Literal["fits", "legal", "too_large", "illegal", "cannot_tell"]


@dataclass(frozen=True, slots=True)
class Judged:
    """A trial and what becomes of it.

    Attributes:
        verdict: "fits" and "too_large" say it is legal too; "legal" that it leaves L1 as it is; "cannot_tell" that
            its legality or its L1 is not known, or that it comes too close to the limit to say.
        l1_bytes: per core, buffers and tensors; None where not modelled.
        l1: the same by name.
    """

    trial: Trial
    verdict: Verdict
    l1_bytes: int | None
    l1: dict[str, int]

    @property
    def fits(self) -> bool | None:
        """Whether it fits L1; None where that is not the question or nobody knows."""
        return {"fits": True, "too_large": False}.get(self.verdict)

    @property
    def legal(self) -> bool | None:
        """Whether TTNN takes it; None where nobody knows."""
        return False if self.trial.broken else None if self.trial.unknown else True


def judged(trial: Trial, limit: L1Limit | None, room_bytes: int | None = None, *, older: bool = True) -> Judged:
    """Judge a trial.

    Args:
        trial: the value and what it takes.
        limit: L1 of the chip.
        room_bytes: what lies below the lowest tensor while the op runs, where a memory report shows it. Buffers
            grow from the bottom of L1 and tensors from its top: holes between tensors are of no use to them.
        older: whether the run may come from a build before 0.81, whose buffers are larger.
    """
    tensors = trial.tensors
    if room_bytes is not None and limit is not None:
        tensors = {"TENSORS": max(limit.limit_bytes - room_bytes + trial.grown, 0)}
    l1 = {**tensors, **trial.buffers} if trial.buffers else {}
    l1 = {name: size for name, size in l1.items() if size}
    total = sum(l1.values()) if l1 else None
    most = None if total is None else total + older * trial.older_bytes
    return Judged(trial, _verdict(trial, limit, (total, most), measured=room_bytes is not None), total, l1)


def _verdict(
    trial: Trial, limit: L1Limit | None, need: tuple[int | None, int | None], *, measured: bool
) -> Verdict:
    if trial.broken:
        return "illegal"
    if trial.unknown:
        return "cannot_tell"
    if trial.same_l1:
        return "legal"
    least, most = need
    if least is None or most is None or limit is None:
        return "cannot_tell"
    if least > limit.limit_bytes:
        return "too_large"
    # what lies there was measured, and the buffers are TTNN's own: no margin; else 5 % for what nobody showed
    return "fits" if most <= (limit.limit_bytes if measured else limit.safe_bytes) else "cannot_tell"
