"""GLOBAL CALL COUNT: the column that connects the rows of one op across devices."""

from __future__ import annotations

import numpy as np

from ttnn_mcp.arrays import Floats, Integers
from ttnn_mcp.run.ops.op_table import OpTable

DEVICE_BITS = 10


def taken_apart(counts: Floats) -> tuple[Integers, Integers]:
    """The ids and the devices that call counts hold, if TTNN packed them."""
    whole = counts.astype(np.int64)
    return whole >> DEVICE_BITS, whole & ((1 << DEVICE_BITS) - 1)


def runtime_ids(ops: OpTable) -> Integers | None:
    """Per op, the id that its rows on all devices share.

    None unless every call count is (id << 10) | device, as TTNN writes it since 2025.
    """
    counts, devices = ops.numbers("call_count"), ops.numbers("device")
    if not len(counts) or not np.isfinite(counts).all() or not np.isfinite(devices).all():
        return None
    ids, packed = taken_apart(counts)
    return ids if ((ids > 0) & (packed == devices.astype(np.int64))).all() else None
