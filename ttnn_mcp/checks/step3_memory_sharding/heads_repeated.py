"""Heads of keys and values are repeated for an attention that reads each of them for a group of query heads by itself.

Fused attention takes Q with a multiple of K's heads (TTNN 0.81.1 asks for no more, for prompts and for decode). A model
that repeats keys first, as PyTorch code of grouped-query attention does, writes them several times, and attention
reads as much more. Qwen3-TTS made the copies from slices, clones and a concat (tt-metal PR #43048); tt-mlir drops the
repeat where it recognises it (PR #8661).

The line: a Repeat or RepeatInterleave of the heads, or a concat of slices and clones that holds each head of one tensor
several times, whose result attention reads, also through a reshape or cast; together 0.5 % of the window. The bound is
the time of these ops; that attention reads less comes on top.

Silent on repeats over the batch, over rows and within a head, on a concat of different tensors, and on a Repeat of
several heads: it writes them round by round (0 1 0 1), and attention takes them group by group (0 0 1 1).
"""

from __future__ import annotations

from functools import partial
from typing import NamedTuple

import numpy as np

from ttnn_mcp.analyses.dataflow.alike_inputs import other_makers
from ttnn_mcp.analyses.dataflow.likely_producers import NOBODY
from ttnn_mcp.analyses.dataflow.readers import Joins
from ttnn_mcp.checks.arrays import Mask, Rows
from ttnn_mcp.checks.check import Affected, Problem, Problems, WindowFacts, Words, check, ops_of_family
from ttnn_mcp.checks.levers import ATTENTION
from ttnn_mcp.checks.needs import LOGICAL_SHAPES, TWO_OPERANDS
from ttnn_mcp.checks.wording import counted
from ttnn_mcp.checks.worth import SAFE, Worth
from ttnn_mcp.run.ops.op_table import OpTable

# Keys and values whose heads were repeated, so that attention meets one of them per query head.
REPEATS = ("Repeat", "RepeatInterleave")
_PARTS = ("Slice", "Clone", "Copy")  # of a concat that repeats heads one by one
_PASSES = ("Reshape", "Typecast")  # between the repeat and attention


@check(
    title="repeated heads of keys and values",
    lever=ATTENTION,
    of=ops_of_family("no fused attention", "attention"),
    needs=(TWO_OPERANDS, LOGICAL_SHAPES),
    worth=Worth(time=SAFE),
    compiled="call torch.nn.functional.scaled_dot_product_attention(..., enable_gqa=True), without repeat_kv",
)
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
        caveat="readers are inferred from shapes; a cache that holds repeated heads must hold each head once",
    )


def repeated_heads(joins: Joins) -> dict[int, tuple[int, ...]]:
    """Per attention op, the ops that repeat heads for it alone, and those that only belong to the repeating."""
    attends, makers_of, kinds = joins.ops.of_family("attention"), _makers(joins), _kinds(joins.ops)
    repeats: dict[int, tuple[int, ...]] = {}
    for row in np.flatnonzero(attends).tolist():
        repeating = {part for maker in makers_of.get(row, ()) for part in _repeating(joins, kinds, maker)}
        if repeating:
            repeats[row] = tuple(sorted(repeating))
    return repeats


class _Kinds(NamedTuple):
    """Masks of the ops that repeating is made of."""

    repeats: Mask
    concats: Mask
    parts: Mask
    slices: Mask
    passes: Mask
    rounds: Mask


def _kinds(ops: OpTable) -> _Kinds:
    return _Kinds(
        *(ops.named(*names) for names in (REPEATS, ("Concat",), _PARTS, ("Slice",), _PASSES, ("Repeat",)))
    )


def _makers(joins: Joins) -> dict[int, set[int]]:
    """Per op, all makers of what it reads, tensors of one description too."""
    makers_of: dict[int, set[int]] = {}
    for makers, readers in (joins.edges, other_makers(joins.ops)):
        for maker, reader in zip(makers.tolist(), readers.tolist(), strict=True):
            makers_of.setdefault(reader, set()).add(maker)
    return makers_of


def _repeating(joins: Joins, kinds: _Kinds, maker: int) -> tuple[int, ...]:
    """The ops that repeated the heads of what `maker` wrote; nothing if it holds each head once."""
    passed: list[int] = []
    while kinds.passes[maker] and joins.makers[maker] != NOBODY:
        passed.append(maker)
        maker = int(joins.makers[maker])
    in_groups = not kinds.rounds[maker] or joins.ops.inputs[0].logical[maker, 1] == 1
    if kinds.repeats[maker] and in_groups and _times(joins, maker, maker):
        return (*passed, maker)
    if not kinds.concats[maker]:
        return ()
    first = maker
    while first and kinds.parts[first - 1]:
        first -= 1
    rows = tuple(range(first, maker + 1))
    return (*passed, *rows) if kinds.slices[first:maker].any() and _times(joins, first, maker) else ()


def _times(joins: Joins, source: int, maker: int) -> bool:
    """Whether `maker` wrote every head of what `source` read the same number of times, two at least."""
    x, y = joins.ops.inputs[0], joins.ops.outputs[0]
    times = int(y.elements[maker]) // int(x.elements[source])
    alike = (x.logical[source, 2:] == y.logical[maker, 2:]).all()
    return bool(times > 1 and alike and y.logical[maker, 1] == times * x.logical[source, 1])


def of_rows(repeats: dict[int, tuple[int, ...]]) -> Rows:
    """All ops that repeat, in order."""
    return np.array(sorted({part for parts in repeats.values() for part in parts}), dtype=np.int64)
