"""A matmul of thousands of rows runs far from its roofline, where minimal_matmul reached more of it.

`ttnn.experimental.minimal_matmul` streams both operands in blocks over the whole grid, whatever divides what. On 4096
rows and more it was quicker than 2D configs wherever it was tried: an encoder's QKV took 197 us in place of 301, its
projections back 95 for 120 and 200 for 261; at 32768 rows 1540 for 2394; the feed-forward of a prefill of 8192 rows 9
ms for 22 where the 2D config had blocks of one tile; Llama-3.3 70B on Galaxy won from 4096 rows on and lost below
(tt-metal PR #32476). Against configs it lost at 512 rows and at 128 (public ledgers of LAYA, Muse and CLM-8B). Of what
TTNN guessed 51 to 85 % went in ten tries of Kev 9B over 512 to 2048 rows, 43 % in Solar Open 100B over 1024, a third of
three linears of Orb-v3 (K of 768 and 1024, 23552 rows), 39 % in X-VLA over 244, and nothing in Z-Image and VGGT.

Over 83,000 rows with a K of 128 to 512 it took 36 to 89 % off ten linears of AlphaFold 2.

The line: Matmul or Linear over 4096 rows and more in all batches together and a K of 768 and more, one weight for all
of them, operands interleaved, 5 us and more, under 60 % of the roofline; 1 % of the window to save. A K of 128 and more
is a trial, and so are 256 rows and more, padded to tiles, where TTNN chose. The bound is the roofline.

Silent on fewer rows, on a turned first operand, on sharded operands, and on scores and values of attention (both
operands in batches).
"""

from __future__ import annotations

from collections import defaultdict
from functools import partial

import numpy as np

from ttnn_mcp.analyses.op_kinds.matmul_choice import MATMULS
from ttnn_mcp.analyses.programs.grids import worker_grid
from ttnn_mcp.analyses.programs.minimal_matmul import DEFAULT_BLOCK
from ttnn_mcp.checks.check import Affected, Problem, Problems, Rows, WindowFacts, Words, check, ops_named
from ttnn_mcp.checks.levers import MATMUL_CONFIG
from ttnn_mcp.checks.needs import ARCHITECTURE, PLACEMENTS, TWO_OPERANDS
from ttnn_mcp.checks.op_config import COMPUTE_AS_NOW, sets_program
from ttnn_mcp.checks.shared.activations import as_stored
from ttnn_mcp.checks.shared.compiled import optimized
from ttnn_mcp.checks.shared.dram_sharding import DEFAULT_GRID
from ttnn_mcp.checks.shared.floors import WELL_USED, achievable_ns
from ttnn_mcp.checks.shared.matmul_blocks import FIDELITY_OF_MATMULS, below
from ttnn_mcp.checks.shared.minimal_call import beside_minimal, deepest_k, even_k
from ttnn_mcp.checks.worth import USUAL, Worth
from ttnn_mcp.quoting import figure

DEEP, SHALLOW = 768, 128  # values of K: between them one ledger measured (AlphaFold 2), below nobody
MANY_ROWS = 4096  # tt-metal PR #32476; the ledgers above won from here on too
MANY_OF_A_GUESS = 256  # measured: the fewest padded rows at which it won against what TTNN chose


@check(
    title="minimal_matmul for thousands of rows",
    lever=MATMUL_CONFIG,
    of=ops_named("no Matmul ops", *MATMULS),
    needs=(TWO_OPERANDS, PLACEMENTS, ARCHITECTURE, FIDELITY_OF_MATMULS),
    worth=Worth(saving=USUAL),
    compiled=optimized("chooses matmul configs"),
)
def look(facts: WindowFacts) -> Problems:
    """Yield all such matmuls."""
    x, w = facts.ops.inputs[:2]
    rows = facts.matmuls.rows[below(facts, WELL_USED)]
    able = (x.logical[:, 3] >= SHALLOW) & (w.logical[:, :2] == 1).all(axis=1)
    rows = rows[(able & ~x.sharded & ~w.sharded & ~facts.ops.outputs[0].sharded)[rows]]
    high, saved = x.padded[:, :3].prod(axis=1), facts.kernel_ns - achievable_ns(facts)
    guessed = np.isin(rows, facts.matmuls.rows[facts.matmuls.chosen])
    many, deep = high[rows] >= MANY_ROWS, x.logical[rows, 3] >= DEEP
    for these, least, is_trial in (
        (rows[many & deep], MANY_ROWS, False),
        (rows[many & ~deep], MANY_ROWS, True),
        (rows[~many & deep & guessed & (high[rows] >= MANY_OF_A_GUESS)], MANY_OF_A_GUESS, True),
    ):
        for at in _by_call(facts, these):
            yield Problem(at, saved[at], sets=SETS, tell=partial(_tell, least), is_trial=is_trial)


def _by_call(facts: WindowFacts, rows: Rows) -> list[Rows]:
    """Those that take the same arguments beside their operands: a bias, a function, a place."""
    calls = defaultdict[str, list[int]](list)
    for row in rows.tolist():
        if facts.attributes(row).flag("transpose_a"):  # minimal_matmul has no such argument
            continue
        calls[beside_minimal(facts, row)].append(row)
    return [np.array(alike, dtype=np.int64) for alike in calls.values()]


def _call(facts: WindowFacts, row: int) -> str:
    x, y = worker_grid(facts.chip) or DEFAULT_GRID
    depth = even_k(facts, row, deepest_k(facts, row, DEFAULT_BLOCK, DEFAULT_BLOCK) or 1)
    block = ", ".join(f"{side}_block_size={depth if side == 'K' else DEFAULT_BLOCK}" for side in "MKN")
    return (
        f"ttnn.experimental.minimal_matmul(x, w{beside_minimal(facts, row)}, config=ttnn.MinimalMatmulConfig({block}, "
        f"subblock_h=2, subblock_w=2, compute_with_storage_grid_size=ttnn.CoreCoord({x}, {y})), {COMPUTE_AS_NOW})"
    )


SETS = sets_program(_call)


def _tell(least: int, ops: Affected) -> Words:
    facts, rows, stored = ops.facts, ops.rows, as_stored(ops.facts, ops.row)
    reached = float(achievable_ns(facts)[rows].sum() / facts.kernel_ns[rows].sum())
    return Words(
        claim=(
            f"{ops.many('matmul')} over {least} rows and more ({ops.time}) "
            f"at {figure(reached, '.0%')} of the roofline: "
            f"{ops.example}"
        ),
        assumption="a try: the roofline is reached; a fifth to six sevenths less were measured",
        cells=((facts.input(0), "MEMORY"),),
        cited=2,
        fix=ops.with_only(SETS).program + (f"; w{stored}" if stored else ""),
        verify=f"re-profile; op_detail(op={ops.line}) shows MinimalMatmul, kernel_us falls; PCC >= 0.99",
        caveat="sweep the blocks; against configs it lost below 4096 rows",
    )
