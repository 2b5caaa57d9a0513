"""Needless typecasts: those whose only reader is fused attention, and those that the producer could make itself."""

from __future__ import annotations

import numpy as np

from ttnn_mcp.analyses.attribute_columns import attributes_of
from ttnn_mcp.analyses.dataflow.alike_inputs import other_makers
from ttnn_mcp.analyses.dataflow.likely_producers import Flow, flow_of
from ttnn_mcp.analyses.dataflow.readers import Joins
from ttnn_mcp.analyses.op_kinds.formats import NO_MANTISSA
from ttnn_mcp.analyses.op_kinds.layouts import TO_TILES, reader_counts
from ttnn_mcp.arrays import Floats, Integers
from ttnn_mcp.records import dataclass
from ttnn_mcp.run.ops.artefact import artefact
from ttnn_mcp.run.ops.op_table import OpTable

TAKES_A_TYPE = ("output_dtype", "dtype")  # attributes of ops that can write another type
# ops of TTNN 0.81.1 whose calls have it; norms, sums, softmax, functions and choices print it, but take none
TYPED, TYPED_FAMILIES = ("Binary", "InterleavedToSharded", "ShardedToInterleaved"), ("matmul", "conv")
# `output_dtype` of TTNN 0.81.1, in tiles
TAKES_A_TYPE_ON_ITS_WAY = ("InterleavedToSharded", "ShardedToInterleaved")
ACCEPTED = ("BFLOAT16", "BFLOAT8_B", "BFLOAT4_B")  # by sdpa_device_operation.cpp of tt-metal


@dataclass(frozen=True, slots=True)
class AttentionCasts:
    """Casts whose only readers are attention ops.

    Attributes:
        rows: the casts.
        readers: the attention ops behind them.
        spared_share: per reader, the share of its inputs' bytes that only the casts add.
    """

    rows: Integers
    readers: Integers
    spared_share: Floats


@artefact
def casts_for_attention(ops: OpTable, joins: Joins) -> AttentionCasts:
    """The casts from a type that attention accepts to a wider one, which no other op reads.

    Q, K and V of one size count as three tensors: each counts as read.
    """
    source, output = ops.inputs[0], ops.outputs[0]
    widens = source.dtype.among(*ACCEPTED) & (source.element_bytes < output.element_bytes)
    casts = ops.named("Typecast") & widens
    attends = ops.of_family("attention")
    makers, readers_of = (np.concatenate(pair) for pair in zip(joins.edges, other_makers(ops), strict=True))
    decodes = ops.texts("op_code").where(lambda text: "Decode" in text)  # TTNN 0.81.1: "GQA expects BFLOAT16" of Q
    casts[flow_of(ops).producers[0][decodes]] = False
    casts &= np.isin(np.arange(len(ops)), makers) & ~np.isin(np.arange(len(ops)), makers[~attends[readers_of]])
    spared = np.zeros(len(ops))
    read_cast = casts[makers]
    np.add.at(spared, readers_of[read_cast], (output.bytes - source.bytes)[makers[read_cast]])
    readers = np.flatnonzero(spared)
    read_bytes = np.sum([operand.bytes[readers] for operand in ops.inputs], axis=0)
    return AttentionCasts(np.flatnonzero(casts), readers, spared[readers] / read_bytes)


def narrowed_behind_their_maker(ops: OpTable, flow: Flow) -> Integers:
    """Casts of floats to a narrower type, if the op before could write that type and no other op reads its output."""
    source, output, maker = ops.inputs[0], ops.outputs[0], flow.producers[0]
    narrows = (output.element_bytes < source.element_bytes) & ~source.dtype.among(*NO_MANTISSA)
    rows = np.flatnonzero(ops.named("Typecast") & narrows)  # the maker NOBODY is the last row, which no op reads
    takes_type = attributes_of(ops).numbers(
        maker[rows], lambda attributes: float(any(key in attributes for key in TAKES_A_TYPE))
    )
    settable = (takes_type > 0) & (ops.named(*TYPED, *TO_TILES) | ops.of_family(*TYPED_FAMILIES))[maker[rows]]
    return rows[settable & (reader_counts(flow)[maker[rows]] == 1)]


def moves_beside_casts(ops: OpTable, joins: Joins) -> Integers:
    """Per op, the move or tilize that could write its cast's type: behind it, or before one that widens; or -1."""
    x, y = ops.inputs[0], ops.outputs[0]
    whole = x.dtype.among(*NO_MANTISSA) | y.dtype.among(*NO_MANTISSA)
    casts, in_tiles = ops.named("Typecast") & ~whole, x.layout.among("TILE")
    alone, moves, tilizes = joins.reader_counts == 1, ops.named(*TAKES_A_TYPE_ON_ITS_WAY), ops.named(*TO_TILES)
    partners = np.full(len(ops), -1, dtype=np.int64)
    makers, readers = joins.edges
    before = (casts & alone)[makers] & np.where(in_tiles[makers], moves[readers], tilizes[readers])
    partners[makers[before]] = readers[before]
    widens = np.flatnonzero(casts & in_tiles & (x.element_bytes < y.element_bytes))
    behind = widens[((moves | tilizes) & alone)[joins.makers[widens]]]  # the last op has no reader
    partners[behind] = joins.makers[behind]
    return partners
