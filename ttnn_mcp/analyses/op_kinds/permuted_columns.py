"""Reshape, permute, reshape: columns of each head put in another order behind the matmul that wrote them."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from ttnn_mcp.analyses.dataflow.likely_producers import NOBODY
from ttnn_mcp.analyses.dataflow.readers import joins_of
from ttnn_mcp.analyses.op_kinds.formats import reads_weights
from ttnn_mcp.run.ops.artefact import artefact

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from ttnn_mcp.run.ops.op_table import OpTable

LEAVES_HEADS = (  # ops that leave the columns of a head together
    "NlpCreateHeads", "NlpCreateHeadsDecode", "CreateQKVHeads", "SplitQueryKeyValueAndSplitHeads", "Slice",
    "Typecast", "InterleavedToSharded", "ShardedToInterleaved", "Reshard",
)  # fmt: skip
STEPS_AT_MOST = 4  # back to the matmul: heads, a slice, a cast and a move (ours)


class Permuted(NamedTuple):
    """Three ops in a row, the two sizes of the split last dim, and the matmul that wrote the columns."""

    rows: tuple[int, int, int]
    split: tuple[int, int]
    matmul: int


def rows_of_permuted(ops: OpTable) -> NDArray[np.int64]:
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
