"""The traffic between host and device in a memory report: calls that read, write, or compute on the host."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np

from ttnn_mcp.checks.check import Evidence, Problem, Problems, WindowFacts, Words, no_saving
from ttnn_mcp.checks.shared.memory_claims import counted
from ttnn_mcp.errors import shown
from ttnn_mcp.quoting import figure
from ttnn_mcp.readers.memory.columns import Tensor
from ttnn_mcp.readers.memory.report import MemoryReport
from ttnn_mcp.readers.printed.shapes import Shape
from ttnn_mcp.records import dataclass

SLOW_COPY_BYTES_PER_NS = 1.0  # pageable host memory; pinned copies over PCIe 4.0 x16 reach 20 times as much (ours)
MIN_SHARE = 0.05  # of the window: the skill's line for a second queue; less is a token or an index (ours)
READS = ("ttnn.to_torch", "ttnn.from_device")
WRITES = ("ttnn.to_device", "ttnn.from_torch")  # their output is the tensor on the device
COPIES = "ttnn.copy_host_to_device_tensor"  # host tensor, device tensor; no output
EVENTS = ("ttnn.record_event", "ttnn.wait_for_event")  # of two queues
NO_WORK = ("deallocate", "reallocate", "as_tensor", "load_tensor", "dump_tensor")


@dataclass(frozen=True, slots=True)
class Transfer:
    """A call and the tensor that it moves."""

    operation: int
    name: str
    tensor: int
    shape: Shape
    size_bytes: int

    @property
    def elements(self) -> int:
        """Their number, without padding."""
        return self.shape.elements

    @property
    def call(self) -> str:
        """'ttnn.to_torch (operation 12)'."""
        return f"{shown(self.name)} (operation {self.operation})"

    @property
    def megabytes(self) -> str:
        """'2.00 MB'."""
        return f"{figure(self.size_bytes / 1e6, '.2f')} MB"


@dataclass(frozen=True, slots=True)
class Traffic:
    """The transfers that a problem of the window is about, at least one."""

    facts: WindowFacts
    transfers: list[Transfer]

    @property
    def size_bytes(self) -> int:
        """Of all together."""
        return sum(transfer.size_bytes for transfer in self.transfers)

    @property
    def largest(self) -> Transfer:
        """The first of the largest."""
        return max(self.transfers, key=lambda transfer: transfer.size_bytes)

    @property
    def amount(self) -> str:
        """'8.00 MB in 3 tensors'."""
        return f"{figure(self.size_bytes / 1e6, '.2f')} MB in {counted(len(self.transfers))}"

    @property
    def cells(self) -> tuple[Evidence, ...]:
        """The largest: its call and the size of its tensor."""
        source, one = self.facts.run.memory_report.path.name, self.largest
        return (
            Evidence(source=source, row=f"operations:{one.operation}", column="name", value=shown(one.name)),
            Evidence(source=source, row=f"tensors:{one.tensor}", column="size", value=one.size_bytes, unit="B"),
        )


def slow_traffic(facts: WindowFacts, transfers: list[Transfer], tell: Callable[[Traffic], Words]) -> Problems:
    """The problem of these transfers, if a slow copy of them takes MIN_SHARE of the window.

    No saving: the time of a copy depends on the card's slot, and no report has it.
    """
    traffic, rows = Traffic(facts, transfers), np.zeros(0, dtype=np.int64)
    if transfers and traffic.size_bytes / SLOW_COPY_BYTES_PER_NS >= MIN_SHARE * facts.total_ns:
        yield Problem(rows, no_saving(rows), tell=lambda _: tell(traffic), of_window=True)


def left_the_device(pattern: str, fix: str, traffic: Traffic) -> Words:
    """The words on tensors that should have stayed on the device; `pattern` says what they do instead."""
    return Words(
        claim=f"{traffic.amount} {pattern}; the largest, {traffic.largest.megabytes}, by {traffic.largest.call}",
        assumption="saves the copies and the wait for them; no report has these times, so no figure",
        evidence=traffic.cells,
        fix=fix,
        verify="capture again: no such call; host_overhead(wall_ms=<profiler off>) moves towards device_bound",
        caveat="inferred from order and size; the host's work on the tensor must move to the device too",
    )


def events_order_queues(memory: MemoryReport) -> bool:
    """Whether the run records or awaits events, as two queues need."""
    return any(name in EVENTS for name in memory.operations.names)


def reads(memory: MemoryReport) -> list[Transfer]:
    """Calls that bring a device tensor to the host, in execution order."""
    return [
        transfer
        for operation, name in _calls(memory)
        if name in READS
        for transfer in _moved(memory, operation, name, memory.inputs.of(operation))
    ]


def writes(memory: MemoryReport) -> list[Transfer]:
    """Calls that send a tensor to the device, in execution order."""
    transfers: list[Transfer] = []
    for operation, name in _calls(memory):
        if name == COPIES:
            transfers += _moved(memory, operation, name, memory.inputs.of(operation)[-1:])
        elif name in WRITES:
            transfers += _moved(memory, operation, name, memory.outputs.of(operation))
    return transfers


def round_trips(memory: MemoryReport) -> list[Transfer]:
    """Reads from the device with a later write of the same number of elements; each write counts once."""
    sent: dict[int, list[int]] = {}
    for transfer in reversed(writes(memory)):
        sent.setdefault(transfer.elements, []).append(transfer.operation)
    trips: list[Transfer] = []
    for read in reads(memory):
        later = sent.get(read.elements, [])
        while later and later[-1] < read.operation:
            later.pop()
        if later:
            later.pop()
            trips.append(read)
    return trips


def computed_on_host(memory: MemoryReport) -> list[Transfer]:
    """Calls after the first device op whose tensors are all on the host: the tensor that each makes."""
    transfers: list[Transfer] = []
    began = False
    for operation, name in _calls(memory):
        if name in (*READS, *WRITES, COPIES) or name.rpartition(".")[2] in NO_WORK:
            continue
        passed, made = (_tensors(memory, links.of(operation)) for links in (memory.inputs, memory.outputs))
        began |= any(_on_device(tensor) for tensor in made)
        if began and passed and not any(_on_device(tensor) for tensor in (*passed, *made)):
            transfers += _sized(operation, name, made[:1])
    return transfers


def _calls(memory: MemoryReport) -> Iterator[tuple[int, str]]:
    return zip(memory.operations.ids.tolist(), memory.operations.names, strict=True)


def _tensors(memory: MemoryReport, ids: tuple[int, ...]) -> list[Tensor]:
    return [tensor for tensor_id in ids if (tensor := memory.tensors.get(tensor_id)) is not None]


def _on_device(tensor: Tensor) -> bool:
    return tensor.device is not None


def _moved(memory: MemoryReport, operation: int, name: str, ids: tuple[int, ...]) -> list[Transfer]:
    """The tensors that are on the device."""
    return _sized(operation, name, [tensor for tensor in _tensors(memory, ids) if _on_device(tensor)])


def _sized(operation: int, name: str, tensors: list[Tensor]) -> list[Transfer]:
    """The tensors of known size and shape."""
    return [
        Transfer(operation, name, tensor.id, tensor.shape, tensor.size_bytes)
        for tensor in tensors
        if tensor.shape is not None and tensor.size_bytes
    ]
