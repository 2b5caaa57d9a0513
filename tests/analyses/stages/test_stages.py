"""Stages by what the ops show, and what is said of a pass."""

import asyncio

import pytest

from tests.asking import ask, session
from tests.language_model import HEADS, HIDDEN, LAYERS, USERS, VOCABULARY, WIDTH, LanguageModel
from tests.profiles import Iteration, Program, write_performance_report
from ttnn_mcp.analyses.stages.stages import stages_of
from ttnn_mcp.errors import QuestionRefused

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


async def test_a_decode_pass_is_told_in_tokens_per_second_and_user(tmp_path):
    run = str(write_performance_report(tmp_path, LanguageModel().decode(), WARM))
    answer = await ask(session(tmp_path), "model_stages", run=run)
    rows = [dict(zip(answer["stages"]["columns"], row, strict=True)) for row in answer["stages"]["rows"]]
    decode = next(row for row in rows if row["stage"] == "decode")
    assert (decode["users"], decode["tokens_per_user"]) == (USERS, 1)
    assert decode["tokens_s_user_at_most"] == pytest.approx(1e6 / decode["kernel_us"], abs=0.01)
    assert decode["tokens_s_user_at_least"] == pytest.approx(
        1e6 / (decode["kernel_us"] + decode["gap_us"]), abs=0.01
    )
    assert decode["cache_mb"] == pytest.approx(2 * LAYERS * USERS * HEADS * 1024 * WIDTH * 1.0625 / 1e6, abs=0.01)
    assert decode["cache_bytes_per_token"] == pytest.approx(2 * LAYERS * HEADS * WIDTH * 1.0625, abs=0.01)
    assert decode["weight_mb"] == pytest.approx(
        (LAYERS * HIDDEN * HIDDEN + HIDDEN * VOCABULARY) * 2 / 1e6, abs=0.01
    )
    assert decode["lm_head_share"] == pytest.approx(200 / decode["kernel_us"], abs=0.001)
    assert sum(row["kernel_us"] for row in rows) == pytest.approx(answer["kernel_us"], abs=0.05)


async def test_part_of_a_model_has_no_tokens_per_second(tmp_path):
    run = str(write_performance_report(tmp_path, LanguageModel().prefill(embedded=False), WARM))
    answer = await ask(session(tmp_path), "model_stages", run=run)
    row = dict(zip(answer["stages"]["columns"], answer["stages"]["rows"][0], strict=True))
    assert row["tokens_s_user_at_most"] is None
    assert any("part of the model" in caveat for caveat in answer["caveats"])


async def test_a_run_without_stages_says_how_to_mark_them(tmp_path):
    with pytest.raises(QuestionRefused, match="signpost"):
        await ask(session(tmp_path), "model_stages", run="demo")
