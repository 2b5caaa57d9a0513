"""Chips that TTNN mocks: described as the driver describes a cluster, before TTNN is imported.

No import of ours, because the user's Python and the rig of real TTNN read this too.
"""

from __future__ import annotations

from ttnn_mcp.records import dataclass


@dataclass(frozen=True)
class Chips:
    """Chips of one kind. `harvested` is the mask of rows or columns that are switched off."""

    arch: str
    board: str
    harvested: int
    places: tuple[tuple[int, int], ...] = ((0, 0),)
    cables: tuple[tuple[int, int, int, int], ...] = ()  # chip, channel, chip, channel
    mapped: tuple[int, ...] = (0,)  # chips that hang on the host's bus
    boards: tuple[tuple[int, ...], ...] = ((0,),)
    eth_harvested: int = 0
    pcie_harvested: int = 0
    cores: int = 64  # of each chip that take work, as TTNN 0.81.1 counts them


# eight chips, two per card; channels as a T3000 is cabled (tt-metal, cluster descriptions of T3000)
T3000 = Chips(
    "wormhole_b0",
    "n300",
    harvested=512,  # one row: 8x8 workers
    places=((1, 0), (1, 1), (2, 0), (2, 1), (0, 0), (0, 1), (3, 0), (3, 1)),
    cables=tuple(
        (a, x + lane, b, y + lane)
        for a, x, b, y in (
            (0, 6, 2, 6), (0, 8, 4, 0), (0, 14, 1, 14), (1, 0, 3, 0), (1, 8, 5, 0),
            (2, 8, 6, 0), (2, 14, 3, 14), (3, 8, 7, 0), (4, 6, 5, 6), (6, 6, 7, 6),
        )
        for lane in (0, 1)
    ),
    mapped=(0, 1, 3, 2),
    boards=((4, 0), (5, 1), (6, 2), (7, 3)),
)  # fmt: skip
KINDS = {
    "n150": Chips("wormhole_b0", "n150", harvested=512),  # 8x8 workers
    "n300": Chips("wormhole_b0", "n300", harvested=512),  # one of two, 8x8: Ethernet cores dispatch
    # one of two, where a row dispatches: on an n300 TTNN 0.81.1 has Ethernet cores dispatch unless told otherwise
    "n300-8x7": Chips("wormhole_b0", "n150", harvested=768, cores=56),
    "p150": Chips("blackhole", "p150", harvested=1, eth_harvested=288, pcie_harvested=2, cores=120),  # 12x10
    "p100": Chips("blackhole", "p100", harvested=0, eth_harvested=288, pcie_harvested=2, cores=130),  # 13x10
    "p300": Chips("blackhole", "p150", harvested=5, eth_harvested=288, pcie_harvested=2, cores=110),  # one of two
    "galaxy": Chips("wormhole_b0", "ubb", harvested=0, cores=72),  # 8x9
    "t3000": T3000,
}


def kind_of(arch: str | None, cores: int | None, chips: int = 1) -> str | None:
    """The single chip of an architecture with so many cores, else its usual one; or the least mesh with so many chips.

    None where TTNN mocks none.
    """
    kinds = [name for name, one in KINDS.items() if one.arch == arch]
    if chips > 1:
        return next((name for name in kinds if len(KINDS[name].places) >= chips), None)
    kinds = [name for name in kinds if len(KINDS[name].places) == 1]
    return next((name for name in kinds if KINDS[name].cores == cores), next(iter(kinds), None))


def description(chips: Chips) -> str:
    """The chips as the driver describes a cluster, in YAML."""
    every = range(len(chips.places))
    lines = ["arch:", *(f"  {chip}: {chips.arch}" for chip in every), "chips:"]
    lines += [f"  {chip}: [{x}, {y}, 0, 0]" for chip, (x, y) in enumerate(chips.places)]
    lines += ["chip_unique_ids:", *(f"  {chip}: {1000 + chip}" for chip in every)]
    lines += ["ethernet_connections:"] if chips.cables else ["ethernet_connections: []"]
    lines += [f"  - [{{chip: {a}, chan: {x}}}, {{chip: {b}, chan: {y}}}]" for a, x, b, y in chips.cables]
    lines += ["ethernet_connections_to_remote_devices: []", "chips_with_mmio:"]
    lines += [f"  - {chip}: {bus}" for chip, bus in enumerate(chips.mapped)]
    lines += ["harvesting:"]
    for chip in every:
        lines += [
            f"  {chip}:",
            "    noc_translation: true",
            f"    harvest_mask: {chips.harvested}",
            "    dram_harvesting_mask: 0",
            f"    eth_harvesting_mask: {chips.eth_harvested}",
            f"    pcie_harvesting_mask: {chips.pcie_harvested}",
            "    l2cpu_harvesting_mask: 0",
        ]
    lines += ["chip_to_boardtype:", *(f"  {chip}: {chips.board}" for chip in every)]
    lines += ["chip_to_bus_id:", *(f"  {chip}: 0x{49 + chip:04x}" for chip in range(len(chips.mapped)))]
    lines += ["boards:"]
    for number, together in enumerate(chips.boards):
        members = ", ".join(map(str, together))
        number_of_board = f"{{board_id: {72058994491928619 + number}}}"
        lines += [f"  - [{number_of_board}, {{board_type: {chips.board}}}, {{chips: [{members}]}}]"]
    if len(chips.places) == 1:
        lines += ["asic_locations:", "  0: 0"]
    return "\n".join([*lines, ""])
