"""Layouts: conversions between TILE and ROW_MAJOR, and the ops that need them.

All masks and numbers are per op of a table, in its order. Joins between ops come from `Flow`, so they are likely and
not certain: it compares size, data type, layout and placement, not tensor ids.
"""

from __future__ import annotations

import numpy as np

from ttnn_mcp.analyses.dataflow.likely_producers import NOBODY, Flow
from ttnn_mcp.arrays import Booleans, Integers
from ttnn_mcp.run.ops.artefact import artefact
from ttnn_mcp.run.ops.op_table import OpTable

TO_TILES = ("Tilize", "TilizeWithValPadding")
TO_ROWS = ("Untilize", "UntilizeWithUnpadding")
WRITES_ROWS = ("GridSample", "Upsample", "Pool2D", "Embeddings", "PaddedSlice", "SliceWrite", "Fold")
READS_ROWS = ("Halo", "Conv2d", "Pool2D", "Upsample", "GridSample", "Fold", "Embeddings")
OLD_READS_ROWS = ("PaddedSlice",)  # takes tiles since tt-metal PR #25072 of July 2025
CARRIES = ("InterleavedToSharded", "ShardedToInterleaved", "Reshard", "Move", "Copy", "Slice", "Pad")
CARRIED_AT_MOST = 4  # movers between an untilize and the op that reads rows: real chains have up to 3


def reader_counts(flow: Flow) -> Integers:
    """Per op, the number of inputs of later ops that read its output."""
    read = np.zeros(len(flow.ops), dtype=np.int64)
    for made_by in flow.producers:
        read += np.bincount(made_by[made_by != NOBODY], minlength=len(flow.ops))
    return read


@artefact
def reads_unmade(ops: OpTable, flow: Flow) -> Booleans:
    """Ops whose INPUT_0 no op of the table made: the model's input, a constant, or state from an earlier pass."""
    return ops.inputs[0].present & ~flow.made[0] if flow.made else np.zeros(len(ops), dtype=np.bool_)


def feeds_row_readers(ops: OpTable, flow: Flow) -> Booleans:
    """Ops whose output goes, through movers only, to an op that reads rows (halo, pool, upsample, grid sampling)."""
    feeds = np.zeros(len(ops), dtype=np.bool_)
    carries = ops.named(*CARRIES)
    newer = bool(ops.inputs) and ops.inputs[0].has_logical  # shapes are written so since September 2025
    reading = ops.named(*READS_ROWS) if newer else ops.named(*READS_ROWS, *OLD_READS_ROWS)
    for _ in range(CARRIED_AT_MOST):
        makers = np.zeros(len(ops), dtype=np.bool_)
        for made_by in flow.producers[:2]:
            makers[made_by[reading & (made_by != NOBODY)]] = True
        feeds |= makers
        reading = makers & carries
    return feeds


@artefact
def on_demand(ops: OpTable, flow: Flow) -> Booleans:
    """Conversions that a neighbour needs: untilize before an op that reads rows, tilize after one that writes them."""
    demanded = ops.named(*TO_ROWS) & feeds_row_readers(ops, flow)
    if flow.producers:
        maker = flow.producers[0]
        demanded |= ops.named(*TO_TILES) & (maker != NOBODY) & ops.named(*WRITES_ROWS)[maker]
    return demanded


def moves_bytes(ops: OpTable) -> Booleans:
    """Ops that only move or map elements, so that padding costs them time (a matmul waits for its weights)."""
    kinds = ("eltwise", "shape", "layout", "movement", "reduction")
    return ops.of_family(*kinds)
