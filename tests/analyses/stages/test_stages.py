"""Stages by what the ops show, and what is said of a pass."""

import asyncio

import pytest

from tests.asking import session
from tests.language_model import HEADS, LAYERS, PROMPT, USERS, WIDTH, LanguageModel
from tests.profiles import Iteration, Program, write_performance_report
from ttnn_mcp.analyses.stages.stages import stages_of
from ttnn_mcp.analyses.stages.tokens import tokens_of

WARM = (Iteration(cold=True), Iteration())


def stages(folder, program, iterations=WARM):
    run = asyncio.run(session(folder).run(str(write_performance_report(folder, program, iterations))))
    scope = run.scope("last", None, None)
    return {stage.kind: stage for stage in stages_of(scope.critical, run.performance_report.signposts)}


def test_prefill_decode_and_sampling_share_out_every_op(tmp_path):
    found = stages(tmp_path, LanguageModel().prefill().decode().decode())
    assert [*found] == ["prefill", "decode", "sampling"]
    rows = sorted(row for stage in found.values() for row in stage.rows.tolist())
    assert rows == list(range(len(rows)))
    assert {kind: len(stage.rows) for kind, stage in found.items()} == {"prefill": 10, "decode": 22, "sampling": 4}
    assert {kind: stage.passes for kind, stage in found.items()} == {"prefill": 1, "decode": 2, "sampling": 2}
    assert "line" in found["sampling"].why


@pytest.mark.parametrize(("causal", "kind"), [("true", "prefill"), ("false", "encoder")])
def test_attention_that_is_not_causal_is_an_encoder_s(tmp_path, causal, kind):
    assert [*stages(tmp_path, LanguageModel().prefill(causal=causal))] == [kind]


def test_logits_that_nobody_chooses_from_are_no_sampling(tmp_path):
    assert [*stages(tmp_path, LanguageModel().decode(sampled=False))] == ["decode"]


def test_a_model_without_fused_attention_has_no_stages(tmp_path):
    program = Program("wormhole_b0")
    program.op("UnaryDeviceOperation", [program.tensor([1, 1, 32, 32])])
    assert stages(tmp_path, program) == {}


def test_tokens_are_read_off_the_queries(tmp_path):
    run = asyncio.run(
        session(tmp_path).run(str(write_performance_report(tmp_path, LanguageModel().prefill().decode(), WARM)))
    )
    ops = run.scope("last", None, None).critical
    told = {stage.kind: tokens_of(ops, stage) for stage in stages_of(ops, run.performance_report.signposts)}
    assert (told["prefill"].users, told["prefill"].per_user, told["prefill"].cache_bytes) == (1, PROMPT, 0)
    assert (told["decode"].users, told["decode"].per_user) == (USERS, 1)
    assert told["decode"].cache_bytes == 2 * LAYERS * USERS * HEADS * 1024 * WIDTH * 1.0625
    assert told["sampling"] is None
