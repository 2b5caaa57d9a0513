"""Kernel times to expect of a memory report alone, by the laws of time: of a model that never ran on a device."""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping, Sequence

import numpy as np

from ttnn_mcp.analyses.laws.anchored import outlook
from ttnn_mcp.analyses.laws.catalogue import NO_LAW, expected, silence
from ttnn_mcp.analyses.laws.law import Expected
from ttnn_mcp.analyses.memory.l1_limit import l1_limit
from ttnn_mcp.analyses.roofline.launch import LAUNCH_FLOOR_NS
from ttnn_mcp.analyses.roofline.parts_touched import taken_whole
from ttnn_mcp.analyses.roofline.roofline import roofline_of
from ttnn_mcp.analyses.settings.captured_op import captured_op, tells_config
from ttnn_mcp.analyses.settings.judged import judge, may_be_older
from ttnn_mcp.analyses.settings.kinds import settings_of
from ttnn_mcp.analyses.settings.predicted import COST_ACCURACY, described_op, predicted
from ttnn_mcp.analyses.settings.printed_row import bare_row, row_of
from ttnn_mcp.analyses.settings.trial import Value
from ttnn_mcp.errors import QuestionRefused, ReportBroken
from ttnn_mcp.readers.graph.graph_memory import read_graph_memory
from ttnn_mcp.readers.graph.launches import Launch, launch_of
from ttnn_mcp.readers.memory.stream import iter_graph_batches
from ttnn_mcp.records import dataclass
from ttnn_mcp.run.chip import Chip
from ttnn_mcp.run.ops.op_names import family
from ttnn_mcp.run.ops.op_table import OpTable
from ttnn_mcp.run.run import Run

UNREAD = "its graph does not print what a law asks for"


@dataclass(frozen=True, slots=True)
class UnmeasuredOp:
    """A device op that ran to its end, though on no device.

    Attributes:
        operation: that launched it.
        expected: its time by the law that speaks of it; None where all are silent.
        least_us: what a launch, its bytes and its products take at peak rates, as far as these are known.
        silence: why no law speaks of it; empty where one does.
    """

    operation: int
    name: str
    expected: Expected | None
    least_us: float
    silence: str


@dataclass(frozen=True, slots=True)
class LawfulChange:
    """A legal value that fits beside the tensors alive at these ops, and is faster by more than its law errs."""

    ops: tuple[UnmeasuredOp, ...]
    setting: str
    now: Value | None
    value: Value
    before: Expected
    then: Expected


async def unmeasured_ops(run: Run) -> list[UnmeasuredOp]:
    """All device ops of the memory report, in order. Launches that print the same are judged once."""
    memory, ops = run.memory_report, list[UnmeasuredOp]()
    deciding = await memory.program_arguments()
    calls = dict(zip(memory.operations.ids.tolist(), memory.operations.names, strict=True))
    known: dict[tuple[Launch, str, frozenset[tuple[str, str]]], tuple[Expected | None, float, str]] = {}
    async for batch in iter_graph_batches(memory):
        for operation, text in batch:
            try:
                graph = read_graph_memory(text, operation=operation)
            except ReportBroken:  # memory_summary counts them
                continue
            call, deciders = calls.get(operation, ""), frozenset(deciding.get(operation, {}).items())
            for place, device_op in enumerate(graph.device_ops):
                if not device_op.completed:
                    continue
                launch = launch_of(graph, place, memory.tensors)
                key = (launch, call, deciders)
                if key not in known:  # unmoved: it only saves time
                    arguments = {one.name: one.value for one in await memory.arguments_of(operation)}
                    known[key] = _times(run, launch, call, arguments)
                ops.append(UnmeasuredOp(operation, device_op.name, *known[key]))
    return ops


def _times(run: Run, launch: Launch, call: str, arguments: Mapping[str, str]) -> tuple[Expected | None, float, str]:
    if not launch.inputs:
        return None, LAUNCH_FLOOR_NS / 1e3, UNREAD
    row = row_of(launch, arguments)
    silent = family(launch.name) == "matmul" and not tells_config(call, arguments)
    op = described_op(row, run.chip) if row is not None and not silent else None
    answer, least_us = expected(op) if op is not None else None, _least_us(row or bare_row(launch), run.chip)
    if answer is not None:
        return answer, least_us, ""
    return None, least_us, silence(op) if op is not None else NO_LAW if row is not None and not silent else UNREAD


def _least_us(row: OpTable | None, chip: Chip) -> float:
    """What it takes at least: a launch, or its work where it surely touches its operands whole."""
    if row is None or taken_whole(row)[0]:
        return LAUNCH_FLOOR_NS / 1e3
    bounds = roofline_of(row, chip)
    return float(np.fmax(np.fmax(bounds.compute_ns[0], bounds.dram_ns[0]), LAUNCH_FLOOR_NS)) / 1e3


async def promising_changes(run: Run, ops: Sequence[UnmeasuredOp], most: int) -> list[LawfulChange]:
    """Of the heaviest ops that laws speak of, the setting of each that is expected to bring most; so many ops."""
    times: dict[tuple[str, Expected], list[UnmeasuredOp]] = {}
    for op in ops:
        if op.expected is not None:
            times.setdefault((op.name, op.expected), []).append(op)
    heaviest = sorted(times.items(), key=lambda item: -item[0][1].us * len(item[1]))
    changes: list[LawfulChange] = []
    for _, alike in heaviest[:most]:
        ways = [change async for change in _changes(run, alike)]
        changes += [min(ways, key=lambda one: one.then.us)] if ways else []
    return changes


async def _changes(run: Run, alike: Sequence[UnmeasuredOp]) -> AsyncIterator[LawfulChange]:
    """What makes the first of some ops faster, for those of them that it fits beside the tensors alive there."""
    limit, before = l1_limit(run), alike[0].expected
    try:
        at = [(one, *await captured_op(run, one.operation)) for one in alike]
        op = at[0][1]
        settings = settings_of(op, limit.safe_bytes if limit else 0)
    except QuestionRefused:
        return
    for name in settings.takes if before is not None else ():
        for value in settings.choices(name) if name not in COST_ACCURACY else ():
            trial = settings.tried(name, value)
            rooms = {room: judge(trial, limit, room, older=may_be_older(run)) for _, _, room in at}
            fits = {
                room: judged.verdict in ("fits", "legal") and not judged.wrong_values and trial.effect
                for room, judged in rooms.items()
            }
            then = predicted(op, settings, name, value, trial) if any(fits.values()) else None
            if before and then and outlook(then, before.us) == "faster":
                ops = tuple(one for one, _, room in at if fits[room])
                yield LawfulChange(ops, name, trial.now, value, before, then)
