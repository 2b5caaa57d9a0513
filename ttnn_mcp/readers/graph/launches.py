"""What a captured graph prints of one device op: its attributes, its operands and its outputs.

Read for device ops whose circular buffers the graph leaves out, one at a time.
"""

from __future__ import annotations

from typing import TypeGuard, cast

from ttnn_mcp.readers.graph.graph_events import GraphMemory
from ttnn_mcp.readers.graph.graph_params import Params, number
from ttnn_mcp.readers.graph.specs import Spec, made_spec, read_spec
from ttnn_mcp.readers.memory.columns import Tensors
from ttnn_mcp.records import dataclass


@dataclass(frozen=True, slots=True)
class Launch:
    """A device op of a graph.

    Attributes:
        name: of the device op.
        factory: the last name of its program factory; empty before TTNN 0.78.
        attributes: its attributes as printed; 'unsupported type' until 0.67.
        inputs: its operands, in order; none where the graph leaves one of them out.
        outputs: what it gave.
    """

    name: str
    factory: str
    attributes: str
    inputs: tuple[Spec, ...]
    outputs: tuple[Spec, ...]


def launch_of(graph: GraphMemory, place: int, tensors: Tensors) -> Launch:
    """A device op of a graph by its place.

    Until TTNN 0.67 graphs print no more of a tensor than its shape and id: `tensors` have the rest.
    """
    device_op = graph.device_ops[place]
    nodes = graph.nodes
    start = nodes[device_op.started_at]
    operands = _listed(start, "input_tensors")
    gave = _outputs(nodes, device_op.started_at, device_op.ended_at) if device_op.completed else []
    inputs, outputs = ([_spec(nodes, counter, tensors) for counter in counters] for counters in (operands, gave))
    if device_op.completed and not any(outputs):
        outputs = _created(nodes[device_op.started_at : device_op.ended_at])
    known = tuple(spec for spec in inputs if spec is not None)
    if len(known) < len(inputs):
        known = ()
    params = _params(start)
    factory = str(params.get("program_factory_type") or "").rpartition("::")[2]
    printed = next((str(text) for text in _listed(start, "arguments")), "")
    return Launch(device_op.name, factory, printed, known, tuple(spec for spec in outputs if spec is not None))


def _outputs(nodes: list[Params], start: int, end: int) -> list[object]:
    """Tensors that the end of the device op leads to; of several outputs those that it made itself."""
    tensors: list[object] = [
        counter for counter in _listed(nodes[end], "connections") if _is_tensor(counter, nodes)
    ]
    if tensors:
        return tensors
    made = [node for node in nodes[start:end] if node.get("node_type") == "function_end"]
    return [counter for node in made for counter in _listed(node, "connections")[:1]]


def _created(nodes: list[Params]) -> list[Spec | None]:
    """What the device op asked the allocator for: shape, data type, layout, then its place."""
    made: list[Spec | None] = []
    for node in nodes:
        printed = [str(text) for text in _listed(node, "arguments")]
        named = node.get("node_type") == "function_start" and "create_device_tensor" in str(node.get("params"))
        if named and len(printed) > 3:
            place = next((text for text in printed[3:] if text.startswith("MemoryConfig")), "")
            made.append(read_spec(*printed[:3], place))
    return made


def _listed(node: Params, name: str) -> list[object]:
    """A list of the node; empty where the graph has none, or another thing in its place."""
    listed: object = node.get(name)
    return cast("list[object]", listed) if isinstance(listed, list) else []


def _params(node: Params) -> Params:
    """What the node tells; nothing where the graph has another thing in its place."""
    params: object = node.get("params")
    return cast("Params", params) if isinstance(params, dict) else {}


def _is_tensor(counter: object, nodes: list[Params]) -> TypeGuard[int]:
    return isinstance(counter, int) and 0 <= counter < len(nodes) and nodes[counter].get("node_type") == "tensor"


def _spec(nodes: list[Params], counter: object, tensors: Tensors) -> Spec | None:
    if not _is_tensor(counter, nodes):
        return None
    params = _params(nodes[counter])
    if "dtype" in params:
        return read_spec(*(str(params.get(key) or "") for key in ("shape", "dtype", "layout", "memory_config")))
    tensor = tensors.get(number(params, "tensor_id"))
    if tensor is None or tensor.shape is None:
        return _within(nodes, counter)
    return made_spec(tensor.shape, tensor.dtype or "", tensor.layout or "", tensor.placement)


def _within(nodes: list[Params], counter: int) -> Spec | None:
    """A tensor that lives within the graph: as the allocator was asked for it."""
    started: list[int] = []
    for place, node in enumerate(nodes):
        if node.get("node_type") == "function_start":
            started.append(place)
        elif node.get("node_type") == "function_end" and started:
            start = started.pop()
            if counter in _listed(node, "connections")[:1]:
                return next(iter(_created(nodes[start : start + 1])), None)
    return None
