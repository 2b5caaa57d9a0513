"""What changed about the ops that have a partner in the other window; equal changes are one."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np

from ttnn_mcp.analyses.comparison.aspects import SAME
from ttnn_mcp.records import dataclass
from ttnn_mcp.run.ops.op_names import canonical

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from ttnn_mcp.analyses.comparison.aspects import Aspect, Family
    from ttnn_mcp.run.ops.op_table import OpTable

    Rows = NDArray[np.int64]

SHOWN_PARTS = 3


@dataclass(frozen=True, slots=True)
class Change:
    """Pairs of ops that changed in the same way.

    Attributes:
        op: the op's canonical name.
        text: `in1 BFLOAT16 -> BFLOAT8_B, fidelity HiFi4 -> HiFi2`; empty where only the time changed.
        families: what kinds of settings these are.
        pairs: numbers of the pairs.
    """

    op: str
    what: str
    families: frozenset[Family]
    pairs: Rows


def changes_of(aspects: Sequence[Aspect], right: OpTable) -> list[Change]:
    """The changes of all pairs; each pair is in exactly one. Pairs without a visible difference have an empty text.

    Args:
        aspects: in what the pairs differ.
        right: the candidate's ops of the pairs.
    """
    names = right.texts("op_code").folded(canonical)
    columns = [names.codes, *(aspect.codes for aspect in aspects)]
    kinds, place = np.unique(np.stack(columns, axis=1), axis=0, return_inverse=True)
    order = np.argsort(place.ravel(), kind="stable")
    bounds = np.searchsorted(place.ravel()[order], np.arange(len(kinds) + 1)).tolist()
    listed: list[list[int]] = kinds.tolist()
    return [
        _change(names.distinct[kind[0]] if kind[0] >= 0 else "", kind[1:], aspects, order[start:end])
        for kind, (start, end) in zip(listed, pairwise(bounds), strict=True)
    ]


def _change(op: str, codes: list[int], aspects: Sequence[Aspect], pairs: Rows) -> Change:
    differing = [(aspect, code) for aspect, code in zip(aspects, codes, strict=True) if code != SAME]
    parts = [aspect.labels[code] for aspect, code in differing]
    more = [f"{len(parts) - SHOWN_PARTS} more"] if len(parts) > SHOWN_PARTS else []
    families: list[Family] = [aspect.family for aspect, _ in differing]
    return Change(op, ", ".join([*parts[:SHOWN_PARTS], *more]), frozenset(families), pairs)
