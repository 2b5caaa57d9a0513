"""The stage that each attention of a model belongs to: prefill, decode or an encoder.

TTNN has special ops for decode. Attention that is causal, or behind ops that fill a cache, is prefill. Other attention
of a sequence to itself belongs to an encoder. Attention to keys of another number than its queries (to an image or a
text that was encoded before) stands between the layers of another stage, and belongs to that one. Attention written out
as single ops shows its number of queries, but not whether it is causal.
"""

from __future__ import annotations

import re
from dataclasses import replace
from itertools import accumulate

import numpy as np

from ttnn_mcp.analyses.attribute_columns import attributes_of
from ttnn_mcp.analyses.dataflow.likely_producers import flow_of
from ttnn_mcp.analyses.op_kinds.attention_chains import attention_chains
from ttnn_mcp.analyses.stages.stretches import any_between, begins_trace
from ttnn_mcp.arrays import Booleans
from ttnn_mcp.records import dataclass
from ttnn_mcp.run.ops.artefact import artefact
from ttnn_mcp.run.ops.op_names import WRITES_CACHE, canonical
from ttnn_mcp.run.ops.op_table import OpTable

PREFILL, DECODE, ENCODER, SAMPLING = "prefill", "decode", "encoder", "sampling"
FOR_DECODE = re.compile(r"Decode|FlashMLA|FlashMultiLatent", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class StageAttention:
    """One attention.

    Attributes:
        row: its position; of one written out, that of its first matmul.
        kind: prefill, decode or encoder; "" while only its neighbours can tell.
        why: the reason.
        queries: the number of queries of a sequence; 0 if the row does not show it.
        for_decode: whether it is an op of its own for decode, which holds queries in another order.
    """

    row: int
    kind: str
    why: str
    queries: int = 0
    for_decode: bool = False


@artefact
def attentions_of(ops: OpTable) -> list[StageAttention]:
    """The attentions in the order they ran."""
    writes = writes_cache(ops)
    chains = {chain.scores for chain in attention_chains(ops, flow_of(ops))}
    rows = np.array(sorted({*np.flatnonzero(ops.of_family("attention")).tolist(), *chains}), dtype=np.int64)
    near = any_between(writes, np.append(-1, rows[:-1]), rows)
    judged = [
        (_written_out if row in chains else _fused)(ops, row, near=behind, anywhere=bool(writes.any()))
        for row, behind in zip(rows.tolist(), near.tolist(), strict=True)
    ]
    return _among(ops, judged)


def writes_cache(ops: OpTable) -> Booleans:
    """Mask of the ops that write keys or values into a cache."""
    return ops.texts("op_code").where(lambda text: re.search(WRITES_CACHE, canonical(text)) is not None)


def _fused(ops: OpTable, row: int, *, near: bool, anywhere: bool) -> StageAttention:
    name = ops.texts("op_code")[row]
    if FOR_DECODE.search(name) and "Prefill" not in name:
        return StageAttention(row, DECODE, "attention of its own for decode", 1, for_decode=True)
    queries, keys = _lengths(ops, row)
    causal = attributes_of(ops).row(row).flag("is_causal")
    if causal:
        return StageAttention(row, PREFILL, "causal attention", queries)
    if near and queries != 1:
        return StageAttention(row, PREFILL, "attention behind ops that fill a cache", queries)
    if queries != keys:
        return StageAttention(row, "", f"attention of {queries} queries to {keys} keys, not causal", queries)
    if causal is None and anywhere:
        return StageAttention(row, PREFILL, "attention beside ops that fill a cache", queries)
    masked = "is not causal" if causal is False else "does not print is_causal, and no op fills a cache"
    return StageAttention(row, ENCODER, f"attention that {masked}", queries)


def _lengths(ops: OpTable, row: int) -> tuple[int, int]:
    """Queries and keys of a sequence, both [batch, heads, sequence, width]; (0, 0) if the row does not show them."""
    if len(ops.inputs) < 2:
        return 0, 0
    queries, keys = (int(operand.logical[row, 2]) for operand in ops.inputs[:2])
    return (queries, keys) if keys else (0, 0)


def _written_out(ops: OpTable, row: int, *, near: bool, anywhere: bool) -> StageAttention:
    """By the scores, [.., queries, keys]."""
    queries, keys = (int(length) for length in ops.outputs[0].logical[row, 2:4])
    if queries == 1 < keys:
        return StageAttention(row, DECODE, "attention of one query, written out as single ops", queries)
    if near or (anywhere and queries == keys):
        return StageAttention(
            row, PREFILL, "attention written out as single ops, beside ops that fill a cache", queries
        )
    why = "attention of many queries, written out as single ops; no op fills a cache"
    return StageAttention(row, ENCODER if queries == keys else "", why, queries)


def _among(ops: OpTable, judged: list[StageAttention]) -> list[StageAttention]:
    """An attention of unknown kind has that of the one before it in its pass, otherwise of the next one.

    A pass ends where tokens are looked up, and where another trace begins.
    """
    passes = np.cumsum(ops.of_family("embedding") | begins_trace(ops))
    earlier = accumulate(judged, _last_known)
    later = reversed(list(accumulate(reversed(judged), _last_known)))
    return [
        each if each.kind else _beside(each, [other for other in others if passes[other.row] == passes[each.row]])
        for each, *others in zip(judged, earlier, later, strict=True)
    ]


def _last_known(last: StageAttention, attention: StageAttention) -> StageAttention:
    return attention if attention.kind else last


def _beside(attention: StageAttention, others: list[StageAttention]) -> StageAttention:
    for other in others:
        if other.kind:
            return replace(attention, kind=other.kind, why=f"{attention.why}, among {other.kind}: {other.why}")
    return replace(attention, kind=DECODE if attention.queries == 1 else ENCODER)
