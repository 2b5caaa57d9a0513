"""What collectives exchange, over which links, and how fast.

Bytes per device for a full tensor of T bytes on N devices: all-gather and reduce-scatter (N-1)/N x T, all-reduce
twice that (tech_reports/CCLs/CCL_bandwidth.md).
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import numpy as np

from ttnn_mcp.analyses.attribute_columns import attributes_of
from ttnn_mcp.analyses.roofline.launch import LAUNCH_FLOOR_NS
from ttnn_mcp.arrays import Array, Floats, Integers
from ttnn_mcp.records import dataclass
from ttnn_mcp.run.ops.artefact import artefact
from ttnn_mcp.run.ops.op_names import canonical, family

if TYPE_CHECKING:
    from collections.abc import Callable

    from ttnn_mcp.readers.printed.attributes import Attributes
    from ttnn_mcp.run.chip import Chip
    from ttnn_mcp.run.ops.op_table import OpTable
    from ttnn_mcp.run.ops.operand import Operand

TODAY_SHARE = {"blackhole": 0.5}  # of a link's payload: BH links run at 25 of 50 GB/s so far (CCL_bandwidth.md)

_ROUTED = re.compile("Dispatch|Combine")


@dataclass(frozen=True)
class Collectives:
    """The collectives of a table; NaN where the attributes or operands do not say.

    Attributes:
        rows: positions in the table.
        payload_bytes: what each device sends.
        devices: how many take part.
        links: links used per direction.
        directions: 2 in a ring, 1 at the end of a line.
        persistent: whether buffers persist between calls; NaN where not said.
    """

    rows: Integers
    payload_bytes: Floats
    devices: Floats
    links: Floats
    directions: Floats
    persistent: Floats

    def rate_gb_s(self, exchange_ns: Floats) -> Floats:
        """Achieved per link and direction."""
        return self.payload_bytes / (np.maximum(exchange_ns, 1.0) * self.links * self.directions)

    def least_ns(self, gb_s: float | None, *, both_directions: bool = False) -> Floats:
        """The payload over the links at a rate per link and direction; NaN where unknown."""
        directions = 2.0 if both_directions else self.directions
        return self.payload_bytes / (self.links * directions * (gb_s or np.nan))

    def beyond_payload_ns(self, kernel_ns: Floats, chip: Chip) -> Floats:
        """What each takes of its table's times beyond its payload at the links' specified rate: hops and waiting."""
        least = np.fmax(self.least_ns(payload_gb_s(chip), both_directions=True), LAUNCH_FLOOR_NS)
        return np.maximum(0.0, kernel_ns[self.rows] - least)


def payload_gb_s(chip: Chip) -> float | None:
    """What one link carries in one direction by specification."""
    return chip.architecture.ethernet_payload_gb_s if chip.architecture else None


def today_gb_s(chip: Chip) -> float | None:
    """What one link has been seen to carry."""
    rate = payload_gb_s(chip)
    return None if rate is None else rate * TODAY_SHARE.get(chip.arch or "", 1.0)


@artefact
def collectives_of(ops: OpTable, mesh_devices: int) -> Collectives:
    """The collectives of one device's ops; `mesh_devices` where neither attributes nor shapes say how many take part.

    Along one axis of a mesh these are fewer, and ops with `cluster_axis` print no number (tt-metal's
    ReduceScatterDeviceOperation, and AllGatherDeviceOperation of 2026).
    """
    names, settings = ops.texts("op_code"), attributes_of(ops)
    rows = np.flatnonzero(names.where(lambda text: family(text) == "collective"))
    kinds = names.mapped(lambda text: _kind(canonical(text)), missing="", dtype=np.object_)[rows]
    ring, parts = settings.numbers(rows, _devices), _parts(ops, rows, kinds)
    devices = np.where(np.isnan(ring), np.where(np.isnan(parts), float(mesh_devices), parts), ring)
    sent = (devices - 1) / devices
    read, written = (
        operands[0].bytes[rows] if operands else np.zeros(len(rows)) for operands in (ops.inputs, ops.outputs)
    )
    whole = np.select(
        [kinds == "gather", kinds == "scatter", kinds == "reduce"], [written, read, 2 * read], default=np.nan
    )
    return Collectives(
        rows=rows,
        payload_bytes=np.where(whole > 0, sent * whole, np.nan),
        devices=devices,
        links=settings.numbers(rows, lambda attributes: attributes.number("num_links")),
        directions=settings.numbers(rows, _directions),
        persistent=settings.numbers(rows, lambda attributes: attributes.flag("using_persistent_buffers")),
    )


def of_results(ops: OpTable, figure: Callable[[Operand], Integers]) -> Integers:
    """A figure of each op's last output: a reduce-scatter lists its buffer before its result (tt-metal's output 0)."""
    figures = np.zeros(len(ops), dtype=np.int64)
    for operand in ops.outputs:
        figures = np.where(operand.present, figure(operand), figures)
    return figures


def _kind(name: str) -> str:
    for part, kind in (("AllGather", "gather"), ("ReduceScatter", "scatter"), ("AllReduce", "reduce")):
        if part in name:
            return kind
    # of experts, each device sends the rows that the router chose: which is not in the report
    return "scatter" if "AllToAll" in name and not _ROUTED.search(name) else ""


def _parts(ops: OpTable, rows: Integers, kinds: Array) -> Floats:
    """How many parts a gather joins or a scatter makes, by the elements; NaN where that is no whole number above 1."""
    if not ops.inputs:
        return np.full(len(rows), np.nan)
    result = of_results(ops, lambda operand: operand.elements)[rows]
    read, gathers = ops.inputs[0].elements[rows], kinds == "gather"
    parts = np.where(gathers, result, read) / np.maximum(np.where(gathers, read, result), 1)
    return np.where((parts > 1) & (parts % 1 == 0) & ((kinds == "scatter") | gathers), parts, np.nan)


def _devices(attributes: Attributes) -> float | None:
    return attributes.number("ring_size", "num_devices", "ring_devices")


def _directions(attributes: Attributes) -> float | None:
    topology = attributes.text_of("topology") or ""
    return 2.0 if "Ring" in topology else 1.0 if "Linear" in topology else None
