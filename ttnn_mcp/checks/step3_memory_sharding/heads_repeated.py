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

from functools import partial

from ttnn_mcp.analyses.op_kinds.repeated_heads import of_rows, repeated_heads
from ttnn_mcp.checks.check import Affected, Check, Problem, Problems, WindowFacts, Words, ops_of_family
from ttnn_mcp.checks.levers import ATTENTION
from ttnn_mcp.checks.needs import LOGICAL_SHAPES, TWO_OPERANDS
from ttnn_mcp.checks.wording import counted
from ttnn_mcp.checks.worth import SAFE, Worth


def look(facts: WindowFacts) -> Problems:
    """Yield all repeated heads."""
    repeats = repeated_heads(facts.joins)
    rows = of_rows(repeats)
    yield Problem(rows, facts.kernel_ns[rows], tell=partial(_tell, repeats))


def _tell(repeats: dict[int, tuple[int, ...]], ops: Affected) -> Words:
    facts = ops.facts
    reader = next(reader for reader, parts in repeats.items() if ops.row in parts)
    decodes = facts.named("ScaledDotProductAttentionDecode")[reader]
    call = f"ttnn.transformer.scaled_dot_product_attention{'_decode' if decodes else ''}"
    return Words(
        claim=(
            f"{ops.many('op', ('repeats', 'repeat'))} heads for {counted(len(repeats), 'attention op')} "
            f"({ops.time}): {ops.name} {ops.example}"
        ),
        assumption="attention reads a key head for each of its query heads; no op repeats it",
        cells=((facts.ops.outputs[0], "DATATYPE"),),
        fix=f"{call}(q, k, v, ...) at line {facts.line(reader)} on grouped heads, K and V as before the repeat",
        verify="re-profile; compare_runs.removed lists the repeats; PCC >= 0.99",
        caveat="who reads what is told by shapes; a cache that holds repeated heads must hold each head once",
    )


CHECK = Check(
    title="repeated heads of keys and values",
    look=look,
    lever=ATTENTION,
    of=ops_of_family("no fused attention", "attention"),
    needs=(TWO_OPERANDS, LOGICAL_SHAPES),
    worth=Worth(time=SAFE),
    compiled="call torch.nn.functional.scaled_dot_product_attention(..., enable_gqa=True), without repeat_kv",
)
