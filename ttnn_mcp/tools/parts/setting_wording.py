"""What check_setting says of a value in words: what to expect, why, what instead, on what it rests."""

from __future__ import annotations

from ttnn_mcp.analyses.laws.anchored import outlook
from ttnn_mcp.analyses.laws.law import Expected
from ttnn_mcp.analyses.memory.l1_limit import L1Limit
from ttnn_mcp.analyses.settings.judged import Judged
from ttnn_mcp.analyses.settings.trial import Op, Trial, Value
from ttnn_mcp.quoting import figure
from ttnn_mcp.replay.kept import MEASURED_HERE
from ttnn_mcp.run.ops.op_names import family

MEASURED = (
    "circular buffers as TTNN 0.81 makes them; TENSORS is what lies from the lowest tensor up at this device op, "
    "by the memory report"
)

NO_LAW = "no law of time tells: a trial"
NO_TIMES = "times unknown: no device times"


def compared(answer: Expected, now_us: float) -> str:
    """The time to expect, beside now's."""
    within = f"{figure(answer.low_us, '.1f')} to {figure(answer.high_us, '.1f')}"
    says = outlook(answer, now_us)
    if says == "no difference":
        return f"no difference to be expected ({within} us, {figure(now_us, '.1f')} now)"
    unsure = ", not beyond what the law errs" if says.startswith("likely") else ""
    return f"{says}: {figure(answer.us, '.1f')} us expected ({within}), {figure(now_us, '.1f')} now{unsure}"


def unmeasured(answer: Expected | None) -> str:
    """The time of an op of which no report has one."""
    if answer is None:
        return NO_TIMES
    within = f"{figure(answer.low_us, '.1f')} to {figure(answer.high_us, '.1f')}"
    source = "measured alone" if answer.law == MEASURED_HERE else "predicted by a law, not measured"
    return f"{source}: {figure(answer.us, '.1f')} us ({within})"


def expected(op: Op, judgement: Judged, answer: Expected | None = None) -> str:
    """What the value would bring; `answer` is the time to expect, where a law tells."""
    trial = judgement.trial
    if judgement.verdict in ("illegal", "too_large"):
        return "nothing: it would not run as asked"
    if trial.unknown:
        return "not known"
    if not trial.effect:
        return f"no change: {trial.now} is what it runs with" if trial.change == "" else trial.change
    return f"{trial.change}; {_gain(op, trial, answer)}"


def _gain(op: Op, trial: Trial, answer: Expected | None) -> str:
    now_us = op.kernel_us
    if now_us is None:
        return unmeasured(answer)
    if answer is not None:
        return compared(answer, now_us)
    if trial.at_most_ns is None:
        return "no report bounds the gain, measure it"
    if trial.at_most_ns <= 0:
        return "saves no time by itself"
    return f"saves at most {figure(trial.at_most_ns / 1e3, '.1f')} of {figure(now_us, '.1f')} us; {NO_LAW}"


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
    needed = (
        f"{figure(judgement.l1_bytes / 1e6, '.2f')} of {figure(limit.limit_bytes / 1e6, '.2f')} MB of L1 per core"
    )
    if judgement.verdict != "cannot_tell":
        return needed if judgement.verdict == "fits" else f"{needed}: does not fit"
    if judgement.l1_bytes > limit.limit_bytes:
        return f"{needed}: whole it does not fit; TTNN cuts an input in DRAM into slices, which may"
    older = judgement.trial.older_bytes
    also = f", and builds before 0.81 may take {figure(older / 1e6, '.2f')} MB more" if older else ""
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
        needed = f" needs {figure(beyond[1] / 1e6, '.2f')} MB" if beyond[1] else " is not known to fit"
        return f"raising it is impossible: the next legal value {beyond[0]}{needed}"
    if not fitting:
        return "no legal value fits: free L1 first (weights in bfloat8_b, deallocate_activation, DRAM slicing)"
    best = min(larger if asked > now else fitting, key=lambda one: (abs(one - asked), one))
    return f"{best} ({figure((fitting[best].l1_bytes or 0) / 1e6, '.2f')} MB)"


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
