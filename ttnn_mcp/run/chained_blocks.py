"""Blocks of ops that repeat: iterations of a model, or the layers of one pass?

A layer reads what the layer before it wrote, without a pause in between, and holds no layers itself. An iteration
begins with an input from the host, or after a pause (Python, a copy, a sync), or is made of layers.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from ttnn_mcp.run.ops.op_table import OpTable

HANDED_ON_WITHIN = 4  # ops from the end of a block in which it writes what the next one begins with
PAUSE_NS = 10_000.0  # dispatch leaves 1 to 2 us between ops in warm reports, 30 to 300 us between iterations
PAUSES = 10.0  # times the usual gap of the same blocks, which may be slow all over
PERIODS_TRIED = 2_000  # each takes a pass over the block; a layer has a few hundred ops
LAYERED = 0.5  # of a block in inner blocks that repeat three times and more: then it is a model, not a layer


def are_layers(sequence: NDArray[np.int64], ops: OpTable, first: int, length: int, count: int) -> bool:
    """Whether `count` equal blocks of `length` ops from `first` on are layers; `sequence` holds op signatures."""
    last = first + length * (count - 1)
    return (
        _handed_on(ops, last)
        and not _paused(ops.numbers("gap_ns")[first : first + length * count], length)
        and not _layered(sequence[last : last + length])
    )


def _handed_on(ops: OpTable, row: int) -> bool:
    """Whether INPUT_0 of the op looks like what one of the last ops wrote."""
    if not ops.inputs or not ops.inputs[0].present[row]:
        return False
    read = ops.inputs[0]
    return any(
        wrote.present[before]
        and wrote.elements[before] == read.elements[row]
        and wrote.dtype[before] == read.dtype[row]
        and wrote.layout[before] == read.layout[row]
        and wrote.placement[before] == read.placement[row]
        for before in range(max(0, row - HANDED_ON_WITHIN), row)
        for wrote in ops.outputs
    )


def _paused(gaps: NDArray[np.float64], length: int) -> bool:
    """Whether time passes before each block but the first that passes nowhere within the blocks."""
    known: NDArray[np.float64] = np.nan_to_num(gaps)
    usual: NDArray[np.float64] = np.median(np.reshape(known[length:], (-1, length)), axis=0)
    return bool(usual[0] >= max(PAUSE_NS, PAUSES * float(np.median(usual))))


def _layered(block: NDArray[np.int64]) -> bool:
    """Whether most of the block is itself a block three times and more."""
    for period in _likely_periods(block):
        same = np.flatnonzero(np.concatenate(([True], block[period:] != block[:-period], [True])))
        longest = int(np.diff(same).max()) - 1
        if longest >= 2 * period and longest + period >= LAYERED * len(block):
            return True
    return False


def _likely_periods(block: NDArray[np.int64]) -> list[int]:
    """Periods with which half of the block or more may repeat three times, shortest first."""
    longest = len(block) // 3
    if longest <= PERIODS_TRIED:
        return list(range(1, longest + 1))
    # a stretch of half the block or more covers one of its middle ops, and that op comes again a period away
    middle = (len(block) - 1) // 2, len(block) // 2
    distances = np.concatenate([np.abs(np.flatnonzero(block == block[place]) - place) for place in middle])
    periods = np.unique(distances)
    return periods[(periods > 0) & (periods <= longest)][:PERIODS_TRIED].tolist()
