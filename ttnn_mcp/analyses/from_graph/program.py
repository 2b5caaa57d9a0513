"""A program and its chip, as the memory report describes them, and what it takes of a core's L1, buffer by buffer."""

from __future__ import annotations

from collections.abc import Mapping

from ttnn_mcp.analyses.memory.left_out import Room
from ttnn_mcp.analyses.programs.grids import Grid
from ttnn_mcp.hardware import CARDS, DRAM_ALIGNMENT_BYTES, ELEMENT_BYTES, filled_up
from ttnn_mcp.readers.graph.launches import Launch
from ttnn_mcp.readers.graph.specs import Spec
from ttnn_mcp.readers.memory.report import MemoryReport
from ttnn_mcp.records import dataclass

CALL = "call"  # the setting that holds the name of the operation

Buffers = dict[str, int]
"""Bytes per core of the circular and dataflow buffers and scratchpads that lie on no tensor, by what they hold."""


class AtMost(Buffers):
    """Buffers whose sizes follow from what no graph prints: the most that they can be."""


@dataclass(frozen=True, slots=True)
class Footprint:
    """A program on its fullest core.

    Attributes:
        program: its device op.
        buffers: name and bytes of each, the largest first.
        exact: whether TTNN takes as much to the byte; else the most that it takes.
    """

    program: str
    buffers: tuple[tuple[str, int], ...]
    exact: bool = True

    @property
    def total(self) -> int:
        """Bytes per core."""
        return sum(size for _, size in self.buffers)


def footprint_of(program: str, buffers: Buffers) -> Footprint:
    """The record of what a model tells."""
    held = sorted(((name, int(size)) for name, size in buffers.items() if size), key=lambda named: -named[1])
    return Footprint(program, tuple(held), exact=not isinstance(buffers, AtMost))


@dataclass(frozen=True, slots=True)
class Machine:
    """A chip.

    Attributes:
        grid: columns and rows of its worker cores.
        arch: 'wormhole_b0' or 'blackhole'; None if unknown.
        dram_banks: their number; 0 if unknown.
        bank_bytes: L1 of a core above the first program buffer, L1_SMALL not counted.
        chips: of the mesh.
        small_bytes: L1_SMALL of a core.
    """

    grid: Grid
    arch: str | None
    dram_banks: int
    bank_bytes: int
    chips: int = 1
    small_bytes: int = 0

    @property
    def cores(self) -> int:
        """Their number."""
        return self.grid[0] * self.grid[1]

    @property
    def aligned(self) -> int:
        """Bytes that rows in DRAM are aligned to, of an unknown chip as on Wormhole."""
        return DRAM_ALIGNMENT_BYTES.get(self.arch or "", DRAM_ALIGNMENT_BYTES["wormhole_b0"])


@dataclass(frozen=True, slots=True)
class Program:
    """A program to be modelled.

    Attributes:
        launch: its device op, with at least one operand and one output.
        room: the L1 that is free for it.
        machine: its chip.
        settings: the printed arguments of the call that decide its program, and its name under `CALL`.
    """

    launch: Launch
    room: Room
    machine: Machine
    settings: Mapping[str, str]

    @property
    def inputs(self) -> tuple[Spec, ...]:
        """Its operands."""
        return self.launch.inputs

    @property
    def outputs(self) -> tuple[Spec, ...]:
        """Its outputs."""
        return self.launch.outputs

    @property
    def x(self) -> Spec:
        """Its first operand."""
        return self.launch.inputs[0]

    @property
    def out(self) -> Spec:
        """Its first output."""
        return self.launch.outputs[0]

    def dram_row(self, spec: Spec) -> int:
        """Bytes of a row of elements, as rows are stored in DRAM."""
        return filled_up(spec.shape[-1] * ELEMENT_BYTES[spec.dtype], self.machine.aligned)

    @property
    def attributes(self) -> str:
        """As printed."""
        return self.launch.attributes

    @property
    def factory(self) -> str:
        """The last name of its program factory; empty before TTNN 0.78."""
        return self.launch.factory

    @property
    def config(self) -> str:
        """The printed program config of the call; empty without one."""
        return self.settings.get("program_config", "")

    @property
    def is_printed(self) -> bool:
        """Whether the graph prints its attributes: graphs until 0.67 do not."""
        return "unsupported type" not in self.launch.attributes

    @property
    def fp32(self) -> bool:
        """Whether its kernels accumulate in FLOAT32, as printed."""
        return "fp32_dest_acc_en=1" in self.launch.attributes

    @property
    def packer_l1(self) -> bool:
        """Whether sums are kept in L1, TTNN's default for a matmul."""
        return "packer_l1_acc=1" in self.launch.attributes or not self.is_printed


def machine_of(report: MemoryReport) -> Machine | None:
    """The chip of a report; None if it describes none."""
    device = next(iter(report.devices), None)
    if device is None or not device.compute_grid_x or not device.compute_grid_y:
        return None
    grid = (device.compute_grid_x, device.compute_grid_y)
    banks = max((card.dram_banks for card in CARDS if card.architecture == report.arch), default=0)
    small = device.l1_small_bytes or 0
    return Machine(grid, report.arch, banks, device.l1_bank_bytes or 0, len(report.devices), small)
