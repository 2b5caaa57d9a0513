"""Layouts: conversions between TILE and ROW_MAJOR, round trips, padding of tiles, rows too short for DRAM.

All masks and numbers are per op of a table, in its order. Joins between ops come from `Flow` and are no more
certain than that: equal size, data type, layout and placement, not tensor ids.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from ttnn_mcp.analyses.dataflow.likely_producers import NOBODY
from ttnn_mcp.hardware import ELEMENT_BYTES, TILE_SIDE
from ttnn_mcp.run.ops.artefact import artefact
from ttnn_mcp.run.ops.op_names import canonical, family

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from ttnn_mcp.analyses.dataflow.likely_producers import Flow
    from ttnn_mcp.run.ops.op_table import OpTable
    from ttnn_mcp.run.ops.operand import Operand
    from ttnn_mcp.run.ops.texts import Texts

TO_TILES = ("Tilize", "TilizeWithValPadding")
TO_ROWS = ("Untilize", "UntilizeWithUnpadding")
TINY_ROW_BYTES = 64  # rows up to here reach 9 % of Blackhole's DRAM bandwidth at best: tt-metal #55898
WRITES_ROWS = ("GridSample", "Upsample", "Pool2D", "Embeddings", "PaddedSlice", "SliceWrite", "Fold")
READS_ROWS = ("Halo", "Conv2d", "Pool2D", "Upsample", "GridSample", "PaddedSlice", "Fold", "Embeddings")
CARRIES = ("InterleavedToSharded", "ShardedToInterleaved", "Reshard", "Move", "Copy", "Slice", "Pad")
CARRIED_AT_MOST = 4  # movers between an untilize and the op that reads rows: real chains have up to 3


@dataclass(frozen=True, slots=True)
class RoundTrips:
    """Pairs of ops where the second undoes the first on the tensor it reads.

    Attributes:
        out: rows of the first op.
        back: rows of the second; the nearest one where several undo the same op.
        sole: whether nobody but such undoing ops reads what the first one made, so that it could go too.
    """

    out: NDArray[np.int64]
    back: NDArray[np.int64]
    sole: NDArray[np.bool_]

    def where(self, kept: NDArray[np.bool_]) -> RoundTrips:
        """The pairs of the mask."""
        return RoundTrips(self.out[kept], self.back[kept], self.sole[kept])


def named(ops: OpTable, *names: str) -> NDArray[np.bool_]:
    """Ops with one of these canonical names."""
    return ops.texts("op_code").where(lambda text: canonical(text) in names)


def reader_counts(flow: Flow) -> NDArray[np.int64]:
    """Per op, how many inputs of later ops read what it made."""
    read = np.zeros(len(flow.ops), dtype=np.int64)
    for made_by in flow.producers:
        read += np.bincount(made_by[made_by != NOBODY], minlength=len(flow.ops))
    return read


def round_trips(ops: OpTable, flow: Flow, out: NDArray[np.bool_], back: NDArray[np.bool_]) -> RoundTrips:
    """Ops of `back` whose INPUT_0 an op of `out` made."""
    nothing = np.zeros(0, dtype=np.int64)
    if not flow.producers or not ops.outputs:
        return RoundTrips(nothing, nothing, nothing.astype(np.bool_))
    maker = flow.producers[0]
    undoing = back & (maker != NOBODY)
    undoing[undoing] &= out[maker[undoing]]
    rows = np.flatnonzero(undoing)
    firsts, nearest = np.unique(maker[rows], return_index=True)
    undone = np.bincount(maker[rows], minlength=len(ops))
    return RoundTrips(firsts, rows[nearest], reader_counts(flow)[firsts] == undone[firsts])


@artefact
def layout_round_trips(ops: OpTable, flow: Flow) -> RoundTrips:
    """TILE to rows to TILE, or the reverse, on one tensor whose tiles stay where they were.

    A reshape between the two is no reason to leave TILE only where it keeps the width and whole tiles.
    """
    to_tiles, to_rows = named(ops, *TO_TILES), named(ops, *TO_ROWS)
    both = [round_trips(ops, flow, to_rows, to_tiles), round_trips(ops, flow, to_tiles, to_rows)]
    out, back = (np.concatenate([getattr(one, leg) for one in both]) for leg in ("out", "back"))
    found = RoundTrips(out, back, np.concatenate([one.sole for one in both]))
    if not len(out):
        return found
    before, after = ops.inputs[0].logical[out], ops.outputs[0].logical[back]
    whole = (before[:, 2] % TILE_SIDE == 0) & (after[:, 2] % TILE_SIDE == 0)
    same = (before[:, 3] == after[:, 3]) & ((before[:, 2] == after[:, 2]) | whole)
    return _apart(found.where(same), np.nan_to_num(ops.numbers("kernel_ns")))


def _apart(trips: RoundTrips, took: NDArray[np.float64]) -> RoundTrips:
    """The pairs without an op in common that save most: of tilize, untilize, tilize in a row one conversion stays."""
    if not np.isin(trips.out, trips.back).any():
        return trips
    saves = took[trips.back] + np.where(trips.sole, took[trips.out], 0.0)
    ends = {int(row): place for place, row in enumerate(trips.back.tolist())}
    best: dict[int, tuple[float, int | None]] = {}  # per pair: the most up to it, and the last pair that is taken
    for place in np.argsort(trips.back, kind="stable").tolist():
        before = ends.get(int(trips.out[place]))  # the pair that this one begins with the end of
        skipped = (0.0, None) if before is None else best[before]
        earlier = None if before is None else ends.get(int(trips.out[before]))
        taken = float(saves[place]) + (best[earlier][0] if earlier is not None else 0.0)
        best[place] = (taken, place) if taken >= skipped[0] else skipped
    kept = np.zeros(len(trips.out), dtype=np.bool_)
    inner = {ends[int(row)] for row in trips.out.tolist() if int(row) in ends}
    for last in set(range(len(trips.out))) - inner:
        taken_pair = best[last][1]
        while taken_pair is not None:
            kept[taken_pair] = True
            before = ends.get(int(trips.out[taken_pair]))
            earlier = None if before is None else ends.get(int(trips.out[before]))
            taken_pair = None if earlier is None else best[earlier][1]
    return trips.where(kept)


def ends_as_it_began(ops: OpTable, trips: RoundTrips) -> NDArray[np.bool_]:
    """Pairs after which data type and placement are those from before."""
    if not len(trips.out):
        return np.zeros(0, dtype=np.bool_)
    return _same_text(ops.inputs[0].dtype, trips.out, ops.outputs[0].dtype, trips.back) & _same_text(
        ops.inputs[0].placement, trips.out, ops.outputs[0].placement, trips.back
    )


def _same_text(before: Texts, out: NDArray[np.int64], after: Texts, back: NDArray[np.int64]) -> NDArray[np.bool_]:
    number = {text: place for place, text in enumerate({*before.distinct, *after.distinct})}
    return np.equal(
        before.take(out).mapped(number.__getitem__, missing=-1, dtype=np.int64),
        after.take(back).mapped(number.__getitem__, missing=-1, dtype=np.int64),
    )


@artefact
def reads_unmade(ops: OpTable, flow: Flow) -> NDArray[np.bool_]:
    """Ops whose INPUT_0 no op of the table made: the model's input, a constant, or state from an earlier pass."""
    if not flow.producers:
        return np.zeros(len(ops), dtype=np.bool_)
    return ops.inputs[0].present & (flow.producers[0] == NOBODY)


def feeds_row_readers(ops: OpTable, flow: Flow) -> NDArray[np.bool_]:
    """Ops whose output reaches, through movers alone, one that takes rows (halo, pool, upsample, grid sampling)."""
    feeds = np.zeros(len(ops), dtype=np.bool_)
    carries = named(ops, *CARRIES)
    reading = named(ops, *READS_ROWS)
    for _ in range(CARRIED_AT_MOST):
        makers = np.zeros(len(ops), dtype=np.bool_)
        for made_by in flow.producers[:2]:
            makers[made_by[reading & (made_by != NOBODY)]] = True
        feeds |= makers
        reading = makers & carries
    return feeds


@artefact
def on_demand(ops: OpTable, flow: Flow) -> NDArray[np.bool_]:
    """Conversions that a neighbour demands: untilize for what reads rows, tilize after what writes them."""
    demanded = named(ops, *TO_ROWS) & feeds_row_readers(ops, flow)
    if flow.producers:
        maker = flow.producers[0]
        demanded |= named(ops, *TO_TILES) & (maker != NOBODY) & named(ops, *WRITES_ROWS)[maker]
    return demanded


def wasted_bytes(operand: Operand) -> NDArray[np.float64]:
    """Bytes of tile padding that another shape of the same tensor would avoid; 0 in ROW_MAJOR.

    The least is counted with all outer dims merged into the height, and below a tile's width with the elements
    folded into whole tiles: the one row of a decode step costs a row of tiles whatever one does, and is no waste.
    """
    logical, padded = operand.logical, operand.padded
    rows = logical[:, :3].prod(axis=1)
    width = -(-logical[:, 3] // TILE_SIDE)
    tall = -(-rows // TILE_SIDE) * width
    folded = -(-operand.elements // TILE_SIDE**2)
    least = np.where(logical[:, 3] < TILE_SIDE, folded, tall)
    now = padded.prod(axis=1) / TILE_SIDE**2
    share = np.where(now > 0, 1 - least / np.where(now > 0, now, 1.0), 0.0)
    return np.where(operand.layout.among("TILE"), operand.bytes * np.maximum(share, 0.0), 0.0)


@artefact
def tile_waste(ops: OpTable) -> NDArray[np.float64]:
    """Share of the bytes of all operands that is avoidable tile padding."""
    operands = (*ops.inputs, *ops.outputs)
    total, wasted = np.zeros(len(ops)), np.zeros(len(ops))
    for operand in operands:
        total += operand.bytes
        wasted += wasted_bytes(operand)
    return wasted / np.where(total > 0, total, np.inf)


def moves_bytes(ops: OpTable) -> NDArray[np.bool_]:
    """Ops that only move or map elements, so that padding costs them time (a matmul waits for its weights)."""
    kinds = ("eltwise", "shape", "layout", "movement", "reduction")
    return ops.texts("op_code").where(lambda text: family(text) in kinds)


def row_bytes(operand: Operand) -> NDArray[np.float64]:
    """Bytes of one ROW_MAJOR row, the page of an interleaved tensor; infinite in TILE, sharded or absent."""
    each = operand.dtype.mapped(lambda text: ELEMENT_BYTES.get(text, np.inf), missing=np.inf, dtype=np.float64)
    rows = operand.layout.among("ROW_MAJOR") & ~operand.sharded & operand.present
    return np.where(rows, operand.padded[:, 3] * each, np.inf)


@artefact
def moves_tiny_rows(ops: OpTable) -> NDArray[np.bool_]:
    """Ops with rows below `TINY_ROW_BYTES` on either side."""
    tiny = np.zeros(len(ops), dtype=np.bool_)
    for operand in (*ops.inputs[:1], *ops.outputs[:1]):
        tiny |= row_bytes(operand) < TINY_ROW_BYTES
    return tiny
