"""Ops of the window that prepare the weights of convs: tilize, permute, reshape, pad."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ttnn_mcp.analyses.dataflow.likely_producers import NOBODY, flow_of
from ttnn_mcp.analyses.op_kinds.convs import convs_of

if TYPE_CHECKING:
    from ttnn_mcp.run.ops.op_table import OpTable


def preparations_of(ops: OpTable, most: int) -> dict[int, list[int]]:
    """Per conv the ops (`most` at most) between a tensor that no op made and its INPUT_1; only convs with such ops."""
    flow = flow_of(ops)
    converts = ops.of_family("layout", "shape")
    makers, makers_of_weights = flow.makers_of(0), flow.makers_of(1)
    rows_by_weight: dict[int, list[int]] = {}
    for conv in convs_of(ops).rows.tolist():
        chain: list[int] = []
        at = int(makers_of_weights[conv])
        while at != NOBODY and converts[at] and len(chain) < most:
            chain.append(at)
            at = int(makers[at])
        if chain and at == NOBODY:
            rows_by_weight[conv] = chain
    return rows_by_weight
