"""Blocks that repeat at the end of a sequence of ops: the iterations of one device."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ttnn_mcp.arrays import Integers
from ttnn_mcp.run.chained_blocks import are_layers

if TYPE_CHECKING:
    from ttnn_mcp.run.ops.op_table import OpTable

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
