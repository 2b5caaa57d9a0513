"""Buffers of collectives, on one chip: TTNN 0.81.1's dry captures list those of all chips under one device.

Between the chips of a mesh they clear the buffers, so TTNN's own reading of such a capture counts one chip, too.
Measured on mock devices of two and eight chips, Wormhole and Blackhole, in lines and in 2x4; those that take turns with
other work or exchange parts on eight chips, Wormhole.
"""

from __future__ import annotations

from dataclasses import replace
from math import ceil

from ttnn_mcp.analyses.from_graph.footprint import Buffers
from ttnn_mcp.analyses.from_graph.matmuls import matmul
from ttnn_mcp.analyses.from_graph.program import Program

PACKET_BYTES = 4352  # of the fabric: printed in AllGatherParams
PACKETS, FEWER_PACKETS = 12, 9  # that all_gather holds; the fewer with the one link of Wormhole
BROADCAST = 3  # packets that a broadcast holds
HEADERS, MORE_HEADERS = 384, 768  # bytes of packets of the fabric
_OPERANDS = 3
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


def exchanged(program: Program) -> Buffers | None:
    """Three packets, and their headers."""
    return {**broadcast(program), "HEADERS": HEADERS} if program.machine.arch == "wormhole_b0" else None


def all_reduced(program: Program) -> Buffers | None:
    """All of the tensor on the core that sends it, or on those of several links, if the call prints their number."""
    if not program.x.sharded_in_l1 or not program.x.tiled or program.machine.arch != "wormhole_b0":
        return None
    links = program.settings.get("num_links", "")
    cores = max(int(links), 1) if links.isdigit() else 1
    return {"TILES": ceil(program.x.tiles / cores) * program.x.tile_bytes, "HEADERS": MORE_HEADERS}


def gathered_and_multiplied(program: Program) -> Buffers | None:
    """The matmul over the gathered tensor, or beside it, on other cores, what gathers."""
    if len(program.inputs) < _OPERANDS or len(program.outputs) < 2:
        return None
    whole, product = program.outputs[:2]
    launch = replace(program.launch, inputs=(whole, program.inputs[1]), outputs=(product,), factory="")
    product_buffers = matmul(replace(program, launch=launch))
    if product_buffers is None:
        return None
    return max(product_buffers, broadcast(program), key=lambda buffers: sum(buffers.values()))
