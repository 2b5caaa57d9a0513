"""A decode matmul streams its weights slower than a measured other form of the same weights.

With one row of tiles a matmul reads every weight once and computes next to nothing: bandwidth decides. On
Wormhole weights sharded over DRAM's banks reach 240 GB/s and interleaved ones about 190
(tech_reports/LLMs/llms.md). On Blackhole it is the opposite: eight cores compute a DRAM-sharded matmul,
which ends near 320 GB/s at HiFi2, while a 1D multicast of interleaved weights over the grid reaches about 390
(ten models of a tt-mlir study, August 2026: DRAM-sharded 9 to 88 % slower on eight of them). Only a matmul that
is below those 320 now can gain from it there, and only a wide one did for sure: of Llama-3.1 8B on P150 gate and up (N
of 3.5 K) won 24 us each, QKV, output and down projection lost 9, 5 and 42.

The line: at most 32 rows, K and N of 1024 and more, 5 us and more. Weights interleaved in DRAM: K of 2048 and more (at
1024 DRAM sharding loses on Wormhole), a DRAM-sharded config that fits L1 with blocks of 4 tiles and more, at least 5 %
slower than expected of them. DRAM-sharded weights: under 85 % of achievable bandwidth, with blocks under 4 tiles, or on
Blackhole at more than LoFi; with N under three times K there only with blocks of 1. 1 % of the window to save. What
DRAM-sharded weights would take is told by a law fitted to measurements (ttnn://laws: bytes padded to the banks, a cost
per block of K), and where it does not speak by their bandwidth (240 GB/s on Wormhole, of narrow ones 492 on Blackhole)
or the arithmetic of a core beside each bank: of 48 claims on N150 by bandwidth alone 12 lost time. Where that
arithmetic decides on Blackhole, and no law tells, it is a trial: at HiFi2 Qwen2.5-Coder's four matmuls lost a fifth.
So it is with fp32_dest_acc_en, of which no measurement of the law speaks: all six of a drafter beside Qwen3.6 lost on
Wormhole, 19 % and more, as few cores then keep twice the partial sums.

Silent if the weights stream at that rate, if arithmetic on few cores limits the op, about small blocks and, on
Blackhole, about matmuls without a config (matmul-without-config: North-Mini's down projection went from 55.6 to 18.8 us
by a 1D config, its port in tt-metal) and about DRAM-sharded weights at more passes than they can use (BFLOAT4_B at
HiFi2: LoFi took a third off Llama-3.1 8B's down projection, interleaved weights lost a quarter), and about
minimal_matmul (minimal-matmul-on-few-rows).
"""

from __future__ import annotations

from functools import partial
from math import ceil

import numpy as np

from ttnn_mcp.analyses.op_kinds.accumulation import compute_setting
from ttnn_mcp.analyses.op_kinds.few_cores import SMALL_NS
from ttnn_mcp.analyses.op_kinds.formats import needed_phases, phases, reads_weights, waits_for_bytes
from ttnn_mcp.analyses.op_kinds.matmul_choice import MATMULS, in_l1_interleaved, in_small_blocks
from ttnn_mcp.analyses.roofline.working_cores import dram_banks
from ttnn_mcp.checks.arrays import Floats, Mask, Rows
from ttnn_mcp.checks.check import Affected, Problem, Problems, WindowFacts, Words, check, ops_named
from ttnn_mcp.checks.levers import MATMUL_CONFIG
from ttnn_mcp.checks.needs import DRAM_BANDWIDTH, PROGRAM_CONFIG, TWO_OPERANDS
from ttnn_mcp.checks.shared.compiled import optimized
from ttnn_mcp.checks.shared.dram_sharding import (
    BANKS_GB_S,
    LEAST_WEIGHTS,
    STREAMING_BLOCK,
    banked,
    dram_sharded,
    multicast,
    sharded_ns,
    spread,
)
from ttnn_mcp.checks.wording import cite_attribute, cite_each, cite_op
from ttnn_mcp.checks.worth import USUAL, Worth
from ttnn_mcp.hardware import TILE_SIDE
from ttnn_mcp.quoting import figure

NOISE = 0.95  # of the time now: two runs of one program differ by up to 5 % (domain practice)
WIDE = 3  # times K: what N must be to gain from interleaved weights on Blackhole (measured: Llama-3.1 8B on P150)
LEAST_BLOCK = (
    2  # tiles of K, of narrow weights there: with 1 they won (tt-mlir's case study), with 2 they lost (as above)
)
STREAMS = 0.85  # of achievable bandwidth: what is above it streams (domain practice)
SLOW_SHARDED = ("blackhole",)  # where DRAM-sharded weights stream slower than interleaved ones
LOFI = 1  # phases: tt-metal's matrix_engine.md


@check(
    title="decode matmuls below the bandwidth of their like",
    lever=MATMUL_CONFIG,
    of=ops_named("no Matmul ops", *MATMULS),
    needs=(TWO_OPERANDS, PROGRAM_CONFIG, DRAM_BANDWIDTH),
    worth=Worth(saving=USUAL),
    compiled=optimized("chooses matmul configs"),
)
def look(facts: WindowFacts) -> Problems:
    """Yield matmuls on interleaved weights, and on DRAM-sharded ones."""
    choice = facts.matmuls
    able = decodes(facts)[choice.rows]
    small = in_small_blocks(facts.ops, choice)
    first = choice.chosen & (facts.chip.arch in SLOW_SHARDED)  # a config of the caller's comes before banks there
    yield from _interleaved(facts, choice.rows[able & ~small & ~first])
    on_eight_cores = facts.chip.arch in SLOW_SHARDED
    passes, needed = phases(facts.ops)[choice.rows], needed_phases(facts.ops)[choice.rows]
    weight = facts.ops.inputs[1]
    wide = (weight.padded[:, 3] >= WIDE * weight.padded[:, 2])[choice.rows]
    shallow = choice.block_w < np.where(on_eight_cores & ~wide, LEAST_BLOCK, STREAMING_BLOCK)
    slow = on_eight_cores & (passes > LOFI) & wide
    wasted = on_eight_cores & (passes > needed)  # fewer passes come first: fidelity-above-operands
    yield _sharded(facts, choice.rows[able & choice.dram_sharded & (shallow | slow) & ~wasted])


def decodes(facts: WindowFacts) -> Mask:
    """Ops of one row of tiles on large weights in DRAM."""
    x, weight = facts.ops.inputs[:2]
    rows = x.height
    return (
        reads_weights(facts.ops, facts.flow)
        & (rows <= TILE_SIDE)
        & (weight.padded[:, 2:] >= LEAST_WEIGHTS).all(axis=1)
        & (facts.kernel_ns >= SMALL_NS)
    )


def _interleaved(facts: WindowFacts, rows: Rows) -> Problems:
    apart = (
        ~facts.ops.inputs[1].sharded & ~in_l1_interleaved(facts.ops) & waits_for_bytes(facts.ops, facts.roofline)
    )
    rows = rows[apart[rows]]
    sharded, took = sharded_ns(facts, rows), facts.kernel_ns[rows]
    saved, gains = took - sharded.least_ns, sharded.expected_ns < NOISE * took
    unsure = sharded.computes & ~sharded.by_law & (facts.chip.arch in SLOW_SHARDED)
    unsure |= compute_setting(facts.ops, rows, "fp32_dest_acc_en") == 1
    for these, trial in ((gains & ~unsure, False), (gains & unsure, True)):
        yield Problem(
            rows[these],
            saved[these],
            tell=_tell_interleaved,
            becomes=None if trial else partial(banked, facts),
            is_trial=trial,
        )


def _tell_interleaved(ops: Affected) -> Words:
    facts, gb_s = ops.facts, BANKS_GB_S[ops.facts.chip.arch or ""]
    return Words(
        claim=(
            f"{ops.kinds} with at most {TILE_SIDE} rows {ops.verb('stream')} interleaved weights at {_reached(ops)} "
            f"GB/s ({ops.time}): {ops.example}"
        ),
        assumption=f"DRAM-sharded weights take what was measured on {facts.chip.arch}, "
        f"or arrive at {figure(gb_s, '.0f')} GB/s",
        cells=((facts.ops.inputs[1], "MEMORY"),),
        cited=2,
        fix=dram_sharded(facts, ops.row) or "",
        caveat=(
            "a DRAM-sharded matmul is often slower on Blackhole: measure each shape, keep those that gain"
            if facts.chip.arch in SLOW_SHARDED
            else "wants x and y WIDTH_SHARDED in L1 on those cores; a move into the shards may cost what it gains"
        ),
    )


def _sharded(facts: WindowFacts, rows: Rows) -> Problem:
    best = _streamed_ns(facts)
    rows = rows[best[rows] < STREAMS * facts.kernel_ns[rows]]
    form = spread if facts.chip.arch in SLOW_SHARDED else banked
    # Wormhole's ended near this rate; what a step costs there no law tells
    trial = facts.chip.arch not in SLOW_SHARDED
    saved = (facts.kernel_ns - np.fmin(np.fmax(facts.roofline.dram_ns, SMALL_NS), best))[rows]
    return Problem(rows, saved, tell=_tell_sharded, becomes=partial(form, facts), is_trial=trial)


def _tell_sharded(ops: Affected) -> Words:
    facts, row, weight = ops.facts, ops.row, ops.facts.ops.inputs[1]
    deeper = None if facts.chip.arch in SLOW_SHARDED else dram_sharded(facts, row)
    cells = cite_each(ops.examples[:2], lambda n: cite_op(facts, n, (weight, "MEMORY")))
    return Words(
        claim=(
            f"{ops.kinds} {ops.verb('read')} DRAM-sharded weights at {_reached(ops)} GB/s ({ops.time}): {ops.example}"
        ),
        assumption=f"the weights arrive at the {figure(facts.chip.dram_peak_gb_s, '.0f')} GB/s of DRAM's peak at most",
        evidence=(*cells[:3], cite_attribute(facts, row, "program_config")),
        fix=deeper or multicast(facts, row),
        caveat=f"or keep the shards: in0_block_w up to 8, LoFi (PCC first){_readers(facts, row)}",
    )


def _readers(facts: WindowFacts, row: int) -> str:
    """Two cores per bank, where TTNN takes them: on Blackhole, of an even number of columns per bank (0.81.1)."""
    columns = int(facts.ops.outputs[0].padded[row, 3]) // TILE_SIDE
    even = ceil(columns / (dram_banks(facts.chip) or 1)) % 2 == 0
    able = facts.chip.arch == "blackhole" and even
    return ", from ttnn 0.78 num_workers_per_dram_bank=2" if able else ""


def _streamed_ns(facts: WindowFacts) -> Floats:
    """Per op, what stays if its weights stream: its bytes at achievable bandwidth. Few cores compute it now."""
    bytes_ns = np.fmax(facts.roofline.dram_achievable_ns, SMALL_NS)
    return np.minimum(np.where(facts.roofline.impossible, facts.kernel_ns, bytes_ns), facts.kernel_ns)


def _reached(ops: Affected) -> str:
    """GB/s of all of them together."""
    return f"{figure(ops.facts.roofline.dram_bytes[ops.rows].sum() / ops.facts.kernel_ns[ops.rows].sum(), '.0f')}"
