"""How long exchanges between chips wait in their kernels for a chip that is late."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ttnn_mcp.analyses.devices.collectives import collectives_of
from ttnn_mcp.analyses.devices.host_gaps import TRACED_GAP_NS
from ttnn_mcp.run.ops.op_names import exchanges

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ttnn_mcp.analyses.devices.balance import Balance
    from ttnn_mcp.analyses.devices.host_gaps import Timeline
    from ttnn_mcp.arrays import Booleans, Floats, Integers
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


def waits_for_host(ops: OpTable, lines: Sequence[Timeline], balance: Balance, chip: Chip) -> dict[int, Floats]:
    """The same per device, of it what the host may cause, which feeds another chip late.

    Where launches are matched no more than the gaps of other chips since the exchange before, each beyond that of a
    traced op: the rest is uneven work, or the exchange itself. Of the gap before the window counts what it is longer
    than the shortest one, as chips do not start at one time.
    """
    waits = {line.device: waits_of(ops, line, balance, chip.on(line.device)) for line in lines}
    if len(lines) == 1 or not len(balance.rows) or not all(np.isfinite(line.gaps_ns).any() for line in lines):
        return waits
    late, devices = np.zeros(len(ops)), ops.numbers("device")
    for line in lines:
        late[devices == line.device] = np.maximum(line.idle_ns - TRACED_GAP_NS, 0.0)
    starts = np.searchsorted(devices, [line.device for line in lines])
    before = np.nan_to_num(ops.numbers("gap_ns")[starts])
    late[starts] = before - before.min()
    late_ns, exchanging = late[balance.rows], ops.texts("op_code").where(exchanges)
    for column, line in enumerate(lines):
        rows = np.flatnonzero(ops.numbers("device") == line.device)
        places = np.searchsorted(rows, balance.rows[:, column])
        others = np.delete(late_ns, column, axis=1).max(axis=1)
        due = _since_exchange(places, others, exchanging[rows])
        waits[line.device] = np.minimum(waits[line.device], due)
    return waits


def _since_exchange(places: Integers, late_ns: Floats, exchanging: Booleans) -> Floats:
    """Per op of a device, the sum of what others were late before the launches since the exchange before it.

    `places` are those of the launches among the ops; of ops that do not exchange it is 0.
    """
    late = np.zeros(len(exchanging))
    late[places] = late_ns
    due, at = np.zeros(len(exchanging)), np.flatnonzero(exchanging)
    due[at] = np.diff(np.cumsum(late)[at], prepend=0.0)
    return due
