"""reshard_detect: every change of placement, its cost, and which are avoidable."""

from __future__ import annotations

from typing import Annotated

import numpy as np
from pydantic import Field

from ttnn_mcp.analyses.dataflow.likely_producers import NOBODY
from ttnn_mcp.analyses.moves.memory_report_moves import remembered_moves
from ttnn_mcp.analyses.moves.move_patterns import AVOIDABLE, PATTERNS, MovePattern
from ttnn_mcp.analyses.moves.moves import Moves
from ttnn_mcp.analyses.moves.placements import folded
from ttnn_mcp.analyses.window_facts import WindowFacts
from ttnn_mcp.arrays import Integers
from ttnn_mcp.checks.fixes import marked
from ttnn_mcp.checks.shared.conv_ops import UNTILIZED, WRITTEN
from ttnn_mcp.checks.shared.eltwise_calls import IN_SHARDS, call_in_shards
from ttnn_mcp.errors import shown
from ttnn_mcp.run.ops.groups import Group, grouped
from ttnn_mcp.run.ops.op_names import canonical
from ttnn_mcp.run.run import Run
from ttnn_mcp.tools.budget import cursor_after, offset_of
from ttnn_mcp.tools.tool import OfWindow, Tool
from ttnn_mcp.wire import Cell, Columns, Quoting, Share, Table, Us, Window, Wire

READERS_SHOWN = 2
OPS_SHOWN = 3
TIMED = ("kernel_us", "count")
MOVES = Columns(
    *("op", "op_code", "kind", "from", "to", "producer", "consumer", "kernel_us", "avoidable", "count"),
    maybe=TIMED,
    quoted=("op_code", "from", "to", "producer", "consumer"),
)
LIKELY = "joins by shapes, types and placements are likely, not certain, until a memory report is linked"
WHY: dict[MovePattern, tuple[str, str | None]] = {
    "round-trip": (
        "out of its shards and back; avoidable only as far as nobody else reads the copy",
        "same shards: drop both; else one ttnn.reshard(x, cfg) from the sharded tensor",
    ),
    "chain": ("moves in a row on one tensor", "one ttnn.to_memory_config(x, cfg) to the last one's config"),
    "eltwise-detour": (
        "out of shards for element-wise ops only, which take shards",
        f"drop it: {IN_SHARDS} in the call that reads it",
    ),
    "norm-to-matmul": (
        "a norm or softmax wrote interleaved, the matmul wants shards",
        "memory_config= and a sharded program_config on the norm",
    ),
    "untilize-to-conv": (
        "the conv's input was untilized, then sharded",
        f"{UNTILIZED}; or let the untilize write them",
    ),
    "conv-input": (
        "the conv's input came in another placement than the conv wants",
        f"{WRITTEN}: those of its new grid where optimization_check gives it one",
    ),
    "boundary": ("model input, or no reader in the window", None),
    "other": ("the op before or after wants this placement, as far as can be told", None),
}


class Arguments(OfWindow):
    """Arguments of reshard_detect."""

    limit: int = Field(10, ge=1, le=200, description="Moves per page")
    cursor: str | None = Field(None, coerce_numbers_to_str=True, description="next_cursor")


class Pattern(Wire):
    """Moves that have one reason; `count` is how often (a round trip and a chain are two moves each and more)."""

    kind: MovePattern
    count: int
    total_us: Us | None = None
    avoidable_at_most_us: Us | None = None
    why: Quoting
    fix: Quoting | None = None
    ops: tuple[int, ...]


class Answer(Wire):
    """Answer of reshard_detect; `device` where there are several: the one the others wait for."""

    moves: Annotated[Table, MOVES]
    patterns: tuple[Pattern, ...]
    count: int
    total_us: Us | None = None
    share: Share | None = None
    next_cursor: str | None = None
    caveat: Quoting | None = None
    device: int | None = None
    window: Window | None = None


def reshard_detect(facts: WindowFacts, asked: Arguments) -> Answer:
    """Every change of tensor placement (reshards, sharded from or to interleaved) and which are avoidable.

    Cost, producer, consumers and pattern of each; alike moves are folded, totals cover all.
    """
    run, scope, moves = facts.run, facts.scope, facts.moves
    offset = offset_of(asked.cursor, asked, run.id)
    groups = grouped(_alike(moves), moves.kernel_ns)
    page, more = groups[offset : offset + asked.limit], len(groups) > offset + asked.limit
    total_ns = float(scope.critical.numbers("kernel_ns").sum())
    moved_ns = float(moves.kernel_ns.sum())
    linked = run.linked is not None and run.linked.link.status == "linked"
    return Answer(
        moves=MOVES.table([_row(moves, group) for group in page]),
        patterns=tuple(_patterns(facts)),
        count=len(moves),
        total_us=moved_ns / 1e3,
        share=moved_ns / total_ns if total_ns else 0.0,
        next_cursor=cursor_after(offset + asked.limit, asked, run.id) if more else None,
        caveat=LIKELY if len(moves) and not linked else None,
        device=scope.critical_device if len(scope.critical) < len(scope.ops) else None,
        window=scope.window,
    )


def _alike(moves: Moves) -> Integers:
    """A number per move, the same for moves that one line of the table can stand for."""
    ops, rows = moves.ops, moves.rows
    names = ops.texts("op_code").codes
    makers, readers = moves.joins.edges
    first = np.append(readers, NOBODY)[np.searchsorted(makers, rows)]
    first = np.where(moves.joins.reader_counts[rows] > 0, first, NOBODY)
    parts = [moves.kinds, moves.patterns, moves.avoidable, names[rows]]
    parts += [operand.placement.codes[rows] for operand in (*ops.inputs[:1], *ops.outputs[:1])]
    parts += [np.where(beside == NOBODY, NOBODY, names[beside]) for beside in (moves.makers, first)]
    return folded(parts)


def _row(moves: Moves, group: Group) -> tuple[Cell, ...]:
    index = int(group.rows[np.argmax(moves.kernel_ns[group.rows])])
    row, maker = int(moves.rows[index]), int(moves.makers[index])
    readers = moves.readers(index)
    consumers = [_op(moves, reader) for reader in readers[:READERS_SHOWN]]
    if len(readers) > READERS_SHOWN:
        consumers.append(f"+{len(readers) - READERS_SHOWN}")
    return (
        int(moves.ops.lines[row]),
        canonical(shown(moves.ops.texts("op_code")[row])),
        moves.kind(index),
        shown(moves.before(index)) or None,
        shown(moves.after(index)) or None,
        None if maker == NOBODY else _op(moves, maker),
        ", ".join(consumers) or None,
        group.kernel_ns / 1e3,
        moves.verdict(index),
        len(group.rows),
    )


def _op(moves: Moves, row: int) -> str:
    return f"{int(moves.ops.lines[row])} {canonical(shown(moves.ops.texts('op_code')[row]))}"


def _why(name: MovePattern) -> tuple[str, str | None]:
    """Why moves of this kind happen, and what to do, its code marked."""
    why, fix = WHY[name]
    return why, fix and marked(fix)


def _patterns(facts: WindowFacts) -> list[Pattern]:
    moves, totals = facts.moves, list[Pattern]()
    for name in PATTERNS:
        within = moves.among(name)
        if not len(within):
            continue
        heaviest = within[np.argsort(-moves.kernel_ns[within], kind="stable")][:OPS_SHOWN]
        why, fix = _why(name)
        if name == "eltwise-detour":
            fix = marked(f"drop it: {call_in_shards(facts, int(moves.rows[heaviest[0]]))}")
        saved = float(moves.at_most_ns[within].sum()) / 1e3
        kept = int((moves.avoidable[within] == AVOIDABLE.index("no")).sum()) if name == "round-trip" else 0
        totals.append(
            Pattern(
                kind=name,
                count=moves.occurrences(name),
                total_us=float(moves.kernel_ns[within].sum()) / 1e3,
                avoidable_at_most_us=saved or None,
                why=f"{why}; a copy with other readers stays ({kept} here)" if kept else why,
                fix=fix,
                ops=tuple(int(moves.ops.lines[int(moves.rows[index])]) for index in heaviest),
            )
        )
    return sorted(totals, key=lambda one: -(one.avoidable_at_most_us or 0.0))


def reshards_of_tensors(run: Run, asked: Arguments) -> Answer:
    """The answer of a memory report alone: moves by tensor identity, without times."""
    moves, offset = remembered_moves(run.memory_report), offset_of(asked.cursor, asked, run.id)
    page, more = moves[offset : offset + asked.limit], len(moves) > offset + asked.limit
    rows: list[tuple[Cell, ...]] = [
        (
            move.operation,
            shown(move.name),
            move.kind,
            str(move.before),
            str(move.after),
            move.producer,
            ", ".join(str(one) for one in move.consumers) or None,
            move.avoidable,
        )
        for move in page
    ]
    patterns: list[tuple[MovePattern, list[int]]] = [
        (name, [move.operation for move in moves if move.pattern == name]) for name in PATTERNS
    ]
    return Answer(
        moves=MOVES.table(rows, without=TIMED),
        patterns=tuple(
            Pattern(kind=name, count=len(rows), why=why, fix=fix, ops=tuple(rows[:OPS_SHOWN]))
            for name, rows in patterns
            for why, fix in (_why(name),)
            if rows
        ),
        count=len(moves),
        next_cursor=cursor_after(offset + asked.limit, asked, run.id) if more else None,
        caveat="no performance report: `op` is the ttnn operation's id, and nothing is timed",
    )


TOOL = Tool(
    name="reshard_detect",
    title="Detect reshards",
    arguments=Arguments,
    answer=Answer,
    ask=reshard_detect,
    about="window",
    needs=("performance",),
    alone=reshards_of_tensors,
    narrow=("limit",),
    search_hint=(
        "reshard sharded interleaved round trip placement "
        "move to_memory_config resharding reshards conversion avoidable"
    ),
)
