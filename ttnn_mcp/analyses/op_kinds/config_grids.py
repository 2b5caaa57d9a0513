"""Program configs that distribute work over fewer cores than the chip has: the work per core, now and at best."""

from __future__ import annotations

import re
from collections.abc import Callable
from math import ceil

import numpy as np

from ttnn_mcp.analyses.attribute_columns import attributes_of
from ttnn_mcp.analyses.op_kinds.few_cores import PARTITION
from ttnn_mcp.analyses.programs.attention import DEFAULT_CHUNK
from ttnn_mcp.analyses.programs.grids import Grid, grid_in, most_cores_dividing, worker_grid
from ttnn_mcp.analyses.programs.minimal_matmul import dealt
from ttnn_mcp.arrays import Floats
from ttnn_mcp.hardware import TILE_SIDE
from ttnn_mcp.readers.printed.nesting import PrintedStruct
from ttnn_mcp.records import dataclass
from ttnn_mcp.run.chip import Chip
from ttnn_mcp.run.iterations import signatures
from ttnn_mcp.run.ops.alike import numbered
from ttnn_mcp.run.ops.op_names import canonical, family
from ttnn_mcp.run.ops.op_table import OpTable

MINIMAL = "MinimalMatmul"
MATMULS = ("Matmul", "Linear", "SparseMatmul", MINIMAL)
MOST_COLUMNS = {"blackhole": 11}  # tt-metal stays below its 12 and 13 columns: current transients
LESS_WORK = 0.9  # of the work per core: a gain of under a tenth is hard to tell from noise (domain practice)
# tiles of N per core, from which on more cores cost sparse matmuls time: 24 cores with 2 took 569 us a layer, 48 with 1
# 606 (North-Mini's port in tt-metal); DeepSeek's best in tt-xla had 63 with 2 (E31)
SPARSE_COLUMNS = 2
# rows of tiles and share of the grid: over 64 rows 32 of 64 cores were the best of a sweep, for 2048 and 4096 columns
# alike (Qwen3-TTS on N300, tt-metal's MATMUL_SWEEP_N300.md)
SHORT, ENOUGH = 2, 0.5
_ELSEWHERE = re.compile(r"Decode|MLA|Ring", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Deal:
    """Work per core, in tiles of M and N (attention: chunks of queries, and 1): now, and if the whole grid is used."""

    per_core: tuple[int, int]
    could_be: tuple[int, int]
    grid: Grid
    padded_n: int = 0  # tiles that N must be padded to, so that all columns of a 2D config get as many; 0: none

    @property
    def share(self) -> float:
        """The share of the work per core that the whole grid would leave; 1 if the config cannot be improved."""
        return min(self.could_be[0] * self.could_be[1] / (self.per_core[0] * self.per_core[1]), 1.0)


def able_grid(chip: Chip) -> Grid | None:
    """The grid that advice gives an op: all of the chip's, with no more columns than tt-metal itself uses."""
    device = worker_grid(chip)
    return device and _able(device, chip)


def _able(device: Grid, chip: Chip) -> Grid:
    return min(device[0], MOST_COLUMNS.get(chip.arch or "", device[0])), device[1]


def deal_of(ops: OpTable, row: int, chip: Chip) -> Deal | None:
    """How the config of the matmul or attention at `row` distributes it; None if shards or the caller chose cores."""
    device, attributes = worker_grid(chip), attributes_of(ops).row(row)
    is_minimal = canonical(ops.texts("op_code")[row]) == MINIMAL
    config = attributes.struct("config" if is_minimal else "program_config")
    if (
        device is None
        or config is None
        or attributes.text_of(*PARTITION) is not None
        or config.text_of("sub_core_grids")
    ):
        return None
    grid = _able(device, chip)
    if family(ops.texts("op_code")[row]) == "attention":
        return _attention(ops, row, config, grid)
    if is_minimal:
        return _minimal(ops, row, config, grid)
    if ops.inputs[0].sharded[row] or ops.outputs[0].sharded[row]:
        return None
    return _matmul(ops, row, config, grid, device)


def shares_left(ops: OpTable, chip: Chip) -> Floats:
    """`Deal.share` per op; 1 if unknown."""
    return _of_deals(ops, chip, lambda deal: deal.share, unknown=1.0)


def padded_columns(ops: OpTable, chip: Chip) -> Floats:
    """`Deal.padded_n` per op; 0 if unknown."""
    return _of_deals(ops, chip, lambda deal: deal.padded_n, unknown=0.0)


def _of_deals(ops: OpTable, chip: Chip, number: Callable[[Deal], float], *, unknown: float) -> Floats:
    """A number of each op's deal. Computed once for ops of equal signature and attributes."""
    numbers = np.full(len(ops), unknown)
    if not ops.inputs or not ops.outputs:
        return numbers
    of_kind = ops.texts("op_code").where(lambda text: canonical(text) in MATMULS or family(text) == "attention")
    rows = np.flatnonzero(of_kind & ops.inputs[0].present & ops.outputs[0].present)
    alike = numbered(len(ops), [signatures(ops), ops.texts("attributes").codes])[rows]
    _, firsts, kinds = np.unique(alike, return_index=True, return_inverse=True)
    deals = [deal_of(ops, int(rows[first]), chip) for first in firsts]
    numbers[rows] = np.array([number(deal) if deal else unknown for deal in deals])[kinds]
    return numbers


def _attention(ops: OpTable, row: int, config: PrintedStruct, grid: Grid) -> Deal | None:
    """Chunks of queries of all heads, distributed one by one.

    Decode distributes its cache, but the report does not show it. Rings keep cores for the exchange between devices.
    """
    cores = printed_cores(config)
    if _ELSEWHERE.search(ops.texts("op_code")[row]):
        return None
    query = ops.inputs[0].logical[row]
    chunks = int(query[:2].prod()) * ceil(int(query[2]) / (config.number("q_chunk_size") or DEFAULT_CHUNK))
    if not cores or not chunks:
        return None
    return Deal((ceil(chunks / cores), 1), (ceil(chunks / (grid[0] * grid[1])), 1), grid)


def printed_cores(config: PrintedStruct) -> int:
    """The cores of compute_with_storage_grid_size; 0 where it is not printed."""
    grid = grid_in(config)
    return grid[0] * grid[1] if grid else 0


def tiles_of(ops: OpTable, row: int) -> tuple[int, int]:
    """Tiles of M, of all batches, and of N of a minimal_matmul."""
    return ceil(int(ops.inputs[0].height[row]) / TILE_SIDE), ceil(int(ops.outputs[0].padded[row, 3]) / TILE_SIDE)


def _minimal(ops: OpTable, row: int, config: PrintedStruct, grid: Grid) -> Deal | None:
    now = grid_in(config)
    m, n = tiles_of(ops, row)
    return Deal(dealt(m, n, now), dealt(m, n, grid), grid) if now else None


def _matmul(ops: OpTable, row: int, config: PrintedStruct, grid: Grid, device: Grid) -> Deal | None:
    """1D configs distribute one side over all cores, 2D ones M over rows and N over columns.

    A 2D one may have more columns of the device if it leaves rows for them: no more cores work then. On 12 x 8 of the
    12 x 10 cores of a Blackhole five matmuls took 328 us, on 8 x 8 of them 440 (tt-metal, pplx-embed-4b).
    """
    per_m, per_n = config.number("per_core_M"), config.number("per_core_N")
    if not per_m or not per_n or not _deals(config):
        return None
    is_sparse = canonical(ops.texts("op_code")[row]) == "SparseMatmul"
    if is_sparse and per_n <= SPARSE_COLUMNS:
        return None
    x, out = ops.inputs[0].padded[row], ops.outputs[0].padded[row]
    high = int(x[2]) if config.number("fuse_batch") == 0 else int(x[:3].prod())
    m, n = ceil(high / TILE_SIDE), ceil(int(out[3]) / TILE_SIDE)
    cores = grid[0] * grid[1]
    if "1D" not in config.name:
        grids = [grid, *((wide, cores // wide) for wide in range(grid[0] + 1, device[0] + 1))]
        grid = min(grids, key=lambda able: ceil(m / able[1]) * ceil(n / able[0]))
        could = ceil(m / grid[1]), ceil(n / grid[0])
    elif config.number("mcast_in0"):
        if m <= SHORT and ceil(n / per_n) >= ENOUGH * cores:
            return None
        # sparse_matmul multicasts to all of its grid, so all of it must have work
        grid = (most_cores_dividing(n, grid) or grid) if is_sparse else grid
        could = per_m, ceil(n / (grid[0] * grid[1]))
    else:
        could = ceil(m / cores), per_n
    uneven = "1D" not in config.name and n % could[1]
    return Deal((per_m, per_n), could, grid, padded_n=-(-n // could[1]) * could[1] if uneven else 0)


def _deals(config: PrintedStruct) -> bool:
    """Whether a multicast config chose its cores freely: rings, DRAM-sharded and transposed grids did not."""
    others = config.number("gather_in0") or config.number("transpose_mcast") or "DRAMSharded" in config.name
    return "MultiCast" in config.name and not others
