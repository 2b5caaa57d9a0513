"""Iterations, found from what the ops are: per device, in the order the device ran them.

Trace replay sessions say it outright. Else signposts that bracket the same ops again and again. Else the largest
period with which op signatures repeat at the end of the report, reduced to its smallest repeating block. Layers
of one pass repeat too: they hand their output on to the next without a pause.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from ttnn_mcp.run.chained_blocks import are_layers
from ttnn_mcp.run.ops.artefact import artefact
from ttnn_mcp.run.ops.call_counts import runtime_ids

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from ttnn_mcp.run.ops.op_table import OpTable

COVERED_AT_LEAST = 0.5  # of a device's ops: a period that repeats over less is a layer, not an iteration
TRAILING_OPS = 4  # that may follow the last iteration
MODEL_OPS = 16  # a pass this long, of so many kinds of op, is no coincidence at the end of a long set-up
MODEL_KINDS = 6
SESSION_BITS = 32  # replay sessions count from 1
_MIX = np.uint64(0x9E3779B97F4A7C15)  # odd, no pattern (2**64 / golden ratio): spreads codes over 64 bits


@dataclass(frozen=True, slots=True)
class Iterations:
    """Repeats of the model within some device rows.

    Attributes:
        number: per row, 1..count; 0 where the row belongs to none (set-up, capture, tail).
        count: how many there are; 0 when none were found.
        ops: ops of one iteration on one device (of the last, on the device with most).
        found_by: "trace replays", "signposts", "repeating ops" or "".
    """

    number: NDArray[np.int64]
    count: int
    ops: int
    found_by: str


@artefact
def signatures(ops: OpTable) -> NDArray[np.uint64]:
    """A 64-bit hash of op code, operand shapes, types and placements per row (not of device or attributes)."""
    mixed = np.zeros(len(ops), dtype=np.uint64)
    parts = [ops.texts("op_code").codes]
    for operand in (*ops.inputs, *ops.outputs):
        shape = operand.padded @ np.array([1_000_003, 10_007, 103, 1], dtype=np.int64) + operand.logical.sum(axis=1)
        parts += [shape, operand.dtype.codes, operand.layout.codes, operand.placement.codes]
    with np.errstate(over="ignore"):
        for part in parts:
            mixed = (mixed ^ (part.astype(np.uint64) + _MIX)) * _MIX
            mixed ^= mixed >> np.uint64(29)
    return mixed


def device_order(ops: OpTable) -> NDArray[np.int64]:
    """Positions sorted by device, then by when the device ran the op: by its clock, else as in the file.

    The file is in order of host time, which is wrong for trace replays only. A clock that repeats itself is that
    of several runs in one file, and tells no order.
    """
    devices, cycles = ops.numbers("device"), ops.numbers("fw_end_cycle")
    by_clock = np.lexsort((ops.lines, cycles, devices))
    repeats = (np.diff(cycles[by_clock]) == 0) & (np.diff(devices[by_clock]) == 0)
    usable = not np.isnan(cycles).any() and not repeats.any()
    return by_clock if usable else np.lexsort((ops.lines, devices))


def iterations_of(ops: OpTable, signposts: OpTable) -> Iterations:
    """The iterations within device rows `ops`, given the report's signpost rows."""
    if not len(ops):
        return Iterations(np.zeros(0, dtype=np.int64), 0, 0, "")
    order = device_order(ops)
    devices = ops.numbers("device")[order]
    hashes = signatures(ops)[order]
    for found_by, find in (
        ("trace replays", _by_replay),
        ("signposts", _by_signposts),
        ("repeating ops", _by_period),
    ):
        number = find(ops, order, devices, hashes, signposts)
        count = int(number.max())
        if count:
            per_row = np.zeros(len(ops), dtype=np.int64)
            per_row[order] = number
            last = devices[number == count]
            return Iterations(per_row, count, int(np.unique(last, return_counts=True)[1].max()), found_by)
    return Iterations(np.zeros(len(ops), dtype=np.int64), 0, 0, "")


def _by_replay(
    ops: OpTable,
    order: NDArray[np.int64],
    devices: NDArray[np.float64],
    _hashes: NDArray[np.uint64],
    _signposts: OpTable,
) -> NDArray[np.int64]:
    """One iteration per replay; per round of replays where several traces take turns.

    Sessions count from 1 for each trace, so (trace, session) names a replay. Replays before the last trace (or
    round) began to repeat are another part of the model, prefill before decode: they belong to none.
    """
    traces, sessions = ops.numbers("trace_id")[order], ops.numbers("trace_session")[order]
    number = np.zeros(len(order), dtype=np.int64)
    replayed = np.flatnonzero(np.isfinite(sessions) & np.isfinite(traces))
    if not len(replayed):
        return number
    pairs = (traces[replayed].astype(np.int64) << SESSION_BITS) + sessions[replayed].astype(np.int64)
    replays, place = np.unique(pairs, return_inverse=True)
    first = np.full(len(replays), len(replayed))  # where one device ran it; the others ran the same
    lead = np.flatnonzero(devices[replayed] == devices[replayed[0]])
    np.minimum.at(first, place[lead], lead)
    ran = np.argsort(first, kind="stable")
    length, count = repeating_tail((replays[ran] >> SESSION_BITS).astype(np.uint64))
    length, count = (length, count) if count else (1, len(ran))
    of_replay = np.zeros(len(ran), dtype=np.int64)
    of_replay[ran[len(ran) - length * count :]] = np.repeat(np.arange(1, count + 1), length)
    number[replayed] = of_replay[place]
    return number


def _by_signposts(
    ops: OpTable,
    order: NDArray[np.int64],
    devices: NDArray[np.float64],
    hashes: NDArray[np.uint64],
    signposts: OpTable,
) -> NDArray[np.int64]:
    """The repeated signpost whose segments hold the same ops each time and cover most of the report."""
    best = np.zeros(len(order), dtype=np.int64)
    lines = ops.lines[order]
    names = signposts.texts("op_code")
    for code in range(len(names.distinct)):
        starts = signposts.lines[names.codes == code]
        if len(starts) < 2:
            continue
        # a segment runs to the next signpost of the same name, or to the end marker that follows every start
        ends = _end_markers(signposts, code, starts)
        number = np.searchsorted(starts, lines, side="right")
        number[lines > ends[np.maximum(number - 1, 0)]] = 0
        if (number > 0).sum() > (best > 0).sum() and _segments_repeat(number, devices, hashes, len(starts)):
            best = number
    return best if (best > 0).mean() >= COVERED_AT_LEAST else np.zeros(len(order), dtype=np.int64)


def _end_markers(signposts: OpTable, code: int, starts: NDArray[np.int64]) -> NDArray[np.int64]:
    codes, lines = signposts.texts("op_code").codes, signposts.lines
    following = np.searchsorted(lines, starts, side="right")
    inside = following < len(lines)
    if inside.all() and len(set(codes[following])) == 1 and codes[following[0]] != code:
        return lines[following]
    return np.append(starts[1:], np.iinfo(np.int64).max)


def _segments_repeat(
    number: NDArray[np.int64], devices: NDArray[np.float64], hashes: NDArray[np.uint64], count: int
) -> bool:
    last, before = number == count, number == count - 1
    return (
        bool(last.any())
        and np.array_equal(hashes[last], hashes[before])
        and np.array_equal(devices[last], devices[before])
    )


def _by_period(
    ops: OpTable,
    order: NDArray[np.int64],
    devices: NDArray[np.float64],
    hashes: NDArray[np.uint64],
    _signposts: OpTable,
) -> NDArray[np.int64]:
    number = np.zeros(len(devices), dtype=np.int64)
    counts: dict[float, int] = {}
    for device in np.unique(devices):
        places = np.flatnonzero(devices == device)
        first, length, count = _repeats(hashes[places], ops.take(order[places]))
        counts[float(device)] = count
        number[places[first : first + length * count]] = np.repeat(np.arange(1, count + 1), length)
    agreed = max(set(counts.values()), key=list(counts.values()).count)
    odd = [device for device, count in counts.items() if count != agreed]
    if not odd:
        return number
    ids = runtime_ids(ops)
    if ids is None or not agreed or len(odd) * 2 >= len(counts):
        return np.zeros(len(devices), dtype=np.int64)
    return _as_most_devices(number, np.isin(devices, odd), ids[order])


def _as_most_devices(
    number: NDArray[np.int64], odd: NDArray[np.bool_], ids: NDArray[np.int64]
) -> NDArray[np.int64]:
    """Devices that lost rows: their ops belong to the iteration in which the other devices ran the same launch."""
    counted = ~odd & (number > 0)
    count = int(number[counted].max())
    starts = np.array([ids[counted & (number == one)].min() for one in range(1, count + 1)])
    found = np.searchsorted(starts, ids, side="right")
    found[ids > ids[counted].max()] = 0
    return np.where(odd, found, number)


def _repeats(sequence: NDArray[np.uint64], ops: OpTable) -> tuple[int, int, int]:
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


def _is_model(block: NDArray[np.uint64]) -> bool:
    """Whether a block is long and varied enough to be a model's pass even where it covers little of the report."""
    return len(block) >= MODEL_OPS and len(np.unique(block)) >= MODEL_KINDS


def repeating_tail(sequence: NDArray[np.uint64]) -> tuple[int, int]:
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


def _largest_square(sequence: NDArray[np.uint64]) -> int:
    """The largest p with sequence[:p] == sequence[p:2p], by rolling hashes modulo 2**64, then compared."""
    half = len(sequence) // 2
    if not half:
        return 0
    with np.errstate(over="ignore"):
        powers = np.cumprod(np.full(2 * half + 1, _MIX, dtype=np.uint64))
        prefix = np.concatenate(
            (np.zeros(1, dtype=np.uint64), np.cumsum(sequence[: 2 * half] * powers[: 2 * half]))
        )
        lengths = np.arange(1, half + 1)
        # prefix[p] * B**p == prefix[2p] - prefix[p] when the two halves are equal; powers[i] is B**(i+1)
        same = prefix[lengths] * powers[lengths - 1] == prefix[2 * lengths] - prefix[lengths]
    for length in lengths[same][::-1]:
        if np.array_equal(sequence[:length], sequence[length : 2 * length]):
            return int(length)
    return 0
