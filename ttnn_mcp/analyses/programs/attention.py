"""Scaled dot product attention: the rules that TTNN asserts, and the buffers of its program on each core.

Rules: tt-metal ttnn/cpp/ttnn/operations/transformer/sdpa/device/sdpa_device_operation.cpp (lines 49 to 125 of
0.81.1). Buffers: sdpa_program_factory.cpp beside it, as measured on TTNN 0.81.1 mock devices of Wormhole and
Blackhole, because that source is older: streaming kernels, pairs of causal chunks, chains of Blackhole.
"""

from __future__ import annotations

from math import ceil

from ttnn_mcp.analyses.programs.grids import Grid
from ttnn_mcp.hardware import TILE_BYTES, TILE_SIDE
from ttnn_mcp.records import dataclass

DEFAULT_CHUNK = 32  # without an SDPAProgramConfig, and for a q_chunk_size of 0: tt-metal #51911
CHUNKS_AT_MOST = 1 << 14  # of one head: bounds the loop over pairs for a broken report
CHAIN_ROWS = 4  # tiles of a query chunk, at most, for which Blackhole passes keys from core to core
CHAIN_CORES = 64  # cores of the grid, at least; 11x6 and 13x5 pass keys on, 9x7 does not
WIDE_CHAIN_CORES = 32  # the same for keys of WIDE_HEAD tiles and more in 16 bits, summed in BFLOAT16
WIDE_HEAD = 4
AHEAD_ROWS, AHEAD_KEYS = (
    3,
    8,
)  # a chain reads a third chunk ahead for query chunks of at least, key chunks of at most
DST_TILES_WIDE = 8  # tiles of DST that two rows of values may fill to be written together
_HALF, _FULL = TILE_BYTES["BFLOAT16"], TILE_BYTES["FLOAT32"]


@dataclass(frozen=True, slots=True)
class Attention:
    """An attention op, sizes in elements.

    Attributes:
        heads: of all queries: batch x heads.
        rows: queries of a head; keys: keys of a head.
        head, value_head: width of a query and of a value.
        q_bytes, k_bytes, v_bytes, out_bytes: of a tile of each.
        mask_bytes: of a tile of the mask that was passed; 0 for none.
        chains: whether the chip is a Blackhole.
        start: of a chunk of queries before a paged cache; None for whole sequences.
        page_bytes: of a row of its page table.
    """

    heads: int
    rows: int
    keys: int
    head: int
    value_head: int
    q_bytes: float
    k_bytes: float
    v_bytes: float
    out_bytes: float
    grid: Grid
    device_grid: Grid | None
    q_chunk: int = DEFAULT_CHUNK
    k_chunk: int = DEFAULT_CHUNK
    causal: bool = True
    fp32: bool = False
    mask_bytes: float = 0.0
    chains: bool = False
    start: int | None = None
    page_bytes: int = 0

    def rules(self) -> dict[str, bool]:
        """The rules that TTNN asserts, in words, and whether each holds."""
        rules = {
            "q_chunk_size: a multiple of 32": self.q_chunk > 0 and self.q_chunk % TILE_SIDE == 0,
            "k_chunk_size: a multiple of 32": self.k_chunk > 0 and self.k_chunk % TILE_SIDE == 0,
        }
        if self.start is not None and all(rules.values()):
            for side, chunk in (("q", self.q_chunk), ("k", self.k_chunk)):
                rules[f"chunk_start_idx, {self.start}, is a multiple of {side}_chunk_size"] = (
                    self.start % chunk == 0
                )
        elif self.causal:
            rules["causal: as many keys as queries"] = self.rows == self.keys
            rules["causal: no mask beside it"] = not self.mask_bytes
        if self.device_grid is not None:
            cores = self.device_grid[0] * self.device_grid[1]
            rules[f"at most the {cores} cores of the chip"] = 0 < self.grid[0] * self.grid[1] <= cores
        return rules

    @property
    def buffers(self) -> dict[str, int]:
        """Bytes per core of the circular buffers."""
        rows, keys = self.q_chunk // TILE_SIDE, self.k_chunk // TILE_SIDE
        head, value = ceil(self.head / TILE_SIDE), ceil(self.value_head / TILE_SIDE)
        wide = _FULL if self.fp32 else _HALF
        chained = self._is_chained(rows)
        third = chained and rows >= AHEAD_ROWS and keys <= AHEAD_KEYS
        sizes = {
            "Q": (2 if self._reads_ahead else 1) * rows * head * self.q_bytes,
            "K": (3 if third else 2) * keys * head * self.k_bytes,
            "V": (3 if third else 2) * keys * value * self.v_bytes,
            "PAGES": self.page_bytes,
            "CHAIN": (128 if third else 96) * chained,
            "MASK": self._mask(rows, keys),
            "SCALARS": (2 if self.fp32 else 3) * _HALF,  # the streaming kernel has one more, for reciprocals
            "SCORES": rows * keys * wide,
            "OUT_SUMS": 2 * rows * value * _HALF,
            "STATISTICS": rows * (3 * _HALF + 2 * wide),  # maxima and their difference; sums
            "OUT": self._out_rows(rows, value) * value * self.out_bytes,
        }
        return {name: int(size) for name, size in sizes.items()}

    @property
    def older_bytes(self) -> int:
        """Bytes that builds before 0.81 may take more: a mask of all scores in BFLOAT4_B, the whole output of a chunk.

        sdpa_program_factory.cpp of early 2026: select_mask_dataformat, mask_tiles, out0_t.
        """
        rows, keys, value = self.q_chunk // TILE_SIDE, self.k_chunk // TILE_SIDE, ceil(self.value_head / TILE_SIDE)
        masked = 0 if self.mask_bytes else 2 * rows * keys * TILE_BYTES["BFLOAT4_B"] - self._mask(rows, keys)
        out = (rows - self._out_rows(rows, value)) * value * self.out_bytes
        return int(max(masked, 0) + max(out, 0))

    @property
    def pairs(self) -> int:
        """Pairs of chunks per head."""
        return ceil(self.rows / self.q_chunk) * ceil(self.keys / self.k_chunk)

    @property
    def _chunks(self) -> int:
        return ceil(self.rows / self.q_chunk)

    @property
    def _reads_ahead(self) -> bool:
        """Whether a core reads the next chunk of queries ahead: it has several, or pairs of causal ones."""
        if self.causal and self._chunks % 2 == 0:
            return True
        return ceil(self.heads * self._chunks / (self.grid[0] * self.grid[1])) > 1

    def _mask(self, rows: int, keys: int) -> float:
        if self.mask_bytes:
            return 2 * rows * keys * self.mask_bytes
        padded = self.rows % self.q_chunk or self.keys % self.k_chunk or self.keys % TILE_SIDE
        # the streaming kernel needs a smaller mask, but cannot take FLOAT32
        if self.fp32 and not self.causal and padded:
            return 2 * rows * keys * TILE_BYTES["BFLOAT4_B"]
        if self.causal or self.keys % TILE_SIDE:
            return 2 * _HALF  # a tile of the diagonal or of the last keys, and one of all the others
        return _HALF if self.rows % self.q_chunk or self.keys % self.k_chunk else 0

    def _out_rows(self, rows: int, value: int) -> int:
        """Rows of tiles in the output's buffer: a whole chunk; in the streaming kernel two sub-blocks of one or two.

        A sub-block is two rows high where it is then no smaller; an odd chunk must not make it narrower.
        """
        if self.fp32:
            return rows
        single, double = (_widest_part(value, DST_TILES_WIDE // high) for high in (1, 2))
        two = rows > 1 and (double == single if rows % 2 else 2 * double >= single)
        return 4 if two else 2

    def _is_chained(self, rows: int) -> bool:
        """Whether cores pass keys on: causal chunks only if all their pairs read the same number of key chunks."""
        if not (self.chains and self.causal) or self.start is not None or rows > CHAIN_ROWS or self._chunks % 2:
            return False
        narrow, wide_head = self.k_bytes < _HALF, ceil(self.head / TILE_SIDE) >= WIDE_HEAD
        least = CHAIN_CORES if narrow or self.fp32 or not wide_head else WIDE_CHAIN_CORES
        if (narrow and self.fp32) or self.grid[0] * self.grid[1] < least or self._chunks > CHUNKS_AT_MOST:
            return False
        all_reads = ceil(self.keys / self.k_chunk)
        reads = [min(ceil((chunk + 1) * self.q_chunk / self.k_chunk), all_reads) for chunk in range(self._chunks)]
        return len({forward + backward for forward, backward in zip(reads, reversed(reads), strict=True)}) == 1


def _widest_part(tiles: int, at_most: int) -> int:
    """The widest sub-block that cuts a row of tiles into equal parts."""
    return next(width for width in range(at_most, 0, -1) if tiles % width == 0)
