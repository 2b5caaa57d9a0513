"""The ends of a language model's passes: LM heads, and the ops behind them that choose a token."""

from __future__ import annotations

import re

import numpy as np

from ttnn_mcp.analyses.stages.stretches import any_between
from ttnn_mcp.arrays import Booleans, Integers
from ttnn_mcp.run.ops.alike import numbered
from ttnn_mcp.run.ops.artefact import artefact
from ttnn_mcp.run.ops.op_names import canonical
from ttnn_mcp.run.ops.op_table import OpTable

CHOOSES = r"^(ArgMax|Argmax|TopK|Sampling)"
VOCABULARY = 8_192  # columns: the smallest vocabularies of published models have 30,000, split over up to 4 matmuls
WIDENS = (
    2.0  # where no op chooses a token, a head is so many times wider than the model; a fused up-projection is less
)


@artefact
def lm_heads(ops: OpTable) -> Integers:
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
    chosen = any_between(ops.texts("op_code").where(_chooses), multiplies, following)
    ends = chosen | any_between(ops.of_family("embedding"), multiplies, following) | (following == len(ops))
    last = wide & ends & (chosen | (width >= WIDENS * inner))
    shape = numbered(len(multiplies), (inner, width))
    return multiplies[np.isin(shape, shape[last])]


def head_groups(ops: OpTable, heads: Integers) -> int:
    """The number of passes that end with one of these heads; the parts of a split head follow each other."""
    multiplies = np.flatnonzero(ops.of_family("matmul"))
    return int((np.diff(np.searchsorted(multiplies, heads), prepend=-2) > 1).sum())


def choosing(ops: OpTable, heads: Integers) -> Booleans:
    """Mask of the ops behind an LM head, if one of them chooses a token.

    They end before the next embedding; where the next pass begins without one, with the last op that chooses.
    """
    mask = np.zeros(len(ops), dtype=np.bool_)
    chooses = np.flatnonzero(ops.texts("op_code").where(_chooses))
    embeds, works = (_next(ops, heads, *families) for families in (("embedding",), ("matmul", "attention")))
    last = np.searchsorted(chooses, np.minimum(embeds, works)) - 1
    some = last >= np.searchsorted(chooses, heads)
    ends = np.where(embeds <= works, embeds, np.append(chooses, 0)[last] + 1)
    for first, end in zip(heads[some] + 1, ends[some], strict=True):
        mask[first:end] = True
    return mask


def _next(ops: OpTable, rows: Integers, *families: str) -> Integers:
    """The next op of these families behind each row; the number of ops where there is none."""
    members = np.flatnonzero(ops.of_family(*families))
    return np.append(members, len(ops))[np.searchsorted(members, rows, side="right")]


def _chooses(op_code: str) -> bool:
    return re.match(CHOOSES, canonical(op_code)) is not None
