"""The ops around an attention that one change of code replaces: from the linears of Q, K and V to its joined heads.

In code an attention is one place: the linears of its inputs, the split into heads, the attention, the join. The ops of
one block run one behind the other, so a block is a stretch of rows. It begins with the linears in front, at most three
that read equal shapes, and ends before the output's linear. Nothing but moves, conversions, changes of shape, head ops,
element-wise ops and norms of heads may lie between.
"""

from __future__ import annotations

import numpy as np

from ttnn_mcp.analyses.dataflow.likely_producers import Flow
from ttnn_mcp.analyses.op_kinds.attention_chains import attention_chains
from ttnn_mcp.analyses.op_kinds.matmul_choice import MATMULS
from ttnn_mcp.arrays import Integers
from ttnn_mcp.run.ops.artefact import artefact
from ttnn_mcp.run.ops.op_names import canonical, family
from ttnn_mcp.run.ops.op_table import OpTable

LINEARS = 3  # of Q, K and V
REACH = 40  # ops on each side: heads written out for Q, K and V take thirty (ours)
BETWEEN = ("movement", "layout", "shape", "eltwise")
MULTIPLIES = {*MATMULS, "MinimalMatmul"}
_PASSED, _LINEAR, _NORM, _ENDS = 1, 2, 3, 0


@artefact
def attention_blocks(ops: OpTable, flow: Flow) -> list[range]:
    """The rows of each attention with what belongs to it, in order; one behind the other at most."""
    role = ops.texts("op_code").mapped(_role, missing=_ENDS, dtype=np.int64)
    cores = [range(int(row), int(row) + 1) for row in np.flatnonzero(ops.of_family("attention"))]
    cores += [chain.rows for chain in attention_chains(ops, flow)]
    blocks: list[range] = []
    for core in sorted(cores, key=lambda rows: rows.start):
        least = blocks[-1].stop if blocks else 0
        if core.start >= least:
            start = _begins(ops, role, core.start, least)
            blocks.append(range(start, _ends(role, core.stop)))
    return blocks


def _role(op_code: str) -> int:
    name = canonical(op_code)
    if name in MULTIPLIES:
        return _LINEAR
    if family(op_code) == "norm":
        return _NORM
    return _PASSED if family(op_code) in BETWEEN or "Heads" in name else _ENDS


def _begins(ops: OpTable, role: Integers, start: int, least: int) -> int:
    """The first linear in front, behind passed ops and linears that read the shape that the nearest one reads."""
    first, linears = start, list[int]()
    sizes = ops.inputs[0].elements if ops.inputs else np.arange(len(ops))  # where they are lost, no two are alike
    for row in range(start - 1, max(least, start - REACH) - 1, -1):
        if role[row] == _ENDS or (role[row] == _NORM and linears):
            break
        if role[row] == _LINEAR:
            alike = not linears or sizes[row] == sizes[linears[0]]
            if len(linears) == LINEARS or not alike:
                break
            linears.append(row)
            first = row
    return first if linears else start


def _ends(role: Integers, stop: int) -> int:
    """The row of the linear behind, or the end of the attention where none follows."""
    for row in range(stop, min(len(role), stop + REACH)):
        if role[row] == _LINEAR:
            return row
        if role[row] != _PASSED:
            break
    return stop
