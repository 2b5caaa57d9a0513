"""An op writes a result to DRAM that fits L1: a trial.

What stays in L1 is written and read faster, but leaves less room for the buffers of the ops beside it. In whole layers
of tt-metal's ledgers results in L1 saved 13 to 51 % of matmuls, 24 to 64 % of rotary, heads and attention, 14 to 29 %
of sums and functions of few rows; inputs that were moved there by an op of their own, and inputs beside matmuls in
large blocks, lost. So nothing is expected.

The line: an op of 5 us and more, whose first result is interleaved in DRAM and fits a quarter of L1; of a matmul or
attention over more than one row of tiles, whose arithmetic hides its results, the bytes of that result take a tenth of
its time and more; 1 % of the window to save. The bound is 80 % of the time (78 % measured), and no more than what is
above the arithmetic and the bytes that no op of the window made; of a matmul over one row of tiles, which waits for its
weights, 20 us.

Silent on caches, exchanges, moves between placements, on TopK and ArgMax, which write little, on convs and the slices
around them, which have placements of their own, and on ops whose result other checks place.
"""

from __future__ import annotations

import numpy as np

from ttnn_mcp.analyses.op_kinds.few_cores import SMALL_NS
from ttnn_mcp.analyses.stages.attentions import writes_cache
from ttnn_mcp.checks.check import Affected, Problem, Problems, Subject, WindowFacts, Words, check, spoken_of
from ttnn_mcp.checks.levers import PLACEMENT, UNTRIED
from ttnn_mcp.checks.needs import DRAM_BANDWIDTH, PLACEMENTS
from ttnn_mcp.checks.shared.compiled import optimized
from ttnn_mcp.checks.shared.floors import made_bytes_save, results_felt
from ttnn_mcp.checks.step3_memory_sharding import matmul_operands_in_l1_interleaved, same_work_elsewhere_faster
from ttnn_mcp.checks.worth import USUAL, Worth
from ttnn_mcp.hardware import TILE_SIDE  # unmoved: rows are padded to whole tiles
from ttnn_mcp.quoting import figure

ENGINE = ("matmul", "attention")  # families whose arithmetic hides what their results take
# families that wait for DRAM, however little
SMALL = ("norm", "softmax", "eltwise", "shape", "layout", "reduction")
SLICES = ("SliceWrite", "PaddedSlice")  # of convs in slices of DRAM
CHOOSE = ("TopK", "ArgMax", "Argmax")  # they write a few values of all that they read
ABLE = Subject(
    lambda facts: facts.of_family(*ENGINE, *SMALL) & ~writes_cache(facts.ops) & ~facts.named(*SLICES, *CHOOSE),
    "no ops that can write to L1",
)
FITS_SHARE = 0.25  # of all L1: circular buffers and the other operands need the rest (ours)
PLACE = (matmul_operands_in_l1_interleaved, same_work_elsewhere_faster)  # checks whose fixes say where results go
OF_ONE_ROW_NS = 20_000  # measured: a router's matmul 18.7 us less, the most of twelve tries in ledgers of tt-metal
MOST = 0.8  # of the time: measured, heads of a speech model took 78 % less, attention 64 %, a matmul 51 %


@check(
    title="results in L1, a trial",
    lever=UNTRIED,
    slot=PLACEMENT.slot,
    of=ABLE,
    needs=(PLACEMENTS, DRAM_BANDWIDTH),
    worth=Worth(saving=USUAL),
    general=True,
    compiled=optimized("keeps activations in L1"),
)
def look(facts: WindowFacts) -> Problems:
    """Yield all of them."""
    out = facts.ops.outputs[0]
    fits = out.bytes <= FITS_SHARE * (facts.chip.cores or 0) * facts.safe_l1_bytes
    able = ABLE.mask(facts) & out.in_dram & ~out.sharded & fits & (facts.kernel_ns >= SMALL_NS)
    able &= results_felt(facts) | ~facts.of_family(*ENGINE) | (out.height <= TILE_SIDE)
    placed = [spoken_of(other.look, facts) for other in PLACE]
    rows = np.setdiff1d(np.flatnonzero(able), np.concatenate(placed))
    saved = np.minimum(MOST * facts.kernel_ns, made_bytes_save(facts))
    one_row = facts.of_family("matmul") & (out.height <= TILE_SIDE)
    saved[one_row] = np.minimum(saved[one_row], OF_ONE_ROW_NS)
    yield Problem(rows, saved[rows], tell=_tell, is_trial=True)


def _tell(ops: Affected) -> Words:
    out = ops.facts.ops.outputs[0]
    return Words(
        claim=(
            f"{ops.many('op', ('writes', 'write'))} to DRAM what fits L1 ({ops.time}): "
            f"{figure(out.bytes[ops.row] / 1e6, '.1f')} MB, {ops.example}, {ops.took_us}"
        ),
        assumption="a trial: 2 to 64 % of an op less where it gained, in ledgers of tt-metal",
        cells=((out, "MEMORY"),),
        cited=2,
        fix=(
            "memory_config=ttnn.L1_MEMORY_CONFIG for the result, the rest as now; ttnn.deallocate it after its reader"
        ),
        verify="re-profile; kernel_us of the op and its reader falls; memory_summary.l1_peak has room; PCC unchanged",
        caveat="watch CORE COUNT: an operand interleaved in L1 can lead a matmul left to TTNN to fewer cores",
    )
