"""The program that TTNN chooses for a matmul without a program config, as far as L1 depends on it, and its cores.

tt-metal ttnn/cpp/ttnn/operations/matmul/device: config/matmul_program_config.cpp (generate_matmul_program_config and
what it calls) and utilities/matmul_utilities.cpp (get_estimated_size_of_cbs, get_max_l1_space), as of 0.81.1.
"""

from __future__ import annotations

from dataclasses import replace
from math import ceil, gcd
from typing import Literal

from ttnn_mcp.analyses.programs.chosen_matmul import chosen_in_dram, is_narrow, one_sided
from ttnn_mcp.analyses.programs.grids import Grid
from ttnn_mcp.hardware import TILE_BYTES
from ttnn_mcp.readers.graph.specs import Spec
from ttnn_mcp.readers.printed.memory_config import Placement
from ttnn_mcp.records import dataclass
from ttnn_mcp.run.ops.op_table import OpTable
from ttnn_mcp.run.ops.operand import Operand

IN_DRAM = Placement("INTERLEAVED", "DRAM")
IN_L1 = Placement("INTERLEAVED", "L1")
BIAS = 2  # place of the bias among the inputs
SIMPLE_FACTORS = (16, 8, 4, 2)  # tried for per_core_M and per_core_N, largest first
_SPECS = 3  # of a matmul: two operands and the output
GIVEN_GRID_K = 4  # tiles of K tried first with a core grid


@dataclass(frozen=True, slots=True)
class Blocks:
    """The fields of a program config that L1 depends on, in tiles. "Tiles" means one tile at a time, without reuse."""

    kind: Literal["2D", "1D", "Reuse", "Tiles"]
    in0_block_w: int = 1
    per_core_m: int = 1
    per_core_n: int = 1
    block_h: int = 1
    block_w: int = 1
    mcast_in0: bool = False


@dataclass(frozen=True, slots=True)
class Chooser:
    """A matmul for which TTNN chooses the program.

    Attributes:
        a, b: its operands, not transposed; out: its output.
        grid: columns and rows of the cores that it may use.
        room: bytes of L1 below the lowest tensor.
        fp32: whether sums are kept in FLOAT32.
        bias_bytes: of a tile of the bias.
        given_grid: whether the caller set the cores.
        turned: whether the first operand is transposed, by way of a buffer more.
    """

    a: Spec
    b: Spec
    out: Spec
    grid: Grid
    room: int
    fp32: bool = False
    bias_bytes: int = 0
    given_grid: bool = False
    turned: bool = False

    def blocks(self) -> Blocks | None:
        """TTNN's choice; None if it is not modelled. It passes a core grid over where the first operand has shards."""
        placements = [spec.placement for spec in (self.a, self.b, self.out) if spec.placement is not None]
        if len(placements) < _SPECS or self.b.sharded_in_l1:
            return None
        if not all(self.grid):  # of a damaged setting
            return None
        if self.a.sharded_in_l1:
            return self._sharded(placements[0])
        if self.a.batch == 1 and self.b.batch > 1:  # refused with a grid
            return self._one_side(mcast_in0=False)
        return self._for_grid(placements) if self.given_grid else self._simple(placements)

    def _simple(self, placements: list[Placement]) -> Blocks | None:
        """Interleaved operands, no settings: create_simple_matmul_program_config."""
        a, b, (x, y), layout = self.a, self.b, self.grid, placements[-1].layout
        interleaved = not any(placement.sharded for placement in placements)
        all_dram = interleaved and all(placement.buffer == "DRAM" for placement in placements)
        narrow = is_narrow(a.rows, b.columns, small=all_dram)
        wide = narrow and b.columns > a.rows
        factor = next((size for size in SIMPLE_FACTORS if self._estimate(size, size, 2) < self.room), 1)
        down, across = ceil(a.rows / factor), ceil(b.columns / factor)
        block_w = 2
        if (not interleaved or down > 1 or across > 1) and a.columns % 2:
            block_w = 1
        if not all_dram and (down * across > x * y or a.columns % block_w):
            return Blocks("Tiles")
        if all_dram and not narrow:
            chosen = chosen_in_dram(a.rows, a.columns, b.columns, self.grid)
            return self._fitted("2D", chosen.per_core_m, chosen.per_core_n, chosen.in0_block_w, narrower_k=True)
        several = (down, across) != (1, 1) and down <= y and across <= x
        if layout == "BLOCK_SHARDED":  # a core computes the shard that it holds
            shard = self.out.shard
            return Blocks("2D", block_w, *shard, *shard) if shard is not None else None
        if wide or (several and down == 1) or layout == "WIDTH_SHARDED":
            return self._one_side(mcast_in0=True)
        if narrow or (several and across == 1) or layout == "HEIGHT_SHARDED":
            return self._one_side(mcast_in0=False)
        return Blocks("2D", block_w, factor, factor, factor, factor) if several else Blocks("Tiles")

    def _one_side(self, *, mcast_in0: bool) -> Blocks:
        """One side is divided over all cores."""
        chosen = one_sided(self.a.rows, self.a.columns, self.b.columns, self.grid, mcast_in0=mcast_in0)
        return self._fitted("1D", chosen.per_core_m, chosen.per_core_n, chosen.in0_block_w, mcast_in0=mcast_in0)

    def _for_grid(self, placements: list[Placement]) -> Blocks | None:
        """With a core grid: create_matmul_program_config."""
        a, b, (x, y) = self.a, self.b, self.grid
        if b.batch > 1:
            fits = self._estimate(a.rows, b.columns, 1) < self.room
            return Blocks("Reuse", 1, a.rows, b.columns, a.rows, b.columns) if fits else self._simple(placements)
        rows = a.batch * a.rows
        if 1 in (a.rows, a.columns, b.columns) or is_narrow(rows, b.columns, small=False):
            return self._systolic(rows)
        k = next(size for size in range(GIVEN_GRID_K, 0, -1) if a.columns % size == 0)
        return self._fitted("2D", ceil(rows / y), max(ceil(b.columns / x), 1), k)

    def _systolic(self, rows: int) -> Blocks:
        """create_matmul_1d_systolic_array_program_config."""
        cores, tall = self.grid[0] * self.grid[1], rows > self.b.columns
        k = ceil(self.a.columns / cores)
        while self.a.columns % k:
            k -= 1
        per_m, per_n = (ceil(rows / cores), self.b.columns) if tall else (rows, ceil(self.b.columns / cores))
        return self._fitted("1D", per_m, per_n, k, mcast_in0=not tall)

    def _sharded(self, placement: Placement) -> Blocks | None:
        """A sharded first operand: get_matmul_program_config."""
        a, b, shard = self.a, self.b, self.a.shard
        if shard is None or b.batch > 1:
            return None
        high, wide = shard
        cores, layout = placement.cores or 1, placement.layout
        k = gcd(wide, a.columns)
        if layout == "WIDTH_SHARDED":
            return self._fitted("1D", a.batch * a.rows, ceil(b.columns / cores), k, mcast_in0=True)
        if layout == "HEIGHT_SHARDED":
            blocks = self._fitted("1D", high, b.columns, a.columns)
            whole = blocks.block_w == b.columns  # a shard of the output that is cut takes more than these
            return blocks if blocks.block_h == high and (whole or not self.out.sharded_in_l1) else None
        across = ceil(a.columns / max(wide, 1))
        down = ceil(a.batch * a.rows / max(high, 1))
        per_m = ceil(a.batch * a.rows / down)
        return self._fitted("2D", per_m, ceil(b.columns / across), k if a.columns % across == 0 else 1)

    def _fitted(
        self,
        kind: Literal["2D", "1D"],
        per_m: int,
        per_n: int,
        k: int,
        *,
        mcast_in0: bool = False,
        narrower_k: bool = False,
    ) -> Blocks:
        """get_multi_dim_per_core_factor: the largest output block that fits, then the largest block of K."""
        widths = [size for size in range(k, 0, -1) if k % size == 0] if narrower_k else [k]
        for high, wide in _shares(per_m, per_n):
            for width in widths:
                if self._estimate(high, wide, width) < self.room:
                    return Blocks(kind, width, per_m, per_n, high, wide, mcast_in0)
        return Blocks(kind, k, per_m, per_n, 1, 1, mcast_in0)

    def _estimate(self, rows: int, columns: int, width: int) -> int:
        """get_estimated_size_of_cbs."""
        a, b = self.a.tile_bytes, self.b.tile_bytes
        partial = TILE_BYTES["FLOAT32"] if self.fp32 else max(TILE_BYTES["BFLOAT16"], self.out.tile_bytes)
        shard = self.a.shard if self.a.sharded_in_l1 else None
        copied = rows * shard[1] * a if shard else 0
        inputs = 2 * width * (rows * a * (2 if self.turned else 1) + columns * b)
        return inputs + rows * columns * (a + partial) + columns * self.bias_bytes + copied


def _shares(per_m: int, per_n: int) -> list[tuple[int, int]]:
    """Output blocks, the largest first; among equal ones the squarest first."""
    best: dict[int, tuple[int, int]] = {}
    for high in _divisors(per_m):
        for wide in _divisors(per_n):
            known = best.get(high * wide)
            if known is None or max(high, wide) / min(high, wide) <= max(known) / min(known):
                best[high * wide] = (high, wide)
    return [best[size] for size in sorted(best, reverse=True)]


def _divisors(number: int) -> list[int]:
    """In the order in which TTNN tries them: the number, 1, then descending."""
    smaller = [size for size in range(number // 2, 1, -1) if number % size == 0]
    return [number, *([1] if number > 1 else []), *smaller]


def chooser_of(ops: OpTable, row: int, grid: Grid, l1_bytes: int, *, given_grid: bool = False) -> Chooser | None:
    """TTNN's choice for the matmul at `row` as it lies; None with sharded operands or unknown data types."""
    specs = [_spec(operand, row) for operand in (*ops.inputs[:BIAS], *ops.outputs[:1])]
    known = [spec for spec in specs if spec is not None]
    if len(known) < len(("a", "b", "out")):
        return None
    bias_bytes = sum(TILE_BYTES.get(bias.dtype[row], 0) for bias in ops.inputs[BIAS : BIAS + 1])
    a, b, out = known
    return Chooser(a, b, out, grid, l1_bytes, bias_bytes=bias_bytes, given_grid=given_grid)


def moved_to(chooser: Chooser, placement: Placement) -> Chooser:
    """The same matmul with both operands and the output placed elsewhere."""
    a, b, out = (replace(spec, placement=placement) for spec in (chooser.a, chooser.b, chooser.out))
    return replace(chooser, a=a, b=b, out=out)


def cores_of(chooser: Chooser) -> int | None:
    """The cores that the chosen program works on; None where the choice is not modelled."""
    blocks = chooser.blocks()
    if blocks is None:
        return None
    most = chooser.grid[0] * chooser.grid[1]
    return min(_pieces(chooser, blocks), most)


def _pieces(chooser: Chooser, blocks: Blocks) -> int:
    """Blocks of the output, one for each core."""
    a, b = chooser.a, chooser.b
    rows = a.batch * a.rows if chooser.given_grid and b.batch == 1 else a.rows
    down, across = ceil(rows / blocks.per_core_m), ceil(b.columns / blocks.per_core_n)
    return (a.batch if blocks.kind in ("Tiles", "Reuse") else 1) * down * across


def _spec(operand: Operand, row: int) -> Spec | None:
    """The operand as a tensor; None where it is absent or lost, sharded, or of a data type without tiles."""
    if not operand.present[row] or operand.sharded[row] or operand.dtype[row] not in TILE_BYTES:
        return None
    placement = IN_L1 if operand.in_l1[row] else IN_DRAM
    return Spec(
        tuple(int(size) for size in operand.padded[row]), operand.dtype[row], tiled=True, placement=placement
    )
