"""TopK ops that would use the multi-core kernel if they were padded."""

from __future__ import annotations

import numpy as np

from ttnn_mcp.analyses.attribute_columns import attributes_of
from ttnn_mcp.arrays import Booleans, Integers
from ttnn_mcp.run.ops.op_table import OpTable

SHARED_FROM, SHARED_TO = 8192, 32768  # multi_core_min_width; below 65535: topk_device_operation.cpp of tt-metal
SHARED_K = 64  # same file


def unshared_by_width(ops: OpTable, rows: Integers) -> Booleans:
    """Rows that cannot use the multi-core kernel only because of their width."""
    width = ops.inputs[0].padded[rows, 3]
    k = attributes_of(ops).numbers(rows, lambda attributes: attributes.number("k"))
    power = 2.0 ** np.ceil(np.log2(np.maximum(width, 1)))
    shared = (power == width) & (width <= SHARED_TO)
    return (power >= SHARED_FROM) & ~shared & (k <= SHARED_K)


def power_of_two_from(width: int) -> int:
    """The smallest power of two that is at least `width`."""
    return 1 << (width - 1).bit_length()
