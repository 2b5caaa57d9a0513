"""What can still be gained: in the unit of each target."""

from types import SimpleNamespace

import pytest

from tests.asking import session
from tests.for_all import for_all
from tests.profiles import Iteration, Program, write_performance_report
from ttnn_mcp.experiments import outlook
from ttnn_mcp.experiments.experiment import RunSeen, Target
from ttnn_mcp.experiments.outlook import Outlook, Reach, outlook_of, reach_of
from ttnn_mcp.run.kept import Kept
from ttnn_mcp.wire import Finding, Saving

RUN = RunSeen("a", "a", None, None, 10_000_000, True)


def finding(step, at_most_us):
    return Finding(
        check="some-check", edit="made", step=step, claim="", share=0.1, saving_us=Saving(at_least=0, at_most=at_most_us),
        assumption="", evidence=(), fix="", verify="", read_next="",
    )  # fmt: skip


LOOK = Outlook(10e6, 2e6, 0.0, 2e6, 4e6, (finding(1, 2_000.0), finding(4, 1_000.0), finding(5, 3_000.0)), ())


def test_gaps_count_for_wall_time_only():
    assert (LOOK.saving_ns(wall=False), LOOK.saving_ns(wall=True)) == (2e6, 6e6)


@for_all(("noise", "worth"), [(0.29, True), (0.31, False)])
def test_a_finding_above_the_noise_is_worth_a_try(noise, worth):
    assert LOOK.worth_trying(noise) is worth


@for_all(
    ("kind", "wall_ms", "look", "reach"),
    [
        ("latency_ms", None, LOOK, Reach(10.0, 8.0)),
        ("latency_ms", 20.0, LOOK, Reach(20.0, 14.0)),
        ("latency_ms", None, None, Reach(10.0, None)),
        ("samples_per_s", None, LOOK, Reach(400.0, 500.0)),
        ("samples_per_s", None, None, Reach(400.0, None)),
        ("roofline_share", None, LOOK, Reach(0.2, 0.25)),
        ("roofline_share", None, None, Reach(0.0, None)),
    ],
)
def test_a_run_is_told_in_the_unit_of_its_target(kind, wall_ms, look, reach):
    found = reach_of(Target(RUN, kind, 0.5, batch=4), 10e6, wall_ms, look)
    assert (found.current, found.at_best) == (
        pytest.approx(reach.current),
        reach.at_best and pytest.approx(reach.at_best),
    )


@for_all(("ops", "told"), [(50_000, True), (50_001, False)])
def test_fifty_thousand_ops_are_checked_unasked(monkeypatch, ops, told):
    monkeypatch.setattr(outlook, "_outlook", lambda *_: LOOK)
    run = SimpleNamespace(scope=lambda: SimpleNamespace(ops=range(ops)), kept=Kept())
    assert (outlook_of(run) is LOOK) is told
    assert outlook_of(run, most_ops=60_000) is LOOK


@for_all(("wall_ms", "gaps_us"), [(None, 1_691), (0.4, 181), (0.19, 1_691)])
async def test_a_wall_time_bounds_what_gaps_can_save(tmp_path, wall_ms, gaps_us):
    """20 kernels of 10 us with 19 gaps of 90 us under the profiler; one microsecond of each stays."""
    program = Program("wormhole_b0")
    x = program.tensor([1, 1, 32, 32])
    for width in range(1, 21):
        x = program.op("UnaryDeviceOperation", [x], shape=[1, 1, 32, 32 * width], kernel_ns=10_000, gap_ns=90_000)
    report = write_performance_report(tmp_path, program, [Iteration(cold=True), Iteration()])
    look = outlook_of(await session(tmp_path).run(str(report)), wall_ms)
    assert look.saved_gaps_ns == pytest.approx(gaps_us * 1e3)
    tiles = sum(
        max(width - 1, 1) + width for width in range(1, 21)
    )  # read and written, at 288 GB/s of an n300's DRAM
    assert look.least_ns == pytest.approx(tiles * 2_048 / 288)
