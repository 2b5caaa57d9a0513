"""The ledger of a window: every nanosecond of the critical device has one name; the sum is the window.

An op's kernel time is divided in the order of its least times: what the model needs, padding, passes, excess bytes,
unused cores. Then follow late starts of cores, waiting for other devices, uneven work, time in which certainly only one
part of the kernel ran, and the rest. All time of ops that only move data is `movement`: the model needs none of it.
Ops that ran at the same time on sub-devices share that time.
"""

from __future__ import annotations

import numpy as np

from ttnn_mcp.analyses.devices.balance import Balance
from ttnn_mcp.analyses.devices.host_gaps import Timeline
from ttnn_mcp.analyses.inside_kernel.kernel_parts import PARTS, kernel_parts_of
from ttnn_mcp.analyses.time_budget.least_times import LeastTimes
from ttnn_mcp.arrays import Floats
from ttnn_mcp.records import dataclass
from ttnn_mcp.run.ops.groups import heaviest_kinds
from ttnn_mcp.run.ops.op_table import OpTable

ALONE = {"reader": "only_reading", "compute": "only_computing", "writer": "only_writing"}  # by part of a kernel
STEPS = ("roofline", "padding", "fidelity", "excess_bytes", "idle_cores")  # in the order of the least times
MOVES_ONLY = ("movement", "layout", "shape")  # families whose ops compute nothing


@dataclass(frozen=True, slots=True)
class Entry:
    """One name in the ledger.

    Attributes:
        name: as on the page about the time budget.
        time_ns: its part of the window.
        per_op_ns: the same per op of the device.
    """

    name: str
    time_ns: float
    per_op_ns: Floats

    def heaviest(self, ops: OpTable, most: int) -> list[tuple[str, float, int]]:
        """(op, nanoseconds, line of its heaviest row) of the kinds with the most time, largest first."""
        return [
            (name, part_ns, int(ops.lines[alike[np.argmax(self.per_op_ns[alike])]]))
            for name, part_ns, alike in heaviest_kinds(ops.texts("op_code"), self.per_op_ns, most)
        ]


def ledger_of(ops: OpTable, least: LeastTimes, timeline: Timeline, balance: Balance) -> list[Entry]:
    """The entries of one device's window, in the order above; they add up to its wall time."""
    kernel = ops.numbers("kernel_ns")
    moves = ops.of_family(*MOVES_ONLY)
    models = least.bounded & ~moves
    steps = np.stack(
        [least.needed_ns, least.padded_ns, least.as_it_is_ns, least.as_moved_ns, least.on_its_cores_ns]
    )
    steps = np.where(models, np.minimum(steps, kernel), 0.0)
    parts = np.diff(steps, axis=0, prepend=0.0)
    remaining = np.where(models, kernel - steps[-1], 0.0)
    skew = np.minimum(np.nan_to_num(np.maximum(ops.numbers("start_skew_ns"), 0.0)), remaining)
    waiting = np.minimum(_waiting_ns(ops, balance), remaining - skew)
    within = _within_kernels(ops, remaining - skew - waiting)
    within_kernels = {
        **dict(zip(STEPS, parts, strict=True)),
        "start_skew": skew,
        "waiting": waiting,
        **within,
        "movement": np.where(moves, kernel, 0.0),
        "no_bound": np.where(~moves & ~models, kernel, 0.0),
    }
    spent = timeline.spent_ns / np.where(kernel > 0, kernel, 1.0)
    entries = [Entry(name, float((part * spent).sum()), part * spent) for name, part in within_kernels.items()]
    entries.append(Entry("gaps", timeline.wall_ns - timeline.busy_ns, timeline.idle_ns))
    return [entry for entry in entries if entry.time_ns]


def _within_kernels(ops: OpTable, remaining: Floats) -> dict[str, Floats]:
    """The part of the remaining time that times per core and processor explain, and the rest, `above_bounds`.

    Remaining time and a time at the end lie in one kernel: they overlap at least by their sum minus the kernel time.
    """
    parts = kernel_parts_of(ops)
    kernel = ops.numbers("kernel_ns")
    uneven = np.minimum(parts.uneven_ns, remaining)
    even = remaining - uneven

    def shared(ending: Floats) -> Floats:
        return np.minimum(np.maximum(ending + even - kernel, 0.0), even)

    entries = {name: shared(parts.alone_ns[PARTS.index(part)]) for part, name in ALONE.items()}
    alone = sum(entries.values(), np.zeros(len(ops)))
    after_reading = np.maximum(shared(parts.ended_ns[PARTS.index("reader")]) - alone, 0.0)
    return {
        "uneven_cores": uneven,
        **entries,
        "after_reading": after_reading,
        "above_bounds": even - alone - after_reading,
    }


def _waiting_ns(ops: OpTable, balance: Balance) -> Floats:
    """Per op, the time of a collective above that of the fastest device in the same launch."""
    waiting = np.zeros(len(ops))
    place = balance.devices.index(int(ops.numbers("device")[0]))
    exchanged = np.flatnonzero(balance.collective)
    times = balance.times_ns[exchanged]
    first = int(balance.ops[:place].sum())  # the table of all devices is sorted by device
    waiting[balance.rows[exchanged, place] - first] = times[:, place] - times.min(axis=1, initial=np.inf)
    return waiting
