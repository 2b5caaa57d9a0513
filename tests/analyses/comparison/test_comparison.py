"""Made pairs that differ in one known thing, and what a comparison must make of it."""

from collections import Counter
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.for_all import for_all
from tests.pairs import Model, write
from tests.profiles import Iteration, Program, header_of, performance_rows, write_performance_report, write_rows
from tests.shared_reports import CLIP, OFT, SEGFORMER, shared
from ttnn_mcp.analyses.comparison.comparability import judgement_of
from ttnn_mcp.analyses.comparison.comparison import Comparison
from ttnn_mcp.analyses.comparison.edits import edits_of
from ttnn_mcp.analyses.comparison.matching_windows import like_windows, measured
from ttnn_mcp.errors import QuestionRefused
from ttnn_mcp.readers.performance.csv_file import read_performance_csv
from ttnn_mcp.run.performance import Performance
from ttnn_mcp.run.run import Run

BASE = Model()
ONE_PASS = (Iteration(cold=True),)


def opened(path):
    return Run(str(path), "run", Performance(read_performance_csv(path)), None)


def run_of(folder, model, iterations=None, **more):
    path = write(folder, model, **({"iterations": iterations} if iterations else {}), **more)
    return opened(next(folder.rglob("*.csv")).__class__(path))


@pytest.fixture
def compare(tmp_path):
    def compared(before, after, **more):
        runs = run_of(tmp_path / "before", before), run_of(tmp_path / "after", after, **more)
        return Comparison(*like_windows(*runs))

    return compared


def by_name(found, by="op_code"):
    return {one.key: one for one in found.groups(by)}


def assert_exact(found):
    for by in ("op_code", "category", "layer"):
        groups = found.groups(by)
        assert sum(one.delta_ns for one in groups) == found.total.delta_ns
        assert sum(one.before_ns for one in groups) == found.total.before_ns
        assert sum(one.before_count for one in groups) == found.total.before_count
        assert sum(one.after_count for one in groups) == found.total.after_count


def test_a_faster_matmul_is_faster_and_all_of_it_is_the_matmuls(compare):
    found = compare(BASE, replace(BASE, up_ns=60_000))
    assert judgement_of(found).verdict == "faster"
    assert by_name(found)["Matmul"].delta_ns == found.total.delta_ns == -120_120  # 4 x 30 us, iteration at 1.001
    assert not found.alignment.edits
    assert_exact(found)


def test_a_fused_op_is_told_from_a_removed_one(compare):
    found = compare(BASE, replace(BASE, fused_relu=True))
    assert judgement_of(found).verdict == "faster"
    assert by_name(found)["Unary"].delta_ns == -32_032
    assert {edit.kind for edit in found.alignment.edits} == {"fused"}
    [gone] = edits_of(found).removed
    assert (gone.op, gone.how, gone.count) == ("Unary", "fused into Matmul", 4)
    assert not edits_of(found).added
    [became] = edits_of(found).rewritten
    assert (became.before, became.after, became.count) == ("Matmul + Unary", "Matmul", 4)
    assert_exact(found)


def test_three_projections_fused_into_one_are_one_fusion_per_layer(compare):
    found = compare(BASE, replace(BASE, fused_qkv=True))
    assert Counter(edit.kind for edit in found.alignment.edits) == {"fused": 4}
    assert [(len(edit.before), len(edit.after)) for edit in found.alignment.edits] == [(3, 1)] * 4
    [became] = edits_of(found).rewritten
    assert became.after_ns - became.before_ns == found.total.delta_ns
    assert_exact(found)


def test_a_removed_op_is_removed(compare):
    found = compare(BASE, replace(BASE, reshape=False))
    assert {edit.kind for edit in found.alignment.edits} == {"removed"}
    [gone] = edits_of(found).removed
    assert (gone.op, gone.how, gone.count) == ("Reshape", "removed", 4)
    assert gone.ns == -found.total.delta_ns
    assert "Reshape gone" in judgement_of(found).why


def test_an_inserted_reshard_is_found_in_its_layer(compare):
    found = compare(BASE, replace(BASE, reshard_in=3))
    assert judgement_of(found).verdict == "unchanged", "0.6 %: two files of one model may differ by that"
    [new] = edits_of(found).added
    assert (new.op, new.how, new.count) == ("Reshard", "inserted", 1)
    assert {key: one.delta_ns for key, one in by_name(found, "layer").items() if one.delta_ns} == {"layer 3": 7_007}
    assert "Reshard new +0.007 ms" in judgement_of(found).why
    assert_exact(found)


def test_one_op_split_into_several_is_a_split(compare):
    found = compare(BASE, replace(BASE, split_softmax=True))
    assert Counter(edit.kind for edit in found.alignment.edits) == {"split": 4}
    assert {(one.op, one.how) for one in edits_of(found).removed} == {
        ("Softmax", "split into Unary + Reduce + Binary")
    }
    assert_exact(found)


def test_a_renamed_op_set_of_another_version_is_no_change(compare):
    found = compare(BASE, replace(BASE, old_names=True), generation="C2")
    assert found.padded, "2025 reports write no logical shapes"
    assert judgement_of(found).verdict == "unchanged"
    assert found.total.delta_ns == 0
    assert not found.alignment.edits
    assert not [change for change in found.changes if change.what]


def test_changed_formats_are_named_and_are_not_edits(compare):
    found = compare(BASE, replace(BASE, weights="BFLOAT8_B", fidelity="HiFi2", up_ns=60_000))
    assert not found.alignment.edits
    [what] = {change.what for change in found.changes if change.what}
    assert what == "fidelity HiFi4 -> HiFi2, in1 BFLOAT16 -> BFLOAT8_B"
    assert {change.op for change in found.changes} == {*by_name(found)}
    assert {family for change in found.changes for family in change.families} == {"formats"}


def test_another_batch_is_not_comparable_and_comes_with_times_per_sample(compare):
    found = compare(BASE, replace(BASE, batch=8))
    verdict = judgement_of(found)
    assert verdict.verdict == "not_comparable"
    assert verdict.why.startswith("batch 1 -> 8")
    assert verdict.only_batch
    assert found.per_sample.batch == (1, 8)
    assert found.per_sample.change_share == pytest.approx(0, abs=1e-9)


def test_twice_the_rows_may_be_a_batch_and_may_be_not(compare):
    found = compare(BASE, replace(BASE, rows=512))
    assert judgement_of(found).verdict == "not_comparable"
    assert found.per_sample.batch is None
    assert not judgement_of(found).only_batch
    assert "another batch, or longer inputs" in judgement_of(found).why


@for_all(
    ("other", "said"),
    [
        (replace(BASE, arch="blackhole"), "architecture wormhole_b0 -> blackhole"),
        (replace(BASE, grid=(8, 7)), "compute grid 64 -> 56 cores"),
        (replace(BASE, devices=2), "devices 1 -> 2"),
    ],
)
def test_other_hardware_is_said_first_and_gets_no_verdict(compare, other, said):
    verdict = judgement_of(compare(BASE, other))
    assert verdict.verdict == "not_comparable"
    assert verdict.why.startswith(said)


def test_pure_noise_is_unchanged(compare):
    found = compare(replace(BASE, jitter=0.02, seed=1), replace(BASE, jitter=0.02, seed=2))
    assert found.total.delta_ns != 0
    assert judgement_of(found).verdict == "unchanged"


def test_the_same_report_twice_is_unchanged_to_the_nanosecond(tmp_path):
    run = run_of(tmp_path, BASE)
    found = Comparison(*like_windows(run, run))
    assert judgement_of(found).verdict == "unchanged"
    assert {one.delta_ns for by in ("op_code", "layer") for one in found.groups(by)} == {0}
    [reason] = judgement_of(found).reasons
    assert reason.code == "same_reading"
    assert "nothing was measured" in reason.what


def test_a_warm_iteration_beside_a_cold_pass_is_a_warning_where_both_hold_the_same_work(tmp_path):
    faster = replace(BASE, up_ns=60_000)
    runs = run_of(tmp_path / "warm", BASE), run_of(tmp_path / "cold", faster, ONE_PASS)
    found = Comparison(*like_windows(*runs))
    assert judgement_of(found).verdict == "unproven"
    assert [reason.code for reason in judgement_of(found).reasons] == ["collapsed"]
    assert (
        judgement_of(found)
        .caveats[0]
        .startswith("windows differ: baseline warm iteration 3 of 3, candidate cold whole")
    )
    assert found.noise.share == 0.02


def test_a_warm_iteration_is_not_compared_with_a_report_of_more_than_one_pass(tmp_path):
    runs = run_of(tmp_path / "warm", BASE), run_of(tmp_path / "cold", BASE)
    found = Comparison(measured(runs[0]), measured(runs[1], "all"))
    assert judgement_of(found).verdict == "not_comparable"
    assert judgement_of(found).why.startswith("windows differ: baseline warm iteration 3 of 3")


def test_two_cold_passes_compare_with_the_default_noise(tmp_path):
    faster = replace(BASE, up_ns=85_500)  # 1.6 % in all: below the default, above what warm iterations tell apart
    cold = [run_of(tmp_path / f"cold{n}", model, ONE_PASS) for n, model in enumerate((BASE, faster))]
    warm = [run_of(tmp_path / f"warm{n}", model) for n, model in enumerate((BASE, faster))]
    found = Comparison(*like_windows(*cold))
    assert (found.noise.source, found.noise.share) == ("default", 0.02)
    assert judgement_of(found).verdict == "unchanged"
    assert any("cold" in caveat for caveat in judgement_of(found).caveats)
    found = Comparison(*like_windows(*warm))
    assert (found.noise.source, found.noise.inside) == ("default", 0.005)
    assert judgement_of(found).verdict == "unchanged"
    assert [reason.code for reason in judgement_of(found).reasons] == ["within_file_noise"]


def test_iterations_of_one_file_need_no_other_file_to_tell_their_noise(tmp_path):
    run = run_of(tmp_path, BASE, (Iteration(cold=True), Iteration(), Iteration(kernel_scale=0.99)))
    found = Comparison(measured(run, 2), measured(run, 3))
    assert found.noise.source == "iterations"
    assert "both sides are the same run" in judgement_of(found).caveats[0]


def test_noisy_iterations_widen_the_noise(tmp_path):
    shaky = (Iteration(cold=True), *(Iteration(kernel_scale=scale) for scale in (0.97, 1.03, 1.0)))
    runs = run_of(tmp_path / "before", BASE, shaky), run_of(tmp_path / "after", replace(BASE, up_ns=85_000), shaky)
    found = Comparison(*like_windows(*runs))
    assert found.noise.share > 0.05
    assert judgement_of(found).verdict == "unchanged"


def test_repeat_runs_of_the_baseline_measure_the_noise(tmp_path):
    base, again, after = (
        run_of(tmp_path / name, model)
        for name, model in (
            ("base", BASE),
            ("again", replace(BASE, jitter=0.006, seed=5)),
            ("after", replace(BASE, up_ns=86_000)),
        )
    )
    sides = like_windows(base, after)
    assert judgement_of(Comparison(*sides)).verdict == "unchanged", "1.4 % and no repeats"
    found = Comparison(*sides, [measured(again)])
    assert found.noise.source == "repeats"
    assert 0.005 <= found.noise.share < -found.change_share
    assert judgement_of(found).verdict == "faster"


def test_a_repeat_that_is_another_model_is_refused(tmp_path):
    base, other = run_of(tmp_path / "base", BASE), run_of(tmp_path / "other", replace(BASE, reshape=False))
    with pytest.raises(QuestionRefused, match="no repeat of the baseline"):
        Comparison(*like_windows(base, base), [measured(other)])


def test_where_layers_are_all_there_is_both_windows_still_hold_one_pass(compare):
    bare = replace(BASE, head_ops=0)
    found = compare(bare, replace(bare, reshard_in=2))
    assert (found.total.before_count, found.total.after_count) == (40, 41)
    assert found.total.delta_ns == 7_007
    assert "4 of 12 iterations together" in found.before.scope.window.why


def test_a_layer_is_not_compared_with_a_whole_pass(tmp_path):
    with_head, bare = replace(BASE, head_ops=1), replace(BASE, head_ops=0)
    runs = run_of(tmp_path / "three", with_head), run_of(tmp_path / "one", bare, ONE_PASS)
    found = Comparison(*like_windows(*runs))
    assert (found.total.before_count, found.total.after_count) == (41, 10)
    assert judgement_of(found).verdict == "not_comparable"
    assert "is part of the other" in judgement_of(found).why


def test_the_same_arithmetic_in_other_shapes_is_the_same_work(tmp_path):
    runs = []
    for name, matmuls, wide in (("narrow", 12, 64), ("wide", 3, 256)):
        program = Program()
        x = program.tensor([1, 1, 64, 64])
        for _ in range(matmuls):
            w = program.weight([1, 1, 64, wide])
            program.op(
                "MatmulDeviceOperation", [x, w], shape=[1, 1, 64, wide], fidelity="HiFi2", kernel_ns=80 * wide
            )
        y = program.op("SoftmaxDeviceOperation", [x])
        program.op("UnaryDeviceOperation", [y])
        runs.append(opened(write_performance_report(tmp_path / name, program)))
    found = Comparison(*like_windows(*runs))
    assert found.work.ratio == 1.0
    assert judgement_of(found).verdict == "unchanged"


def test_models_without_a_common_op_are_not_compared(tmp_path):
    program = Program()
    program.op("ConcatDeviceOperation", [program.tensor([1, 1, 32, 32])])
    other = opened(write_performance_report(tmp_path / "other", program, (Iteration(cold=True), Iteration())))
    found = Comparison(*like_windows(run_of(tmp_path / "base", BASE), other))
    assert judgement_of(found).verdict == "not_comparable"
    assert "different models" in judgement_of(found).why


def test_multi_device_runs_are_compared_on_the_device_the_others_wait_for(tmp_path):
    runs = []
    for name, times in (("before", [10_000, 90_000]), ("after", [10_000, 60_000])):
        program = Program(devices=2)
        x = program.tensor([1, 1, 64, 64])
        program.op("SoftmaxDeviceOperation", [x], kernel_ns=times)
        program.op("UnaryDeviceOperation", [x], kernel_ns=[5_000, 5_000])
        runs.append(opened(write_performance_report(tmp_path / name, program)))
    found = Comparison(*like_windows(*runs))
    assert (found.total.before_ns, found.total.after_ns) == (95_000, 65_000)
    assert judgement_of(found).verdict == "faster"


models = st.builds(
    Model,
    layers=st.integers(1, 4),
    up_ns=st.integers(20_000, 120_000),
    weights=st.sampled_from(["BFLOAT16", "BFLOAT8_B"]),
    fused_relu=st.booleans(),
    fused_qkv=st.booleans(),
    reshape=st.booleans(),
    split_softmax=st.booleans(),
    reshard_in=st.none() | st.integers(1, 4),
    jitter=st.sampled_from([0.0, 0.1]),
    head_ops=st.sampled_from([0, 5]),
)


@pytest.mark.slow
@given(before=models, after=models)
@settings(max_examples=25, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_deltas_add_up_exactly_and_every_op_is_accounted_for_once(tmp_path, before, after):
    runs = run_of(tmp_path / "before", before, ONE_PASS), run_of(tmp_path / "after", after, ONE_PASS)
    found = Comparison(*like_windows(*runs))
    assert_exact(found)
    aligned = found.alignment
    for side, pairs, count in (
        ("before", aligned.before, len(found.times[0])),
        ("after", aligned.after, len(found.times[1])),
    ):
        edited = [row for edit in aligned.edits for row in getattr(edit, side)]
        assert sorted([*pairs.tolist(), *edited]) == list(range(count))
    assert sorted(pair for change in found.changes for pair in change.pairs.tolist()) == list(
        range(len(aligned.before))
    )


def test_the_two_passes_of_a_real_clip_encoder_are_unchanged():
    run = opened(shared(CLIP))
    found = Comparison(measured(run, 1), measured(run, 2))
    assert found.total.before_ns / 1e6 == pytest.approx(31.607, abs=0.001)
    assert found.total.after_ns / 1e6 == pytest.approx(31.611, abs=0.001)
    assert abs(found.change_share) < 0.0003
    assert judgement_of(found).verdict == "unchanged"
    assert not found.alignment.edits
    (block,) = found.layers.blocks
    assert (block.ops, block.count) == (29, 32)
    assert_exact(found)


def test_two_real_models_have_little_in_common():
    found = Comparison(*like_windows(opened(shared(SEGFORMER)), opened(shared(OFT))))
    assert judgement_of(found).verdict == "not_comparable"
    assert found.little_in_common
    assert_exact(found)


@pytest.mark.slow
def test_ten_thousand_ops_on_each_side_are_aligned_exactly(tmp_path):
    sides = []
    for name, fused in (("before", False), ("after", True)):
        rows = performance_rows(Model(layers=100, fused_relu=fused).program(), ONE_PASS) * 10  # 1,005 and 905 ops
        path = write_rows(tmp_path / name / "ops_perf_results.csv", rows, header_of(rows[:1005], "C7"))
        sides.append(measured(opened(path), "all"))
    found = Comparison(*sides)
    assert Counter(edit.kind for edit in found.alignment.edits) == {"fused": 1000}
    assert found.total.before_count == 10_050
    assert int(np.sum(found.alignment.same_shape)) == found.total.after_count - 1000
