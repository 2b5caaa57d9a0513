"""Which L1 buffers of a report stayed after their last use: by plain means, without anything of the package."""

from __future__ import annotations

import json
import sqlite3
from collections import defaultdict
from contextlib import closing
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pathlib import Path


@dataclass
class Buffer:
    """A buffer from the operation that made it; `last` and `end` are places of operations."""

    last: int | None = None
    end: int | None = None


def held_operations(database: Path) -> list[tuple[int, int | None, int]]:
    """(last use, end, operations that ran on the device in between) of every L1 buffer that something took."""
    with closing(sqlite3.connect(f"file:{database}?mode=ro&immutable=1", uri=True)) as connection:
        tables = _Tables(connection)
    live: dict[int, Buffer] = {}
    buffers: list[Buffer] = []
    for place, operation in enumerate(tables.operations):
        _used(live, tables.taken[operation], place)
        made: set[int] = set()
        for kind, address in tables.events[operation]:
            if address in live:
                live.pop(address).end = place
            if kind == "buffer_allocate":
                live[address] = Buffer()
                buffers.append(live[address])
                made.add(address)
        # in place is a use, too; a buffer made here may lie where one lay that was dropped before
        _used(live, [address for address in tables.given[operation] if address not in made], place)
        if operation in tables.shown:
            for address in [address for address in live if address not in tables.shown[operation]]:
                live.pop(address).end = place
    told = [buffer for buffer in buffers if buffer.last is not None]
    return sorted(((one.last, one.end, sum(tables.ran[one.last + 1 : one.end])) for one in told), key=str)


def _used(live: dict[int, Buffer], addresses: list[int], place: int) -> None:
    for address in addresses:
        if address in live:
            live[address].last = place


class _Tables:
    """What the tables tell, by operation."""

    def __init__(self, connection: sqlite3.Connection) -> None:
        rows = connection.execute
        names = dict(rows("SELECT operation_id, name FROM operations ORDER BY 1"))
        self.operations = list(names)
        of_tensors = "SELECT tensor_id, address FROM tensors WHERE buffer_type = 1 AND address > 0"
        of_views = """SELECT tensor_id, copies.address FROM tensors JOIN device_tensors AS copies USING (tensor_id)
            WHERE tensors.address IS NULL AND memory_config LIKE '%BufferType::L1,%'"""
        address_of = {**dict(rows(of_views)), **dict(rows(of_tensors))}
        self.taken: dict[int, list[int]] = defaultdict(list)
        self.given: dict[int, list[int]] = defaultdict(list)
        for table, addresses in (("input_tensors", self.taken), ("output_tensors", self.given)):
            for operation, tensor in rows(f"SELECT operation_id, tensor_id FROM {table}"):
                if tensor in address_of and "dealloc" not in names[operation]:
                    addresses[operation].append(address_of[tensor])
        self.shown: dict[int, set[int]] = defaultdict(set)
        for operation, address in rows("SELECT operation_id, address FROM buffers WHERE buffer_type = 1"):
            self.shown[operation].add(address)
        graphs = {
            one: json.loads(text) for one, text in rows("SELECT operation_id, captured_graph FROM captured_graph")
        }
        self.events = {one: list(_events(graphs.get(one, []))) for one in self.operations}
        self.ran = [any(map(_is_launch, graphs.get(one, []))) for one in self.operations]


def _events(graph: list[dict[str, Any]]) -> Any:
    for node in graph:
        params = node["params"] or {}
        is_buffer = node["node_type"] in {"buffer_allocate", "buffer_deallocate"}
        if is_buffer and params["type"] == "L1" and "address" in params:
            yield node["node_type"], int(params["address"])


def _is_launch(node: dict[str, Any]) -> bool:
    name = (node["params"] or {}).get("name", "") if node["node_type"] == "function_start" else ""
    return bool(name) and "::" not in name and "ttnn." not in name and "(torch)" not in name
