"""A decode step makes a mask for its attention, op by op.

`ttnn.transformer.scaled_dot_product_attention_decode` takes the position of each user as cur_pos_tensor and leaves out
what comes after it; with sliding_window_size it also leaves out what lies before the window (TTNN 0.81.1). gpt-oss made
that mask from positions in nine small ops per layer: two differences, three comparisons and conjunctions, a choice of 0
or -inf, a repeat for all heads (tt-mlir #7711).

The line: element-wise and shape ops whose results only such a mask or decode attention reads; together 0.5 % of the
window. The bound is all they took.

Silent on masks that no op of the window made, and where another op reads what they are made from. The report does not
show what the mask hides, so the finding is a trial: a mask of another pattern must stay.
"""

from __future__ import annotations

from ttnn_mcp.analyses.op_kinds.mask_makers import DECODE_ATTENTION, makers_of_decode_masks
from ttnn_mcp.checks.check import Check, Claim, Claims, WindowFacts, ops_named
from ttnn_mcp.checks.needs import LOGICAL_SHAPES, TWO_OPERANDS
from ttnn_mcp.checks.shared.wording import cite_op, example, op_name, time_of
from ttnn_mcp.checks.worth import SAFE, Worth


def look(facts: WindowFacts) -> Claims:
    """Yield one claim over all ops that make masks."""
    rows, readers = makers_of_decode_masks(facts.joins)
    if not len(rows):
        return
    row = facts.heaviest(rows, 1)[0]
    yield Claim(
        claim=(
            f"{len(rows)} op{'s make' if len(rows) > 1 else ' makes'} masks for {len(readers)} decode attention "
            f"op{'s' * (len(readers) > 1)} ({time_of(facts, rows)}): {op_name(facts, row)} {example(facts, row)}"
        ),
        rows=rows,
        at_most_ns=facts.kernel_ns[rows],
        assumption="the mask hides later positions, or those before a window, and attention can do that itself",
        evidence=cite_op(facts, row),
        fix=(
            "ttnn.transformer.scaled_dot_product_attention_decode(q, k, v, cur_pos_tensor=positions) and no attn_mask; "
            "with a window sliding_window_size=... too"
        ),
        verify="re-profile; compare_runs.removed lists these ops; PCC >= 0.99",
        caveat="a mask of another pattern must stay; who reads what is told by shapes",
    )


CHECK = Check(
    id="decode-mask-made",
    title="a mask made for decode attention",
    step=3,
    look=look,
    of=ops_named("no decode attention", *DECODE_ATTENTION),
    needs=(TWO_OPERANDS, LOGICAL_SHAPES),
    worth=Worth(time=SAFE),
)
