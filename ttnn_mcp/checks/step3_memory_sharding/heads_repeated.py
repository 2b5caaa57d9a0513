"""Heads of keys and values are repeated for an attention that reads each of them for a group of query heads by itself.

Fused attention takes Q with a multiple of K's heads (TTNN 0.81.1 asks for no more, for prompts and for decode). A model
that repeats keys first, as PyTorch code of grouped-query attention does, writes them several times, and attention
reads as much more. Qwen3-TTS made the copies from slices, clones and a concat (tt-metal PR #43048); tt-mlir drops the
repeat where it recognises it (PR #8661).

The line: a Repeat or RepeatInterleave of the heads, or a concat of slices and clones that holds each head of one tensor
several times, whose result attention reads, also through a reshape or cast; together 0.5 % of the window. The bound is
the time of these ops; that attention reads less comes on top.

Silent on repeats over the batch, over rows and within a head, and on a concat of different tensors.
"""

from __future__ import annotations

from ttnn_mcp.analyses.op_kinds.repeated_heads import of_rows, repeated_heads
from ttnn_mcp.checks.check import Check, Claim, Claims, WindowFacts, ops_of_family
from ttnn_mcp.checks.needs import LOGICAL_SHAPES, TWO_OPERANDS
from ttnn_mcp.checks.shared.wording import cite_op, example, op_name, time_of
from ttnn_mcp.checks.worth import SAFE, Worth


def look(facts: WindowFacts) -> Claims:
    """Yield one claim over all repeated heads."""
    repeats = repeated_heads(facts.joins)
    rows = of_rows(repeats)
    if not len(rows):
        return
    row = facts.heaviest(rows, 1)[0]
    reader = next(reader for reader, parts in repeats.items() if row in parts)
    decodes = facts.named("ScaledDotProductAttentionDecode")[reader]
    call = f"ttnn.transformer.scaled_dot_product_attention{'_decode' if decodes else ''}"
    yield Claim(
        claim=(
            f"{len(rows)} op{'s repeat' if len(rows) > 1 else ' repeats'} heads for {len(repeats)} attention "
            f"op{'s' * (len(repeats) > 1)} "
            f"({time_of(facts, rows)}): {op_name(facts, row)} {example(facts, row)}"
        ),
        rows=rows,
        at_most_ns=facts.kernel_ns[rows],
        assumption="attention reads a key head for each of its query heads; no op repeats it",
        evidence=cite_op(facts, row, (facts.ops.outputs[0], "DATATYPE")),
        fix=f"{call}(q, k, v, ...) at line {facts.line(reader)} on grouped heads, K and V as before the repeat",
        verify="re-profile; compare_runs.removed lists the repeats; PCC >= 0.99",
        caveat="who reads what is told by shapes; a cache that holds repeated heads must hold each head once",
    )


CHECK = Check(
    id="heads-repeated",
    title="repeated heads of keys and values",
    step=3,
    look=look,
    of=ops_of_family("no fused attention", "attention"),
    needs=(TWO_OPERANDS, LOGICAL_SHAPES),
    worth=Worth(time=SAFE),
    compiled="call torch.nn.functional.scaled_dot_product_attention(..., enable_gqa=True), without repeat_kv",
)
