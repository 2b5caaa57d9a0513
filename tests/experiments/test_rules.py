"""The loop's rules, with a pair at every line."""

import re
from dataclasses import replace
from types import SimpleNamespace

import pytest

from tests.analyses.comparison.test_comparison import run_of
from tests.for_all import for_all
from tests.pairs import Model
from tests.profiles import Iteration
from ttnn_mcp.analyses.comparison.comparison import Comparison
from ttnn_mcp.analyses.comparison.matching_windows import like_windows
from ttnn_mcp.analyses.comparison.noise import Noise
from ttnn_mcp.analyses.comparison.reasons import Reason
from ttnn_mcp.analyses.memory.memory_comparison import Figure, MemoryDelta
from ttnn_mcp.experiments.rules import Measurement, MemoryGain, Walls, decide, measure, memory_gain, walls_of_blocks

BASE = Model()


@pytest.fixture
def compare(tmp_path):
    def compared(after, before=BASE, **more):
        runs = run_of(tmp_path / "before", before), run_of(tmp_path / "after", after, **more)
        return Comparison(*like_windows(*runs))

    return compared


def measured(change, noise=0.02, **more):
    return Measurement("kernel", change, noise, "said", **more)


@for_all(
    ("change", "pcc", "verdict"),
    [
        (-0.10, 0.9999, "keep"),
        (-0.10, 0.99, "keep"),
        (-0.10, 0.98999, "revert"),
        (-0.90, 0.5, "revert"),
        (-0.10, None, "inconclusive"),
        (-0.0201, 0.999, "keep"),
        (-0.02, 0.999, "inconclusive"),
        (0.02, 0.999, "inconclusive"),
        (0.0201, 0.999, "revert"),
        (0.0201, None, "revert"),
        (0.0, 0.98, "revert"),
        (0.0, None, "inconclusive"),
        *((-0.1, pcc, "revert") for pcc in (0.989999, 0.9899999996, 0.98999999999996, 0.99 - 2**-53)),
    ],
)
def test_the_verdict_follows_accuracy_first_then_the_noise(change, pcc, verdict):
    came_to, why = decide(measured(change), pcc)
    assert came_to == verdict
    if pcc is not None and pcc < 0.99:
        assert float(re.match(r"PCC (\S+) is below 0\.99: ", why)[1]) < 0.99


def test_without_a_figure_nothing_is_kept():
    assert decide(measured(-0.5, barrier="other chip"), 0.9999) == ("inconclusive", "other chip")


def test_a_missing_pcc_is_asked_for():
    assert "measure it and record again" in decide(measured(-0.5), None)[1]


def test_trace_is_judged_by_wall_time_because_kernels_stay_as_they_were(compare):
    found = compare(BASE)
    by_kernel, by_wall = measure(found, 1, None), measure(found, 4, Walls(5.0, 2.0, profiled=False))
    assert decide(by_kernel, 0.999)[0] == "inconclusive"
    assert (by_wall.judged_by, decide(by_wall, 0.999)[0]) == ("wall", "keep")
    assert decide(measure(found, 5, Walls(2.0, 2.5, profiled=False)), 0.999)[0] == "revert"


def test_a_host_step_without_wall_times_uses_those_of_warm_profiles_and_says_so(compare, tmp_path):
    found = compare(BASE)
    assert "under the profiler" in measure(found, 4, None).summary
    cold = [run_of(tmp_path / f"cold{n}", BASE, (Iteration(cold=True),)) for n in range(2)]
    found = Comparison(*like_windows(*cold))
    assert "give wall_before_ms" in measure(found, 4, None).barrier
    assert decide(measure(found, 4, None), 0.999)[0] == "inconclusive"


def test_wall_noise_is_wider_than_that_of_kernels(compare):
    found = compare(BASE)
    assert decide(measure(found, 4, Walls(100.0, 98.1, profiled=False)), 0.999)[0] == "inconclusive"
    assert decide(measure(found, 4, Walls(100.0, 97.9, profiled=False)), 0.999)[0] == "keep"


def test_another_batch_is_judged_per_sample(compare):
    found = measure(compare(replace(BASE, batch=8, up_ns=50_000)), 5, Walls(8.0, 32.0, profiled=False))
    assert found.judged_by == "wall"
    assert found.change_share == pytest.approx(-0.5)
    found = measure(compare(replace(BASE, batch=8, up_ns=50_000)), 1, None)
    assert found.judged_by == "per_sample"
    assert decide(found, 0.999)[0] == "keep"


def test_other_hardware_gives_no_figure_even_with_wall_times(compare):
    found = measure(compare(replace(BASE, arch="blackhole")), 4, Walls(5.0, 2.0, profiled=False))
    assert "architecture" in found.barrier


@for_all(
    ("change", "code", "verdict"),
    [
        (-0.10, "several_changes", "inconclusive"),
        (0.10, "several_changes", "revert"),
        (0.10, "other_clock", "inconclusive"),
        (0.10, "recorded_before", "inconclusive"),
        (0.0, "several_changes", "inconclusive"),
    ],
)
def test_a_reason_keeps_nothing_and_a_doubtful_figure_reverts_nothing(change, code, verdict):
    decided, why = decide(measured(change), 0.999, [Reason(code, "evidence")])
    assert decided == verdict
    assert (code in why) == (verdict == "inconclusive")


GAIN = MemoryGain(400_000, 300_000)


@for_all(
    ("change", "pcc", "reasons", "verdict"),
    [
        (0.0, 0.999, (), "keep"),
        (0.02, 0.999, (), "keep"),
        (0.0201, 0.999, (), "revert"),
        (0.0, 0.989, (), "revert"),
        (0.0, None, (), "inconclusive"),
        (0.0, 0.999, [Reason("layers_missing", "2 of 30")], "inconclusive"),
    ],
)
def test_a_lower_peak_of_l1_counts_where_time_and_accuracy_hold(change, pcc, reasons, verdict):
    decided, why = decide(measured(change), pcc, reasons, GAIN)
    assert decided == verdict
    assert ("L1 peak" in why) == (verdict in ("keep", "inconclusive"))


@for_all(
    ("after", "caveats", "gain"),
    [
        (97_952, (), True),
        (97_953, (), False),
        (90_000, ("floors",), False),
        (None, (), False),
        (110_000, (), False),
    ],
)
def test_a_gain_in_memory_is_a_tile_at_least_and_no_floor(after, caveats, gain):
    delta = MemoryDelta((Figure("l1_peak", 100_000, after),), caveats)
    assert (memory_gain(delta) is not None) == gain


@for_all(
    ("step", "walls", "judged_by"),
    [
        (3, True, "kernel"),
        (4, True, "wall"),
        (5, True, "wall"),
        (5, False, "wall"),
        (7, True, "kernel"),
        (None, True, "wall"),  # nothing changed in the kernels, and wall times were given
        (None, False, "kernel"),
    ],
)
def test_which_figure_counts_where_kernels_stay_as_they_were(compare, step, walls, judged_by):
    found = measure(compare(BASE), step, Walls(5.0, 4.0, profiled=False) if walls else None)
    assert found.judged_by == judged_by


def test_kernels_that_changed_count_before_wall_times_that_were_given(compare):
    assert (
        measure(compare(replace(BASE, up_ns=50_000)), None, Walls(5.0, 4.0, profiled=False)).judged_by == "kernel"
    )


def test_other_work_gives_a_host_step_no_figure_without_wall_times(compare):
    """Twice the rows: another batch, or longer inputs."""
    found = compare(replace(BASE, rows=512))
    assert "another batch" in measure(found, 4, None).barrier
    assert measure(found, 4, Walls(5.0, 4.0, profiled=False)).summary == "wall 5 -> 4 ms (-20.0%)"


def test_wall_times_of_one_batch_are_not_told_per_sample(compare):
    assert "per sample" not in measure(compare(BASE), 4, Walls(5.0, 4.0, profiled=False)).summary


@for_all(("after_ms", "faster"), [(98.5, False), (98.1, False), (97.9, True)])
def test_two_per_cent_of_wall_time_are_noise_however_quiet_the_kernels(after_ms, faster):
    quiet = SimpleNamespace(noise=Noise(0.005, "repeats", ""), work=SimpleNamespace(batch=None))
    judged = SimpleNamespace(verdict="unchanged", other_hardware=False, only_batch=False)
    assert measure(quiet, 4, Walls(100.0, after_ms, profiled=False), judged).faster is faster


def test_wall_times_of_another_batch_on_another_chip_are_told_as_they_are():
    two = SimpleNamespace(noise=Noise(0.02, "default", ""), work=SimpleNamespace(batch=(1, 8)))
    for only_batch, change in ((True, -0.75), (False, 1.0)):
        judged = SimpleNamespace(verdict="not_comparable", other_hardware=False, only_batch=only_batch)
        found = measure(two, 4, Walls(1.0, 2.0, profiled=False), judged)
        assert (found.change_share, "per sample" in found.summary) == (change, only_batch)


def test_without_a_figure_nothing_is_faster_or_slower():
    assert measured(-0.5).faster
    assert measured(0.5).slower
    assert not measured(-0.5, barrier="other chip").faster
    assert not measured(0.5, barrier="other chip").slower


def test_kernels_of_one_model_have_a_figure(compare):
    found = measure(compare(replace(BASE, up_ns=50_000)), 1, None)
    assert (found.barrier, found.faster) == (None, True)


@for_all(
    ("after", "verdict"),
    [
        ((99.0, 99.4), "keep"),
        ((99.0, 100.0), "inconclusive"),
        ((99.7, 99.8), "inconclusive"),
        ((101.0, 102.0), "revert"),
    ],
)
def test_blocks_of_replays_are_judged_by_the_rule_of_blocks(compare, after, verdict):
    """Each has to win, and then less than two percent is enough."""
    walls = walls_of_blocks((100.0, 100.0), after)
    measured = measure(compare(BASE), 4, walls)
    assert decide(measured, 0.999)[0] == verdict
    assert measured.summary.startswith("wall 100 -> ")
