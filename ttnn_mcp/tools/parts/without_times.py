"""What a run without device times can say of cost.

By a memory report, its ttnn operations by host time; and what its model would cost on a device: by the laws of time,
said to be predicted, as far as they reach.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Annotated

import numpy as np

from ttnn_mcp.arrays import Integers
from ttnn_mcp.errors import QuestionRefused, nearest, shown
from ttnn_mcp.quoting import figure
from ttnn_mcp.run.ops.groups import grouped, keyed
from ttnn_mcp.run.ops.op_names import canonical
from ttnn_mcp.run.run import Run
from ttnn_mcp.tools.parts.memory_tables import model_line
from ttnn_mcp.tools.tool import Arguments
from ttnn_mcp.wire import Cell, Columns, Ms, Quoting, Table, Us, Wire

if TYPE_CHECKING:
    from ttnn_mcp.analyses.laws.law import Expected
    from ttnn_mcp.analyses.memory.replayed import Replayed
    from ttnn_mcp.analyses.settings.unmeasured import UnmeasuredOp


OBEYED = ("run", "op_code", "min_share", "limit", "cursor", "iteration")  # whatever their value
VALUES = {"group_by": ("none", "op_code"), "sort": ("kernel", "order")}
GROUPS = Columns("operation", "count", "host_ms", "first_id", quoted=("operation",))
OPERATIONS = Columns("op", "operation", "host_ms", quoted=("operation",))
PREFIX = "ttnn."
UNFINISHED_SHOWN = 20
ENDS = ("us", "low_us", "high_us")
KINDS = Columns(
    *("op_code", "ops", "by_laws", "predicted_us", "low_us", "high_us", "others_at_least_us", "others_because"),
    quoted=("op_code",),
)
CHANGES = Columns(
    *("op", "op_code", "line", "ops", "change", "predicted_us", "low_us", "high_us"),
    *("then_us", "then_low_us", "then_high_us"),
    quoted=("op_code", "line"),
)
TOTAL = Columns("plan", "predicted_us", "low_us", "high_us")
KINDS_SHOWN, CHANGED_OPS, CHANGES_SHOWN = 8, 8, 12


class HostTotals(Wire):
    """ttnn operations; durations are host wall time of the capture, never device time."""

    operations: int
    host_ms: Ms
    listed: Annotated[Table, OPERATIONS] | None = None
    groups: Annotated[Table, GROUPS] | None = None
    unfinished: tuple[int, ...] = ()


def host_operations(
    run: Run, *, op_code: str | None, min_share: float, by_name: bool, in_order: bool, page: slice
) -> tuple[HostTotals, int]:
    """The memory report's operations, single or folded by name, the longest first or as they ran.

    Returns:
        One page of them, and how many there are on all pages.
    """
    operations = run.memory_report.operations
    seconds, known = operations.duration_s, np.nan_to_num(operations.duration_s)
    names = [shown(name) for name in operations.names]
    kept = _named(names, op_code)
    least_s = min_share * float(known.sum())
    rows: list[tuple[Cell, ...]] = []
    if by_name:
        keys, labels = keyed(names)
        for group in grouped(keys[kept], known[kept]):
            if group.kernel_ns >= least_s:
                first = int(operations.ids[kept[group.rows.min()]])
                rows.append((labels[group.key], len(group.rows), group.kernel_ns * 1e3, first))
        if in_order:
            rows.sort(key=lambda row: row[-1] or 0)
    else:
        order: Integers = kept if in_order else kept[np.argsort(-known[kept], kind="stable")]
        picked: list[int] = order[known[order] >= least_s].tolist()
        rows = [(int(operations.ids[row]), names[row], float(seconds[row]) * 1e3) for row in picked]
    unfinished = operations.ids[kept][np.isnan(seconds[kept])]
    totals = HostTotals(
        operations=len(kept),
        host_ms=float(known[kept].sum()) * 1e3,
        listed=None if by_name else OPERATIONS.table(rows[page]),
        groups=GROUPS.table(rows[page]) if by_name else None,
        unfinished=tuple(int(one) for one in unfinished[:UNFINISHED_SHOWN]),
    )
    return totals, len(rows)


def _named(names: list[str], wanted: str | None) -> Integers:
    """Positions of the operations of this name, with or without `ttnn.`; all without a name."""
    if wanted is None:
        return np.arange(len(names))
    kept = [row for row, name in enumerate(names) if wanted in (name, name.removeprefix(PREFIX))]
    if not kept:
        raise QuestionRefused(
            f"No operation '{shown(wanted)}' in this memory report.{nearest(wanted, sorted(set(names)))}"
        )
    return np.array(kept, dtype=np.int64)


def refuse_device_arguments(asked: Arguments) -> None:
    """A memory report has no device ops: what would choose among them is refused.

    Raises:
        QuestionRefused: an argument that a memory report alone cannot obey; says what works instead.
    """
    for name, field in type(asked).model_fields.items():
        value = getattr(asked, name)
        if value == field.default or name in OBEYED or value in VALUES.get(name, ()):
            continue
        instead = f"can be {' or '.join(VALUES[name])}" if name in VALUES else "must be left out"
        raise QuestionRefused(
            f"'{name}' needs device times, and this run is a memory report alone: here it {instead}."
        )


class PredictedRun(Wire):
    """Kernel times by laws, nothing measured: 8 of 10 lie between low and high. No gaps, all passes of the report."""

    why: Quoting
    at_least_us: Us
    at_peak_rates_us: Us
    kinds: Annotated[Table, KINDS]
    more_kinds: int = 0


class PredictedPlan(Wire):
    """By laws, nothing measured. `total` and `then` are of ops that laws speak of; `ops` have the change together.

    A setting is legal, fits beside the tensors alive there, keeps accuracy and is faster by more than its law errs.
    A move that can be left out is in no total.
    """

    why: Quoting
    total: Annotated[Table, TOTAL] | None = None
    others_at_least_us: Us
    changes: Annotated[Table, CHANGES]
    more_changes: int = 0


async def predicted_run(run: Run) -> PredictedRun | None:
    """The prediction; None where the report shows no device op."""
    known = run.kept.get(PredictedRun)
    if known is not None:  # unmoved: it only saves time
        return known
    from ttnn_mcp.analyses.settings.unmeasured import unmeasured_ops  # noqa: PLC0415 - lists of ops load fast

    ops = await unmeasured_ops(run)
    return run.kept.store(_told(ops)) if ops else None


async def prediction(run: Run) -> PredictedRun:
    """The same.

    Raises:
        QuestionRefused: the report shows no device op.
    """
    answer = await predicted_run(run)
    if answer is None:
        from ttnn_mcp.tools.parts.memory_errors import ending_of  # noqa: PLC0415 - no other answer waits for it

        ran_out = (await ending_of(run)).ran_out
        first = f"{ran_out}. It " if ran_out else ""
        raise QuestionRefused(
            f"Run {run.id} {first}has no device times, and its memory report shows no device op that ran: nothing "
            "can be predicted either. Profile with `ttnn-mcp profile -- pytest <test>`, then ask again."
        )
    return answer


async def predicted_plan(run: Run) -> PredictedPlan:
    """What laws expect of the settings that the report's ops could have.

    Raises:
        QuestionRefused: the report shows no device op.
    """
    known = run.kept.get(PredictedPlan)
    if known is not None:  # unmoved: it only saves time
        return known
    why = (await prediction(run)).why
    from ttnn_mcp.analyses.memory.replay import replay_of  # noqa: PLC0415 - as above
    from ttnn_mcp.analyses.moves.memory_report_moves import remembered_moves  # noqa: PLC0415
    from ttnn_mcp.analyses.settings.unmeasured import promising_changes, unmeasured_ops  # noqa: PLC0415

    ops, replayed = await unmeasured_ops(run), await replay_of(run)
    by_laws = any(op.expected is not None for op in ops)
    before = after = _times(op.expected for op in ops)
    ranked: list[tuple[float, tuple[Cell, ...]]] = []
    for one in await promising_changes(run, ops, CHANGED_OPS):
        now, then = (_times([each] * len(one.ops)) for each in (one.before, one.then))
        after = [total - was + us for total, was, us in zip(after, now, then, strict=True)]
        change = f"{one.setting}: {one.now} -> {one.value}"
        ranked.append((now[0] - then[0], (*_place(replayed, one.ops[0]), len(one.ops), change, *now, *then)))
    rows = [row for _, row in sorted(ranked, key=lambda one: -one[0])]
    moves = {move.operation: move for move in remembered_moves(run.memory_report) if move.avoidable != "no"}
    for op in ops:
        if op.operation in moves:
            move, times = moves[op.operation], _times([op.expected]) if op.expected else [None] * len(ENDS)
            change = f"leave it out: {move.pattern}, avoidable: {move.avoidable}"
            rows.append((*_place(replayed, op), 1, change, *times, *[None] * len(ENDS)))
    plan = PredictedPlan(
        why=why,
        total=TOTAL.table([("as it is", *before), ("with the settings below", *after)]) if by_laws else None,
        others_at_least_us=_rest_us(ops),
        changes=CHANGES.table(rows[:CHANGES_SHOWN]),
        more_changes=max(len(rows) - CHANGES_SHOWN, 0),
    )
    return run.kept.store(plan)


def _told(ops: Sequence[UnmeasuredOp]) -> PredictedRun:
    by_kind: dict[str, list[UnmeasuredOp]] = {}
    for op in ops:
        by_kind.setdefault(canonical(op.name), []).append(op)
    heaviest = sorted(
        by_kind.items(), key=lambda kind: -_times(op.expected for op in kind[1])[2] - _rest_us(kind[1])
    )
    likely_us, low_us, high_us = _times(op.expected for op in ops)
    by_laws, rest_us = sum(op.expected is not None for op in ops), _rest_us(ops)
    within = f"{figure(likely_us, '.0f')} us ({figure(low_us, '.0f')} to {figure(high_us, '.0f')})"
    times = f": {within}, at most {figure(high_us / (high_us + rest_us), '.0%')} of the time" if by_laws else ""
    return PredictedRun(
        why=f"predicted, not measured: laws of time speak of {by_laws} of {len(ops)} device ops{times}; the others "
        f"take {figure(rest_us, '.0f')} us at the very least",
        at_least_us=low_us + rest_us,
        at_peak_rates_us=sum(op.least_us for op in ops),
        kinds=KINDS.table([_kind(name, alike) for name, alike in heaviest[:KINDS_SHOWN]]),
        more_kinds=max(len(heaviest) - KINDS_SHOWN, 0),
    )


def _kind(name: str, alike: Sequence[UnmeasuredOp]) -> tuple[Cell, ...]:
    """How many ops, of how many laws speak and with which times, what the others take at least, and why."""
    why = Counter(op.silence for op in alike if op.expected is None)
    by_laws = len(alike) - why.total()
    times = _times(op.expected for op in alike) if by_laws else [None] * len(ENDS)
    because = why.most_common(1)[0][0] if why else None
    return shown(name), len(alike), by_laws, *times, _rest_us(alike) or None, because


def _times(answers: Iterable[Expected | None]) -> list[float]:
    """What they expect together, and both ends of it."""
    times = [one for one in answers if one is not None]
    return [float(sum(getattr(one, end) for one in times)) for end in ENDS]


def _rest_us(ops: Sequence[UnmeasuredOp]) -> float:
    return sum(op.least_us for op in ops if op.expected is None)


def _place(replayed: Replayed, op: UnmeasuredOp) -> tuple[int, str, str | None]:
    return op.operation, shown(canonical(op.name)), model_line(replayed, op.operation)
