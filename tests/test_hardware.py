import pytest

from ttnn_mcp.hardware import (
    ARCHITECTURES,
    CARDS,
    ELEMENT_BYTES,
    canonical_architecture,
    canonical_dtype,
    dram_peak_gb_s,
    tensor_bytes,
)


def test_block_floats_carry_their_exponents():
    assert ELEMENT_BYTES["BFLOAT8_B"] == 1.0625
    assert ELEMENT_BYTES["BFLOAT4_B"] == 0.5625
    assert ELEMENT_BYTES["BFLOAT16"] == 2


def test_tile_layout_pads_the_last_two_dimensions():
    assert tensor_bytes((1, 1, 19, 33), "BFLOAT16", "TILE") == 2 * 2048
    assert tensor_bytes((2, 3, 64, 64), "DataType.BFLOAT8_B", "Layout.TILE") == 6 * 4 * 1088
    assert tensor_bytes((7,), "FLOAT32", "TILE") == 4096
    assert tensor_bytes((), "UINT8", "TILE") == 1024


def test_row_major_counts_elements():
    assert tensor_bytes((1, 384, 1280, 3), "BFLOAT16", "Layout::ROW_MAJOR") == 384 * 1280 * 3 * 2


def test_what_cannot_be_sized_is_not_guessed():
    assert tensor_bytes((32, 32), "BFLOAT8_B", "ROW_MAJOR") is None
    assert tensor_bytes((32, 32), "COMPLEX", "TILE") is None
    assert tensor_bytes((32, 32), "BFLOAT16", "DIAGONAL") is None


@pytest.mark.parametrize(
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
    assert dram_peak_gb_s("blackhole", 110, "p150b").at_least_gb_s == 512
    assert dram_peak_gb_s("blackhole", 110, "p150b").caveat is None


def test_110_blackhole_cores_may_be_either_card():
    peak = dram_peak_gb_s("blackhole", 110)
    assert (peak.at_least_gb_s, peak.at_most_gb_s) == (448, 512)
    assert "p100" in peak.caveat


def test_130_blackhole_cores_are_no_p100():
    assert dram_peak_gb_s("blackhole", 130).at_least_gb_s == 512


def test_a_derivative_with_20_cores_is_only_bounded():
    peak = dram_peak_gb_s("blackhole", 20)
    assert (peak.at_least_gb_s, peak.at_most_gb_s) == (64, 512)
    assert "20 worker cores" in peak.caveat


def test_a_wormhole_has_one_dram_peak_and_an_unknown_chip_none():
    assert dram_peak_gb_s("wormhole_b0") == dram_peak_gb_s("Wormhole", 56)
    assert dram_peak_gb_s("wormhole_b0").at_most_gb_s == 288
    assert dram_peak_gb_s("quasar") is None


def test_the_usable_l1_of_a_chip_is_what_reports_of_ttnn_0_81_1_say():
    """`make real` asks TTNN itself; these are `devices.cb_limit` of its reports."""
    assert ARCHITECTURES["wormhole_b0"].usable_l1_bytes == 1_393_312
    assert ARCHITECTURES["blackhole"].usable_l1_bytes == 1_461_120


def test_the_tables_agree_with_each_other():
    assert all(name == architecture.name for name, architecture in ARCHITECTURES.items())
    for card in CARDS:
        chip = ARCHITECTURES[card.architecture]
        assert card.dram_peak_gb_s <= chip.dram_peak_gb_s
        assert card.dram_peak_gb_s <= card.dram_banks * chip.dram_bank_gb_s
        assert card.worker_cores
