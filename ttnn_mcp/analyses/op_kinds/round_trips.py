"""Round trips: pairs of ops where the second undoes the first.

Joins between ops come from `Flow`, so they are likely and not certain: it compares size, data type, layout and
placement, not tensor ids.
"""

from __future__ import annotations

import numpy as np

from ttnn_mcp.analyses.dataflow.likely_producers import Flow
from ttnn_mcp.analyses.dataflow.tensor_identity import passed_on_alone
from ttnn_mcp.analyses.op_kinds.layouts import TO_ROWS, TO_TILES, on_demand, reader_counts, reads_unmade
from ttnn_mcp.arrays import Booleans, Floats, Integers
from ttnn_mcp.hardware import TILE_SIDE
from ttnn_mcp.records import dataclass
from ttnn_mcp.run.ops.artefact import artefact
from ttnn_mcp.run.ops.op_table import OpTable
from ttnn_mcp.run.ops.texts import Texts
from ttnn_mcp.run.run import Run


@dataclass(frozen=True, slots=True)
class RoundTrips:
    """Pairs of ops where the second undoes the first on the tensor it reads.

    Attributes:
        out: rows of the first op.
        back: rows of the second; the nearest one if several undo the same op.
        sole: whether only such undoing ops read the output of the first op, so that it is needless too.
    """

    out: Integers
    back: Integers
    sole: Booleans

    @property
    def rows(self) -> Integers:
        """All first ops, then all second ones."""
        return np.concatenate((self.out, self.back))

    def saves(self, took_ns: Floats) -> Floats:
        """Per op of `rows`, the time it would save: all its time if it is needless, otherwise 0."""
        needless = np.concatenate((self.sole, np.ones(len(self.back), dtype=np.bool_)))
        return np.where(needless, took_ns[self.rows], 0.0)

    def pairs_ns(self, took_ns: Floats) -> Floats:
        """Per pair, the time of both ops."""
        return took_ns[self.out] + took_ns[self.back]

    def undone_by(self, row: int) -> int:
        """The op that undoes the first op at `row`."""
        return int(self.back[self.out == row][0])

    def surely_one_tensor(self, run: Run, ops: OpTable) -> Booleans | None:
        """Pairs that surely pass one tensor on that no other op reads; None without a linked memory report."""
        return passed_on_alone(run, ops, self.out, self.back)

    def surely_saves(self, run: Run, ops: OpTable, took_ns: Floats) -> Floats | None:
        """`saves` of the pairs that are surely one; None where nothing proves it."""
        sure = self.surely_one_tensor(run, ops)
        return None if sure is None else np.where(np.tile(sure, 2), self.saves(took_ns), 0.0)

    def where(self, selected: Booleans) -> RoundTrips:
        """The pairs of the mask."""
        return RoundTrips(self.out[selected], self.back[selected], self.sole[selected])


def round_trips(ops: OpTable, flow: Flow, out: Booleans, back: Booleans) -> RoundTrips:
    """The pairs where an op of `out` made the INPUT_0 of an op of `back`."""
    nothing = np.zeros(0, dtype=np.int64)
    if not flow.producers:
        return RoundTrips(nothing, nothing, nothing.astype(np.bool_))
    maker = flow.producers[0]
    undoing = back & flow.made[0]
    undoing[undoing] &= out[maker[undoing]]
    rows = np.flatnonzero(undoing)
    firsts, nearest = np.unique(maker[rows], return_index=True)
    undone = np.bincount(maker[rows], minlength=len(ops))
    return RoundTrips(firsts, rows[nearest], reader_counts(flow)[firsts] == undone[firsts])


@artefact
def layout_round_trips(ops: OpTable, flow: Flow) -> RoundTrips:
    """TILE to ROW_MAJOR to TILE, or the reverse, on one tensor whose tiles do not change.

    A reshape between the two is possible in TILE only if it keeps the width and whole tiles.
    """
    to_tiles, to_rows = ops.named(*TO_TILES), ops.named(*TO_ROWS)
    directions = [round_trips(ops, flow, to_rows, to_tiles), round_trips(ops, flow, to_tiles, to_rows)]
    out, back = (np.concatenate([getattr(direction, leg) for direction in directions]) for leg in ("out", "back"))
    trips = RoundTrips(out, back, np.concatenate([direction.sole for direction in directions]))
    if not len(out):
        return trips
    before, after = ops.inputs[0].logical[out], ops.outputs[0].logical[back]
    has_whole_tiles = (before[:, 2] % TILE_SIDE == 0) & (after[:, 2] % TILE_SIDE == 0)
    keeps_tiles = (before[:, 3] == after[:, 3]) & ((before[:, 2] == after[:, 2]) | has_whole_tiles)
    return _apart(trips.where(keeps_tiles), np.nan_to_num(ops.numbers("kernel_ns")))


def _apart(trips: RoundTrips, took: Floats) -> RoundTrips:
    """The pairs without a common op that save most: of tilize, untilize, tilize in a row one conversion stays."""
    if not np.isin(trips.out, trips.back).any():  # unmoved: only a shortcut, the search would give the same
        return trips
    saves = took[trips.back] + np.where(trips.sole, took[trips.out], 0.0)
    ends = {int(row): place for place, row in enumerate(trips.back.tolist())}
    best: dict[int, tuple[float, int | None]] = {}  # per pair: the most saved up to it, and the last pair taken
    for place in np.argsort(trips.back, kind="stable").tolist():
        before = ends.get(int(trips.out[place]))  # the pair whose second op is the first of this one
        skipped = (0.0, None) if before is None else best[before]
        earlier = None if before is None else ends.get(int(trips.out[before]))
        taken = float(saves[place]) + (best[earlier][0] if earlier is not None else 0.0)
        best[place] = (taken, place) if taken >= skipped[0] else skipped
    selected = np.zeros(len(trips.out), dtype=np.bool_)
    inner = {ends[int(row)] for row in trips.out.tolist() if int(row) in ends}
    for last in set(range(len(trips.out))) - inner:
        taken_pair = best[last][1]
        while taken_pair is not None:
            selected[taken_pair] = True
            before = ends.get(int(trips.out[taken_pair]))
            earlier = None if before is None else ends.get(int(trips.out[before]))
            taken_pair = None if earlier is None else best[earlier][1]
    return trips.where(selected)


def ends_as_it_began(ops: OpTable, trips: RoundTrips) -> Booleans:
    """Pairs after which data type and placement are as before."""
    if not len(trips.out):
        return np.zeros(0, dtype=np.bool_)
    return _same_text(ops.inputs[0].dtype, trips.out, ops.outputs[0].dtype, trips.back) & _same_text(
        ops.inputs[0].placement, trips.out, ops.outputs[0].placement, trips.back
    )


def _same_text(before: Texts, out: Integers, after: Texts, back: Integers) -> Booleans:
    number = {text: place for place, text in enumerate({*before.distinct, *after.distinct})}
    return np.equal(
        before.take(out).mapped(number.__getitem__, missing=-1, dtype=np.int64),
        after.take(back).mapped(number.__getitem__, missing=-1, dtype=np.int64),
    )


def explained_conversions(ops: OpTable, flow: Flow) -> Booleans:
    """Conversions that a neighbour needs, those of the model's input or output, and those of a round trip."""
    explained = on_demand(ops, flow) | (ops.named(*TO_TILES) & reads_unmade(ops, flow))
    explained |= ops.named(*TO_ROWS) & (reader_counts(flow) == 0)
    explained[layout_round_trips(ops, flow).rows] = True
    return explained
