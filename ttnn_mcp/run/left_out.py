"""What a window of one iteration leaves out that is no repeat of it: another model, prefill before decode."""

from __future__ import annotations

import numpy as np

from ttnn_mcp.arrays import Integers
from ttnn_mcp.records import dataclass
from ttnn_mcp.run.iterations import signatures
from ttnn_mcp.run.ops.op_table import OpTable

TOLD_FROM = 0.05  # of the iteration's time: weights that are prepared once take less, and answers stay short (ours)


@dataclass(frozen=True, slots=True)
class NoRepeats:
    """Ops outside of the iterations.

    Attributes:
        ops: how many, on the device on which they took longest.
        ns: their kernel time there.
    """

    ops: int
    ns: float


def left_out(ops: OpTable, number: Integers, chosen: int) -> NoRepeats | None:
    """The ops in no iteration, and those of kinds that the chosen one lacks; None if they are its repeats.

    Passes before the iterations (to compile, to capture a trace) run the ops of the iteration again. What is more than
    whole passes, or of another kind, is something else.

    Args:
        ops: the ops among which iterations were found.
        number: per op, its iteration; 0 in none.
        chosen: the iteration of the window.
    """
    kinds, kernel_ns = signatures(ops), ops.numbers("kernel_ns")
    inside = number == chosen
    held = np.bincount(kinds[inside], minlength=int(kinds.max()) + 1)
    outside = (number == 0) | (held[kinds] == 0)
    ran = np.bincount(kinds[outside], minlength=len(held))
    took = np.bincount(kinds[outside], weights=kernel_ns[outside], minlength=len(held))
    repeated = _passes(held, ran) * held
    other_ns = float((took * (1 - np.minimum(repeated / np.maximum(ran, 1), 1))).sum())
    if other_ns <= TOLD_FROM * float(kernel_ns[inside].sum()):
        return None
    devices, of_device = np.unique(ops.numbers("device")[outside], return_inverse=True)
    times = np.bincount(of_device, weights=kernel_ns[outside], minlength=len(devices))
    most = int(np.argmax(times))
    return NoRepeats(int((of_device == most).sum()), float(times[most]))


def _passes(held: Integers, ran: Integers) -> int:
    """How often most of the iteration's ops ran outside of it."""
    return int(np.argmax(np.bincount((ran // np.maximum(held, 1))[held > 0], weights=held[held > 0])))
