"""Two or three matmuls read one activation, where one on wider weights would do.

Query, key and value, or gate and up, multiply the same tensor by weights that can stand beside each other. As one op
they find more columns to share out, read the activation once and pay one launch. Training Llama-3 8B took 2.5 % less
with Q and KV in one, and 4 % less with gate and up (tt-metal PR #52818); Wan 2.2 takes Q, K and V from one
minimal_matmul_split (PR #38374).

The line: Matmul, Linear and MinimalMatmul of 5 us and more on interleaved weights, that read the output of one op, with
equal types and fidelity, at most 8 rows apart; together under 60 % of their roofline, and 100 us and more where they
have one row of tiles; 1 % of the window to save. The bound: one op takes no less than the longest of them, and than
their bytes and arithmetic together.

For one token the op that splits the result costs what one matmul fewer saves: CosyVoice's Q, K and V took 8.29 ms a
token apart and 8.31 packed, Qwen3.8's on Blackhole the same (tt-metal #55553), North-Mini's gate and up 1 % more. Gate
and up as one lost or brought nothing in 25 of 27 tries of tt-metal's ledgers, most of them for one token.

Silent on weights in batches, where what they read has a twin without a reader (parts of one tensor), on two of one row
of tiles whose results meet in one op (gate and up), where they stream their weights or compute near the roofline, on
DRAM-sharded weights, on inputs that no op of the window made, and on sparse matmuls (sparse-matmuls-on-one-input). The
split of the result costs something where no head op does it.
"""

from __future__ import annotations

from functools import partial

import numpy as np

from ttnn_mcp.analyses.attribute_columns import attributes_of
from ttnn_mcp.analyses.dataflow.likely_producers import NOBODY
from ttnn_mcp.analyses.dataflow.readers import Joins
from ttnn_mcp.analyses.op_kinds.few_cores import SMALL_NS
from ttnn_mcp.analyses.op_kinds.formats import reads_weights
from ttnn_mcp.analyses.op_kinds.kept_rows import DENSE
from ttnn_mcp.arrays import Booleans, Integers
from ttnn_mcp.checks.check import Affected, Floats, Problem, Problems, Rows, WindowFacts, Words, check, ops_named
from ttnn_mcp.checks.levers import JOINED_MATMULS
from ttnn_mcp.checks.needs import ARCHITECTURE, TWO_OPERANDS
from ttnn_mcp.checks.shared.activations import applied_by, columns_dim
from ttnn_mcp.checks.shared.floors import WELL_USED, achievable_ns
from ttnn_mcp.checks.wording import cite_each, cite_op, counted
from ttnn_mcp.checks.worth import USUAL, Worth
from ttnn_mcp.hardware import TILE_SIDE  # unmoved: matmuls' rows are padded to whole tiles
from ttnn_mcp.run.ops.alike import numbered

# Matmuls that read one activation: the projections of an attention, gate and up of a feed-forward.
NEAR = 8  # rows from one to the next at most: bias, reshape, transpose and norm of a head stand between (ours)
_FUSED = "UnaryOpType::"  # in the ATTRIBUTES of a matmul with an activation
PAIR = 2  # gate and up (ours)
APART = ", functions on the parts"  # one matmul applies one function to all columns
FEW_ROWS_NS = 100_000.0  # CosyVoice's 90 us gained nothing, Gemma 4's 300 us did (tt-metal #44949)


@check(
    title="several matmuls on one activation",
    lever=JOINED_MATMULS,
    of=ops_named("no dense matmuls", *DENSE),
    needs=(TWO_OPERANDS, ARCHITECTURE),
    worth=Worth(saving=USUAL),
    compiled="write Q, K and V (gate and up) as one nn.Linear over stacked weights",
    general=True,
)
def look(facts: WindowFacts) -> Problems:
    """Yield all such groups."""
    able = facts.named(*DENSE) & reads_weights(facts.ops, facts.flow) & (facts.kernel_ns >= SMALL_NS)
    able &= ~facts.roofline.impossible & ~facts.ops.inputs[1].sharded
    able &= facts.ops.inputs[1].padded[:, :2].prod(axis=1) == 1  # weights in batches have no columns of their own
    best, unary = achievable_ns(facts), facts.named("Unary")
    groups = [
        group
        for group in on_one_input(facts.joins, np.flatnonzero(able))
        if best[group].sum() < WELL_USED * facts.kernel_ns[group].sum() and _pays(facts, group, unary)
    ]
    rows = np.array([row for group in groups for row in group.tolist()], dtype=np.int64)
    saved = np.array([saving for group in groups for saving in _saves(facts, group, best).tolist()])
    gone = np.setdiff1d(rows, [group[0] for group in groups])
    yield Problem(rows, saved, gone=gone, tell=partial(_tell, groups))


def _tell(groups: list[Rows], ops: Affected) -> Words:
    facts = ops.facts
    group = next(group for group in groups if ops.row in group)
    differ = len({applied_by(facts, row) for row in group.tolist()}) > 1
    weights = ", ".join(("w1", "w2", "w3", "...")[: len(group)])
    return Words(
        claim=(
            f"{len(ops.rows)} matmuls read {counted(len(groups), 'activation')} ({ops.time}): {len(group)} from line "
            f"{facts.line(int(group[0]))} on, {ops.example}"
        ),
        assumption="one op on stacked weights takes no less than the longest of them, nor than their roofline",
        evidence=cite_each(group[:3].tolist(), lambda n: cite_op(facts, n)),
        fix=(
            f"one linear on w = ttnn.concat([{weights}], dim={columns_dim(facts, ops.row)}) at load, bias too: "
            f"ttnn.linear(x, w, ...), any config made for that N{APART * differ}; Q, K, V: then "
            "ttnn.experimental.nlp_create_qkv_heads; gate and up: ttnn.experimental.minimal_matmul_split, as slices "
            "cost more than they save"
        ),
        verify="re-profile; list_ops(group_by='signature') shows one wider matmul; PCC >= 0.99",
        caveat="readers are inferred from shapes; columns of heads must interleave for tensor parallel weights",
    )


def _pays(facts: WindowFacts, group: Rows, unary: Booleans) -> bool:
    """Whether splitting the result costs less than one op saves: over many rows, or where they take long."""
    rows = facts.ops.inputs[0].height[group[0]]
    return bool(
        rows > TILE_SIDE or (facts.kernel_ns[group].sum() >= FEW_ROWS_NS and not _meet(facts, group, unary))
    )


def _meet(facts: WindowFacts, group: Rows, unary: Booleans) -> bool:
    """Whether two results, with a function on them or without, meet in one op."""
    ends = [facts.joins.chain(row, unary)[-1] for row in group.tolist()]
    return len(group) == PAIR and bool({*facts.joins.readers(ends[0])} & {*facts.joins.readers(ends[1])})


def _saves(facts: WindowFacts, group: Rows, best: Floats) -> Floats:
    """In step with what each took."""
    took = facts.kernel_ns[group]
    return took * (1 - max(took.max(), best[group].sum()) / took.sum())


def on_one_input(joins: Joins, rows: Integers) -> list[Integers]:
    """The groups of `rows`, in order, that read one tensor with weights and fidelity of one kind, near each other.

    A square matmul writes what looks like the tensor it read, so the next one seems to read its output. It is taken to
    read the tensor before: two matmuls without a function between them would be one.
    """
    ops = joins.ops
    able = np.zeros(len(ops), dtype=np.bool_)
    able[rows] = True
    source = np.array([_source(joins, int(row), able) for row in rows], dtype=np.int64)
    weight = ops.inputs[1]
    kind = numbered(
        len(ops),
        [
            joins.flow.keys[ops.inputs[0].name],
            weight.dtype.codes,
            weight.placement.codes,
            ops.texts("fidelity").codes,
        ],
    )[rows]
    order = np.lexsort((rows, kind, source))
    ordered = rows[order]
    apart = (np.diff(source[order]) != 0) | (np.diff(kind[order]) != 0) | (np.diff(ordered) > NEAR)
    groups = np.split(ordered, np.flatnonzero(apart) + 1)
    return [group for group in groups if len(group) > 1 and _surely_alike(joins, group)]


def _surely_alike(joins: Joins, group: Integers) -> bool:
    """Whether they read what one op made: no part like it of the same tensor seems to be read by nobody."""
    maker, made = int(joins.makers[group[0]]), joins.flow.keys[joins.ops.outputs[0].name]
    if maker == NOBODY:
        return False
    before = np.arange(max(maker - NEAR, 0), maker)
    twins = before[(made[before] == made[maker]) & (joins.makers[before] == joins.makers[maker])]
    return bool(joins.reader_counts[twins].all())


def _source(joins: Joins, row: int, able: Booleans) -> int:
    """The row that made what this matmul reads."""
    keys, settings = joins.flow.keys, attributes_of(joins.ops)
    x, y = joins.ops.inputs[0].name, joins.ops.outputs[0].name
    maker = int(joins.makers[row])
    while maker != NOBODY and able[maker] and keys[x][maker] == keys[y][maker]:
        if any(_FUSED in text for text in settings.row(maker).values()):
            break
        maker = int(joins.makers[maker])
    return maker
