"""Changes of placement: each op that only moves a tensor, who made it, who reads it, and what it may be worth."""

from __future__ import annotations

import numpy as np

from ttnn_mcp.analyses.dataflow.readers import Joins, joins_of
from ttnn_mcp.analyses.dataflow.tensor_identity import TensorIdentity
from ttnn_mcp.analyses.moves.move_patterns import (
    AVOIDABLE,
    KINDS,
    NONE,
    PATTERNS,
    Avoidable,
    MoveKind,
    MovePattern,
    verdicts_of,
)
from ttnn_mcp.arrays import Floats, Integers
from ttnn_mcp.records import dataclass
from ttnn_mcp.run.ops.artefact import artefact
from ttnn_mcp.run.ops.op_names import canonical
from ttnn_mcp.run.ops.op_table import OpTable
from ttnn_mcp.run.run import Run

_ALWAYS: dict[str, MoveKind] = {
    "InterleavedToSharded": "interleaved-to-sharded",
    "InterleavedToShardedPartial": "interleaved-to-sharded",
    "ShardedToInterleaved": "sharded-to-interleaved",
    "ShardedToInterleavedPartial": "sharded-to-interleaved",
    "Reshard": "reshard",
}
_PERHAPS = frozenset(("Copy", "Clone", "Move"))  # moves only where the placement differs; else they compact L1


@dataclass(frozen=True)
class Moves:
    """The moves of one device's window, in the order they ran; arrays are aligned with `rows`.

    Attributes:
        joins: who reads whose output; its positions are rows of `joins.ops`.
        rows: positions of the moves.
        makers: row that made the moved tensor; NOBODY where the window has none.
        patterns: codes of PATTERNS; every move belongs to one.
        avoidable: codes of AVOIDABLE.
        at_most_ns: the most that can be saved on the move; never above what it took.
        bytes: written by the move, padding included.
        kernel_ns: what it took.
    """

    joins: Joins
    rows: Integers
    kinds: Integers
    makers: Integers
    patterns: Integers
    avoidable: Integers
    at_most_ns: Floats
    bytes: Floats
    kernel_ns: Floats

    def __len__(self) -> int:
        return len(self.rows)

    @property
    def ops(self) -> OpTable:
        """The ops among which the moves are."""
        return self.joins.ops

    def among(self, *patterns: MovePattern) -> Integers:
        """Indices (into the arrays here) of the moves of these patterns."""
        return np.flatnonzero(np.isin(self.patterns, [PATTERNS.index(pattern) for pattern in patterns]))

    def occurrences(self, pattern: MovePattern) -> int:
        """How often the pattern occurs: a round trip once per way back, a chain once however long."""
        within = self.among(pattern)
        follows = np.isin(self.makers[within], self.rows[within])
        if pattern == "round-trip":
            return int(follows.sum())
        if pattern == "chain":
            return int((~follows).sum())
        if pattern == "eltwise-detour":
            return int((self.kinds[within] == KINDS.index("sharded-to-interleaved")).sum())
        return len(within)

    def kind(self, index: int) -> MoveKind:
        """What kind of move it is."""
        return KINDS[int(self.kinds[index])]

    def verdict(self, index: int) -> Avoidable:
        """Whether it can go: 'partly' where another move stays, or the op beside it must change too."""
        return AVOIDABLE[int(self.avoidable[index])]

    def before(self, index: int) -> str:
        """Placement it reads, e.g. L1_HEIGHT_SHARDED; empty where not written."""
        return self.ops.inputs[0].placement[int(self.rows[index])] if self.ops.inputs else ""

    def after(self, index: int) -> str:
        """Placement it writes."""
        return self.ops.outputs[0].placement[int(self.rows[index])] if self.ops.outputs else ""

    def readers(self, index: int) -> tuple[int, ...]:
        """Rows that read what it wrote."""
        return self.joins.readers(int(self.rows[index]))


@artefact
def moves_of(ops: OpTable, run: Run) -> Moves:
    """The moves among a device's ops, judged with the run's memory report where it is linked."""
    joins = joins_of(ops)
    kind = _kinds(ops)
    rows = np.flatnonzero(kind != NONE)
    verdicts = verdicts_of(joins, kind, TensorIdentity.of(run, ops))
    written = ops.outputs[0].bytes if ops.outputs else np.zeros(len(ops))
    return Moves(
        joins=joins,
        rows=rows,
        kinds=kind[rows],
        makers=joins.makers[rows],
        patterns=verdicts.pattern[rows],
        avoidable=verdicts.avoidable[rows],
        at_most_ns=verdicts.at_most_ns[rows],
        bytes=written[rows],
        kernel_ns=ops.numbers("kernel_ns")[rows],
    )


def _kinds(ops: OpTable) -> Integers:
    """Per op a code of KINDS; NONE where it is no move."""
    names = ops.texts("op_code")
    code = {name: KINDS.index(kind) for name, kind in _ALWAYS.items()}
    kind = names.mapped(lambda text: code.get(canonical(text), NONE), missing=NONE, dtype=np.int64)
    if not ops.inputs or not ops.outputs:
        return kind
    source, target = ops.inputs[0], ops.outputs[0]
    texts = sorted({*source.placement.distinct, *target.placement.distinct})
    before = source.placement.mapped(texts.index, missing=NONE, dtype=np.int64)
    after = target.placement.mapped(texts.index, missing=NONE, dtype=np.int64)
    perhaps = names.where(lambda text: canonical(text) in _PERHAPS)
    moved = perhaps & (before != after) & (before != NONE) & (after != NONE)
    into = np.where(
        source.sharded,
        np.where(target.sharded, KINDS.index("reshard"), KINDS.index("sharded-to-interleaved")),
        np.where(target.sharded, KINDS.index("interleaved-to-sharded"), KINDS.index("other-buffer")),
    )
    return np.where(moved, into, kind)
