"""Columns that a matmul wrote are brought into another order by reshape, permute and reshape.

Splitting the last dim in two, swapping both and joining them again moves column j of each head to a fixed other place:
halves become pairs, as a rotary embedding for pairs wants them, or the reverse. The matmul that writes these columns
gives them in the new order if the columns of its weights (and of its bias) are put there once, at load. A Qwen port of
tt-metal did so for its queries and keys (PR #43048), and tt_transformers' `reverse_permute` does it for every model.

The line: such three ops, each the only reader of the one before, behind a matmul with weights; between them only ops
that leave the columns of a head together (the making of heads, slices of heads, moves). 1 % of the window. The bound
is their time.

Silent where no matmul of the window writes the columns, and where a norm over a head stands between: its weights would
have to follow.
"""

from __future__ import annotations

from ttnn_mcp.checks.check import Affected, Problem, Problems, WindowFacts, Words, check, ops_named
from ttnn_mcp.checks.levers import LAYOUT
from ttnn_mcp.checks.needs import LOGICAL_SHAPES, TWO_OPERANDS
from ttnn_mcp.checks.shared.reshapes import permuted_columns, rows_of_permuted
from ttnn_mcp.checks.wording import cite_op, example
from ttnn_mcp.checks.worth import USUAL, Worth

PERMUTES = ops_named("no permutes", "Permute", "Transpose")


@check(
    title="columns reordered behind a matmul",
    lever=LAYOUT,
    of=PERMUTES,
    needs=(TWO_OPERANDS, LOGICAL_SHAPES),
    worth=Worth(saving=USUAL),
    compiled="permute the columns of the projection's weights once, in the model, as tt_transformers does at load",
)
def look(facts: WindowFacts) -> Problems:
    """Yield all such reshapes and permutes."""
    rows = rows_of_permuted(facts.ops)
    yield Problem(rows, facts.kernel_ns[rows], tell=_tell)


def _tell(ops: Affected) -> Words:
    facts, chains = ops.facts, permuted_columns(ops.facts.ops)
    heaviest = max(chains, key=lambda chain: facts.kernel_ns[chain.rows[1]])
    row, matmul = heaviest.rows[1], heaviest.matmul
    first, second = heaviest.split
    return Words(
        claim=(
            f"Columns of a matmul's output are reordered in every call ({len(chains)}x, {ops.time}): "
            f"{example(facts, row)}"
        ),
        assumption="weights with permuted columns give the same columns at no cost",
        evidence=(*cite_op(facts, row), *cite_op(facts, matmul)),
        fix=(
            f"permute the columns of the weights of line {facts.line(matmul)} once at load, in torch: "
            f"w.reshape(k, -1, {first}, {second}).transpose(2, 3).reshape(k, -1), the bias too; no reshape and permute "
            "in forward()"
        ),
        verify="re-profile; those reshapes and permutes are gone; PCC >= 0.99 of the layer",
        caveat="keys need the same order as queries; both rotary embeddings exist, for halves and for pairs",
    )
