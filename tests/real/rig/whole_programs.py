"""Captures one program of `tests/real/models` on the mock device it asks for, and what TTNN really took of memory for it.

    PYTHON -m tests.real.rig.whole_programs NAME FOLDER        within the environment

It runs three times: dispatched, which writes the report but leaves out the buffers of most programs; again, each call
of `FITTED` asked dry beside the real tensors; and dry as a whole, which tells the buffers of all programs.
"""

from __future__ import annotations

import json
import sys
from collections import defaultdict
from contextlib import contextmanager, suppress
from difflib import SequenceMatcher
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tests.real.rig.devices import L1_SMALL_BYTES, first_line, imported, meshed, opened
from tests.real.rig.program_buffers import BUFFERS, programs

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

PROGRAMS = Path(__file__).parents[1] / "models"
FITTED = (
    "linear",
    "matmul",
    "softmax",
    "layer_norm",
    "rms_norm",
    "topk",
)  # their programs depend on the room in L1
SPACES = ("L1", "DRAM")
Graph = list[dict[str, Any]]


def names() -> list[str]:
    """The programs."""
    return sorted(path.stem for path in PROGRAMS.glob("*.py"))


def kind_of(name: str) -> str:
    """The mock device that a program asks for; read without importing it, because TTNN sees one kind per process."""
    lines = (PROGRAMS / f"{name}.py").read_text("utf-8").splitlines()
    return next(line.split('"')[1] for line in lines if line.startswith("KIND = "))


def launches(node: dict[str, Any]) -> bool:
    """Whether a node starts a device operation."""
    params = node["params"] or {}
    return node["node_type"] == "function_start" and (
        "program_factory_type" in params or "program_cache_hit" in params
    )


def of_one_chip(graph: Graph) -> Graph:
    """Without the buffers of a program on the further chips of a mesh: between chips the buffers are cleared."""
    kept: Graph = []
    has_buffers = is_over = False
    chip: object = None
    for node in graph:
        kind = node["node_type"]
        if launches(node):
            has_buffers = is_over = False
        if kind in BUFFERS and not has_buffers:
            chip = node["params"].get("device_id")
        is_over |= kind == "circular_buffer_deallocate_all" and has_buffers
        has_buffers |= kind in BUFFERS
        if kind not in BUFFERS or (not is_over and node["params"].get("device_id") == chip):
            kept.append(node)
    return kept


def levels(graph: Graph, buffers: list[int], before: dict[str, int]) -> list[dict[str, Any]]:
    """The most of L1 and DRAM per bank of each outermost scope: tensors as they were allocated, and a program's buffers
    while it executes."""
    level, found = dict(before), list[dict[str, Any]]()
    live: dict[tuple[str, int], int] = {}
    number = -1
    scopes: list[int] = []
    for node in graph:
        kind, params = node["node_type"], node["params"] or {}
        number += launches(node)
        if kind == "function_start":
            if not scopes:
                found.append({"name": params["name"], **level})
            scopes.append(number if launches(node) else scopes[-1] if scopes else -1)
        elif kind == "function_end" and scopes:
            scopes.pop()
        if kind in {"buffer_allocate", "buffer_deallocate"} and _space(params) in level:
            space, size = _space(params), int(params["max_size_per_bank"])
            level[space] -= live.pop((space, int(params["address"])), 0 if kind == "buffer_allocate" else size)
            if kind == "buffer_allocate":
                live[space, int(params["address"])] = size
                level[space] += size
        runs = kind == "program_execution" and scopes and scopes[-1] >= 0
        taken = buffers[scopes[-1]] if runs else 0
        for space in SPACES if found else ():
            found[-1][space] = max(found[-1][space], level[space] + (taken if space == "L1" else 0))
    return found


def peaks(found: list[dict[str, Any]], before: dict[str, int]) -> dict[str, int]:
    """The most of all scopes."""
    return {space: max([before[space], *(scope[space] for scope in found)]) for space in SPACES}


def _space(params: dict[str, Any]) -> str:
    return {"0": "DRAM", "1": "L1"}.get(str(params.get("buffer_type")), "other")


def completed(graph: Graph, dry: Graph, calls: dict[str, list[Graph]]) -> list[int]:
    """Bytes per core of each device operation: as its own call tells them dry, else as the whole dry run does."""
    ran = [node["params"]["name"] for node in graph if launches(node)]
    planned = list(programs(dry))
    sizes = [size for *_, size in programs(graph)]
    for block in SequenceMatcher(None, ran, [name for name, *_ in planned], autojunk=False).get_matching_blocks():
        for step in range(block.size):
            sizes[block.a + step] = planned[block.b + step][2]
    left = {name: iter(graphs) for name, graphs in calls.items()}
    depth, number, asked = 0, -1, iter(())
    for node in graph:
        if node["node_type"] == "function_start":
            if not depth:
                asked = iter(list(programs(next(left.get(node["params"]["name"], iter(())), []))))
            depth += 1
            if launches(node):
                number += 1
                told = next(asked, None)
                if told is not None and told[0] == ran[number]:
                    sizes[number] = told[2]
        elif node["node_type"] == "function_end":
            depth -= 1
    return sizes


def dry_graph(ttnn: Any, run: Callable[[], object]) -> Graph:
    """What TTNN captures of a run without dispatching it, up to its end or its exception."""
    ttnn.graph.begin_graph_capture(ttnn.graph.RunMode.NO_DISPATCH)
    with suppress(RuntimeError):
        run()
    return ttnn.graph.end_graph_capture()


@contextmanager
def asked_dry(ttnn: Any, calls: dict[str, list[Graph]]) -> Iterator[None]:
    """Within it, every call of `FITTED` is asked dry before it runs."""
    plain = {name: getattr(ttnn, name) for name in FITTED}

    def watched(name: str) -> Callable[..., Any]:
        def call(*operands: Any, **named: Any) -> Any:
            calls[f"ttnn.{name}"].append(dry_graph(ttnn, lambda: plain[name](*operands, **named)))
            return plain[name](*operands, **named)

        return call

    for name in FITTED:
        setattr(ttnn, name, watched(name))
    try:
        yield
    except RuntimeError:
        pass  # a program that dies, dies here, too
    finally:
        for name, function in plain.items():
            setattr(ttnn, name, function)


def main(name: str, folder: Path) -> None:
    """Capture it, import the capture, and keep TTNN's own figures."""
    ttnn = imported(kind_of(name))
    program = import_module(f"tests.real.models.{name}")
    small, on_mesh = getattr(program, "L1_SMALL", L1_SMALL_BYTES), hasattr(program, "MESH")
    device = meshed(ttnn) if on_mesh else opened(ttnn, small)
    if getattr(program, "WARM", False):  # its programs come from the cache: the report shows none of their buffers
        program.run(device, program.weights(device))
    kept = program.weights(device)
    views = {space: ttnn.get_memory_view(device, getattr(ttnn.BufferType, space)) for space in SPACES}
    before = {space: int(view.total_bytes_allocated_per_bank) for space, view in views.items()}
    graph_file = folder / "graph.json"
    error = result = None
    with ttnn.graph.full_graph_capture(str(graph_file)):
        try:
            result = program.run(device, kept)
        except RuntimeError as raised:  # some are meant to die
            error = first_line(raised)
    del result, kept
    device.clear_program_cache()
    calls: dict[str, list[Graph]] = defaultdict(list)
    with asked_dry(ttnn, calls):
        program.run(device, program.weights(device))
    kept = program.weights(device)
    of_chip = of_one_chip if on_mesh else list
    dry = of_chip(dry_graph(ttnn, lambda: program.run(device, kept)))
    import_module("ttnn.graph_report").import_report(graph_file, folder)
    (folder / "config.json").write_text(json.dumps({"report_name": name}))
    graph = of_chip(json.loads(graph_file.read_text())["graph"])
    held = peaks(levels(graph, [size for *_, size in programs(graph)], before), before)
    found = levels(graph, completed(graph, dry, calls), before)
    whole = peaks(found, before)
    figures = {"error": error, "held": held["L1"], "l1": whole["L1"], "dram": whole["DRAM"], "levels": found}
    (folder / "figures.json").write_text(json.dumps(figures))
    (ttnn.close_mesh_device if on_mesh else ttnn.close_device)(device)


if __name__ == "__main__":
    main(sys.argv[1], Path(sys.argv[2]).resolve())
