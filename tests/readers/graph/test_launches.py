"""What a graph prints of a device op: newer graphs all of its tensors, older ones only their ids."""

import json
from dataclasses import dataclass

from tests.for_all import for_all
from ttnn_mcp.readers.graph import launches
from ttnn_mcp.readers.graph.graph_memory import read_graph_memory
from ttnn_mcp.readers.graph.launches import launch_of
from ttnn_mcp.readers.memory.columns import Tensor
from ttnn_mcp.readers.printed.memory_config import parse_memory_config
from ttnn_mcp.readers.printed.shapes import Shape

PLACE = (
    "MemoryConfig(memory_layout=TensorMemoryLayout::INTERLEAVED,buffer_type=BufferType::L1,shard_spec=std::nullopt)"
)
SHARDS = (
    "MemoryConfig(memory_layout=TensorMemoryLayout::HEIGHT_SHARDED,buffer_type=BufferType::L1,"
    'shard_spec=ShardSpec{grid=[{"start":{"x":0,"y":0},"end":{"x":7,"y":0}], shape=[32, 96], orientation=ROW_MAJOR})'
)


@dataclass
class NoTensors:
    kept: dict

    def get(self, number):
        return self.kept.get(number)


def tensor(shape, *, dtype="DataType::BFLOAT16", layout="Layout::TILE", place=PLACE):
    return {"shape": f"Shape({shape})", "dtype": dtype, "layout": layout, "memory_config": place, "tensor_id": 1}


def launched(inputs, outputs, *, created=(), kept=(), ends=True):
    """A graph of one device op, and what is read of it."""
    nodes = [{"node_type": "capture_start", "params": None}]
    places = range(2, 2 + len(inputs))
    start = {"name": "UnaryDeviceOperation", "program_factory_type": "ttnn::prim::Unary::ProgramFactory"}
    nodes.append(
        {"node_type": "function_start", "params": start, "arguments": ["a_t(1)"], "input_tensors": [*places]}
    )
    nodes += [{"node_type": "tensor", "params": one} for one in inputs]
    for arguments in created:
        name = {"name": "tt::tt_metal::create_device_tensor"}
        nodes.append({"node_type": "function_start", "params": name, "arguments": arguments})
        nodes.append({"node_type": "function_end", "params": name, "connections": [len(nodes) + 1]})
        nodes.append({"node_type": "tensor", "params": {"shape": "Shape([1])", "tensor_id": 99}})
    if ends:
        gave = [len(nodes) + 1 + at for at in range(len(outputs))]
        nodes.append({"node_type": "function_end", "params": start, "connections": [*gave, len(nodes) + 9]})
    nodes += [{"node_type": "tensor", "params": one} for one in outputs]
    graph = read_graph_memory(json.dumps(nodes), operation=1)
    return launch_of(graph, 0, NoTensors(dict(kept)))


def test_tensors_are_read_in_tiles_rows_and_shards():
    row = tensor([8, 100], layout="Layout::ROW_MAJOR", dtype="DataType::FLOAT32")
    launch = launched([tensor([2, 3, 40, 100]), row], [tensor([256, 96], place=SHARDS)])
    tiles, rows, shards = *launch.inputs, *launch.outputs
    assert (launch.name, launch.factory, launch.attributes) == ("UnaryDeviceOperation", "ProgramFactory", "a_t(1)")
    assert (tiles.batch, tiles.rows, tiles.columns, tiles.tiles, tiles.page_bytes) == (6, 2, 4, 48, 2048)
    assert (rows.row_bytes, rows.page_bytes, rows.tile_bytes) == (400, 400, 4096)
    assert (shards.sharded_in_l1, shards.shard, shards.placement.cores) == (True, (1, 3), 8)
    assert (tiles.sharded_in_l1, tiles.shard) == (False, None)


def test_rows_begin_at_multiples_of_16_bytes():
    assert launched([tensor([8, 5], layout="Layout::ROW_MAJOR")], []).inputs[0].row_bytes == 16


def test_a_vector_has_two_dimensions():
    assert launched([tensor([64])], []).inputs[0].shape == (1, 64)


def test_until_0_67_the_tensor_table_knows_the_rest():
    shape, place = Shape((32, 64)), parse_memory_config(PLACE)
    known = Tensor(7, shape, "BFLOAT8_B", "TILE", place, device=None, address=None, buffer=None, size_bytes=None)
    bare = {"shape": "Shape([32, 64])", "tensor_id": "7"}
    launch = launched([bare], [bare], kept={7: known})
    assert [spec.dtype for spec in (*launch.inputs, *launch.outputs)] == ["BFLOAT8_B", "BFLOAT8_B"]
    assert launched([bare], []).inputs == ()


def test_outputs_that_nobody_leads_to_are_those_that_were_made():
    arguments = ["Shape([64, 32])", "DataType::BFLOAT16", "Layout::TILE", "0x55", PLACE]
    launch = launched([tensor([32, 32])], [], created=[arguments])
    assert [(spec.shape, spec.placement.buffer) for spec in launch.outputs] == [((64, 32), "L1")]


def test_an_operand_that_lives_within_the_graph_is_what_the_allocator_was_asked_for():
    arguments = ["Shape([64, 32])", "DataType::BFLOAT16", "Layout::TILE", "0x55", PLACE]
    name = {"name": "tt::tt_metal::create_device_tensor"}
    nodes = [
        {"node_type": "function_end", "params": {"name": "of a scope that began before"}, "connections": [3]},
        {"node_type": "function_start", "params": name, "arguments": arguments},
        {"node_type": "function_end", "params": name, "connections": [3, 4]},
        {"node_type": "tensor", "params": {"shape": "Shape([64, 32])", "tensor_id": 99}},
    ]
    assert launches._spec(nodes, 3, NoTensors({})).shape == (64, 32)
    assert launches._within(nodes, 4) is None  # that is where the next node begins, not what was made


def test_where_one_operand_cannot_be_read_none_is_told():
    assert launched([], [tensor([32, 32])]).inputs == ()
    bad = tensor([32, 32], dtype="DataType::INVALID")
    assert launched([tensor([32, 32]), bad], []).inputs == ()
    assert launched([{"shape": "what", "dtype": "BFLOAT16"}], []).inputs == ()
    assert launched([tensor([32, 32])], [tensor([32, 32])], ends=False).outputs == ()


START, MADE = {"name": "Op"}, {"name": "tt::tt_metal::create_device_tensor"}
ASKED = ["Shape([64, 32])", "DataType::BFLOAT16", "Layout::TILE", PLACE]


def node(kind, params=None, **more):
    return {"node_type": kind, "params": params, **more}


def outputs_of(*nodes):
    graph = read_graph_memory(json.dumps([node("function_start", START), *nodes]), operation=1)
    return [spec.shape for spec in launch_of(graph, 0, NoTensors({})).outputs]


def test_an_output_that_cannot_be_read_is_left_out():
    bad = tensor([32, 32], dtype="DataType::INVALID")
    assert [spec.shape for spec in launched([], [tensor([32, 64]), bad]).outputs] == [(32, 64)]


def test_outputs_that_are_led_to_come_before_those_that_were_made():
    launch = launched([], [tensor([32, 64])], created=[ASKED])
    assert [spec.shape for spec in launch.outputs] == [(32, 64)]
    assert launched([], [], created=[ASKED], ends=False).outputs == ()


def test_an_end_without_outputs_leads_to_what_scopes_inside_it_gave():
    inside = [node("buffer", {}, connections=[3]), node("function_end", {"name": "x"}, connections=[4, 3])]
    others = [node("tensor", tensor([1, 1])), node("tensor", tensor([32, 64]))]
    for ends in ([], [1], [1, 99]):  # at no tensor
        assert outputs_of(*inside, *others, node("function_end", START, connections=ends)) == [(32, 64)]
    nothing = [node("function_end", {"name": "x"}, connections=[2]), node("buffer", tensor([32, 64]))]
    assert outputs_of(*nothing, node("function_end", START)) == []


@for_all(
    ("kind", "params", "arguments", "made"),
    [
        ("function_start", MADE, ASKED, [("L1", (64, 32))]),
        ("function_start", MADE, [*ASKED[:3], "0x55", PLACE], [("L1", (64, 32))]),
        ("function_start", MADE, ASKED[:3], []),
        ("function_start", START, ASKED, []),
        ("function_end", MADE, ASKED, []),
    ],
)
def test_the_allocator_is_asked_by_one_function(kind, params, arguments, made):
    specs = launches._created([node(kind, params, arguments=arguments)])
    assert [(spec.placement.buffer, spec.shape) for spec in specs] == made


def test_a_counter_leads_to_a_tensor_of_the_graph():
    nodes = [node("tensor", tensor([32, 64])), node("buffer", tensor([32, 64]))]
    read = [launches._spec(nodes, counter, NoTensors({})) for counter in (0, 1, 2, -2, "0", None)]
    assert [spec and spec.shape for spec in read] == [(32, 64), None, None, None, None, None]


@for_all("params", [None, 3, "dtype", ["dtype"], []])
def test_what_a_tensor_tells_may_be_anything(params):
    """As in a damaged graph."""
    assert launches._spec([node("tensor", params)], 0, NoTensors({})) is None


def test_a_tensor_whose_shape_the_table_cannot_tell_is_sought_within_the_graph():
    empty = Tensor(7, None, None, None, None, device=None, address=None, buffer=None, size_bytes=None)
    nodes = [
        node("function_start", MADE, arguments=ASKED),
        node("buffer", connections=[9]),
        node("function_end", MADE, connections=[3]),
        node("tensor", {"tensor_id": 7}),
    ]
    assert launches._spec(nodes, 3, NoTensors({7: empty})).shape == (64, 32)
    assert launches._within(nodes[1:], 3) is None


def test_what_is_no_list_counts_as_none():
    """As in a damaged graph."""
    node = {"node_type": "function_start", "params": {"name": "create_device_tensor"}, "arguments": 7}
    assert launches._created([node]) == []
    assert launches._outputs([{"connections": 5}], 0, 0) == []
