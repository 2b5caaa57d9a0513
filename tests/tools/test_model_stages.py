"""model_stages: what is said of prefill and decode."""

import csv

import pytest

from tests.asking import ask, reader, session
from tests.language_model import HEADS, HIDDEN, LAYERS, PROMPT, USERS, VOCABULARY, WIDTH, LanguageModel
from tests.profiles import Iteration, Program, write_performance_report
from tests.shared_reports import DEEPSEEK, shared

WARM = (Iteration(cold=True), Iteration())


async def test_a_decode_pass_is_told_in_tokens_per_second_and_user(tmp_path):
    run = str(write_performance_report(tmp_path, LanguageModel().decode(), WARM))
    answer = await ask(session(tmp_path), "model_stages", run=run)
    rows = [dict(zip(answer["stages"]["columns"], row, strict=True)) for row in answer["stages"]["rows"]]
    decode = next(row for row in rows if row["stage"] == "decode")
    assert (decode["users"], decode["tokens_per_user"]) == (USERS, 1)
    sampling = next(row for row in rows if row["stage"] == "sampling")
    kernel_us = decode["kernel_us"] + sampling["kernel_us"]
    assert decode["tokens_s_user_at_most"] == pytest.approx(1e6 / kernel_us, abs=0.01)
    assert decode["tokens_s_user_at_least"] == pytest.approx(
        1e6 / (kernel_us + decode["gap_us"] + sampling["gap_us"]), abs=0.01
    )
    assert decode["cache_mb"] == pytest.approx(2 * LAYERS * USERS * HEADS * 1024 * WIDTH * 1.0625 / 1e6, abs=0.01)
    assert decode["cache_bytes_per_token"] == pytest.approx(2 * LAYERS * HEADS * WIDTH * 1.0625, abs=0.01)
    assert decode["weight_mb"] == pytest.approx(
        (LAYERS * HIDDEN * HIDDEN + HIDDEN * VOCABULARY) * 2 / 1e6, abs=0.01
    )
    assert decode["lm_head_share"] == pytest.approx(200 / decode["kernel_us"], abs=0.001)
    assert sum(row["kernel_us"] for row in rows) == pytest.approx(answer["kernel_us"], abs=0.05)


async def test_part_of_a_model_has_no_tokens_per_second_and_ran_once_in_each_iteration(tmp_path):
    layer_mb = HIDDEN * HIDDEN * 2 / 1e6
    for layers, asked, passes, weight_mb in (
        (1, "last", 1, layer_mb),
        (1, "all", 3, layer_mb),
        (LAYERS, "all", 1, 9 * layer_mb),  # equal layers: nobody knows where a pass begins
    ):
        program = LanguageModel().prefill(embedded=False)
        del program.calls[3 * layers :]  # of three ops each
        path = write_performance_report(tmp_path / f"{layers} {asked}", program, (*WARM, Iteration()))
        answer = await ask(session(tmp_path), "model_stages", run=str(path), iteration=asked)
        assert "no op of this window samples" not in answer["caveats"][0]  # as none decodes
        row = dict(zip(answer["stages"]["columns"], answer["stages"]["rows"][0], strict=True))
        assert (row["tokens_s_user_at_most"], row["passes"]) == (None, passes)
        assert row["weight_mb"] == pytest.approx(weight_mb, abs=0.01)


async def test_a_run_without_stages_says_how_to_mark_them(tmp_path):
    answer = await ask(session(tmp_path), "model_stages", run="demo")
    assert answer["stages"]["rows"] == []
    assert "signpost" in answer["caveats"][0]


async def test_every_figure_of_prefill_and_two_decode_passes_is_the_one_by_hand(tmp_path):
    """Kernels take 10 us but prefill's attention (50) and the LM head (200); gaps are 1.5 us; sampling is two ops."""
    program = LanguageModel().prefill().decode(head_ns=200_000).decode(head_ns=200_000)
    path = write_performance_report(tmp_path, program, WARM)
    answer = await ask(session(tmp_path), "model_stages", run=str(path))
    told = {row[0]: dict(zip(answer["stages"]["columns"], row, strict=True)) for row in answer["stages"]["rows"]}
    prefill, decode, sampling = told["prefill"], told["decode"], told["sampling"]
    assert (prefill["ops"], decode["ops"], sampling["ops"]) == (10, 22, 4)
    assert (prefill["passes"], decode["passes"], sampling["passes"]) == (1, 2, 2)
    assert prefill["kernel_us"] == LAYERS * (10 + 50 + 10) + 10
    assert decode["kernel_us"] == 2 * (LAYERS * 30 + 10 + 200)
    assert sampling["kernel_us"] == 2 * 20
    total = prefill["kernel_us"] + decode["kernel_us"] + sampling["kernel_us"]
    assert answer["kernel_us"] == total
    for row in told.values():
        assert row["share"] == pytest.approx(row["kernel_us"] / total, abs=1e-4)
    # the gap before the first op is the window before's
    assert (prefill["gap_us"], decode["gap_us"], sampling["gap_us"]) == (9 * 1.5, 22 * 1.5, 4 * 1.5)
    assert (prefill["users"], prefill["tokens_per_user"]) == (1, PROMPT)
    assert prefill["tokens_s_user_at_most"] == pytest.approx(PROMPT / prefill["kernel_us"] * 1e6, abs=0.01)
    a_token_us = (decode["kernel_us"] + sampling["kernel_us"]) / 2
    assert decode["tokens_s_user_at_most"] == pytest.approx(1e6 / a_token_us, abs=0.01)
    gaps_us = (decode["gap_us"] + sampling["gap_us"]) / 2
    assert decode["tokens_s_user_at_least"] == pytest.approx(1e6 / (a_token_us + gaps_us), abs=0.01)
    layers_mb, head_mb = LAYERS * HIDDEN * HIDDEN * 2 / 1e6, HIDDEN * VOCABULARY * 2 / 1e6
    assert prefill["weight_mb"] == pytest.approx(layers_mb, abs=0.01)
    assert decode["weight_mb"] == pytest.approx(layers_mb + head_mb, abs=0.01)
    assert decode["lm_head_share"] == pytest.approx(400 / decode["kernel_us"], abs=1e-4)
    assert prefill["lm_head_share"] is None  # it has no LM head
    assert prefill["cache_bytes_per_token"] is None  # no op of it fills a cache
    assert prefill["cache_mb"] is None
    assert sampling["lm_head_share"] is None
    assert "sampling behind a decode pass counts" in answer["caveats"][0]
    assert len(answer["caveats"]) == 1  # sampling has neither embedding nor LM head, and is no part of a model
    assert decode["dram_share"] == pytest.approx(decode["dram_gb_s"] / 288, abs=1e-4)
    # its matmuls read weights and 32 rows each, the head writes 32 x 32,768; lookups and head splits are 32 rows too
    rows_mb = USERS * HIDDEN * 2 / 1e6
    logits_mb = 32 * VOCABULARY * 2 / 1e6
    moved_mb = layers_mb + head_mb + logits_mb + rows_mb * (2 * LAYERS + 2 * LAYERS + 1 + 2)
    assert decode["dram_gb_s"] == pytest.approx(2 * moved_mb * 1e3 / decode["kernel_us"], rel=0.02)
    least_us = prefill["floor_us"] + decode["floor_us"] + sampling["floor_us"]
    budget = await ask(session(tmp_path / "again"), "time_budget", run=str(path))
    assert least_us == pytest.approx(budget["floors"]["rows"][0][1], abs=0.03)


async def test_stages_without_attention_or_without_kernel_time_have_no_tokens(tmp_path):
    program = LanguageModel().decode()
    for op in program.device_ops:
        op.kernel_ns = 0
    run = str(write_performance_report(tmp_path / "no time", program, WARM))
    stages = (await ask(session(tmp_path), "model_stages", run=run))["stages"]
    for row in (dict(zip(stages["columns"], row, strict=True)) for row in stages["rows"]):
        assert (row["kernel_us"], row["dram_gb_s"]) == (0, 0)
        assert (row["tokens_s_user_at_most"], row["lm_head_share"]) == (None, None)
    marked = Program("wormhole_b0")
    rows = marked.tensor([1, 1, 32, 64])
    marked.op("EmbeddingsDeviceOperation", [rows])
    run = str(write_performance_report(tmp_path / "marked", marked, [Iteration(signposts=("prefill", "end"))]))
    stages = (await ask(session(tmp_path), "model_stages", run=run))["stages"]
    (row,) = (dict(zip(stages["columns"], row, strict=True)) for row in stages["rows"])
    assert (row["stage"], row["tokens_per_user"], row["tokens_s_user_at_most"]) == ("prefill", None, None)


async def test_ops_side_by_side_count_once_in_tokens_per_second(tmp_path):
    """The LM head, of 200 us, begins 90 us before the op before it ends: a sub-device of its own."""
    program = LanguageModel().decode(sampled=False)
    program.device_ops[-2].kernel_ns, program.device_ops[-1].gap_ns = 100_000, -90_000
    told = await ask(session(tmp_path), "model_stages", run=str(write_performance_report(tmp_path, program, WARM)))
    row = dict(zip(told["stages"]["columns"], told["stages"]["rows"][0], strict=True))
    assert row["kernel_us"] == 10 + LAYERS * 30 - 10 + 100 + 200
    assert row["gap_us"] == pytest.approx(9 * 1.5, abs=0.01)
    assert row["tokens_s_user_at_most"] == pytest.approx(1e6 / (390 - 90), abs=0.1)
    assert row["tokens_s_user_at_least"] == pytest.approx(1e6 / (390 - 90 + 9 * 1.5), abs=0.1)
    program.device_ops[-1].gap_ns = 1_500
    apart = await ask(
        session(tmp_path), "model_stages", run=str(write_performance_report(tmp_path / "b", program, WARM))
    )
    after = dict(zip(apart["stages"]["columns"], apart["stages"]["rows"][0], strict=True))
    assert row["floor_us"] < after["floor_us"]  # the largest bound: one op may compute while another one reads
    assert row["dram_gb_s"] == pytest.approx(after["dram_gb_s"] * 390 / 300, rel=1e-3)
    assert "side by side" in told["caveats"][-1]
    assert len(apart["caveats"]) == 1
    assert "no op of this window samples" in told["caveats"][0]


async def test_a_floor_is_never_above_the_time_of_its_ops(tmp_path):
    """A bound up to 5 % above its kernel is believed: clocks differ."""
    program = LanguageModel().decode(sampled=False)
    for op in program.device_ops[:-1]:
        op.kernel_ns = 20
    at = session(tmp_path)
    path = str(write_performance_report(tmp_path / "slow", program, WARM))
    stages = (await ask(at, "model_stages", run=path))["stages"]
    head_us = dict(zip(stages["columns"], stages["rows"][0], strict=True))["floor_us"]
    program.device_ops[-1].kernel_ns = int(head_us * 1_000 / 1.03)
    path = str(write_performance_report(tmp_path / "fast", program, WARM))
    stages = (await ask(at, "model_stages", run=path))["stages"]
    row = dict(zip(stages["columns"], stages["rows"][0], strict=True))
    assert row["floor_us"] == row["kernel_us"]


async def test_a_prefill_s_cache_is_what_its_ops_fill(tmp_path):
    """Keys and values of 8 heads of 64 are kept as BFLOAT8_B, in three layers."""
    program = LanguageModel().prefill()
    for number in range(2 * LAYERS):
        kept = program.tensor([1, HEADS, PROMPT, WIDTH], "BFLOAT8_B")
        program.op("PagedFillCacheDeviceOperation", [program.cache[number], kept])
    path = str(write_performance_report(tmp_path, program, WARM))
    row = (await ask(session(tmp_path), "model_stages", run=path))["stages"]
    told = dict(zip(row["columns"], row["rows"][0], strict=True))
    assert told["stage"] == "prefill"
    assert told["cache_bytes_per_token"] == pytest.approx(2 * LAYERS * HEADS * WIDTH * 1.0625, abs=0.01)


async def test_a_real_prefill_keeps_the_latent_of_each_token_not_its_keys_and_values(tmp_path):
    """DeepSeek's latent has 512 + 64 columns; its attention reads keys and values eight times as wide."""
    answer = (await ask(reader(tmp_path), "model_stages", run=str(shared(DEEPSEEK))))["stages"]
    told = dict(zip(answer["columns"], answer["rows"][0], strict=True))
    assert (told["stage"], told["users"], told["tokens_per_user"], told["tokens_op"]) == ("prefill", 1, 3200, 179)
    assert told["cache_bytes_per_token"] == 576 * 1.0625
    with shared(DEEPSEEK).open(newline="") as lines:
        rows = [row for row in csv.DictReader(lines) if row["DEVICE ID"] == "4"]
    assert told["ops"] == len(rows)
    assert told["kernel_us"] == pytest.approx(
        sum(float(row["DEVICE KERNEL DURATION [ns]"]) for row in rows) / 1e3, abs=0.01
    )
