"""The hardware pages state the figures that the tools use, and no others."""

import re

import pytest

from tests.for_all import for_all
from tests.house.tree import ROOT
from ttnn_mcp.hardware import (
    ARCHITECTURES,
    CARDS,
    FIDELITY_PHASES,
    MATMUL_FLOP_PER_CYCLE_PER_CORE,
    TILE_BYTES,
)

PAGES = {
    name: (ROOT / "resources" / "hardware" / f"{name}.md").read_text(encoding="utf-8") for name in ARCHITECTURES
}
every_chip = for_all("name", ARCHITECTURES)


def numbers(text):
    return [float(number.replace(",", "")) for number in re.findall(r"\d[\d,]*(?:\.\d+)?", text)]


def row(page, begins):
    """The first line of a table or text that begins like this."""
    return next(line for line in page.splitlines() if line.lower().lstrip("| ").startswith(begins.lower()))


@every_chip
def test_a_page_for_every_architecture_and_no_other(name):
    assert {path.stem for path in (ROOT / "resources" / "hardware").glob("*.md")} == {*ARCHITECTURES}
    assert name in PAGES[name].splitlines()[0].lower()


@every_chip
def test_the_clock_and_the_rate_of_the_engine(name):
    page, clock = PAGES[name], ARCHITECTURES[name].clock_ghz
    assert numbers(row(page, "Clock "))[0] == clock
    for fidelity, phases in FIDELITY_PHASES.items():
        flop = MATMUL_FLOP_PER_CYCLE_PER_CORE / phases
        *_, stated_flop, stated_tflops = numbers(row(page, f"{fidelity} ").replace(fidelity, ""))
        assert stated_flop == int(flop)
        assert stated_tflops == pytest.approx(
            flop * clock / 1000, abs=0.05 if "about" in row(page, fidelity) else 6e-4
        )


@every_chip
def test_l1(name):
    page, chip = PAGES[name], ARCHITECTURES[name]
    assert chip.worker_l1_bytes in numbers(row(page, "worker L1"))
    if name != "grayskull":  # its page leaves the rest to the report
        assert chip.first_cb_address in numbers(row(page, "reserved below the first circular buffer"))
        assert chip.usable_l1_bytes in numbers(row(page, "left for tensors and circular buffers, without L1_SMALL"))


@every_chip
def test_bytes_per_tile(name):
    text = PAGES[name].replace("\n", " ")
    listed = re.search(r"(float32[^\[]*bfloat4_b \d+)", text).group(1)
    stated = {}
    for group in re.split(r"; |, (?=\w+ \d+,)|, (?=\w+ \d+$)", listed):
        *dtypes, size = re.findall(r"[a-z]\w*|\d+", group)
        stated |= {dtype.upper(): int(size) for dtype in dtypes}
    assert len(stated) >= 4
    assert stated == {dtype: TILE_BYTES[dtype] for dtype in stated}
    assert name == "grayskull" or stated.keys() == TILE_BYTES.keys()


@every_chip
def test_dram(name):
    page, chip = PAGES[name], ARCHITECTURES[name]
    peak = chip.dram_peak_gb_s
    assert peak in numbers(row(page, "e150 |") if name == "grayskull" else row(page, "peak"))
    stated = {
        "wormhole_b0": f"savings computed with {peak * chip.dram_achievable_share:.0f}",
        "blackhole": f"Savings are computed with {chip.dram_achievable_share:g} of the peak",
        "grayskull": "Savings are computed with the share of the peak that Wormhole reaches",
    }
    assert stated[name] in page.replace("\n", " ")


@every_chip
def test_ethernet(name):
    payload = ARCHITECTURES[name].ethernet_payload_gb_s
    section = PAGES[name].partition("## Ethernet")[2].partition("##")[0]
    if payload is None:
        assert "Not covered" in section
    else:
        assert payload in numbers(re.search(r"about [\d.]+\s+payload", section).group())


@for_all("card", CARDS, ids=lambda card: f"{card.architecture}-{card.name}")
def test_the_cards(card):
    line = row(PAGES[card.architecture].partition("## Cards")[2], card.name)
    for columns, rows in card.grids:
        assert f"{columns}x{rows}" in line or columns * rows in numbers(line)
    if card.architecture != "wormhole_b0":  # all Wormhole cards have one DRAM speed, in the table of DRAM
        assert card.dram_peak_gb_s in numbers(line)
