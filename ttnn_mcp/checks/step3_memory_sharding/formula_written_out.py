"""A norm, a softmax, a rotary embedding or GELU by a sigmoid runs as its formula, op by op.

Each op of a formula reads and writes the whole tensor, often in FLOAT32, and pays its launch; TTNN has the function as
one op. Llama-3.1-8B lost 64 of its 65 RMSNorms to their formulas because of a cast in between: 1,618 ops more of 5,002,
and 9 tokens per second where 11 were possible (tt-mlir #7590). tt-mlir fuses all of these formulas where it
recognises them. x * sigmoid(c * x), GELU's approximation with c = 1.702, is SiLU of c * x over c: one op, where the
weights behind it take 1/c; and none where the linear in front takes c and applies SiLU.

The line: a square, a sum over the last dim, a root of it and the product (RMSNorm; LayerNorm with the mean subtracted
before); an exponent, its sum and the quotient (softmax); half of a slice negated, joined and multiplied, and the sum
of both products (rotary embedding, also of a part of a head, or cut as rows between conversions); a tensor times the
sigmoid of its multiple by a number. Together 0.5 % of the window. The bound is the time of all of them, less the bytes
of the last.

Silent where a step is missing, or where more than one op reads the sum. Who reads whom is inferred from shapes.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import partial
from itertools import takewhile
from typing import NamedTuple

import numpy as np

from ttnn_mcp.analyses.dataflow.likely_producers import NOBODY
from ttnn_mcp.analyses.dataflow.readers import Joins
from ttnn_mcp.analyses.op_kinds.layouts import TO_ROWS, TO_TILES
from ttnn_mcp.checks.arrays import Mask
from ttnn_mcp.checks.check import Affected, Problem, Problems, WindowFacts, Words, check, ops_of_family
from ttnn_mcp.checks.levers import FUSION
from ttnn_mcp.checks.needs import ATTRIBUTES, LOGICAL_SHAPES, TWO_OPERANDS
from ttnn_mcp.checks.shared.floors import achievable_ns
from ttnn_mcp.checks.wording import cite_each, cite_op
from ttnn_mcp.checks.worth import SAFE, Worth
from ttnn_mcp.hardware import TILE_SIDE
from ttnn_mcp.records import dataclass
from ttnn_mcp.run.ops.op_table import OpTable

CALLS = {
    "RMSNorm": "ttnn.rms_norm(x, epsilon=1e-5, weight=gamma)",
    "LayerNorm": "ttnn.layer_norm(x, epsilon=1e-5, weight=gamma, bias=beta)",
    "softmax": "ttnn.softmax(x, dim=-1, numeric_stable=True)",
    "rotary embedding": "ttnn.experimental.rotary_embedding(x, cos, sin)",
    "SiLU of a multiple": "ttnn.multiply(x, 1.702, activations=[ttnn.UnaryOpType.SILU]) and 1 / 1.702 in the weights "
    "that read it,",
}
LEAVES = " cos=1 and sin=0 for the channels it leaves,"
PARTIAL = f", on whole heads: weights' columns in pairs half a head apart,{LEAVES}"
SIDE_BY_SIDE = (
    "ttnn.experimental.rotary_embedding_llama(x, cos, sin, trans_mat), weights' columns in pairs side by side,"
)


@check(
    title="a function as its formula",
    lever=FUSION,
    of=ops_of_family("no element-wise ops", "eltwise"),
    needs=(TWO_OPERANDS, LOGICAL_SHAPES, ATTRIBUTES),
    worth=Worth(time=SAFE),
    compiled=(
        "call torch.nn.functional.rms_norm, layer_norm or softmax in the model, without casts between: the compiler "
        "has an op for each"
    ),
)
def look(facts: WindowFacts) -> Problems:
    """Yield the formulas of each function."""
    formulas, best = formulas_of(facts.ops, facts.joins), achievable_ns(facts)
    for name in CALLS:
        alike = [formula for formula in formulas if formula.name == name]
        rows = np.array(sorted({row for formula in alike for row in formula.rows}), dtype=np.int64)
        last = np.array([formula.last for formula in alike], dtype=np.int64)
        at_most = facts.kernel_ns[rows] - np.where(np.isin(rows, last), best[rows], 0.0)
        yield Problem(rows, at_most, tell=partial(_tell, alike), about=last)


def _tell(alike: list[Formula], ops: Affected) -> Words:
    facts, name, first = ops.facts, alike[0].name, alike[ops.at].rows[0]
    return Words(
        claim=(
            f"{name} runs as its formula ({len(alike)}x, {len(ops.together)} ops, {ops.time_together}): from line "
            f"{facts.line(first)} to {ops.example}"
        ),
        assumption="one op reads the tensor and writes the result once",
        evidence=cite_each((first, ops.row), lambda row: cite_op(facts, row)),
        fix=f"{_call(facts, name, ops.row)} in place of the ops from line {facts.line(first)} to {ops.line}",
        verify="re-profile; list_ops(op_code='BinaryNgDeviceOperation').total.count falls, PCC >= 0.99",
        caveat="the formula is inferred from the order of the ops; take its epsilon and weights over",
    )


def _call(facts: WindowFacts, name: str, row: int) -> str:
    """The one op. TTNN 0.81.1 turns halves of 32 channels and of multiples of 64; others in pairs, of any width.

    `rotary_embedding` gives whole tiles of rows, and so more rows than it read; `rotary_embedding_hf` as many.
    """
    if name != "rotary embedding":
        return CALLS[name]
    is_partial, (high, wide) = bool(facts.named("Concat")[row]), facts.ops.outputs[0].logical[row, 2:]
    if wide != TILE_SIDE and wide % (2 * TILE_SIDE):
        return SIDE_BY_SIDE + is_partial * LEAVES
    return (CALLS[name].replace("(", "_hf(") if high % TILE_SIDE else CALLS[name]) + is_partial * PARTIAL


# Functions that TTNN has as one op, written out: norms, softmax, rotary embedding, GELU by a sigmoid.
class Formula(NamedTuple):
    """A function's name, its ops in order, and the op that writes what the function returns."""

    name: str
    rows: tuple[int, ...]
    last: int


@dataclass(frozen=True)
class _Steps:
    """Masks of the ops that formulas are made of."""

    joins: Joins
    sums: Mask  # over the last dim
    thin: Mask  # on what a sum wrote
    multiplies: Mask
    scales: Mask  # multiplies or divides
    subtracts: Mask
    adds: Mask
    squares: Mask
    roots: Mask
    exponents: Mask
    negates: Mask
    sigmoids: Mask
    by_numbers: Mask  # scales by a number


def formulas_of(ops: OpTable, joins: Joins) -> list[Formula]:
    """The formulas among the ops of one device, in the order of their sums, exponents and negations."""
    steps = _steps(ops, joins)
    return [*_norms(steps), *_softmaxes(steps), *_rotations(ops, steps), *_swishes(ops, steps)]


def _steps(ops: OpTable, joins: Joins) -> _Steps:
    spelled_out, one_column = ops.texts("attributes"), ops.outputs[0].logical[:, 3] == 1

    def kind(of: str, *names: str) -> Mask:
        spelled = re.compile(rf"{of}OpType::({'|'.join(names)})\b")
        return spelled_out.where(lambda text: spelled.search(text) is not None)

    functions, multiplies = ops.named("Unary"), kind("Binary", "MUL")
    scales = multiplies | kind("Binary", "DIV")
    return _Steps(
        joins,
        sums=ops.named("Reduce") & one_column,
        thin=one_column,
        multiplies=multiplies,
        scales=scales,
        subtracts=kind("Binary", "SUB"),
        adds=kind("Binary", "ADD"),
        squares=multiplies | kind("Binary", "POWER") | kind("Unary", "SQUARE", "POWER"),
        roots=functions & kind("Unary", "RSQRT", "SQRT"),
        exponents=functions & kind("Unary", "EXP"),
        negates=functions & kind("Unary", "NEG"),
        sigmoids=functions & kind("Unary", "SIGMOID"),
        by_numbers=(scales & ~ops.inputs[1].present) | (functions & kind("Unary", "MUL_UNARY_SFPU")),
    )


def _norms(steps: _Steps) -> Iterator[Formula]:
    """Square, sum, root and product; LayerNorm subtracts the mean first."""
    joins = steps.joins
    for total in np.flatnonzero(steps.sums).tolist():
        square = int(joins.makers[total])
        scale = joins.chain(total, steps.thin)
        readers = joins.readers(scale[-1])
        if square == NOBODY or not steps.squares[square] or not steps.roots[scale].any() or len(readers) != 1:
            continue
        last = readers[0]
        if not steps.scales[last]:
            continue
        mean = _mean_before(steps, int(joins.makers[square]))
        rows = (*mean, square, *scale, last)
        yield Formula("LayerNorm" if mean else "RMSNorm", rows, last)


def _mean_before(steps: _Steps, row: int) -> tuple[int, ...]:
    """The sum (or greatest value) of a row, and the subtraction of it; nothing if `row` does not subtract it."""
    if row == NOBODY or not steps.subtracts[row]:
        return ()
    reduced = (int(made_by[row]) for made_by in steps.joins.by_input[1:])
    means = [made_by for made_by in reduced if made_by != NOBODY and steps.sums[made_by]]
    return (*means, row) if means else ()


def _softmaxes(steps: _Steps) -> Iterator[Formula]:
    """Exponent, sum and quotient; usually the greatest value is subtracted first."""
    joins = steps.joins
    for power in np.flatnonzero(steps.exponents).tolist():
        totals = [reader for reader in joins.readers(power) if steps.sums[reader]]
        if len(totals) != 1:
            continue
        scale = joins.chain(totals[0], steps.thin)
        readers = joins.readers(scale[-1])
        if len(readers) == 1 and steps.scales[readers[0]]:
            before = _mean_before(steps, int(joins.makers[power]))
            yield Formula("softmax", (*before, power, *scale, readers[0]), readers[0])


def _rotations(ops: OpTable, steps: _Steps) -> Iterator[Formula]:
    """The sum of x * cos and concat(-x2, x1) * sin, also of a part of x, which is joined to the rest.

    Halves that are no whole tiles are cut and joined as rows, between conversions.
    """
    joins, joined, converts = steps.joins, ops.named("Concat"), ops.named(*TO_TILES, *TO_ROWS)
    halves, products = ops.named("Slice") | converts, steps.multiplies
    follows = joined | products | steps.adds | converts
    for negation in np.flatnonzero(steps.negates).tolist():
        chain = joins.chain(negation, follows)
        work = [row for row in chain[1:] if not converts[row]]
        times = len(list(takewhile(products.__getitem__, work[1:])))  # by sin, and by cos where that comes behind
        if (
            not 0 < times <= len(("sin", "cos"))
            or not joined[work[0]]
            or len(work) < times + len(("concat", "sum"))
        ):
            continue
        sums = work[times + 1 :]
        if not steps.adds[sums[0]]:
            continue
        last = sums[1] if len(sums) > 1 and joined[sums[1]] else sums[0]
        made = [int(made_by[row]) for row in (negation, work[0], sums[0]) for made_by in joins.by_input]
        rows = {
            *chain[: chain.index(last) + 1],
            *(row for row in made if row != NOBODY and (halves | products)[row]),
        }
        rows |= _before(joins, negation, halves)
        between = range(min(rows), last + 1)
        whole = (halves | follows | steps.negates)[between].all()
        yield Formula("rotary embedding", tuple(between if whole else sorted(rows)), last)


def _before(joins: Joins, row: int, among: Mask) -> set[int]:
    """The ops of `among` behind which INPUT_0 of a row was made."""
    rows = set[int]()
    while (row := int(joins.makers[row])) != NOBODY and among[row]:
        rows.add(row)
    return rows


def _swishes(ops: OpTable, steps: _Steps) -> Iterator[Formula]:
    """A tensor times the sigmoid of its multiple by a number: GELU's approximation in CLIP, with 1.702.

    Tensor and sigmoid look alike in a report. A tensor that looks like them and that nobody else reads may be meant.
    """
    joins = steps.joins
    keys = [joins.flow.keys[operand.name] for operand in ops.inputs[:2]]
    for sigmoid in np.flatnonzero(steps.sigmoids).tolist():
        scale, readers = int(joins.makers[sigmoid]), joins.readers(sigmoid)
        if scale == NOBODY or not steps.by_numbers[scale] or len(readers) != 1 or not steps.multiplies[readers[0]]:
            continue
        source, last = int(joins.makers[scale]), readers[0]
        if source == NOBODY or any(key[last] != keys[0][scale] for key in keys):
            continue
        before = int(joins.flow.output_before(np.array([source]))[0])
        if before == NOBODY or joins.reader_counts[before]:
            yield Formula("SiLU of a multiple", (scale, sigmoid, last), last)
