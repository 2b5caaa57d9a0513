"""Buffers of collectives on one chip: the dry captures of TTNN 0.81.1 show the buffers of all chips under one device.

Measured on mock devices of two and eight Wormhole chips.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ttnn_mcp.analyses.program_models.program import Program

PACKET_BYTES = 4352  # of the fabric: printed in AllGatherParams
PACKETS = 9  # in all_gather's buffer
SCATTER_TILES = 96  # four buffers of 24


def all_gather(program: Program) -> int | None:
    """Packets of whole pages."""
    page = program.x.page_bytes
    if program.factory != "AllGatherMulticastFactory" or page > PACKET_BYTES:
        return None
    return PACKETS * (PACKET_BYTES // page) * page


def reduce_scatter(program: Program) -> int | None:
    """Received, local and sent tiles, and their sum."""
    if program.factory != "ReduceScatterProgram" or not program.x.tiled:
        return None
    return SCATTER_TILES * program.x.tile_bytes
