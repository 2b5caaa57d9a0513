"""Attention is written out: matmul, scale, mask, softmax, matmul as single ops.

Between the single ops the scores, [batch, heads, S, S], go to memory and back, and the batched matmuls of small heads
often run on one or two cores. `ttnn.transformer.scaled_dot_product_attention` keeps the scores on the cores. In a
CLIP encoder the written-out attention holds 11 % of the time, its matmuls on 1 and 2 of 64 cores. A term for relative
positions is a mask too: with it a speech model's step on Blackhole took 5.58 ms in place of 6.73 (CosyVoice's notes).

The line: a softmax between two matmuls, at most five element-wise ops, moves, slices, typecasts or further matmuls away
from each; what the first matmul writes, the last one reads; both second operands are activations; 1 % of the window to
save. The bound is the two matmuls' arithmetic, or Q, K, V and the result through DRAM, or 5 us, whichever is most.

TTNN 0.81.1 refuses heads whose columns fill no whole tiles, masks of one row for all, and masks in FLOAT32.

Silent about softmax elsewhere (classifiers, routers) and about attention that is fused already.
"""

from __future__ import annotations

from functools import partial

import numpy as np

from ttnn_mcp.analyses.op_kinds.attention_chains import (
    FACTOR,
    AttentionChain,
    fusing_saves,
    rows_of_chains,
    turned_keys,
)
from ttnn_mcp.checks.check import Affected, Problem, Problems, WindowFacts, Words, check, ops_of_family
from ttnn_mcp.checks.levers import ATTENTION
from ttnn_mcp.checks.needs import TWO_OPERANDS
from ttnn_mcp.checks.shared.eltwise_calls import scalar_of
from ttnn_mcp.checks.wording import cite_each, example
from ttnn_mcp.checks.worth import USUAL, Worth
from ttnn_mcp.hardware import TILE_SIDE


@check(
    title="attention written out as single ops",
    lever=ATTENTION,
    of=ops_of_family("no softmax ops: no attention, or a fused one", "softmax"),
    needs=(TWO_OPERANDS,),
    worth=Worth(saving=USUAL),
)
def look(facts: WindowFacts) -> Problems:
    """Yield all attentions written out."""
    gives = fusing_saves(facts.ops, facts.roofline, facts.attentions, facts.chip.dram_achievable_gb_s)
    chains = [chain for chain in facts.attentions if gives[chain.rows].any()]
    turned = turned_keys(facts.ops, facts.flow, chains)
    gives[turned] = facts.kernel_ns[turned]
    gives[facts.roofline.impossible] = 0  # time or operands of such a row are those of another op
    rows = np.union1d(rows_of_chains(chains), turned)
    gone = np.setdiff1d(rows, [chain.scores for chain in chains])
    yield Problem(rows, gives[rows], gone=gone, tell=partial(_tell, chains))


def _tell(chains: list[AttentionChain], ops: Affected) -> Words:
    facts = ops.facts
    chain = max(chains, key=lambda part: float(facts.kernel_ns[part.scores : part.context + 1].sum()))
    few = facts.ops.numbers("cores")[[row for part in chains for row in (part.scores, part.context)]]
    of = facts.chip.cores
    cores = f", matmuls on {int(few.min())} to {int(few.max())} of {of} cores" if np.isfinite(few).all() else ""
    return Words(
        claim=(
            f"{len(chains)} attention{'s are' if len(chains) > 1 else ' is'} written out as {len(ops.rows)} ops "
            f"({ops.time}){cores}: heaviest from {example(facts, chain.scores)} to line {facts.line(chain.context)}"
        ),
        assumption=(
            "one fused op each: the same arithmetic, Q, K, V and result through DRAM, 5 us at least"
            f"{'; K is not turned' if len(ops.rows) > len(rows_of_chains(chains)) else ''}"
        ),
        evidence=cite_each((chain.scores, chain.context), lambda row: facts.cite(row, "kernel_ns", "cores")),
        fix=_fix(facts, chain),
        verify="re-profile; list_ops(group_by='op_code') shows ScaledDotProductAttention, no Softmax; PCC >= 0.99",
        caveat=(
            f"needs heads as [B,H,S,d], {'a BFLOAT16 mask of all rows, ' * chain.is_masked}no use of the scores "
            "elsewhere; joins by shape"
        ),
    )


def _scale(facts: WindowFacts, chain: AttentionChain) -> str:
    """The number that the scores are multiplied with; an ellipsis where that is told nowhere, or in several places."""
    printed = {row: facts.attributes(row).get("binary_op_type", "") for row in chain.rows if row < chain.softmax}
    factors = {row: kind[1] for row, text in printed.items() if (kind := FACTOR.search(text))}
    if len(factors) != 1 or facts.attributes(chain.softmax).text_of("scale"):
        return "..."
    [(row, kind)] = factors.items()
    scalar = scalar_of(facts, row)
    return "..." if scalar is None else f"{'1 / ' * (kind == 'DIV')}{scalar}"


def _fix(facts: WindowFacts, chain: AttentionChain) -> str:
    scale = _scale(facts, chain)
    if int(facts.ops.inputs[0].logical[chain.scores, 2]) == 1:
        return (
            f"ttnn.transformer.scaled_dot_product_attention_decode(q, k, v, cur_pos_tensor=..., scale={scale}) with q "
            "[1,B,H,d], k and v [B,H_kv,S,d]; heads by ttnn.experimental.nlp_create_qkv_heads_decode, back by "
            "nlp_concat_heads_decode"
        )
    mask = "attn_mask=mask, is_causal=False" if chain.is_masked else "is_causal=False"
    wide = int(facts.ops.inputs[0].logical[chain.scores, 3])
    whole = -(-wide // TILE_SIDE) * TILE_SIDE
    padded = f", d={wide} padded to {whole} (zeros, scale as now)" if whole > wide else ""
    heads = (
        "by ttnn.experimental.nlp_create_qkv_heads"
        if _rows_alike(facts, chain)
        else "of q, k and v as they are now"
    )
    return (
        f"ttnn.transformer.scaled_dot_product_attention(q, k, v, {mask}, scale={scale}, compute_kernel_config=...) "
        f"with k not transposed{padded}; heads {heads}, back by nlp_concat_heads"
    )


def _rows_alike(facts: WindowFacts, chain: AttentionChain) -> bool:
    """Whether K and V have as many rows as Q; TTNN refuses to make heads of others: "KV tensor seq_len dim"."""
    q, v = (facts.ops.inputs[place].logical[row, 2] for place, row in ((0, chain.scores), (1, chain.context)))
    return bool(q == v)
