"""Circular and dataflow buffers of a program, from a graph that TTNN captured without dispatching."""

from __future__ import annotations

import re
from collections import Counter
from itertools import product
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator

CORE_RANGE = re.compile(r"(\d+)-(\d+) - (\d+)-(\d+)")
ADDRESS = re.compile(r"0x[0-9a-f]+")
BUFFERS = ("circular_buffer_allocate", "dataflow_buffer_allocate", "scratchpad_allocate")


def fullest_core(graph: list[dict[str, Any]], program: str, *, of_all: bool = False) -> int | None:
    """Bytes that the last program of that name (or the largest) takes for its own buffers on the fullest core."""
    starts = [at for at, node in enumerate(graph) if _is_program(node, program)]
    sizes = [_bytes_from(graph[start:]) for start in (starts if of_all else starts[-1:])]
    return max((size for size in sizes if size is not None), default=None)


def _bytes_from(nodes: list[dict[str, Any]]) -> int | None:
    used: Counter[tuple[int, int]] = Counter()
    depth = 0
    for node in nodes:
        depth += {"function_start": 1, "function_end": -1}.get(node["node_type"], 0)
        if not depth:
            break
        if node["node_type"] in BUFFERS and not lies_on_a_tensor(node["params"]):
            for core in cores_of(node["params"]["core_range_set"]):
                used[core] += int(node["params"]["size"])
    return max(used.values(), default=None)


def programs(graph: list[dict[str, Any]]) -> Iterator[tuple[str, int, int]]:
    """Each device op as it started: its name, the cores that its buffers lie on, and their bytes on the fullest core.

    A device op may launch another one before its own program, as SparseMatmul does.
    """
    found: list[tuple[str, set[tuple[int, int]], Counter[tuple[int, int]]]] = []
    scopes = [-1]
    for node in graph:
        if node["node_type"] == "function_start":
            if "program_factory_type" in node["params"]:
                found.append((node["params"]["name"], set(), Counter()))
            scopes.append(len(found) - 1 if "program_factory_type" in node["params"] else scopes[-1])
        elif node["node_type"] == "function_end":
            scopes = scopes[:-1] or [-1]
        elif node["node_type"] in BUFFERS and scopes[-1] >= 0:
            places = list(cores_of(node["params"]["core_range_set"]))
            found[scopes[-1]][1].update(places)
            if not lies_on_a_tensor(node["params"]):
                for core in places:
                    found[scopes[-1]][2][core] += int(node["params"]["size"])
    return ((name, len(cores), max(used.values(), default=0)) for name, cores, used in found)


def executed(graph: list[dict[str, Any]]) -> list[tuple[object, ...]]:
    """All that is known of each device op: what it is given, its program, its cores and its bytes."""
    starts = [
        node for node in graph if node["node_type"] == "function_start" and "program_factory_type" in node["params"]
    ]
    given = [
        (node["params"]["program_factory_type"], ADDRESS.sub("", str(node.get("arguments")))) for node in starts
    ]
    return [(*one, *told) for one, told in zip(programs(graph), given, strict=True)]


def _is_program(node: dict[str, Any], program: str) -> bool:
    name = node["params"].get("name", "") if node["node_type"] == "function_start" else ""
    return program in name and "Operation" in name


def lies_on_a_tensor(buffer: dict[str, Any]) -> bool:
    return "1" in (str(buffer.get("globally_allocated")), str(buffer.get("borrows_memory")))


def cores_of(text: str) -> Iterator[tuple[int, int]]:
    for x1, y1, x2, y2 in (map(int, found) for found in CORE_RANGE.findall(text)):
        yield from product(range(x1, x2 + 1), range(y1, y2 + 1))
