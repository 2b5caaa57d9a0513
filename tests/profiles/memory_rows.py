"""The rows of a memory report, table by table, as the writers of each schema generation put them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from .chunks import chunk_rows, page_rows
from .graph import graph_text
from .model import BUFFER_NUMBERS, LAYOUT_NUMBERS, Tensor
from .replay import Replay
from .schema import is_imported, since, tables
from .text import attribute_text, memory_config_text, shape_text

if TYPE_CHECKING:
    from collections.abc import Collection

    from .model import Attribute, Call
    from .program import Program

Cell = str | int | float | None
TableRows = dict[str, list[tuple[Cell, ...]]]


@dataclass(frozen=True)
class DatabaseStyle:
    """What varies between captures of one generation."""

    tensor_sizes: bool = False  # tensors.size, whole-tensor bytes
    text_buffer_types: bool = False  # 'L1' instead of 1
    graph: str | None = None  # one of graph.STYLES; None: as of the generation
    stack_traces: bool = True
    arguments: bool = True
    captured_graph: bool = True
    detailed: Collection[int] | Literal["all"] = ()  # ids of the calls whose L1 pages or chunks are written
    unranked: Collection[str] = ()  # tables without the rank column that the generation gives them
    page_bytes: int = 4096  # of the SQLite file
    timestamp_ns: int = 1_767_225_600_000_000_000


STYLE = DatabaseStyle()


def text_era(generation: str) -> str:
    """Which way of printing memory configs and shapes a generation's writers had."""
    if not since(generation, "G3"):
        return "2024"
    return "2026" if is_imported(generation) else "2025"


class ReportRows:
    """The rows of one rank."""

    def __init__(self, program: Program, generation: str, style: DatabaseStyle) -> None:
        self.program = program
        self.replay = Replay(program)
        self.generation = generation
        self.style = style
        self.era = text_era(generation)
        self.imported = is_imported(generation)
        self.rows: TableRows = {name: [] for name in tables(generation)}

    def _buffer_type(self, buffer: str) -> Cell:
        return buffer if self.style.text_buffer_types else BUFFER_NUMBERS[buffer]

    def collect(self) -> TableRows:
        self._devices()
        self._tensors()
        for call in self.program.calls:
            self._call(call)
            self._buffers(call)
        if "tensor_lifetime" in self.rows:
            self._lifetimes()
        return {name: rows for name, rows in self.rows.items() if rows}

    def _devices(self) -> None:
        device, bank = self.program.device, self.replay.l1_bank_bytes
        columns, rows = device.grid
        for number in range(self.program.devices):
            self.rows["devices"].append(
                (
                    number, rows, columns, rows, columns, device.worker_l1_bytes, device.cores, bank, 0,
                    device.first_l1_address, 1, device.cores, 0, device.cores * device.worker_l1_bytes, 0,
                    device.cores * bank, device.cores * bank, device.cb_limit,
                )
            )  # fmt: skip

    def _tensors(self) -> None:
        inside = {id(t) for call in self.program.calls for t in call.intermediates}
        for tensor in self.program.tensors:
            if id(tensor) in inside and not self.imported:
                continue  # written during the run, only what calls take and return is seen
            where, address = tensor.placement, self.replay.addresses.get(tensor)
            # The importer stores 0, which reads as DRAM, for a host tensor's buffer type.
            absent = self._buffer_type("DRAM") if self.imported else None
            row: list[Cell] = [
                tensor.id,
                shape_text(tensor, self.era),
                f"DataType.{tensor.dtype}",
                f"Layout.{tensor.layout}",
                memory_config_text(where, self.era) if where else None,
                0 if where else None,
                address,
                self._buffer_type(where.buffer) if where else absent,
            ]
            self.rows["tensors"].append((*row, tensor.bytes) if self.style.tensor_sizes else tuple(row))
            if where and "device_tensors" in self.rows:
                self.rows["device_tensors"] += [(tensor.id, n, address) for n in range(self.program.devices)]

    def _call(self, call: Call) -> None:
        add = self.rows
        add["operations"].append((call.id, call.name, call.seconds))
        add["input_tensors"] += [(call.id, index, t.id) for index, t in enumerate(call.inputs)]
        if call.seconds is not None:
            add["output_tensors"] += [(call.id, index, t.id) for index, t in enumerate(call.outputs)]
        if self.style.arguments:
            for index, (name, value) in enumerate(call.arguments.items()):
                shown = "0" if index == 0 and not self.imported else name
                add["operation_arguments"].append((call.id, shown, self._argument(value)))
        if self.style.stack_traces:
            trace = stack_trace(call, self.imported)
            if self.generation == "G5a-first":
                add["stack_traces"].append((call.id, call.id * 100, call.name, trace))
            else:
                add["stack_traces"].append((call.id, trace, 1) if "source_files" in add else (call.id, trace))
        if "captured_graph" in add and self.style.captured_graph:
            add["captured_graph"].append((call.id, graph_text(self.replay, call, self._graph_style(), self.era)))
        if self.imported:
            add["nodes"].append(
                (call.id if since(self.generation, "3.0") else 0, call.id * 100, call.id, call.name)
            )
        if call.seconds is None and "errors" in add:
            add["errors"].append(self._error(call))

    def _argument(self, value: Attribute) -> str:
        return "None" if value is None else attribute_text(value, self.era)

    def _graph_style(self) -> str:
        by_generation = "2024" if self.generation == "G2" else "2026" if self.imported else "2025"
        return self.style.graph or by_generation

    def _error(self, call: Call) -> tuple[Cell, ...]:
        if not self.imported:
            return (
                call.id, call.name, "RuntimeError", call.error, f"Traceback ...\n{call.error}",
                "2025-11-04 10:22:31.123456",
            )  # fmt: skip
        message = f"Operation '{call.name}' started but never completed (likely crashed)"
        if len(tables(self.generation)["errors"].split(",")) == 4:
            return (0, "incomplete_operation", message, call.name)
        return (0, call.name, "incomplete_operation", message, "", "")

    def _buffers(self, call: Call) -> None:
        """What is live after the call: tensors only, no circular buffers, nothing freed inside the call."""
        has_layout = "buffer_layout" in tables(self.generation)["buffers"]
        detailed = self.style.detailed == "all" or call.id in self.style.detailed
        for tensor in self.replay.after[call]:
            where, address = tensor.placement, self.replay.addresses[tensor]
            if where is None:
                continue
            layout = (LAYOUT_NUMBERS[where.memory_layout],) if has_layout else ()
            for n in range(self.program.devices):
                self.rows["buffers"].append(
                    (call.id, n, address, self.replay.bank_bytes(tensor), self._buffer_type(where.buffer), *layout)
                )
                if detailed and where.buffer == "L1":
                    self._pages(call.id, n, tensor)

    def _pages(self, operation: int, device: int, tensor: Tensor) -> None:
        chunked = "buffer_chunks" in self.rows
        self.rows["buffer_chunks" if chunked else "buffer_pages"] += (chunk_rows if chunked else page_rows)(
            tensor,
            operation=operation,
            device=device,
            address=self.replay.addresses[tensor],
            banks=self.replay.banks_of(tensor),
            columns=self.program.device.grid[0],
        )

    def _lifetimes(self) -> None:
        producers = {t: (call, i) for call in self.program.calls for i, t in enumerate(call.outputs)}
        for call in self.program.calls:
            self.rows["tensor_consumers"] += [(t.id, call.id, i) for i, t in enumerate(call.inputs)]
            if call.seconds is not None:
                self.rows["tensor_producers"] += [(t.id, call.id, i) for i, t in enumerate(call.outputs)]
        for tensor in self.program.tensors:
            producer = producers[tensor][0] if tensor in producers else None
            used, freed = self.replay.last_use(tensor), self.replay.freed_by.get(tensor)
            explicit = freed if freed and freed.name == "ttnn.deallocate" else None
            self.rows["tensor_lifetime"].append(
                (
                    tensor.id,
                    *(c.id if c else None for c in (producer, used, explicit)),
                    *_where(producer),
                    *_where(used),
                )
            )


def _where(call: Call | None) -> tuple[Cell, Cell]:
    return (call.file, call.line) if call else (None, None)


def stack_trace(call: Call, imported: bool) -> str:
    """Innermost frame first, as both writers have it; the inline one ends its frames with a blank line."""
    frames = (
        f'  File "{call.file}", line {call.line}, in forward\n    {call.code}',
        '  File "/home/user/tt-metal/models/made/demo.py", line 88, in run\n    out = model.forward(x)',
    )
    return "\n".join(frames) if imported else "\n\n".join(frames) + "\n"
