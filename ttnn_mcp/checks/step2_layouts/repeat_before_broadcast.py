"""A tensor is repeated to the size of another one before an op that broadcasts by itself.

Binary ops take an operand whose dims are 1 where the other's are not, in each of the four dims, and read it once (seen
with TTNN 0.81.1). `ttnn.repeat` or `ttnn.expand` before them writes the whole size, and in TILE often as three ops:
untilize, repeat, tilize (a guide of tt-metal names that pattern).

The line: a Repeat of dims that were 1, whose result goes to only one binary op, directly or through tilize, untilize
or typecast, with another operand of the repeated size; such ops take 1 % of the window. The bound is the whole time of
the repeat and of the layout ops that serve only it.

Silent if another op reads the repeated tensor, where a dim above 1 is repeated (that is no broadcast), and before
ops that do not broadcast (concat, matmul). Readers are inferred from shapes, types and placements.
"""

from __future__ import annotations

from functools import partial

import numpy as np

from ttnn_mcp.checks.check import Affected, Problem, Problems, Rows, WindowFacts, Words, check, ops_named
from ttnn_mcp.checks.levers import LAYOUT
from ttnn_mcp.checks.needs import OPERANDS
from ttnn_mcp.checks.wording import time_of
from ttnn_mcp.checks.worth import USUAL, Worth
from ttnn_mcp.run.ops.operand import Operand

PASSING = ("Tilize", "TilizeWithValPadding", "Untilize", "UntilizeWithUnpadding", "Typecast")


@check(
    title="repeats that a broadcast does without",
    lever=LAYOUT,
    of=ops_named("no Repeat ops", "Repeat"),
    needs=(OPERANDS,),
    worth=Worth(time=USUAL),
    compiled="leave out .repeat() and .expand() before element-wise ops in the model: they broadcast",
)
def look(facts: WindowFacts) -> Problems:
    """Yield all repeats that a broadcast does without, with the ops that serve them alone."""
    chains = {row: chain for row in np.flatnonzero(facts.named("Repeat")).tolist() if (chain := _chain(facts, row))}
    rows = np.array(sorted({row for chain in chains.values() for row in chain}), dtype=np.int64)
    repeats = np.array([*chains], dtype=np.int64)
    yield Problem(rows, facts.kernel_ns[rows], tell=partial(_tell, rows), about=repeats)


def _tell(rows: Rows, ops: Affected) -> Words:
    facts, source, output = ops.facts, ops.facts.ops.inputs[0], ops.facts.ops.outputs[0]
    reader = _reader(facts, ops.row)[0] or 0
    return Words(
        claim=(
            f"{len(ops.rows)} repeats ({len(rows)} ops with those that serve them, {time_of(facts, rows)}) only feed "
            f"ops that broadcast: {ops.example}, read at line {facts.line(reader)}"
        ),
        assumption="the op that broadcasts takes no longer than now: it reads fewer bytes",
        cells=((source, "LAYOUT"), (output, "LAYOUT")),
        fix=(
            f"drop the ttnn.repeat (or ttnn.expand) at line {ops.line}: ttnn.multiply(a, b), ttnn.add and "
            f"others broadcast {source.shape_text(ops.row)} to {output.shape_text(ops.row)} themselves, in TILE"
        ),
        verify="re-profile: list_ops(op_code='Repeat') lists none of them; PCC unchanged",
        caveat="readers are inferred from shapes; broadcasting along the width costs the binary op some time",
    )


def _chain(facts: WindowFacts, row: int) -> list[int]:
    """The repeat and the ops that serve it alone; empty where a broadcast would not do."""
    source, output, joins = facts.ops.inputs[0].logical[row], facts.ops.outputs[0].logical[row], facts.joins
    grown = source != output
    reader, passed = _reader(facts, row)
    if not grown.any() or (source[grown] != 1).any() or reader is None or not facts.named("Binary")[reader]:
        return []
    if not any((operand.logical[reader] == output).all() for operand in _others(facts, reader, passed)):
        return []
    before = int(joins.makers[row])
    serves = joins.reader_counts[before] == 1 and facts.named(*PASSING)[before]  # nobody's place is the last op's
    return [*([before] if serves else []), *passed]


def _reader(facts: WindowFacts, row: int) -> tuple[int | None, list[int]]:
    """The one op that works on the result, None where there are more or none; and the ops from `row` up to it."""
    passed = [row]
    while len(readers := facts.joins.readers(passed[-1])) == 1:
        if not facts.named(*PASSING)[readers[0]]:
            return readers[0], passed
        passed.append(readers[0])
    return None, passed


def _others(facts: WindowFacts, reader: int, passed: list[int]) -> list[Operand]:
    """The reader's first two operands but for the one that the chain made; both look so where they are alike."""
    made = [made_by[reader] == passed[-1] for made_by in facts.flow.producers[:2]]
    return [
        operand for operand, by_chain in zip(facts.ops.inputs[:2], made, strict=True) if not by_chain or all(made)
    ]
