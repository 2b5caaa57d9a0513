"""Where in a model an op is: its role among the ops of its layer, and the layer."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ttnn_mcp.arrays import Integers
from ttnn_mcp.records import dataclass
from ttnn_mcp.run.ops.alike import numbered

if TYPE_CHECKING:
    from ttnn_mcp.analyses.comparison.comparison import Comparison


@dataclass(frozen=True, slots=True)
class LayersReached:
    """The layers that a change reached, and those with an op alike that it missed; numbered from 1."""

    took: int
    of: int
    missing: tuple[int, ...]


def roles_of(comparison: Comparison) -> Integers:
    """Per op of the baseline, a number that ops of the same name, shapes and place in a layer share."""
    shape, layers = comparison.tokens[0].shape, comparison.layers
    if layers is None:
        return shape
    rows = np.arange(len(shape), dtype=np.int64)
    return numbered(len(rows), [shape, layers.roles(rows)])


def reached(comparison: Comparison, took: Integers, missed: Integers) -> LayersReached | None:
    """In which layers these ops of the baseline are; None where no layer holds one of them."""
    layers = comparison.layers
    if layers is None:
        return None
    took_in, missed_in = ({*layers.numbers(rows).tolist()} - {0, layers.count + 1} for rows in (took, missed))
    if not took_in:
        return None
    both = took_in | missed_in
    return LayersReached(len(both - missed_in), len(both), tuple(sorted(missed_in)))
