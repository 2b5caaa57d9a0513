"""Group norm on interleaved tiles: the grids and blocks that TTNN accepts, and the buffers of its program.

Rules: what TTNN 0.81.1 says when it refuses (groupnorm_device_operation.cpp of tt-metal). Buffers: equal to the byte to
what its mock devices allocate for BFLOAT16 without Welford's algorithm, with one row of cores and with several.
"""

from __future__ import annotations

from dataclasses import replace
from itertools import product
from math import ceil

from ttnn_mcp.analyses.programs.grids import Grid
from ttnn_mcp.hardware import TILE_BYTES, TILE_SIDE
from ttnn_mcp.records import dataclass

BLOCKS = 7  # buffers of a block: input and output, what is centred, squared, scaled and summed
SINGLE = 8  # buffers of one tile: scalars, means, variances
SHARED_BYTES = 16  # of a partial sum that a core sends
_TILE = TILE_BYTES["BFLOAT16"]


@dataclass(frozen=True, slots=True)
class GroupNorm:
    """GroupNormMultiCoreProgramConfig, sizes in tiles.

    Attributes:
        batches: of the input.
        rows: of tiles, all batches.
        channels: elements of the last dim.
        groups: num_groups.
        grid: core_grid.
        out_blocks: num_out_blocks.
        weights: how many of weight and bias there are.
    """

    batches: int
    rows: int
    channels: int
    groups: int
    grid: Grid
    out_blocks: int
    weights: int = 2
    device_grid: Grid | None = None

    @property
    def columns_of_cores(self) -> int:
        """Cores along the channels: the most that get whole tiles and whole groups."""
        most = max(min(self.grid[0], self.groups), 1)
        return next(
            (
                cores
                for cores in range(most, 1, -1)
                if self.channels % (cores * TILE_SIDE) == 0 and self.groups % cores == 0
            ),
            1,
        )

    @property
    def rows_of_cores(self) -> int:
        """Cores along the rows: those of a row of the grid that the channels leave over count too."""
        return self.grid[0] // self.columns_of_cores * self.grid[1]

    @property
    def block_h(self) -> int:
        """Rows of tiles that a core has of one batch."""
        return self.rows // max(self.rows_of_cores, self.batches)

    @property
    def cores(self) -> int:
        """Cores of the grid that work."""
        return self.columns_of_cores * self.rows_of_cores

    def rules(self) -> dict[str, bool]:
        """What TTNN asserts, each by its sentence, and whether it holds."""
        if min(self.grid) < 1:
            return {"at least one core": False}
        down = self.rows_of_cores
        rules = {
            f"the {down} rows of cores divide the {self.rows} rows of tiles": self.rows % down == 0,
            f"the {down} rows of cores are a multiple of the {self.batches} batches": (
                down % min(down, self.batches) == 0
            ),
        }
        if self.device_grid is not None:
            x, y = self.device_grid
            rules[f"within the worker grid {x}x{y}"] = self.grid[0] <= x and self.grid[1] <= y
        rules[f"num_out_blocks from 1 to the {self.block_h} rows of a core, or -1"] = (
            1 <= self.out_blocks <= self.block_h or self.out_blocks == -1
        )
        return rules

    @property
    def buffers(self) -> dict[str, int]:
        """Bytes per core of the circular buffers; empty where TTNN chooses the blocks."""
        if self.out_blocks < 1:
            return {}
        high, wide = max(self.block_h // self.out_blocks, 1), self._group_width
        left = self.block_h % self.out_blocks  # rows that need further rounds; TTNN counts one too many
        rounds = self.out_blocks + (left // high + 1 if left else 0)
        senders = max(self.rows_of_cores // self.batches, 1)
        partial = ceil(rounds * senders * SHARED_BYTES / _TILE) if senders > 1 else 1
        tiles = {
            "BLOCKS": BLOCKS * high * wide,
            "MASK": 2 * wide,
            "WEIGHTS": self.weights * self.channels // (self.columns_of_cores * TILE_SIDE),
            "SCALARS": SINGLE + partial,
        }
        return {name: count * _TILE for name, count in tiles.items()}

    @property
    def _group_width(self) -> int:
        """The most tiles of a row that one group reaches into."""
        size = self.channels // max(self.groups, 1)
        starts = range(0, self.channels, max(size, 1))
        return max(ceil((start % TILE_SIDE + size) / TILE_SIDE) for start in starts)


def on_most_cores(norm: GroupNorm, within: Grid, room_bytes: float) -> GroupNorm | None:
    """The norm on as many cores as may work, in as few blocks as fit the room; None where no blocks do."""
    grids = product(range(1, within[0] + 1), range(1, within[1] + 1))
    candidates = [replace(norm, grid=grid, out_blocks=1) for grid in grids]
    legal = [one for one in candidates if all(one.rules().values())]
    widest = max(legal, key=lambda one: (one.cores, -one.grid[0]))  # a single core is always legal
    halved = [replace(widest, out_blocks=1 << power) for power in range(widest.block_h.bit_length())]
    return next((one for one in halved if sum(one.buffers.values()) <= room_bytes), None)
