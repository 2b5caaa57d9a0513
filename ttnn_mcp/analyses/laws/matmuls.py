"""Laws of matmuls: of one row of tiles (decode) and of many, by program."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from math import ceil
from typing import Literal

from ttnn_mcp.analyses.laws.descriptions import MOST_CORES, Described, in_dram, stored_bytes, tiles
from ttnn_mcp.analyses.laws.law import Law
from ttnn_mcp.analyses.programs.chosen_matmul import is_narrow, one_sided
from ttnn_mcp.analyses.programs.minimal_matmul import dealt
from ttnn_mcp.hardware import ARCHITECTURES, FIDELITY_PHASES, TILE_SIDE
from ttnn_mcp.records import dataclass

# A K block of a 1D multicast takes at least so long, and so much more for each core that gets it: decode matmuls of 18
# models on both chips are fitted best by 0.7 to 0.8 and by 0.003 to 0.006.
K_BLOCK_US, K_BLOCK_US_PER_CORE = 0.75, 0.005
# What a K block costs a core that reads a bank besides its products: both chips are fitted best by 0.4 to 0.5.
BANKED_K_BLOCK_US = 0.4
# A core requests tiles one by one: 7168 take 245 us on each of 8 cores of a P150, of 1088 bytes and of 576.
REQUEST_CYCLES = 46
# A tile of fewer bytes is read no faster: BFLOAT4_B weights (576) are fitted best as 700 to 850 on Blackhole.
LEAST_TILE_BYTES = 800
L1 = "L1_INTERLEAVED"
INTERLEAVED = {"DRAM_INTERLEAVED", L1}
# Columns of tiles per core that TTNN is sure to find room for in L1 as one block, whatever the format.
SURE_COLUMNS = 8


@dataclass(frozen=True, slots=True)
class MatmulDescription(Described):
    """A product of rows x k and k x n; `in0`, `in1` and `out` are input, weights and result.

    Attributes:
        batch: pairs of matrices.
        active: products of this size that the op makes one after the other: of experts; None where it is not told.
        slots: experts that it looks at for these; as many as are active where it knows them.
        program: kind of program config; AUTO where TTNN chose, printed none, and it is not known what; SPARSE is 1D
            for each expert.
        block_w: in0_block_w (K_block_size of a minimal matmul), in tiles; per_core_m and per_core_n in tiles too.
        subblock_w: columns that are multiplied at once, in tiles; told of SPARSE ones alone.
        fused: activation, or whatever else the op computes besides.
    """

    rows: int = 32
    k: int = 0
    n: int = 0
    batch: int = 1
    in0_dtype: str = ""
    in1_dtype: str = ""
    out_dtype: str = ""
    in0_place: str = ""
    in1_place: str = ""
    out_place: str = ""
    program: Literal["1D", "2D", "DRAM_SHARDED", "MINIMAL", "SPARSE", "AUTO", ""] = ""
    block_w: int | None = None
    per_core_m: int | None = None
    per_core_n: int | None = None
    subblock_w: int | None = None
    fused: str = ""
    active: float | None = 1.0
    slots: float = 1.0

    @property
    def tiles(self) -> tuple[int, int, int]:
        """M, K and N in tiles."""
        return tiles(self.rows), tiles(self.k), tiles(self.n)

    @property
    def in_turn(self) -> float:
        """Experts."""
        return self.active or 1.0

    @property
    def k_blocks(self) -> float | None:
        """How many turns a core takes along K."""
        return self.tiles[1] / self.block_w if self.block_w else None

    @property
    def written(self) -> float:
        """Bytes of the result in DRAM."""
        m, _, n = self.tiles
        return in_dram(self.out_place, self.batch * m * n, self.out_dtype)

    @property
    def dram_bytes(self) -> float:
        """Each operand once."""
        m, k, n = self.tiles
        inputs = in_dram(self.in0_place, self.batch * m * k, self.in0_dtype)
        weights = in_dram(self.in1_place, self.batch * k * n, self.in1_dtype)
        return self.in_turn * (inputs + weights + self.written)

    @property
    def engines(self) -> int:
        """Of DRAM-sharded weights the cores beside the banks, whatever grid and cores are told."""
        multiplying = None if self.program == "DRAM_SHARDED" else self.usable_cores
        return multiplying or MOST_CORES[self.chip]

    @property
    def products(self) -> float:
        """On padded shapes."""
        m, k, n = self.tiles
        return self.in_turn * self.batch * m * k * n


def as_chosen(op: MatmulDescription) -> MatmulDescription:
    """One row of tiles, left to TTNN: by what TTNN chooses (`programs/chosen_matmul.py`), where that is certain.

    With an operand in L1 a few columns, or more than its cores take in blocks, are multiplied tile by tile.
    """
    (m, k, n), cores, places = op.tiles, op.usable_cores, {op.in0_place, op.out_place}
    if op.program != "AUTO" or m > 1 or op.batch > 1 or cores is None or not places <= INTERLEAVED:
        return op
    if L1 in places and not (is_narrow(m, n, small=False) and n <= SURE_COLUMNS * cores):
        return op
    chosen = one_sided(m, k, n, (cores, 1), mcast_in0=True)
    return replace(op, program="1D", block_w=chosen.in0_block_w, per_core_m=1, per_core_n=chosen.per_core_n)


def all_active(op: MatmulDescription, share: float = 1.0) -> MatmulDescription:
    """The same with all slots active, or a share of them."""
    return replace(op, active=share * op.slots)


def plain(op: MatmulDescription, *programs: str) -> bool:
    """Whether the op is a single product by one of these programs, with nothing fused that costs time of its own."""
    return op.program in programs and not op.fused and op.batch == 1


def banked(op: MatmulDescription) -> tuple[float, ...] | None:
    """One core per bank reads its columns of the weights in K blocks and multiplies them."""
    if (
        not plain(op, "DRAM_SHARDED")
        or op.rows > TILE_SIDE
        or not op.k_blocks
        or op.fidelity not in FIDELITY_PHASES
    ):
        return None
    _, k, n = op.tiles
    banks = round(op.dram_peak_gb_s / ARCHITECTURES[op.chip].dram_bank_gb_s)
    columns = ceil(n / banks)
    engine = op.engine_us(k * columns)
    turns = engine + BANKED_K_BLOCK_US * op.k_blocks
    longer = max(op.dram_us(stored_bytes(k * columns * banks, op.in1_dtype)), turns)
    return longer, engine / op.k_blocks, op.k_blocks, op.k_blocks * columns


def spread(op: MatmulDescription, program: str = "1D") -> tuple[float, ...] | None:
    """Each core requests the tiles of its columns, and all get the input by multicast, K block by K block."""
    if not plain(op, program) or op.rows > TILE_SIDE or op.in1_place != "DRAM_INTERLEAVED" or not op.k_blocks:
        return None
    if op.in0_dtype == "FLOAT32":  # dots.ocr's took up to four times as long as with 16 bits, Ornith's did not
        return None
    _, k, n = op.tiles
    columns = op.per_core_n or (ceil(n / op.usable_cores) if op.usable_cores else None)
    if columns is None:
        return None
    stored = k * n * max(stored_bytes(1, op.in1_dtype), LEAST_TILE_BYTES)
    read = op.dram_us(stored) / ARCHITECTURES[op.chip].dram_achievable_share
    block_us = K_BLOCK_US + K_BLOCK_US_PER_CORE * ceil(n / columns)
    turns = block_us * op.k_blocks + k * columns * REQUEST_CYCLES / 1e3 / op.clock_ghz
    return 1.0, max(read, turns), read, op.engine_us(k * columns)


def one_by_one(op: MatmulDescription) -> tuple[float, ...] | None:
    """The same for each active expert, in subblocks; the slots of the others are looked at."""
    one, cores, wide = spread(op, "SPARSE"), op.usable_cores, op.subblock_w or (1 if op.per_core_n == 1 else None)
    if one is None or not cores or not op.per_core_n or not wide or op.active is None:
        return None
    start, longer, read, _ = (op.active * each for each in one)
    subblocks, in_vain = op.active * op.tiles[1] * ceil(op.per_core_n / wide), op.slots - op.active
    return start, longer, read, subblocks, in_vain, in_vain * cores / 100


def busiest(op: MatmulDescription) -> tuple[float, float] | None:
    """Rows and columns of tiles of the busiest core of a 2D program; None where its cores are not known."""
    m, _, n = op.tiles
    if op.per_core_m and op.per_core_n:
        return op.per_core_m, op.per_core_n
    return (ceil(m / op.grid[1]), ceil(n / op.grid[0])) if op.grid else None


def evenly(op: MatmulDescription) -> tuple[float, float] | None:
    """The same of a program that TTNN chose; None where no grid of its cores divides the tiles evenly.

    Then TTNN may have chosen the program that works tile by tile: DeepLab's ran 2.6 times as long (P100).
    """
    m, _, n = op.tiles
    grids = (
        [(x, op.cores // x) for x in range(1, op.cores + 1) if op.cores % x == 0]
        if op.cores
        else [op.grid or (0, 0)]
    )
    cut = [(m / y, n / x) for x, y in grids if x and y and m % y == n % x == 0]
    return min(cut, key=sum, default=None)


def blocks(op: MatmulDescription, program: str) -> tuple[float, ...] | None:
    """Rows are divided over rows of cores, columns over columns; both operands arrive by multicast."""
    core = (evenly if program == "AUTO" else busiest)(op) if plain(op, program) and op.rows > TILE_SIDE else None
    if core is None or op.fidelity not in FIDELITY_PHASES or op.in0_place == "L1_HEIGHT_SHARDED":
        return None
    k, (rows, columns) = op.tiles[1], core
    engine, written = op.engine_us(k * rows * columns), op.dram_us(op.written)
    longer = max(engine, op.dram_us(op.dram_bytes) - written)
    return 1.0, longer, engine, written, k * (rows + columns), k * rows * columns / 1e3


def minimal(op: MatmulDescription) -> tuple[float, ...] | None:
    """As a 2D program, with reading, multiplying and writing at once; the longer side is divided over columns."""
    if not plain(op, "MINIMAL") or op.grid is None or op.fidelity not in FIDELITY_PHASES:
        return None
    m, k, n = op.tiles
    rows, columns = dealt(m, n, op.grid)
    moved = op.dram_us(op.dram_bytes)
    return 1.0, max(op.engine_us(k * rows * columns), moved), moved, k * (rows + columns), rows * columns


def height(op: MatmulDescription) -> tuple[float, ...] | None:
    """Each core has its rows in L1 and gets all weights."""
    if not plain(op, "1D", "AUTO") or op.in0_place != "L1_HEIGHT_SHARDED" or not op.cores:
        return None
    m, k, n = op.tiles
    rows = ceil(m / op.cores)
    return 1.0, rows * k * n, rows * n, k * n, rows * k


OPERANDS = ("in0_dtype", "in1_dtype", "in0_place")
MATMULS = (
    Law(
        name="decode matmul, DRAM-sharded weights",
        formula="the longer of reading the weights, padded to the banks, and of multiplying them on one core per bank "
        "(0.4 us more per K block); the last K block, which is multiplied when all is read; each K block, and in it "
        "each column's sum so far",
        of=MatmulDescription,
        terms=(
            "reading or multiplying at peak",
            "multiplying a K block at peak",
            "us per K block",
            "us per K block and column",
        ),
        factors=banked,
        sizes=("rows", "k", "n", "k_blocks"),
        alike=("in1_dtype", "fidelity"),
    ),
    Law(
        name="decode matmul, interleaved weights (1D)",
        formula="a start; the longer of reading the weights at what DRAM achieves (a tile of BFLOAT4_B as 800 bytes) "
        "and of a core's turns (0.75 us per K block and 0.005 us per core that gets it, 46 cycles per tile it "
        "requests); a part of reading again; multiplying, as far as it does not overlap; the blocks of what TTNN chose "
        "are known",
        of=MatmulDescription,
        terms=("us", "reading or taking turns", "reading", "multiplying at peak"),
        factors=spread,
        sizes=("rows", "k", "n", "k_blocks"),
        alike=("in1_dtype",),
    ),
    Law(
        name="sparse matmul, one row of tiles",
        formula="for each expert that is active what a decode matmul of its sizes takes, multiplying by subblocks; for "
        "each slot that is looked at in vain, where neither nnz nor indices are given, a while that grows with the "
        "cores that hear of it",
        of=MatmulDescription,
        terms=(
            "us",
            "reading or taking turns",
            "reading",
            "us per K tile and subblock",
            "us per slot in vain",
            "us per slot in vain and 100 cores",
        ),
        factors=one_by_one,
        sizes=("rows", "k", "n", "k_blocks"),
        alike=("in1_dtype",),
    ),
    Law(
        name="matmul of a height-sharded input",
        formula="a start, and per core its products, its tiles of the result, all tiles of the weights, and its tiles "
        "of the input; the source tells no formats, so it speaks of all",
        of=MatmulDescription,
        terms=(
            "us",
            "us per product",
            "us per tile of the result",
            "us per tile of the weights",
            "us per tile of the input",
        ),
        factors=height,
        sizes=("rows", "k", "n", "cores"),
    ),
    *(
        Law(
            name=f"matmul of many rows, {words}",
            formula="a start; the longer of multiplying the busiest core's block and of reading from DRAM, and a part "
            "of the former again; writing to DRAM; per core the tiles that arrive, and its products at any fidelity",
            of=MatmulDescription,
            terms=(
                "us",
                "multiplying or reading at peak",
                "multiplying at peak",
                "writing at peak",
                "us per tile arriving",
                "us per 1000 products",
            ),
            factors=partial(blocks, program=program),
            sizes=("rows", "k", "n", "usable_cores"),
            alike=(*OPERANDS, "fidelity"),
        )
        for program, words in (("2D", "2D"), ("AUTO", "left to TTNN"))
    ),
    Law(
        name="minimal matmul",
        formula="a start; the longer of multiplying the busiest core's block and of moving all operands in DRAM; a "
        "part of the latter again; per core the tiles that arrive and the tiles of the result",
        of=MatmulDescription,
        terms=(
            "us",
            "multiplying or DRAM at peak",
            "DRAM at peak",
            "us per tile arriving",
            "us per tile of the result",
        ),
        factors=minimal,
        sizes=("rows", "k", "n", "usable_cores"),
        alike=OPERANDS,
    ),
)
