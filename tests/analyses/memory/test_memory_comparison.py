"""Memory before and after a change, from two replays."""

import asyncio
import json
from types import SimpleNamespace

import pytest

from tests.analyses.memory.small_tables import REAL, error, numbers, operations, real
from tests.analyses.memory.small_tables import memory as report
from tests.for_all import for_all
from ttnn_mcp.analyses.memory import memory_comparison
from ttnn_mcp.analyses.memory.memory_comparison import Figure, MemoryDelta, memory_delta
from ttnn_mcp.errors import ReportBroken
from ttnn_mcp.session.opening import read_run


def run(
    name,
    l1=(5, 9, 7),
    *,
    capacity=100,
    floor=None,
    memory=True,
    by_model=False,
    without_snapshots=False,
    died=None,
    dram_elsewhere=0,
):
    """A run whose replay is `l1`, a third of it circular buffers; `died`: the id of the error of its second operation."""
    level, none = numbers(*l1), numbers(*[0] * len(l1))
    fullest = SimpleNamespace(
        l1=level,
        tensors=level - level // 3,
        circular=level // 3,
        dram=none + 40,
        by_model=[by_model] * len(l1),
        peak=int(level.argmax()) if l1 else 0,
    )
    replayed = SimpleNamespace(
        fullest=fullest,
        devices=(fullest, SimpleNamespace(dram=none + dram_elsewhere)),
        capacity_bytes=capacity,
        floor_because=floor,
        operations=none,
        without_snapshots=without_snapshots,
        memory=report(
            operations=operations("ttnn.a", "ttnn.b", never_ended=(1,) if died == 2 else ()),
            errors=(error(died, "ttnn.c", "it crashed"),) if died == 0 else (),
        ),
    )
    return SimpleNamespace(id=name, memory=object() if memory else None, replayed=replayed)


@pytest.fixture(autouse=True)
def _replays(monkeypatch, request):
    async def replay_of(asked):
        if isinstance(asked.replayed, Exception):
            raise asked.replayed
        return asked.replayed

    if "real" not in request.node.name:
        monkeypatch.setattr(memory_comparison, "replay_of", replay_of)


def told(before, after):
    delta = asyncio.run(memory_delta(before, after))
    return {figure.name: (figure.before, figure.after, figure.delta) for figure in delta.figures}, delta.caveats


def test_the_figures_are_those_of_the_fullest_operations():
    assert told(run("a"), run("b", (30, 12))) == (
        {
            "l1_peak": (9, 30, 21),
            "l1_headroom": (91, 70, -21),
            "l1_live_tensors": (6, 20, 14),
            "l1_circular_buffers": (3, 10, 7),
            "dram_peak": (40, 40, 0),
        },
        (),
    )


def test_the_dram_peak_is_that_of_the_device_with_most():
    assert told(run("a"), run("b", dram_elsewhere=50))[0]["dram_peak"] == (40, 50, 10)


def test_an_unknown_capacity_leaves_the_headroom_open():
    assert told(run("a", capacity=None), run("b"))[0]["l1_headroom"] == (None, 91, None)
    assert told(run("a"), run("b", capacity=None))[0]["l1_headroom"] == (91, None, None)
    assert Figure("x", None, None).delta is None


def test_floors_are_told():
    caveats = told(run("a"), run("b", floor="no_graphs"))[1]
    assert caveats == ("candidate: L1 figures are floors, not all circular buffers are known",)
    assert len(told(run("a", floor="unsized"), run("b", floor="no_graphs"))[1]) == 2


def test_a_report_without_snapshots_proves_no_gain():
    caveats = told(run("a", without_snapshots=True), run("b"))[1]
    assert caveats == ("baseline: without a buffers table nobody knows what Python dropped",)


def test_a_run_that_died_proves_no_gain():
    (caveat,) = told(run("a"), run("b", died=2))[1]
    assert caveat == (
        "candidate: the run died in operation 2 ttnn.b, and what it would have taken later is not known"
    )
    unlisted, floor = told(run("a", died=0, floor="no_graphs"), run("b"))[1]
    assert unlisted.startswith("baseline: the run died in ttnn.c, and what")
    assert floor.startswith("baseline: L1 figures are floors")


def test_a_peak_by_a_model_is_told_because_it_proves_no_gain():
    caveats = told(run("a"), run("b", by_model=True))[1]
    assert caveats == ("candidate: its L1 peak holds circular buffers by a model, the report leaves them out",)


@for_all(
    ("before", "after"),
    [(run("a"), run("a")), (run("a", memory=False), run("b", memory=False)), (run("a", memory=False),) * 2],
)
def test_one_run_or_two_without_reports_compare_nothing(before, after):
    assert asyncio.run(memory_delta(before, after)) is None


@for_all(
    ("before", "after", "why"),
    [
        (run("a", memory=False), run("b"), "the baseline has no memory report"),
        (run("a"), run("b", memory=False), "the candidate has no memory report"),
        (run("a"), run("b", ()), "the candidate's memory report holds no operations"),
        (run("a", ()), run("b"), "the baseline's memory report holds no operations"),
    ],
)
def test_what_cannot_be_compared_says_why(before, after, why):
    assert asyncio.run(memory_delta(before, after)) == MemoryDelta((), (f"memory not compared: {why}",))


def test_a_broken_report_is_told_in_its_own_words():
    broken = run("a")
    broken.replayed = ReportBroken("cut off")
    assert told(broken, run("b")) == ({}, ("memory not compared: cut off",))


def test_real_reports_differ_by_what_their_truth_says():
    """Real: `views` and `late_frees`, against TTNN's own allocations as the truth beside them has them."""
    names = ("views", "late_frees")
    folders = [real(name) for name in names]
    truth = [json.loads((REAL.parent / "truth" / f"{name}.json").read_text()) for name in names]

    before, after = (
        asyncio.run(read_run(folder.name, folder.name, None, folder / "db.sqlite")) for folder in folders
    )
    delta = asyncio.run(memory_delta(before, after))
    figures = {figure.name: (figure.before, figure.after) for figure in delta.figures}
    peaks = [one["l1_peak"]["bytes_per_bank"] for one in truth]
    assert figures["l1_peak"] == tuple(peaks)
    assert figures["dram_peak"] == tuple(one["dram_peak_bytes_per_bank"] for one in truth)
