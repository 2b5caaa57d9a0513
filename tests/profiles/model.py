"""What a made profile is made of: placements, tensors, device ops, and the ttnn calls that start them."""

from __future__ import annotations

from dataclasses import dataclass, field
from math import ceil, prod
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

# Bytes per 32x32 tile and per element in row major (tt-metal's tile_size()).
TILE_BYTES = {
    "BFLOAT16": 2048,
    "FLOAT32": 4096,
    "UINT32": 4096,
    "INT32": 4096,
    "UINT16": 2048,
    "UINT8": 1024,
    "INT8": 1024,
    "BFLOAT8_B": 1088,
    "BFLOAT4_B": 576,
}
ELEMENT_BYTES = {"BFLOAT16": 2, "FLOAT32": 4, "UINT32": 4, "INT32": 4, "UINT16": 2, "UINT8": 1, "INT8": 1}
BUFFER_NUMBERS = {"DRAM": 0, "L1": 1, "SYSTEM_MEMORY": 2, "L1_SMALL": 3, "TRACE": 4}
LAYOUT_NUMBERS = {"INTERLEAVED": 0, "HEIGHT_SHARDED": 1, "WIDTH_SHARDED": 2, "BLOCK_SHARDED": 3, "ND_SHARDED": 4}
ALIGNMENT = {"DRAM": 32, "TRACE": 32, "L1": 16, "L1_SMALL": 16}  # bytes of a page; Wormhole
BANK_ALIGNMENT = 32  # of addresses in a bank

CoreRange = tuple[int, int, int, int]  # first x, first y, last x, last y, both ends included


@dataclass(frozen=True)
class Placement:
    """Where a tensor lies. `shard` is (rows, columns) of one shard in elements."""

    buffer: str = "DRAM"
    memory_layout: str = "INTERLEAVED"
    grid: tuple[CoreRange, ...] = ()
    shard: tuple[int, int] | None = None
    orientation: str = "ROW_MAJOR"
    nd: bool = False  # print an NdShardSpec too, as 2026 ops do that were given one

    @property
    def cores(self) -> list[tuple[int, int]]:
        return [(x, y) for x0, y0, x1, y1 in self.grid for y in range(y0, y1 + 1) for x in range(x0, x1 + 1)]


DRAM = Placement()
L1 = Placement("L1")


def core_ranges(cores: int | tuple[int, int], width: int = 8) -> tuple[CoreRange, ...]:
    """(columns, rows) is a rectangle; a number fills rows of `width` cores from the top left."""
    if isinstance(cores, tuple):
        return ((0, 0, cores[0] - 1, cores[1] - 1),)
    rows, rest = divmod(cores, width)
    full: tuple[CoreRange, ...] = ((0, 0, width - 1, rows - 1),) if rows else ()
    return (*full, (0, rows, rest - 1, rows)) if rest else full


def sharded(
    memory_layout: str, rows: int, columns: int, cores: int | tuple[int, int], *, width: int = 8, buffer: str = "L1"
) -> Placement:
    return Placement(buffer, f"{memory_layout}_SHARDED", core_ranges(cores, width), (rows, columns))


def height_sharded(rows: int, columns: int, cores: int | tuple[int, int], *, width: int = 8) -> Placement:
    return sharded("HEIGHT", rows, columns, cores, width=width)


def width_sharded(rows: int, columns: int, cores: int | tuple[int, int], *, width: int = 8) -> Placement:
    return sharded("WIDTH", rows, columns, cores, width=width)


def block_sharded(rows: int, columns: int, cores: int | tuple[int, int], *, width: int = 8) -> Placement:
    return sharded("BLOCK", rows, columns, cores, width=width)


def round_up(number: int, step: int) -> int:
    return ceil(number / step) * step


@dataclass(eq=False, repr=False)
class Tensor:
    """`placement` None is a host tensor. One that no call makes is there before the run, as weights are."""

    id: int
    shape: tuple[int, ...]
    dtype: str = "BFLOAT16"
    layout: str = "TILE"
    placement: Placement | None = DRAM
    padded_shape: tuple[int, ...] | None = None  # row major rows may be padded too: 8[3]
    alias_of: Tensor | None = None  # a view or an in-place result: the same bytes

    def __repr__(self) -> str:
        where = f"{self.placement.buffer} {self.placement.memory_layout}" if self.placement else "host"
        return f"<tensor {self.id} {list(self.shape)} {self.dtype} {where}>"

    @property
    def padded(self) -> tuple[int, ...]:
        if self.padded_shape is not None:
            return self.padded_shape
        if self.layout != "TILE":
            return self.shape
        head, tail = self.shape[:-2], (1, 1, *self.shape)[-2:] if len(self.shape) < 2 else self.shape[-2:]
        return (*head, *(round_up(n, 32) for n in tail))

    @property
    def page_bytes(self) -> int:
        if self.layout == "TILE":
            return TILE_BYTES[self.dtype]
        size = ELEMENT_BYTES[self.dtype]
        if self.placement is None:
            return self.padded[-1] * size
        shard = self.placement.shard
        return round_up((shard[1] if shard else self.padded[-1]) * size, ALIGNMENT[self.placement.buffer])

    @property
    def pages(self) -> int:
        if self.layout == "TILE":
            return prod(self.padded) // 1024
        shard = self.placement.shard if self.placement else None
        across = ceil(self.padded[-1] / shard[1]) if shard else 1
        return prod(self.padded[:-1]) * across

    @property
    def bytes(self) -> int:
        """Bytes of the tensor alone, padding included, page alignment not."""
        if self.layout == "TILE":
            return self.pages * TILE_BYTES[self.dtype]
        return prod(self.padded) * ELEMENT_BYTES[self.dtype]

    @property
    def shard_pages(self) -> int:
        if self.placement is None or self.placement.shard is None:
            return 0
        rows, columns = self.placement.shard
        return ceil(rows / 32) * ceil(columns / 32) if self.layout == "TILE" else rows

    def bank_bytes(self, banks: int) -> int:
        """Bytes reserved in every bank (the lock-step allocator gives each the same)."""
        pages = self.shard_pages or ceil(self.pages / banks)
        return round_up(pages * self.page_bytes, ALIGNMENT[self.placement.buffer] if self.placement else 32)

    def is_in(self, buffer: str) -> bool:
        return self.placement is not None and self.placement.buffer == buffer


@dataclass(frozen=True)
class CircularBuffer:
    """`bytes` per core; one that lies `over` a tensor is its shard seen so, and adds no bytes."""

    bytes: int
    over: Tensor | None = None
    grid: tuple[CoreRange, ...] | None = None  # None: the cores of the op


Attribute = str | int | float | bool | Placement | Tensor | None


@dataclass(eq=False)
class DeviceOp:
    """One program on the device: one row of the performance report per device."""

    op_code: str
    inputs: Sequence[Tensor] = ()
    outputs: Sequence[Tensor] = ()
    kernel_ns: int | Sequence[int] = 10_000  # one for all devices, or one per device
    gap_ns: int | Sequence[int] = 1_500  # before the op
    cores: int | None = None  # None: all of the grid
    fidelity: str | None = None  # None: no compute kernel
    attributes: Mapping[str, Attribute] = field(default_factory=dict[str, Attribute])
    circular_buffers: Sequence[CircularBuffer] = ()
    risc_ns: Mapping[str, int] = field(default_factory=dict[str, int])  # BRISC, NCRISC, TRISC0 ... override
    pm_ns: tuple[int, int, int] = (1, 1, 1)  # ideal, compute, bandwidth of the performance model; 1 = unmodelled
    program_hash: int | None = None
    compile_ns: int | None = None  # gap before the op when its program is new; None: made up from the hash
    op_type: str = "tt_dnn_device"
    const_eval: bool = False


@dataclass(eq=False, repr=False)
class Call:
    """One ttnn call of the model: one operation of the memory report.

    `frees` go when the last op that reads them is done (deallocate_activation), or else at the end of the call.
    """

    id: int
    name: str
    inputs: Sequence[Tensor]
    outputs: Sequence[Tensor]
    ops: Sequence[DeviceOp]
    arguments: Mapping[str, Attribute]
    file: str
    line: int
    code: str
    seconds: float | None  # host wall time; None: never finished
    frees: Sequence[Tensor] = ()
    error: str | None = None

    def __repr__(self) -> str:
        return f"<call {self.id} {self.name}>"

    @property
    def intermediates(self) -> list[Tensor]:
        """What the call's ops write for each other: freed after the last op of the call that reads it."""
        kept = {id(tensor) for tensor in self.outputs}
        return [t for op in self.ops for t in op.outputs if id(t) not in kept]
