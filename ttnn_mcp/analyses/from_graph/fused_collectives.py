"""Buffers of collectives that take turns with other work, and of those that exchange parts; on one chip.

Measured on TTNN 0.81.1 mock devices of eight chips, Wormhole.
"""

from __future__ import annotations

from dataclasses import replace
from math import ceil

from ttnn_mcp.analyses.from_graph.collectives import broadcast
from ttnn_mcp.analyses.from_graph.footprint import Buffers
from ttnn_mcp.analyses.from_graph.matmuls import matmul
from ttnn_mcp.analyses.from_graph.program import Program

HEADERS, MORE_HEADERS = 384, 768  # bytes of packets of the fabric
_OPERANDS = 3


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
