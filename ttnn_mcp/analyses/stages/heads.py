"""The ends of a language model's passes: LM heads, and the ops behind them that choose a token."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import numpy as np

from ttnn_mcp.run.ops.artefact import artefact
from ttnn_mcp.run.ops.op_names import canonical

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from ttnn_mcp.run.ops.op_table import OpTable

CHOOSES = r"^(ArgMax|Argmax|TopK|Sampling)"
VOCABULARY = 8_192  # columns: the smallest vocabularies of published models have 30,000, split over up to 4 matmuls
WIDENS = (
    2.0  # where no op chooses a token, a head is so many times wider than the model; a fused up-projection is less
)


@artefact
def lm_heads(ops: OpTable) -> NDArray[np.int64]:
    """Rows of matmuls onto the vocabulary.

    The last matmul of a pass is one if an op then chooses a token, or if it is far wider than the model; so are matmuls
    of the same shape: the other parts of a split head, and heads of passes whose end nothing shows.
    """
    multiplies = np.flatnonzero(ops.of_family("matmul"))
    if not ops.outputs or not ops.inputs:
        return np.zeros(0, dtype=np.int64)
    width, inner = ops.outputs[0].logical[multiplies, 3], ops.inputs[0].logical[multiplies, 3]
    wide = width >= VOCABULARY
    following = np.append(multiplies[1:], len(ops))
    chosen = _between(ops.texts("op_code").where(_chooses), multiplies, following)
    ends = chosen | _between(ops.of_family("embedding"), multiplies, following) | (following == len(ops))
    last = wide & ends & (chosen | (width >= WIDENS * inner))
    shapes = np.column_stack((inner, width))
    return multiplies[(shapes[:, None] == np.unique(shapes[last], axis=0)[None]).all(axis=2).any(axis=1)]


def head_groups(ops: OpTable, heads: NDArray[np.int64]) -> int:
    """The number of passes that end with one of these heads; the parts of a split head follow each other."""
    multiplies = np.flatnonzero(ops.of_family("matmul"))
    return int((np.diff(np.searchsorted(multiplies, heads), prepend=-2) > 1).sum())


def choosing(ops: OpTable, heads: NDArray[np.int64]) -> NDArray[np.bool_]:
    """Mask of the ops behind an LM head, if one of them chooses a token.

    They end before the next embedding; where the next pass begins without one, with the last op that chooses.
    """
    mask = np.zeros(len(ops), dtype=np.bool_)
    chooses = np.flatnonzero(ops.texts("op_code").where(_chooses))
    embeds = np.flatnonzero(ops.of_family("embedding"))
    works = np.flatnonzero(ops.of_family("matmul", "attention"))
    for head in heads.tolist():
        embed, work = (_next(rows, head, len(ops)) for rows in (embeds, works))
        chosen = chooses[(chooses > head) & (chooses < min(embed, work))]
        if len(chosen):
            mask[head + 1 : embed if embed <= work else int(chosen[-1]) + 1] = True
    return mask


def _next(rows: NDArray[np.int64], row: int, end: int) -> int:
    return next(iter(rows[rows > row].tolist()), end)


def _between(marked: NDArray[np.bool_], after: NDArray[np.int64], before: NDArray[np.int64]) -> NDArray[np.bool_]:
    """Whether one of the marked ops lies between each two rows."""
    counted = np.concatenate(([0], np.cumsum(marked)))
    return counted[before] > counted[after + 1]


def _chooses(op_code: str) -> bool:
    return re.match(CHOOSES, canonical(op_code)) is not None
