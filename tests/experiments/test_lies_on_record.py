"""Measurements that misled real campaigns of optimisation, told to `experiments`: each is named, and none is kept."""

import shutil
from dataclasses import replace
from pathlib import Path

import pytest

from tests import lies
from tests.asking import call, session
from tests.for_all import for_all
from tests.language_model import LanguageModel
from tests.pairs import Model, write
from tests.profiles import L1, CircularBuffer, Iteration, Program, write_performance_report, write_run
from ttnn_mcp.tools.experiments import TOOL

BASE = Model()
GOOD = replace(BASE, weights="BFLOAT8_B", up_ns=60_000)
SLOW = replace(GOOD, up_ns=150_000, reshard_in=2)
WARM = (Iteration(cold=True), Iteration(), Iteration(kernel_scale=1.001))


def again(model, seed=1, jitter=0.002):
    """The same program, measured another time."""
    return replace(model, jitter=jitter, seed=seed)


@pytest.fixture
def report(tmp_path):
    return lambda name, model, **more: write(tmp_path / name, model, **more)


@pytest.fixture
def record(tmp_path):
    at = session(tmp_path)

    async def recorded(change="x", pcc=0.999, **arguments):
        return await call(TOOL, at, {"action": "record", "change": change, "pcc": pcc, **arguments})

    async def listed():
        return await call(TOOL, at, {"action": "list"})

    recorded.list = listed
    return recorded


def codes(answer):
    return [row[0] for row in answer.get("suspicious", {"rows": ()})["rows"]]


def verdict(answer):
    return answer["experiment"]["verdict"]


async def test_a_good_change_is_kept_and_says_where_it_took_hold(record, report):
    told = await record("weights to bfp8", baseline=report("base", BASE), candidate=report("good", GOOD))
    assert (verdict(told), codes(told)) == ("keep", [])
    assert told["change_taken_as"] == "BFLOAT8_B: by the words of the change"
    [row] = told["engaged"]["rows"]
    assert row == ["data type", "Matmul", "in1 BFLOAT16 -> BFLOAT8_B", 21, 21, "4 of 4", None]


async def test_profiling_again_after_a_slower_edit_does_not_move_the_bar(record, report):
    base, good = report("base", BASE), report("good", GOOD)
    slow = report("slow", SLOW)
    assert verdict(await record(baseline=base, candidate=good)) == "keep"
    assert verdict(await record(candidate=slow)) == "revert"
    told = await record("take it back", baseline=slow, candidate=report("back", again(GOOD)))
    assert verdict(told) == "inconclusive"
    assert "baseline_moved" in codes(told)


async def test_the_reading_of_a_reverted_candidate_never_becomes_the_best(record, report):
    base, wrong = report("base", BASE), report("wrong", replace(GOOD, fidelity="LoFi", up_ns=20_000))
    assert verdict(await record(baseline=base, candidate=wrong, pcc=0.9)) == "revert"
    told = await record("the same, with a better PCC", baseline=base, candidate=wrong)
    assert (verdict(told), codes(told)) == ("inconclusive", ["recorded_before"])
    assert (await record.list())["best"]["run"] == told["experiment"]["baseline"]


async def test_one_reading_is_consumed_once(record, report, tmp_path):
    base, good = report("base", BASE), report("good", GOOD)
    assert verdict(await record(baseline=base, candidate=good)) == "keep"
    copy = tmp_path / "copy" / "ops_perf_results_2026_01_02_00_00_00.csv"
    copy.parent.mkdir()
    shutil.copy(good, copy)
    rewritten = lies.store(tmp_path / "new" / copy.name, lies.Honest(Path(good), 3, "1024", ()).rows)
    for number, candidate in enumerate((good, copy, rewritten)):
        told = await record(f"attempt {number}", baseline=base, candidate=str(candidate))
        assert verdict(told) == "inconclusive"
        assert codes(told)[0] == "recorded_before"


async def test_a_slow_report_of_another_change_reverts_nothing(record, report):
    base, good, slow = (report(name, how) for name, how in (("base", BASE), ("good", GOOD), ("slow", SLOW)))
    assert verdict(await record("first", baseline=base, candidate=slow)) == "revert"
    assert verdict(await record("second", baseline=base, candidate=good)) == "keep"
    for mistaken in (slow, base):
        told = await record("third", candidate=mistaken)
        assert (verdict(told), codes(told)) == ("inconclusive", ["recorded_before"])


async def test_the_baseline_itself_is_no_win(record, report, tmp_path):
    base = report("base", BASE)
    rewritten = lies.store(tmp_path / "new" / Path(base).name, lies.Honest(Path(base), 3, "1024", ()).rows)
    for candidate in (base, str(rewritten)):
        told = await record("nothing", baseline=base, candidate=candidate)
        assert (verdict(told), codes(told)) == ("inconclusive", ["same_reading"])


async def test_no_number_of_small_ticks_is_an_improvement(record, report):
    base = report("base", BASE)
    for seed in range(4):
        model = replace(again(BASE, seed, 0.01), up_ns=88_000 - 500 * seed)
        told = await record(f"tick {seed}", baseline=base, candidate=report(f"tick{seed}", model))
        assert verdict(told) == "inconclusive"
    assert (await record.list())["best"]["gain_share"] == 0


async def test_a_damaged_reference_does_not_become_the_baseline(record, report):
    base, good = report("base", BASE), report("good", GOOD)
    assert verdict(await record(baseline=base, candidate=good)) == "keep"
    damaged = report("damaged", again(GOOD), iterations=[replace(one, kernel_scale=1.93) for one in WARM])
    told = await record("fused", baseline=damaged, candidate=report("fused", replace(again(GOOD), fused_relu=True)))
    assert verdict(told) == "inconclusive"
    assert "baseline_measured_again" in codes(told)


async def test_a_capture_of_two_layers_is_not_the_model(record, report):
    deep = replace(BASE, layers=8)
    told = await record(baseline=report("deep", deep), candidate=report("capped", replace(again(deep), layers=2)))
    assert (verdict(told), codes(told)) == ("inconclusive", ["layers_missing"])


async def test_a_report_from_before_the_baseline_is_stale(record, report):
    base = report("base", BASE, timestamp="2026_03_02_10_00_00")
    told = await record(baseline=base, candidate=report("good", GOOD, timestamp="2026_02_28_18_00_00"))
    assert (verdict(told), codes(told)) == ("inconclusive", ["older_than_baseline"])


async def test_a_gain_in_one_stage_is_not_hidden_by_another_nor_hides_it(record, tmp_path):
    paths = []
    for name, made in (
        ("a", LanguageModel().prefill().decode()),
        ("b", LanguageModel().prefill(attention_ns=30_000).decode(head_ns=250_000)),
    ):
        paths.append(str(write_performance_report(tmp_path / name, made, WARM)))
    told = await record(baseline=paths[0], candidate=paths[1])
    assert (verdict(told), codes(told)) == ("inconclusive", ["stage_worse"])
    assert "Record each stage apart" in told["experiment"]["why"]


async def test_a_program_that_was_reverted_is_not_kept_for_a_lucky_reading(record, report):
    base = report("base", BASE)
    slow = replace(BASE, weights="BFLOAT8_B", up_ns=110_000)
    assert verdict(await record(baseline=base, candidate=report("slow", slow))) == "revert"
    lucky = report("lucky", replace(again(slow), up_ns=70_000))
    told = await record("bfp8 once more", baseline=base, candidate=lucky)
    assert (verdict(told), codes(told)) == ("inconclusive", ["tried_before"])


async def test_wall_times_of_another_unit_or_of_another_measurement_are_no_gain(record, report):
    """A step of 0.3 ms against a pass of 1.2 ms of kernels."""
    walls = {"wall_before_ms": 0.5, "wall_after_ms": 0.3}
    base, candidate = report("base", BASE), report("same", again(BASE))
    told = await record("trace", step=4, baseline=base, candidate=candidate, **walls)
    assert (verdict(told), codes(told)) == ("inconclusive", ["wall_below_kernels"])
    for number, (before_ms, after_ms, verdict_of_it, lies_told) in enumerate(
        (
            (2000.0, 1500.0, "inconclusive", ["wall_above_window"]),  # us
            (2.0, 1.8, "keep", []),  # what the two above said is no record
            (2.0, 1.8, "inconclusive", ["wall_measured_again"]),  # of the run that took 1.8
            (1.82, 1.5, "keep", []),
        )
    ):
        walls = {"wall_before_ms": before_ms, "wall_after_ms": after_ms}
        told = await record("trace", step=4, candidate=report(f"{number}", again(BASE, 2 + number)), **walls)
        assert (verdict(told), codes(told)) == (verdict_of_it, lies_told)


async def test_trace_is_judged_with_its_kernels(record, report):
    walls = {"wall_before_ms": 50.0, "wall_after_ms": 12.0}
    slow = [replace(one, kernel_scale=1.65) for one in WARM]
    base = report("base", BASE)
    told = await record(
        "trace", step=4, baseline=base, candidate=report("slow", again(BASE), iterations=slow), **walls
    )
    assert (verdict(told), codes(told)) == ("inconclusive", ["kernels_worse"])
    told = await record("trace", step=4, baseline=base, candidate=report("same", again(BASE, 7)), **walls)
    assert (verdict(told), codes(told)) == ("keep", [])


async def test_a_traced_candidate_is_what_step_four_says(record, report):
    traced = (Iteration(cold=True), Iteration(capture=True), *(Iteration(trace=(1, n)) for n in (1, 2, 3)))
    walls = {"wall_before_ms": 50.0, "wall_after_ms": 12.0}
    base, candidate = report("base", BASE), report("traced", again(BASE), iterations=traced)
    told = await record("Metal Trace", step=4, baseline=base, candidate=candidate, **walls)
    assert (verdict(told), codes(told)) == ("keep", [])
    assert told["engaged"]["rows"][0][0] == "trace"


async def test_a_change_that_reached_no_op_is_not_engaged(record, report):
    told = await record("LoFi for up", baseline=report("base", BASE), candidate=report("faster", again(GOOD)))
    assert (verdict(told), codes(told)) == ("inconclusive", ["not_engaged"])
    assert told["change_taken_as"].endswith("shown is what differs most")


async def test_a_gain_that_is_not_where_the_change_is_said_to_be(record, report):
    """Weights changed without effect, and a fusion that nobody speaks of brought the time."""
    fused = replace(again(BASE), weights="BFLOAT8_B", fused_relu=True)
    told = await record("weights to bfp8", baseline=report("base", BASE), candidate=report("fused", fused))
    assert verdict(told) == "inconclusive"
    assert set(codes(told)) == {"gain_elsewhere", "several_changes"}


def chain(*, freed: bool, scale: float = 1.0, buffers: int = 4_096) -> Program:
    """Twelve activations in L1, each freed once it was read, or all held to the end."""
    program = Program()
    x = program.tensor([1, 1, 512, 512])
    for _ in range(12):
        circular = [CircularBuffer(buffers)] if buffers else []
        took = round(9_000 * scale)
        h = program.op("UnaryDeviceOperation", [x], placement=L1, kernel_ns=took, circular_buffers=circular)
        if freed:
            program.free(x)
        x = h
    return program


async def freed_early(tmp_path, pcc, **more):
    at = session(tmp_path)
    for name, made in (("held", chain(freed=False, **more)), ("freed", chain(freed=True, scale=1.002, **more))):
        run = write_run(tmp_path / name, made)
        await at.open(str(run.performance), str(run.memory), name)
    asked = {"action": "record", "change": "free early", "baseline": "held", "candidate": "freed", "pcc": pcc}
    return await call(TOOL, at, asked), await call(TOOL, at, {})


@for_all(("pcc", "verdict_of_it"), [(0.999, "keep"), (0.98, "revert"), (None, "inconclusive")])
async def test_a_lower_peak_of_l1_is_a_gain_where_pcc_and_time_hold(tmp_path, pcc, verdict_of_it):
    told, story = await freed_early(tmp_path, pcc)
    assert (verdict(told), codes(told)) == (verdict_of_it, [])
    if verdict_of_it == "keep":
        assert told["experiment"]["judged_by"] == "memory"
        assert told["experiment"]["change_share"] < -0.5
        assert "L1 peak" in told["experiment"]["why"]
        assert story["best"]["run"] == told["experiment"]["candidate"]


async def test_a_lower_peak_by_reports_that_lack_buffers_is_told_and_not_kept(tmp_path):
    told, _story = await freed_early(tmp_path, 0.999, buffers=0)
    assert verdict(told) == "inconclusive"
    assert "no proof" in told["experiment"]["why"]
