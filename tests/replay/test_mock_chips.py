"""Chips that TTNN mocks, as the driver would describe them."""

import re

from tests.for_all import for_all
from ttnn_mcp.replay.mock_chips import KINDS, description


@for_all("kind", KINDS)
def test_a_cluster_names_every_chip_once(kind):
    text = description(KINDS[kind])
    chips = len(KINDS[kind].places)
    assert len(re.findall(r"noc_translation", text)) == chips
    assert text.count(f": {KINDS[kind].arch}") == chips
    assert sorted(chip for board in KINDS[kind].boards for chip in board) == list(range(chips))
    assert len(re.findall(r"^  - \[\{board_id: \d+\}", text, re.MULTILINE)) == len(KINDS[kind].boards)
    assert text.count("board_type: ") == len(KINDS[kind].boards)


def test_a_mesh_has_its_cables_and_a_single_chip_has_none():
    assert description(KINDS["t3000"]).count("chan: ") == 2 * len(KINDS["t3000"].cables) == 40
    assert "ethernet_connections: []" in description(KINDS["n150"])
    assert "asic_locations" in description(KINDS["n150"])
    assert "asic_locations" not in description(KINDS["t3000"])
