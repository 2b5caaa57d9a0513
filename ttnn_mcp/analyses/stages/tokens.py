"""Tokens and users of a stage's pass, and its key/value cache, from the shapes of its attention."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from ttnn_mcp.analyses.stages.stages import DECODE, PREFILL

if TYPE_CHECKING:
    from ttnn_mcp.analyses.stages.stages import Stage
    from ttnn_mcp.run.ops.op_table import OpTable


@dataclass(frozen=True, slots=True)
class PassTokens:
    """The tokens and the cache of one pass.

    Attributes:
        users: the number of parallel sequences.
        per_user: the number of tokens of each.
        cache_bytes: keys and values of all caches that a pass reads, as allocated; 0 without a cache.
        cache_bytes_per_token: bytes that one more token of one user adds to them.
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
    in a paged cache [blocks, heads, positions of a block, width].
    """
    attends = ops.of_family("attention")
    rows = stage.rows[attends[stage.rows]]
    if not len(rows) or not ops.inputs:
        return None
    first = int(rows[0])
    query = ops.inputs[0].logical[first]
    users, per_user = (int(query[1]), 1) if stage.kind == DECODE else (int(query[0]), int(query[2]))
    cache_bytes_of_pass = per_token = 0.0
    if stage.kind in (DECODE, PREFILL):
        for operand in ops.inputs[1:3]:
            shape = operand.logical[rows]
            sizes = operand.bytes[rows]
            positions = np.maximum(shape[:, 0] * shape[:, 2], 1)
            cache_bytes_of_pass += float(sizes.sum()) / stage.passes
            per_token += float((sizes / positions).sum()) / stage.passes
    cached = stage.kind == DECODE
    return PassTokens(users, per_user, cache_bytes_of_pass if cached else 0.0, per_token, int(ops.lines[first]))
