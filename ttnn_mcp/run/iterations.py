"""Iterations of the model, found from the ops themselves: per device, in the order the device ran them.

Three ways are tried, the surest first.

1. Trace replay sessions: each session is one iteration.
2. A signpost whose repeats enclose the same ops each time.
3. Op signatures that repeat at the end of the report: the largest period, reduced to its smallest repeating block.
   Layers of one pass repeat too; `chained_blocks` tells them from iterations.
"""

from __future__ import annotations

from itertools import chain

import numpy as np

from ttnn_mcp.arrays import Booleans, Floats, Integers
from ttnn_mcp.records import dataclass
from ttnn_mcp.run.ops.alike import first_rows, numbered
from ttnn_mcp.run.ops.artefact import artefact
from ttnn_mcp.run.ops.call_counts import runtime_ids
from ttnn_mcp.run.ops.op_table import OpTable
from ttnn_mcp.run.ops.texts import Texts
from ttnn_mcp.run.ops.written_kinds import written_kinds
from ttnn_mcp.run.repeated_blocks import COVERED_AT_LEAST, are_layers, repeated_blocks, repeating_tail
from ttnn_mcp.run.signpost_words import ends

SESSION_BITS = 32  # replay sessions count from 1
SIGNPOSTS_TRIED = 100  # names that may mark iterations, the most frequent first


@dataclass(frozen=True, slots=True)
class Iterations:
    """Repeats of the model within some device rows.

    Attributes:
        number: per row, 1..count; 0 where the row belongs to no iteration (set-up, capture, tail).
        count: how many iterations there are; 0 if none were found.
        ops: how many ops the last iteration has on one device (on the device with the most).
        found_by: "trace replays", "signposts", "repeating ops" or "".
        may_be_layers: the repeats read what the one before wrote, or stand among other ops, without a pause: one pass
            of equal layers, without embedding and head, would look the same.
        short: (its number, how many) of each iteration with ops that ran and have no time: its sums are too low.
    """

    number: Integers
    count: int
    ops: int
    found_by: str
    may_be_layers: bool = False
    short: tuple[tuple[int, int], ...] = ()

    @property
    def whole(self) -> list[int]:
        """The numbers of those whose ops all have a time."""
        lost = {number for number, _ops in self.short}
        return [number for number in range(1, self.count + 1) if number not in lost]


@artefact
def signatures(ops: OpTable) -> Integers:
    """A number per row, equal for ops with the same code, operand shapes, types and placements.

    Device and attributes do not count. The numbers of two tables cannot be compared.
    """
    written = written_kinds(ops)
    kinds = ops.take(first_rows(written))  # some hundred rows, of which all others are copies
    described = (part for operand in kinds.operands_once() for part in operand.described_by)
    return numbered(len(kinds), chain([kinds.texts("op_code").codes], described))[written]


def device_order(ops: OpTable) -> Integers:
    """Positions sorted by device, then by when the device ran the op.

    The device clock gives the order. Without it the order of the file does: that is host time, which is wrong for
    trace replays only. A clock value that occurs twice means several runs in one file: then the clock gives no order.
    """
    devices, cycles = ops.numbers("device"), ops.numbers("fw_end_cycle")
    by_clock = np.lexsort((ops.lines, cycles, devices))
    repeats = (np.diff(cycles[by_clock]) == 0) & (np.diff(devices[by_clock]) == 0)
    usable = not np.isnan(cycles).any() and not repeats.any()
    return by_clock if usable else np.lexsort((ops.lines, devices))


def in_replays(ops: OpTable) -> Booleans:
    """Mask of the ops of a trace's replays: their programs were compiled before the trace was recorded."""
    return np.isfinite(ops.numbers("trace_id")) & np.isfinite(ops.numbers("trace_session"))


def iterations_of(ops: OpTable, signposts: OpTable) -> Iterations:
    """The iterations within device rows `ops`, given the report's signpost rows."""
    if not len(ops):
        return Iterations(np.zeros(0, dtype=np.int64), 0, 0, "")
    order = device_order(ops)
    devices = ops.numbers("device")[order]
    kinds = signatures(ops)[order]
    for found_by, find in (
        ("trace replays", _by_replay),
        ("signposts", _by_signposts),
        ("repeating ops", _by_period),
    ):
        number = find(ops, order, devices, kinds, signposts)
        count = int(number.max())
        if count:
            per_row = np.zeros(len(ops), dtype=np.int64)
            per_row[order] = number
            last_devices = devices[number == count]
            longest = int(np.unique(last_devices, return_counts=True)[1].max())
            chained = found_by == "repeating ops" and _may_be_layers(ops, order, number)
            return Iterations(per_row, count, longest, found_by, chained)
    return Iterations(np.zeros(len(ops), dtype=np.int64), 0, 0, "")


def _by_replay(
    ops: OpTable,
    order: Integers,
    devices: Floats,
    _kinds: Integers,
    _signposts: OpTable,
) -> Integers:
    """One iteration per replay, or per round of replays where several traces take turns.

    Sessions count from 1 for each trace, so (trace, session) identifies a replay. Replays before the last trace (or
    round) began to repeat are another part of the model, such as prefill before decode: they belong to no iteration.
    An op between two ops of one iteration ran in it, whether or not its row says so.
    """
    number = np.zeros(len(order), dtype=np.int64)
    traces, sessions = ops.numbers("trace_id"), ops.numbers("trace_session")
    is_replay = in_replays(ops)
    if not is_replay.any():
        return number
    traces, sessions = traces[order], sessions[order]
    replayed = np.flatnonzero(is_replay[order])
    pairs = (traces[replayed].astype(np.int64) << SESSION_BITS) + sessions[replayed].astype(np.int64)
    replays, place = np.unique(pairs, return_inverse=True)
    first_rows = np.full(len(replays), len(replayed))  # by one device's rows; the others ran the same
    lead_rows = np.flatnonzero(devices[replayed] == devices[replayed[0]])
    np.minimum.at(first_rows, place[lead_rows], lead_rows)
    ran = np.argsort(first_rows, kind="stable")
    length, count = repeating_tail(replays[ran] >> SESSION_BITS)
    length, count = (length, count) if count else (1, len(ran))
    of_replay = np.zeros(len(ran), dtype=np.int64)
    of_replay[ran[len(ran) - length * count :]] = np.repeat(np.arange(1, count + 1), length)
    number[replayed] = of_replay[place]
    places = np.arange(len(order))
    marked = np.isin(places, replayed)
    before = np.maximum.accumulate(np.where(marked, places, 0))
    after = np.minimum.accumulate(np.where(marked, places, len(order) - 1)[::-1])[::-1]
    within = (number[before] == number[after]) & (devices[before] == devices) & (devices[after] == devices)
    return np.where(within, number[before], number)


def _by_signposts(
    ops: OpTable,
    order: Integers,
    devices: Floats,
    kinds: Integers,
    signposts: OpTable,
) -> Integers:
    """Iterations by the repeated signpost whose segments hold the same ops and cover the most of the report."""
    best = np.zeros(len(order), dtype=np.int64)
    if not len(signposts):  # unmoved: it only saves time, for most reports
        return best
    lines = ops.lines[order]
    names = signposts.texts("op_code")
    for code in _repeated_names(names):
        starts = signposts.lines[names.codes == code]
        for until in _segment_ends(signposts, starts):
            number = np.searchsorted(starts, lines, side="right")
            number[lines > until[np.maximum(number - 1, 0)]] = 0
            if (number > 0).sum() > (best > 0).sum() and _segments_repeat(number, devices, kinds, len(starts)):
                best = number
    return best if (best > 0).mean() >= COVERED_AT_LEAST else np.zeros(len(order), dtype=np.int64)


def _repeated_names(names: Texts) -> list[int]:
    """Codes of the signposts that occur more than once; of too many, the most frequent `SIGNPOSTS_TRIED`."""
    counts = np.bincount(names.codes[names.codes >= 0], minlength=len(names.distinct))
    repeated = np.flatnonzero(counts > 1)
    return np.sort(repeated[np.argsort(-counts[repeated], kind="stable")][:SIGNPOSTS_TRIED]).tolist()


def _segment_ends(signposts: OpTable, starts: Integers) -> list[Integers]:
    """Where the segments may end: at a mark that follows every start and says so, else at the next start.

    Where other marks stand before the next start, the pair may enclose one stage of several: then both are tried.
    """
    names, lines = signposts.texts("op_code"), signposts.lines
    to_next = np.append(starts[1:], np.iinfo(np.int64).max)
    following = np.searchsorted(lines, starts, side="right")
    if following[-1] == len(lines) or not all(ends(names[place]) for place in following.tolist()):
        return [to_next]
    bracket = lines[following]
    return [bracket] if np.array_equal(lines[following[:-1] + 1], starts[1:]) else [to_next, bracket]


def _segments_repeat(number: Integers, devices: Floats, kinds: Integers, count: int) -> bool:
    last_segment, segment_before = number == count, number == count - 1
    return (
        bool(last_segment.any())
        and np.array_equal(kinds[last_segment], kinds[segment_before])
        and np.array_equal(devices[last_segment], devices[segment_before])
    )


def _by_period(
    ops: OpTable,
    order: Integers,
    devices: Floats,
    kinds: Integers,
    _signposts: OpTable,
) -> Integers:
    number = np.zeros(len(devices), dtype=np.int64)
    counts: dict[float, int] = {}
    starts = [0, *(np.flatnonzero(np.diff(devices)) + 1).tolist()]  # rows are sorted by device
    for start, stop in zip(starts, [*starts[1:], len(devices)], strict=True):
        places = np.arange(start, stop)
        first, length, count = repeated_blocks(kinds[places], ops.take(order[places]))
        counts[float(devices[start])] = count
        number[places[first : first + length * count]] = np.repeat(np.arange(1, count + 1), length)
    agreed = max(set(counts.values()), key=list(counts.values()).count)
    odd = [device for device, count in counts.items() if count != agreed]
    if not odd:
        return number
    ids = runtime_ids(ops)
    if ids is None or not agreed or len(odd) * 2 >= len(counts):
        return np.zeros(len(devices), dtype=np.int64)
    return _as_most_devices(number, np.isin(devices, odd), ids[order])


def _may_be_layers(ops: OpTable, order: Integers, number: Integers) -> bool:
    """Whether the repeats on the first device that lost no rows could as well be the layers of one pass."""
    devices = ops.numbers("device")[order]
    ids, lengths = np.unique(devices[number > 0], return_counts=True)
    usual = np.sort(lengths)[len(lengths) // 2]  # most devices lost none, else there were no iterations
    whole = ids[lengths == usual][0]
    rows = np.flatnonzero((number > 0) & (devices == whole))
    count = int(number.max())
    places = order[rows]
    kinds, among_others = signatures(ops)[places], bool((number == 0).any())
    return are_layers(kinds, ops.take(places), 0, len(rows) // count, count, among_others=among_others)


def _as_most_devices(number: Integers, odd: Booleans, ids: Integers) -> Integers:
    """Numbers of the devices that lost rows: their ops join the iteration in which others ran the same launch."""
    counted = ~odd & (number > 0)
    count = int(number[counted].max())
    starts = np.full(count, np.iinfo(np.int64).max)
    np.minimum.at(starts, number[counted] - 1, ids[counted])
    by_launch = np.searchsorted(starts, ids, side="right")
    by_launch[ids > ids[counted].max()] = 0
    return np.where(odd, by_launch, number)
