"""Buffers of collectives, on one chip: TTNN 0.81.1's dry captures show those of all chips under one device.

Measured on mock devices of two and eight Wormhole chips.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ttnn_mcp.analyses.memory.programs import Room
    from ttnn_mcp.analyses.program_models.machine import Machine
    from ttnn_mcp.readers.graph.launches import Launch

PACKET_BYTES = 4352  # of the fabric: printed in AllGatherParams
PACKETS = 9  # that all_gather holds
SCATTER_TILES = 96  # four buffers of 24


def all_gather(launch: Launch, room: Room, machine: Machine) -> int | None:
    """Packets of whole pages."""
    page = launch.inputs[0].page_bytes
    if launch.factory != "AllGatherMulticastFactory" or page > PACKET_BYTES:
        return None
    return PACKETS * (PACKET_BYTES // page) * page


def reduce_scatter(launch: Launch, room: Room, machine: Machine) -> int | None:
    """What comes, what is there, what goes and their sum."""
    if launch.factory != "ReduceScatterProgram" or not launch.inputs[0].tiled:
        return None
    return SCATTER_TILES * launch.inputs[0].tile_bytes
