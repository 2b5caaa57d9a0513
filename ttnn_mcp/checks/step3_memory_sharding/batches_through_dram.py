"""What ops pass on goes through DRAM because all batches together do not fit L1; a few at a time would: a trial.

A loop over some batches keeps what is between its ops in L1, and pays slices, more launches and a concat. Attention
written out in FLOAT32 over 544 to 1024 rows took 28 to 35 % less in pieces of 2 to 15 rows (RoseTTAFold 3, tt-bio),
triangle attention of ESMFold 32 rows at a time 2.9 ms less, scores of DiffusionGemma's words in pieces a quarter less;
edges of Orb-v3 in pieces, and an entropy over words, gained nothing.

The line: ops of which one alone reads what the other made, interleaved in DRAM, of as many batches as
its own result: matmuls, element-wise ops, softmax, norms and casts; all of it takes more than a quarter of L1, one
batch less; 1 % of the window to save. As many batches are told as fit of the largest tensor that is passed on. The
bound is 80 % of the time, and no more than what is above the arithmetic and the bytes that no op of the window made.

Silent where all of it fits (`results-in-dram`), on one batch, where a batch alone is too large, and on a softmax over
batches.
"""

from __future__ import annotations

from functools import partial

import numpy as np

from ttnn_mcp.checks.check import (
    Affected,
    Floats,
    Mask,
    Problem,
    Problems,
    Rows,
    WindowFacts,
    Words,
    check,
    ops_of_family,
)
from ttnn_mcp.checks.levers import PLACEMENT, UNTRIED
from ttnn_mcp.checks.needs import DRAM_BANDWIDTH, PLACEMENTS
from ttnn_mcp.checks.shared.compiled import optimized
from ttnn_mcp.checks.shared.floors import made_bytes_save
from ttnn_mcp.checks.step3_memory_sharding.results_in_dram import FITS_SHARE, MOST
from ttnn_mcp.checks.worth import USUAL, Worth
from ttnn_mcp.quoting import figure

BY_BATCH = ("matmul", "eltwise", "softmax", "norm")  # families whose batches have nothing to do with each other
CAST = "Typecast"
BATCH_DIMS = 2  # W and Z: reports print W, Z, Y, X (practice)


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
    able = (facts.of_family(*BY_BATCH) | facts.named(CAST)) & out.in_dram & ~out.sharded & ~_over_batches(facts)
    large = able & (out.bytes > _room(facts)) & (_batch_bytes(facts) <= _room(facts)) & (joins.reader_counts == 1)
    made = joins.makers  # NOBODY is the last row as a maker, which nobody reads
    alike = (out.logical[:, :BATCH_DIMS] == out.logical[made, :BATCH_DIMS]).all(axis=1)
    readers = np.flatnonzero(able & large[made] & alike)
    passed = made[readers]
    rows = np.union1d(readers, passed)
    saved = np.minimum(MOST * facts.kernel_ns, made_bytes_save(facts))
    saved[facts.roofline.impossible] = 0.0  # time or operands of such a row are those of another op
    for batches in np.unique(_batches(facts)[rows]):
        at, of_these = (some[_batches(facts)[some] == batches] for some in (rows, passed))
        largest = int(of_these[out.bytes[of_these].argmax()])
        yield Problem(at, saved[at], tell=partial(_tell, largest), is_trial=True)


def _over_batches(facts: WindowFacts) -> Mask:
    """A softmax along another dim than rows or columns; TTNN counts its `dim` of four."""
    rows = np.flatnonzero(facts.of_family("softmax"))
    over = np.zeros(len(facts), dtype=np.bool_)
    dims = facts.attributes_of_ops.numbers(rows, lambda attributes: attributes.number("dim"))
    over[rows] = np.mod(dims, 4) < BATCH_DIMS
    return over


def _room(facts: WindowFacts) -> float:
    return FITS_SHARE * (facts.chip.cores or 0) * facts.safe_l1_bytes


def _batches(facts: WindowFacts) -> Rows:
    return np.maximum(facts.ops.outputs[0].logical[:, :BATCH_DIMS].prod(axis=1), 1)


def _batch_bytes(facts: WindowFacts) -> Floats:
    return facts.ops.outputs[0].bytes / _batches(facts)


def _tell(largest: int, ops: Affected) -> Words:
    facts, out = ops.facts, ops.facts.ops.outputs[0]
    batches, at_a_time = int(_batches(facts)[largest]), int(_room(facts) // _batch_bytes(facts)[largest])
    return Words(
        claim=(
            f"{ops.many('op', ('passes', 'pass'))} {batches} batches on through DRAM, of which {at_a_time} fit L1 "
            f"({ops.time}): {figure(float(out.bytes[largest]) / 1e6, '.1f')} MB, {ops.example}, {ops.took_us}"
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
