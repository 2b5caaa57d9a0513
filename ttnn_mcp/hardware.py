"""Per-architecture facts, each with its source: clocks, bandwidths, L1, grids, and the bytes of a tensor.

Figures are peaks per chip unless the name says otherwise. What a report states about its own device (clock from
cycles, worker cores, `devices.cb_limit`) has priority; this table is for what a report leaves out.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from math import ceil, prod

from ttnn_mcp.records import dataclass

TILE_SIDE = 32  # a tile is 32 x 32 elements; TILE layout pads the last two dimensions to it
TILE_BYTES = {  # bytes of one 32 x 32 tile: tt_metal Tile::get_tile_size
    "BFLOAT16": 2048,
    "UINT16": 2048,
    "FLOAT32": 4096,
    "INT32": 4096,
    "UINT32": 4096,
    "BFLOAT8_B": 1088,  # 1024 mantissas + 64 shared exponents, one per row of 16
    "BFLOAT4_B": 576,  # 512 + 64
    "UINT8": 1024,
    "INT8": 1024,  # since TTNN 0.81, as the next
    "FP8_E4M3": 1024,
}
ELEMENT_BYTES = {dtype: size / TILE_SIDE**2 for dtype, size in TILE_BYTES.items()}  # BFLOAT8_B 1.0625, not 1
ELEMENTS_AT_MOST = 1 << 40  # of a tensor: at least a thousand GB; the largest card has 64
BLOCK_FLOATS = frozenset({"BFLOAT8_B", "BFLOAT4_B"})  # exist in TILE layout only

MATMUL_FLOP_PER_CYCLE_PER_CORE = 4096  # LoFi, 2 x 8 x 16 x 16: tech_reports/matrix_engine/matrix_engine.md
FIDELITY_PHASES = {"LoFi": 1, "HiFi2": 2, "HiFi3": 3, "HiFi4": 4}  # passes over the operands: same document
DST_TILES = 8  # out_subblock_h * out_subblock_w at most, half-sync: matmul_program_config.cpp SUBBLOCK_HW_CHOICES
DST_TILES_FP32 = 4  # with fp32_dest_acc_en: same
LOCAL_L1_ALIGNMENT_BYTES = 16  # tt_metal/hw/inc: L1_ALIGNMENT on every architecture
DRAM_ALIGNMENT_BYTES = {
    "wormhole_b0": 32,
    "blackhole": 64,
}  # tt_metal's HAL: pages in DRAM begin at multiples of it


@dataclass(frozen=True, slots=True)
class Architecture:
    """Limits of one chip of an architecture; `_gb_s` are GB/s (10**9 bytes), sizes are bytes."""

    name: str
    clock_ghz: float
    dram_peak_gb_s: float
    """Of the card with the most DRAM banks; the function `dram_peak_gb_s` tells the cards apart."""
    dram_achievable_share: float
    """Share of the peak that a well-placed DRAM-bound op reaches. For savings; utilisation is of the peak."""
    dram_bank_gb_s: float
    dram_bank_bytes: int | None
    """What a DRAM bank holds; TTNN keeps some megabytes of it for itself, and a trace region where one is asked for."""
    small_page_bytes: int
    """Smaller pages waste DRAM bandwidth: the number of requests, not of bytes, is then the limit."""
    worker_l1_bytes: int
    first_cb_address: int
    """L1 below it is not for tensors; of the newest build, which keeps most: what fits there fits older ones too.

    The report's `devices.address_at_first_l1_cb_buffer` has priority, so a build that has one keeps its own.
    """
    first_cb_address_measured: bool
    ethernet_payload_gb_s: float | None
    """Per link and direction; None where TTNN does not use links."""
    noc_bytes_per_cycle: float
    """Into one core over both networks on the chip, and as much out of it: a flit per cycle and network."""
    unpack_bytes_per_cycle: float
    """From a core's L1 into its engine, at most."""
    pack_bytes_per_cycle: float
    """From a core's engine into its L1, at most."""

    @property
    def usable_l1_bytes(self) -> int:
        """L1 of one core left for tensors and circular buffers, before any L1_SMALL region."""
        return self.worker_l1_bytes - self.first_cb_address


_WORMHOLE = Architecture(
    name="wormhole_b0",
    clock_ghz=1.0,  # FW cycles / FW ns in every Wormhole report measured
    dram_peak_gb_s=288,  # 12 banks at 12 GT/s: docs.tenstorrent.com/aibs/wormhole/specifications
    dram_achievable_share=240 / 288,  # DRAM-sharded matmul, tech_reports/LLMs/llms.md (interleaved: ~190)
    dram_bank_gb_s=24,  # 288 / 12 banks
    dram_bank_bytes=2**30,  # tt-metal wormhole_b0_80_arch.yaml: dram_view_size
    small_page_bytes=256,  # tt-metal #55898: 64 B rows reach 9 % of peak
    worker_l1_bytes=1_499_136,  # 1464 KiB: soc_descriptors/wormhole_b0_80_arch.yaml
    first_cb_address=105_824,  # TTNN 0.81.1; 103,552 to 105,696 in 0.66 to 0.80: their reports
    first_cb_address_measured=True,
    ethernet_payload_gb_s=12.0,  # of 12.5 GB/s (100 Gb/s): tech_reports/CCLs/CCL_bandwidth.md
    noc_bytes_per_cycle=64,  # 2 x 256 bits: tt-isa-documentation WormholeB0/NoC/README.md
    unpack_bytes_per_cycle=96,  # 5 reads of 16 B and one of exponents: WormholeB0/TensixTile/L1.md
    pack_bytes_per_cycle=64,  # 4 packers of 16 B: same
)
_BLACKHOLE = Architecture(
    name="blackhole",
    clock_ghz=1.35,  # FW cycles / FW ns in every Blackhole report measured
    dram_peak_gb_s=512,  # 8 banks of 64 GB/s: BlackholeBringUpProgrammingGuide.md (p100: 7 banks, 448)
    dram_achievable_share=0.85,  # tt-metal #54242, #55898: 400 to 460 of 512 by dtype and readers per bank
    dram_bank_gb_s=64,  # BlackholeBringUpProgrammingGuide.md
    dram_bank_bytes=2**32 - 2**24,  # tt-metal #10049: the upper 16 MB of each bank cannot be addressed
    small_page_bytes=1536,  # tt-metal #55898: requests are the limit below about 1.5 KB; 1 KB reaches 60 %
    worker_l1_bytes=1_572_864,  # 1536 KiB: blackhole_140_arch.yaml; the runtime's own out-of-L1 message
    first_cb_address=111_744,  # TTNN 0.81.1; 105,280 in 0.66, 111,360 in 0.73, 111,616 in 0.80: their reports
    first_cb_address_measured=True,
    ethernet_payload_gb_s=48.0,  # of 50 GB/s (400 Gb/s): CCL_bandwidth.md (links of today run at about half)
    noc_bytes_per_cycle=128,  # 2 x 512 bits: tt-isa-documentation BlackholeA0/NoC/README.md
    unpack_bytes_per_cycle=192,  # not published ("more L1 bandwidth"): twice Wormhole's, so that bounds stay low
    pack_bytes_per_cycle=128,  # same
)
_GRAYSKULL = replace(
    _WORMHOLE,  # for what nobody published or measured
    name="grayskull",
    clock_ghz=1.2,  # e150: docs.tenstorrent.com/aibs/grayskull; support left ttnn's performance model in PR #36902
    dram_peak_gb_s=118.4,  # e150: same page
    dram_bank_gb_s=14.8,  # 118.4 / 8 banks: grayskull_120_arch.yaml
    worker_l1_bytes=1_048_576,  # grayskull_120_arch.yaml
    first_cb_address_measured=False,
    ethernet_payload_gb_s=None,
)
ARCHITECTURES = {chip.name: chip for chip in (_WORMHOLE, _BLACKHOLE, _GRAYSKULL)}


@dataclass(frozen=True, slots=True)
class Card:
    """A product: the worker grids of its chips and the speed of their DRAM."""

    name: str
    architecture: str
    grids: tuple[tuple[int, int], ...]
    """Worker grids (columns, rows) that its chips have, without the columns or rows that dispatch uses."""
    dram_peak_gb_s: float
    dram_banks: int

    @property
    def worker_cores(self) -> frozenset[int]:
        """The numbers of worker cores that a chip of this card can report."""
        return frozenset(x * y for x, y in self.grids)


# Wormhole with dispatch on a column: 7x9 on an n150 (TTNN 0.81.1 on mock chips), 7x10 on a Galaxy (core_descriptors).
# An n300's 7x8 is left out: 56 cores are 8x7 by default, and a report tells their number only
CARDS = (
    Card("n150", "wormhole_b0", ((8, 8), (7, 9)), 288, 12),  # docs.tenstorrent.com; core_descriptors
    Card("n300", "wormhole_b0", ((8, 7), (8, 8)), 288, 12),  # worker or ethernet dispatch: wormhole_b0_80_arch.yaml
    Card("t3000", "wormhole_b0", ((8, 8),), 288, 12),  # four n300
    Card("galaxy", "wormhole_b0", ((8, 9), (8, 10), (7, 10)), 288, 12),  # tt-perf-report #59; core_descriptors
    Card("p100", "blackhole", ((11, 10),), 448, 7),  # measured report; 7 of 8 DRAM banks
    Card("p150", "blackhole", ((11, 10), (12, 10), (13, 10)), 512, 8),  # firmware 19.5 went from 140 to 120 cores
    Card("p300", "blackhole", ((11, 10),), 512, 8),  # tt-metal #54915
    Card("galaxy", "blackhole", ((12, 10),), 512, 8),  # tt-metal #56976
    Card("e75", "grayskull", ((11, 8),), 102.4, 8),  # core_descriptors; docs.tenstorrent.com
    Card("e150", "grayskull", ((12, 9),), 118.4, 8),  # core_descriptors; docs.tenstorrent.com
)


@dataclass(frozen=True, slots=True)
class DramPeak:
    """The most that the DRAM of one chip may reach: lower bounds of a time are computed with it."""

    at_most_gb_s: float
    caveat: str | None = None


def canonical_architecture(name: str) -> str | None:
    """'Wormhole', 'ARCH.WORMHOLE_B0', 'n300', 'P150a' -> a key of ARCHITECTURES; None for anything else."""
    word = re.split(r"[.:]", name.strip().lower())[-1]
    for architecture in ARCHITECTURES:
        if word.startswith(architecture.split("_")[0]):
            return architecture
    architectures = {card.architecture for card in CARDS if _is_card(card, word)}
    return architectures.pop() if len(architectures) == 1 else None


def canonical_dtype(name: str) -> str:
    """'DataType::BFLOAT8_B', 'DataType.BFLOAT8_B', 'ttnn.bfloat8_b' -> 'BFLOAT8_B'; unknown words upper-cased."""
    return re.split(r"[.:]", name.strip())[-1].upper()


def possible_cards(architecture: str, worker_cores: int | None = None, product: str | None = None) -> list[Card]:
    """The cards that a chip can be, by the name of its board, otherwise by its cores; none where none has as many."""
    cards = [card for card in CARDS if card.architecture == architecture]
    named = [card for card in cards if product and _is_card(card, product.strip().lower())]
    return named or [card for card in cards if worker_cores is None or worker_cores in card.worker_cores]


def dram_peak_gb_s(
    architecture: str, worker_cores: int | None = None, product: str | None = None
) -> DramPeak | None:
    """The DRAM peak of one chip, in GB/s; None for an unknown architecture.

    A report names the architecture, but rarely the card: p100 (448) and p150 (512) both have 110 worker cores.
    """
    name = canonical_architecture(architecture)
    if name is None:
        return None
    cards = possible_cards(name, worker_cores, product)
    if not cards:
        caveat = f"{worker_cores} worker cores match no known {name} card: its DRAM peak is only bounded"
        return DramPeak(ARCHITECTURES[name].dram_peak_gb_s, caveat)
    possible: dict[float, list[str]] = {}
    for card in cards:
        possible.setdefault(card.dram_peak_gb_s, []).append(card.name)
    low, high = min(possible), max(possible)
    if low == high:
        return DramPeak(high)
    ends = " and ".join(f"{'/'.join(possible[peak])} ({peak:g} GB/s)" for peak in (low, high))
    return DramPeak(high, f"{ends} cannot be told apart")


def filled_up(size: float, step: int) -> int:
    """A number of bytes, filled up to a multiple of `step`."""
    return ceil(size / step) * step


def tensor_bytes(shape: Sequence[int], dtype: str, layout: str) -> int | None:
    """Bytes of a tensor over all banks; None where dtype or layout is unknown, or the two do not go together.

    Pass the padded shape where it is known; TILE pads the last two dimensions to 32 in any case. The padding of
    banks, for interleaved and sharded buffers, is not included.
    """
    dtype, layout = canonical_dtype(dtype), re.split(r"[.:]", layout.strip())[-1].upper()
    if dtype not in TILE_BYTES or layout not in {"TILE", "ROW_MAJOR"}:
        return None
    if layout == "TILE":
        *outer, height, width = (1, 1, *shape)
        return prod(outer) * -(-height // TILE_SIDE) * -(-width // TILE_SIDE) * TILE_BYTES[dtype]
    return None if dtype in BLOCK_FLOATS else prod(shape) * TILE_BYTES[dtype] // TILE_SIDE**2


def shard_bytes(shard: tuple[int, int], dtype: str, layout: str) -> int | None:
    """Bytes of a shard in L1, like `tensor_bytes`; in ROW_MAJOR a row of it is a page, and pages are aligned."""
    rows, columns = shard
    if layout != "ROW_MAJOR":
        return tensor_bytes(shard, dtype, layout)
    row = tensor_bytes((columns,), dtype, layout)
    return None if row is None else rows * filled_up(row, LOCAL_L1_ALIGNMENT_BYTES)


def _is_card(card: Card, word: str) -> bool:
    """Whether a board's name is this card: names end in a letter ('p150a', 'n300 l'), and a Galaxy board is a UBB."""
    spelled = "galaxy" if "ubb" in word else word
    return re.match(rf"{card.name}(?!\d)", spelled) is not None
