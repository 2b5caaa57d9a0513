"""How long exchanges between chips wait in their kernels for a chip that is late."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from ttnn_mcp.analyses.devices.collectives import collectives_of
from ttnn_mcp.analyses.devices.host_gaps import timelines_of
from ttnn_mcp.run.ops.artefact import artefact
from ttnn_mcp.run.ops.op_names import exchanges

if TYPE_CHECKING:
    from ttnn_mcp.analyses.devices.balance import Balance
    from ttnn_mcp.analyses.devices.host_gaps import Timeline
    from ttnn_mcp.arrays import Floats
    from ttnn_mcp.run.chip import Chip
    from ttnn_mcp.run.ops.op_table import OpTable


def waits_of(ops: OpTable, line: Timeline, balance: Balance, chip: Chip) -> Floats:
    """Per op of a timeline, how much of its time may be waiting for other chips; `ops` are those of all devices.

    That is what an exchange takes beyond its payload, and where the launches of the devices are matched no more than
    beyond the device that takes least for it: the others of such a launch wait for that one. Of an exchange that is
    fused with work only such a device tells how long the work takes.
    """
    rows = np.flatnonzero(ops.numbers("device") == line.device)
    own = ops.take(rows)
    waits, collectives = np.zeros(len(own)), collectives_of(own, len(balance.devices))
    waits[collectives.rows] = collectives.beyond_payload_ns(own.numbers("kernel_ns"), chip)
    if len(balance.devices) > 1:
        column = balance.devices.index(line.device)
        places = np.searchsorted(rows, balance.rows[:, column])
        above = balance.times_ns[:, column] - balance.times_ns.min(axis=1)
        fused = own.texts("op_code").where(exchanges)
        fused[collectives.rows] = False
        waits[places] = np.where(fused[places], above, np.minimum(waits[places], above))
    return np.minimum(waits, line.spent_ns)  # less where ops ran side by side


class Waits(NamedTuple):
    """What exchanges may wait for chips that the host feeds late.

    Attributes:
        by_device: per device and op of it, in nanoseconds.
        bounded: whether gaps of all chips bound it: all their ops are matched, and their gaps were measured.
    """

    by_device: dict[int, Floats]
    bounded: bool


@artefact
def waits_for_host(ops: OpTable, balance: Balance, chip: Chip) -> Waits:
    """What exchanges wait, as far as the host may cause it, which feeds another chip late.

    Up to each exchange that is no more than what gaps of another chip were longer than its own, launch by launch: the
    rest is uneven work, or the exchange itself. Where launches or gaps do not tell, all of it may be.
    """
    lines = timelines_of(ops, chip)
    waits = {line.device: waits_of(ops, line, balance, chip.on(line.device)) for line in lines}
    bounded = len(lines) > 1 and len(balance.rows) > 0 and all(np.isfinite(line.gaps_ns).any() for line in lines)
    if not bounded:
        return Waits(waits, bounded=False)
    devices = ops.numbers("device")
    idle, gaps = np.zeros(len(ops)), np.zeros((len(balance.rows), len(lines)))
    for column, line in enumerate(lines):
        here = devices == line.device
        idle[here] = np.cumsum(line.idle_ns)
        gaps[:, column] = np.diff(idle[balance.rows[:, column]], prepend=0.0)  # with those of ops left out
    for column, line in enumerate(lines):
        rows = balance.rows[:, column] - int(np.flatnonzero(devices == line.device)[0])
        late = np.zeros(len(line.spent_ns))
        late[rows] = np.maximum(np.delete(gaps, column, axis=1).max(axis=1) - gaps[:, column], 0.0)
        waits[line.device] = _within(waits[line.device], np.cumsum(late))
    return Waits(waits, bounded=balance.left_out == 0)


def _within(waits_ns: Floats, late_ns: Floats) -> Floats:
    """Waits, shortened from the first one on so that their sum never exceeds a growing one."""
    kept, over = np.zeros(len(waits_ns)), 0.0
    for row in np.flatnonzero(waits_ns).tolist():
        kept[row] = min(waits_ns[row], late_ns[row] - over)
        over += kept[row]
    return kept
