"""A matmul waits for BFLOAT8_B weights that BFLOAT4_B might replace: a trial, never a promise.

BFLOAT4_B keeps 3 bits of mantissa and a shared exponent: 0.5625 B per element instead of 1.0625, so an op that waits
for its weights moves 0.53 of the bytes. tt-metal's own language models store gate and up projections in BFLOAT4_B, run
them at LoFi, and keep attention and the head in BFLOAT8_B (tech_reports/LLMs/llms.md). It costs accuracy: such a Llama
chose the right token in 89 %, and in 95 % with the next wider type for feed-forward and attention (tt-metal #29680).

The line: a matmul whose INPUT_1 is BFLOAT8_B, lives in DRAM and was made by no earlier op; its DRAM bytes outweigh its
arithmetic and explain at least 10 % of its time; together 1 % of the window. The bound is in proportion to the bytes,
never below arithmetic or the launch. At least is 0: PCC may forbid every one of them.

Where a matmul reads BFLOAT4_B already, the author chose per op. Gate and up (29 us a layer), down (17), experts (40)
and a shared one (8) were still narrowed beside such (Qwen2.5-Coder's and GLM-4.7-Flash's ports in tt-metal), attention
projections brought nothing, 76 us, or were refused for PCC: so only the largest are told there. Silent while a matmul
waits for wider weights (wide-weights comes first), on heads (32,000 columns and more; formats-untried tells them), on
compute-bound ops, where blocks of K explain the time, and on convs.
"""

from __future__ import annotations

from functools import partial

import numpy as np

from ttnn_mcp.analyses.op_kinds.formats import (
    SIXTEEN_BITS_OR_MORE,
    fewer_bytes_save,
    reads_weights,
    spared_bytes,
    waits_for_bytes,
)
from ttnn_mcp.analyses.op_kinds.matmul_choice import waits_for_steps
from ttnn_mcp.analyses.op_kinds.sparse_matmuls import share_read
from ttnn_mcp.checks.check import Affected, Mask, Problem, Problems, Subject, WindowFacts, Words, check
from ttnn_mcp.checks.levers import WEIGHTS
from ttnn_mcp.checks.needs import DRAM_BANDWIDTH
from ttnn_mcp.checks.shared.changed_ops import becomes
from ttnn_mcp.checks.wording import took
from ttnn_mcp.checks.worth import USUAL, Worth

TRIED = "BFLOAT4_B"
LARGE = (
    0.4  # of the largest weights: down beside packed gate and up has half, attention a seventh to a third (ours)
)
HEAD = 32_000  # columns: the smallest vocabulary that tt-metal serves; feed-forwards have up to 28,672


def _weighted(facts: WindowFacts) -> Mask:
    return reads_weights(facts.ops, facts.flow) & facts.of_family("matmul")


@check(
    title="a trial: BFLOAT4_B for weights that are waited for",
    lever=WEIGHTS,
    costs_accuracy=True,
    of=Subject(_weighted, "no matmul reads weights from DRAM"),
    needs=(DRAM_BANDWIDTH,),
    worth=Worth(saving=USUAL),
    compiled='torch_xla.set_custom_compile_options({"experimental_weight_dtype": "bfp_bf4"})  # all weights at once',
)
def look(facts: WindowFacts) -> Problems:
    """Yield all matmuls that wait for such weights."""
    weight, able = facts.ops.inputs[1], _weighted(facts)
    waiting = able & waits_for_bytes(facts.ops, facts.roofline)
    if (waiting & weight.dtype.among(*SIXTEEN_BITS_OR_MORE)).any():
        return
    waiting &= ~weight.dtype.among(TRIED) & ~waits_for_steps(facts.ops)
    if (able & weight.dtype.among(TRIED)).any():
        sizes = weight.padded[:, 2:].prod(axis=1)
        waiting &= sizes >= LARGE * sizes[able].max()
    rows = np.flatnonzero(waiting & (weight.logical[:, 3] < HEAD))  # BFLOAT8_B is left: others are no weights
    spared = spared_bytes(weight, TRIED) * share_read(facts.ops)
    at_most = fewer_bytes_save(facts.ops, facts.roofline, spared)[rows]
    tell = partial(_tell, int(able.sum()), float(at_most.sum()))
    narrower = becomes(facts, in1_dtype=TRIED)
    yield Problem(rows, at_most, spared_bytes=spared[rows], tell=tell, becomes=narrower)


def _tell(weighted: int, saved_ns: float, ops: Affected) -> Words:
    weight = ops.facts.ops.inputs[1]
    return Words(
        claim=(
            f"{len(ops.rows)} of {weighted} matmuls with weights read BFLOAT8_B ones from DRAM ({ops.time}); "
            f"heaviest {ops.example}"
        ),
        assumption=f"all of them accept {TRIED} weights ({took(saved_ns)} at best); time follows the bytes",
        cells=((weight, "DATATYPE"), (weight, "MEMORY")),
        fix=(
            "try gate and up projections first: w = ttnn.from_torch(torch_w, dtype=ttnn.bfloat4_b, "
            "layout=ttnn.TILE_LAYOUT, device=device); keep attention in bfloat8_b"
        ),
        verify="PCC of the whole model >= 0.99 and its task metric; then kernel_us of these ops falls",
        caveat="a trial: PCC often forbids it, and errors add up with depth; attention rarely accepts it",
    )
