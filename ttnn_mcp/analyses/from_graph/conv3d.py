"""Buffers of Conv3d on Wormhole, with a config.

tt-metal ttnn/cpp/ttnn/operations/experimental/conv3d/device/conv3d_program_factory.cpp, measured on TTNN 0.81.1 mock
devices: equal to the byte. On Blackhole rows are gathered in another way; without a config nobody prints the blocks.
"""

from __future__ import annotations

import re
from math import ceil, prod

from ttnn_mcp.analyses.from_graph.footprint import Buffers
from ttnn_mcp.analyses.from_graph.program import Program
from ttnn_mcp.hardware import DST_TILES, DST_TILES_FP32, ELEMENT_BYTES, TILE_BYTES, TILE_SIDE
from ttnn_mcp.records import dataclass

_TRIPLES = re.compile(r"array\((\d+), (\d+), (\d+)\)")
_ONE_GROUP = re.compile(r", (zeros|replicate), 1, ")
_FIELD = re.compile(r"(T_out|H_out|W_out|C_out|C_in)_block=(\d+)")
_SPLIT = re.compile(r"enable_fp32_operand_split=(1|true)")
_KERNEL, _STRIDE, _DILATION = 0, 1, 3  # places of the triples
_FIELDS, _OPERANDS = 5, 2
USABLE = 1_264_127  # bytes per core that buffers may take, at most: 1,259,520 are used, for 1,264,128 it changes
POINTS_OF_A_BANK = 2  # of a row, at least, for reads that are gathered by bank
READ_AHEAD = 500 * 1024  # bytes of the input at most: L1_PREFETCH_HARD_CAP


@dataclass(frozen=True, slots=True)
class _Blocks:
    """Tiles of the matmul that a core makes of a block, and what it needs."""

    rows: int
    inner: int
    columns: int
    patches: int
    tile: int
    partial: int
    parts: int
    """Blocks of the input's channels, which are added up over cores."""

    bias: bool

    def buffers_with(self, high: int) -> Buffers:
        """With so many rows of tiles turned into tiles at a time."""
        ahead = TILE_SIDE if self.patches % TILE_SIDE == 0 else 2 * TILE_SIDE
        gathered = min(self.patches, ahead) * self.inner * self.tile // TILE_SIDE
        sums = self.rows * self.columns
        return {
            "ROWS": gathered,
            "PATCHES": high * self.inner * self.tile,
            "WEIGHTS": self.inner * self.columns * self.tile,
            "OUT": sums * self.tile,
            "BIAS": self.columns * self.tile if self.bias else 0,
            "PARTIALS": sums * self.partial,
            "SHARED": sums * self.partial + self.tile if self.parts > 1 else 0,
        }

    def bytes_with(self, high: int) -> int:
        """All of them."""
        return sum(self.buffers_with(high).values())

    def fitted(self, most: int) -> Buffers:
        """With as many rows as the registers hold and L1 has room for."""
        heights = [
            high for high in range(1, self.rows + 1) if self.rows % high == 0 and high * self.columns <= most
        ]
        fitting = [high for high in heights if self.bytes_with(high) <= USABLE]
        return self.buffers_with(max(fitting, default=1))


def conv3d(program: Program) -> Buffers | None:
    """Bytes per core: patches in rows and in tiles, weights, sums, and the input of a block where that has room."""
    sizes = {name: int(size) for name, size in _FIELD.findall(program.settings.get("config", ""))}
    triples = [tuple(map(int, numbers)) for numbers in _TRIPLES.findall(program.attributes)]
    if len(sizes) < _FIELDS or len(triples) <= _DILATION or program.machine.arch != "wormhole_b0":
        return None
    if _SPLIT.search(program.settings["config"]) or not _ONE_GROUP.search(program.attributes):
        return None
    kernel, stride = triples[_KERNEL], triples[_STRIDE]
    outputs = tuple(sizes[f"{axis}_out"] for axis in "THW")
    channels = sizes["C_in"] or program.x.shape[-1]
    parts = ceil(program.x.shape[-1] / channels)
    patches, columns = prod(outputs), ceil((sizes["C_out"] or program.out.shape[-1]) / TILE_SIDE)
    tile = program.x.tile_bytes
    blocks = _Blocks(
        rows=ceil(patches / TILE_SIDE),
        inner=ceil(prod(kernel) * channels / TILE_SIDE),
        columns=columns,
        patches=patches,
        tile=tile,
        partial=TILE_BYTES["FLOAT32"] if program.fp32 and parts > 1 else tile,
        parts=parts,
        bias=len(program.inputs) > _OPERANDS,
    )
    taken = blocks.fitted(DST_TILES_FP32 if program.fp32 else DST_TILES)
    if prod(kernel) == 1 or set(triples[_DILATION]) != {1}:
        return taken
    field = tuple((size - 1) * step + side for size, step, side in zip(outputs, stride, kernel, strict=True))
    point = int(channels * ELEMENT_BYTES[program.x.dtype])
    room = min(READ_AHEAD, USABLE - sum(taken.values()))
    return {**taken, "READ_AHEAD": _read_ahead(program, field, point, room)}


def _read_ahead(program: Program, field: tuple[int, ...], point: int, room: int) -> int:
    """Bytes of the points that a block reads, and of rows of them that are gathered bank by bank; 0 without room.

    Rows are gathered (shards coalesced) where each is long enough for two points of every bank, and as many have room
    as there are banks.
    """
    deep, high, wide = field
    rows, row, banks = deep * high, wide * point, program.machine.dram_banks
    ahead = rows * row
    if ahead > room:
        return 0
    gathered = min(rows, (room - ahead) // row)
    is_whole = point == program.dram_row(program.x) and str(program.x.placement) == "DRAM INTERLEAVED"
    if not is_whole or wide < POINTS_OF_A_BANK * banks or gathered < min(rows, banks):
        return ahead
    return ahead + gathered * row
