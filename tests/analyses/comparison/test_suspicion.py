"""Gains that are none, hide a loss, or have several causes: each line with a pair."""

from dataclasses import replace
from types import SimpleNamespace

import numpy as np

from tests.for_all import for_all
from tests.profiles import L1, Program
from ttnn_mcp.analyses.comparison.noise import Noise
from ttnn_mcp.analyses.comparison.suspicion import (
    DOUBTS_TOLD,
    device_worse,
    doubtful_report,
    gain_elsewhere,
    several_changes,
    stage_worse,
    within_file_noise,
)
from ttnn_mcp.run.doubt import Doubt


@for_all(
    ("change", "noise", "moved", "told"),
    [
        (-0.01, ("default", 0.005), ([], []), True),
        (-0.01, ("default", 0.005), (["a"], []), True),
        (-0.01, ("default", 0.005), (["a"], ["b"]), False),  # mixed: no gain is claimed
        (-0.01, ("default", None), ([], []), False),
        (-0.01, ("repeats", 0.005), ([], []), False),
        (-0.005, ("default", 0.005), ([], []), False),
        (-0.02, ("default", 0.005), ([], []), True),
        (-0.021, ("default", 0.005), ([], []), False),
        (0.01, ("default", 0.005), ([], []), False),
    ],
)
def test_a_gain_that_two_files_may_differ_by_anyway_is_told(change, noise, moved, told):
    source, inside = noise
    found = SimpleNamespace(change_share=change, noise=Noise(0.02, source, "", inside), stages_moved=moved)
    assert (within_file_noise(found) is not None) == told


def doubted(run, *codes):
    """A side of a comparison whose report has these doubts."""
    doubts = tuple(Doubt(code, f"line {line}") for line, code in enumerate(codes, start=2))
    return SimpleNamespace(run=SimpleNamespace(id=run), scope=SimpleNamespace(doubts=doubts))


@for_all(
    ("before", "after", "told"),
    [
        ((), (), None),
        (("times_lost",), (), "baseline: times_lost: line 2"),
        ((), ("times_lost",), "candidate: times_lost: line 2"),
        (("ops_twice",), ("times_lost",), "baseline: ops_twice: line 2; candidate: times_lost: line 2"),
        (("beyond_peak",), ("shapes_lost",), None),  # what is said of other ops still holds
    ],
)
def test_a_report_that_contradicts_itself_is_told_with_its_side(before, after, told):
    reason = doubtful_report(SimpleNamespace(before=doubted("a", *before), after=doubted("b", *after)))
    assert (reason and reason.what) == told


@for_all(("runs", "told"), [(("a", "b"), True), (("a", "a"), False)])
def test_a_pass_unlike_others_is_no_doubt_of_two_windows_of_one_report(runs, told):
    """It is what is asked: in what they differ."""
    before, after = (doubted(run, "pass_unlike_others") for run in runs)
    assert (doubtful_report(SimpleNamespace(before=before, after=after)) is not None) == told
    after = doubted(runs[1], "pass_unlike_others", "times_lost")
    assert "times_lost" in doubtful_report(SimpleNamespace(before=before, after=after)).what


@for_all(("doubts", "rest"), [(DOUBTS_TOLD, None), (DOUBTS_TOLD + 1, "1 more"), (DOUBTS_TOLD + 2, "2 more")])
def test_no_more_than_three_doubts_of_reports_are_named(doubts, rest):
    reason = doubtful_report(SimpleNamespace(before=doubted("a", *["times_lost"] * doubts), after=doubted("b")))
    named, _, others = reason.what.partition("; and ")
    assert named == "; ".join(f"baseline: times_lost: line {line}" for line in (2, 3, 4))
    assert others == (rest or "")


@for_all(("moved", "told"), [((["a -5%"], ["b +5%"]), True), (([], ["b"]), False), ((["a"], []), False)])
def test_a_stage_that_lost_is_told_beside_one_that_gained(moved, told):
    reason = stage_worse(SimpleNamespace(stages_moved=moved))
    assert (reason is not None) == told
    assert not told or reason.what == "a -5%, b +5%"


def devices(*kernel_ns):
    """One op per device."""
    ops = SimpleNamespace(
        numbers={"kernel_ns": np.array(kernel_ns, dtype=float)}.__getitem__,
        by_device=lambda values: dict(enumerate(values.tolist())),
    )
    return SimpleNamespace(scope=SimpleNamespace(ops=ops))


@for_all(
    ("before", "after", "change", "told"),
    [
        ((100, 100), (80, 103), -0.2, "1 of 2 devices became slower: device 1 +3.0%"),
        ((100, 100), (80, 101), -0.2, None),
        ((100, 100), (80, 103), -0.02, None),  # nothing is gained
        (
            (100, 100, 100, 100),
            (80, 105, 110, 120),
            -0.2,
            "3 of 4 devices became slower: device 3 +20.0%, device 2 +10.0%",
        ),
        ((100, 100), (80,), -0.2, None),
        ((100, 0), (80, 50), -0.2, None),
    ],
)
def test_a_device_that_became_slower_is_told_the_worst_two_first(before, after, change, told):
    found = SimpleNamespace(
        before=devices(*before),
        after=devices(*after),
        change_share=change,
        clock_ratio=1.0,
        noise=Noise(0.02, "default", ""),
    )
    reason = device_worse(found)
    assert (reason and reason.what) == told


def program(**change):
    """Two heavy ops of another kind each, a conversion between them, and whatever the change adds."""
    made, shape = Program(), [1, 1, 256, 256]
    x = made.tensor(shape)
    y = made.op("SoftmaxDeviceOperation", [x], kernel_ns=change.get("softmax_ns", 100_000))
    for name in change.get("between", ()):
        y = made.op(f"{name}DeviceOperation", [y], kernel_ns=10_000)
    for _ in range(change.get("relus", 0)):
        y = made.op("UnaryDeviceOperation", [y], kernel_ns=10_000)
    w = made.weight([1, 1, 256, 256], change.get("weights", "BFLOAT16"))
    config = f"MatmulProgramConfig(in0_block_w={change.get('block', 2)};per_core_M=4)"
    z = made.op(
        "MatmulDeviceOperation",
        [y, w],
        kernel_ns=change.get("matmul_ns", 100_000),
        fidelity="HiFi4",
        placement=change.get("placement", x.placement),
        attributes={"program_config": config},
    )
    z = made.op("LayerNormDeviceOperation", [z], kernel_ns=50_000, cores=change.get("cores", 64))
    if not change.get("headless"):
        made.op("EmbeddingsDeviceOperation", [z], kernel_ns=change.get("head_ns", 100_000))
    return made


BFP8 = {"weights": "BFLOAT8_B"}


@for_all(
    ("change", "told"),
    [
        ({**BFP8, "matmul_ns": 60_000}, False),
        ({**BFP8, "softmax_ns": 60_000}, True),
        ({"softmax_ns": 60_000}, False),  # nothing changed that the report shows
        ({"between": ["Reshape"], "softmax_ns": 60_000}, True),  # an op was inserted, and gained nothing
        ({**BFP8, "softmax_ns": 98_000}, False),  # nothing is gained
        ({**BFP8, "softmax_ns": 60_000, "matmul_ns": 90_000}, False),
    ],
)
def test_a_gain_where_nothing_changed_is_told(compare, change, told):
    assert (gain_elsewhere(compare(program(), program(**change))) is not None) == told


@for_all(("other", "told"), [({}, True), ({"ratio": 2.0}, False), ({"little": True}, False)])
def test_another_batch_or_model_tells_nothing_of_where_a_gain_is(compare, other, told):
    whole = compare(program(), program(**BFP8, softmax_ns=60_000))
    found = SimpleNamespace(
        noise=whole.noise,
        total=whole.total,
        times=whole.times,
        alignment=whole.alignment,
        aspects=whole.aspects,
        change_share=whole.change_share,
        work=SimpleNamespace(ratio=other.get("ratio", 1.0)),
        little_in_common=other.get("little", False),
    )
    assert (gain_elsewhere(found) is not None) == told


@for_all(
    ("before", "after", "told"),
    [
        ({}, BFP8, None),
        ({}, {**BFP8, "placement": L1}, "formats and placement changed"),
        ({}, {**BFP8, "block": 8}, None),  # settings follow from formats
        ({}, {**BFP8, "cores": 32}, None),
        ({}, {**BFP8, "relus": 1}, "formats and the ops themselves changed"),
        ({"relus": 1}, BFP8, "formats and the ops themselves changed"),
        ({}, {**BFP8, "between": ["Reshape", "Tilize", "Reshard"]}, None),  # conversions come with formats
        ({}, {**BFP8, "headless": True}, None),  # work that is missing is told by itself
        ({}, {**BFP8, "headless": True, "relus": 1}, "formats and the ops themselves changed"),
    ],
)
def test_two_kinds_of_change_are_told(compare, before, after, told):
    found = compare(program(**before), program(**after))
    reason = several_changes(found)
    assert reason is None if told is None else reason.what.startswith(told)


@for_all(("head_ns", "told"), [(100_000, True), (9_000_000, False)])
def test_a_change_of_ops_that_could_hold_no_gain_is_none(compare, head_ns, told):
    """The matmul whose formats and placement changed is a fifth of the window, or 1 %."""
    after = program(**BFP8, placement=L1, head_ns=head_ns)
    assert (several_changes(compare(program(head_ns=head_ns), after)) is not None) == told


def test_of_another_batch_no_number_of_changes_is_told(compare):
    found = compare(program(), program(**BFP8, placement=L1))
    other = SimpleNamespace(
        aligns=False,
        noise=replace(found.noise),
        total=found.total,
        times=found.times,
        alignment=found.alignment,
        changes=found.changes,
        names=found.names,
    )
    assert several_changes(other) is None
