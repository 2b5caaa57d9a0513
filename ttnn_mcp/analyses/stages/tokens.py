"""Tokens and users of a stage's pass, and its key/value cache, from the shapes of its attention."""

from __future__ import annotations

import numpy as np

from ttnn_mcp.analyses.stages.attentions import PREFILL, attentions_of, writes_cache
from ttnn_mcp.analyses.stages.stages import Stage
from ttnn_mcp.arrays import Integers
from ttnn_mcp.records import dataclass
from ttnn_mcp.run.ops.op_table import OpTable

INTEGERS = ("INT32", "UINT32", "UINT16", "UINT8", "INT8")


@dataclass(frozen=True, slots=True)
class PassTokens:
    """The tokens and the cache of one pass.

    Attributes:
        users: the number of parallel sequences.
        per_user: the number of tokens of each.
        cache_bytes: keys and values of all caches that a pass reads, as allocated; 0 without a cache.
        cache_bytes_per_token: bytes that one more token of one user adds to them; 0 if no op shows a cache.
        line: of the attention whose INPUT_0 has these shapes.
    """

    users: int
    per_user: int
    cache_bytes: float
    cache_bytes_per_token: float
    line: int


def tokens_of(ops: OpTable, stage: Stage) -> PassTokens | None:
    """Tokens of one pass; None for a stage without fused attention.

    Queries are [batch, heads, sequence, width] (ttnn.transformer.scaled_dot_product_attention), in decode
    [1, batch, heads, width] (scaled_dot_product_attention_decode); keys and values [batch, heads, positions, width],
    in a paged cache [blocks, heads, positions of a block, width]. The cache of a prefill is INPUT_1 of the ops that
    fill it: the keys and values of its attention can be wider than the cache (multi-head latent attention). Attention
    of a decode pass to an image or a text that was encoded before has no such op, and its keys do not grow.
    """
    inside = set(stage.rows.tolist())
    fused = ops.of_family("attention")
    attentions = [each for each in attentions_of(ops) if each.row in inside and fused[each.row]]
    if not attentions or not ops.inputs:
        return None
    for_decode = np.array([each.row for each in attentions if each.for_decode], dtype=np.int64)
    decodes = len(for_decode) > 0
    first = int(for_decode[0]) if decodes else attentions[0].row
    query = ops.inputs[0].logical[first]
    users, per_user = (int(query[1]), 1) if decodes else (int(query[0]), int(query[2]))
    held, per_token = _kept(ops, for_decode, (1, 2)) if decodes else (0.0, 0.0)
    if stage.kind == PREFILL:
        _, per_token = _kept(ops, stage.rows[writes_cache(ops)[stage.rows]], (1,))
    return PassTokens(users, per_user, held / stage.passes, per_token / stage.passes, int(ops.lines[first]))


def _kept(ops: OpTable, rows: Integers, numbers: tuple[int, ...]) -> tuple[float, float]:
    """(bytes, bytes per position) of these inputs; integer tensors are positions or page tables, not keys or values."""
    held = per_token = 0.0
    for operand in (ops.inputs[number] for number in numbers if number < len(ops.inputs)):
        keeps = ~operand.dtype.among(*INTEGERS)[rows]
        shape, sizes = operand.padded[rows[keeps]], operand.bytes[rows[keeps]]
        held += float(sizes.sum())
        per_token += float((sizes / np.maximum(shape[:, 0] * shape[:, 2], 1)).sum())
    return held, per_token
