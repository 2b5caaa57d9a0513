"""Names of scopes that are device ops, and which of them ran to their end."""

from tests.for_all import for_all
from ttnn_mcp.readers.graph.graph_events import DeviceOp, GraphMemory, MemoryEvent, is_device_op


@for_all(
    ("name", "is_it"),
    [
        ("MatmulDeviceOperation", True),
        ("", False),
        ("tt::tt_metal::create_device_tensor", False),
        ("ttnn.matmul", False),
        ("matmul (torch)", False),
    ],
)
def test_a_device_op_is_named_without_scope_or_library(name, is_it):
    assert is_device_op(name) is is_it


def test_only_what_ended_is_completed():
    ops = [DeviceOp("a", ended_at=0), DeviceOp("b"), DeviceOp("c", ended_at=7)]
    assert [one.name for one in GraphMemory(device_ops=ops).completed] == ["a", "c"]


def test_an_address_is_half_of_its_key():
    assert MemoryEvent("allocate", 0, key=129).address == 64
