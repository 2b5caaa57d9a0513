"""The tables of a memory report in memory: one array per column, one small record where a single row is asked for.

In integer columns -1 stands for "the report does not say". Addresses are offsets within a bank, the same in all.
"""

from __future__ import annotations

from typing import Generic, TypeVar

from ttnn_mcp.arrays import Floats, Integers
from ttnn_mcp.readers.printed.memory_config import BUFFER_TYPES, BufferType, Placement
from ttnn_mcp.readers.printed.shapes import Shape
from ttnn_mcp.records import dataclass

T_co = TypeVar("T_co", covariant=True)


@dataclass(frozen=True, slots=True, eq=False)
class Coded(Generic[T_co]):
    """A column of few distinct texts: one code per row, -1 where there is none or it could not be read.

    Words (dtypes, layouts) have one code each; two shapes or placements of different spelling may be equal.
    """

    codes: Integers
    distinct: tuple[T_co, ...]

    def __getitem__(self, row: int) -> T_co | None:
        code = int(self.codes[row])
        return self.distinct[code] if code >= 0 else None


@dataclass(frozen=True, slots=True, eq=False)
class Operations:
    """The top-level operations in the order they ran.

    Durations are host wall seconds of a ttnn call, often under slow dispatch; never device time.
    """

    ids: Integers
    names: tuple[str, ...]
    duration_s: Floats
    """NaN where the operation never finished."""

    def __len__(self) -> int:
        return len(self.names)

    def row(self, operation: int) -> int | None:
        """The row of an operation id."""
        return _row(self.ids, operation)


@dataclass(frozen=True, slots=True)
class Tensor:
    """One tensor, for an answer. No address means: on the host, or freed when the report was written."""

    id: int
    shape: Shape | None
    dtype: str | None
    layout: str | None
    placement: Placement | None
    device: int | None
    address: int | None
    buffer: BufferType | None
    size_bytes: int | None


@dataclass(frozen=True, slots=True, eq=False)
class Tensors:
    """All tensors by ascending id; the distinct texts of 100,000 rows are parsed once."""

    ids: Integers
    shapes: Coded[Shape]
    dtypes: Coded[str]
    layouts: Coded[str]
    placements: Coded[Placement]
    devices: Integers
    addresses: Integers
    buffers: Integers
    """Codes of BUFFER_TYPES, only where there is an address: importers write DRAM for host tensors."""
    size_bytes: Integers
    """Of the whole tensor: as reported, else from shape, dtype and layout."""

    def __len__(self) -> int:
        return len(self.ids)

    def row(self, tensor: int) -> int | None:
        """The row of a tensor id."""
        return _row(self.ids, tensor)

    def get(self, tensor: int) -> Tensor | None:
        """One tensor by id."""
        row = self.row(tensor)
        if row is None:
            return None
        buffer = int(self.buffers[row])
        return Tensor(
            id=tensor,
            shape=self.shapes[row],
            dtype=self.dtypes[row],
            layout=self.layouts[row],
            placement=self.placements[row],
            device=_said(self.devices, row),
            address=_said(self.addresses, row),
            buffer=BUFFER_TYPES[buffer] if 0 <= buffer < len(BUFFER_TYPES) else None,
            size_bytes=_said(self.size_bytes, row),
        )


@dataclass(frozen=True, slots=True, eq=False)
class TensorLinks:
    """Which tensors operations take (or give), sorted by operation and index."""

    operations: Integers
    tensors: Integers

    def of(self, operation: int) -> tuple[int, ...]:
        """Tensor ids of one operation, in argument order."""
        start, stop = self.operations.searchsorted([operation, operation + 1])
        return tuple(int(tensor) for tensor in self.tensors[start:stop])


@dataclass(frozen=True, slots=True, eq=False)
class DeviceTensors:
    """The copies of mesh tensors: one row per tensor and device."""

    tensors: Integers
    devices: Integers
    addresses: Integers


@dataclass(frozen=True, slots=True, eq=False)
class RecordedLifetimes:
    """Who makes and last uses a tensor, as operation ids, sorted by tensor."""

    tensors: Integers
    producers: Integers
    last_uses: Integers


@dataclass(frozen=True, slots=True, eq=False)
class Executions:
    """The exact link to the performance report, where the report has it: GLOBAL CALL COUNT per operation."""

    operations: Integers
    devices: Integers
    chips: Integers
    """The device as the driver counts it (3.5 on); `devices` has the id of the mesh that was opened."""
    call_counts: Integers
    queues: Integers


@dataclass(frozen=True, slots=True, eq=False)
class Chunks:
    """The parts of L1 buffers, bank by bank: pages of one buffer in one bank taken together."""

    devices: Integers
    addresses: Integers
    banks: Integers
    chunk_addresses: Integers
    chunk_bytes: Integers
    page_bytes: Integers
    pages: Integers
    buffers: Integers

    def __len__(self) -> int:
        return len(self.banks)


@dataclass(frozen=True, slots=True)
class Device:
    """One device as the report describes it; sizes in bytes, None where it does not say."""

    id: int
    compute_grid_x: int | None
    compute_grid_y: int | None
    worker_l1_bytes: int | None
    l1_banks: int | None
    l1_bank_bytes: int | None
    """What tensors may use of a bank, any L1_SMALL region already taken off."""
    first_cb_address: int | None
    compute_cores: int | None
    storage_cores: int | None
    l1_bytes: int | None
    cb_limit_bytes: int | None
    """L1 of a core above its base: tensors and circular buffers share it."""

    @property
    def l1_small_bytes(self) -> int | None:
        """What `l1_small_size` carved out of each bank."""
        if self.cb_limit_bytes is None or self.l1_bank_bytes is None:
            return None
        return max(self.cb_limit_bytes - self.l1_bank_bytes, 0)


@dataclass(frozen=True, slots=True)
class OperationError:
    """An error of the run; all texts are foreign. `operation` is None where only the name is known."""

    operation: int | None
    operation_name: str
    kind: str
    message: str


def _row(ids: Integers, wanted: int) -> int | None:
    row = int(ids.searchsorted(wanted))
    return row if row < len(ids) and ids[row] == wanted else None


def _said(column: Integers, row: int) -> int | None:
    value = int(column[row])
    return value if value >= 0 else None
