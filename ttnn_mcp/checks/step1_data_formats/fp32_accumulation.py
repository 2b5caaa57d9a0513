"""Partial sums are kept in float32 although inputs and output are 16 bits or narrower.

`fp32_dest_acc_en` halves the destination register, from 8 tiles to 4, so output subblocks get smaller and the packer
moves twice the bytes. It gives accuracy over long inner dimensions; with 16-bit operands many models keep their PCC
without it. Its cost differs per op: without it, and with whole output blocks, four prefill matmuls of Qwen3.5 9B took 7
to 40 % less. So it is a trial, of half of a matmul's time at most; of a conv nobody measured it, so no saving is
claimed.

The line: a matmul or conv with fp32_dest_acc_en=1, no FLOAT32 operand, more arithmetic than DRAM traffic, and an
output subblock that fills the 4 remaining tiles (tt-metal's matmul_program_config.cpp), or as many of them as divide
its block where 8 tiles allow more (3 of 18 columns could be 6: 364 us became 255); another would not grow.
Together 1 % of the window. Silent if the subblock is not printed (ttnn chose it) and on memory-bound ops.

Norms and softmax keep what they add up in that register too. Without float32 a norm of Voxtral took 48 us in place of
115, one of Boltz-2 four fifths, its softmax three fifths; Voxtral's error grew tenfold. So those on 16 bits and
narrower are a trial of 60 % of their time, 5 us and more, where DRAM does not hold them up. Attention took 24 % less on
Janus-Pro's tower, 6 % over dots.ocr's documents, 30 % in Nomic Embed, where its error was too large: a trial of 30 %.
"""

from __future__ import annotations

from functools import partial

import numpy as np

from ttnn_mcp.analyses.op_kinds.accumulation import compute_setting, fills_half_of_dst
from ttnn_mcp.analyses.op_kinds.few_cores import SMALL_NS
from ttnn_mcp.analyses.op_kinds.formats import any_operand, waits_for_arithmetic
from ttnn_mcp.checks.check import (
    Affected,
    Problem,
    Problems,
    Subject,
    WindowFacts,
    Words,
    check,
    ops_named,
    ops_of_family,
)
from ttnn_mcp.checks.levers import ACCUMULATION
from ttnn_mcp.checks.needs import COMPUTE_CONFIG
from ttnn_mcp.checks.shared.compiled import compute_config_of_compiler
from ttnn_mcp.checks.shared.compute_configs import sets_compute
from ttnn_mcp.checks.shared.floors import accumulation_saves, least_ns
from ttnn_mcp.checks.wording import cite_setting
from ttnn_mcp.checks.worth import USUAL, Worth
from ttnn_mcp.hardware import DST_TILES, DST_TILES_FP32

ADDING = ops_named("no norms and no softmax", "LayerNorm", "RMSNorm", "Softmax")
ATTENDING = ops_of_family("no attention", "attention")
ABLE = Subject(
    lambda facts: facts.of_family("matmul", "conv") | ADDING.mask(facts) | ATTENDING.mask(facts),
    "no matmul, conv, norm, softmax or attention ops",
)
OF_SUMS = 0.6  # of the time: 58 % at most (measured, a norm of Voxtral on one core)
OF_ATTENTION = 0.3  # of its time: the most that was measured (Nomic Embed)
SETS = sets_compute(fp32_dest_acc_en="False")


@check(
    title="16-bit operands accumulated in float32",
    lever=ACCUMULATION,
    costs_accuracy=True,
    of=ABLE,
    needs=(COMPUTE_CONFIG,),
    worth=Worth(time=USUAL),
    general=True,
    compiled=compute_config_of_compiler("fp32_dest_acc_en=False"),
)
def look(facts: WindowFacts) -> Problems:
    """Yield all ops that the smaller register could hold back."""
    able = np.flatnonzero(facts.of_family("matmul", "conv"))
    fp32 = compute_setting(facts.ops, able, "fp32_dest_acc_en") == 1
    at_limit = fills_half_of_dst(facts.ops, able) == 1
    meant = any_operand(facts.ops, "FLOAT32") | ~waits_for_arithmetic(facts.ops, facts.roofline)
    rows = able[fp32 & at_limit & ~meant[able]]
    yield Problem(rows, accumulation_saves(facts, rows), sets=SETS, tell=_tell, is_trial=True)
    long, least = (facts.kernel_ns >= SMALL_NS) & ~any_operand(facts.ops, "FLOAT32"), least_ns(facts)
    least = np.where(ATTENDING.mask(facts), np.nan_to_num(least), least)  # not told of windows
    for adds, part, tell in (
        (ADDING, OF_SUMS, partial(_tell_adding, "norm or softmax op", "21, 41 and 58 %")),
        (ATTENDING, OF_ATTENTION, partial(_tell_adding, "attention op", "6, 24 and 30 %")),
    ):
        adding = np.flatnonzero(adds.mask(facts) & long)
        rows = adding[compute_setting(facts.ops, adding, "fp32_dest_acc_en") == 1]
        saved = np.minimum(part * facts.kernel_ns, facts.kernel_ns - least)[rows]
        yield Problem(rows[saved > 0], saved[saved > 0], sets=SETS, tell=tell, is_trial=True)


def _tell(ops: Affected) -> Words:
    facts, row = ops.facts, ops.row
    return Words(
        claim=(
            f"{ops.kinds} ({ops.time}) {ops.verb('accumulate')} narrow operands in float32, and their subblocks "
            f"fill the {DST_TILES_FP32} tiles it leaves; heaviest {ops.example}"
        ),
        assumption=f"a trial: {DST_TILES} destination tiles, not {DST_TILES_FP32}; the gain is not known in advance",
        evidence=(cite_setting(facts, row, "compute_kernel_config", "fp32_dest_acc_en"), *facts.cite(row)),
        fix=ops.with_only(SETS).compute_text,
        caveat="long inner dimensions may need it: judge by PCC of the whole model",
    )


def _tell_adding(kind: str, measured: str, ops: Affected) -> Words:
    return Words(
        claim=(
            f"{ops.many(kind, ('adds', 'add'))} up 16 bits in float32 ({ops.time}); heaviest {ops.name} "
            f"{ops.example}"
        ),
        assumption=f"a trial: measured were {measured} less, at a cost in accuracy",
        evidence=(
            cite_setting(ops.facts, ops.row, "compute_kernel_config", "fp32_dest_acc_en"),
            *ops.facts.cite(ops.row),
        ),
        fix=ops.with_only(SETS).compute_text,
        caveat="sums over long rows may need it: judge by PCC of the whole model",
    )
