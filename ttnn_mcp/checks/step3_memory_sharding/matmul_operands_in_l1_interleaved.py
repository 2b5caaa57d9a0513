"""A matmul with an interleaved operand or output in L1 and no program config runs on a fraction of the grid.

Moving an operand to L1 looks like step 3 but can make it slower. With all operands in DRAM and no settings, TTNN
spreads a matmul over the whole grid. As soon as one of them is L1_INTERLEAVED it takes 16, 8, 4 or 2 tiles per core
instead, the first that fits L1, so few cores work: 22 of 120 in tt-metal #56976 (1205 us against 308 us), 32 of 110 in
a DeepLabV3 report on Blackhole.

The line: INPUT_0 is not sharded, INPUT_0, INPUT_1 or the output is L1_INTERLEAVED, ATTRIBUTES show neither
program_config nor user_core_coord, and under 60 % of the grid works (the rule is create_simple_matmul_program_config
of tt-metal; the 60 % is ours). The bound spreads the same work over the cores that TTNN 0.81.1 takes with the better of
two changes, a core_grid or operands in DRAM, at best four times as fast, which is what was measured.

Silent if the caller set a config or a core grid, if INPUT_0 is sharded: its shards choose the cores, and where neither
change brings more cores (with batches on both sides a core_grid gives one core to each pair of matrices; no program
has more cores than its output has tiles).

Where no such share fits, TTNN falls back to a program of one tile at a time, on all cores: three matmuls on FLOAT32
norms in L1 took 2637 to 2963 us, and 172 to 199 with the norms in DRAM (dots.ocr's port), a compiler's 2027 and 264
(tt-mlir #7702). So at under 5 % of a roofline of 5 us and more operands in DRAM are told, at best fifteen times as
fast: what is smaller fits L1, and waits for its launch.
The fix names compute_kernel_config because core_grid alone lowers bfloat16 from HiFi2 to LoFi (tt-metal #55889).
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from ttnn_mcp.analyses.from_graph.matmul_cores import IN_DRAM as INTERLEAVED_IN_DRAM
from ttnn_mcp.analyses.from_graph.matmul_cores import chooser_of, cores_of, moved_to
from ttnn_mcp.analyses.op_kinds.few_cores import SMALL_NS
from ttnn_mcp.analyses.op_kinds.matmul_choice import MATMULS, in_l1_interleaved, trapped
from ttnn_mcp.analyses.programs.grids import worker_grid
from ttnn_mcp.analyses.programs.matmul_config import most_cores
from ttnn_mcp.checks.check import Affected, Evidence, Problem, Problems, WindowFacts, Words, check, ops_named
from ttnn_mcp.checks.levers import MATMUL_CONFIG
from ttnn_mcp.checks.needs import CORES, PLACEMENTS, PROGRAM_CONFIG
from ttnn_mcp.checks.op_config import COMPUTE_AS_NOW, OpConfig
from ttnn_mcp.checks.shared.activations import has_bias
from ttnn_mcp.checks.shared.compiled import optimized
from ttnn_mcp.checks.shared.floors import achievable_ns
from ttnn_mcp.checks.wording import cite_each, cite_op
from ttnn_mcp.checks.worth import USUAL, Worth
from ttnn_mcp.quoting import figure
from ttnn_mcp.run.iterations import signatures

FASTER_AT_MOST = 4.0  # measured: 1205 -> 308 us, tt-metal #56976
FALLEN_BACK = 0.05  # of the roofline: measured, 3 and 4 % (dots.ocr); others reached 13 % (Protenix)
FASTER_AFTER_IT = 15.5  # measured, 2650 -> 172 us
GRID, IN_DRAM = "core_grid", "DRAM"  # what can be changed


@check(
    title="matmul operands interleaved in L1",
    lever=MATMUL_CONFIG,
    of=ops_named("no Matmul ops", *MATMULS),
    needs=(PLACEMENTS, CORES, PROGRAM_CONFIG),
    worth=Worth(saving=USUAL),
    compiled=optimized("chooses shards and cores"),
)
def look(facts: WindowFacts) -> Problems:
    """Yield all trapped matmuls that a change frees."""
    cores = facts.chip.cores or 0
    rows = trapped(facts.ops, facts.matmuls, cores)
    kinds, of_row = np.unique(signatures(facts.ops)[rows], return_inverse=True)
    firsts = [int(rows[np.argmax(of_row == kind)]) for kind in range(len(kinds))]
    wider = np.array([max(_cores_with(facts, row).values()) for row in firsts], dtype=np.float64)[np.ravel(of_row)]
    took, used = facts.kernel_ns[rows], facts.ops.numbers("cores")[rows]
    spread = np.maximum(took * used / np.maximum(wider, used), took / FASTER_AT_MOST)
    at_most = np.maximum(took - np.maximum(spread, achievable_ns(facts)[rows]), 0)
    yield Problem(rows[at_most > 0], at_most[at_most > 0], sets=_program, tell=_tell)
    slow = facts.matmuls.rows[facts.matmuls.chosen & in_l1_interleaved(facts.ops)[facts.matmuls.rows]]
    best = achievable_ns(facts)
    slow = np.setdiff1d(slow[(best < FALLEN_BACK * facts.kernel_ns)[slow] & (best[slow] >= SMALL_NS)], rows)
    took = facts.kernel_ns[slow]
    yield Problem(slow, took - np.maximum(took / FASTER_AFTER_IT, best[slow]), tell=_tell_fallen_back)


def _cores_with(facts: WindowFacts, row: int) -> dict[str, int]:
    """The cores that TTNN would take with each change; where its choice is not modelled, one for each tile at most."""
    grid, cores = worker_grid(facts.chip), most_cores(facts.ops, row, facts.chip.cores or 0)
    as_it_lies = chooser_of(facts.ops, row, grid, facts.safe_l1_bytes) if grid else None
    if as_it_lies is None:
        return {GRID: cores}
    asked = {GRID: replace(as_it_lies, given_grid=True), IN_DRAM: moved_to(as_it_lies, INTERLEAVED_IN_DRAM)}
    return {change: taken for change, how in asked.items() if (taken := cores_of(how)) is not None} or {GRID: cores}


def _program(config: OpConfig) -> OpConfig:
    """The change that brings most cores; of two alike the grid, which moves nothing."""
    facts, row = config.facts, config.row
    cores = _cores_with(facts, row)
    best = max(cores, key=lambda change: cores[change])
    used_cores = f"{cores[best]} of {facts.chip.cores} cores"
    product = "ttnn.linear(a, b, bias=bias" if has_bias(facts, row) else "ttnn.matmul(a, b"  # that one takes none
    if best == IN_DRAM:
        call = f"{product}, memory_config=ttnn.DRAM_MEMORY_CONFIG, {COMPUTE_AS_NOW}, ...)"
        return replace(config, program=f"{call}, a and b in DRAM too: {used_cores}")
    grid = worker_grid(facts.chip)
    core_grid = f"ttnn.CoreGrid(y={grid[1]}, x={grid[0]})" if grid else "ttnn.CoreGrid(y=g.y, x=g.x)"
    return replace(config, program=f"{product}, core_grid={core_grid}, {COMPUTE_AS_NOW}, ...): {used_cores}")


def _tell(ops: Affected) -> Words:
    facts, cores = ops.facts, ops.facts.chip.cores or 0
    used = int(facts.ops.numbers("cores")[ops.rows].min())
    return Words(
        claim=(
            f"{ops.kinds} left to TTNN with an operand in L1_INTERLEAVED, on {used} of {cores} cores ({ops.time}): "
            f"{ops.example}"
        ),
        assumption="the same work spread over all cores, at best 4x as fast (tt-metal #56976)",
        evidence=cite_each(ops.examples[:2], lambda row: _evidence(facts, row)),
        fix=ops.with_only(_program).with_compute.program,
        verify=f"re-profile; op_detail(op={ops.line}) shows more cores, kernel_us falls; PCC >= 0.99",
        caveat=(
            "L1_INTERLEAVED alone makes it slower, not faster"
            if facts.chip.worker_cores
            else f"the grid is not in the report: {cores} is the most cores any op used"
        ),
    )


def _tell_fallen_back(ops: Affected) -> Words:
    facts = ops.facts
    reached = float(achievable_ns(facts)[ops.rows].sum() / facts.kernel_ns[ops.rows].sum())
    return Words(
        claim=(
            f"{ops.kinds} left to TTNN with an operand in L1_INTERLEAVED reach{'es' * (len(ops.rows) == 1)} "
            f"{figure(reached, '.0%')} of the roofline ({ops.time}): {ops.example}, {ops.took_us}"
        ),
        assumption="in DRAM at best 15x as fast: TTNN falls back to one tile at a time (2650 -> 172 us, dots.ocr)",
        evidence=cite_each(ops.examples[:2], lambda row: _evidence(facts, row)),
        fix=(
            "a, b and the result in ttnn.DRAM_MEMORY_CONFIG: the op that makes a writes it so, the rest as now; or a "
            "program_config, whatever lies in L1"
        ),
        verify=f"re-profile; op_detail(op={ops.line}).roofline.efficiency rises, kernel_us falls; PCC >= 0.99",
        caveat="batches on both sides keep few cores; FLOAT32 falls back first: BFLOAT16 takes half of its L1",
    )


def _evidence(facts: WindowFacts, row: int) -> tuple[Evidence, ...]:
    operands = (*facts.ops.inputs[:2], *facts.ops.outputs[:1])
    cells = [(operand, "MEMORY") for operand in operands if operand.in_l1[row]]
    return (*cite_op(facts, row, *cells[:1]), *facts.cite(row, "cores"))
