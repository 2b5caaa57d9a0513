"""How far a performance report can be trusted: dropped rows, cold passes, wrong model columns."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import numpy as np

from ttnn_mcp.errors import shown
from ttnn_mcp.quoting import figure
from ttnn_mcp.run.ops.alike import count_distinct
from ttnn_mcp.run.repeated_blocks import TRAILING_OPS

if TYPE_CHECKING:
    from ttnn_mcp.run.performance import Performance

PLUMBING = frozenset(  # tensor methods that ttnn.from_torch and to_torch call: from 1266 rows of two real reports
    ("__get__", "__getitem__", "contiguous", "numel", "data_ptr", "storage_type", "element_size", "size", "stride")
)
_TORCH = re.compile(r"^\(torch\)\s*")
ROUND_COUNT = 1000  # default --op-support-count: the profiler's buffer ends there and drops silently (PR #46710)


def caveats_of(report: Performance) -> list[str]:
    """What a reader of any answer from this report should know first, the most severe first."""
    if report.known_caveats is None:
        report.known_caveats = tuple(_caveats(report))
    return list(report.known_caveats)


def _caveats(report: Performance) -> list[str]:
    return [
        *report.csv.lost,
        *_odd_cells(report),
        *_timestamps(report),
        *_lost_times(report),
        *dropped_rows(report),
        *(_untimed(report) if report.traced else ()),
        *_left_out(report),
        *_repeated_counts(report),
        *_model_columns(report),
        *_plumbing(report),
        *report.csv.caveats,
    ]


def _timestamps(report: Performance) -> list[str]:
    if not report.outlasting:
        return []
    caveat = (
        f"{report.outlasting} device ops say a kernel time that is longer than their firmware ran (raw timestamps: "
        "does the firmware fit this tt-metal?): told from DEVICE FW START and END CYCLE instead"
    )
    return [caveat]


def _lost_times(report: Performance) -> list[str]:
    times = report.ops.numbers("kernel_ns")
    lost = int((times == 0).sum())  # no real report has one: a kernel takes cycles
    whose = f"{lost} of {len(times)} device ops took 0 ns"
    return [f"{whose}: the profiler lost their times, sums are too low; profile again"] if lost else []


def dropped_rows(report: Performance) -> list[str]:
    """Signs that the profiler dropped ops, so that sums may be too low.

    The ops that a trace recorded have no kernel time either, and were not dropped.
    """
    caveats: list[str] = []
    ids, counts = np.unique(report.ops.numbers("device"), return_counts=True)
    if len(counts) and counts.min() == counts.max() and counts[0] % ROUND_COUNT == 0:
        caveats.append(
            f"every device has exactly {counts[0]} ops: the profiler's buffer was full and later ops were dropped; "
            "profile again with a larger --op-support-count or fewer iterations"
        )
    elif len(counts) > 1 and counts.min() != counts.max():
        fewest = int(ids[np.argmin(counts)])
        caveats.append(
            f"devices hold {counts.min()} to {counts.max()} ops (fewest on device {fewest}): rows were dropped, "
            "or the devices do different work"
        )
    if report.traced:
        return caveats
    caveats += _untimed(report)
    missing = _missing_counts(report)
    if missing and not _counts_again(report):
        caveats.append(f"{missing} call counts are missing between the first op and the last: ops may be dropped")
    return caveats


def _untimed(report: Performance) -> list[str]:
    without = len(report.untimed) - report.impossible_left_out
    return (
        [f"{without} device ops have no kernel time (captured or dropped) and are left out"] if without > 0 else []
    )


def _left_out(report: Performance) -> list[str]:
    caveats: list[str] = []
    lost = report.impossible_left_out
    if report.impossible:
        caveats.append(
            f"{report.impossible} device ops have impossible durations (a counter wrapped, tt-metal #48043): told "
            "from DEVICE FW END CYCLE instead, to within a gap"
            + (f"; {lost} of them left out, sums are too low" if lost else "")
        )
    iterations = report.iterations
    for number, ops in iterations.short:
        caveats.append(
            f"iteration {number} lacks the times of {ops} of its ops, which ran by their cycles: its sums are too low"
        )
    if iterations.count:
        of_last = report.steady.lines[iterations.number == iterations.count]
        ops_after = int((report.steady.lines > of_last.max(initial=0)).sum()) if len(of_last) else 0
        if ops_after > TRAILING_OPS * len(report.devices):
            caveats.append(f"the last iteration is cut off: {ops_after} ops after the last whole one are left out")
    return caveats


def _repeated_counts(report: Performance) -> list[str]:
    again = _counts_again(report)
    if not again or report.traced:
        return []
    repeats = (
        f"{again} ops repeat the call count of an earlier one, as replays of a trace do, though no METAL TRACE ID"
    )
    return [f"{repeats} says so: the run may be traced already, or hold several reports"]


def _missing_counts(report: Performance) -> int:
    """Call counts that no op has, between the lowest and the highest."""
    ids = report.runtime_ids
    if ids is None:
        return 0
    return int(ids.max() - ids.min()) + 1 - count_distinct(ids)


def _counts_again(report: Performance) -> int:
    """Ops with the call count of an earlier one."""
    ids = report.runtime_ids
    if ids is None:
        return 0
    return len(ids) - count_distinct(report.ops.numbers("call_count"))


def fallbacks(report: Performance) -> int:
    """Host rows that may be ops which fall back to the host: all but what from_torch and to_torch call."""
    names = report.host_rows.texts("op_code")
    return int((~names.where(lambda text: _TORCH.sub("", text) in PLUMBING)).sum())


def _odd_cells(report: Performance) -> list[str]:
    caveats: list[str] = []
    if report.no_device_ids and report.rows.has("device"):
        caveats.append("no row has a DEVICE ID: all ops count as one device's, whose times would add up in a mesh")
    if report.unplaced:
        caveats.append(f"{report.unplaced} device ops have no DEVICE ID and are left out")
    return caveats


def _model_columns(report: Performance) -> list[str]:
    used = report.ops.numbers("pm_fpu_util_pct")
    beyond = int((used > 100).sum())
    if beyond:
        worst = f"PM FPU UTIL reaches {figure(np.nanmax(used), '.0f')} % on {beyond} ops"
        return [f"PM columns not to be trusted: {worst} (tt-metal before PR #36902)"]
    ideal = report.ops.numbers("pm_ideal_ns")
    if np.isfinite(ideal).any() and np.nanmax(ideal) <= 1:
        return ["PM columns hold no model for any op (all 1)"]
    return []


def _plumbing(report: Performance) -> list[str]:
    names, others = report.host_rows.texts("op_code"), fallbacks(report)
    if not len(names):
        return []
    if not others:
        return [f"{len(names)} host rows, all to/from-torch plumbing: no fallbacks"]
    other_names = [text for text in names.occurring() if _TORCH.sub("", text) not in PLUMBING]
    examples = ", ".join(map(shown, other_names[:3])) + (", ..." if len(other_names) > 3 else "")
    counted = f"{len(names)} host rows, {len(names) - others} of them to/from-torch plumbing"
    return [f"{counted}; {others} may be ops that fall back to the host: {examples}"]
