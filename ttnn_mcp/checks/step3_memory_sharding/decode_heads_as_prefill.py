"""Heads of a decode step are made or joined by the ops for prefill, one padded tile per head and user.

nlp_create_qkv_heads wants [B,1,S,H] and gives [B,heads,S,d]: with S = 1 each head of each user is a tile of 32 rows
of which one is used, and reshapes bring the users in and the heads out. ttnn.experimental.nlp_create_qkv_heads_decode
takes [1,1,B,H] as the matmul writes it and gives [1,B,heads,d], as scaled_dot_product_attention_decode reads it. In
GLM on Wormhole a reshape of 32.2 us, NlpCreateHeads of 37.7 and a reshape of 12.3 became one op of 7.5 us (tt-xla's
GLM log, #1).

The line: a head op that is no decode form, on one row per user, up to 32 users; with the reshapes right before and
after it; together 5 us and more, 0.5 % of the window to save. The bound leaves 5 us of the group. The reshapes that
only add or drop the users' dimension go altogether: they are at_least, because the decode form moves fewer tiles
than the head op does now.

Silent from two rows per user on (prefill, speculative decode), where [B,heads,S,d] is what the ops want.
"""

from __future__ import annotations

import re

import numpy as np

from ttnn_mcp.analyses.op_kinds.few_cores import SMALL_NS
from ttnn_mcp.checks.check import Check, Claim, Claims, Mask, Rows, Subject, WindowFacts
from ttnn_mcp.checks.needs import OPERANDS
from ttnn_mcp.checks.shared.levers import optimized
from ttnn_mcp.checks.shared.wording import cite_op, example, name_of, time_of
from ttnn_mcp.checks.worth import SAFE, Worth
from ttnn_mcp.run.ops.op_names import canonical

USERS = 32  # at most: nlp_create_qkv_heads_decode_device_operation.cpp
RESHAPES = ("Reshape",)
_MAKES_OR_JOINS = re.compile(r"(Create(QKV)?Heads|ConcatHeads)(?!.*Decode)", re.IGNORECASE)


def _is_head_op(op_code: str) -> bool:
    return _MAKES_OR_JOINS.search(canonical(op_code)) is not None


HEADS = Subject(lambda facts: facts.names.where(_is_head_op), "no ops that make or join heads")


def look(facts: WindowFacts) -> Claims:
    """Yield one claim over all such groups."""
    shape = facts.ops.inputs[0].logical
    joins = facts.names.where(lambda text: "concat" in text.lower())
    users = shape[:, 0] * np.where(joins, 1, shape[:, 1])  # heads stand second where they are joined
    single = HEADS.mask(facts) & (shape[:, 2] == 1) & (users <= USERS)
    reshapes = facts.named(*RESHAPES)
    rows: list[int] = []
    at_most: list[float] = []
    at_least: list[float] = []
    for head in np.flatnonzero(single):
        group = _group(facts, int(head), reshapes)
        took = facts.kernel_ns[group]
        saved = max(float(took.sum()) - SMALL_NS, 0.0) / max(float(took.sum()), 1.0)
        rows += group.tolist()
        at_most += (took * saved).tolist()
        at_least += np.where(group == head, 0.0, took * saved).tolist()
    if sum(at_most) <= 0:
        return
    told, heads = np.array(rows, dtype=np.int64), np.flatnonzero(single)
    row = facts.heaviest(heads)[0]
    name = name_of(facts, row)
    makes = "concat" not in name.lower()
    yield Claim(
        claim=(
            f"{len(heads)} head op{'s' * (len(heads) > 1)} made for prefill work{'s' * (len(heads) == 1)} on one row "
            f"per user, with their reshapes {time_of(facts, told)}: {name} {example(facts, row)}"
        ),
        rows=told,
        at_most_ns=np.array(at_most),
        at_least_ns=np.array(at_least),
        assumption="one decode form in place of head op and reshapes, 5 us at least",
        evidence=tuple(
            one
            for n in (row, *(other for other in _group(facts, row, reshapes).tolist() if other != row))
            for one in cite_op(facts, n)
        ),
        fix=_fix(makes=makes),
        verify=f"re-profile; list_ops shows the Decode form in place of {name}; PCC >= 0.99",
        caveat="wants users in one tile, [1,1,B,H], and attention on [1,B,heads,d]; K and V caches as now",
    )


def _fix(*, makes: bool) -> str:
    if makes:
        return (
            "q, k, v = ttnn.experimental.nlp_create_qkv_heads_decode(xqkv, num_heads=..., num_kv_heads=..., "
            "memory_config=ttnn.L1_HEIGHT_SHARDED_MEMORY_CONFIG) on [1,1,B,H]; then "
            "ttnn.transformer.scaled_dot_product_attention_decode"
        )
    return (
        "ttnn.experimental.nlp_concat_heads_decode(x, num_heads=...) on [1,B,heads,d] in L1 HEIGHT_SHARDED, as "
        "scaled_dot_product_attention_decode writes it"
    )


def _group(facts: WindowFacts, head: int, reshapes: Mask) -> Rows:
    """The head op, and a reshape of the same elements right before and right after it."""
    size, made = facts.ops.inputs[0].elements, facts.ops.outputs[0].elements
    group = [head]
    if head and reshapes[head - 1] and made[head - 1] == size[head]:
        group.insert(0, head - 1)
    if head + 1 < len(facts) and reshapes[head + 1] and made[head] == size[head + 1]:
        group.append(head + 1)
    return np.array(group, dtype=np.int64)


CHECK = Check(
    id="decode-heads-as-prefill",
    title="heads of a decode step by ops for prefill",
    step=3,
    look=look,
    of=HEADS,
    needs=(OPERANDS,),
    worth=Worth(saving=SAFE),
    compiled=optimized("chooses head ops"),
)
