"""A tensor is sharded for one matmul only, which could read it from DRAM itself.

InterleavedToSharded reads every byte from DRAM and writes it to L1, and computes nothing. A matmul with a multicast
config also reads its first operand once, and computes while it reads. So a move for one such matmul costs at least as
much as the read that it saves. In DeepSeek on Blackhole, 3200x7168 in 100 shards took 115 us and its matmul 217; with
the operand left in DRAM the matmul took 264, and the layer 692 us instead of 769 (tt-metal PR #42638).

The line: the move reads DRAM; its only reader is a Matmul with a 1D or 2D multicast config (no ring, no DRAM-sharded
weights), as INPUT_0; together 0.5 % of the window. The bound is the move's time minus the excess of the matmul's DRAM
time over its present time. The report does not show how much slower the matmul gets, so at_least is 0.

Silent if convs, norms, element-wise ops or several ops read the shards, and about matmuls with sharded outputs, which
need the operand's shards.
"""

from __future__ import annotations

from functools import partial

import numpy as np

from ttnn_mcp.analyses.moves.move_patterns import KINDS
from ttnn_mcp.analyses.moves.moves import Moves
from ttnn_mcp.analyses.op_kinds.matmul_choice import streams_first_operand
from ttnn_mcp.analyses.roofline.roofline import Roofline
from ttnn_mcp.checks.arrays import Floats, Mask, Rows
from ttnn_mcp.checks.check import Affected, Problem, Problems, Subject, WindowFacts, Words, check
from ttnn_mcp.checks.levers import LAYOUT
from ttnn_mcp.checks.needs import DRAM_BANDWIDTH, PLACEMENTS, PROGRAM_CONFIG
from ttnn_mcp.checks.shared.compiled import optimized
from ttnn_mcp.checks.wording import cite_each, cite_op, moved, took
from ttnn_mcp.checks.worth import SAFE, Worth
from ttnn_mcp.run.ops.op_table import OpTable


@check(
    title="a tensor sharded for one matmul only",
    lever=LAYOUT,
    of=Subject(moved, "no op changes a placement"),
    needs=(PLACEMENTS, PROGRAM_CONFIG, DRAM_BANDWIDTH),
    worth=Worth(saving=SAFE),
    compiled=optimized("keeps chains in shards"),
)
def look(facts: WindowFacts) -> Problems:
    """Yield all such moves."""
    able = streams_first_operand(facts.ops, facts.matmuls) & ~facts.ops.outputs[0].sharded
    rows, readers = moves_for_one_op(facts.moves, able)
    longer = longer_from_dram(facts.ops, facts.roofline, readers, facts.chip.dram_achievable_gb_s or np.nan)
    gains = facts.kernel_ns[rows] > longer
    yield Problem(rows[gains], (facts.kernel_ns[rows] - longer)[gains], tell=partial(_tell, readers[gains]))


def _tell(readers: Rows, ops: Affected) -> Words:
    facts, reader = ops.facts, int(readers[ops.at])
    move_takes, matmul_takes = (took(float(facts.kernel_ns[n])) for n in (ops.row, reader))
    return Words(
        claim=(
            f"{ops.many('move')} into shards ({ops.time}), each for one matmul: {ops.example}, {move_takes}, for "
            f"{matmul_takes} at line {facts.line(reader)}"
        ),
        assumption="the matmul reads its operand from DRAM while it computes, at achievable bandwidth at best",
        evidence=cite_each((ops.row, reader), lambda n: cite_op(facts, n, (facts.ops.inputs[0], "MEMORY"))),
        fix=(
            f"drop the move at line {ops.line} (ttnn.interleaved_to_sharded or to_memory_config) and pass the "
            f"interleaved tensor to the matmul at line {facts.line(reader)} with its program_config as now"
        ),
        verify=f"re-profile; the move is gone and the matmul of line {facts.line(reader)} grew by less; PCC unchanged",
        caveat="the matmul gets slower, by 22 % where it was measured; joins are inferred from shapes and order",
    )


def moves_for_one_op(moves: Moves, able: Mask) -> tuple[Rows, Rows]:
    """Such moves, and the op of `able` that reads each as INPUT_0."""
    ops, made = moves.joins.ops, moves.joins.flow.producers[0]
    into = (moves.kinds == KINDS.index("interleaved-to-sharded")) & ops.inputs[0].in_dram[moves.rows]
    moved = [
        (int(moves.rows[index]), readers[0])
        for index in np.flatnonzero(into)
        if len(readers := moves.readers(int(index))) == 1
        and able[readers[0]]
        and int(made[readers[0]]) == int(moves.rows[index])
    ]
    pairs = np.array(moved or np.zeros((0, 2)), dtype=np.int64)
    return pairs[:, 0], pairs[:, 1]


def longer_from_dram(ops: OpTable, roofline: Roofline, readers: Rows, gb_s: float) -> Floats:
    """Per reader, what it takes longer at least if INPUT_0 comes from DRAM: if its bytes alone hold it up."""
    streamed = np.nan_to_num(roofline.dram_achievable_ns[readers])
    then = streamed + ops.inputs[0].bytes[readers] / gb_s
    return np.maximum(then - ops.numbers("kernel_ns")[readers], 0.0)
