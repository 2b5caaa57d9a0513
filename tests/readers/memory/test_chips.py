"""Chips of a run: a mesh that was opened is no chip of its own."""

import json

from tests.for_all import for_all
from tests.readers.memory.small_reports import TABLES, made
from ttnn_mcp.readers.memory.report import read_memory_report

WITH_GRAPHS = {
    **TABLES,
    "devices": "device_id int",
    "captured_graph": "operation_id int, captured_graph text",
    "operation_executions": "operation_id int, device_id int, physical_device_id int, global_call_count int",
}
BUFFERS_OF_MESH = [(1, 0, 64, 2048, 1)]


def graph(chip):
    """As TTNN prints a tensor's copy: JSON within JSON."""
    return json.dumps(
        [{"node_type": "tensor", "params": {"x": json.dumps({"device_id": chip, "mesh_device_id": 1})}}]
    )


async def chips_of(folder, *, devices=(0, 1), mesh=1, graphs=(), executions=()):
    report = made(
        folder,
        WITH_GRAPHS,
        operations=[(1, "ttnn.add", 0.1)],
        tensors=[(1, "Shape([32, 32])", None, None, None, mesh, 64, 1)],
        devices=[(one,) for one in devices],
        captured_graph=[(at, text) for at, text in enumerate(graphs)],
        operation_executions=[(1, mesh, chip, 1024 + at) for at, chip in enumerate(executions)],
    )
    return (await read_memory_report(report)).chips


@for_all(
    ("told", "chips"),
    [
        ({"executions": (4, 2, 4)}, (2, 4)),
        ({"executions": (0, 1), "devices": (0, 1, 5)}, (0, 1)),
        ({"mesh": 0, "graphs": [graph(1)]}, (1,)),
        ({"executions": (4, -1)}, (0, 1)),  # not of all: what is described
        ({"executions": (4, -1), "graphs": [graph(0)]}, (0,)),
        ({"graphs": [graph(0)]}, (0,)),  # 1 is the mesh
        ({"graphs": [None, "{}", graph(0)]}, (0,)),
        ({"graphs": [graph(0), graph(1)]}, (0, 1)),
        ({"graphs": [graph(1)]}, (0, 1)),  # the mesh has the id of a chip: nothing to tell apart
        ({"graphs": ["[]"]}, (0, 1)),
        ({"devices": (1,), "graphs": [graph(0)]}, (1,)),
        ({"devices": (1, 1), "graphs": [graph(0)]}, (1,)),
        ({"devices": (0, 1, 2), "mesh": 2, "graphs": [graph(0), graph(1)]}, (0, 1)),
        ({"mesh": None, "graphs": [graph(0)]}, (0, 1)),
    ],
)
async def test_chips_are_told_from_the_mesh(tmp_path, told, chips):
    assert await chips_of(tmp_path / "r", **told) == chips


async def test_forty_graphs_are_looked_at(tmp_path):
    assert await chips_of(tmp_path / "a", graphs=["[]"] * 39 + [graph(0)]) == (0,)
    assert await chips_of(tmp_path / "b", graphs=["[]"] * 40 + [graph(0)]) == (0, 1)


async def test_the_beginning_of_a_graph_is_looked_at(tmp_path):
    text = graph(0)
    matched = text.index("mesh_device_id") + len("mesh_device_id")
    assert await chips_of(tmp_path / "a", graphs=[" " * (200_000 - matched) + text]) == (0,)
    assert await chips_of(tmp_path / "b", graphs=[" " * (200_001 - matched) + text]) == (0, 1)


async def test_a_grid_that_is_cut_into_sub_devices_is_told(tmp_path):
    tables = {**TABLES, "sub_devices": "device_id int, sub_device_manager_id int, sub_device_id int"}
    one = await read_memory_report(made(tmp_path / "a", tables, sub_devices=[(0, 0, 0)]))
    three = await read_memory_report(made(tmp_path / "b", tables, sub_devices=[(0, 0, 0), (0, 1, 0), (0, 1, 2)]))
    assert (one.caveats, three.caveats) == (
        (),
        ("the run cut its grid into 3 sub-devices: figures are of the whole grid",),
    )
