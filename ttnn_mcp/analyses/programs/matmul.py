"""A matmul with a program config: the rules that TTNN asserts, and the buffers of its programs on each core.

Rules: tt-metal ttnn/cpp/ttnn/operations/matmul/device/matmul_device_operation.cpp.
Buffers: the factories beside it (matmul_multicore_reuse_mcast_2d, _mcast_1d, _optimized). Both were compared with
TTNN 0.81.1 on mock devices of Wormhole and Blackhole: verdicts and bytes agree.
"""

from __future__ import annotations

from dataclasses import replace
from math import ceil

from ttnn_mcp.analyses.programs.matmul_config import widest_subblock
from ttnn_mcp.analyses.programs.matmul_shards import MatmulAsked, operand_rules, output_rules
from ttnn_mcp.hardware import DST_TILES, DST_TILES_FP32, TILE_BYTES
from ttnn_mcp.records import dataclass


@dataclass(frozen=True, slots=True)
class MatmulPlan(MatmulAsked):
    """A matmul and its program config, its rules and its buffers."""

    @property
    def out_block(self) -> tuple[int, int]:
        """Rows and columns of the output, in tiles, that a core computes at a time."""
        return self.block_h or self.per_core_m, self.block_w or self.per_core_n

    @property
    def buffers(self) -> dict[str, int]:
        """Bytes per core of the circular (since 0.81 dataflow) buffers that are no tensors."""
        rows, columns = self.out_block
        steps = max(self.tiles.k // self.in0_block_w, 1)
        # a single block leaves nothing to read ahead, but "Reuse" keeps the place for it
        copies = 2 if steps * self.batch > 1 or self.kind == "Reuse" else 1
        out = rows * columns * self.tiles.out_bytes
        sizes = {
            "IN0": self._first_operand(rows, steps, copies),
            "IN1": copies * self.in0_block_w * columns * self.tiles.b_bytes,
            "OUT": 0.0 if self.output else out,
            "PARTIALS": rows * columns * self._partial_bytes(steps),
            "BIAS": columns * self.bias_bytes,
        }
        return {name: int(size) for name, size in sizes.items()}

    @property
    def output_shard_bytes(self) -> int:
        """Bytes of a sharded output on one core; 0 if it is interleaved."""
        return int(self.per_core_m * self.per_core_n * self.tiles.out_bytes) if self.output else 0

    @property
    def wrong_values(self) -> str:
        """Why builds before 0.81 compute wrong values, which they do not say; empty if they compute it right.

        A core of a "Reuse" program that has several blocks steps from one to the next by a whole matrix, although its
        next block begins a block further (tt-metal #54798, #57359; reader_bmm_tile_layout_in0.cpp and
        reader_writer_bmm_tile_layout_in1.cpp in the wheels: so in 0.80.0, mended in 0.81.1). Right are blocks of whole
        matrices, and shards, which have one block per core.
        """
        cores, blocks = self.grid[0] * self.grid[1], self.batch * self.tiles.m // self.per_core_m
        whole = self.per_core_m >= self.tiles.m
        if self.kind != "Reuse" or whole or self.shard is not None or self.output is not None or blocks <= cores:
            return ""
        return (
            f"builds before 0.81 accept it and compute wrong values: {blocks} blocks of per_core_M on {cores} cores"
        )

    def with_suiting_subblock(self, tried: str) -> MatmulPlan:
        """With the largest subblock that suits its blocks; a side of it that is tried stays."""
        high, wide, rows, columns = self.out_subblock_h, self.out_subblock_w, self.per_core_m, self.per_core_n
        if min(high, wide, rows, columns) < 1:  # TTNN refuses it
            return self
        if tried == "out_subblock_h":
            wide, _ = widest_subblock(columns, high, fp32=self.fp32)
        elif tried == "out_subblock_w":
            high, _ = widest_subblock(rows, wide, fp32=self.fp32)
        else:
            high, wide = widest_subblock(rows, columns, fp32=self.fp32)
        if self.output and wide < columns and tried != "out_subblock_h":  # a shard is written row by row
            high = 1
        return replace(self, out_subblock_h=high, out_subblock_w=wide)

    def rules(self) -> dict[str, bool]:
        """The rules that TTNN asserts, in words, and whether each holds."""
        numbers = (self.in0_block_w, self.out_subblock_h, self.out_subblock_w, self.per_core_m, self.per_core_n)
        if min(numbers) < 1:
            return {"at least 1": False}
        dst = (DST_TILES_FP32 if self.fp32 else DST_TILES) * (2 if self.full_sync else 1)
        (rows, columns), (high, wide) = self.out_block, (self.out_subblock_h, self.out_subblock_w)
        height = "per_core_M" if rows == self.per_core_m else "out_block_h"
        width = "per_core_N" if columns == self.per_core_n else "out_block_w"
        rules = {
            f"in0_block_w divides the {self.tiles.k} tiles of K": self.tiles.k % self.in0_block_w == 0,
            f"out_subblock_h divides {height} {rows}": rows % high == 0,
            f"out_subblock_w divides {width} {columns}": columns % wide == 0,
            f"out_subblock_h x out_subblock_w <= {dst} (DST)": high * wide <= dst,
            "out_block_h and out_block_w divide per_core_M and per_core_N": (
                self.per_core_m % rows == 0 and self.per_core_n % columns == 0
            ),
        }
        if self.device_grid is not None:
            rules["within the worker grid {}x{}".format(*self.device_grid)] = (
                self.grid[0] <= self.device_grid[0] and self.grid[1] <= self.device_grid[1]
            )
        return rules | self._spread_rules() | output_rules(self) | operand_rules(self)

    def _spread_rules(self) -> dict[str, bool]:
        """Whether the blocks cover the matrices, and fit the grid."""
        m, n, per_m, per_n = self.tiles.m, self.tiles.n, self.per_core_m, self.per_core_n
        if self.kind == "Reuse":
            even = self.batch * m % per_m == 0 and 0 in (m % per_m, per_m % m)
            return {
                f"out_subblock_h divides the {m} tiles of M": m % self.out_subblock_h == 0,
                f"per_core_N is the {n} tiles of N": per_n == n,
                f"per_core_M divides the {m} tiles of M, or is a whole number of batches": even,
            }
        (x, y), down, across = self.grid, ceil(m / per_m), ceil(n / per_n)
        covered = (across <= x and down <= y) if self.kind == "2D" else across * down <= x * y
        rules = {f"{down} x {across} blocks of per_core_M x per_core_N fit the {x}x{y} grid": covered}
        if self.kind == "2D":  # refused by 0.81.1, which takes a per_core_N above N
            rules[f"per_core_M is at most the {m} tiles of M"] = per_m <= m
        elif self.mcast_in0:  # in 1D one core sends the same block to all others; TTNN refuses anything else
            rules[f"per_core_M holds the {m} tiles of M"] = per_m >= m
        else:
            rules[f"per_core_N holds the {n} tiles of N"] = per_n >= n
        return rules

    def _first_operand(self, rows: int, steps: int, copies: int) -> float:
        """Bytes of the first operand's blocks; a HEIGHT_SHARDED one is copied as a whole, or read in place."""
        shard = self.shard
        if shard is not None and (self.kind == "Reuse" or shard.layout == "HEIGHT_SHARDED"):
            return 0.0 if steps == 1 else rows * self.tiles.k * self.tiles.a_bytes
        if self.kind == "Reuse":  # a core's batches come one after the other
            rows = min(rows, self.tiles.m)
        return copies * self.in0_block_w * rows * self.tiles.a_bytes

    def _partial_bytes(self, steps: int) -> float:
        """Bytes of a tile of partial sums; 0 if they have the output's format and so use its buffer."""
        out = self.tiles.out_bytes
        sums_in_packer = self.packer_l1 and steps > 1  # measured on TTNN 0.81.1 mock device
        partial = TILE_BYTES["FLOAT32"] if self.fp32 else TILE_BYTES["BFLOAT16"] if sums_in_packer else out
        return 0.0 if partial == out else float(partial)
