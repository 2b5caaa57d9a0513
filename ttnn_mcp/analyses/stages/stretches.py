"""Where the ops of one device begin again, and what runs between two of them."""

from __future__ import annotations

import numpy as np

from ttnn_mcp.arrays import Booleans, Integers
from ttnn_mcp.run.ops.artefact import artefact
from ttnn_mcp.run.ops.op_table import OpTable


@artefact
def begins_trace(ops: OpTable) -> Booleans:
    """Mask of the ops that run in another trace than the op before them; ops outside of traces count as one."""
    traces = np.nan_to_num(ops.numbers("trace_id"), nan=-1.0)
    return np.diff(traces, prepend=traces[:1]) != 0


def any_between(marked: Booleans, after: Integers, before: Integers) -> Booleans:
    """Whether one of the marked ops lies between each two rows."""
    counted = np.concatenate(([0], np.cumsum(marked)))
    return counted[before] > counted[after + 1]
