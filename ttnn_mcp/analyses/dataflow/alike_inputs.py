"""Ops that read several tensors of one description: Q, K and V of one size, the parts of a concat.

`likely_producers` takes the last output of that description for each of them, and the others seem unread. Such an op
reads as many tensors as it has inputs of the description: the last ones that were made.
"""

from __future__ import annotations

import numpy as np

from ttnn_mcp.analyses.dataflow.likely_producers import NOBODY, flow_of
from ttnn_mcp.arrays import Integers
from ttnn_mcp.run.ops.artefact import artefact
from ttnn_mcp.run.ops.op_table import OpTable


@artefact
def other_makers(ops: OpTable) -> tuple[Integers, Integers]:
    """(makers, readers): the makers of the inputs whose likely producer is that of another input of the op too."""
    flow = flow_of(ops)
    keys, rows = flow.outputs_made
    nothing = np.zeros(0, dtype=np.int64)
    if not len(rows) or not flow.producers:
        return nothing, nothing
    inputs = np.concatenate([flow.keys[operand.name] for operand in ops.inputs])
    producers = np.concatenate(flow.producers)
    readers = np.tile(np.arange(len(ops)), len(ops.inputs))
    made = producers != NOBODY
    span = int(max(keys.max(), inputs.max())) + 1
    alike, counts = np.unique(readers[made] * span + inputs[made], return_counts=True)
    alike, counts = alike[counts > 1], counts[counts > 1]
    if not len(alike):
        return nothing, nothing
    reader, key = alike // span, alike % span
    width = len(ops)
    last = np.searchsorted(keys * width + rows, key * width + reader, side="left") - 1
    makers_of: list[Integers] = []
    readers_of: list[Integers] = []
    for back in range(1, int(counts.max())):
        place = last - back
        alike_too = (counts > back) & (place >= 0)
        alike_too[alike_too] &= keys[place[alike_too]] == key[alike_too]
        makers_of.append(rows[place[alike_too]])
        readers_of.append(reader[alike_too])
    return np.concatenate(makers_of), np.concatenate(readers_of)
