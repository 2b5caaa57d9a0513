"""A matmul or attention reads or writes more bits than it may need, and no rule tells what fewer bring.

Where bytes explain the time other checks promise (wide-weights, eight-bit-weights-stream, wide-kv-cache). Elsewhere it
was measured both ways: on whole layers of tt-metal's ledgers experts' weights one format narrower saved 33 and 41 % of
their matmuls, attention's 17 %, results, keys and values in BFLOAT8_B 11 to 41 %; a quarter of the tries brought
nothing or lost their PCC. LoFi saved time 12 times, and brought nothing or lost PCC 14 times. So nothing is expected,
and it stands last in the plan, unless a law of time tells what weights or passes bring: of decode matmuls it told gains
from dead ends in four ledgers, most within a tenth.

The line: matmuls and fused attention of 5 us and more. Weights wider than BFLOAT4_B that no byte count speaks of:
experts of which the report does not tell how many are read, matmuls whose arithmetic outweighs their bytes, BFLOAT8_B
beside BFLOAT4_B, and heads of 32,000 columns and more (BFLOAT4_B took 0.5 to 1.1 ms a token off three, with as many
words right, and missed the PCC of a fourth). Weights of matmuls in BFLOAT16 straight to four bits, whoever speaks of
eight: heads, experts and feed-forwards of four ledgers saved 49 to 59 % so (BitNet, GPT-OSS 120B, Gemma 4 12B; with
shards over the banks Gemma 4 31B 57 %). Where passes are the limit those that narrower weights have no bits for go
with them, as in four ledgers. Results of matmuls in BFLOAT16, those in L1 too (fc of Janus-Pro's tower 8 % less);
both where their bytes take a tenth of the time and more, or would in DRAM. Keys and values in BFLOAT16. Passes of
matmuls above LoFi, where arithmetic takes half of the time, and of experts in 8 bits and narrower of which the report
does not tell how many are read (LoFi saved 9 % of gate and up of Qwen3 Coder 30B). Passes above HiFi2 of attention in
windows or a ring, whose arithmetic no report tells (a quarter of Mistral Medium's ring attention). Passes of
rotary_embedding_llama, which turns pairs by a matmul: HiFi2 saved 25 % and LoFi 51 % of pplx-embed's (HiFi4). Any op
that reads or writes FLOAT32: BFLOAT16 saved 46 % of an activation's ops, 47 % of a matmul and a tenth of a
projection's in three ledgers. Each 1 % of the window to save; the bound is the part of the bytes or passes that goes,
of all the time: of bytes no more than what is above the arithmetic; of a cast to or from FLOAT32 all of it.

Silent on passes of which second-pass-for-eight-bits speaks, on FLOAT32 of which float32-between-bfloat16 does, on
element-wise ops in BFLOAT16 (wide-activations), and on convs.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from ttnn_mcp.analyses.op_kinds.few_cores import SMALL_NS
from ttnn_mcp.analyses.op_kinds.formats import (
    FEWER_BYTES,
    FEWER_PASSES_FROM,
    fewer_bytes_save,
    fewer_passes_save,
    needed_phases,
    phases,
    phases_told,
    reads_weights,
    spared_bytes,
    waits_for_bytes,
)
from ttnn_mcp.analyses.op_kinds.sparse_matmuls import share_read
from ttnn_mcp.analyses.roofline.flops import WHY_PLACE, WHY_WINDOWS
from ttnn_mcp.checks.check import (
    Affected,
    Floats,
    Mask,
    Problem,
    Problems,
    WindowFacts,
    Words,
    check,
    ops_of_family,
    spoken_of,
)
from ttnn_mcp.checks.levers import UNTRIED
from ttnn_mcp.checks.needs import TWO_OPERANDS
from ttnn_mcp.checks.shared.changed_ops import changed, of_one_row
from ttnn_mcp.checks.shared.floors import FELT, compute_saves, results_felt
from ttnn_mcp.checks.step1_data_formats import (
    fidelity_above_operands,
    float32_between_bfloat16,
    second_pass_for_eight_bits,
)
from ttnn_mcp.checks.step1_data_formats.eight_bit_weights_stream import HEAD
from ttnn_mcp.checks.worth import USUAL, Worth
from ttnn_mcp.hardware import ELEMENT_BYTES, FIDELITY_PHASES

if TYPE_CHECKING:
    from collections.abc import Callable

    from ttnn_mcp.analyses.laws.descriptions import Described
    from ttnn_mcp.checks.shared.changed_ops import Becomes

FEWEST_BYTES = 1 - ELEMENT_BYTES["BFLOAT4_B"] / ELEMENT_BYTES["BFLOAT16"]
LOFI, HIFI2 = "LoFi", "HiFi2"
TURNING = 0.6  # of the time: measured, LoFi for HiFi4 saved 51 % of pplx-embed's
ENOUGH = {"BFLOAT8_B": HIFI2, "BFLOAT4_B": LOFI}  # passes that read all bits of such weights (tt-metal #39627)
ENGINE = ops_of_family("no matmul or fused attention", "matmul", "attention")


@check(
    title="narrower formats, a trial",
    lever=UNTRIED,
    costs_accuracy=True,
    of=ENGINE,
    needs=(TWO_OPERANDS,),
    worth=Worth(saving=USUAL),
    general=True,
)
def look(facts: WindowFacts) -> Problems:
    """Yield weights, results, and keys and values."""
    weight, took = facts.ops.inputs[1], facts.kernel_ns
    long = (took >= SMALL_NS) & ~facts.roofline.impossible  # operands or times of the others are false
    matmul, able = facts.of_family("matmul"), ENGINE.mask(facts) & long
    beside = bool(weight.dtype.among("BFLOAT4_B").any()) & weight.dtype.among("BFLOAT8_B")
    untold = beside | ~waits_for_bytes(facts.ops, facts.roofline) | (weight.logical[:, 3] >= HEAD)
    saved = np.minimum(FEWER_BYTES * took, compute_saves(facts))
    weights = able & reads_weights(facts.ops, facts.flow)
    weights &= ~(facts.roofline.dram_achievable_ns < FELT * took)  # unknown ones are told
    for dtype, wider in (("BFLOAT8_B", ("BFLOAT16", "FLOAT32")), ("BFLOAT4_B", ("BFLOAT8_B",))):
        these = weights & untold & weight.dtype.among(*wider)
        yield _narrower(facts, these, dtype, FEWER_BYTES * took, "narrower weights")
    these = weights & weight.dtype.among("BFLOAT16")
    yield _narrower(facts, these, "BFLOAT4_B", _four_bits_save(facts), "weights of four bits")
    results = able & matmul & facts.ops.outputs[0].dtype.among("BFLOAT16") & results_felt(facts)
    yield _of(results, saved, "narrower results", _narrower_results)
    keys = able & ~matmul & weight.dtype.among("BFLOAT16")
    yield _of(keys, saved, "narrower keys and values", _narrower_keys)
    passes = fewer_passes_save(facts.ops, facts.roofline, np.full(len(facts), second_pass_for_eight_bits.LOFI))
    uncounted = facts.named("SparseMatmul") & np.isnan(facts.roofline.compute_ns) & weight.dtype.among(*ENOUGH)
    passes[uncounted] = (took * (1 - second_pass_for_eight_bits.LOFI / phases(facts.ops)))[uncounted]
    beyond = long & matmul & (passes > 0)
    beyond[spoken_of(second_pass_for_eight_bits.look, facts)] = False
    to_lofi = needed_phases(facts.ops) == FIDELITY_PHASES[LOFI]  # there the same change is no trial
    beyond[np.intersect1d(spoken_of(fidelity_above_operands.look, facts), np.flatnonzero(to_lofi))] = False
    yield _of(beyond, passes, "fewer passes", _fewer_passes)
    float32 = _reads_or_writes_float32(facts)
    untold = able & facts.roofline.why.among(WHY_PLACE, WHY_WINDOWS)
    untold &= (phases(facts.ops) > FIDELITY_PHASES[HIFI2]) & ~float32
    fewer = took * (1 - FIDELITY_PHASES[HIFI2] / phases(facts.ops))
    yield _of(untold, fewer, "fewer passes", partial(_fewer_passes, fidelity=HIFI2))
    turning = phases_told(facts.ops)
    turned = long & facts.named("RotaryEmbeddingLlama") & (turning > FIDELITY_PHASES[LOFI]) & ~float32
    spared = np.minimum(TURNING, 1 - FIDELITY_PHASES[LOFI] / turning) * took
    yield _of(turned, spared, "fewer passes", _fewer_passes)
    halved = np.where(facts.named("Typecast"), took, float32_between_bfloat16.halved_saves(facts))
    wide = long & float32
    wide[spoken_of(float32_between_bfloat16.look, facts)] = False
    yield _of(wide, halved, "16 bits for 32", _half_as_wide)


def _of(
    able: Mask, saved: Floats, what: str, fix: Callable[[WindowFacts, int], str], then: Becomes | None = None
) -> Problem:
    rows = np.flatnonzero(able)
    return Problem(rows, saved[rows], tell=partial(_tell, what, fix), becomes=then, is_trial=True)


def _narrower(facts: WindowFacts, these: Mask, dtype: str, by_bytes: Floats, what: str) -> Problem:
    left = _passes_left(facts, dtype)
    most = np.minimum(np.fmax(by_bytes, (1 - left) * facts.kernel_ns), compute_saves(facts, left))
    fix, then = partial(_narrower_weights, dtype, left), partial(_narrowed, facts, dtype, left)
    return _of(these, most, what, fix, of_one_row(then))


def _four_bits_save(facts: WindowFacts) -> Floats:
    """Of 16-bit weights; where the op waits for bytes it is bounded as `wide-weights` bounds eight bits."""
    spared = spared_bytes(facts.ops.inputs[1], "BFLOAT4_B") * share_read(facts.ops)
    by_bytes = fewer_bytes_save(facts.ops, facts.roofline, spared)
    return np.where(waits_for_bytes(facts.ops, facts.roofline), by_bytes, FEWEST_BYTES * facts.kernel_ns)


def _passes_left(facts: WindowFacts, dtype: str) -> Floats:
    """Per op, the share of its passes that weights of this type have bits for, where passes are its limit; else 1."""
    roofline, needed = facts.roofline, FIDELITY_PHASES[ENOUGH[dtype]] / phases(facts.ops)
    limit = roofline.compute_used_ns >= np.fmax(roofline.dram_achievable_ns, FEWER_PASSES_FROM * facts.kernel_ns)
    return np.where(limit, np.minimum(needed, 1.0), 1.0)


def _narrowed(facts: WindowFacts, dtype: str, left: Floats, row: int) -> Described | None:
    return changed(facts, row, in1_dtype=dtype, **({"fidelity": ENOUGH[dtype]} if left[row] < 1 else {}))


def _tell(what: str, fix: Callable[[WindowFacts, int], str], ops: Affected) -> Words:
    return Words(
        claim=f"{_ops(ops)} could do with {what} or not ({ops.time}): {ops.example}, {ops.took_us}",
        assumption="a trial: time falls at most with the bytes or passes",
        cells=((ops.facts.ops.inputs[1], "DATATYPE"), (ops.facts.ops.outputs[0], "DATATYPE")),
        fix=fix(ops.facts, ops.row),
        caveat="instead of what other findings set there; PCC of the whole model decides, op by op",
    )


def _ops(ops: Affected) -> str:
    """By kind; all as ops where norms, sums or casts are among them, which have no kind."""
    of_kinds = ops.facts.of_family("conv", "matmul", "attention")[ops.rows]
    return ops.kinds if of_kinds.all() else ops.many("op")


def _fewer_passes(_facts: WindowFacts, _row: int, fidelity: str = LOFI) -> str:
    return f"math_fidelity=ttnn.MathFidelity.{fidelity} in its compute_kernel_config, the rest as now"


def _reads_or_writes_float32(facts: WindowFacts) -> Mask:
    return np.any([one.dtype.among("FLOAT32") for one in (*facts.ops.inputs, *facts.ops.outputs)], axis=0)


def _half_as_wide(_facts: WindowFacts, _row: int) -> str:
    return (
        "ttnn.bfloat16 where the FLOAT32 tensors are made, weights too: ttnn.from_torch(..., "
        "dtype=ttnn.bfloat16), without the ttnn.typecast before"
    )


def _narrower_weights(dtype: str, left: Floats, facts: WindowFacts, row: int) -> str:
    fewer = f"; {_fewer_passes(facts, row, ENOUGH[dtype])}" if left[row] < 1 else ""
    return (
        f"w = ttnn.from_torch(torch_w, dtype=ttnn.{dtype.lower()}, layout=ttnn.TILE_LAYOUT, device=device){fewer}"
    )


def _narrower_results(_facts: WindowFacts, _row: int) -> str:
    return "dtype=ttnn.bfloat8_b for the result; its reader takes it beside operands of one data type only"


def _narrower_keys(facts: WindowFacts, row: int) -> str:
    if "Decode" in facts.names[row]:  # TTNN 0.81.1 refuses packed rows for an update
        return "the cache of k and v as ttnn.bfloat8_b; updates go on with BFLOAT16 rows, fills cast theirs"
    return "k and v as ttnn.bfloat8_b where they are made, the cache too"
