"""The verdict and the words around it."""

from dataclasses import replace
from types import SimpleNamespace

from tests.analyses.comparison.test_comparison import opened, run_of
from tests.for_all import for_all
from tests.pairs import Model
from tests.profiles import Program, write_performance_report
from ttnn_mcp.analyses.comparison.comparability import _verdict, judgement_of
from ttnn_mcp.analyses.comparison.comparison import Comparison
from ttnn_mcp.analyses.comparison.grouping import Delta
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


@for_all(
    ("before", "after", "told"),
    [
        (
            [*KEPT, ("Transpose", 30_000), ("Permute", 20_000), ("Typecast", 10_000)],
            [*KEPT, ("Concat", 3_000)],
            "beyond the noise of 2.00%; most by Transpose gone -0.030 ms and Permute gone -0.020 ms",
        ),
        # what makes nine tenths of all that changed is named alone
        (KEPT, [("Softmax", 810_000), ("Unary", 110_000)], "; most by Softmax -0.090 ms"),
        (KEPT, [("Softmax", 811_000), ("Unary", 110_000)], "; most by Softmax -0.089 ms and Unary +0.010 ms"),
        (KEPT, [*KEPT, ("Concat", 3_000)], "is within the noise of 2.00%; most by Concat new +0.003 ms"),
        (KEPT, [("Softmax", 900_400), KEPT[1]], "is within the noise of 2.00%"),  # 0.000 ms of change
        (KEPT, KEPT, "is within the noise of 2.00%"),
        # below a millisecond all of a sentence is in us
        ([("Softmax", 999_900)], [("Softmax", 900_000)], "kernel 999.9 -> 900.0 us (-9.99%), beyond the noise of 2.00%; most by Softmax -99.9 us"),
        ([("Softmax", 1_000_000)], [("Softmax", 900_000)], "kernel 1.000 -> 0.900 ms (-10.00%), beyond the noise of 2.00%; most by Softmax -0.100 ms"),
    ],
)  # fmt: skip
def test_the_verdict_names_what_made_most_of_the_change_in_one_unit(tmp_path, before, after, told):
    assert judged(tmp_path, before, after).figures.endswith(told)


@for_all(
    ("kernel_ns", "verdict"),
    [(979_000, "faster"), (981_000, "unchanged"), (1_019_000, "unchanged"), (1_021_000, "slower")],
)
def test_two_per_cent_decide(tmp_path, kernel_ns, verdict):
    after = [("Softmax", kernel_ns - 100_000), KEPT[1]]
    assert judged(tmp_path, KEPT, after).figures.startswith("kernel 1.000 -> ")
    judgement = judged(tmp_path, KEPT, after)
    assert (judgement.verdict, judgement.credit) == (verdict, "one_change" if verdict == "faster" else None)


def test_other_models_are_told_with_their_kernel_times(tmp_path):
    assert judged(tmp_path, KEPT, [("Concat", 500_000)]).why == (
        "no op in common: these are different models (kernel time -50.0%)"
    )


@for_all(
    ("gained", "lost", "change", "verdict"),
    [
        (["a -9%"], ["b +9%"], -0.1, "mixed"),
        *((gained, lost, -0.1, "faster") for gained, lost in ((["a -9%"], []), ([], ["b +9%"]), ([], []))),
        *(([], [], change, "unchanged") for change in (-0.02, 0.02)),
    ],
)
def test_stages_that_gained_beside_stages_that_lost_are_no_gain(gained, lost, change, verdict):
    side = SimpleNamespace(scope=SimpleNamespace(critical_device=0))
    found = SimpleNamespace(
        before=side,
        after=side,
        change_share=change,
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
