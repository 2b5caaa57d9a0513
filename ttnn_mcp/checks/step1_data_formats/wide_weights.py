"""Matmul or conv weights are stored wider than the op needs, and the op waits for bytes.

A BFLOAT16 weight is 2 B per element, BFLOAT8_B 1.0625 (16 mantissas share an exponent), so a weight-bound op moves
0.53 of the bytes. Conv weights in BFLOAT8_B also shrink the conv's circular buffers, and this may make step 6
possible. PCC decides: most models keep 0.99; final heads and timestep embeddings often do not, and SDXL had to return
to bfloat16 convs for image quality (tt-metal #21760).

The line: INPUT_1 is BFLOAT16 or FLOAT32, lives in DRAM and no earlier op made it; the op's DRAM bytes outweigh its
arithmetic and explain at least 10 % of its time, on Blackhole 38 % of a one-token matmul's (ours: see
`analyses/op_kinds/formats.py`); all together can save 1 % of the window. The bound is in proportion to the bytes, of
at most twice the time that all bytes need (at 17 % of the bandwidth half the bytes brought 11 of 105 us), and never
below arithmetic, DRAM at achievable bandwidth, or the launch.

A matmul far from its bandwidth may wait for something else: CosyVoice's decoder on Blackhole, whose linears read
BFLOAT16 weights at 30 to 37 % of it, took 5.48 ms a token with either format (tt-metal's notes of that model). Nothing
measured tells the same of Wormhole: there the bound stays, with a caveat. Nor do narrower weights help where blocks of
K explain the time: GLM-4.7-Flash's linears of one token, 1 us for each block of two tiles, took 1034 us a step in
BFLOAT16 and 1030 in BFLOAT8_B (its port in tt-metal).

Silent on compute-bound ops (narrower weights save nothing there), on attention, whose second operand is an
activation, on weights in L1, and on convs that a compiler wrote: tt-xla narrows the weights of matmuls only.
"""

from __future__ import annotations

from dataclasses import replace
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
from ttnn_mcp.checks.check import Affected, CannotTell, Mask, Problem, Problems, Subject, WindowFacts, Words, check
from ttnn_mcp.checks.levers import WEIGHTS
from ttnn_mcp.checks.needs import DRAM_BANDWIDTH
from ttnn_mcp.checks.op_config import OpConfig
from ttnn_mcp.checks.shared.changed_ops import becomes
from ttnn_mcp.checks.wording import took
from ttnn_mcp.checks.worth import USUAL, Worth
from ttnn_mcp.hardware import TILE_SIDE  # unmoved: matmuls' rows are padded to whole tiles
from ttnn_mcp.quoting import figure

REACHES = 0.3  # of achievable bandwidth: below it bytes are not the only limit (ours)
# of achievable bandwidth: nothing gained below (CosyVoice); SDXL's, at 39 to 46 %, gained (tt-metal PR #24294)
BYTES_DECIDE = 0.38  # between the two (ours)


@check(
    title="weights wider than the op needs",
    lever=WEIGHTS,
    costs_accuracy=True,
    principal=True,
    of=Subject(lambda facts: reads_weights(facts.ops, facts.flow), "no matmul or conv reads weights from DRAM"),
    worth=Worth(saving=USUAL),
    compiled=(
        "model.to(torch.bfloat16) before compiling, then "
        'torch_xla.set_custom_compile_options({"experimental_weight_dtype": "bfp_bf8"})'
    ),
)
def look(facts: WindowFacts) -> Problems:
    """Yield all ops whose weights could be narrower."""
    weight, weighted = facts.ops.inputs[1], reads_weights(facts.ops, facts.flow)
    if facts.compiled:
        weighted = weighted & ~facts.of_family("conv")
    wide = weighted & weight.dtype.among(*SIXTEEN_BITS_OR_MORE)
    if facts.chip.dram_achievable_gb_s is None and facts.share(np.flatnonzero(wide)) >= USUAL:
        yield CannotTell(DRAM_BANDWIDTH.why(facts))
        return
    spared = spared_bytes(weight, "BFLOAT8_B") * share_read(facts.ops)
    wide &= waits_for_bytes(facts.ops, facts.roofline) & (facts.kernel_ns > 0)
    decides = facts.roofline.dram_achievable_ns >= BYTES_DECIDE * facts.kernel_ns
    decides &= ~waits_for_steps(facts.ops)
    rows = np.flatnonzero(wide & (decides | ~_measured_without_gain(facts)))
    at_most = fewer_bytes_save(facts.ops, facts.roofline, spared)[rows]
    tell = partial(_tell, int(weighted.sum()), float(spared[rows].sum()))
    narrower = becomes(facts, in1_dtype="BFLOAT8_B")
    heaviest = facts.heaviest(rows)[:1]
    sets = _narrowed if facts.of_family("conv")[heaviest].any() else None
    yield Problem(rows, at_most, spared_bytes=spared[rows], tell=tell, becomes=narrower, sets=sets)


def _narrowed(config: OpConfig) -> OpConfig | None:
    if not config.facts.of_family("conv")[config.row]:
        return None
    conv = config.conv and replace(config.conv, weights_dtype="BFLOAT8_B")
    return replace(config, conv=conv).with_conv_field("weights_dtype", "ttnn.bfloat8_b")


def _tell(weighted: int, spared: float, ops: Affected) -> Words:
    facts, weight = ops.facts, ops.facts.ops.inputs[1]
    bandwidth = facts.chip.dram_achievable_gb_s or 1.0
    now_ns = float(facts.roofline.dram_achievable_ns[ops.rows].sum())
    then_ns = now_ns - spared / bandwidth
    reached = now_ns / float(facts.kernel_ns[ops.rows].sum())
    return Words(
        claim=(
            f"{len(ops.rows)} of {weighted} ops with weights read {weight.dtype[ops.row]} ones and wait for bytes "
            f"({ops.time}): {took(now_ns)} at {figure(bandwidth, '.0f')} GB/s, {took(then_ns)} as BFLOAT8_B; "
            f"heaviest line {ops.line}"
        ),
        assumption="weights as BFLOAT8_B (0.53 of the bytes); time falls at most in proportion to the bytes",
        cells=((weight, "DATATYPE"), (weight, "MEMORY")),
        fix=_fix(ops),
        verify="re-profile: tensor_formats.weights shows BFLOAT8_B, kernel_us falls; PCC >= 0.99",
        caveat=(
            f"they reach only {figure(reached, '.0%')} of that bandwidth: a better program config (step 3) comes first"
            if reached < REACHES
            else "keep heads, timestep embeddings and what lowers the PCC in BFLOAT16"
        ),
    )


def _measured_without_gain(facts: WindowFacts) -> Mask:
    """Matmuls of one token on Blackhole."""
    one_token = facts.ops.inputs[0].height <= TILE_SIDE
    return facts.of_family("matmul") & one_token & (facts.chip.arch == "blackhole")


def _fix(ops: Affected) -> str:
    if ops.facts.of_family("conv")[ops.row]:
        return f"conv_config={ops.with_only(_narrowed).conv_text}, {ops.example.partition(' at ')[0]}"
    return (
        "w = ttnn.from_torch(torch_w, dtype=ttnn.bfloat8_b, layout=ttnn.TILE_LAYOUT, device=device)"
        f"  # {ops.example}"
    )
