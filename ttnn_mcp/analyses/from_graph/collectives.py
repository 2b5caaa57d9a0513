"""Buffers of collectives, on one chip: TTNN 0.81.1's dry captures list those of all chips under one device.

Between the chips of a mesh they clear the buffers, so TTNN's own reading of such a capture counts one chip, too.
Measured on mock devices of two and eight chips, Wormhole and Blackhole, in lines and in 2x4.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ttnn_mcp.analyses.from_graph.program import Program

PACKET_BYTES = 4352  # of the fabric: printed in AllGatherParams
PACKETS, FEWER_PACKETS = 12, 9  # that all_gather holds; the fewer with the one link of Wormhole
BROADCAST = 3  # packets that a broadcast holds
SCATTERING = {"ReduceScatterProgram", "LineReduceScatterMeshWorkloadFactory"}
SCATTERED = 48  # four buffers of 12 packets, of at most two tiles


def all_gather(program: Program) -> int | None:
    """Packets of whole pages; rows, and pages beyond a packet, three at a time."""
    page = program.x.page_bytes
    if program.factory not in {"AllGatherMulticastFactory", "AllGatherUnicastFactory"}:
        return None
    if program.factory == "AllGatherMulticastFactory" and not program.x.tiled:
        return broadcast(program)
    if page > PACKET_BYTES:
        return None
    is_single = program.machine.arch == "wormhole_b0" and program.factory == "AllGatherMulticastFactory"
    return (FEWER_PACKETS if is_single else PACKETS) * (PACKET_BYTES // page) * page


def reduce_scatter(program: Program) -> int | None:
    """Received, local and sent tiles, and their sum."""
    if program.factory not in SCATTERING or not program.x.tiled:
        return None
    tile = program.x.tile_bytes
    return SCATTERED * min(PACKET_BYTES // tile, 2) * tile


def broadcast(program: Program) -> int:
    """Packets of whole pages, or of one that is larger than a packet."""
    page = program.x.page_bytes
    return BROADCAST * max(PACKET_BYTES // page, 1) * page


def all_gather_async(program: Program) -> int | None:
    """As a broadcast."""
    return broadcast(program) if program.factory == "DefaultMeshWorkloadFactory" else None
