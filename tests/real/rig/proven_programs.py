"""The device ops of a dry capture as rows of `l1_captures.json`; runs in the project's own environment."""

from __future__ import annotations

import asyncio
import json
import re
from collections import defaultdict
from dataclasses import asdict
from pathlib import Path
from typing import Any
from zlib import crc32

from tests.real.l1_captures import COLUMNS, text_of
from tests.real.rig import whole_programs
from tests.real.rig.environment import PINS
from tests.real.rig.program_buffers import BUFFERS, cores_of, lies_on_a_tensor
from ttnn_mcp.analyses.from_graph.models import arguments_of
from ttnn_mcp.analyses.from_graph.program import machine_of
from ttnn_mcp.readers.graph.graph_memory import GraphReader
from ttnn_mcp.readers.graph.launches import launch_of
from ttnn_mcp.readers.memory.stream import iter_graph_batches
from ttnn_mcp.session.opening import read_run

Row = dict[str, Any]
PROOFS = Path(__file__).parents[1] / "proofs"
VERSION = next(
    line.split("==")[1].split()[0] for line in PINS.read_text("utf-8").splitlines() if line.startswith("ttnn==")
)
_QUOTED = re.compile(r'"(\w+)"')
_NUMBERS = re.compile(r"\d+(x\d+)+|[\d:,-]{7,}")  # of shards
# said with the tensors, or the same always
_UNSAID = re.compile(
    r"(?<=MemoryConfig\()[^()]*(?=\))|,dst_full_sync_en=0,throttle_level=ThrottleLevel::NO_THROTTLE"
    r"|(?<= )0x[0-9a-f]{12}(?=,)"  # an address of the host, another in each run
)
_CHOICES = re.compile(r"\w+::\w+")


def programs() -> dict[str, tuple[str, ...]]:
    """What is captured: the whole programs on their device, and the calls of `tests/real/proofs` on each of theirs."""
    asked = {name: (whole_programs.kind_of(name),) for name in whole_programs.names()}
    for path in sorted(PROOFS.glob("*.py")):
        line = next(line for line in path.read_text("utf-8").splitlines() if line.startswith("KINDS = "))
        asked[path.stem] = tuple(_QUOTED.findall(line))
    return asked


def rows_of(folder: Path, kind: str) -> tuple[dict[str, Any], list[Row]]:
    """The chip, and a row for each device op that the capture shows."""
    return asyncio.run(_rows_of(folder, kind))


async def _rows_of(folder: Path, kind: str) -> tuple[dict[str, Any], list[Row]]:
    memory = (await read_run("dry", folder.name, None, folder / "db.sqlite")).memory_report
    machine, room = machine_of(memory), json.loads((folder / "room.json").read_text())
    assert machine is not None
    asked, reader, rows = await arguments_of(memory), GraphReader(), []
    whole = reader.read((folder / "graph.json").read_text(), operation=0)  # the import drops circular buffers
    ran = iter(whole.device_ops)
    async for batch in iter_graph_batches(memory):
        for operation, text in batch:
            graph = reader.read(text, operation=operation)
            for place, device_op in enumerate(graph.device_ops):
                same = next(one for one in ran if one.name == device_op.name)
                if not device_op.completed or device_op.cached:
                    continue
                launch = launch_of(graph, place, memory.tensors)
                row: Row = {"chip": kind, "op": launch.name, "factory": launch.factory}
                row |= {"attributes": _UNSAID.sub("", launch.attributes)}
                row |= {
                    side: [text_of(spec) for spec in specs]
                    for side, specs in (("in", launch.inputs), ("out", launch.outputs))
                }
                row |= {"asked": dict(asked[operation])} if asked.get(operation) else {}
                row |= {"room": room} if room is not None else {}
                rows.append({**row, "buffers": _fullest(whole.nodes[same.started_at : same.ended_at])})
    return asdict(machine), rows


def _fullest(nodes: list[dict[str, Any]]) -> list[int]:
    """Bytes of the buffers of the core that has most of them; of the chips of a mesh, and of programs in turn, one."""
    programs: list[dict[tuple[int, int], list[int]]] = [defaultdict(list)]
    for node in nodes:
        if node["node_type"] == "circular_buffer_deallocate_all":
            programs.append(defaultdict(list))
        if node["node_type"] in BUFFERS and not lies_on_a_tensor(node["params"]):
            for core in cores_of(node["params"]["core_range_set"]):
                programs[-1][core].append(int(node["params"]["size"]))
    return max((sizes for on_cores in programs for sizes in on_cores.values()), key=sum, default=[])


def told_apart(rows: list[Row]) -> list[Row]:
    """One of the rows that prove the same: a program, data types, places and choices alike, and the same buffers."""
    kept: dict[str, Row] = {}
    for row in rows:
        tensors = [_NUMBERS.sub("", text.partition(" ")[2]) for text in (*row["in"], *row["out"])]
        choices = sorted(set(_CHOICES.findall(row["attributes"])))
        told = [row["op"], row["factory"], tensors, choices, sorted(row["buffers"])]
        kept.setdefault(json.dumps(told), row)
    return sorted(kept.values(), key=lambda row: (row["op"], row["factory"], row["chip"], row["in"], row["out"]))


def stored(chips: dict[str, Any], rows: list[Row]) -> str:
    """The file: a line for each program; attributes, which come again, are told once, without what nothing reads.

    They are named by a digest, so that a new program adds lines and changes none.
    """
    texts = [row["attributes"] for row in rows]
    names = {text: f"{crc32(text.encode()):08x}" for text in sorted(set(texts))}
    assert len({*names.values()}) == len(names), "two attributes have one digest: take a longer one"
    told = [
        [{**row, "attributes": names[text]}.get(name) for name in COLUMNS]
        for row, text in zip(rows, texts, strict=True)
    ]
    parts = {
        "chips": [[name, *chip.values()] for name, chip in sorted(chips.items())],
        "attributes": [[name, text] for text, name in names.items()],
        "programs": told,
    }
    whole = {
        name: "[\n" + ",\n".join(json.dumps(row, separators=(",", ":")) for row in part) + "\n]"
        for name, part in parts.items()
    }
    return (
        "{" + ",\n".join([f'"ttnn": "{VERSION}"', *(f'"{name}": {part}' for name, part in whole.items())]) + "}\n"
    )
