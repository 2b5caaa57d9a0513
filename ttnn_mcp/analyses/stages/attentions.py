"""The stage that each attention of a model belongs to: prefill, decode or an encoder.

TTNN has special ops for decode. Attention that is causal, or behind ops that fill a cache, is prefill. Other attention
of a sequence to itself belongs to an encoder. Attention to keys of another number than its queries (to an image or a
text that was encoded before) stands between the layers of another stage, and belongs to that one. Attention written out
as single ops shows its number of queries, but not whether it is causal.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from ttnn_mcp.analyses.attribute_columns import attributes_of
from ttnn_mcp.analyses.dataflow.likely_producers import flow_of
from ttnn_mcp.analyses.op_kinds.attention_chains import attention_chains
from ttnn_mcp.run.ops.artefact import artefact
from ttnn_mcp.run.ops.op_names import canonical

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from ttnn_mcp.run.ops.op_table import OpTable

PREFILL, DECODE, ENCODER, SAMPLING = "prefill", "decode", "encoder", "sampling"
WRITES_CACHE = re.compile(r"(Update|Fill)\w*Cache$")  # UpdateKVCache, FillCache, PagedUpdateCache, PagedFillCache
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
    writes = np.flatnonzero(writes_cache(ops))
    chains = {chain.scores for chain in attention_chains(ops, flow_of(ops))}
    places = sorted({*np.flatnonzero(ops.of_family("attention")).tolist(), *chains})
    judged: list[StageAttention] = []
    for row in places:
        before = judged[-1].row if judged else -1
        near = bool(((writes > before) & (writes < row)).any())
        judge = _written_out if row in chains else _fused
        judged.append(judge(ops, row, near=near, anywhere=len(writes) > 0))
    return [_among(ops, judged, place) for place in range(len(judged))]


def writes_cache(ops: OpTable) -> NDArray[np.bool_]:
    """Mask of the ops that write keys or values into a cache."""
    return ops.texts("op_code").where(lambda text: WRITES_CACHE.search(canonical(text)) is not None)


def parted(ops: OpTable, before: int, after: int) -> bool:
    """Whether a pass ends between two rows: tokens are looked up there, or another trace begins."""
    between = np.arange(before + 1, after + 1)
    traces = np.nan_to_num(ops.numbers("trace_id"), nan=-1.0)
    return bool(ops.of_family("embedding")[between].any() or (traces[between] != traces[between - 1]).any())


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


def _among(ops: OpTable, judged: list[StageAttention], place: int) -> StageAttention:
    """An attention of unknown kind has that of the one before it in its pass, otherwise of the next one."""
    attention = judged[place]
    if attention.kind:
        return attention
    earlier = next((each for each in reversed(judged[:place]) if each.kind), None)
    later = next((each for each in judged[place:] if each.kind), None)
    if earlier is not None and not parted(ops, earlier.row, attention.row):
        return replace(attention, kind=earlier.kind, why=f"{attention.why}, among {earlier.kind}: {earlier.why}")
    if later is not None and not parted(ops, attention.row, later.row):
        return replace(attention, kind=later.kind, why=f"{attention.why}, among {later.kind}: {later.why}")
    return replace(attention, kind=DECODE if attention.queries == 1 else ENCODER)
