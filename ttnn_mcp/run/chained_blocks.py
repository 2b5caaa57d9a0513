"""Tells whether repeating blocks of ops are iterations of a model or the layers of one pass.

A layer reads what the layer before it wrote, starts without a pause, and contains no layers itself. An iteration
begins with an input from the host, or after a pause (Python, a copy, a sync), or contains layers.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ttnn_mcp.arrays import Floats, Integers

if TYPE_CHECKING:
    from ttnn_mcp.run.ops.op_table import OpTable

HANDED_ON_WITHIN = 4  # last ops of a block, one of which writes the first input of the next block
PAUSE_NS = 10_000.0  # dispatch leaves 1 to 2 us between ops in warm reports, 30 to 300 us between iterations
PAUSES = 10.0  # a pause is also this many times the usual gap of the same blocks: a run may be slow throughout
PERIODS_TRIED = 2_000  # each takes a pass over the block; a layer has a few hundred ops
LAYERED = 0.5  # share of a block in inner blocks that repeat three times or more: above it, the block is a model


def are_layers(sequence: Integers, ops: OpTable, first: int, length: int, count: int) -> bool:
    """Whether `count` equal blocks of `length` ops, the first at row `first`, are layers of one pass.

    Args:
        sequence: op signatures of one device in the order they ran.
        ops: the same ops.
        first: row of the first block.
        length: ops per block.
        count: how many blocks there are.
    """
    last_start = first + length * (count - 1)
    return (
        _handed_on(ops, last_start)
        and not _paused(ops.numbers("gap_ns")[first : first + length * count], length)
        and not _layered(sequence[last_start : last_start + length])
    )


def _handed_on(all_ops: OpTable, last: int) -> bool:
    """Whether INPUT_0 of the op has the size, type, layout and placement of an output of one of the ops before."""
    ops = all_ops.take(
        np.arange(max(0, last - HANDED_ON_WITHIN), last + 1)
    )  # operands of all rows take much memory
    row = len(ops) - 1
    if not ops.inputs or not ops.inputs[0].present[row]:
        return False
    read = ops.inputs[0]
    return any(
        wrote.elements[before] == read.elements[row]
        and wrote.dtype[before] == read.dtype[row]
        and wrote.layout[before] == read.layout[row]
        and wrote.placement[before] == read.placement[row]
        for before in range(row)
        for wrote in ops.outputs
    )


def _paused(gaps: Floats, length: int) -> bool:
    """Whether there is a pause before the blocks (the first excepted) that is long beside the gaps within them."""
    filled: Floats = np.nan_to_num(gaps)
    usual: Floats = np.median(np.reshape(filled[length:], (-1, length)), axis=0)
    return bool(usual[0] >= max(PAUSE_NS, PAUSES * float(np.median(usual))))


def _layered(block: Integers) -> bool:
    """Whether most of the block consists of an inner block that repeats three times or more."""
    for period in _likely_periods(block):
        breaks = np.flatnonzero(np.concatenate(([True], block[period:] != block[:-period], [True])))
        longest = int(np.diff(breaks).max()) - 1
        if longest >= 2 * period and longest + period >= LAYERED * len(block):
            return True
    return False


def _likely_periods(block: Integers) -> list[int]:
    """Periods with which at least half of the block may repeat three times, shortest first."""
    # whatever covers half of the block covers one of its two middle ops, which occurs again one period away
    middle = (len(block) - 1) // 2, len(block) // 2
    distances = np.concatenate([np.abs(np.flatnonzero(block == block[place]) - place) for place in middle])
    periods = np.unique(distances)
    short = periods <= len(block) // 3
    possible = (periods > 0) & short  # unmoved: longer ones do not fit three times, which takes time to see
    return periods[possible][:PERIODS_TRIED].tolist()
