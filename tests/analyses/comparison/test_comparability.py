"""The verdict and the words around it."""

from dataclasses import replace
from types import SimpleNamespace

from tests.analyses.comparison.test_comparison import opened, run_of
from tests.for_all import for_all
from tests.pairs import Model
from tests.profiles import Program, write_performance_report
from ttnn_mcp.analyses.comparison.comparability import _verdict, judgement_of
from ttnn_mcp.analyses.comparison.comparison import Comparison
from ttnn_mcp.analyses.comparison.deltas import Delta
from ttnn_mcp.analyses.comparison.matching_windows import like_windows
from ttnn_mcp.analyses.comparison.noise import Noise

KEPT = [("Softmax", 900_000), ("Unary", 100_000)]


def judged(folder, before, after):
    sides = []
    for name, ops in (("before", before), ("after", after)):
        program = Program()
        x = program.tensor([1, 1, 64, 64])
        for kind, kernel_ns in ops:
            program.op(f"{kind}DeviceOperation", [x], kernel_ns=kernel_ns)
        sides.append(opened(write_performance_report(folder / name, program)))
    return judgement_of(Comparison(*like_windows(*sides)))


def test_the_names_that_are_gone_and_new_are_told_the_costliest_two_of_each(tmp_path):
    gone = [("Transpose", 30_000), ("Permute", 20_000), ("Typecast", 10_000)]
    new = [("Concat", 3_000), ("Pad", 2_000), ("Slice", 1_000)]
    why = judged(tmp_path, [*KEPT, *gone], [*KEPT, *new]).why
    assert why.endswith(
        "; Transpose gone (-30.0 us), Permute gone (-20.0 us), Concat new (+3.0 us), Pad new (+2.0 us)"
    )


def test_names_of_one_side_alone_are_told(tmp_path):
    assert judged(tmp_path / "a", [*KEPT, ("Permute", 20_000)], KEPT).why.endswith("; Permute gone (-20.0 us)")
    assert judged(tmp_path / "b", KEPT, [*KEPT, ("Concat", 3_000)]).why.endswith("; Concat new (+3.0 us)")


def test_no_name_is_told_where_all_of_them_stay(tmp_path):
    assert ";" not in judged(tmp_path, KEPT, [("Softmax", 700_000), KEPT[1]]).figures


@for_all(
    ("kernel_ns", "verdict"),
    [(979_000, "faster"), (981_000, "unchanged"), (1_019_000, "unchanged"), (1_021_000, "slower")],
)
def test_two_per_cent_decide(tmp_path, kernel_ns, verdict):
    after = [("Softmax", kernel_ns - 100_000), KEPT[1]]
    assert judged(tmp_path, KEPT, after).figures.startswith("kernel 1.000 -> ")
    assert judged(tmp_path, KEPT, after).verdict == verdict


def test_other_models_are_told_with_their_kernel_times(tmp_path):
    assert judged(tmp_path, KEPT, [("Concat", 500_000)]).why == (
        "no op in common: these are different models (kernel time -50.0%)"
    )


@for_all(
    ("gained", "lost", "verdict"),
    [(["a -9%"], ["b +9%"], "mixed"), (["a -9%"], [], "faster"), ([], ["b +9%"], "faster"), ([], [], "faster")],
)
def test_stages_that_gained_beside_stages_that_lost_are_no_gain(gained, lost, verdict):
    found = SimpleNamespace(
        change_share=-0.1,
        noise=Noise(0.02, "default", ""),
        total=Delta("total", 1_000_000, 900_000, 1, 1),
        stages_moved=(gained, lost),
        groups=lambda _: [],
    )
    assert _verdict(found)[0] == verdict


def test_a_batch_that_is_not_certain_gives_no_time_per_sample(tmp_path):
    base = Model(layers=1)
    runs = run_of(tmp_path / "a", base), run_of(tmp_path / "b", replace(base, rows=512))
    assert "(kernel time +" in judgement_of(Comparison(*like_windows(*runs))).why
    runs = run_of(tmp_path / "c", base), run_of(tmp_path / "d", replace(base, batch=2))
    assert "(per sample +" in judgement_of(Comparison(*like_windows(*runs))).why
