"""The stage that each attention of a model belongs to: prefill, decode or an encoder.

TTNN has special ops for decode. Attention that is causal, or in a window with ops that fill a cache, is prefill.
Attention that is not causal belongs to an encoder. Attention written out as single ops shows its number of queries, but
not whether it is causal.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from ttnn_mcp.analyses.attribute_columns import attributes_of
from ttnn_mcp.analyses.dataflow.likely_producers import flow_of
from ttnn_mcp.analyses.op_kinds.attention_chains import attention_chains
from ttnn_mcp.run.ops.artefact import artefact

if TYPE_CHECKING:
    from ttnn_mcp.run.ops.op_table import OpTable

PREFILL, DECODE, ENCODER, SAMPLING = "prefill", "decode", "encoder", "sampling"


@artefact
def attentions_of(ops: OpTable) -> list[tuple[int, str, str]]:
    """(row, kind of stage, reason) of each attention, in the order they ran; of one written out, its first matmul."""
    fills = bool(ops.texts("op_code").where(lambda text: re.search("Fill\\w*Cache", text) is not None).any())
    fused = [(int(row), *_fused(ops, int(row), fills=fills)) for row in ops.of_family("attention").nonzero()[0]]
    written_out = [
        (chain.scores, *_written_out(ops, chain.scores, fills=fills))
        for chain in attention_chains(ops, flow_of(ops))
    ]
    return sorted(fused + written_out)


def _fused(ops: OpTable, row: int, *, fills: bool) -> tuple[str, str]:
    name = ops.texts("op_code")[row]
    if re.search("Decode|FlashMLA|FlashMultiLatent", name, re.IGNORECASE) and "Prefill" not in name:
        return DECODE, "attention of its own for decode"
    causal = attributes_of(ops).row(row).flag("is_causal")
    if causal or (causal is None and fills):
        return PREFILL, "causal attention" if causal else "attention beside ops that fill a cache"
    return ENCODER, "attention that is not causal"


def _written_out(ops: OpTable, scores: int, *, fills: bool) -> tuple[str, str]:
    """By the scores, [.., queries, keys]."""
    queries, keys = ops.outputs[0].logical[scores, 2:4].tolist()
    if queries == 1 < keys:
        return DECODE, "attention of one query, written out as single ops"
    if fills:
        return PREFILL, "attention written out as single ops, beside ops that fill a cache"
    return ENCODER, "attention of many queries, written out as single ops; no op fills a cache"
