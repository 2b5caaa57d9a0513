"""Buffers of collectives, on one chip: TTNN 0.81.1's dry captures list those of all chips under one device.

Between the chips of a mesh they clear the buffers, so TTNN's own reading of such a capture counts one chip, too.
Measured on mock devices of two and eight chips, Wormhole and Blackhole, in lines and in 2x4.
"""

from __future__ import annotations

from ttnn_mcp.analyses.from_graph.footprint import Buffers
from ttnn_mcp.analyses.from_graph.program import Program

PACKET_BYTES = 4352  # of the fabric: printed in AllGatherParams
PACKETS, FEWER_PACKETS = 12, 9  # that all_gather holds; the fewer with the one link of Wormhole
BROADCAST = 3  # packets that a broadcast holds
SCATTERING = {"ReduceScatterProgram", "LineReduceScatterMeshWorkloadFactory"}


def all_gather(program: Program) -> Buffers | None:
    """Packets of whole pages; rows, and pages beyond a packet, three at a time."""
    page = program.x.page_bytes
    if program.factory not in {"AllGatherMulticastFactory", "AllGatherUnicastFactory"}:
        return None
    if program.factory == "AllGatherMulticastFactory" and not program.x.tiled:
        return broadcast(program)
    if page > PACKET_BYTES:
        return None
    is_single = program.machine.arch == "wormhole_b0" and program.factory == "AllGatherMulticastFactory"
    return {"PACKETS": (FEWER_PACKETS if is_single else PACKETS) * (PACKET_BYTES // page) * page}


def reduce_scatter(program: Program) -> Buffers | None:
    """Received, local and sent tiles, and their sum: packets of at most two."""
    if program.factory not in SCATTERING or not program.x.tiled:
        return None
    tile = program.x.tile_bytes
    packets = PACKETS * min(PACKET_BYTES // tile, 2) * tile
    return dict.fromkeys(("RECEIVED", "LOCAL", "SENT", "SUM"), packets)


def broadcast(program: Program) -> Buffers:
    """Packets of whole pages, or of one that is larger than a packet."""
    page = program.x.page_bytes
    return {"PACKETS": BROADCAST * max(PACKET_BYTES // page, 1) * page}


def all_broadcast(program: Program) -> Buffers:
    """As a broadcast, of rows at most two at a time."""
    page = program.x.page_bytes
    return (
        broadcast(program)
        if program.x.tiled
        else {"PACKETS": BROADCAST * max(min(PACKET_BYTES // page, 2), 1) * page}
    )


def all_gather_async(program: Program) -> Buffers | None:
    """As a broadcast."""
    return broadcast(program) if program.factory == "DefaultMeshWorkloadFactory" else None
