"""A decode matmul streams its weights slower than a measured other form of the same weights.

With one row of tiles a matmul reads every weight once and computes next to nothing: bandwidth decides. On
Wormhole weights sharded over DRAM's banks reach 240 GB/s and interleaved ones about 190
(tech_reports/LLMs/llms.md). On Blackhole it is the opposite: eight cores compute a DRAM-sharded matmul,
which ends near 320 GB/s at HiFi2, while a 1D multicast of interleaved weights over the grid reaches about 390
(ten models of a tt-mlir study, August 2026: DRAM-sharded 9 to 88 % slower on eight of them). Only a matmul that
is below those 320 now can gain from it there: some QKV projections did, by 4 to 11 %.

The line: at most 32 rows, K and N of 1024 and more, 5 us and more. Weights interleaved in DRAM: K of 2048 and more (at
1024 DRAM sharding loses on Wormhole), a DRAM-sharded config that fits L1 with blocks of 4 tiles and more, at least 5 %
slower than measured. DRAM-sharded weights: under 85 % of achievable bandwidth, with blocks under 4 tiles, or on
Blackhole at more than LoFi. 1 % of the window to save.

Silent if the weights stream at that rate, if arithmetic on few cores limits the op, about small blocks and, on
Blackhole, about matmuls without a config (matmul-program-config: North-Mini's down projection went from 55.6 to 18.8 us
by a 1D config, its port in tt-metal), and about minimal_matmul (minimal-matmul-on-few-rows).
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from ttnn_mcp.analyses.op_kinds.few_cores import SMALL_NS
from ttnn_mcp.analyses.op_kinds.formats import phases, reads_weights, waits_for_bytes
from ttnn_mcp.analyses.op_kinds.matmul_choice import MATMULS, in_l1_interleaved, in_small_blocks
from ttnn_mcp.checks.check import Check, Claim, Claims, Evidence, Floats, Mask, Rows, WindowFacts, ops_named
from ttnn_mcp.checks.needs import DRAM_BANDWIDTH, PROGRAM_CONFIG, TWO_OPERANDS
from ttnn_mcp.checks.shared.dram_sharding import (
    SHARDED_GB_S,
    STREAMING_BLOCK,
    dram_sharded,
    multicast,
    sharded_ns,
)
from ttnn_mcp.checks.shared.levers import optimized
from ttnn_mcp.checks.shared.wording import cite_attribute, cite_op, example, kinds, time_of
from ttnn_mcp.checks.worth import USUAL, Worth
from ttnn_mcp.hardware import TILE_SIDE

LEAST_WEIGHTS = 1024  # K and N: below it the stream is too short to saturate DRAM (domain practice)
NOISE = 0.95  # of the time now: two runs of one program differ by up to 5 % (domain practice)
STREAMS = 0.85  # of achievable bandwidth: what is above it streams (domain practice)
SLOW_SHARDED = ("blackhole",)  # where DRAM-sharded weights stream slower than interleaved ones
LOFI = 1  # phases: tt-metal's matrix_engine.md


def look(facts: WindowFacts) -> Claims:
    """Yield one claim for interleaved weights, one for DRAM-sharded ones."""
    choice = facts.matmuls
    able = _decodes(facts)[choice.rows]
    small = in_small_blocks(facts.ops, choice)
    first = choice.chosen & (facts.chip.arch in SLOW_SHARDED)  # a config of the caller's comes before banks there
    yield from _interleaved(facts, choice.rows[able & ~small & ~first])
    shallow = choice.block_w < STREAMING_BLOCK
    slow = (facts.chip.arch in SLOW_SHARDED) & (phases(facts.ops)[choice.rows] > LOFI)
    yield from _sharded(facts, choice.rows[able & choice.dram_sharded & (shallow | slow)])


def _decodes(facts: WindowFacts) -> Mask:
    """Ops of one row of tiles on large weights in DRAM."""
    x, weight = facts.ops.inputs[:2]
    rows = x.height
    return (
        reads_weights(facts.ops, facts.flow)
        & (rows <= TILE_SIDE)
        & (weight.padded[:, 2:] >= LEAST_WEIGHTS).all(axis=1)
        & (facts.kernel_ns >= SMALL_NS)
    )


def _interleaved(facts: WindowFacts, rows: Rows) -> Iterator[Claim]:
    apart = (
        ~facts.ops.inputs[1].sharded & ~in_l1_interleaved(facts.ops) & waits_for_bytes(facts.ops, facts.roofline)
    )
    rows = rows[apart[rows]]
    best = sharded_ns(facts, rows)
    gains = best < NOISE * facts.kernel_ns[rows]
    rows, best = rows[gains], best[gains]
    if not len(rows):
        return
    row, gb_s = facts.heaviest(rows)[0], SHARDED_GB_S[facts.chip.arch or ""]
    yield Claim(
        claim=(
            f"{kinds(facts, rows)} with at most {TILE_SIDE} rows stream{'s' * (len(rows) == 1)} interleaved weights "
            f"at {_reached(facts, rows)} GB/s ({time_of(facts, rows)}): {example(facts, row)}"
        ),
        rows=rows,
        at_most_ns=(facts.kernel_ns[rows] - best),
        assumption=f"DRAM-sharded weights arrive at the {gb_s:.0f} GB/s measured on {facts.chip.arch}",
        evidence=_evidence(facts, rows),
        fix=dram_sharded(facts, row) or "",
        verify=f"re-profile; op_detail(op={facts.line(row)}).kernel_us falls; PCC >= 0.99",
        caveat=(
            "a DRAM-sharded matmul is often slower on Blackhole: measure each shape, keep those that gain"
            if facts.chip.arch in SLOW_SHARDED
            else "wants x and y WIDTH_SHARDED in L1 on those cores; a move into the shards may cost what it gains"
        ),
    )


def _sharded(facts: WindowFacts, rows: Rows) -> Iterator[Claim]:
    best = _streamed_ns(facts)
    rows = rows[best[rows] < STREAMS * facts.kernel_ns[rows]]
    if not len(rows):
        return
    row = facts.heaviest(rows)[0]
    deeper = None if facts.chip.arch in SLOW_SHARDED else dram_sharded(facts, row)
    yield Claim(
        claim=(
            f"{kinds(facts, rows)} read{'s' * (len(rows) == 1)} DRAM-sharded weights at {_reached(facts, rows)} GB/s "
            f"({time_of(facts, rows)}): {example(facts, row)}"
        ),
        rows=rows,
        at_most_ns=(facts.kernel_ns - best)[rows],
        assumption=f"the weights arrive at the {facts.chip.dram_achievable_gb_s:.0f} GB/s that DRAM gives at best",
        evidence=(*_evidence(facts, rows)[:3], cite_attribute(facts, row, "program_config")),
        fix=deeper or multicast(facts, row),
        verify=f"re-profile; op_detail(op={facts.line(row)}).kernel_us falls; PCC >= 0.99",
        caveat="or keep the shards: in0_block_w up to 8, LoFi (PCC first), from ttnn 0.78 num_workers_per_dram_bank=2",
    )


def _streamed_ns(facts: WindowFacts) -> Floats:
    """Per op, what stays if its weights stream: its bytes at achievable bandwidth. Few cores compute it now."""
    bytes_ns = np.fmax(facts.roofline.dram_achievable_ns, SMALL_NS)
    return np.minimum(np.where(facts.roofline.impossible, facts.kernel_ns, bytes_ns), facts.kernel_ns)


def _reached(facts: WindowFacts, rows: Rows) -> str:
    """GB/s of all of them together."""
    return f"{facts.roofline.dram_bytes[rows].sum() / facts.kernel_ns[rows].sum():.0f}"


def _evidence(facts: WindowFacts, rows: Rows) -> tuple[Evidence, ...]:
    return tuple(
        cell for n in facts.heaviest(rows, 2) for cell in cite_op(facts, n, (facts.ops.inputs[1], "MEMORY"))
    )


CHECK = Check(
    id="decode-matmul-bandwidth",
    title="decode matmuls below the bandwidth of their like",
    step=3,
    look=look,
    of=ops_named("no Matmul ops", *MATMULS),
    needs=(TWO_OPERANDS, PROGRAM_CONFIG, DRAM_BANDWIDTH),
    worth=Worth(saving=USUAL),
    compiled=optimized("chooses matmul configs"),
)
