"""Reshapes that copy their tensor: which ones the checks of reshapes tell about, and the words for all of them.

Two kinds of them are found here: ops that move ROW_MAJOR rows too short for DRAM, and reshape, permute, reshape, which
puts the columns of each head in another order behind the matmul that wrote them.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ttnn_mcp.analyses.dataflow.likely_producers import NOBODY
from ttnn_mcp.analyses.dataflow.readers import joins_of
from ttnn_mcp.analyses.op_kinds.formats import reads_weights
from ttnn_mcp.checks.arrays import Floats, Mask, Rows
from ttnn_mcp.checks.check import Affected, WindowFacts, Words, ops_named
from ttnn_mcp.run.ops.artefact import artefact
from ttnn_mcp.run.ops.op_table import OpTable
from ttnn_mcp.run.ops.operand import Operand

LEAVES_HEADS = (  # ops that leave the columns of a head together
    "NlpCreateHeads", "NlpCreateHeadsDecode", "CreateQKVHeads", "SplitQueryKeyValueAndSplitHeads", "Slice",
    "Typecast", "InterleavedToSharded", "ShardedToInterleaved", "Reshard",
)  # fmt: skip
STEPS_AT_MOST = 4  # back to the matmul: heads, a slice, a cast and a move (ours)
TINY_ROW_BYTES = 64  # rows up to here reach 9 % of Blackhole's DRAM bandwidth at best: tt-metal #55898
RESHAPES = ops_named("no Reshape ops took device time: all were views, or there were none", "Reshape")
IN_WHOLE_TILES = (
    "pad sequence and head dims to multiples of 32 in the model, so that the compiler's reshapes are views"
)


def copied(facts: WindowFacts, *, same_width: bool) -> Mask:
    """Reshapes to the same width or to another one, but for those that tiny rows or permuted columns explain."""
    keep = facts.ops.inputs[0].logical[:, 3] == facts.ops.outputs[0].logical[:, 3]
    reshapes = RESHAPES.mask(facts) & ~moves_tiny_rows(facts.ops) & (keep == same_width)
    reshapes[rows_of_permuted(facts.ops)] = False
    return reshapes


def copy_told(ops: Affected, why: str, fix: str, *, beside: str = "") -> Words:
    """That they copy, and why; `beside` names other ops that go with them."""
    return Words(
        claim=f"{len(ops.rows)} reshapes ({ops.time}) copy, no views: {why}; heaviest {ops.example}{beside}",
        assumption="each becomes a view, or falls into a fused op that does its move",
        cells=((ops.facts.input(0), "LAYOUT"), (ops.facts.output(), "LAYOUT")),
        fix=fix,
        verify="re-profile: compare_runs.removed lists the Reshape ops; PCC unchanged",
        caveat="a fused op takes some time of its own, which the bound does not subtract",
    )


def row_bytes(operand: Operand) -> Floats:
    """Bytes of one ROW_MAJOR row, the page of an interleaved tensor; infinite in TILE, sharded or absent."""
    rows = operand.layout.among("ROW_MAJOR") & ~operand.sharded
    sizes = operand.padded[:, 3] * operand.element_bytes
    return np.where(rows & np.isfinite(sizes), sizes, np.inf)


@artefact
def moves_tiny_rows(ops: OpTable) -> Mask:
    """Ops with rows below `TINY_ROW_BYTES` on either side."""
    tiny = np.zeros(len(ops), dtype=np.bool_)
    for operand in (*ops.inputs[:1], *ops.outputs[:1]):
        tiny |= row_bytes(operand) < TINY_ROW_BYTES
    return tiny


class Permuted(NamedTuple):
    """Three ops in a row, the two sizes of the split last dim, and the matmul that wrote the columns."""

    rows: tuple[int, int, int]
    split: tuple[int, int]
    matmul: int


def rows_of_permuted(ops: OpTable) -> Rows:
    """The rows of all of them."""
    places = {place for chain in permuted_columns(ops) for place in chain.rows}
    return np.array(sorted(places), dtype=np.int64)


@artefact
def permuted_columns(ops: OpTable) -> list[Permuted]:
    """All of them, in order."""
    joins, leaves = joins_of(ops), ops.named(*LEAVES_HEADS)
    projects = reads_weights(ops, joins.flow) & ops.of_family("matmul")
    shapes, written = ops.inputs[0].logical, ops.outputs[0].logical
    reshapes, sole = ops.named("Reshape"), joins.reader_counts == 1
    swaps = (shapes[:, :2] == written[:, :2]).all(axis=1) & (shapes[:, 2:] == written[:, :1:-1]).all(axis=1)
    chains: list[Permuted] = []
    for middle in np.flatnonzero(ops.named("Permute", "Transpose") & swaps & sole).tolist():
        before, after = int(joins.makers[middle]), joins.readers(middle)[0]
        if not (reshapes[before] and sole[before] and reshapes[after]):
            continue
        split = written[before, 2:]
        same = (shapes[before] == written[after]).all() and split.prod() == shapes[before, 3]
        matmul = joins.maker_behind(before, leaves, STEPS_AT_MOST)
        if same and matmul != NOBODY and projects[matmul]:
            chains.append(Permuted((before, middle, after), (int(split[0]), int(split[1])), matmul))
    return chains
