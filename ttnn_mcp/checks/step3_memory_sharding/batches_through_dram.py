"""What ops pass on goes through DRAM because all batches together do not fit L1; a few at a time would: a trial.

A loop over some batches keeps what is between its ops in L1, and pays slices, more launches and a concat. Attention
written out in FLOAT32 over 544 to 1024 rows took 28 to 35 % less in pieces of 2 to 15 rows (RoseTTAFold 3, tt-bio),
triangle attention of ESMFold 32 rows at a time 2.9 ms less, scores of DiffusionGemma's words in pieces a quarter less;
edges of Orb-v3 in pieces, and an entropy over words, gained nothing.

The line: ops of which one alone reads what the other made, interleaved in DRAM, of as many batches as
its own result: matmuls, element-wise ops, softmax, norms and casts; all of it takes more than a quarter of L1, one
batch less; 1 % of the window to save. The bound is 80 % of the time, and no more than what is above the arithmetic and
the bytes that no op of the window made.

Silent where all of it fits (`results-in-dram`), on one batch, and where a batch alone is too large.
"""

from __future__ import annotations

import numpy as np

from ttnn_mcp.checks.check import Affected, Floats, Problem, Problems, WindowFacts, Words, check, ops_of_family
from ttnn_mcp.checks.levers import PLACEMENT, UNTRIED
from ttnn_mcp.checks.needs import DRAM_BANDWIDTH, PLACEMENTS
from ttnn_mcp.checks.shared.compiled import optimized
from ttnn_mcp.checks.shared.floors import made_bytes_save
from ttnn_mcp.checks.step3_memory_sharding.results_in_dram import FITS_SHARE, MOST
from ttnn_mcp.checks.worth import USUAL, Worth
from ttnn_mcp.quoting import figure

BY_BATCH = ("matmul", "eltwise", "softmax", "norm")  # families whose batches have nothing to do with each other
CAST = "Typecast"


@check(
    title="batches a few at a time in L1, a trial",
    lever=UNTRIED,
    slot=PLACEMENT.slot,
    of=ops_of_family("no ops on batches", *BY_BATCH),
    needs=(PLACEMENTS, DRAM_BANDWIDTH),
    worth=Worth(saving=USUAL),
    general=True,
    compiled=optimized("keeps activations in L1"),
)
def look(facts: WindowFacts) -> Problems:
    """Yield makers and readers of what could stay in L1."""
    out, joins = facts.ops.outputs[0], facts.joins
    able = (facts.of_family(*BY_BATCH) | facts.named(CAST)) & out.in_dram & ~out.sharded
    large = able & (out.bytes > _room(facts)) & (_batch_bytes(facts) <= _room(facts)) & (joins.reader_counts == 1)
    made = joins.makers  # NOBODY is the last row as a maker, which nobody reads
    alike = (out.logical[:, :2] == out.logical[made, :2]).all(axis=1)
    readers = np.flatnonzero(able & large[made] & alike)
    rows = np.union1d(readers, made[readers])
    saved = np.minimum(MOST * facts.kernel_ns, made_bytes_save(facts))
    saved[facts.roofline.impossible] = 0.0  # time or operands of such a row are those of another op
    yield Problem(rows, saved[rows], tell=_tell, is_trial=True)


def _room(facts: WindowFacts) -> float:
    return FITS_SHARE * (facts.chip.cores or 0) * facts.safe_l1_bytes


def _batch_bytes(facts: WindowFacts) -> Floats:
    out = facts.ops.outputs[0]
    return out.bytes / np.maximum(out.logical[:, :2].prod(axis=1), 1)


def _tell(ops: Affected) -> Words:
    facts, out = ops.facts, ops.facts.ops.outputs[0]
    batches = int(out.logical[ops.row, :2].prod())
    at_a_time = max(min(int(_room(facts) // max(_batch_bytes(facts)[ops.row], 1)), batches), 1)
    return Words(
        claim=(
            f"{ops.many('op', ('passes', 'pass'))} {batches} batches on through DRAM, of which {at_a_time} fit L1 "
            f"({ops.time}): {figure(out.bytes[ops.row] / 1e6, '.1f')} MB, {ops.example}, {ops.took_us}"
        ),
        assumption="a trial: what is between the ops stays in L1, at best four fifths of the time",
        cells=((out, "MEMORY"),),
        cited=2,
        fix=(
            f"these ops in a loop, {at_a_time} batches or rows at a time: ttnn.slice of what comes in, results with "
            "memory_config=ttnn.L1_MEMORY_CONFIG or in height shards, the last one back to DRAM; then ttnn.concat"
        ),
        verify="re-profile: kernels of the loop with slices and concat take less than now; PCC unchanged",
        caveat="small pieces leave cores idle: as many as fit L1, tiles of rows a multiple of the cores",
    )
