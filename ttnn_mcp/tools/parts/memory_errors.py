"""Why something failed, as `memory_summary` tells it: what was asked for, who held it, what helps."""

from __future__ import annotations

from dataclasses import replace
from typing import Annotated, NamedTuple

from ttnn_mcp.analyses.memory.death import death_of, went_wrong
from ttnn_mcp.analyses.memory.failures import Failure, failures_of
from ttnn_mcp.analyses.memory.l1_moment import Moment, holes_of, moment_of_failure
from ttnn_mcp.analyses.memory.remedies import Measure, Remedy, remedies
from ttnn_mcp.analyses.memory.replay import replay_of
from ttnn_mcp.analyses.memory.replayed import Replayed
from ttnn_mcp.analyses.memory.shortage import Shortage
from ttnn_mcp.checks.fixes import marked
from ttnn_mcp.errors import ReportError, shown
from ttnn_mcp.quoting import figure
from ttnn_mcp.readers.printed.memory_config import BUFFER_TYPES
from ttnn_mcp.run.run import Run
from ttnn_mcp.tools.parts.memory_tables import HOLDERS, holders, model_line, operation_of
from ttnn_mcp.wire import Cell, Columns, Quoted, Table, Wire

REMEDIES = Columns("remedy", "bytes", "bound", "enough", "how", quoted=("how",))
HOLDERS_SHOWN = 5
REMEDIES_SHOWN = 3
TENSORS_NAMED = 4
MESSAGE_CHARS = 240
IN_KB_BELOW = 10_000_000  # a bank of L1 has some 1,500 kB, one of DRAM thousands of MB
HOW: dict[Measure, str] = {
    "deallocate": "ttnn.deallocate(x) after its last use: tensors {tensors}",
    "move_to_dram": "ttnn.to_memory_config(x, ttnn.DRAM_MEMORY_CONFIG) until it is needed: tensors {tensors}",
    "narrower_dtype": "dtype=ttnn.bfloat8_b (bfloat16 for float32) where its producer writes it: tensors {tensors}",
    "reallocate": "ttnn.reallocate(x) moves tensors together",
    "reallocate_halo_output": "ttnn.Conv2dConfig(reallocate_halo_output=True), other fields as now, moves tensors "
    "together",
    "smaller_act_block_h": "ttnn.Conv2dConfig(act_block_h_override=32), other fields as now; or half of the present "
    "value",
    "smaller_blocks": "smaller blocks in program_config (in0_block_w, per_core_M/N, chunk sizes)",
    "dram_slicing": "slice_config=ttnn.Conv2dSliceConfig(slice_type=ttnn.Conv2dDRAMSliceWidth, num_slices=2), "
    "from 0.64.0; more slices take less. Without slice_config a conv whose input is in DRAM slices itself",
    "larger_l1_small": "ttnn.open_device(..., l1_small_size=<now + this>), or "
    "ttnn.Conv2dConfig(config_tensors_in_dram=True), other fields as now",
}


SHORTLY: dict[Measure, str] = {
    "deallocate": "free tensors {tensors} after last use",
    "move_to_dram": "move tensors {tensors} to DRAM",
    "narrower_dtype": "write tensors {tensors} in a narrower data type",
    "reallocate": "ttnn.reallocate moves tensors together",
    "reallocate_halo_output": "reallocate_halo_output=True moves tensors together",
    "smaller_act_block_h": "a smaller act_block_h_override",
    "smaller_blocks": "smaller blocks in program_config",
    "dram_slicing": "slice the convolution in DRAM",
    "larger_l1_small": "a larger l1_small_size",
}
ENOUGH = {True: "enough", False: "not enough alone", None: "perhaps not enough"}


class Failed(Wire):
    """One operation that went wrong. Bytes are of one bank, or of one core for circular buffers."""

    operation: int | None
    name: Quoted
    outcome: str
    line: Quoted | None = None
    tied_by: str | None = None
    kind: Quoted | None = None
    message: Quoted | None = None
    scope: Quoted | None = None
    ran_out_of: str | None = None
    asked_bytes: int | None = None
    limit_bytes: int | None = None
    free_bytes: int | None = None
    largest_free_bytes: int | None = None
    short_bytes: int | None = None
    cores: Quoted | None = None
    holders: Annotated[Table, HOLDERS] | None = None
    remedies: Annotated[Table, REMEDIES] | None = None


class Ending(NamedTuple):
    """Where memory ran out, and how the run died unless that tells it: a shortage may have been survived."""

    ran_out: str | None
    died: str | None


async def ending_of(run: Run) -> Ending:
    """What went wrong with the memory report's run, in sentences."""
    if run.memory is None or not went_wrong(run.memory):
        return Ending(None, None)
    death = death_of(run.memory)
    died = death.sentence if death else None
    try:
        replayed = await replay_of(run)
    except ReportError:
        return Ending(None, died)
    [failed, sentence] = await explained(replayed, failures_of(replayed)[0])
    same_operation = sentence is not None and death is not None and failed.operation == death.operation
    return Ending(sentence, None if same_operation else died)


async def explained(replayed: Replayed, failure: Failure, *, brief: bool = False) -> tuple[Failed, str | None]:
    """A failure in full, and in a sentence if memory ran out; `brief` leaves out who held it and what helps."""
    place, shortage = failure.place, failure.shortage
    failed = Failed(
        operation=operation_of(replayed, place) if place is not None else None,
        name=shown(failure.name),
        outcome=failure.outcome,
        line=model_line(replayed, operation_of(replayed, place)) if place is not None else None,
        tied_by=f"name alone, the last of {failure.same_name}"
        if failure.outcome == "unknown" and failure.same_name
        else None,
        kind=shown(failure.kind) or None,
        message=None if shortage else _cut(failure.message) or None,
        scope=shown(failure.scope) if failure.scope else None,
    )
    if shortage is None:
        return failed, None
    if place is None:
        failed = failed.model_copy(update=_told(replayed, shortage))
        return failed, in_a_sentence(failed, [])
    moment = await moment_of_failure(replayed, place, shortage)
    update = _told(replayed, _settled(replayed, moment, shortage))
    if brief:
        failed = failed.model_copy(update=update)
        return failed, in_a_sentence(failed, [])
    arguments = await replayed.memory.arguments_of(operation_of(replayed, place))
    spoken = ",".join(f"{one.name}={one.value}" for one in arguments)
    measures = remedies(replayed, moment, shortage, name=failure.name, arguments=spoken)
    update["remedies"] = _table(measures[:REMEDIES_SHOWN], update["short_bytes"])
    if shortage.kind != "beyond_l1":
        update["holders"] = _holders(replayed, moment, shortage)
    failed = failed.model_copy(update=update)
    return failed, in_a_sentence(failed, measures)


def in_a_sentence(failed: Failed, measures: list[Remedy]) -> str:
    """'ran out of L1 for a tensor in operation 5 ttnn.linear (model.py:22): asked 393 kB, ...; free tensor 31, ...'."""
    number = "" if failed.operation is None else f"operation {failed.operation} "
    line = f" ({failed.line})" if failed.line else ""
    places = [("largest hole", failed.largest_free_bytes), ("limit", failed.limit_bytes)]
    what, room = next(((what, size) for what, size in places if size is not None), ("", 0))
    in_kb = max(failed.asked_bytes or 0, room) < IN_KB_BELOW  # one unit in a sentence
    offered = f", {what} {_size(room, in_kb)}" if what else ""
    asked = "" if failed.asked_bytes is None else f": asked {_size(failed.asked_bytes, in_kb)}{offered}"
    helps = ""
    if measures:
        first = measures[0]
        enough = _enough(first, failed.short_bytes)
        helps = f"; {SHORTLY[first.measure].format(tensors=_named(first))}, {ENOUGH[enough]}"
    return f"ran out of {failed.ran_out_of} in {number}{failed.name}{line}{asked}{helps}"


def _size(size: int, in_kb: bool) -> str:
    """393216 -> '393 kB', or '0.39 MB'."""
    return f"{figure(size / 1e3, ',.0f')} kB" if in_kb else f"{figure(size / 1e6, ',.2f')} MB"


def _named(remedy: Remedy) -> str:
    return ", ".join(map(str, remedy.tensors[:TENSORS_NAMED])) or "-"


def _enough(remedy: Remedy, short: object) -> bool | None:
    """Whether it leaves room; what gives less than is short does not, whatever lies where."""
    less = isinstance(short, int) and remedy.bytes_per_bank < short
    return False if less and not remedy.enough else remedy.enough


def _cut(message: str) -> str:
    own = message.split("backtrace:", maxsplit=1)[0]
    clean = " ".join("".join(char if char.isprintable() else " " for char in own).split())
    return clean if len(clean) <= MESSAGE_CHARS else clean[: MESSAGE_CHARS - 3] + "..."


def _told(replayed: Replayed, shortage: Shortage) -> dict[str, object]:
    """The figures, circular buffers counted from where they begin and not from address 0."""
    what = {"no_room": f"{shortage.buffer} for a tensor", "clash": "L1 between circular buffers and tensors"}
    device = next(iter(replayed.memory.devices), None)
    base = (device.first_cb_address or 0) if device and shortage.kind != "no_room" else 0
    return {
        "ran_out_of": what.get(shortage.kind, "L1 for circular buffers alone"),
        "asked_bytes": shortage.asked_bytes - base,
        "limit_bytes": None if shortage.limit_bytes is None else shortage.limit_bytes - base,
        "free_bytes": shortage.free_bytes,
        "largest_free_bytes": shortage.largest_free_bytes,
        "short_bytes": shortage.short_bytes or None,  # 0: there was room by the replay, so it missed something
        "cores": shown(shortage.cores) if shortage.cores else None,
    }


def _settled(replayed: Replayed, moment: Moment, shortage: Shortage) -> Shortage:
    """With what was free by the replay, where the message does not say."""
    holes = holes_of(replayed, moment)
    if shortage.kind != "no_room" or shortage.buffer != "L1" or holes is None:
        return shortage
    return replace(
        shortage,
        limit_bytes=shortage.limit_bytes or replayed.capacity_bytes,
        free_bytes=holes.below + holes.holes if shortage.free_bytes is None else shortage.free_bytes,
        largest_free_bytes=holes.largest if shortage.largest_free_bytes is None else shortage.largest_free_bytes,
    )


def _holders(replayed: Replayed, moment: Moment, shortage: Shortage) -> Table:
    """The largest buffers of the kind of memory that ran out; in a clash the one that is in the way first."""
    spans = replayed.fullest.spans
    code = next((code for code, one in enumerate(BUFFER_TYPES) if one == shortage.buffer), -1)
    rows = [row for row in moment.rows.tolist() if spans.buffers[row] == code]
    in_the_way = shortage.limit_bytes if shortage.kind == "clash" else None
    rows.sort(key=lambda row: (int(spans.addresses[row]) != in_the_way, -int(spans.bytes_per_bank[row])))
    return holders(replayed, moment, rows[:HOLDERS_SHOWN])


def _table(measures: list[Remedy], short: object) -> Table:
    rows: list[tuple[Cell, ...]] = []
    for one in measures:
        how, enough = marked(HOW[one.measure].format(tensors=_named(one))), _enough(one, short)
        rows.append((one.measure, one.bytes_per_bank, "at most" if one.at_most else "exact", enough, how))
    return REMEDIES.table(rows)
