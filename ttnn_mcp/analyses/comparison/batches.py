"""Whether two windows did the same amount of work: the same shapes, another batch, or different shapes.

Optimising changes shapes (three matmuls become one), but not the model's arithmetic: if the matrix engine computed as
much on both sides, the work is the same. Otherwise another batch shows as one ratio between the sizes of nearly all
tensors. The batch is certain if convolutions print it or if the outermost dimension has it. If it is part of the
rows, it may also be a longer sequence.
"""

from __future__ import annotations

from math import isclose
from typing import TYPE_CHECKING

import numpy as np

from ttnn_mcp.analyses.comparison.op_tokens import dims_of
from ttnn_mcp.analyses.roofline.flops import flops_of, on_engine
from ttnn_mcp.analyses.roofline.reasons import Reasons
from ttnn_mcp.arrays import Integers
from ttnn_mcp.readers.printed.attributes import parse_attributes
from ttnn_mcp.records import dataclass

if TYPE_CHECKING:
    from ttnn_mcp.analyses.comparison.alignment import Alignment
    from ttnn_mcp.run.ops.op_table import OpTable

MOST = 0.5  # share of the pairs: from there on the whole window has other shapes, not single ops
ALIKE = 0.8  # share of the pairs of different size that have one ratio: then it is that of the batch
EXPLAINED = 0.2  # share of those that show the batch in a dimension of its own: in others it is part of the rows
SAME_WORK = 0.05  # of the arithmetic may differ: padding, a folded bias
MODELLED = 0.9  # share of the matrix engine's time in ops whose arithmetic is known: less would prove nothing
_CONVS_READ = 20


@dataclass(frozen=True, slots=True)
class Work:
    """How the sizes of the tensors compare.

    Attributes:
        ratio: tensor sizes after / before, if nearly all differ by one ratio; otherwise 1.
        batch: samples per iteration (before, after); None where that is not certain.
        differs: whether most shapes differ, and not by one ratio.
        share: share of the pairs whose sizes differ.
    """

    ratio: float
    batch: tuple[int, int] | None
    differs: bool
    share: float


def work_of(alignment: Alignment, before: OpTable, after: OpTable, *, padded: bool) -> Work:
    """Compare the sizes of the first output over all pairs."""
    left, right = before.take(alignment.before), after.take(alignment.after)
    if not all(ops.inputs and ops.outputs for ops in (before, after)):
        return Work(1.0, None, differs=False, share=0.0)
    sizes_before, sizes_after = (dims_of(ops.outputs[0], padded=padded) for ops in (left, right))
    elements_before, elements_after = (
        sizes_before.prod(axis=1).astype(np.float64),
        sizes_after.prod(axis=1).astype(np.float64),
    )
    measured = (elements_before > 0) & (elements_after > 0)
    ratios = np.where(measured, elements_after / np.where(measured, elements_before, 1.0), 1.0)
    changed = ratios != 1.0
    share = float(changed.sum() / max(1, int(measured.sum())))
    if share < MOST or _same_work(before, after, padded=padded):
        return Work(1.0, None, differs=False, share=share)
    distinct, counts = np.unique(np.round(ratios[changed], 6), return_counts=True)
    ratio = float(distinct[np.argmax(counts)])
    if counts.max() < ALIKE * changed.sum() or not ratio:  # a millionth of the size is no batch
        return Work(1.0, None, differs=True, share=share)
    batch = _by_convolutions(left, right, ratio) or _by_outermost(
        sizes_before[changed], sizes_after[changed], ratio
    )
    return Work(ratio, batch, differs=False, share=share)


def arithmetic_share(before: OpTable, after: OpTable, *, padded: bool) -> float | None:
    """Arithmetic of the matrix engine after over that before; None where that cannot be counted."""
    sums = _arithmetic(before, padded=padded), _arithmetic(after, padded=padded)
    return sums[1] / sums[0] if sums[0] and sums[1] else None


def same_arithmetic(share: float | None) -> bool | None:
    """Whether the matrix engine computed as much on both sides; None where that cannot be counted."""
    return None if share is None else isclose(share, 1, rel_tol=0, abs_tol=SAME_WORK)


def _same_work(before: OpTable, after: OpTable, *, padded: bool) -> bool:
    """Whether the arithmetic is the same; if unknown, whether the first input and the last output are as large."""
    equal = same_arithmetic(arithmetic_share(before, after, padded=padded))
    return _ends(before, padded=padded) == _ends(after, padded=padded) if equal is None else equal


def _ends(ops: OpTable, *, padded: bool) -> tuple[int, int]:
    first_input, last_output = dims_of(ops.inputs[0], padded=padded)[0], dims_of(ops.outputs[0], padded=padded)[-1]
    return int(first_input.prod()), int(last_output.prod())


def _arithmetic(ops: OpTable, *, padded: bool) -> float | None:
    """Floating-point operations of all matmuls, convolutions and attentions; None where too few are modelled."""
    flops = flops_of(ops, Reasons(len(ops)))[int(padded)]
    engine, kernel = on_engine(ops), ops.numbers("kernel_ns")
    modelled = kernel[np.isfinite(flops)].sum()
    return float(np.nansum(flops)) if modelled >= MODELLED * kernel[engine].sum() > 0 else None


def _by_convolutions(left: OpTable, right: OpTable, ratio: float) -> tuple[int, int] | None:
    convs = np.flatnonzero(left.texts("attributes").where(lambda text: "batch_size" in text))[:_CONVS_READ]
    pairs = {(_batch(left, int(row)), _batch(right, int(row))) for row in convs}
    return _only(pairs, ratio)


def _batch(ops: OpTable, row: int) -> int | None:
    window = parse_attributes(ops.texts("attributes")[row]).struct("sliding_window_config")
    return window.number("batch_size") if window else None


def _by_outermost(before: Integers, after: Integers, ratio: float) -> tuple[int, int] | None:
    """(before, after) of the outermost dimension of tensors that changed, if only it differs, everywhere alike."""
    pairs: set[tuple[int | None, int | None]] = set()
    explained = np.zeros(len(before), dtype=np.bool_)
    for dim in (0, 1):  # W, or Z of a tensor with three dimensions
        other_dims = np.arange(4) != dim
        alone = (before[:, other_dims] == after[:, other_dims]).all(axis=1)
        alone &= (before[:, :dim] == 1).all(axis=1)
        pairs |= set(zip(before[alone, dim].tolist(), after[alone, dim].tolist(), strict=True))
        explained |= alone
    return _only(pairs, ratio) if explained.mean() >= EXPLAINED else None


def _only(pairs: set[tuple[int | None, int | None]], ratio: float) -> tuple[int, int] | None:
    if len(pairs) != 1:
        return None
    [(before, after)] = pairs
    if not before or not after:
        return None
    return (before, after) if isclose(after / before, ratio, rel_tol=1e-3) else None
