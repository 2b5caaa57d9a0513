"""A matmul whose weights are sharded over the banks of DRAM: the rules that TTNN asserts, and its buffers.

tt-metal ttnn/cpp/ttnn/operations/matmul/device: matmul_device_operation.cpp for the rules, factory/
matmul_multicore_reuse_mcast_dram_sharded_program_factory.cpp for the buffers.
"""

from __future__ import annotations

from math import ceil

from ttnn_mcp.analyses.programs.matmul_config import Tiles
from ttnn_mcp.hardware import DST_TILES, DST_TILES_FP32, TILE_BYTES
from ttnn_mcp.records import dataclass

WEIGHT_COPIES = 3  # the weights are triple buffered, the activations double


@dataclass(frozen=True, slots=True)
class DramSharded:
    """MatmulMultiCoreReuseMultiCastDRAMShardedProgramConfig, sizes in tiles.

    Attributes:
        tiles: the operands.
        banks: number of DRAM banks.
        cores: number of cores of the chip; None where unknown.
        storage_cores: number of cores that hold the first operand (it is WIDTH_SHARDED).
        sharded_output: whether memory_config asks for an output sharded in L1.
        bias_bytes: bytes of a tile of the bias; 0 without a bias.
        readers: cores that read a bank, each an equal part of its columns (num_workers_per_dram_bank).
    """

    tiles: Tiles
    banks: int
    cores: int | None
    storage_cores: int
    in0_block_w: int
    per_core_m: int
    per_core_n: int
    fp32: bool = False
    packer_l1: bool = False
    sharded_output: bool = True
    bias_bytes: float = 0.0
    readers: int = 1

    def rules(self) -> dict[str, bool]:
        """The rules that TTNN asserts, in words, and whether each holds."""
        if min(self.in0_block_w, self.per_core_m, self.per_core_n) < 1:
            return {"at least 1": False}
        shard = self._shard_columns
        rules = {
            f"in0_block_w divides the {self.tiles.k} tiles of K": self.tiles.k % self.in0_block_w == 0,
            "one tile of rows": self.tiles.m == self.per_core_m == 1,  # :1627 of 0.81.1
            f"in0_block_w and the {shard} tiles of a shard's width divide one another": (
                shard % self.in0_block_w == 0 or self.in0_block_w % shard == 0
            ),
            "memory_config asks for an output sharded in L1": self.sharded_output,
        }
        if self.cores is not None:
            needed = ceil(self.tiles.n / self.per_core_n)
            # as work_split.cpp:100 asks
            rules[f"{needed} shards of per_core_N fit {self.cores} cores"] = needed <= self.cores
        return rules

    @property
    def buffers(self) -> dict[str, int]:
        """Bytes per core of the buffers that are no tensors."""
        tiles, steps = self.tiles, max(self.tiles.k // self.in0_block_w, 1)
        columns = ceil(tiles.n / self._reading_banks / self.readers)
        computed = self._computed(columns)  # of one row of tiles
        has_steps = steps > 1
        sizes = {
            "IN0": (2 if has_steps else 1) * self.in0_block_w * tiles.a_bytes,
            "IN1": (WEIGHT_COPIES if has_steps else 1) * self.in0_block_w * columns * tiles.b_bytes,
            "OUT": computed * tiles.out_bytes,
            "PARTIALS": computed * self._partial_bytes(several=has_steps),
            "BIAS": computed * self.bias_bytes,
            # a block wider than a shard is gathered first (builds since tt-metal PR #55444)
            "GATHERED": self.in0_block_w * tiles.a_bytes * (self.in0_block_w > self._shard_columns),
        }
        return {name: int(size) for name, size in sizes.items()}

    @property
    def output_shard_bytes(self) -> int:
        """Bytes of the output on one core."""
        return int(self.per_core_n * self.tiles.out_bytes)

    @property
    def _shard_columns(self) -> int:
        return max(self.tiles.k // max(self.storage_cores, 1), 1)

    @property
    def _reading_banks(self) -> int:
        """The number of banks that hold more than padding."""
        columns_per_bank = ceil(self.tiles.n / self.banks)
        return max(self.banks - (columns_per_bank * self.banks - self.tiles.n) // columns_per_bank, 1)

    def _computed(self, columns: int) -> int:
        """Columns that a core computes, in as few sub-blocks (of one row) as DST allows: padded to the same width."""
        most = DST_TILES_FP32 if self.fp32 else DST_TILES
        count = ceil(columns / most)
        return count * ceil(columns / count)

    def _partial_bytes(self, *, several: bool) -> float:
        out = self.tiles.out_bytes
        sums_in_packer = self.packer_l1 and several
        partial = TILE_BYTES["FLOAT32"] if self.fp32 else TILE_BYTES["BFLOAT16"] if sums_in_packer else out
        return 0.0 if partial == out else float(partial)
