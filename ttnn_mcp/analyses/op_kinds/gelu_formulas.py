"""GELU written out: x / 2 * (1 + erf(x / sqrt(2))) as ops that run one behind the other."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from ttnn_mcp.run.ops.op_table import OpTable

_ERF = re.compile(r"UnaryOpType::ERF\b")
SCALES = ("BinaryOpType::MUL", "BinaryOpType::DIV")


def gelu_formulas(ops: OpTable) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """The erf ops, and all ops of their formulas.

    Behind an erf run the addition and a multiplication; another one and the scaling in front belong to it if they run.
    """
    texts = ops.texts("attributes")
    erf = texts.where(lambda text: _ERF.search(text) is not None)
    adds = texts.where(lambda text: "BinaryOpType::ADD" in text)
    scales = texts.where(lambda text: any(kind in text for kind in SCALES))
    centres = np.flatnonzero(erf & _shifted(adds, 1) & _shifted(scales, 2))
    formulas = (centres, centres + 1, centres + 2)
    around = tuple((centres + step)[_shifted(scales, step)[centres]] for step in (-1, 3))
    return centres, np.unique(np.concatenate((*formulas, *around)))


def _shifted(mask: NDArray[np.bool_], by: int) -> NDArray[np.bool_]:
    """Per op, the mask of the op that ran `by` ops later."""
    places = np.arange(len(mask)) + by
    inside = (places >= 0) & (places < len(mask))
    return inside & mask[np.where(inside, places, 0)]
