"""How long exchanges between chips wait in their kernels for a chip that is late."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ttnn_mcp.analyses.devices.collectives import collectives_of
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
