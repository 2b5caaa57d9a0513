"""Ops that take notable time and have enough tiles leave more than half of the grid idle.

An op uses the cores of its shards, or as many cores as its program has work items. One row of tiles is one
work item for many programs, a ROW_MAJOR row for others; a small shard grid stays small through a whole chain.

The line: under 50 % of the grid, 5 us and more, together 1 % of the window (domain practice). The bound distributes
the op's output tiles (rows in ROW_MAJOR, rows of tiles in HEIGHT_SHARDED) over all cores and stops at the DRAM bytes,
the arithmetic and the launch: over 16 cores splitting heads took 1.85 us instead of 39, joining them 1.2 instead of 20
(a skill of tt-metal). More rows help where they are fewer than cores. Some programs do not share the rows that they
write: interleaved upsample ran on one core until tt-metal PR #25424, and shares the rows of its input since. A move
out of shards that such an op alone reads goes away with the fix, and counts whole.

Where an op takes shards and gives them it is a trial, because its neighbours hold the same ones: activations of a
feed-forward on 104 cores in place of 52 cost 52 us, norms and residuals on more than their neighbours 91 (ports of
Muse-Glimmer 30B and Llama 3.3 70B in tt-metal). So are ops of which no placement is known that brings them cores:
attention, scatter and rotary of a prefill refuse shards in TTNN 0.81.1; and heads, which want shards of their own.

Silent about ops with a check of their own (convs, norms, sparse matmuls, attention written out, matmuls with operands
in L1, program configs that could divide the work finer: grid-left-idle), about collectives and sub-device partitions,
which use few cores on purpose, about moves, whose cores depend on their neighbours, and about updates of caches, whose
output is more than they write; about heads of a decode and its rotary in shards, which take a core for each user.
Matmuls on DRAM-sharded weights use as many cores as DRAM has banks, and rings use the
cores of the ring. Small element-wise ops can be faster on fewer cores (tt-metal #54915).
"""

from __future__ import annotations

from functools import partial

import numpy as np

from ttnn_mcp.analyses.from_graph.matmul_cores import chooser_of, cores_of
from ttnn_mcp.analyses.op_kinds.attention_chains import rows_of_chains
from ttnn_mcp.analyses.op_kinds.config_grids import shares_left
from ttnn_mcp.analyses.op_kinds.few_cores import FEW_CORES, on_few_cores, parallel_units, pieces_of, spread_ns
from ttnn_mcp.analyses.op_kinds.matmul_choice import trapped
from ttnn_mcp.analyses.op_kinds.sparse_matmuls import config_numbers
from ttnn_mcp.analyses.programs.grids import worker_grid
from ttnn_mcp.analyses.stages.attentions import writes_cache
from ttnn_mcp.checks.check import Affected, Mask, Problem, Problems, Rows, WindowFacts, Words, check
from ttnn_mcp.checks.levers import MORE_CORES
from ttnn_mcp.checks.needs import CORES, OPERANDS
from ttnn_mcp.checks.shared.activations import on_core_grid
from ttnn_mcp.checks.shared.compiled import optimized
from ttnn_mcp.checks.shared.floors import achievable_ns
from ttnn_mcp.checks.shared.shards import spread_config
from ttnn_mcp.checks.step3_memory_sharding.decode_heads_as_prefill import is_head_op
from ttnn_mcp.checks.wording import counted
from ttnn_mcp.checks.worth import SAFE, USUAL, Worth
from ttnn_mcp.hardware import TILE_SIDE
from ttnn_mcp.quoting import figure
from ttnn_mcp.run.ops.op_names import is_rotary

CHECKED_ELSEWHERE = ("conv", "norm", "movement")
SHALLOW = (
    2  # tiles of K per step: with 8, 128 rows of all experts took 8.0 in place of 9.7 ms (North-Mini, measured)
)


@check(
    title="most of the grid is idle",
    lever=MORE_CORES,
    principal=True,
    needs=(OPERANDS, CORES),
    worth=Worth(time=USUAL, saving=SAFE),
    compiled=optimized("chooses shards and cores"),
    general=True,
)
def look(facts: WindowFacts) -> Problems:
    """Yield all ops on few cores, with the moves out of shards for them."""
    cores = facts.chip.cores or 0
    rows = _rows(facts, cores)
    best = np.maximum(spread_ns(facts.ops, cores), achievable_ns(facts))
    at_most = facts.kernel_ns - best
    rows = rows[at_most[rows] > 0]
    in_shards = facts.ops.inputs[0].sharded & facts.ops.outputs[0].sharded
    uncertain = (in_shards | ~_takes_any_shards(facts) & ~facts.of_family("matmul"))[rows]
    for these, is_trial in ((rows[~uncertain], False), (rows[uncertain], True)):
        moves = _moves(facts, these)
        saved = np.concatenate([at_most[these], facts.kernel_ns[moves]])
        every, tell = np.concatenate([these, moves]), partial(_tell, len(moves))
        yield Problem(every, saved, tell=tell, about=these, is_trial=is_trial)


def _tell(moves: int, ops: Affected) -> Words:
    facts, row, cores = ops.facts, ops.row, ops.facts.chip.cores or 0
    beside = f"; moves out of shards for them: {moves}" if moves else ""
    used, units = int(facts.ops.numbers("cores")[row]), int(parallel_units(facts.ops)[row])
    return Words(
        claim=(
            f"{ops.many('op', ('uses', 'use'))} under half of the {cores} cores ({ops.time}): {ops.name} on {used} "
            f"with {units} pieces to share, {ops.example}{beside}"
        ),
        assumption="output pieces distributed evenly over all cores; the launch stays",
        columns=("cores",),
        cited=3,
        fix=_fix(facts, row, cores),
        verify="re-profile; sharding_summary.low_core_ops no longer lists them",
        caveat=(
            "an op may need whole rows on one core; try the heaviest first"
            if facts.chip.worker_cores
            else f"the grid is not in the report: {cores} is the most cores any op used"
        ),
    )


def _rows(facts: WindowFacts, cores: int) -> Rows:
    few = (
        on_few_cores(facts.ops, cores)
        & ~facts.of_family(*CHECKED_ELSEWHERE)
        & ~facts.named("MinimalMatmul", "SparseMatmul")
        & ~writes_cache(facts.ops)  # their output is the whole cache, their work the rows that are written
    )
    few[trapped(facts.ops, facts.matmuls, cores)] = False
    few[rows_of_chains(facts.attentions)] = False
    few[_of_a_core_each(facts)] = False
    few[facts.matmuls.rows[facts.matmuls.dram_sharded | facts.matmuls.ring]] = False
    few[shares_left(facts.ops, facts.chip) < 1] = False
    return np.flatnonzero(few)


def _moves(facts: WindowFacts, rows: Rows) -> Rows:
    """Moves out of shards whose result these ops alone read: their fix keeps the shards."""
    reads = np.zeros(len(facts), dtype=np.bool_)
    reads[rows] = True
    reads &= (_takes_any_shards(facts) | _heads(facts)) & ~facts.ops.outputs[0].sharded
    return np.flatnonzero(facts.named("ShardedToInterleaved") & facts.joins.read_only_by(reads))


def _takes_any_shards(facts: WindowFacts) -> Mask:
    """Ops that read any shards. Attention, rotary in a prefill and scatter refuse them (TTNN 0.81.1, asked)."""
    return facts.of_family("eltwise", "layout", "pool", "softmax") & ~facts.names.where(_rotates)


def _rotates(op_code: str) -> bool:
    return is_rotary(op_code) or "RotateHalf" in op_code


def _of_a_core_each(facts: WindowFacts) -> Mask:
    """Ops of a decode that give each user a core, whatever shards they are asked for (TTNN 0.81.1, asked)."""
    decodes = facts.names.where(lambda op_code: "Heads" in op_code and "Decode" in op_code)
    return decodes | (facts.names.where(_rotates) & facts.ops.outputs[0].sharded)


def _heads(facts: WindowFacts) -> Mask:
    return facts.names.where(is_head_op)


def _fix(facts: WindowFacts, row: int, cores: int) -> str:
    if facts.of_family("matmul")[row]:
        return _matmul_fix(facts, row, cores)
    output = facts.ops.outputs[0]
    if output.sharded[row]:
        wide = output.placement[row].endswith("WIDTH_SHARDED")
        return f"cut it finer: {spread_config(output, row, cores, wide=wide)}"
    maker = int(facts.joins.makers[row])
    gives_up = maker >= 0 and bool(facts.named("ShardedToInterleaved")[maker])
    if _heads(facts)[row]:
        joins = "oncat" in facts.names[row]
        form = "nlp_concat_heads_decode" if joins else "nlp_create_qkv_heads_decode"
        kept = f" on the shards that line {facts.line(maker)} gives up" * gives_up
        shards = "HEIGHT_SHARDED by heads" if joins else "WIDTH_SHARDED by heads, columns grouped by core"
        return (
            f"a core takes a row of its tiles. Decode, each row another user's: ttnn.experimental.{form}{kept}; "
            f"prefill of one text: x {shards}, its result in shards too"
        )
    if not _takes_any_shards(facts)[row]:
        return (
            "more pieces in one call, or another op for this: no placement is known by which its program gets cores"
        )
    if gives_up:
        return f"keep the shards that line {facts.line(maker)} gives up: no move there, and let this op read them"
    return _pieces_fix(facts, row, cores)


def _matmul_fix(facts: WindowFacts, row: int, cores: int) -> str:
    """A core grid where it brings cores; it gives one to each pair of matrices, and shards choose their own."""
    source, has_config = facts.ops.inputs[0], facts.attributes(row).struct("program_config") is not None
    block = config_numbers(facts.ops, np.array([row]), "in0_block_w")[0]
    deep = f"; in its config in0_block_w up to 8, {figure(block, '.0f')} now" if block <= SHALLOW else ""
    if source.sharded[row] and has_config:
        return f"a program_config with smaller per_core_M and per_core_N, on a larger grid{deep}"
    if source.sharded[row]:
        wide = source.placement[row].endswith("WIDTH_SHARDED")
        return f"the shards of x choose the cores: cut it finer: {spread_config(source, row, cores, wide=wide)}"
    grid = worker_grid(facts.chip)
    asked = chooser_of(facts.ops, row, grid, facts.safe_l1_bytes, given_grid=True) if grid else None
    on_grid = cores_of(asked) if asked is not None else None
    if on_grid is not None and on_grid <= facts.ops.numbers("cores")[row]:
        alone = f"core_grid alone would take {on_grid} cores"
        return f"a program_config with smaller per_core_M and per_core_N; {alone}{deep}"
    return f"{on_core_grid(facts, row)}; [B,1,M,K] with one weight: reshape to [1,1,B*M,K] first{deep}"


def _pieces_fix(facts: WindowFacts, row: int, cores: int) -> str:
    """More rows help only where they are fewer than cores. With rows enough the program does not share them."""
    source, output = facts.ops.inputs[0], facts.ops.outputs[0]
    if output.height[row] < cores * (TILE_SIDE if output.layout[row] == "TILE" else 1):
        return (
            "give it more rows to share: fold batch or channels into the second-last dim, or shard its input over "
            f"{cores} cores"
        )
    pieces = int(np.nan_to_num(pieces_of(source)[row]))
    if pieces < FEW_CORES * cores:
        return (
            f"its program shares the {counted(pieces, 'piece')} of its input, so more rows change nothing: let its "
            "readers broadcast the small tensor, or let an op write it that shares its output (ttnn.repeat)"
        )
    tiles = int(source.height[row]) // TILE_SIDE
    if source.layout[row] == "TILE" and tiles <= facts.ops.numbers("cores")[row]:
        shared = f"{counted(tiles, 'row')} of tiles of its input"
        return f"its program shares the {shared}, one a core: more rows in one call, or another op for this"
    shards = spread_config(source, row, cores, wide=False)
    return f"rows are enough, its program for an interleaved input takes no more cores: shard the input: {shards}"
