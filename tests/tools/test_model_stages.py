"""model_stages: what is said of prefill and decode."""

import pytest

from tests.asking import ask, session
from tests.language_model import HEADS, HIDDEN, LAYERS, USERS, VOCABULARY, WIDTH, LanguageModel
from tests.profiles import Iteration, write_performance_report

WARM = (Iteration(cold=True), Iteration())


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
    answer = await ask(session(tmp_path), "model_stages", run="demo")
    assert answer["stages"]["rows"] == []
    assert "signpost" in answer["caveats"][0]
