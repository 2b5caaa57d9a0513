"""Laws of norms, element-wise ops and collectives."""

from __future__ import annotations

from math import ceil
from typing import Literal

from ttnn_mcp.analyses.laws.descriptions import Described, in_dram, tiles
from ttnn_mcp.analyses.laws.law import Law
from ttnn_mcp.hardware import ARCHITECTURES
from ttnn_mcp.records import dataclass

SIMPLE = ("add", "sub", "mul")


@dataclass(frozen=True, slots=True)
class NormDescription(Described):
    """A layer or RMS norm over the last dim of rows x width.

    Attributes:
        block_h: rows of tiles on a core, where it is sharded; block_w their width.
        residual: whether a second tensor is added first.
    """

    rows: int = 0
    width: int = 0
    dtype: str = ""
    in_place: str = ""
    out_place: str = ""
    block_h: int | None = None
    block_w: int | None = None
    residual: bool = False

    @property
    def dram_bytes(self) -> float:
        """Read once, written once."""
        count = tiles(self.rows) * tiles(self.width)
        reads = in_dram(self.in_place, count * (1 + self.residual), self.dtype)
        return reads + in_dram(self.out_place, count, self.dtype)


@dataclass(frozen=True, slots=True)
class ElementwiseDescription(Described):
    """An op on each element of `inputs` tensors of one size; `tiles` are those of the result."""

    kind: str = ""
    tiles: int = 0
    inputs: int = 1
    dtype: str = ""
    out_dtype: str = ""
    in_place: str = ""
    out_place: str = ""
    fused: str = ""

    @property
    def dram_bytes(self) -> float:
        """Read once, written once."""
        reads = in_dram(self.in_place, self.tiles * self.inputs, self.dtype)
        return reads + in_dram(self.out_place, self.tiles, self.out_dtype or self.dtype)


@dataclass(frozen=True, slots=True)
class CollectiveDescription(Described):
    """A collective over `devices` chips; `size` is the bytes of one chip's input, `links` are per direction."""

    kind: Literal["all_gather", "reduce_scatter", "all_reduce", ""] = ""
    devices: int = 1
    size: float = 0.0
    links: int | None = None
    topology: Literal["ring", "linear", ""] = ""


def sharded_norm(op: NormDescription) -> tuple[float, ...] | None:
    """Cores reduce their rows one by one, and exchange what they have of each."""
    if not op.block_h or not op.block_w or not op.in_place.startswith("L1") or op.residual:
        return None
    return 1.0, op.block_h / op.clock_ghz, op.block_h * op.block_w / op.clock_ghz


def interleaved_norm(op: NormDescription) -> tuple[float, ...] | None:
    """Cores read whole rows of tiles from DRAM."""
    if op.in_place != "DRAM_INTERLEAVED" or not op.usable_cores:
        return None
    core = ceil(tiles(op.rows) / op.usable_cores) * tiles(op.width)
    return 1.0, core / op.clock_ghz, op.dram_us(op.dram_bytes)


def two_tensors(op: ElementwiseDescription) -> tuple[float, ...] | None:
    """Adding and multiplying cost little: moving the tiles decides."""
    if op.kind not in SIMPLE or op.inputs != 2 or op.fused or not op.usable_cores:
        return None
    return 1.0, op.dram_us(op.dram_bytes), op.tiles / op.usable_cores / op.clock_ghz


def exponential(op: ElementwiseDescription) -> tuple[float, ...] | None:
    """The vector unit decides."""
    if op.kind != "exp" or op.inputs != 1 or not op.usable_cores:
        return None
    return 1.0, ceil(op.tiles / op.usable_cores) / op.clock_ghz


def gather(op: CollectiveDescription) -> tuple[float, ...] | None:
    """Each chip passes on what all others have; in a ring both ways."""
    payload_gb_s = ARCHITECTURES[op.chip].ethernet_payload_gb_s
    if op.kind != "all_gather" or not op.links or not op.topology or not payload_gb_s:
        return None
    lanes = op.links * (2 if op.topology == "ring" else 1)
    return 1.0, op.devices - 1.0, op.size * (op.devices - 1) / 1e3 / payload_gb_s / lanes


OTHERS = (
    Law(
        name="norm, sharded",
        formula="what stays whatever the cores; per row of tiles of a core what it costs to begin, and its tiles",
        of=NormDescription,
        terms=("us", "1000 cycles per row of tiles", "1000 cycles per tile"),
        factors=sharded_norm,
        sizes=("block_h", "block_w"),
        alike=("dtype", "in_place"),
    ),
    Law(
        name="norm, interleaved",
        formula="a start, the tiles of the busiest core, and what is read and written in DRAM",
        of=NormDescription,
        terms=("us", "1000 cycles per tile of a core", "DRAM at peak"),
        factors=interleaved_norm,
        sizes=("rows", "width", "usable_cores"),
        alike=("dtype", "residual"),
    ),
    Law(
        name="element-wise, two tensors",
        formula="a start, what is read and written in DRAM, and the tiles of a core",
        of=ElementwiseDescription,
        terms=("us", "DRAM at peak", "1000 cycles per tile of a core"),
        factors=two_tensors,
        sizes=("tiles", "usable_cores"),
        alike=("dtype", "in_place"),
    ),
    Law(
        name="exponential",
        formula="a start, and the tiles of the busiest core through the vector unit; where they lie matters little",
        of=ElementwiseDescription,
        terms=("us", "1000 cycles per tile of a core"),
        factors=exponential,
        sizes=("tiles", "usable_cores"),
        alike=("dtype", "in_place"),
    ),
    Law(
        name="all-gather",
        formula="a start, one latency per other chip, and what a chip passes on over its links",
        of=CollectiveDescription,
        terms=("us", "us per other chip", "links at peak"),
        factors=gather,
        sizes=("devices", "size", "links"),
        alike=("topology",),
    ),
)
