"""memory_summary: the true L1 peak, who holds it, what is freed late, why it ran out."""

from __future__ import annotations

from typing import Literal

import numpy as np
from pydantic import Field

from ttnn_mcp.analyses.memory.failures import Failure, failures_of
from ttnn_mcp.analyses.memory.l1_moment import Moment, composition, holes_of, holes_of_chunks, moment_of
from ttnn_mcp.analyses.memory.lifetimes import LateFrees
from ttnn_mcp.analyses.memory.replayed import Replayed
from ttnn_mcp.errors import QuestionRefused, shown
from ttnn_mcp.hardware import ARCHITECTURES
from ttnn_mcp.readers.memory.spaces import DRAM, L1, TRACE
from ttnn_mcp.tools.parts import memory_tables as tables
from ttnn_mcp.tools.parts.memory_answer import (
    LATE_ROWS,
    Answer,
    Dram,
    Fragmentation,
    L1Peak,
    ProgramCounts,
    Small,
    capped,
)
from ttnn_mcp.tools.parts.memory_errors import explained
from ttnn_mcp.tools.tool import Budget, OfRun, Tool

ERRORS, KINDS, DRAM_ROWS = 3, 5, 3  # told at most: errors, kinds of programs without buffers, holders of DRAM
FLOORS = {
    "no_graphs": "no captured graphs: circular buffers and what operations free themselves are not counted",
    "some_graphs": "some operations have no captured graph: their circular buffers and temporaries are not counted",
    "unsized": "some temporaries are not sized by the report: counted as spread over all banks",
    "unplaced": "a dry capture places nothing: buffers count until the last use of their tensor, Python may keep them",
    "silent_programs": "programs without buffers in the report and without a model count nothing: {unknown}",
}

DROPPED = (
    "no buffers table: what Python dropped counts until its address is given out again, so a peak may be too high; "
    "what was there before and no operation reads is not seen"
)


class Arguments(OfRun):
    """Arguments of memory_summary."""

    operation: int | None = Field(None, description="Only this ttnn operation id, with its cores and buffers")
    picture: Literal["l1"] | None = None


async def memory_summary(replayed: Replayed, asked: Arguments) -> Answer:
    """L1 and DRAM of a run by its memory report: true peak with circular buffers, live tensors, late frees, errors.

    Explains out-of-memory and clashes with remedies. Bytes per bank (per core).
    """
    peak = _place(replayed, asked.operation)
    moment = await moment_of(replayed, peak)
    only, late = asked.operation is not None, replayed.lifetimes.late_frees(replayed.fullest.peak)
    if only:
        late = late.over(peak)
    failures = [one for one in failures_of(replayed) if not only or one.place == peak]
    errors = [await explained(replayed, one, brief=n > 0) for n, one in enumerate(failures[:ERRORS])]
    because = replayed.floor_because
    unknown = ", ".join(f"{count} {shown(name)}" for name, count in replayed.programs.unknown.most_common(KINDS))
    return capped(
        Answer(
            ran_out=errors[0][1] if errors else None,
            l1_peak=_peak(replayed, moment, failures, only=only),
            floor=because is not None,
            why=FLOORS[because].format(unknown=unknown)
            if because
            else DROPPED
            if replayed.without_snapshots
            else None,
            programs=None if only else _programs(replayed),
            buffers_table_bytes=int(
                replayed.fullest.floor[peak] if only else replayed.fullest.floor.max(initial=0)
            ),
            timeline=tables.timeline(replayed, peak if only else None),
            live=tables.live(replayed, moment, everything=only),
            late_frees=tables.late_frees(replayed, late[:LATE_ROWS]),
            more_late_frees=max(len(late) - LATE_ROWS, 0),
            late_frees_return_bytes=_returned(replayed, late),
            errors=tuple(failed for failed, _ in errors),
            more_errors=len(failures) - len(errors),
            fragmentation=await _fragmentation(replayed, moment),
            cores=tables.cores(replayed, moment, even=only),
            circular_buffers=tables.buffers(moment) if only else None,
            l1_small=_small(replayed),
            dram=_dram(replayed, peak if only else None),
            devices=tables.devices(replayed),
            rank=replayed.memory.rank if len(replayed.memory.ranks) > 1 else None,
            caveats=tuple(_caveats(replayed, peak)),
        )
    )


def _place(replayed: Replayed, operation: int | None) -> int:
    ids = replayed.operations
    if not len(ids):
        raise QuestionRefused("This memory report holds no operations: the capture ended before the model ran.")
    if operation is None:
        return replayed.fullest.peak
    place = replayed.place(operation)
    if place is None:
        raise QuestionRefused(f"No operation {operation}: this memory report has {ids.min()} to {ids.max()}.")
    return place


def _peak(replayed: Replayed, moment: Moment, failures: list[Failure], *, only: bool) -> L1Peak:
    device, place = replayed.fullest, moment.place
    level, capacity, kinds = int(device.l1[place]), replayed.capacity_bytes, composition(replayed, moment)
    operation = tables.operation_of(replayed, place)
    recorded = int(device.recorded[place] if only else device.recorded.max(initial=0))
    left_out, by_model = device.filled_by[place] >= 0, bool(device.by_model[place])
    room = None if capacity is None else max(capacity - level, 0)
    known = (
        "headroom_bytes" if not (replayed.floor_because or replayed.programs.modelled) else "headroom_at_most_bytes"
    )
    if replayed.without_snapshots and not replayed.unplaced:
        headroom = {}  # nobody knows what Python dropped before
    else:
        headroom = {"headroom_modelled_bytes" if by_model else known: room}
    return L1Peak(
        operation=operation,
        name=tables.operation_name(replayed, place),
        device_op=moment.device_op,
        line=tables.model_line(replayed, operation),
        device=device.device if len(replayed.devices) > 1 else None,
        outcome=next((one.outcome for one in failures if one.place == place), None),
        bytes_per_bank=level,
        recorded_bytes_per_bank=recorded if recorded != level else None,
        capacity_bytes=capacity,
        **{"headroom_bytes": None, **headroom},
        tensors_bytes=int(device.tensors[place]),
        circular_buffers_bytes=int(device.circular[place]),
        circular_buffers_by=("model" if by_model else "first launch") if left_out else None,
        persistent_bytes=kinds.get("persistent", 0),
        activations_bytes=kinds.get("activation", 0),
        temporaries_bytes=kinds.get("temporary", 0),
    )


def _programs(replayed: Replayed) -> ProgramCounts | None:
    """What the report leaves out; None where it shows the buffers of every program."""
    programs = replayed.programs
    if not programs.silent:
        return None
    return ProgramCounts(
        device_operations=programs.launched,
        without_buffers=programs.silent.total(),
        carried_over=programs.carried,
        modelled=programs.modelled,
        unknown=programs.unknown.total(),
    )


def _returned(replayed: Replayed, late: LateFrees) -> int:
    """How much lower the peak of the run would be, had all of them been freed after their last use."""
    levels = replayed.fullest.l1
    return int(levels.max(initial=0) - late.levels_without(levels).max(initial=0))


async def _fragmentation(replayed: Replayed, moment: Moment) -> Fragmentation | None:
    """By addresses; where pages or chunks were captured, also what they show after the operation."""
    holes = holes_of(replayed, moment)
    if holes is None:
        return None
    spans = replayed.fullest.spans
    chunks = await replayed.memory.chunks_of(tables.operation_of(replayed, moment.place))
    after = holes_of_chunks(replayed, chunks) if len(chunks) else None
    return Fragmentation(
        largest_free_bytes=holes.largest,
        largest_hole_bytes=holes.largest_hole,
        holes_bytes=holes.holes,
        largest_allocation_bytes=int(spans.bytes_per_bank[spans.buffers == L1].max(initial=0)),
        largest_hole_after_bytes=after.largest_hole if after else None,
    )


def _small(replayed: Replayed) -> Small | None:
    device = max(replayed.devices, key=lambda one: int(one.small.max(initial=0)))
    if not device.small.any():
        return None
    place = int(np.argmax(device.small))
    return Small(
        operation=tables.operation_of(replayed, place),
        device=None if device is replayed.fullest else device.device,
        bytes_per_bank=int(device.small[place]),
        capacity_bytes=replayed.small_capacity_bytes,
    )


def _dram(replayed: Replayed, only: int | None) -> Dram | None:
    device = max(replayed.devices, key=lambda one: int(one.dram.max(initial=0) if only is None else one.dram[only]))
    if not device.dram.any():
        return None
    elsewhere = device is not replayed.fullest  # the device with the fullest L1 may have less in DRAM
    if elsewhere:  # unmoved: the other way tells the same, but works out lifetimes again
        replayed = replayed.told_of(device)
    place = int(np.argmax(device.dram)) if only is None else only
    spans, lifetimes, tensors = device.spans, replayed.lifetimes, replayed.memory.tensors
    rows = spans.live_at(2 * place + 1)
    rows = rows[np.isin(spans.buffers[rows], (DRAM, TRACE))]
    by_tensor = np.full(len(rows), -1, dtype=np.int64)  # names are ids of the tensors table, or nobody's
    known = np.isin(lifetimes.names[rows], tensors.ids)
    by_tensor[known] = tensors.size_bytes[tensors.ids.searchsorted(lifetimes.names[rows][known])]
    inside = int(device.dram[place]) - int(spans.bytes_per_bank[rows].sum())
    sizes = np.where(spans.size_bytes[rows] >= 0, spans.size_bytes[rows], by_tensor)
    chip = ARCHITECTURES.get(replayed.memory.arch or "")
    largest = rows[np.argsort(-spans.bytes_per_bank[rows], kind="stable")][:DRAM_ROWS].tolist()
    lacking = only is None or elsewhere
    return Dram(
        operation=tables.operation_of(replayed, place),
        device=device.device if elsewhere else None,
        bytes_per_bank=int(device.dram[place]),
        bytes=int(sizes.sum()) if (sizes >= 0).all() and not inside else None,
        banks=replayed.banks.get(DRAM),
        capacity_at_most_bytes_per_bank=chip.dram_bank_bytes if chip else None,
        holders=tables.holders(replayed, Moment(place, rows, (), None), largest) if lacking else None,
        more_holders=len(rows) - len(largest) if lacking else 0,
        freed_inside_bytes_per_bank=max(inside, 0),  # below it where a damaged report has a buffer twice
    )


def _caveats(replayed: Replayed, place: int) -> list[str]:
    device, capacity = replayed.fullest, replayed.capacity_bytes
    differences, caveats = device.differences, [*replayed.memory.caveats]
    if capacity is not None and device.by_model[place] and device.l1[place] > capacity:
        caveats.append("the modelled peak is above what L1 holds: the program overlaps tensors, or takes less")
    if differences.contradicted:
        caveats.append(
            f"graphs and snapshots contradict each other on {differences.contradicted} buffers; snapshots were believed"
        )
    if differences.came:  # what goes there is normal: Python dropped its last name
        caveats.append(f"{differences.came} buffers came between captured operations")
    if differences.before:
        read = f"{differences.before} tensors that operations read"
        caveats.append(f"{read} are allocated nowhere in the report: counted from the start")
    if replayed.broken:
        caveats.append(f"{replayed.broken} captured graphs could not be read")
    silent = [one.device for one in replayed.devices if not one.followed]
    if silent:
        caveats.append(
            f"the graphs speak of {len(replayed.devices) - len(silent)} of {len(replayed.devices)} devices"
        )
    if replayed.capacity_bytes is None:
        caveats.append("no devices table and no known architecture: the capacity of L1 is not known")
    return caveats


TOOL = Tool(
    name="memory_summary",
    title="Memory summary",
    arguments=Arguments,
    answer=Answer,
    ask=memory_summary,
    about="replay",
    needs=("memory",),
    budget=Budget(3_900, cut=("live", "late_frees")),  # of the 4 kB a default answer may take
    narrow=("operation",),
    search_hint="L1 memory peak out of memory OOM clash circular buffers deallocate DRAM",
    view="ui://ttnn-mcp/pictures",
)
