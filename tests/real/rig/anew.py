"""Reads the reports that `captured` just had TTNN write, and holds our figures against TTNN's own, to the byte.

Runs in the project's own environment.
"""

from __future__ import annotations

import asyncio
import json
import shutil
import sqlite3
import tempfile
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tests.real.plain_lifetimes import held_operations
from ttnn_mcp.analyses.memory.buffer_spans import before
from ttnn_mcp.analyses.memory.replay import replay_of
from ttnn_mcp.hardware import ARCHITECTURES
from ttnn_mcp.readers.memory.spaces import DRAM, L1
from ttnn_mcp.session.opening import read_run

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from ttnn_mcp.analyses.memory.replayed import Replayed

Levels = list[tuple[int, int]]  # of L1 and DRAM
WITHIN = 1.05  # how far above TTNN's peak ours may be, with programs that the report leaves out


def differences(folder: Path) -> list[str]:
    """One sentence for every figure of ours that is not TTNN's; the reports of one kind of device."""
    figures = json.loads((folder / "figures.json").read_text())
    return [
        f"{folder.name}, {name}: {sentence}"
        for name, told in figures.items()
        for sentence in compared(asyncio.run(_replayed(folder / name)), told)
    ]


def of_program(folder: Path) -> Iterator[str]:
    """What differs in the report of one whole program: peaks, models, and the buffers that stayed after their use."""
    told, replayed = json.loads((folder / "figures.json").read_text()), asyncio.run(_replayed(folder))
    device = replayed.fullest
    held, dram, modelled = (int(levels.max(initial=0)) for levels in (device.recorded, device.dram, device.l1))
    if held != told["held"] and told["error"] is None:  # a graph lists the buffers of a refused program, too
        yield f"{folder.name}: an L1 peak of {held} bytes, the report holds {told['held']}"
    if dram != told["dram"]:
        yield f"{folder.name}: a DRAM peak of {dram} bytes, TTNN's is {told['dram']}"
    if not told["l1"] <= modelled <= WITHIN * told["l1"]:
        yield f"{folder.name}: with models an L1 peak of {modelled} bytes, TTNN's is {told['l1']}"
    yield from _of_operations(folder.name, told["levels"], replayed)
    late = [
        (one.last_use, one.freed, one.held) for one in replayed.lifetimes.late_frees(device.peak) if one.held > 1
    ]
    plain = [one for one in held_operations(folder / "db.sqlite") if one[2] > 1]
    if sorted(late, key=str) != plain:
        yield f"{folder.name}: late frees {sorted(late, key=str)}, by plain counting {plain}"
    with tempfile.TemporaryDirectory() as other:
        bare = asyncio.run(_replayed(_without_snapshots(folder, Path(other)))).fullest
    for space, levels_there in (("l1", bare.l1), ("dram", bare.dram)):
        if levels_there.max(initial=0) < told[space]:
            yield f"{folder.name}: without page tracing {levels_there.max()} bytes of {space}, TTNN's are {told[space]}"
    if replayed.programs.unknown:
        yield f"{folder.name}: programs without a model, {dict(replayed.programs.unknown)}"


def _of_operations(name: str, told: list[dict[str, Any]], replayed: Replayed) -> Iterator[str]:
    """Operations that we tell lower than TTNN, or higher than allowed; the importer leaves `Tensor::deallocate` out."""
    device, scopes = replayed.fullest, iter(told)
    names = replayed.memory.operations.names
    for place, number in enumerate(replayed.operations.tolist()):
        scope = next((one for one in scopes if one["name"] == names[place]), None)
        if scope is None:
            yield f"{name}: operation {number} {names[place]} is not in the graph"
            return
        for space, ours in (("L1", device.l1), ("DRAM", device.dram)):
            if not scope[space] <= ours[place] <= WITHIN * scope[space]:
                yield (
                    f"{name}: operation {number} {names[place]}, {ours[place]} bytes of {space}, "
                    f"TTNN's are {scope[space]}"
                )


def _without_snapshots(folder: Path, other: Path) -> Path:
    """The report as TTNN writes it by default: without the table of buffers."""
    shutil.copytree(folder, other / folder.name)
    with closing(sqlite3.connect(other / folder.name / "db.sqlite")) as connection:
        connection.execute("DELETE FROM buffers")
        connection.commit()
    return other / folder.name


def compared(replayed: Replayed, told: dict[str, Any]) -> Iterator[str]:
    """What differs in one report."""
    device, peaks = replayed.fullest, told["peaks"]
    ours = levels(replayed)
    allocator = [(level["L1"], level["DRAM"]) for level in told["levels"]]
    if not in_order(allocator, ours):
        yield f"the allocator's levels {allocator} do not occur in this order among ours, {ours}"
    # without the programs that we model and a dispatched capture leaves out; TTNN counts L1_SMALL as L1, and a
    # program's buffers until another one clears them
    small = int(device.small.max())
    held = int(device.recorded.max())
    if not peaks["peak_l1"] - small <= held <= peaks["peak_total"]:
        yield f"an L1 peak of {held} bytes in the report, TTNN's are {peaks['peak_l1']} and {peaks['peak_total']}"
    if int(device.dram.max()) < max(level for _, level in allocator):
        yield f"a DRAM peak of {device.dram.max()} bytes, below the allocator's levels {allocator}"
    chip = ARCHITECTURES[told["arch"]]
    if (chip.first_cb_address, chip.worker_l1_bytes) != (told["first_buffer"], told["worker_l1"]):
        yield f"hardware.py: buffers begin at {chip.first_cb_address}, TTNN begins them at {told['first_buffer']}"


def levels(replayed: Replayed) -> Levels:
    """Bytes per bank of the tensors that live after each operation."""
    spans = replayed.fullest.spans
    found = []
    for place in range(len(replayed.operations)):
        live = spans.live_at(before(place + 1))
        sizes, spaces = spans.bytes_per_bank[live], spans.buffers[live]
        found.append((int(sizes[spaces == L1].sum()), int(sizes[spaces == DRAM].sum())))
    return found


def in_order(wanted: Sequence[object], among: Sequence[object]) -> bool:
    """Whether all of `wanted` occur among the others, in their order."""
    left = iter(among)
    return all(any(level == other for other in left) for level in _changes(wanted))


def _changes(run: Sequence[object]) -> list[object]:
    return [level for place, level in enumerate(run) if not place or run[place - 1] != level]


async def _replayed(report: Path) -> Replayed:
    return await replay_of(await read_run("captured", report.name, None, report / "db.sqlite"))
