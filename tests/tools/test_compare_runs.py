"""What an assistant is told about two runs."""

import json
from dataclasses import replace

import pytest

from tests.asking import call, session
from tests.for_all import for_all
from tests.language_model import LanguageModel
from tests.pairs import Model, write
from tests.profiles import Iteration, write_memory_report, write_performance_report, write_run
from tests.programs import block
from tests.shared_reports import CLIP, MEMORY, shared
from ttnn_mcp.errors import ArgumentsInvalid, QuestionRefused, RunUnknown
from ttnn_mcp.tools import compare_runs as module
from ttnn_mcp.tools.compare_runs import TOOL
from ttnn_mcp.tools.parts.comparing import Windows, compared, runs_compared

BASE = Model()


@pytest.fixture
def at(tmp_path):
    return session(tmp_path)


@pytest.fixture
def pair(tmp_path, at):
    async def compared(before, after, **arguments):
        paths = write(tmp_path / "before", before), write(tmp_path / "after", after)
        return await call(TOOL, at, {"baseline": paths[0], "candidate": paths[1], **arguments})

    return compared


def column(table, name):
    place = table["columns"].index(name)
    return [row[place] for row in table["rows"]]


async def test_the_answer_says_verdict_figures_and_where_the_time_went(pair):
    said = await pair(BASE, replace(BASE, fused_relu=True))
    assert said["verdict"] == "faster"
    assert said["kernel_ms"]["after"] < said["kernel_ms"]["before"]
    assert said["change_share"] < -said["noise_share"] < 0
    assert said["groups"]["columns"] == ["key", "before_us", "after_us", "delta_us", "before_count", "after_count"]
    assert said["removed"]["rows"][0][:3] == ["Unary", "fused into Matmul", 4]
    assert said["rewritten"]["rows"][0][:3] == ["Matmul + Unary", "Matmul", 4]
    assert said["window"]["kind"] == said["baseline_window"]["kind"] == "iteration"
    assert said["wall_ms"]["after"] < said["wall_ms"]["before"]
    assert 1 < said["wall_ms"]["before"] / said["kernel_ms"]["before"] < 1_000
    assert "ran_out" not in said


async def test_ops_that_are_new_are_named(pair):
    said = await pair(replace(BASE, fused_relu=True), BASE)
    assert said["added"]["rows"][0][0] == "Unary"


@for_all("group_by", ["op_code", "category", "layer"])
async def test_the_deltas_of_every_page_add_up_to_the_total(at, pair, group_by):
    everything = await pair(BASE, replace(BASE, fused_qkv=True, jitter=0.07), limit=200)
    total = sum(column(everything["groups"], "delta_us"))
    assert total / 1e3 == pytest.approx(
        everything["kernel_ms"]["after"] - everything["kernel_ms"]["before"], abs=0.0011
    )
    runs = {name: everything[name] for name in ("baseline", "candidate")}
    for limit in (1, 3, 200):
        said = await call(TOOL, at, {**runs, "group_by": group_by, "limit": limit})
        assert sum(column(said["groups"], "delta_us")) == pytest.approx(total, abs=1e-6)
        layers = sum(column(said["layers"], "delta_us")) if "layers" in said else total
        assert layers == pytest.approx(total, abs=1e-6)
        assert said["kernel_ms"] == everything["kernel_ms"]


async def test_a_different_batch_is_not_comparable_but_comes_per_sample(pair):
    said = await pair(BASE, replace(BASE, batch=4))
    assert said["verdict"] == "not_comparable"
    assert said["why"].startswith("batch 1 -> 4")
    assert said["per_sample"]["batch_after"] == 4
    before, after = (said["per_sample"][f"{side}_ms"] for side in ("before", "after"))
    assert (before, after) == pytest.approx((said["kernel_ms"]["before"], said["kernel_ms"]["after"] / 4), abs=1e-3)
    assert said["per_sample"]["change_share"] == pytest.approx(0, abs=1e-4)


async def test_a_default_answer_fits_in_four_kilobytes_however_much_changed(pair):
    everything = replace(
        BASE,
        layers=24,
        fused_qkv=True,
        split_softmax=True,
        reshape=False,
        weights="BFLOAT8_B",
        jitter=0.2,
        reshard_in=2,
    )
    said = await pair(replace(BASE, layers=24), everything)
    assert len(json.dumps(said, separators=(",", ":"))) <= 4096
    assert len(said["groups"]["rows"]) == 8  # seven and the others take 3.5 kB
    assert column(said["layers"], "key")[-1].endswith("others)")


async def test_an_answer_has_as_many_rows_as_fit(tmp_path, at, monkeypatch):
    paths = [write(tmp_path / str(up), replace(BASE, layers=14, up_ns=up)) for up in (90_000, 50_000)]
    pair = await runs_compared(at, *paths)
    comparison = compared(pair, Windows())
    asked = module.Arguments(baseline="before", group_by="layer")
    for rows in (10, 7, 5, 3):
        whole = module.answer_of(comparison, asked.model_copy(update={"limit": rows}), pair)
        assert len(whole.groups.rows) == rows + 1  # and the others
        monkeypatch.setattr(module, "ANSWER_BYTES", len(whole.model_dump_json(exclude_defaults=True)))
        assert module.answer_of(comparison, asked, pair) == whole
    monkeypatch.setattr(module, "ANSWER_BYTES", 0)
    assert module.answer_of(comparison, asked, pair) == whole


async def test_nothing_is_grouped_twice_nor_by_what_a_run_does_not_have(pair, tmp_path, at):
    by_layer = await pair(BASE, replace(BASE, up_ns=50_000), group_by="layer")
    assert not {"layers", "stages"} & by_layer.keys()
    assert "layers" not in await pair(replace(BASE, layers=1), replace(BASE, layers=1, up_ns=50_000))
    passes = (Iteration(cold=True), Iteration())
    paths = [
        str(write_performance_report(tmp_path / str(ns), LanguageModel().prefill(attention_ns=ns).decode(), passes))
        for ns in (50_000, 60_000)
    ]
    by_stage = await call(TOOL, at, {"baseline": paths[0], "candidate": paths[1], "group_by": "stage"})
    assert "stages" not in by_stage
    assert {*column(by_stage["groups"], "key")} == {"prefill", "decode", "sampling"}


async def test_the_wall_time_of_a_cold_pass_is_not_compared(tmp_path, at):
    paths = [write(tmp_path / str(up), replace(BASE, up_ns=up), (Iteration(cold=True),)) for up in (90_000, 50_000)]
    answer = await call(TOOL, at, {"baseline": paths[0], "candidate": paths[1]})
    assert not {"wall_ms", "busy_share"} & answer.keys()


async def test_where_a_change_took_hold_is_told_with_layers_and_lines(pair):
    said = await pair(replace(BASE, layers=8), replace(BASE, layers=8, reshard_in=3))
    rows = [dict(zip(said["engaged"]["columns"], row, strict=True)) for row in said["engaged"]["rows"]]
    assert (rows[0]["kind"], rows[0]["what"], rows[0]["took"], rows[0]["of"]) == ("added", "Reshard new", 1, 8)
    assert rows[0]["layers"] == "1 of 8; missing in 1, 2, 4, 5, 6, 7, 8"
    assert rows[0]["missing_ops"].endswith(" and 3 more")


async def test_what_is_suspicious_is_told_with_what_to_do(pair):
    said = await pair(BASE, replace(BASE, weights="BFLOAT8_B", up_ns=50_000, fused_qkv=True))
    assert (said["verdict"], said["credit"]) == ("faster", "unproven")
    assert said["why"].endswith("; which change did it is unproven: several_changes")
    [(code, what, do)] = said["suspicious"]["rows"]
    assert (code, do) == ("several_changes", "measure each change on its own")
    assert what.startswith("formats and the ops themselves changed")


async def test_the_candidate_is_the_newest_run_by_default(tmp_path):
    at = session(tmp_path, tmp_path / "reports")
    baseline = write(tmp_path / "elsewhere", BASE)
    write(tmp_path / "reports", replace(BASE, up_ns=50_000))
    assert (await call(TOOL, at, {"baseline": baseline}))["verdict"] == "faster"


async def test_signposts_choose_the_same_range_on_both_sides(tmp_path, at):
    marked = (Iteration(cold=True), Iteration(signposts=("start", "stop")))
    paths = [
        write(tmp_path / name, model, marked) for name, model in (("a", BASE), ("b", replace(BASE, up_ns=60_000)))
    ]
    asked = {"baseline": paths[0], "candidate": paths[1], "start_signpost": "start", "end_signpost": "stop"}
    said = await call(TOOL, at, asked)
    assert said["verdict"] == "faster"
    assert said["window"]["kind"] == "signposts"
    assert "assumed" in said["noise_from"]
    with pytest.raises(QuestionRefused, match="No signpost 'strat'"):
        await call(TOOL, at, {**asked, "start_signpost": "strat"})


async def test_repeats_measure_the_noise_between_runs(tmp_path, at):
    paths = [
        write(tmp_path / str(n), model)
        for n, model in enumerate((BASE, replace(BASE, up_ns=86_000), replace(BASE, jitter=0.08, seed=9)))
    ]
    said = await call(TOOL, at, {"baseline": paths[0], "candidate": paths[1], "repeats": [paths[2]]})
    assert said["noise_from"].startswith("2 runs of the same")


async def test_grouping_by_layer_needs_layers(pair):
    with pytest.raises(QuestionRefused, match="no layers"):
        await pair(replace(BASE, layers=1), replace(BASE, layers=1, up_ns=50_000), group_by="layer")


async def test_an_unknown_run_or_argument_is_named(at):
    with pytest.raises(RunUnknown):
        await call(TOOL, at, {"baseline": "nowhere"})
    with pytest.raises(ArgumentsInvalid, match="Did you mean baseline"):
        await call(TOOL, at, {"basline": "x", "baseline": "y"})


async def test_memory_is_compared_where_both_runs_have_a_report(tmp_path, at):
    for name, layers in (("small", 2), ("large", 4)):
        run = write_run(tmp_path / name, block(layers=layers))
        await at.open(str(run.performance), str(run.memory), name)
    said = await call(TOOL, at, {"baseline": "small", "candidate": "large"})
    figures = {row[0]: row[1:] for row in said["memory"]["rows"]}
    assert set(figures) == {"l1_peak", "l1_headroom", "l1_live_tensors", "l1_circular_buffers", "dram_peak"}
    for before, after, delta in figures.values():
        assert delta == after - before
    assert figures["dram_peak"][2] > 0


async def test_one_memory_report_alone_is_said_and_not_compared(tmp_path, at):
    run = write_run(tmp_path / "both", block())
    await at.open(str(run.performance), str(run.memory), "both")
    said = await call(TOOL, at, {"baseline": "both", "candidate": write(tmp_path / "one", BASE)})
    assert "memory" not in said
    assert any("the candidate has no memory report" in caveat for caveat in said["caveats"])


async def test_a_run_without_device_times_is_refused_with_what_to_do(tmp_path, at):
    memory = write_memory_report(tmp_path / "memory", block())
    with pytest.raises(QuestionRefused, match="no performance report"):
        await call(TOOL, at, {"baseline": str(memory), "candidate": str(memory)})


async def test_the_real_clip_iterations_compare_as_unchanged(at):
    path = str(shared(CLIP))
    said = await call(TOOL, at, {"baseline": path, "candidate": path, "iteration": 1, "candidate_iteration": 2})
    assert said["verdict"] == "unchanged"
    assert said["kernel_ms"] == {"before": 31.607, "after": 31.611}
    assert abs(said["change_share"]) < 0.0003
    assert sum(column(said["groups"], "delta_us")) == pytest.approx(
        sum(column(said["layers"], "delta_us")), abs=1e-6
    )


async def test_real_memory_reports_of_two_generations_hold_the_same_model(tmp_path, at):
    for name in MEMORY[1:3]:
        performance = write(tmp_path / name, BASE)
        await at.open(performance, str(shared(name)), name)
    said = await call(TOOL, at, {"baseline": MEMORY[1], "candidate": MEMORY[2]})
    assert {row[0]: row[3] for row in said["memory"]["rows"]}["l1_peak"] == 0


@for_all(
    ("attention_ns", "head_ns", "verdict"),
    [
        (50_000, 150_000, "faster"),
        (60_000, 100_000, "mixed"),
        (60_000, 200_000, "slower"),
        (50_000, 200_000, "unchanged"),
    ],
)
async def test_a_gain_in_one_stage_does_not_hide_a_loss_in_another(at, tmp_path, attention_ns, head_ns, verdict):
    passes = (Iteration(cold=True), Iteration())
    before = write_performance_report(tmp_path / "a", LanguageModel().prefill().decode(), passes)
    changed = LanguageModel().prefill(attention_ns=attention_ns).decode(head_ns=head_ns)
    after = write_performance_report(tmp_path / "b", changed, passes)
    said = await call(TOOL, at, {"baseline": str(before), "candidate": str(after)})
    assert said["verdict"] == verdict
    stages = {row[0]: row[3] for row in said["stages"]["rows"]}
    assert stages == {
        "prefill": 3 * (attention_ns - 50_000) / 1e3,
        "decode": (head_ns - 200_000) / 1e3,
        "sampling": 0,
    }
    if verdict == "mixed":
        assert "prefill +" in said["why"]
        assert "decode -" in said["why"]
