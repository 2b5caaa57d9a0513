"""Convs that are cut into slices: the ops that fetch a slice from DRAM and write its part of the output back."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from ttnn_mcp.analyses.dataflow.likely_producers import NOBODY, flow_of
from ttnn_mcp.run.ops.artefact import artefact
from ttnn_mcp.run.ops.op_names import canonical

if TYPE_CHECKING:
    from ttnn_mcp.analyses.programs.convs import Conv
    from ttnn_mcp.run.ops.op_table import OpTable

MOST_BETWEEN = 2  # ops between a fetch and its conv: Move and Halo


class Slice(NamedTuple):
    """The ops that move a slice: positions of its SliceWrite and its PaddedSlice; the write alone if there is no fetch.

    Attributes:
        parts: the number of slices of the whole tensor.
    """

    write: int
    transports: tuple[int, ...]
    parts: int


@artefact
def slices_of(ops: OpTable) -> dict[int, Slice]:
    """The slice of each conv that writes one, by the conv's position."""
    names, makers = ops.texts("op_code"), flow_of(ops).makers_of(0)
    convs, fetches, writes = (
        names.where(lambda text, name=name: canonical(text) == name)
        for name in ("Conv2d", "PaddedSlice", "SliceWrite")
    )
    slices: dict[int, Slice] = {}
    for write in np.flatnonzero(writes & (makers != NOBODY) & convs[makers]).tolist():
        conv = at = int(makers[write])
        transports = [write]
        for _ in range(MOST_BETWEEN + 1):
            at = int(makers[at])
            if at == NOBODY:
                break
            if fetches[at]:
                transports.append(at)
        slices[conv] = Slice(write, tuple(transports), _parts(ops, write))
    return slices


def unsliced(conv: Conv, parts: int) -> Conv:
    """The conv that does the work of all slices at once, with the block that each has."""
    return replace(conv, per_core_h=conv.per_core_h * parts, allocated_bytes=conv.allocated_bytes * parts)


def _parts(ops: OpTable, write: int) -> int:
    """The number of parts of this size that fill the tensor."""
    whole, part = ops.outputs[0].elements[write], ops.inputs[0].elements[write]
    return max(1, round(float(whole) / float(part)))
