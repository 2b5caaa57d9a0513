"""The figures of chips, each against what somebody else publishes or what follows from it."""

import re

import pytest

from tests.for_all import for_all
from ttnn_mcp.hardware import (
    ARCHITECTURES,
    BLOCK_FLOATS,
    CARDS,
    DRAM_ALIGNMENT_BYTES,
    DST_TILES,
    DST_TILES_FP32,
    ELEMENT_BYTES,
    ELEMENTS_AT_MOST,
    FIDELITY_PHASES,
    MATMUL_FLOP_PER_CYCLE_PER_CORE,
    TILE_BYTES,
    canonical_architecture,
    canonical_dtype,
    dram_peak_gb_s,
    shard_bytes,
    tensor_bytes,
)

WORMHOLE, BLACKHOLE, GRAYSKULL = (ARCHITECTURES[name] for name in ("wormhole_b0", "blackhole", "grayskull"))
every_card = for_all("card", CARDS, ids=lambda card: f"{card.architecture}-{card.name}")

# Tensix cores of a chip (columns, rows) as their numbers on docs.tenstorrent.com and the core descriptors give them:
# n150 72, n300 and T3000 64, Galaxy 80; p100, p300, Galaxy 120, p150 140 or 120; e75 96, e150 120. Commands are
# dispatched from a row of them, from a column, or from Ethernet cores, which leaves all.
ROW, COLUMN, ETHERNET = (0, 1), (1, 0), (0, 0)
TENSIX = {
    ("wormhole_b0", "n150"): [((8, 9), ROW), ((8, 9), COLUMN)],
    ("wormhole_b0", "n300"): [((8, 8), ROW), ((8, 8), ETHERNET)],
    ("wormhole_b0", "t3000"): [((8, 8), ETHERNET)],
    ("wormhole_b0", "galaxy"): [((8, 10), ROW), ((8, 10), ETHERNET), ((8, 10), COLUMN)],
    ("blackhole", "p100"): [((12, 10), COLUMN)],
    ("blackhole", "p150"): [((12, 10), COLUMN), ((12, 10), ETHERNET), ((14, 10), COLUMN)],
    ("blackhole", "p300"): [((12, 10), COLUMN)],
    ("blackhole", "galaxy"): [((12, 10), ETHERNET)],
    ("grayskull", "e75"): [((12, 8), COLUMN)],
    ("grayskull", "e150"): [((12, 10), ROW)],
}
# The memory bus of a chip in bits and its transfers: docs.tenstorrent.com/aibs/.../specifications. The SoC descriptors
# name 12, 8 and 8 banks, each with its part of the bus; the 28 GB of a p100 are seven of the eight.
BUS_BITS = {"wormhole_b0": 192, "blackhole": 256, "grayskull": 256}
BANKS = {"wormhole_b0": 12, "blackhole": 8, "grayskull": 8}
GIGA_TRANSFERS = {"wormhole_b0": 12, "blackhole": 16, "grayskull": 3.7, "e75": 3.2}


@every_card
def test_a_worker_grid_is_what_dispatch_leaves_of_the_tensix_cores(card):
    published = TENSIX[card.architecture, card.name]
    assert {*card.grids} == {(columns - x, rows - y) for (columns, rows), (x, y) in published}


@every_card
def test_the_dram_of_a_card_is_as_fast_as_its_bus(card):
    arch = card.architecture
    bank_gb_s = BUS_BITS[arch] / BANKS[arch] / 8 * GIGA_TRANSFERS.get(card.name, GIGA_TRANSFERS[arch])
    assert card.dram_banks == BANKS[arch] - (card.name == "p100")
    assert card.dram_peak_gb_s == pytest.approx(card.dram_banks * bank_gb_s)


@for_all("chip", ARCHITECTURES.values(), ids=ARCHITECTURES)
def test_a_chip_has_the_dram_of_its_fastest_card(chip):
    assert chip.dram_peak_gb_s == pytest.approx(BUS_BITS[chip.name] / 8 * GIGA_TRANSFERS[chip.name])
    assert chip.dram_bank_gb_s == pytest.approx(chip.dram_peak_gb_s / BANKS[chip.name])


@for_all(
    ("chip", "gib", "lost_mib"),
    [(WORMHOLE, 12, 0), (BLACKHOLE, 32, 16)],
    ids=lambda value: getattr(value, "name", None),
)
def test_the_banks_of_a_chip_hold_the_memory_of_its_card(chip, gib, lost_mib):
    """n150 has 12 GB, p150 32 GB; of each of Blackhole's banks the last 16 MB cannot be addressed (tt-metal #10049)."""
    assert BANKS[chip.name] * (chip.dram_bank_bytes + lost_mib * 2**20) == gib * 2**30


def test_a_tensor_of_a_report_may_fill_half_of_the_largest_mesh_and_not_all_of_it():
    """A Galaxy of 32 chips with 32 GB each holds 1.1 TB: so many elements in the densest format."""
    elements = 32 * 32 * 2**30 / min(ELEMENT_BYTES.values())
    assert elements / 2 < ELEMENTS_AT_MOST < elements


@for_all(
    ("chip", "measured_gb_s"),
    [
        (WORMHOLE, (239, 260)),  # DRAM-sharded matmuls: llms.md says about 240, a skill for agents 239 to 260
        (BLACKHOLE, (400, 460)),  # interleaved bfloat16 in tt-metal #55898, two readers per bank in #54242
    ],
    ids=lambda value: getattr(value, "name", None),
)
def test_what_dram_achieves_is_between_the_measurements(chip, measured_gb_s):
    low, high = measured_gb_s
    assert low <= chip.dram_achievable_share * chip.dram_peak_gb_s <= high


@for_all(("fidelity", "cycles"), [("LoFi", 16), ("HiFi2", 32), ("HiFi3", 48), ("HiFi4", 64)])
def test_the_engine_takes_the_published_cycles_for_two_tiles(fidelity, cycles):
    """tech_reports/matrix_engine/matrix_engine.md; a product of two tiles is 32 x 32 x 32 multiplications and sums."""
    assert MATMUL_FLOP_PER_CYCLE_PER_CORE / FIDELITY_PHASES[fidelity] == 2 * 32**3 / cycles


@for_all(
    ("chip", "tensix", "fidelity", "tflops"),
    [
        (WORMHOLE, 72, "HiFi2", 148),  # n150 with BFP8: docs.tenstorrent.com/aibs/wormhole/specifications
        (WORMHOLE, 128, "HiFi4", 131),  # n300 with FP16: same
        (BLACKHOLE, 120, "LoFi", 664),  # p150 with BFP8 since firmware 19.5: press
        (BLACKHOLE, 120, "HiFi2", 332),  # the same with BF16
    ],
)
def test_the_peak_of_a_card_is_cores_times_flop_per_cycle_times_clock(chip, tensix, fidelity, tflops):
    flop_per_cycle = tensix * MATMUL_FLOP_PER_CYCLE_PER_CORE / FIDELITY_PHASES[fidelity]
    assert flop_per_cycle * chip.clock_ghz / 1000 == pytest.approx(tflops, rel=0.005)


def test_the_clock_of_an_e150_is_the_published_one():
    """docs.tenstorrent.com/aibs/grayskull/specifications; its TFLOPS are of another engine, so they prove nothing."""
    assert GRAYSKULL.clock_ghz * 1000 == 1200


def test_dst_holds_as_many_tiles_as_half_its_rows():
    """tt-isa-documentation, Dst.md: 1024 rows of 16 values of 16 bit, or 512 of 32; math fills one half at a time."""
    assert DST_TILES == 1024 * 16 // 2 // 32**2
    assert DST_TILES_FP32 == 512 * 16 // 2 // 32**2


def test_a_core_moves_the_published_number_of_words_per_cycle():
    """tt-isa-documentation, L1.md and NoC/README.md: two networks of 256 or 512 bits, reads and writes of 128 bits."""
    assert [WORMHOLE.noc_bytes_per_cycle, BLACKHOLE.noc_bytes_per_cycle] == [2 * 256 / 8, 2 * 512 / 8]
    assert WORMHOLE.unpack_bytes_per_cycle == (5 + 1) * 128 / 8  # both unpackers, and exponents
    assert WORMHOLE.pack_bytes_per_cycle == 4 * 128 / 8  # four packers
    wider = BLACKHOLE.noc_bytes_per_cycle / WORMHOLE.noc_bytes_per_cycle  # assumed of the rest too: not published
    assert BLACKHOLE.unpack_bytes_per_cycle == wider * WORMHOLE.unpack_bytes_per_cycle
    assert BLACKHOLE.pack_bytes_per_cycle == wider * WORMHOLE.pack_bytes_per_cycle


@for_all(("chip", "gigabits"), [(WORMHOLE, 100), (BLACKHOLE, 400)])
def test_a_link_carries_its_bits_less_a_twenty_fifth_of_headers(chip, gigabits):
    """tech_reports/CCLs/CCL_bandwidth.md: 12.0 of 12.5 GB/s, 48 of 50."""
    assert chip.ethernet_payload_gb_s == pytest.approx(gigabits / 8 * (1 - 1 / 25))


def test_pages_are_small_where_requests_are_the_limit():
    """tt-metal #55898: on a Blackhole 1 KB reaches 60 % of the peak, and a request takes as long whatever its size."""
    assert BLACKHOLE.dram_achievable_share <= 0.6 * BLACKHOLE.small_page_bytes / 1024 <= 1
    assert WORMHOLE.small_page_bytes == 2**8  # its page: rows below 256 B waste bandwidth


def test_pages_in_dram_begin_where_the_network_can_read():
    """DRAM is read in 256 bits (tt-isa-documentation, WormholeB0/NoC/Alignment.md) or 512 (Blackhole's guide)."""
    assert {arch: 8 * size for arch, size in DRAM_ALIGNMENT_BYTES.items()} == {"wormhole_b0": 256, "blackhole": 512}


@for_all("dtype", TILE_BYTES)
def test_a_tile_takes_the_bits_of_its_type_and_of_block_floats_an_exponent_per_16_values(dtype):
    bits = int(re.search(r"\d+", dtype).group())
    assert TILE_BYTES[dtype] == 32**2 * bits / 8 + (32**2 / 16 if dtype in BLOCK_FLOATS else 0)


def test_rows_of_a_shard_in_l1_begin_at_multiples_of_16_bytes():
    assert shard_bytes((4, 3), "BFLOAT16", "ROW_MAJOR") == 4 * 16
    assert shard_bytes((2, 5), "FLOAT32", "ROW_MAJOR") == 2 * 32
    assert shard_bytes((20, 32), "BFLOAT8_B", "TILE") == 1088
    assert shard_bytes((32, 32), "BFLOAT8_B", "ROW_MAJOR") is None
    assert shard_bytes((4, 4), "COMPLEX", "ROW_MAJOR") is None


def test_block_floats_carry_their_exponents():
    assert ELEMENT_BYTES["BFLOAT8_B"] == 1.0625
    assert ELEMENT_BYTES["BFLOAT4_B"] == 0.5625
    assert ELEMENT_BYTES["BFLOAT16"] == 2


def test_tile_layout_pads_the_last_two_dimensions():
    assert tensor_bytes((1, 1, 19, 33), "BFLOAT16", "TILE") == 2 * 2048
    assert tensor_bytes((2, 3, 64, 64), "DataType.BFLOAT8_B", "Layout.TILE") == 6 * 4 * 1088
    assert tensor_bytes((7,), "FLOAT32", "TILE") == 4096
    assert [tensor_bytes((), dtype, "TILE") for dtype in ("UINT8", "INT8", "FP8_E4M3")] == [1024] * 3


def test_row_major_counts_elements():
    assert tensor_bytes((1, 384, 1280, 3), "BFLOAT16", "Layout::ROW_MAJOR") == 384 * 1280 * 3 * 2


def test_what_cannot_be_sized_is_not_guessed():
    assert tensor_bytes((32, 32), "BFLOAT8_B", "ROW_MAJOR") is None
    assert tensor_bytes((32, 32), "COMPLEX", "TILE") is None
    assert tensor_bytes((32, 32), "BFLOAT16", "DIAGONAL") is None


@for_all(
    ("name", "architecture"),
    [
        ("wormhole_b0", "wormhole_b0"),
        ("Wormhole", "wormhole_b0"),
        ("ARCH.WORMHOLE_B0", "wormhole_b0"),
        ("n300", "wormhole_b0"),
        ("N150 L", "wormhole_b0"),
        ("blackhole", "blackhole"),
        ("tt::ARCH::BLACKHOLE", "blackhole"),
        ("p150a", "blackhole"),
        ("p100", "blackhole"),
        ("Grayskull", "grayskull"),
        ("e75", "grayskull"),
        ("galaxy", None),
        ("quasar", None),
        ("", None),
    ],
)
def test_names_of_chips_and_cards_lead_to_one_architecture(name, architecture):
    assert canonical_architecture(name) == architecture
    assert canonical_dtype("DataType.BFLOAT8_B") == canonical_dtype("ttnn.bfloat8_b") == "BFLOAT8_B"


def test_a_named_card_has_one_dram_peak():
    assert dram_peak_gb_s("blackhole", 110, "p100a").at_most_gb_s == 448
    assert dram_peak_gb_s("blackhole", 110, "p150b").at_most_gb_s == 512
    assert dram_peak_gb_s("blackhole", 110, "p150b").caveat is None


def test_110_blackhole_cores_may_be_either_card():
    peak = dram_peak_gb_s("blackhole", 110)
    assert peak.at_most_gb_s == 512
    assert "p100" in peak.caveat


def test_a_galaxy_names_its_boards_ubb():
    """`chip_to_boardtype` of a cluster descriptor says `ubb`."""
    peak = dram_peak_gb_s("blackhole", 110, "UBB_blackhole")
    assert (peak.at_most_gb_s, peak.caveat) == (512, None)


def test_130_blackhole_cores_are_no_p100():
    assert dram_peak_gb_s("blackhole", 130).caveat is None


def test_a_derivative_with_20_cores_is_only_bounded():
    peak = dram_peak_gb_s("blackhole", 20)
    assert peak.at_most_gb_s == 512
    assert "20 worker cores" in peak.caveat


def test_a_wormhole_has_one_dram_peak_and_an_unknown_chip_none():
    assert dram_peak_gb_s("wormhole_b0") == dram_peak_gb_s("Wormhole", 56)
    assert dram_peak_gb_s("wormhole_b0").at_most_gb_s == 288
    assert dram_peak_gb_s("quasar") is None


def test_the_usable_l1_of_a_chip_is_what_reports_of_ttnn_0_81_1_say():
    """`make real` asks TTNN itself; these are `devices.cb_limit` of its reports, out of 1464 and 1536 KiB."""
    assert (WORMHOLE.usable_l1_bytes, BLACKHOLE.usable_l1_bytes) == (1_393_312, 1_461_120)
    assert (WORMHOLE.worker_l1_bytes, BLACKHOLE.worker_l1_bytes) == (1464 * 1024, 1536 * 1024)
    assert GRAYSKULL.usable_l1_bytes == 1024**2 - (1464 * 1024 - 1_393_312)  # less what Wormhole's builds take
