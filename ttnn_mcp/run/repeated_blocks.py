"""Blocks that repeat at the end of a sequence of ops: iterations of a model, or the layers of one pass.

A layer reads what the layer before it wrote, starts without a pause, and contains no layers itself. An iteration
begins with an input from the host, or after a pause (Python, a copy, a sync), or contains layers.
"""

from __future__ import annotations

import numpy as np

from ttnn_mcp.arrays import Floats, Integers
from ttnn_mcp.run.ops.op_table import OpTable

HANDED_ON_WITHIN = 4  # last ops of a block, one of which writes the first input of the next block
PAUSE_NS = 10_000.0  # dispatch leaves 1 to 2 us between ops in warm reports, 30 to 300 us between iterations
PAUSES = 10.0  # a pause is also this many times the usual gap of the same blocks: a run may be slow throughout
PERIODS_TRIED = 2_000  # each takes a pass over the block; a layer has a few hundred ops
LAYERED = 0.5  # share of a block in inner blocks that repeat three times or more: above it, the block is a model
COVERED_AT_LEAST = 0.5  # share of a device's ops: a period that covers less is a layer, not an iteration
TRAILING_OPS = 4  # ops that may follow the last iteration
MODEL_OPS = 16  # after a long set-up, a repeating block of so many ops is a pass of the model, no coincidence
MODEL_KINDS = 6  # different ops that such a block must have
# Of the rolling hash: odd, without a pattern (2**64 / golden ratio).
_BASE = np.uint64(0x9E3779B97F4A7C15)  # unmoved: what a hash finds alike is compared


def repeated_blocks(sequence: Integers, ops: OpTable) -> tuple[int, int, int]:
    """The iterations among one device's ops as (first row, ops per block, number of blocks); (0, 0, 0) if none.

    Two things may spoil the end of a report. A few ops may follow the last iteration (the output is fetched once):
    they are left out, one more in each try. Or the profiler's buffer ended within the last iteration. Then the
    blocks at the end start in the middle of an iteration, and the ops in front of them equal the end of a block:
    in that case the blocks are counted from the first op.
    """
    for trailing in range(min(TRAILING_OPS, len(sequence)) + 1):
        body = sequence[: len(sequence) - trailing]
        length, count = repeating_tail(body)
        if not count:
            continue
        covered = length * count
        if covered >= COVERED_AT_LEAST * len(sequence) or (not trailing and _is_model(body[-length:])):
            leading = len(body) - covered
            rotated = np.array_equal(sequence[:leading], sequence[length : length + leading])
            blocks = (0 if rotated else leading), length, count
            if covered == len(sequence) or not are_layers(sequence, ops, *blocks):
                return blocks
    return 0, 0, 0


def _is_model(block: Integers) -> bool:
    """Whether a block is long and varied enough to be a pass of a model although it covers little of the report."""
    return len(block) >= MODEL_OPS and len(np.unique(block)) >= MODEL_KINDS


def repeating_tail(sequence: Integers) -> tuple[int, int]:
    """The block that repeats at the end of `sequence`, as (length, repeats); (0, 0) if none does.

    The sequence is read backwards, so that the end comes first. The largest block that occurs twice in a row is
    found, then reduced to the smallest block it consists of: four passes of a model are found as two blocks of two
    passes each. Repeats of the smallest block are then counted.
    """
    backwards = sequence[::-1]
    period = _largest_square(backwards)
    if not period:
        return 0, 0
    block = backwards[:period]
    length = next(
        length
        for length in range(1, period + 1)
        if period % length == 0 and np.array_equal(block[: period - length], block[length:])
    )
    repeats = 1
    while np.array_equal(backwards[repeats * length : (repeats + 1) * length], block[:length]):
        repeats += 1
    return length, repeats


def _largest_square(sequence: Integers) -> int:
    """The largest p with sequence[:p] == sequence[p:2p]; 0 if there is none.

    Comparing for every p would take quadratic time. A rolling hash modulo 2**64 of every prefix rules out nearly
    all p at once; the few that are left are compared.
    """
    half = len(sequence) // 2
    with np.errstate(over="ignore"):
        powers = np.cumprod(np.full(2 * half + 1, _BASE, dtype=np.uint64))
        prefix = np.concatenate(
            (np.zeros(1, dtype=np.uint64), np.cumsum(sequence[: 2 * half].astype(np.uint64) * powers[: 2 * half]))
        )
        lengths = np.arange(1, half + 1)
        # prefix[p] * B**p == prefix[2p] - prefix[p] when the two halves are equal; powers[i] is B**(i+1)
        likely_equal = prefix[lengths] * powers[lengths - 1] == prefix[2 * lengths] - prefix[lengths]
    for length in lengths[likely_equal][::-1]:
        if np.array_equal(sequence[:length], sequence[length : 2 * length]):
            return int(length)
    return 0


def are_layers(
    sequence: Integers, ops: OpTable, first: int, length: int, count: int, *, among_others: bool = False
) -> bool:
    """Whether `count` equal blocks of `length` ops, the first at row `first`, are layers of one pass.

    Args:
        sequence: op signatures of one device in the order they ran.
        ops: the same ops.
        first: row of the first block.
        length: ops per block.
        count: how many blocks there are.
        among_others: whether they stand among other ops. Then it is known where one was found, but not where one
            begins, nor what that reads.
    """
    last_start = first + length * (count - 1)
    return (
        (among_others or _handed_on(ops, last_start))
        and not _paused(ops.numbers("gap_ns")[first : first + length * count], length)
        and not _layered(sequence[last_start : last_start + length])
    )


def _handed_on(all_ops: OpTable, last: int) -> bool:
    """Whether INPUT_0 of the op has the size, type, layout and placement of an output of one of the ops before."""
    # operands of all rows take much memory
    ops = all_ops.take(np.arange(max(0, last - HANDED_ON_WITHIN), last + 1))
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
