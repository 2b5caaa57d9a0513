"""What check_setting says of a value in words: what to expect, why, what instead, on what it rests."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ttnn_mcp.run.ops.op_names import family

if TYPE_CHECKING:
    from ttnn_mcp.analyses.memory.l1_limit import L1Limit
    from ttnn_mcp.analyses.settings.judged import Judged
    from ttnn_mcp.analyses.settings.trial import Op, Value

MEASURED = (
    "circular buffers as TTNN 0.81 makes them; TENSORS is what lies from the lowest tensor up at this device op, "
    "by the memory report"
)


def expected(op: Op, judgement: Judged) -> str:
    """What the value would bring."""
    trial = judgement.trial
    if judgement.verdict in ("illegal", "too_large"):
        return "nothing: it would not run as asked"
    if trial.unknown:
        return "not known"
    if not trial.effect:
        return f"no change: {trial.now} is what it runs with" if trial.change == "" else trial.change
    if trial.at_most_ns is not None and trial.at_most_ns <= 0:
        return f"{trial.change}; saves no time by itself"
    if trial.at_most_ns is None:
        return f"{trial.change}; no report bounds the gain, measure it"
    return f"{trial.change}; saves at most {trial.at_most_ns / 1e3:.1f} of {op.kernel_ns / 1e3:.1f} us"


def why(judgement: Judged, limit: L1Limit | None) -> str:
    """The reason of the verdict."""
    trial = judgement.trial
    if trial.broken:
        return f"breaks: {'; '.join(trial.broken)}"
    if trial.unknown:
        return f"cannot tell: {trial.unknown}"
    if judgement.verdict == "legal":
        return "legal; L1 as before"
    return _about_l1(judgement, limit)


def _about_l1(judgement: Judged, limit: L1Limit | None) -> str:
    if judgement.l1_bytes is None or limit is None:
        return "legal, but " + (
            "its L1 is not modelled here" if judgement.l1_bytes is None else "no L1 limit is known"
        )
    needed = f"{judgement.l1_bytes / 1e6:.2f} of {limit.limit_bytes / 1e6:.2f} MB of L1 per core"
    if judgement.verdict != "cannot_tell":
        return needed if judgement.verdict == "fits" else f"{needed}: does not fit"
    older = judgement.trial.older_bytes
    also = f", and builds before 0.81 may take {older / 1e6:.2f} MB more" if older else ""
    return f"legal; {needed}: too close to the limit to tell (5 % is kept free){also}"


def instead(judgement: Judged, value: Value, legal: list[tuple[Value, Judged]]) -> str | None:
    """The nearest legal value that fits; or that there is none above today's."""
    numbers = [(one, its) for one, its in legal if isinstance(one, int) and not isinstance(one, bool)]
    if not numbers:
        return judgement.trial.instead
    now = judgement.trial.now if isinstance(judgement.trial.now, int) else 0
    asked = int(value) or max(one for one, _ in numbers)  # 0 asks for the largest
    fitting = {one: its for one, its in numbers if its.fits}
    larger = [one for one in fitting if one > now]
    if asked > now and not larger:
        beyond = next(((one, its.l1_bytes) for one, its in numbers if one > now), None)
        if beyond is None:
            return f"{now} is the largest legal value: raising it is impossible"
        needed = f" needs {beyond[1] / 1e6:.2f} MB" if beyond[1] else " is not known to fit"
        return f"raising it is impossible: the next legal value {beyond[0]}{needed}"
    if not fitting:
        return "no legal value fits: free L1 first (weights in bfloat8_b, deallocate_activation, DRAM slicing)"
    best = min(larger if asked > now else fitting, key=lambda one: (abs(one - asked), one))
    return f"{best} ({(fitting[best].l1_bytes or 0) / 1e6:.2f} MB)"


def caveat(op: Op, judgement: Judged, limit: L1Limit | None, arch: str | None, *, measured: bool) -> str | None:
    """What is wrong with a value that TTNN accepts, and what the figures rest on, as far as no report shows it."""
    parts = (judgement.wrong_values, _rests_on(op, judgement, limit, arch, measured=measured))
    return "; ".join(words for words in parts if words) or None


def _rests_on(op: Op, judgement: Judged, limit: L1Limit | None, arch: str | None, *, measured: bool) -> str:
    if not judgement.trial.buffers:
        return ""
    if measured:
        return MEASURED
    words = "circular buffers as TTNN 0.81 makes them"
    if family(op.table.texts("op_code")[0]) != "conv":
        words += "; of other tensors in L1 only this op's operands are counted"
    elif "pre_op_l1_allocation_size_bytes" not in op.attributes:
        words += "; other tensors in L1 unknown, only the conv's input counts as ALLOCATED"
    if limit is not None and not limit.read:
        words += f"; limit {'of' if limit.measured else 'inferred for'} {arch} (no memory report)"
    return words
