"""Shared parts of the checks on a memory report: the replay of a window, its ops, and cells of the database."""

from __future__ import annotations

from collections.abc import Callable, Iterable

import numpy as np

from ttnn_mcp.analyses.memory.replayed import Replayed
from ttnn_mcp.checks.check import Affected, Evidence, Problem, Rows, WindowFacts, Words, no_saving
from ttnn_mcp.errors import shown


def replay_behind(facts: WindowFacts) -> tuple[Replayed, int]:
    """The replay and the capacity of an L1 bank; only for checks that need REPLAY and CAPACITY."""
    replay = facts.replay
    if replay is None or replay.capacity_bytes is None:  # unmoved: its callers need REPLAY, CAPACITY
        raise ValueError("a check that reads the replay declares REPLAY and CAPACITY as its needs")
    return replay, replay.capacity_bytes


def rows_of_operations(facts: WindowFacts, operations: Iterable[int]) -> Rows:
    """The window's ops that these ttnn operations launched; none if the reports are not linked."""
    linked, wanted = facts.run.linked, set(operations)
    at = linked.operation_at if linked else {}
    rows = [row for row, line in enumerate(facts.ops.lines.tolist()) if at.get(line) in wanted]
    return np.array(rows, dtype=np.int64)


def lack_of_room(facts: WindowFacts, operations: Iterable[int], tell: Callable[[Affected], Words]) -> Problem:
    """A problem of L1 at these operations: a change gives room, and saves no time."""
    rows = rows_of_operations(facts, operations)
    return Problem(rows, no_saving(rows), tell=tell, of_window=True)


def operation_name(replayed: Replayed, place: int) -> str:
    """'operation 24 ttnn.conv2d (model.py:34)'."""
    operation = int(replayed.operations[place])
    source = replayed.sources.get(operation)
    line = f" ({shown(source.file.rsplit('/', 1)[-1])}:{source.line})" if source else ""
    return f"operation {operation} {shown(replayed.memory.operations.names[place])}{line}"


def counted(rows: int) -> str:
    """'1 tensor', '3 tensors'."""
    return f"{rows} tensor{'s' if rows > 1 else ''}"


def cite_graph(replayed: Replayed, place: int, value: int) -> Evidence:
    """Bytes per bank by the replay of one operation's graph."""
    row = f"captured_graph:{int(replayed.operations[place])}"
    return Evidence(source=replayed.memory.path.name, row=row, column="captured_graph", value=value, unit="bytes")


def cite_tensor(replayed: Replayed, row: int, place: int) -> Evidence:
    """Bytes of a buffer in a bank, from the snapshot after an operation, or from the graph that allocates it."""
    spans, size = replayed.fullest.spans, int(replayed.fullest.spans.bytes_per_bank[row])
    if not replayed.fullest.floor[place]:
        return cite_graph(replayed, int(spans.starts[row]) // 2, size)
    at = f"buffers:operation_id={int(replayed.operations[place])},address={int(spans.addresses[row])}"
    return Evidence(source=replayed.memory.path.name, row=at, column="max_size_per_bank", value=size, unit="bytes")


def cite_capacity(replayed: Replayed) -> Evidence:
    """The size of the L1 bank that the claim compares with."""
    devices = replayed.memory.devices
    row = f"devices:{devices[0].id}" if devices else "devices"
    return Evidence(
        source=replayed.memory.path.name,
        row=row,
        column="l1_bank_size",
        value=replayed.capacity_bytes,
        unit="bytes",
    )
