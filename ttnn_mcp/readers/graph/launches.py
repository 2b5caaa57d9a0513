"""What a captured graph prints of one device op: its attributes, its operands and its outputs.

Read for device ops whose circular buffers the graph leaves out, one at a time.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from math import ceil, prod
from typing import TYPE_CHECKING

from ttnn_mcp.hardware import ELEMENT_BYTES, TILE_BYTES, TILE_SIDE
from ttnn_mcp.readers.graph.graph_params import number
from ttnn_mcp.readers.printed.memory_config import Placement, parse_memory_config
from ttnn_mcp.readers.printed.shapes import Shape, parse_database_shape

if TYPE_CHECKING:
    from ttnn_mcp.readers.graph.graph_events import GraphMemory
    from ttnn_mcp.readers.graph.graph_params import Params
    from ttnn_mcp.readers.memory.columns import Tensors

_ROW_ALIGNMENT = 16  # bytes: rows in L1 begin at multiples of it


@dataclass(frozen=True, slots=True)
class Spec:
    """A tensor as a graph prints it.

    Attributes:
        shape: logical, at least two dimensions.
        dtype: as in `hardware.TILE_BYTES`.
        tiled: TILE layout, not ROW_MAJOR.
        placement: None where the text cannot be read.
    """

    shape: tuple[int, ...]
    dtype: str
    tiled: bool
    placement: Placement | None

    @property
    def rows(self) -> int:
        """Tiles of one matrix's height."""
        return ceil(self.shape[-2] / TILE_SIDE)

    @property
    def columns(self) -> int:
        """Tiles of its width."""
        return ceil(self.shape[-1] / TILE_SIDE)

    @property
    def batch(self) -> int:
        """How many matrices there are."""
        return prod(self.shape[:-2])

    @property
    def tiles(self) -> int:
        """All tiles."""
        return self.batch * self.rows * self.columns

    @property
    def tile_bytes(self) -> int:
        """Bytes of a tile of its data type."""
        return TILE_BYTES[self.dtype]

    @property
    def row_bytes(self) -> int:
        """Bytes of a row of elements, as rows are stored in ROW_MAJOR layout."""
        return ceil(self.shape[-1] * ELEMENT_BYTES[self.dtype] / _ROW_ALIGNMENT) * _ROW_ALIGNMENT

    @property
    def page_bytes(self) -> int:
        """Bytes of a page of an interleaved tensor: a tile, or a row."""
        return self.tile_bytes if self.tiled else self.row_bytes

    @property
    def sharded_in_l1(self) -> bool:
        """Whether cores hold shards of it, which most programs read where they lie."""
        return self.placement is not None and self.placement.sharded and self.placement.buffer == "L1"

    @property
    def shard(self) -> tuple[int, int] | None:
        """Rows and columns of a shard, in tiles; None where it has none."""
        spec = self.placement.shard if self.placement is not None and self.placement.sharded else None
        if spec is None or len(spec.shape) < 2:
            return None
        return ceil(spec.shape[-2] / TILE_SIDE), ceil(spec.shape[-1] / TILE_SIDE)


@dataclass(frozen=True, slots=True)
class Launch:
    """A device op of a graph.

    Attributes:
        name: of the device op.
        factory: the last name of its program factory; empty before TTNN 0.78.
        attributes: its attributes as printed; 'unsupported type' until 0.67.
        inputs: its operands, in order.
        outputs: what it gave.
    """

    name: str
    factory: str
    attributes: str
    inputs: tuple[Spec, ...]
    outputs: tuple[Spec, ...]


def launch_of(graph: GraphMemory, place: int, tensors: Tensors) -> Launch | None:
    """A device op of a graph by its place; None where the graph does not print what it took.

    Until TTNN 0.67 graphs print no more of a tensor than its shape and id: `tensors` have the rest.
    """
    device_op = graph.device_ops[place]
    nodes = graph.nodes
    start = nodes[device_op.started_at]
    operands = start.get("input_tensors") or ()
    gave = _outputs(nodes, device_op.started_at, device_op.ended_at) if device_op.completed else []
    inputs, outputs = ([_spec(nodes, counter, tensors) for counter in counters] for counters in (operands, gave))
    if device_op.completed and not any(outputs):
        outputs = _created(nodes[device_op.started_at : device_op.ended_at])
    known = tuple(spec for spec in inputs if spec is not None)
    if len(known) < len(inputs) or not known:
        return None
    params: Params = start.get("params") or {}
    factory = str(params.get("program_factory_type") or "").rpartition("::")[2]
    printed = next((str(text) for text in start.get("arguments") or ()), "")
    return Launch(device_op.name, factory, printed, known, tuple(spec for spec in outputs if spec is not None))


def _outputs(nodes: list[Params], start: int, end: int) -> list[object]:
    """Tensors that the end of the device op leads to; of several outputs those that it made itself."""
    given = [counter for counter in nodes[end].get("connections") or () if _is_tensor(nodes, counter)]
    if given:
        return given
    made = [node for node in nodes[start:end] if node.get("node_type") == "function_end"]
    firsts = (counter for node in made for counter in (node.get("connections") or ())[:1])
    return [counter for counter in firsts if _is_tensor(nodes, counter)]


def _created(nodes: list[Params]) -> list[Spec | None]:
    """What the device op asked the allocator for: shape, data type, layout, then its place."""
    made: list[Spec | None] = []
    for node in nodes:
        printed = [str(text) for text in node.get("arguments") or ()]
        named = node.get("node_type") == "function_start" and "create_device_tensor" in str(node.get("params"))
        if named and len(printed) > 3:
            place = next((text for text in printed[3:] if text.startswith("MemoryConfig")), "")
            made.append(_read(*printed[:3], place))
    return made


def _is_tensor(nodes: list[Params], counter: object) -> bool:
    return isinstance(counter, int) and 0 <= counter < len(nodes) and nodes[counter].get("node_type") == "tensor"


def _spec(nodes: list[Params], counter: object, tensors: Tensors) -> Spec | None:
    if not isinstance(counter, int) or not _is_tensor(nodes, counter):
        return None
    params: Params = nodes[counter].get("params") or {}
    if "dtype" in params:
        return _read(*(str(params.get(key) or "") for key in ("shape", "dtype", "layout", "memory_config")))
    tensor = tensors.get(number(params, "tensor_id"))
    if tensor is None or tensor.shape is None:
        return None
    return _made(tensor.shape, tensor.dtype or "", tensor.layout or "", tensor.placement)


@lru_cache(maxsize=2048)  # a model prints the same few hundred tensors again and again
def _read(shape: str, dtype: str, layout: str, placement: str) -> Spec | None:
    sizes = parse_database_shape(shape)
    return _made(sizes, dtype, layout, parse_memory_config(placement)) if sizes is not None else None


def _made(shape: Shape, dtype: str, layout: str, placement: Placement | None) -> Spec | None:
    name = dtype.rpartition("::")[2].rpartition(".")[2]
    if name not in TILE_BYTES:
        return None
    sizes = (1, 1, *shape.logical)[-max(len(shape.logical), 2) :]
    return Spec(sizes, name, "TILE" in layout, placement)
