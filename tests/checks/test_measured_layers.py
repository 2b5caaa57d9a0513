"""Layers whose changes engineers measured: no bound that a measurement exceeds, no promise of what brought nothing."""

from __future__ import annotations

import json
import re
from functools import cache
from typing import NamedTuple

import numpy as np

from tests.checks.asking import Case, case_of_reports
from tests.for_all import for_all
from tests.shared_reports import shared
from ttnn_mcp.checks import CATALOGUE
from ttnn_mcp.checks.diagnosis import ask

MEASURED_WITHIN = 1.02  # times: two runs of one program differ by as much
AT_MOST, EXPECTED = 0.05, 0.01  # of the kernel time: so much of a dead end is noise


class Gain(NamedTuple):
    """Changes that one check names: how they begin in the story, and how many layers their savings are of."""

    story: str
    check: str
    changes: tuple[str, ...]
    layers: int = 1


class DeadEnd(NamedTuple):
    """A change that brought nothing: how it begins, its ops (name and shapes), and what a fix would say."""

    story: str
    change: str
    ops: str
    fix: str


GAINS = (
    Gain("G01-qtts-rope", "rotary-as-prefill", ("rotary_embedding_llama",)),
    Gain("G02-qtts-sdpa", "sdpa-padded-chunks", ("SDPA program config",)),
    Gain("G04-qtts-allreduce-2chip", "two-exchanges-of-two-chips", ("one all_gather",)),
    Gain("G07-h3-sdpa-5s", "sdpa-uneven-chunks", ("SDPA chunks",)),
    Gain("G11-wh-auto-decode-mm", "decode-matmul-bandwidth", ("DRAM-sharded",)),
    Gain("G12-llama8b-mlp-decode", "decode-matmul-bandwidth", ("ff1/ff3",)),
    Gain("G12-llama8b-mlp-decode", "fidelity-above-operands", ("ff2",)),
    Gain("L1-llama8b-p150-layer", "norm-on-few-cores", ("RMSNorm",)),
    Gain("L1-llama8b-p150-layer", "fidelity-above-operands", ("ff2", "QKV and wo")),
    Gain("L1-llama8b-p150-layer", "low-core-count", ("NlpCreateHeads", "NLPConcatHeads")),
    Gain("L3-clm8b-128-layer", "matmul-small-blocks", ("QKV in0_block_w",)),
    Gain("L3-clm8b-128-layer", "norm-on-few-cores", ("block-sharded RMSNorm",)),
    Gain("L3-clm8b-128-layer", "fidelity-above-operands", ("BFP8 weights + HiFi2",)),
    Gain("L3-clm8b-128-layer", "copy-without-change", ("drop two",)),
    Gain("L4b-bge-m3-b8-tuned", "cast-before-attention", ("QKV output in BF16",), 24),
    Gain("L4b-bge-m3-b8-tuned", "matmuls-through-dram", ("MLP-wi", "MLP-wo", "attention output"), 24),
    Gain("L4b-bge-m3-b8-tuned", "sdpa-uneven-chunks", ("SDPA k_chunk",), 24),
    Gain("L5-solar-open-decode", "norm-on-few-cores", ("decode norms",)),
    Gain("L5-solar-open-decode", "matmul-without-config", ("router linear", "shared expert")),
)
# not asked: TP=1 (G04) and K and V in BFP8 (G07) were not measured, BFP8 attention (L4b) was faster and lost its PCC,
# the report of G14 has no casts
DEAD_ENDS = (
    DeadEnd("D03-qtts-topk-place", "logits in L1", "FillPad|TopK", "L1"),
    DeadEnd("D03-qtts-topk-place", "drop the fill", "FillPad", ""),
    DeadEnd("G01-qtts-rope", "cos/sin/trans", "Rotary", "tables? .*L1_MEMORY"),
    DeadEnd("G01-qtts-rope", "rotary math fidelity", "Rotary", "math_fidelity"),
    DeadEnd("G02-qtts-sdpa", "SDPA fidelity", "SDPA", "math_fidelity"),
    DeadEnd("G02-qtts-sdpa", "SDPA grid", "SDPA", r"grid_size=\((?!8, 8)"),
    DeadEnd("G02-qtts-sdpa", "larger q_chunk", "SDPA", "q_chunk_size=(?!32,)"),
    DeadEnd("G02-qtts-sdpa", "k_chunk 320", "SDPA", "k_chunk_size=320"),
    DeadEnd("G02-qtts-sdpa", "scaled_dot_product_attention_decode", "SDPA", "attention_decode"),
    DeadEnd("G04-qtts-allreduce-2chip", "num_links 2", "Gather|Scatter", "num_links"),
    DeadEnd("G04-qtts-allreduce-2chip", "gather on dim 0", "Gather|Scatter", "all_gather.*dim=0"),
    DeadEnd("G05a-qtts-prefill64", "any program config for o_proj", r"1024x2048", "ProgramConfig"),
    DeadEnd("G05a-qtts-prefill64", "any program config for gate/up", r"2048x3072", "ProgramConfig"),
    DeadEnd("G05a-qtts-prefill64", "2D block-sharded", "Matmul", "MultiCastProgramConfig"),
    DeadEnd("G07-h3-sdpa-5s", "(320,512)", "RingJoint", "q_chunk_size=320, k_chunk_size=512"),
    DeadEnd("G12-llama8b-mlp-decode", "ff2 interleaved", "14336x4096", "interleaved"),
    DeadEnd("G12-llama8b-mlp-decode", "BFP8/BFP4 activations", "Matmul", "write it narrow|dtype=ttnn.bfloat[48]_b"),
    DeadEnd("G12-llama8b-mlp-decode", "fidelity of ff1/ff3", "4096x14336", "math_fidelity"),
    DeadEnd("G14-kokoro-adain-fold", "FP32 -> BFP16", "Binary", "bfloat16"),
    DeadEnd("L1-llama8b-p150-layer", "ff2 weights interleaved", "14336x4096", "interleaved"),
    DeadEnd("L1-llama8b-p150-layer", "wo interleaved", "4096x4096", "interleaved"),
    DeadEnd("L1-llama8b-p150-layer", "QKV interleaved", "4096x6144", "interleaved"),
    DeadEnd("L1-llama8b-p150-layer", "BFP8 activations", "Matmul", "write it narrow|dtype=ttnn.bfloat8_b"),
    DeadEnd("L3-clm8b-128-layer", "LoFi for the MLP", "12288", "LoFi"),
    DeadEnd("L3-clm8b-128-layer", "wo in0_block_w 16", "4096x4096", "in0_block_w=16"),
    DeadEnd("L3-clm8b-128-layer", "w2 in0_block_w 16", "12288x4096", "in0_block_w=16"),
    DeadEnd("L3-clm8b-128-layer", "minimal_matmul for QKV", "4096x6144", "minimal_matmul"),
    DeadEnd("L3-clm8b-128-layer", "2D config on 11 columns", "Matmul", r"^(?!pad).*MultiCastProgramConfig.*=\(11"),
    DeadEnd("L4b-bge-m3-b8-tuned", "program configs", "Matmul", r"ProgramConfig\("),
    DeadEnd("L4b-bge-m3-b8-tuned", "SDPA on 8x8", "SDPA", r"=\(8, 8\)"),
    DeadEnd("L4b-bge-m3-b8-tuned", "sharded LayerNorm", "LayerNorm", "LayerNormSharded"),
    DeadEnd("L4b-bge-m3-b8-tuned", "create_heads output", "NlpCreateHeads", "L1"),
    DeadEnd("L5-solar-open-decode", "o_proj (8,8)", "1024x4096", r"ProgramConfig\(.*=\(8, 8\)"),
)


def told_of(entry: Gain | DeadEnd) -> str:
    return f"{entry.story.partition('-')[0]} {entry[1] if isinstance(entry, DeadEnd) else entry.check}"


@cache
def window_of(story: str) -> Case:
    return case_of_reports(shared(f"layers/{story}.csv"))


def savings(story: str, kind: str) -> dict[str, float]:
    """Microseconds by what was changed."""
    stories = {each["id"]: each for each in json.loads(shared("layers/stories.json").read_text("utf-8"))}
    levers = stories[story]["levers"]
    return {each["what"]: each.get("saving_us", 0.0) for each in levers if each["kind"] == kind}


@for_all("gain", GAINS, ids=told_of)
def test_no_measurement_exceeds_its_bound(gain):
    measured = savings(gain.story, "gain")
    saved = sum(us for what, us in measured.items() if what.startswith(gain.changes)) / gain.layers
    (check,) = (check for check in CATALOGUE if check.id == gain.check)
    at_most = sum(claim.promise_ns for claim in ask(check, window_of(gain.story)).claims) / 1e3
    assert saved > 0
    assert at_most >= saved / MEASURED_WITHIN


@for_all("end", DEAD_ENDS, ids=told_of, sampled=4)
def test_dead_ends_are_not_promised(end):
    case, at_most, expected = window_of(end.story), 0.0, 0.0
    assert any(what.startswith(end.change) for what in savings(end.story, "dead"))
    about = [re.search(end.ops, f"{case.names[row]} {case.shapes(row)}") is not None for row in range(len(case))]
    assert any(about)
    for claim in (
        claim for check in CATALOGUE for claim in ask(check, case).claims if re.search(end.fix, claim.fix)
    ):
        if claim.expected is not None:  # a trial promises nothing
            at = np.array(about)[claim.rows]
            at_most += claim.at_most_ns[at].sum()
            expected += claim.expected.saved_ns[at].sum()
    assert at_most <= AT_MOST * case.total_ns
    assert expected <= EXPECTED * case.total_ns
