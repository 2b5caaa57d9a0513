"""Blocks that repeat at the end of a sequence of ops: the iterations of one device."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ttnn_mcp.run.chained_blocks import are_layers

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from ttnn_mcp.run.ops.op_table import OpTable

COVERED_AT_LEAST = 0.5  # of a device's ops: a period that repeats over less is a layer, not an iteration
TRAILING_OPS = 4  # that may follow the last iteration
MODEL_OPS = 16  # a pass this long, of so many kinds of op, is no coincidence at the end of a long set-up
MODEL_KINDS = 6
_BASE = np.uint64(0x9E3779B97F4A7C15)  # of the rolling hash: odd, no pattern (2**64 / golden ratio)


def repeated_blocks(sequence: NDArray[np.int64], ops: OpTable) -> tuple[int, int, int]:
    """(first, length, count) of the blocks that are iterations of one device's ops; count 0 where none are.

    A few ops may follow the last iteration (the output fetched once), and the last iteration may be cut off where
    the profiler's buffer ended: then the whole sequence repeats with one period, and is counted from its start.
    """
    for after in range(min(TRAILING_OPS, len(sequence)) + 1):
        body = sequence[: len(sequence) - after]
        length, count = repeating_tail(body)
        if count < 2:
            continue
        covered = length * count
        if covered >= COVERED_AT_LEAST * len(sequence) or (not after and _is_model(body[-length:])):
            before = len(body) - covered
            rotated = 0 < before < length and np.array_equal(sequence[:before], sequence[length : length + before])
            found = (0 if rotated else before), length, count
            if covered == len(sequence) or not are_layers(sequence, ops, *found):
                return found
    return 0, 0, 0


def _is_model(block: NDArray[np.int64]) -> bool:
    """Whether a block is long and varied enough to be a model's pass even where it covers little of the report."""
    return len(block) >= MODEL_OPS and len(np.unique(block)) >= MODEL_KINDS


def repeating_tail(sequence: NDArray[np.int64]) -> tuple[int, int]:
    """(length, repeats) of the block that repeats at the end of `sequence`; (0, 0) if none does.

    The largest period is taken, then reduced: four passes of a model are two blocks of two passes first.
    """
    backwards = sequence[::-1]
    period = _largest_square(backwards)
    if not period:
        return 0, 0
    block = backwards[:period]
    for length in range(1, period + 1):
        if period % length == 0 and np.array_equal(block[: period - length], block[length:]):
            break
    else:
        length = period
    repeats = 1
    while (repeats + 1) * length <= len(backwards) and np.array_equal(
        backwards[repeats * length : (repeats + 1) * length], backwards[:length]
    ):
        repeats += 1
    return length, repeats


def _largest_square(sequence: NDArray[np.int64]) -> int:
    """The largest p with sequence[:p] == sequence[p:2p]: rolling hashes modulo 2**64 propose, comparing decides."""
    half = len(sequence) // 2
    if not half:
        return 0
    with np.errstate(over="ignore"):
        powers = np.cumprod(np.full(2 * half + 1, _BASE, dtype=np.uint64))
        prefix = np.concatenate(
            (np.zeros(1, dtype=np.uint64), np.cumsum(sequence[: 2 * half].astype(np.uint64) * powers[: 2 * half]))
        )
        lengths = np.arange(1, half + 1)
        # prefix[p] * B**p == prefix[2p] - prefix[p] when the two halves are equal; powers[i] is B**(i+1)
        same = prefix[lengths] * powers[lengths - 1] == prefix[2 * lengths] - prefix[lengths]
    for length in lengths[same][::-1]:
        if np.array_equal(sequence[:length], sequence[length : 2 * length]):
            return int(length)
    return 0
