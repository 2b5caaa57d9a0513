"""What a model would cost that ran on no device: by the laws of time, said to be predicted, as far as they reach."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

from ttnn_mcp.analyses.settings.unmeasured import promising_changes, unmeasured_ops
from ttnn_mcp.errors import shown
from ttnn_mcp.quoting import figure
from ttnn_mcp.run.ops.op_names import canonical
from ttnn_mcp.wire import Columns, Quoting, Table, Us, Wire

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ttnn_mcp.analyses.settings.unmeasured import UnmeasuredOp
    from ttnn_mcp.run.run import Run

KINDS = Columns(
    *("op_code", "ops", "by_laws", "predicted_us", "low_us", "high_us", "others_at_least_us"), quoted=("op_code",)
)
CHANGES = Columns(
    *("op", "op_code", "setting", "now", "value", "predicted_us", "then_us", "then_low_us", "then_high_us"),
    quoted=("op_code", "now"),
)
KINDS_SHOWN, CHANGED_OPS = 8, 3


class PredictedRun(Wire):
    """Kernel times by laws, nothing measured: 8 of 10 lie between low and high. No gaps, all passes of the report."""

    why: Quoting
    at_least_us: Us
    kinds: Annotated[Table, KINDS]
    more_kinds: int = 0
    changes: Annotated[Table, CHANGES] | None = None


async def predicted_run(run: Run) -> PredictedRun | None:
    """The prediction; None where the report shows no device op."""
    known = run.kept.get(PredictedRun)
    if known is not None:  # unmoved: it only saves time
        return known
    ops = await unmeasured_ops(run)
    if not ops:
        return None
    by_kind: dict[str, list[UnmeasuredOp]] = {}
    for op in ops:
        by_kind.setdefault(canonical(op.name), []).append(op)
    rows = sorted(((name, *_sums(alike)) for name, alike in by_kind.items()), key=lambda row: -row[3] - row[6])
    _, by_laws, likely_us, low_us, high_us, rest_us = _sums(ops)
    changes = [
        (
            *(one.op.operation, shown(canonical(one.op.name)), one.setting, one.now, one.value),
            *(one.before.us, one.then.us, one.then.low_us, one.then.high_us),
        )
        for one in await promising_changes(run, ops, CHANGED_OPS)
    ]
    within = f"{figure(likely_us, '.0f')} us ({figure(low_us, '.0f')} to {figure(high_us, '.0f')})"
    times = f": {within}, at most {figure(high_us / (high_us + rest_us), '.0%')} of the time" if by_laws else ""
    answer = PredictedRun(
        why=f"predicted, not measured: laws of time speak of {by_laws} of {len(ops)} device ops{times}; the others "
        f"take {figure(rest_us, '.0f')} us at the very least",
        at_least_us=low_us + rest_us,
        kinds=KINDS.table(
            [
                (shown(name), count, some, *(ends if some else (None, None, None)), least or None)
                for name, count, some, *ends, least in rows[:KINDS_SHOWN]
            ]
        ),
        more_kinds=max(len(rows) - KINDS_SHOWN, 0),
        changes=CHANGES.table(changes) if changes else None,
    )
    return run.kept.store(answer)


def _sums(ops: Sequence[UnmeasuredOp]) -> tuple[int, int, float, float, float, float]:
    """How many ops, of how many laws speak, what these take by them, and what the others take at least."""
    by_laws = [op.expected for op in ops if op.expected is not None]
    rest_us = sum(op.least_us for op in ops if op.expected is None)
    likely_us, low_us, high_us = (sum(getattr(one, end) for one in by_laws) for end in ("us", "low_us", "high_us"))
    return len(ops), len(by_laws), likely_us, low_us, high_us, rest_us
