"""Buffers of collectives, on one chip, and of what routes tokens to experts and adds up what they gave.

TTNN 0.81.1's dry captures list those of all chips under one device. Between the chips of a mesh they clear the buffers,
so TTNN's own reading of such a capture counts one chip, too. Measured on mock devices of two and eight chips, Wormhole
and Blackhole, in lines and in 2x4; those that take turns with other work or exchange parts on eight chips, Wormhole;
tokens sent to other chips on Wormhole only, on meshes of 1x8 and 2x4.
"""

from __future__ import annotations

from dataclasses import replace
from math import ceil, prod

from ttnn_mcp.analyses.from_graph.elementwise import CHUNK
from ttnn_mcp.analyses.from_graph.matmuls import matmul
from ttnn_mcp.analyses.from_graph.program import Buffers, Program
from ttnn_mcp.hardware import ELEMENT_BYTES, LOCAL_L1_ALIGNMENT_BYTES, TILE_BYTES, filled_up

PACKET_BYTES = 4352  # of the fabric: printed in AllGatherParams
PACKETS, FEWER_PACKETS = 12, 9  # that all_gather holds; the fewer with the one link of Wormhole
BROADCAST = 3  # packets that a broadcast holds
HEADERS, MORE_HEADERS = 384, 768  # bytes of packets of the fabric
_OPERANDS = 3
SCATTERING = {"ReduceScatterProgram", "LineReduceScatterMeshWorkloadFactory"}
_HALF = TILE_BYTES["BFLOAT16"]
EXPERTS, GATED = 8, 90  # tiles of 256 experts, the only number that the gate takes; all of its buffers
ROUTED_HEADERS = 96  # bytes of two packets of the fabric
CLIENT = 9_840  # bytes of the connections to other chips
DISPATCHED = 3  # operands


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


def grouped_gate(program: Program) -> Buffers | None:
    """Scores, bias, and what lies between them and the choice."""
    return {"SCORES": GATED * _HALF} if program.x.columns == EXPERTS and program.x.dtype == "BFLOAT16" else None


def summed_and_split(program: Program) -> Buffers | None:
    """Tiles of the summed dimension, the most up to eight that divide it, twice; zeros; two tiles out."""
    place = program.attributes.partition("(")[2].partition(",")[0]
    if not place.isdigit() or int(place) >= len(program.x.shape):
        return None
    summed = program.x.shape[int(place)]
    chunk = next(size for size in range(CHUNK, 0, -1) if summed % size == 0)
    return {"IN": 2 * chunk * program.x.tile_bytes, "ZEROS": _HALF, "OUT": 2 * program.out.tile_bytes}


def dispatched(program: Program) -> Buffers | None:
    """A token twice, all choices, the map of the experts, what goes where, and the choices of all chips."""
    if not _is_measured(program) or len(program.outputs) < 2:
        return None
    x, choices, experts = program.inputs[:DISPATCHED]
    tokens, every = prod(x.shape[:-1]), prod(program.outputs[1].shape[:-1])
    choice, of_expert = program.dram_row(choices), program.dram_row(experts)
    places = tokens * experts.shape[-1]  # a byte for each chip
    return {
        "TOKENS": 2 * program.dram_row(x),
        "CHOICES": (tokens + every) * choice,
        "EXPERTS": prod(experts.shape[:-1]) * of_expert,
        "PLACES": places,
        "ROUTED_HEADERS": ROUTED_HEADERS,
    }


def combined(program: Program) -> Buffers | None:
    """A token of each of the chip's experts, their numbers, a row of the map and one of the choices."""
    if not _is_measured(program):
        return None
    x, experts, choices = program.inputs[:DISPATCHED]
    numbers = filled_up(x.shape[0] * ELEMENT_BYTES["UINT16"], LOCAL_L1_ALIGNMENT_BYTES)
    return {
        "TOKENS": x.shape[0] * x.row_bytes,
        "EXPERTS": experts.row_bytes,
        "CHOICES": choices.row_bytes,
        "NUMBERS": numbers,
        "CONNECTIONS": CLIENT,
    }


def remapped(program: Program) -> Buffers | None:
    """Two rows of scores, and one of each other tensor."""
    if len(program.inputs) < DISPATCHED or len(program.outputs) < 2 or program.x.tiled:
        return None
    scores, experts, choices = program.inputs[:DISPATCHED]
    numbers = filled_up(program.out.shape[-1] * ELEMENT_BYTES["UINT16"], LOCAL_L1_ALIGNMENT_BYTES)
    return {
        "SCORES": 2 * scores.row_bytes,
        "NUMBERS": numbers,
        "EXPERTS": experts.row_bytes,
        "CHOICES": choices.row_bytes,
        "OUT": sum(spec.row_bytes for spec in program.outputs[:2]),
    }


def _is_measured(program: Program) -> bool:
    return len(program.inputs) >= DISPATCHED and not program.x.tiled and program.machine.arch == "wormhole_b0"
