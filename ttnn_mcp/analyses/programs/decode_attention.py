"""Attention of one token against a cache (SdpaDecode): the rules that TTNN asserts, and its buffers.

Rules: tt-metal ttnn/cpp/ttnn/operations/transformer/sdpa_decode/sdpa_decode.cpp and its device operation. Buffers:
sdpa_decode_program_factory.cpp beside it. Compared with TTNN 0.81.1 on mock devices: equal to the byte.
"""

from __future__ import annotations

from math import ceil

from ttnn_mcp.analyses.programs.grids import Grid
from ttnn_mcp.hardware import TILE_BYTES, TILE_SIDE
from ttnn_mcp.records import dataclass

HALF_TILE_HEADS = 16  # heads at most for tiles of 16 rows
STATISTICS = 11  # buffers of one column of tiles: maxima, sums and differences, of this core and of other cores
BLOCKS_OF_OUTPUT = 4  # sums, what is added to them, and what is sent to the core that adds up
_TILE = TILE_BYTES["BFLOAT16"]


@dataclass(frozen=True, slots=True)
class DecodeAttention:
    """An attention op of one token, sizes in elements.

    Attributes:
        batch: of the queries.
        heads: of the queries; key_heads: of the keys.
        keys: of the cache.
        head, value_head: width of a key and of a value.
        k_chunk: number of keys that a core reads at a time.
        cores_per_head: max_cores_per_head_batch.
        q_bytes, k_bytes, v_bytes, out_bytes: of a tile of each.
        half_tiles: whether few heads take half a tile: queries are BFLOAT16 and the attention is causal.
        paged: whether a page table says where the keys lie.
        words_bytes: of positions and of a row of the page table.
        in_place: whether the output is sharded, so that its buffer is the tensor itself.
    """

    batch: int
    heads: int
    key_heads: int
    keys: int
    head: int
    value_head: int
    k_chunk: int
    grid: Grid
    device_grid: Grid | None
    q_bytes: float
    k_bytes: float
    v_bytes: float
    out_bytes: float
    cores_per_head: int
    half_tiles: bool = True
    in_place: bool = False
    paged: bool = False
    words_bytes: int = 0

    def rules(self) -> dict[str, bool]:
        """The rules that TTNN asserts, in words, and whether each holds."""
        chunk = self.k_chunk
        rules = {
            "k_chunk_size: a power of 2, at least 32": chunk >= TILE_SIDE and chunk & (chunk - 1) == 0,
            f"the {self.keys} keys of the cache are a multiple of k_chunk_size": self.paged
            or (chunk > 0 and self.keys % chunk == 0),
            f"a core for each of {self.batch} in the batch": self.grid[0] * self.grid[1] >= self.batch,
        }
        if self.device_grid is not None:
            cores = self.device_grid[0] * self.device_grid[1]
            rules[f"at most the {cores} cores of the chip"] = 0 < self.grid[0] * self.grid[1] <= cores
        return rules

    @property
    def buffers(self) -> dict[str, int]:
        """Bytes per core of the circular buffers."""
        rows, keys = ceil(self.heads / TILE_SIDE), self.k_chunk // TILE_SIDE
        head, value = ceil(self.head / TILE_SIDE), ceil(self.value_head / TILE_SIDE)
        halved = self.half_tiles and self.heads <= HALF_TILE_HEADS
        tile, query = (_TILE / 2, self.q_bytes / 2) if halved else (_TILE, self.q_bytes)
        sizes = {
            "Q": 2 * rows * head * query,
            "K": 2 * keys * head * self.k_bytes,
            "V": 2 * keys * value * self.v_bytes,
            "MASK": rows * keys * tile,
            "SCALARS": 2 * tile + _TILE,
            "SCORES": rows * keys * tile,
            "OUT_SUMS": BLOCKS_OF_OUTPUT * rows * value * tile,
            "STATISTICS": STATISTICS * rows * tile,
            "FROM_OTHERS": (rows * value + 2 * rows) * (self.cores_of_a_head - 1) * tile,
            "WORDS": self.words_bytes,
            "OUT": 0 if self.in_place else self.output_bytes,
        }
        return {name: int(size) for name, size in sizes.items()}

    @property
    def output_bytes(self) -> int:
        """Bytes of the rows of one in the batch."""
        return int(ceil(self.heads / TILE_SIDE) * ceil(self.value_head / TILE_SIDE) * self.out_bytes)

    @property
    def cores_of_a_head(self) -> int:
        """Cores that share the keys of one head."""
        used = min(self.grid[0] * self.grid[1], self.cores_per_head * self.batch * self.key_heads)
        return max(used // self.batch // self.key_heads, 1)
