"""Chips that TTNN mocks, as the driver would describe them."""

import re

from tests.for_all import for_all
from ttnn_mcp.replay.mock_chips import KINDS, Chips, description

DESCRIBED = """\
arch:
  0: arch
  1: arch
chips:
  0: [0, 0, 0, 0]
  1: [1, 0, 0, 0]
chip_unique_ids:
  0: 1000
  1: 1001
ethernet_connections:
  - [{chip: 0, chan: 8}, {chip: 1, chan: 0}]
ethernet_connections_to_remote_devices: []
chips_with_mmio:
  - 0: 1
harvesting:
  0:
    noc_translation: true
    harvest_mask: 3
    dram_harvesting_mask: 0
    eth_harvesting_mask: 4
    pcie_harvesting_mask: 5
    l2cpu_harvesting_mask: 0
  1:
    noc_translation: true
    harvest_mask: 3
    dram_harvesting_mask: 0
    eth_harvesting_mask: 4
    pcie_harvesting_mask: 5
    l2cpu_harvesting_mask: 0
chip_to_boardtype:
  0: board
  1: board
chip_to_bus_id:
  0: 0x0031
boards:
  - [{board_id: 72058994491928619}, {board_type: board}, {chips: [1]}]
  - [{board_id: 72058994491928620}, {board_type: board}, {chips: [0]}]
"""


@for_all("kind", KINDS)
def test_a_cluster_names_every_chip_once(kind):
    text = description(KINDS[kind])
    chips = len(KINDS[kind].places)
    assert len(re.findall(r"noc_translation", text)) == chips
    assert text.count(f": {KINDS[kind].arch}") == chips
    assert sorted(chip for board in KINDS[kind].boards for chip in board) == list(range(chips))
    assert len(re.findall(r"^  - \[\{board_id: \d+\}", text, re.MULTILINE)) == len(KINDS[kind].boards)
    assert text.count("board_type: ") == len(KINDS[kind].boards)


def test_a_cluster_is_described_as_the_driver_does():
    """Two chips, each on a board of its own, the second on the host's bus."""
    made = Chips("arch", "board", 3, ((0, 0), (1, 0)), ((0, 8, 1, 0),), (1,), ((1,), (0,)), 4, 5)
    assert description(made) == DESCRIBED


def test_a_mesh_has_its_cables_and_a_single_chip_has_none():
    assert description(KINDS["t3000"]).count("chan: ") == 2 * len(KINDS["t3000"].cables) == 40
    assert "ethernet_connections: []" in description(KINDS["n150"])
    assert "asic_locations" in description(KINDS["n150"])
    assert "asic_locations" not in description(KINDS["t3000"])


@for_all("kind", KINDS)
def test_what_is_switched_off_and_a_line_for_dispatch_leave_the_cores(kind):
    """Of 10 rows of 8 on Wormhole, of 14 columns of 10 on Blackhole."""
    lines, wide = {"wormhole_b0": (10, 8), "blackhole": (14, 10)}[KINDS[kind].arch]
    assert KINDS[kind].cores == wide * (lines - KINDS[kind].harvested.bit_count() - 1)
    beside = (288, 2) if KINDS[kind].arch == "blackhole" else (0, 0)  # two Ethernet cores of 14, one PCIe of two
    assert (KINDS[kind].eth_harvested, KINDS[kind].pcie_harvested) == beside
    columns = {"p150": 1, "p300": 5}  # the first, and the first and third
    assert KINDS[kind].harvested == columns.get(kind, KINDS[kind].harvested)


def test_the_cables_of_a_t3000_join_neighbours_of_four_by_two():
    """Two of each, none at a place that another has; the two chips of a card are joined, and one is on the bus."""
    chips = KINDS["t3000"]
    assert sorted(chips.places) == [(x, y) for x in range(4) for y in range(2)]
    joined = [tuple(sorted((a, b))) for a, _, b, _ in chips.cables]
    for a, b in joined:
        (left, top), (right, below) = chips.places[a], chips.places[b]
        assert abs(left - right) + abs(top - below) == 1
        assert joined.count((a, b)) == 2
    ends = [end for a, x, b, y in chips.cables for end in ((a, x), (b, y))]
    assert len({*ends}) == len(ends)
    for a, x, b, y in chips.cables:  # between cards the same channels at both ends
        assert (x, y) in ((8, 0), (9, 1)) if (b, a) in chips.boards else x == y
    for board in chips.boards:
        assert tuple(sorted(board)) in joined
        assert len({*board} & {*chips.mapped}) == 1
