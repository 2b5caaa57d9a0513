"""Whether two windows did the same amount of work: the same shapes, another batch, or other shapes altogether.

Optimising changes shapes (three matmuls become one), but not the model's arithmetic: where the matrix engine did as
much on both sides, the work is the same. Else a batch shows as one ratio between the sizes of nearly all tensors.
It is certain where convolutions print it or the outermost dimension carries it; where rows are folded into one
dimension it could as well be a longer sequence.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from ttnn_mcp.analyses.comparison.op_tokens import dims_of
from ttnn_mcp.analyses.roofline.flops import flops_of, on_engine
from ttnn_mcp.analyses.roofline.reasons import Reasons
from ttnn_mcp.readers.printed.attributes import parse_attributes

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from ttnn_mcp.analyses.comparison.alignment import Alignment
    from ttnn_mcp.run.ops.op_table import OpTable

MOST = 0.5  # of the partners: from there on shapes differ as a whole, not where somebody changed an op
ALIKE = 0.8  # of the partners of other size: then their common ratio is the batch's
TOLD_BY = 0.2  # of them: the others fold the batch into their rows
SAME_WORK = 0.05  # of the arithmetic: padding, a folded bias
MODELLED = 0.9  # of the matrix engine's time: with less, the sum tells nothing
_CONVS_READ = 20


@dataclass(frozen=True, slots=True)
class Work:
    """What the windows' sizes say.

    Attributes:
        ratio: tensor sizes after / before, where they differ by one ratio as a whole; else 1.
        batch: samples per iteration (before, after), where that is certain.
        differs: shapes differ as a whole, and not by one ratio.
        share: of the partners, how many have another size.
    """

    ratio: float
    batch: tuple[int, int] | None
    differs: bool
    share: float


def work_of(found: Alignment, before: OpTable, after: OpTable, *, padded: bool) -> Work:
    """Compare sizes over all partners."""
    left, right = before.take(found.before), after.take(found.after)
    if not len(left) or not all(ops.inputs and ops.outputs for ops in (before, after)):
        return Work(1.0, None, differs=False, share=0.0)
    own, other = (dims_of(one.outputs[0], padded=padded) for one in (left, right))
    sizes, others = own.prod(axis=1).astype(np.float64), other.prod(axis=1).astype(np.float64)
    known = (sizes > 0) & (others > 0)
    ratios = np.where(known, others / np.where(known, sizes, 1.0), 1.0)
    changed = known & (ratios != 1.0)
    share = float(changed.sum() / max(1, int(known.sum())))
    if share < MOST or _same_work(before, after, padded=padded):
        return Work(1.0, None, differs=False, share=share)
    distinct, counts = np.unique(np.round(ratios[changed], 6), return_counts=True)
    if counts.max() < ALIKE * changed.sum():
        return Work(1.0, None, differs=True, share=share)
    ratio = float(distinct[np.argmax(counts)])
    batch = _by_convolutions(left, right, ratio) or _by_outermost(own[changed], other[changed], ratio)
    return Work(ratio, batch, differs=False, share=share)


def same_arithmetic(before: OpTable, after: OpTable, *, padded: bool) -> bool | None:
    """Whether the matrix engine did as much on both sides; None where that cannot be counted."""
    sums = _arithmetic(before, padded=padded), _arithmetic(after, padded=padded)
    return abs(sums[1] / sums[0] - 1) <= SAME_WORK if sums[0] and sums[1] else None


def _same_work(before: OpTable, after: OpTable, *, padded: bool) -> bool:
    """By arithmetic; else by whether what goes in and what comes out are as large."""
    same = same_arithmetic(before, after, padded=padded)
    return _ends(before, padded=padded) == _ends(after, padded=padded) if same is None else same


def _ends(ops: OpTable, *, padded: bool) -> tuple[int, int]:
    first, last = dims_of(ops.inputs[0], padded=padded)[0], dims_of(ops.outputs[0], padded=padded)[-1]
    return int(first.prod()), int(last.prod())


def _arithmetic(ops: OpTable, *, padded: bool) -> float | None:
    """Floating-point operations of all matmuls, convolutions and attentions; None where too few are modelled."""
    flops = flops_of(ops, Reasons(len(ops)))[int(padded)]
    engine, kernel = on_engine(ops), ops.numbers("kernel_ns")
    modelled = kernel[engine & np.isfinite(flops)].sum()
    return float(np.nansum(flops)) if modelled >= MODELLED * kernel[engine].sum() > 0 else None


def _by_convolutions(left: OpTable, right: OpTable, ratio: float) -> tuple[int, int] | None:
    convs = np.flatnonzero(left.texts("attributes").where(lambda text: "batch_size" in text))[:_CONVS_READ]
    pairs = {(_batch(left, int(row)), _batch(right, int(row))) for row in convs}
    return _only(pairs, ratio)


def _batch(ops: OpTable, row: int) -> int | None:
    window = parse_attributes(ops.texts("attributes")[row]).call("sliding_window_config")
    return window.number("batch_size") if window else None


def _by_outermost(own: NDArray[np.int64], other: NDArray[np.int64], ratio: float) -> tuple[int, int] | None:
    """The outermost dimension, where it alone differs and from the same number to the same number."""
    pairs: set[tuple[int | None, int | None]] = set()
    told = np.zeros(len(own), dtype=np.bool_)
    for dim in (0, 1):  # W, or Z of a tensor with three dimensions
        rest = np.arange(4) != dim
        alone = (own[:, dim] != other[:, dim]) & (own[:, rest] == other[:, rest]).all(axis=1)
        alone &= (own[:, :dim] == 1).all(axis=1)
        pairs |= set(zip(own[alone, dim].tolist(), other[alone, dim].tolist(), strict=True))
        told |= alone
    return _only(pairs, ratio) if told.mean() >= TOLD_BY else None


def _only(pairs: set[tuple[int | None, int | None]], ratio: float) -> tuple[int, int] | None:
    if len(pairs) != 1:
        return None
    [(first, second)] = pairs
    fits = first and second and abs(second / first - ratio) < 1e-3 * ratio
    return (first, second) if first and second and fits else None
