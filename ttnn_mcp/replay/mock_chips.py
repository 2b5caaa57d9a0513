"""Chips that a mock device of TTNN stands for, described as its driver describes a cluster.

TT_METAL_MOCK_CLUSTER_DESC_PATH names such a file; a memory report has the one of its own machine.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Chips:
    """Chips of one kind. `harvested` is the mask of rows or columns that are switched off."""

    arch: str
    board: str
    harvested: int
    cores: int
    eth_harvested: int = 0
    pcie_harvested: int = 0


# masks as the standard descriptors of tt-metal have them; cores as TTNN 0.81.1 counts them on each
KINDS = {
    "n150": Chips("wormhole_b0", "n150", harvested=512, cores=64),
    "galaxy": Chips("wormhole_b0", "ubb", harvested=0, cores=72),
    "p150": Chips("blackhole", "p150", harvested=1, cores=120, eth_harvested=288, pcie_harvested=2),
    "p100": Chips("blackhole", "p100", harvested=0, cores=130, eth_harvested=288, pcie_harvested=2),
    "p300": Chips("blackhole", "p150", harvested=5, cores=110, eth_harvested=288, pcie_harvested=2),
}


def kind_of(arch: str | None, cores: int | None) -> str | None:
    """The chip of an architecture with so many cores, else its usual one; None for one that has no mock device."""
    kinds = [name for name, chips in KINDS.items() if chips.arch == arch]
    return next((name for name in kinds if KINDS[name].cores == cores), next(iter(kinds), None))


def description(kind: str) -> str:
    """One chip of the kind, in YAML."""
    chips = KINDS[kind]
    masks = {
        "harvest_mask": chips.harvested,
        "dram_harvesting_mask": 0,
        "eth_harvesting_mask": chips.eth_harvested,
        "pcie_harvesting_mask": chips.pcie_harvested,
        "l2cpu_harvesting_mask": 0,
    }
    lines = [
        *("arch:", f"  0: {chips.arch}", "chips:", "  0: [0, 0, 0, 0]", "chip_unique_ids:", "  0: 1000"),
        *("ethernet_connections: []", "ethernet_connections_to_remote_devices: []", "chips_with_mmio:", "  - 0: 0"),
        *("harvesting:", "  0:", "    noc_translation: true"),
        *(f"    {name}: {mask}" for name, mask in masks.items()),
        *("chip_to_boardtype:", f"  0: {chips.board}", "chip_to_bus_id:", "  0: 0x0031", "boards:"),
        f"  - [{{board_id: 72058994491928619}}, {{board_type: {chips.board}}}, {{chips: [0]}}]",
        *("asic_locations:", "  0: 0"),
    ]
    return "\n".join([*lines, ""])
