"""The tables of `memory_summary`, from the replay of a run.

A long series of levels is told as a few stretches, each near one level.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ttnn_mcp.analyses.memory.core_load import Ranges
from ttnn_mcp.analyses.memory.l1_moment import Moment, cores_of, kind_of
from ttnn_mcp.analyses.memory.lifetimes import LateFrees
from ttnn_mcp.analyses.memory.replayed import Replayed
from ttnn_mcp.arrays import Integers
from ttnn_mcp.errors import shown
from ttnn_mcp.readers.memory.spaces import DRAM, L1
from ttnn_mcp.readers.printed.memory_config import BUFFER_TYPES
from ttnn_mcp.records import dataclass
from ttnn_mcp.wire import Cell, Columns, Table

_TOLERANCES = (0, 0.01, 0.02, 0.04, 0.08, 0.16, 0.32, 0.64)  # of the highest level
TIMELINE = Columns("from", "to", "fullest", "name", "bytes_per_bank", quoted=("name",))
_HELD = ("tensor", "kind", "bytes_per_bank", "shape", "producer", "line", "last_use")
HOLDERS = Columns(*_HELD, quoted=("line",))
LIVE = Columns(*_HELD, "buffer", maybe=("buffer",), quoted=("line",))
LATE_FREES = Columns(
    "tensor",
    "bytes_per_bank",
    "last_use",
    "freed",
    "operations_run_since",
    "headroom_bytes",
    "line",
    quoted=("line",),
)
CORES = Columns("cores", "count", "tensors_bytes", "circular_buffers_bytes")
CIRCULAR_BUFFERS = Columns("address", "bytes", "cores")
DEVICES = Columns("device", "fullest", "bytes_per_bank", "circular_buffers_bytes")
TIMELINE_ROWS = 6
AROUND = 2  # operations shown before and after the one that was asked for
CORE_ROWS = 4
BUFFER_ROWS = 64  # a program has 32 circular buffers on a core
LINE_CHARS = 60


def operation_of(replayed: Replayed, place: int) -> int:
    """The id of the operation at a place."""
    return int(replayed.operations[place])


def operation_name(replayed: Replayed, place: int) -> str:
    """Its name."""
    return shown(replayed.memory.operations.names[place])


def model_line(replayed: Replayed, operation: int | None) -> str | None:
    """`model.py:31`: the end of the path is enough to find it, `op_detail` has all of it."""
    source = replayed.sources.get(operation) if operation is not None else None
    if source is None:
        return None
    return shown(f"{source.file.rsplit('/', 1)[-1][-LINE_CHARS:]}:{source.line}")


def timeline(replayed: Replayed, only: int | None = None) -> Table:
    """L1 over the run in a few stretches, each by its fullest operation; or the operations around one."""
    device = replayed.fullest
    rows: list[tuple[Cell, ...]] = []
    if only is not None:
        first, last = max(only - AROUND, 0), min(only + AROUND + 1, len(device.l1))
        parts = [(place, place, place) for place in range(first, last)]
    else:
        parts = [(one.first, one.last, one.highest) for one in stretches(device.l1, TIMELINE_ROWS)]
    for first, last, highest in parts:
        ids = (operation_of(replayed, place) for place in (first, last, highest))
        rows.append((*ids, operation_name(replayed, highest), int(device.l1[highest])))
    return TIMELINE.table(rows)


def live(replayed: Replayed, moment: Moment, *, everything: bool) -> Table:
    """What is live at a moment, the largest first; of L1 alone unless `everything` is asked for."""
    spans = replayed.fullest.spans
    rows = sorted(moment.rows.tolist(), key=lambda row: (spans.buffers[row] == DRAM, -spans.bytes_per_bank[row]))
    if everything:
        buffers = (BUFFER_TYPES[int(spans.buffers[row])] for row in rows)
        return LIVE.table([(*_held(replayed, moment, row), name) for row, name in zip(rows, buffers, strict=True)])
    in_l1 = [_held(replayed, moment, row) for row in rows if spans.buffers[row] == L1]
    return LIVE.table(in_l1, without=("buffer",))


def holders(replayed: Replayed, moment: Moment, rows: Sequence[int]) -> Table:
    """The tensors on some rows of the spans, in their order."""
    return HOLDERS.table([_held(replayed, moment, row) for row in rows])


def _held(replayed: Replayed, moment: Moment, row: int) -> tuple[Cell, ...]:
    tensor, shape, producer, line = named(replayed, row)
    read = int(replayed.lifetimes.last_reads[row])
    return (
        tensor,
        kind_of(replayed, moment, row),
        int(replayed.fullest.spans.bytes_per_bank[row]),
        shape,
        producer,
        line,
        operation_of(replayed, read) if read >= 0 else None,
    )


def named(replayed: Replayed, row: int) -> tuple[int | None, str | None, int | None, str | None]:
    """Whose a row of the spans is: tensor, its shape, the operation that made it, and its line in the model."""
    lifetimes, tensors = replayed.lifetimes, replayed.memory.tensors
    tensor, made = int(lifetimes.names[row]), lifetimes.producer_of(row)
    at = tensors.row(tensor)
    shape = tensors.shapes[at] if at is not None else None
    producer = operation_of(replayed, made) if made >= 0 else None
    return (
        tensor if tensor >= 0 else None,
        "x".join(map(str, shape.logical)) if shape else None,
        producer,
        model_line(replayed, producer),
    )


def late_frees(replayed: Replayed, late: LateFrees) -> Table:
    """Tensors that stay after their last use; `freed` is empty where they outlive the last operation."""
    rows: list[tuple[Cell, ...]] = []
    for one in late:
        used = operation_of(replayed, one.last_use)
        freed = operation_of(replayed, one.freed) if one.freed is not None else None
        returned = one.bytes_per_bank if one.at_peak else 0
        tensor = one.tensor if one.tensor >= 0 else None
        rows.append((tensor, one.bytes_per_bank, used, freed, one.held, returned, model_line(replayed, used)))
    return LATE_FREES.table(rows)


def cores(replayed: Replayed, moment: Moment, *, even: bool) -> Table | None:
    """Which cores carry how much, the fullest first; None where all carry the same, unless `even` is asked for."""
    loads = cores_of(replayed, moment)
    if not loads or (len(loads) < 2 and not even):
        return None
    rows: list[tuple[Cell, ...]] = [
        (spelled(one.cores), len(one.cores), one.tensors_bytes, one.circular_bytes) for one in loads[:CORE_ROWS]
    ]
    return CORES.table(rows)


def spelled(cores: tuple[tuple[int, int], ...]) -> str:
    """`0-0..7-5` for a full rectangle, else its corners with `within`."""
    low = (min(x for x, _ in cores), min(y for _, y in cores))
    high = (max(x for x, _ in cores), max(y for _, y in cores))
    full = (high[0] - low[0] + 1) * (high[1] - low[1] + 1) == len(cores)
    text = f"{low[0]}-{low[1]}..{high[0]}-{high[1]}"
    return text if full else f"within {text}"


def buffers(moment: Moment) -> Table:
    """Circular buffers of one operation, in the order of their addresses."""
    rows: list[tuple[Cell, ...]] = [
        (one.address if one.address >= 0 else None, one.bytes_per_core, _ranges(one.ranges))
        for one in sorted(moment.circular, key=lambda one: one.address)[:BUFFER_ROWS]
    ]
    return CIRCULAR_BUFFERS.table(rows)


def _ranges(ranges: Ranges) -> str:
    return "+".join(f"{x0}-{y0}..{x1}-{y1}" for (x0, y0), (x1, y1) in ranges) or "all"


def devices(replayed: Replayed) -> Table | None:
    """The fullest moment of each device that the graphs speak of, where there are several."""
    followed = [device for device in replayed.devices if device.followed]
    if len(followed) < 2:
        return None
    rows: list[tuple[Cell, ...]] = [
        (
            device.device,
            operation_of(replayed, device.peak),
            int(device.l1[device.peak]),
            int(device.circular[device.peak]),
        )
        for device in sorted(followed, key=lambda device: device.device or 0)
    ]
    return DEVICES.table(rows)


@dataclass(frozen=True, slots=True)
class Stretch:
    """Places first to last, both included; `highest` is the place with the highest level."""

    first: int
    last: int
    highest: int


def stretches(levels: Integers, most: int) -> list[Stretch]:
    """At most `most` stretches over all places, with the smallest tolerance that allows it.

    Levels that always jump up and down form no stretches: they are cut evenly.
    """
    if not len(levels):
        return []
    top = max(int(levels.max()), 1)
    values: list[int] = levels.tolist()
    tried = (_cuts(values, share * top) for share in _TOLERANCES)
    cuts = next((segments for segments in tried if len(segments) <= most), None)
    if cuts is None or (cuts == [0] and min(values) < max(values)):
        cuts = sorted({len(values) * n // most for n in range(most)})
    return [
        Stretch(first, last - 1, first + int(np.argmax(levels[first:last])))
        for first, last in zip(cuts, [*cuts[1:], len(values)], strict=True)
    ]


def _cuts(values: list[int], tolerance: float) -> list[int]:
    """The starts of stretches: a stretch ends before it would span more than `tolerance`."""
    cuts = [0]
    low = high = values[0]
    for place, value in enumerate(values):
        low, high = min(low, value), max(high, value)
        if high - low > tolerance:
            cuts.append(place)
            low = high = value
    return cuts
