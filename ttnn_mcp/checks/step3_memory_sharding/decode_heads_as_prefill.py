"""Heads of a decode step are made or joined by the ops for prefill, one padded tile per head and user.

nlp_create_qkv_heads wants [B,1,S,H] and gives [B,heads,S,d]: with S = 1 each head of each user is a tile of 32 rows
of which one is used, and reshapes bring the users in and the heads out. ttnn.experimental.nlp_create_qkv_heads_decode
takes [1,1,B,H] as the matmul writes it and gives [1,B,heads,d], as scaled_dot_product_attention_decode reads it. In
GLM on Wormhole a reshape of 32.2 us, NlpCreateHeads of 37.7 and a reshape of 12.3 became one op of 7.5 us (tt-xla's
GLM log, #1). Compilers also write permutes to [1,B,heads,d] and back (tt-mlir #7714, PR #7273).

The line: a head op that is no decode form, or such a permute of up to 32 heads, on one row per user, up to 32 users;
with the reshapes right before and after it; together 5 us and more, 0.5 % of the window to save. The bound leaves 5 us
of the group.
The reshapes beside a head op only add or drop the users' dimension and go altogether: they are at_least, because the
decode form moves fewer tiles than the head op does now.

Silent from two rows per user on (prefill, speculative decode), where [B,heads,S,d] is what the ops want, and on heads
that fill no whole tiles, which TTNN 0.81.1 refuses in shards.
"""

from __future__ import annotations

import re
from functools import partial

import numpy as np

from ttnn_mcp.analyses.op_kinds.few_cores import SMALL_NS
from ttnn_mcp.checks.arrays import Mask, Rows
from ttnn_mcp.checks.check import Affected, Floats, Problem, Problems, Subject, WindowFacts, Words, check
from ttnn_mcp.checks.levers import ATTENTION
from ttnn_mcp.checks.needs import OPERANDS
from ttnn_mcp.checks.shared.compiled import optimized
from ttnn_mcp.checks.wording import cite_each, cite_op
from ttnn_mcp.checks.worth import SAFE, Worth
from ttnn_mcp.hardware import TILE_SIDE
from ttnn_mcp.records import dataclass
from ttnn_mcp.run.ops.artefact import artefact
from ttnn_mcp.run.ops.op_names import canonical
from ttnn_mcp.run.ops.op_table import OpTable

# Prefill ops that make or join the heads of attention, permutes that do so, and the reshapes around them.
USERS = 32  # nlp_create_qkv_heads_decode_device_operation.cpp takes at most so many
HEADS_AT_MOST = 32  # same
_MAKES_OR_JOINS = re.compile(r"(Create(QKV)?Heads|ConcatHeads)(?!.*Decode)", re.IGNORECASE)
HEADS = Subject(
    lambda facts: facts.names.where(is_head_op) | facts.named("Permute", "Transpose"),
    "no ops that make or join heads",
)
DECODED = ("BFLOAT16", "FLOAT32")  # formats that nlp_create_qkv_heads_decode of TTNN 0.81.1 takes
NOTHING: Floats = np.zeros(0)


@check(
    title="heads of a decode step by ops for prefill",
    lever=ATTENTION,
    of=HEADS,
    needs=(OPERANDS,),
    worth=Worth(saving=SAFE),
    compiled=optimized("chooses head ops"),
)
def look(facts: WindowFacts) -> Problems:
    """Yield all groups that make heads, and those that join them."""
    for makes in (True, False):
        groups = [group for group in one_row_groups(facts.ops) if group.makes == makes]
        saved = [_saved_ns(facts.kernel_ns[group.rows]) for group in groups]
        sure = [saving * (not group.permutes) for group, saving in zip(groups, saved, strict=True)]
        heads = np.array([group.head for group in groups], dtype=np.int64)
        rows = np.concatenate([heads[:0], *(group.rows for group in groups)])
        at_least = np.where(np.isin(rows, heads), 0.0, np.concatenate([NOTHING, *sure]))
        tell = partial(_tell, groups)
        yield Problem(rows, np.concatenate([NOTHING, *saved]), at_least_ns=at_least, tell=tell, about=heads)


def _tell(groups: list[HeadGroup], ops: Affected) -> Words:
    group = groups[ops.at]
    return Words(
        claim=(
            f"{ops.many('head op')} made for prefill {ops.verb('work')} on one row per user, with their reshapes "
            f"{ops.time_together}: {ops.name} {ops.example}"
        ),
        assumption="one decode form in place of head op and reshapes, 5 us at least",
        evidence=cite_each((ops.row, *group.reshapes), lambda row: cite_op(ops.facts, row)),
        fix=_fix(makes=group.makes, narrow=ops.facts.ops.inputs[0].dtype[group.head] not in DECODED),
        verify=f"re-profile; list_ops shows the Decode form in place of {ops.name}; PCC >= 0.99",
        caveat="wants users in one tile, [1,1,B,H], and attention on [1,B,heads,d]; K and V caches as now",
    )


def _saved_ns(took: Floats) -> Floats:
    """All of a group but 5 us, in proportion to what its ops took."""
    together = max(float(took.sum()), 1.0)
    return took * max(together - SMALL_NS, 0.0) / together


def _fix(*, makes: bool, narrow: bool) -> str:
    if makes:
        return (
            "q, k, v = ttnn.experimental.nlp_create_qkv_heads_decode(xqkv, num_heads=..., num_kv_heads=..., "
            f"memory_config=ttnn.L1_HEIGHT_SHARDED_MEMORY_CONFIG) on [1,1,B,H]{' in BFLOAT16' * narrow}; then "
            "ttnn.transformer.scaled_dot_product_attention_decode"
        )
    return (
        "ttnn.experimental.nlp_concat_heads_decode(x, num_heads=...) on [1,B,heads,d] in L1 HEIGHT_SHARDED, as "
        "scaled_dot_product_attention_decode writes it"
    )


@dataclass(frozen=True, slots=True)
class HeadGroup:
    """A head op and the reshapes of the same elements directly before and after it.

    Attributes:
        head: the head op, or the permute.
        reshapes: none, one or both.
        makes: whether it makes heads for attention, and does not join them behind it.
        permutes: whether a permute stands in place of a head op.
    """

    head: int
    reshapes: tuple[int, ...]
    makes: bool
    permutes: bool = False

    @property
    def rows(self) -> Rows:
        """All its ops, in order."""
        return np.array(sorted((self.head, *self.reshapes)), dtype=np.int64)


def is_head_op(op_code: str) -> bool:
    """Whether an op makes or joins heads and is not a decode op."""
    return _MAKES_OR_JOINS.search(canonical(op_code)) is not None


@artefact
def one_row_groups(ops: OpTable) -> list[HeadGroup]:
    """The head ops on one row per user, for no more users than the decode ops take."""
    codes, shape = ops.texts("op_code"), ops.inputs[0].logical
    joins = codes.where(lambda text: "concat" in text.lower())
    users = shape[:, 0] * np.where(joins, 1, shape[:, 1])  # an op that joins heads has them in the second dim
    heads = codes.where(is_head_op) & (shape[:, 2] == 1) & (users <= USERS)
    reshapes = codes.where(lambda text: canonical(text) == "Reshape")
    groups = [_group(ops, int(head), reshapes, makes=not joins[head]) for head in np.flatnonzero(heads)]
    sides = np.where(joins, ops.inputs[0].logical[:, 3], ops.outputs[0].logical[:, 3])
    whole = sides % TILE_SIDE == 0  # TTNN 0.81.1 wants heads in shards of whole tiles
    return [group for group in (*groups, *_permuted(ops, reshapes)) if whole[group.head]]


def _permuted(ops: OpTable, reshapes: Mask) -> list[HeadGroup]:
    """Permutes of [users,heads,1,d] to [1,users,heads,d], as attention reads it, and back."""
    x, y = ops.inputs[0].logical, ops.outputs[0].logical
    turns = ops.named("Permute", "Transpose")
    split = _one_row_each(x, y) & turns
    joined = _one_row_each(y, x) & turns
    return [
        _group(ops, int(row), reshapes, makes=bool(split[row]), permutes=True)
        for row in np.flatnonzero(split | joined)
    ]


def _one_row_each(apart: Rows, together: Rows) -> Mask:
    """[users,heads,1,d] beside [1,users,heads,d], for users and heads of more than one."""
    users, heads = apart[:, 0], apart[:, 1]
    turned = (together[:, 0] == 1) & (together[:, 1] == users) & (together[:, 2] == heads)
    able = (users > 1) & (users <= USERS) & (heads > 1) & (heads <= HEADS_AT_MOST)
    return turned & able & (apart[:, 3] == together[:, 3])


def _group(ops: OpTable, head: int, reshapes: Mask, *, makes: bool, permutes: bool = False) -> HeadGroup:
    read, made = ops.inputs[0].elements, ops.outputs[0].elements
    before, after = head - 1, head + 1
    beside: list[int] = []
    if head and reshapes[before] and made[before] == read[head]:
        beside.append(before)
    if after < len(ops) and reshapes[after] and made[head] == read[after]:
        beside.append(after)
    return HeadGroup(head, tuple(beside), makes, permutes)
