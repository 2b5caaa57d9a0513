"""The part of a kernel that ran last and alone: reading, computing, writing, ethernet.

A kernel of TTNN is a pipeline over the processors of each core: NCRISC reads, TRISC0 to 2 unpack, compute and pack,
BRISC writes (ReaderDataMovementConfig and WriterDataMovementConfig of tt-metal). The report has one time per processor,
from its first start on any core to its last end. A processor that ran to the end may have worked or waited. After its
last end it did neither, on any core. So only the time after the end of all other parts is certain.
"""

from __future__ import annotations

from typing import Literal

import numpy as np

from ttnn_mcp.arrays import Booleans, Floats
from ttnn_mcp.quoting import figure
from ttnn_mcp.records import dataclass
from ttnn_mcp.run.ops.artefact import artefact
from ttnn_mcp.run.ops.op_table import OpTable

Part = Literal["reader", "compute", "writer", "ethernet"]
Bound = Literal[Part, "cannot_tell"]

PARTS: tuple[Part, ...] = ("reader", "compute", "writer", "ethernet")
PROCESSORS = {
    "reader": ("ncrisc_ns",),
    "compute": ("trisc0_ns", "trisc1_ns", "trisc2_ns"),
    "writer": ("brisc_ns",),
    "ethernet": ("erisc_ns",),
}
ROUNDING_NS = 2  # three times, each rounded to a whole nanosecond
MOST = 0.5  # of the kernel's time: a state that lasts longer is the kernel's main state


@dataclass(frozen=True, slots=True)
class KernelParts:
    """Per part (rows, in the order of `PARTS`) and op (columns); 0 if nothing is certain.

    Attributes:
        present: whether the part ran in the op.
        ended_ns: the least time before the kernel's end at which the part had ended on all cores.
        alone_ns: the least time for which it ran after all other parts had ended; above 0 for one part per op only.
        waited_ns: mean wait of a core's compute part for input (row 0) and for room for its output (row 1); NaN if
            not measured.
        uneven_ns: the longest core's time above the mean of all cores.
        firmware_ns: firmware time above the kernel time.
    """

    present: Booleans
    ended_ns: Floats
    alone_ns: Floats
    waited_ns: Floats
    uneven_ns: Floats
    firmware_ns: Floats

    def bound(self, row: int, kernel_ns: float) -> tuple[Bound, str]:
        """(the part that the op mostly waits for or "cannot_tell", the reason)."""
        part = int(np.argmax(self.alone_ns[:, row]))
        alone = float(self.alone_ns[part, row])
        if alone > MOST * kernel_ns:
            return PARTS[part], f"all other parts had ended {figure(alone / 1e3, '.3g')} us before the end"
        front, back = self.waited_ns[:, row].tolist()
        if front > MOST * kernel_ns:
            return "reader", f"a core's compute waited {figure(front / 1e3, '.3g')} us for input"
        if back > MOST * kernel_ns:
            return "writer", f"a core's compute waited {figure(back / 1e3, '.3g')} us for room for output"
        compute = PARTS.index("compute")
        worked = (kernel_ns - float(self.ended_ns[compute, row])) * bool(self.present[compute, row])
        if worked - front - back > MOST * kernel_ns:  # NaN, so never true, if waits were not measured
            return "compute", f"a core's compute waited only {figure((front + back) / 1e3, '.3g')} us"
        return "cannot_tell", self._why_not(row, kernel_ns)

    def _why_not(self, row: int, kernel_ns: float) -> str:
        if not self.present[:, row].any():
            return "the report has no times per processor"
        ruled_out = [
            part for part, ended in zip(PARTS, self.ended_ns[:, row], strict=True) if ended > MOST * kernel_ns
        ]
        if ruled_out:
            return f"not {' or '.join(ruled_out)}: ended in the first half"
        return "a part that runs to the end may be working or waiting"


@artefact
def kernel_parts_of(ops: OpTable) -> KernelParts:
    """The parts of each op, from the times per processor and per core."""
    kernel = ops.numbers("kernel_ns")
    times = np.stack([_longest(ops, PROCESSORS[part]) for part in PARTS])
    present = np.isfinite(times)
    worked = np.where(present, times, 0.0)
    # No processor starts later than the last measured start of all. Without that measurement nothing is certain.
    skew = np.maximum(ops.numbers("start_skew_ns"), 0.0)
    ended = _within(kernel - worked - skew, kernel)
    alone = np.where(worked.max(axis=0) + skew >= kernel - ROUNDING_NS, _after_others(worked, ended), 0.0)
    return KernelParts(
        present=present,
        ended_ns=np.where(present, ended, 0.0),
        alone_ns=alone,
        waited_ns=_waits_of_a_core(ops),
        uneven_ns=_within(ops.numbers("core_max_ns") - ops.numbers("core_avg_ns"), kernel),
        firmware_ns=_within(ops.numbers("fw_ns") - kernel, np.inf),
    )


def _after_others(worked: Floats, ended: Floats) -> Floats:
    """Per op, for the part that worked longest: the time since the last other part ended."""
    longest = np.arange(len(PARTS))[:, None] == worked.argmax(axis=0)
    return np.where(longest, np.where(longest, np.inf, ended).min(axis=0), 0.0)


def _waits_of_a_core(ops: OpTable) -> Floats:
    """Waits for input and for room, mean of the cores; NaN if both are 0: then they were not measured."""
    cores = ops.numbers("cores")
    sums = np.stack([ops.numbers("wait_front_ns"), ops.numbers("reserve_back_ns")])
    sums = np.where(sums > 0, sums, 0.0)
    return np.where((sums.sum(axis=0) > 0) & (cores > 0), sums / np.maximum(cores, 1.0), np.nan)


def _within(times: Floats, most: Floats | float) -> Floats:
    """The times between 0 and `most`; 0 if unknown."""
    return np.where(np.isfinite(times), np.minimum(np.maximum(times, 0.0), most), 0.0)


def _longest(ops: OpTable, processors: tuple[str, ...]) -> Floats:
    """The longest time of these processors; NaN if none of them ran."""
    times = np.stack([ops.numbers(name) for name in processors])
    longest = np.where(np.isfinite(times), times, -1.0).max(axis=0)
    return np.where(longest > 0, longest, np.nan)
