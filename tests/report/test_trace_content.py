"""What a trace holds, read back by Perfetto's field numbers: its tracks, and every slice and count on them."""

from types import SimpleNamespace

import pytest

from tests.for_all import for_all
from tests.report.decoding import Trace
from ttnn_mcp.errors import QuestionRefused
from ttnn_mcp.report.trace import trace

COLUMNS = ("op", "op_code", "device", "kernel_us", "gap_us", "bound", "cores")
FINDINGS = "findings (on the ops they cite)"


def op(line, *, name="Matmul", device=0, us=10.0, gap=0.0, bound="dram", cores=64):
    return [line, name, device, us, gap, bound, cores]


def finding(*lines, check="matmul", **how):
    evidence = [{"source": "r.csv", "row": line} for line in lines]
    return {"check": check, "evidence": evidence, "saving_us": {"at_least": 0.5, "at_most": 7}, "claim": "c", **how}


def told(*ops, stages=None, findings=None, rooflines=None):
    """The trace of these ops, read back."""
    answers = SimpleNamespace(
        ops={"ops": {"columns": [*COLUMNS], "rows": [*ops]}},
        rooflines=rooflines,
        stage_of_op=stages or [None] * len(ops),
        check={"findings": findings} if findings is not None else None,
    )
    if rooflines is None:
        answers.rooflines = {"columns": ["efficiency"], "rows": [[0.5] for _ in ops]}
    return Trace(trace(answers))


@for_all("ops", [None, {"ops": {"columns": [], "rows": []}}])
def test_a_run_without_times_is_refused(ops):
    with pytest.raises(QuestionRefused, match="Take --html"):
        trace(SimpleNamespace(ops=ops))


def test_each_device_is_a_process_with_its_tracks_in_order():
    shown = told(op(7), op(8), op(7, device=3), stages=["mlp", "mlp", None], findings=[finding(7), finding(8)])
    assert [*shown.groups.values()] == [("device 0", 1, 3), ("device 3", 4, 3), (FINDINGS, 1_000_000, 3)]
    tracks = {(group, name): (rank, counts) for group, name, rank, counts in shown.tracks.values()}
    assert tracks == {
        ("device 0", "stages"): (0, False),
        ("device 0", "ops"): (1, False),
        ("device 0", "gaps"): (2, False),
        ("device 0", "cores"): (3, True),
        ("device 3", "ops"): (1, False),
        ("device 3", "gaps"): (2, False),
        ("device 3", "cores"): (3, True),
        (FINDINGS, "1. matmul"): (1, False),
        (FINDINGS, "2. matmul"): (2, False),
    }


def test_an_op_is_a_slice_whose_notes_keep_their_types():
    shown = told(op(7, us=2.5, cores=None), op(8, bound=None, gap=0.5))
    first, second = shown.slices["ops"]
    assert first == (
        "Matmul",
        0,
        2500,
        "dram",
        {"efficiency": 0.5, "device": 0, "kernel_us": 2.5, "gap_us": 0.0, "bound": "dram", "line": 7},
    )
    assert (second[1:4], second[4]["cores"]) == ((3000, 13_000, "op"), 64)
    assert type(second[4]["cores"]) is int
    assert type(first[4]["kernel_us"]) is float


@for_all(("value", "kind"), [(True, bool), (3, int), (-3, int), (0.25, float), ("why", str)])
def test_a_note_keeps_its_type(value, kind):
    shown = told(op(7), findings=[finding(7, caveat=value)])
    ((_, _, _, _, notes),) = shown.slices["1. matmul"]
    if kind is int and value < 0:
        value += 1 << 64  # as its complement, which the reader of a signed field turns back
    assert (notes["caveat"], type(notes["caveat"])) == (value, kind)
    assert "fix" not in notes


def test_ops_side_by_side_take_tracks_of_their_own():
    shown = told(op(7), op(8, gap=-4.0), op(9, gap=-8.0), op(10, gap=6.0))
    assert {name: [(start, end) for _, start, end, _, _ in slices] for name, slices in shown.slices.items()} == {
        "ops": [(0, 10_000), (24_000, 34_000)],
        "ops side by side 1": [(6_000, 16_000)],
        "ops side by side 2": [(8_000, 18_000)],
        "gaps": [(18_000, 24_000)],
    }


def test_a_gap_tells_the_op_that_it_is_before_and_no_cores_work_in_it():
    shown = told(op(7, cores=8), op(8, gap=2.0, cores=None), op(9, cores=64))
    assert shown.slices["gaps"] == [("gap", 10_000, 12_000, "gap", {"before_line": 8})]
    assert shown.counts["cores"] == [(0, 8), (10_000, 0), (22_000, 64), (32_000, 0)]


def test_a_stage_reaches_over_the_ops_that_follow_each_other_in_it():
    ops = [op(line, gap=1.0) for line in range(7, 14)]
    shown = told(*ops, stages=["mlp", "mlp", "attention", None, "attention", "mlp", "mlp"])
    assert [each[:4] for each in shown.slices["stages"]] == [
        ("mlp", 0, 21_000, "stage"),
        ("attention", 22_000, 32_000, "stage"),
        ("attention", 44_000, 54_000, "stage"),
        ("mlp", 55_000, 76_000, "stage"),
    ]


def test_a_stage_of_ops_side_by_side_ends_with_the_last_of_them():
    shown = told(op(7, us=50.0), op(8, gap=-45.0), stages=["mlp", "mlp"])
    assert [each[:3] for each in shown.slices["stages"]] == [("mlp", 0, 50_000)]


def test_a_finding_lies_on_the_ops_that_it_cites_once_each():
    """The 5 is a line of the memory report; a finding that cites no op has no track."""
    shown = told(op(7), op(8), op(9), findings=[finding(9, 7, 5, 9, fix="f"), finding(5), finding("model.py")])
    assert [
        (name, start, end, category, notes["line"])
        for name, start, end, category, notes in shown.slices["1. matmul"]
    ] == [
        ("matmul", 0, 10_000, "finding", 7),
        ("matmul", 20_000, 30_000, "finding", 9),
    ]
    notes = shown.slices["1. matmul"][0][4]
    assert notes == {"line": 7, "saving_us_at_least": 0.5, "saving_us_at_most": 7, "claim": "c", "fix": "f"}
    assert [name for _, name, *_ in shown.tracks.values() if name[1] == "."] == ["1. matmul"]


def test_of_cited_ops_that_run_at_once_on_two_devices_the_first_stands_for_both():
    shown = told(op(7), op(8), op(107, device=1), op(108, device=1), findings=[finding(7, 107, 8)])
    assert [notes["line"] for *_, notes in shown.slices["1. matmul"]] == [7, 8]


def test_without_findings_there_is_no_group_of_them():
    assert [name for name, *_ in told(op(7)).groups.values()] == ["device 0"]
