"""Replays of made programs, and what the made side says must come out."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tests.profiles import Replay, write_memory_report
from ttnn_mcp.analyses.memory.buffer_spans import inside
from ttnn_mcp.analyses.memory.replay import replay_of
from ttnn_mcp.readers.memory.spaces import L1
from ttnn_mcp.session.opening import read_run

if TYPE_CHECKING:
    from pathlib import Path

    from tests.profiles import DatabaseStyle, Program
    from ttnn_mcp.analyses.memory.replayed import Replayed
    from ttnn_mcp.run.run import Run


async def opened(database: Path, rank: int | None = None) -> Run:
    return await read_run("made", "made", None, database, rank)


async def replay(
    folder: Path, program: Program, generation: str = "3.3", style: DatabaseStyle | None = None
) -> Replayed:
    database = write_memory_report(folder, program, generation, *([style] if style else []))
    return await replay_of(await opened(database))


def wanted_peaks(program: Program) -> dict[int, int]:
    """Operation id -> bytes per bank at its fullest device op, by the made side's own simulation."""
    peaks: dict[int, int] = {}
    for moment in Replay(program).moments:
        peaks[moment.call.id] = max(peaks.get(moment.call.id, 0), moment.bytes_per_bank)
    return peaks


def wanted_l1_after(program: Program) -> list[int]:
    """Bytes per bank of the L1 tensors live after each operation."""
    made = Replay(program)
    return [sum(made.bank_bytes(t) for t in made.after[call] if t.is_in("L1")) for call in program.calls]


def l1_after(found: Replayed) -> list[int]:
    spans = found.fullest.spans
    rows = [spans.live_at(inside(place)) for place in range(len(found.operations))]
    return [int(spans.bytes_per_bank[row][spans.buffers[row] == L1].sum()) for row in rows]


def peaks(found: Replayed) -> dict[int, int]:
    return dict(zip(found.operations.tolist(), found.fullest.l1.tolist(), strict=True))


def late(found: Replayed, least: int = 1) -> list[tuple[int, int, int | None]]:
    """(tensor, last use, freed by) as operation ids."""

    def name(place: int | None) -> int | None:
        return None if place is None else int(found.operations[place])

    listed = found.lifetimes.late_frees(found.fullest.peak, least=least)
    return sorted((one.tensor, name(one.last_use) or 0, name(one.freed)) for one in listed)
