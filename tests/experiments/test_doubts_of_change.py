"""What the statement of a change explains, and what it does not."""

from types import SimpleNamespace

import numpy as np

from tests.for_all import for_all
from ttnn_mcp.analyses.comparison.engaged import Engaged
from ttnn_mcp.analyses.comparison.grouping import Delta
from ttnn_mcp.analyses.comparison.noise import Noise
from ttnn_mcp.analyses.comparison.reasons import Reason
from ttnn_mcp.experiments import doubts_of_walls
from ttnn_mcp.experiments.doubts import doubts_of_change, older_than_baseline, unexplained
from ttnn_mcp.experiments.rules import Walls
from ttnn_mcp.experiments.statement import statement_of

GONE = Reason("ops_missing", "32 Softmax, 2 LayerNorm gone, nothing in their place (baseline line 4)")
LESS = Reason("ops_missing", "matmuls, convolutions and attention do 40% of the baseline's arithmetic")
TRACED = Reason("trace_on_one_side", "only the candidate replays a trace")
CLOCK = Reason("other_clock", "1 -> 0.8 GHz")


@for_all(
    ("change", "step", "left"),
    [
        ("removed the second softmax", None, [TRACED, CLOCK]),
        ("add in place", None, [GONE, TRACED, CLOCK]),
        ("baseline line nothing", None, [GONE, TRACED, CLOCK]),
        ("Metal Trace", None, [GONE, CLOCK]),
        ("tuning", 4, [GONE, CLOCK]),
        ("tuning", 3, [GONE, TRACED, CLOCK]),
    ],
)
def test_a_statement_explains_what_it_names(change, step, left):
    assert unexplained([GONE, TRACED, CLOCK], statement_of(change, step)) == left


def test_a_name_that_explains_what_is_gone_explains_nothing_else():
    other = Reason("zero_times", "32 Softmax gone")
    assert unexplained([GONE, other], statement_of("removed the second softmax", None)) == [other]


def test_less_arithmetic_is_not_explained_by_the_name_of_an_op():
    assert unexplained([LESS], statement_of("softmax removed", None)) == [LESS]


@for_all(
    ("before", "after", "stale"),
    [
        ("ops_perf_results_2026_03_02_10_00_00.csv", "ops_perf_results_2026_03_02_10_00_01.csv", False),
        ("ops_perf_results_2026_03_02_10_00_00.csv", "ops_perf_results_2026_03_02_10_00_00.csv", False),
        ("ops_perf_results_2026_03_02_10_00_00.csv", "ops_perf_results_2026_03_02_09_59_59.csv", True),
        ("baseline.csv", "ops_perf_results_2026_03_02_09_59_59.csv", False),
        ("ops_perf_results_2026_03_02_10_00_00.csv", "candidate.csv", False),
    ],
)
def test_a_report_is_stale_by_the_time_in_its_name(before, after, stale):
    assert (older_than_baseline(before, after) is not None) == stale


def mesh(exchange_ns):
    """The ops of devices 4 and 6: an op of 1 ms, and a gather that is fused with a matmul and takes so long."""
    codes = ["UnaryDeviceOperation", "AllGatherMatmulAsyncDeviceOperation"] * 2
    kernel_ns = np.array([1e6, exchange_ns[0], 1e6, exchange_ns[1]])
    where = SimpleNamespace(where=lambda is_one: np.array([is_one(code) for code in codes]))
    return SimpleNamespace(
        numbers=lambda _: kernel_ns,
        texts=lambda _: where,
        by_device=lambda values: {4: values[:2].sum(), 6: values[2:].sum()},
    )


def doubts(text, changes=(), **how):
    """The codes of what is doubtful about a change of 1 ms."""
    return [each.code for each in reasons(text, changes, **how)]


def reasons(
    text,
    changes=(),
    *,
    change=-0.2,
    step=None,
    walls=None,
    complete=True,
    warm=True,
    kernels_ns=(1e6, 0.8e6),
    exchanges_ns=((50_000, 40_000), (50_000, 40_000)),
):
    """What is doubtful about it; exchanges take so much on two devices, before and after."""
    sides = [
        SimpleNamespace(
            run=SimpleNamespace(
                performance_report=SimpleNamespace(csv=SimpleNamespace(path=SimpleNamespace(name="a.csv")))
            ),
            kernel_ns=kernel_ns,
            scope=SimpleNamespace(
                critical_device=4,
                ops=mesh(exchange_ns),
                window=SimpleNamespace(warm=warm),
                wall_ns=1.25 * kernel_ns,
            ),
        )
        for kernel_ns, exchange_ns in zip(kernels_ns, exchanges_ns, strict=True)
    ]
    comparison = SimpleNamespace(
        before=sides[0],
        after=sides[1],
        noise=Noise(0.02, "default", ""),
        change_share=change,
        clock_ratio=1.0,
        total=Delta("total", 1_000_000, round(1_000_000 * (1 + change)), 1, 1),
        alignment=SimpleNamespace(complete=complete),
    )
    return [*doubts_of_change(comparison, statement_of(text, step), changes, step, walls)]


def took(kind, op, what, delta_ns):
    return Engaged(kind, op, what, delta_ns=delta_ns)


TRACE = took("trace", "all", "replayed", 0)
QUICK, IDLE = (took("fidelity", "Matmul", "fidelity HiFi4 -> LoFi", ns) for ns in (-200_000, -20_000))


@for_all(
    ("text", "changes", "more", "told"),
    [
        ("LoFi", [QUICK], {}, []),
        ("LoFi", [], {}, ["not_engaged"]),
        ("fidelity", [], {}, []),  # names no value that an op could lack
        ("LoFi", [IDLE], {}, ["gain_elsewhere"]),
        ("LoFi", [IDLE], {"change": -0.02}, []),  # nothing is gained
        ("LoFi", [IDLE], {"complete": False}, []),  # nothing is known of single ops
        ("fidelity", [took("config", "Matmul", "axis", -1)], {}, []),  # nothing is said of what changed
        ("LoFi", [IDLE, took("added", "Reshard", "Reshard new", -200_000)], {}, []),  # it came with the change
        ("LoFi", [IDLE, took("added", "Softmax", "Softmax new", -200_000)], {}, ["gain_elsewhere"]),
        ("LoFi", [IDLE, took("config", "Reshard", "axis", -200_000)], {}, ["gain_elsewhere"]),
        ("trace", [TRACE], {}, ["gain_elsewhere"]),
        (
            "trace",
            [TRACE],
            {"exchanges_ns": ((230_000, 40_000), (40_000, 40_000))},
            [],
        ),  # exchanges wait less for a chip that the host fed late
        ("trace", [TRACE], {"exchanges_ns": ((230_000, 230_000), (40_000, 40_000))}, ["gain_elsewhere"]),  # all do
        ("LoFi", [IDLE], {"exchanges_ns": ((230_000, 40_000), (40_000, 40_000))}, ["gain_elsewhere"]),
    ],
)
def test_a_gain_is_that_of_the_ops_that_the_change_is_about(text, changes, more, told):
    assert doubts(text, changes, **more) == told


def test_a_gain_elsewhere_is_told_with_both_times():
    (reason,) = reasons("LoFi", [IDLE])
    assert reason.what == "ops with the stated change -20.0 us, the window -200.0 us"


@for_all(
    ("change", "step", "more_ns", "told"),
    [
        (0.021, 4, (0, 0), ["kernels_worse"]),
        (0.021, 5, (0, 0), ["kernels_worse"]),
        (0.021, 3, (0, 0), []),
        (0.019, 4, (0, 0), []),
        (0.021, 4, (2_000, 0), []),  # exchanges may wait in their kernels where they waited before them
        (0.021, 4, (2_000, 2_000), ["kernels_worse"]),  # of which both devices take more
        (0.021, 4, (900, 0), ["kernels_worse"]),
        (0.019, 4, (-2_000, 0), []),  # and what they wait less hides nothing
    ],
)
def test_trace_and_queues_leave_kernels_as_they_are(change, step, more_ns, told):
    exchanges_ns = (50_000, 40_000), (50_000 + more_ns[0], 40_000 + more_ns[1])
    assert doubts("x", change=change, step=step, exchanges_ns=exchanges_ns) == told


@for_all(
    ("before_ms", "after_ms", "warm", "told"),
    [
        (0.99, 0.79, True, []),
        (0.97, 0.9, True, ["wall_below_kernels"]),
        (1.5, 0.78, True, ["wall_below_kernels"]),
        (124.9, 99.9, True, []),  # a hundred windows
        (125.1, 99.9, True, ["wall_above_window"]),
        (124.9, 100.1, True, ["wall_above_window"]),
        (1250.0, 1000.0, False, []),  # a cold window compiles, too
    ],
)
def test_wall_times_hold_the_kernels_of_their_side_and_not_a_hundred_passes(
    monkeypatch, before_ms, after_ms, warm, told
):
    monkeypatch.setattr(doubts_of_walls, "wall_ns", lambda side: side.scope.wall_ns)
    doubted = reasons("x", walls=Walls(before_ms, after_ms, profiled=False), warm=warm)
    assert [each.code for each in doubted] == told
    if told == ["wall_above_window"]:
        label, wall_ms, window = ("before", 125.1, "1.25") if before_ms > 125 else ("after", 100.1, "1")
        sentence = f"wall_{label}_ms {wall_ms} is 100 times the {window} ms of the window under the profiler"
        assert doubted[0].what == sentence
