"""Element-wise and shape ops wait for DRAM while they move bfloat16 activations.

BFLOAT8_B moves 0.53 of the bytes of BFLOAT16. It is the last and smallest of the format changes: sums along the
residual path, norms and softmax must stay in bfloat16 (tt-metal #3636), and every conversion back is one more op.

The line: an element-wise or shape op on BFLOAT16 in TILE layout, in and out of DRAM, whose bytes at achievable
bandwidth explain 30 % of its time; together 1 % of the window. The bound is in proportion to the bytes and never below
DRAM at achievable bandwidth or the launch.

Silent on adds of two full tensors (they may be the residual path), norms, softmax, rotary embeddings and caches,
on ROW_MAJOR tensors (BFLOAT8_B exists in TILE only), on op records the report copied from an earlier call, where half
of the bytes and more are padding that another shape would not need (tile-padding-waste saves those), and around ops
that refuse BFLOAT8_B: what a rotary embedding reads, a concat beside what stays in BFLOAT16, and cuts of one source
with these (TTNN 0.81.1: rotary_embedding_llama takes BFLOAT16 only, concat one data type).
"""

from __future__ import annotations

import numpy as np

from ttnn_mcp.analyses.op_kinds.activations import adds_full_tensors, narrowing_spares, streams_bfloat16
from ttnn_mcp.analyses.op_kinds.formats import fewer_bytes_save
from ttnn_mcp.analyses.op_kinds.tile_padding import tile_waste
from ttnn_mcp.checks.check import Affected, Mask, Problem, Problems, Subject, WindowFacts, Words, check
from ttnn_mcp.checks.levers import ACTIVATIONS
from ttnn_mcp.checks.needs import OPERANDS
from ttnn_mcp.checks.worth import USUAL, Worth
from ttnn_mcp.run.ops.op_names import is_rotary

EXPLAINED = 0.3  # of the op's time by its bytes: below it, overhead or few cores limit the op (domain practice)
MOSTLY_PADDING = 0.5  # of the bytes: a shape without it saves more than a narrower type, 0.47 (ours)
MAPS = ("Binary", "Unary", "Ternary", "Where", "Copy", "Clone")


def _maps(facts: WindowFacts) -> Mask:
    return facts.named(*MAPS) | facts.of_family("shape")


@check(
    title="DRAM-bound ops on bfloat16 activations",
    lever=ACTIVATIONS,
    costs_accuracy=True,
    of=Subject(_maps, "no element-wise or shape ops"),
    needs=(OPERANDS,),
    worth=Worth(saving=USUAL),
    compiled="no option of tt-xla narrows activations in general; a decoder's cache: experimental-kv-cache-dtype",
)
def look(facts: WindowFacts) -> Problems:
    """Yield all DRAM-bound ops on bfloat16 activations."""
    waits = np.nan_to_num(facts.roofline.dram_achievable_ns) >= EXPLAINED * facts.kernel_ns
    stays = adds_full_tensors(facts.ops) | facts.joins.doubtful | _around_refusals(facts)
    stays |= tile_waste(facts.ops) >= MOSTLY_PADDING
    rows = np.flatnonzero(_maps(facts) & streams_bfloat16(facts.ops) & waits & ~stays)
    spared = narrowing_spares(facts.ops, facts.roofline)
    saved = fewer_bytes_save(facts.ops, facts.roofline, spared)
    yield Problem(rows, saved[rows], spared_bytes=spared[rows], tell=_tell)


def _around_refusals(facts: WindowFacts) -> Mask:
    """Ops whose result, or whose source, an op reads that takes no BFLOAT8_B there."""
    rotary = facts.names.where(is_rotary)
    wide = rotary | facts.of_family("norm", "softmax") | adds_full_tensors(facts.ops)
    refuses = rotary | (facts.named("Concat") & _read_any(facts, wide))
    sources = _made_for_any(facts, refuses)
    sources |= _made_for_any(facts, sources & facts.of_family("shape"))  # shape ops pass the data type on
    return sources | _read_any(facts, sources)


def _read_any(facts: WindowFacts, among: Mask) -> Mask:
    """Ops that read what one of these made."""
    makers, readers = facts.joins.edges
    mask = np.zeros(len(facts), dtype=np.bool_)
    mask[readers[among[makers]]] = True
    return mask


def _made_for_any(facts: WindowFacts, among: Mask) -> Mask:
    """Ops whose result one of these reads."""
    makers, readers = facts.joins.edges
    mask = np.zeros(len(facts), dtype=np.bool_)
    mask[makers[among[readers]]] = True
    return mask


def _tell(ops: Affected) -> Words:
    return Words(
        claim=(
            f"{ops.many('element-wise or shape op')} ({ops.time}) {ops.verb('wait')} for DRAM with BFLOAT16 "
            f"activations; heaviest {ops.name} {ops.example}"
        ),
        assumption="BFLOAT8_B in and out (0.53 of the bytes); time falls at most in proportion to them",
        cells=((ops.facts.ops.inputs[0], "DATATYPE"), (ops.facts.ops.outputs[0], "DATATYPE")),
        fix=(
            "write it narrow where it is made: ttnn.linear(..., dtype=ttnn.bfloat8_b), "
            "ttnn.mul(a, b, dtype=ttnn.bfloat8_b); shape ops pass the data type on"
        ),
        verify="re-profile: tensor_formats.activations shows BFLOAT8_B, no new Typecast; PCC >= 0.99",
        caveat="residual sums, norms and softmax stay BFLOAT16; do weights and fidelity first",
    )
