"""The result of a replay: what it knows, and why it may be a floor."""

from collections import Counter
from types import SimpleNamespace

import numpy as np

from tests.analyses.memory.small_tables import links, memory, numbers, operations, spans, tensor, tensors
from tests.for_all import for_all
from ttnn_mcp.analyses.memory.replay_records import Differences
from ttnn_mcp.analyses.memory.replayed import DeviceReplay, Replayed

YES, NO = True, False


def replayed(
    captured=(YES, YES, YES), launched=(YES, YES, YES), *, capacity=100, silent=(), unplaced=False, **more
):
    parts = {"l1": (5, 9, 9), "tensors": (4, 6, 7), "unsized": 0, "never_ended": (), **more}
    report = memory(
        operations=operations("ttnn.a", "ttnn.b", "ttnn.c", ids=(10, 20, 30), never_ended=parts["never_ended"]),
        tensors=tensors(tensor(1)),
        outputs=links((10, 1)),
        inputs=links((20, 1)),
    )
    columns = {
        name: numbers(*parts["l1"])
        for name in ("circular", "small", "dram", "recorded", "filled_by", "by_model", "floor")
    }
    device = DeviceReplay(
        device=None, l1=numbers(*parts["l1"]), tensors=numbers(*parts["tensors"]), followed=True, **columns,
        spans=spans((4096, 16, 1, None)), differences=Differences(unsized=parts["unsized"]),
    )  # fmt: skip
    return Replayed(
        operations=report.operations.ids, devices=(device,), captured=np.array(captured), launched=np.array(launched),
        capacity_bytes=capacity, small_capacity_bytes=None, broken=0, troubles={}, sources={}, banks={},
        programs=SimpleNamespace(unknown=Counter(silent)), unplaced=unplaced, without_snapshots=False, memory=report,
    )  # fmt: skip


def test_the_peak_is_the_first_of_the_fullest():
    assert replayed().fullest.peak == 1
    assert replayed(l1=()).fullest.peak == 0


def test_an_operation_has_a_place_or_none():
    assert [replayed().place(operation) for operation in (10, 30, 15, 99)] == [0, 2, None, None]


@for_all(
    ("because", "parts"),
    [
        (None, {}),
        ("no_graphs", {"captured": (NO, NO, NO)}),
        ("no_graphs", {"captured": (NO, NO, NO), "launched": (NO, NO, NO)}),
        ("some_graphs", {"captured": (YES, NO, YES)}),
        (None, {"captured": (YES, NO, YES), "launched": (YES, NO, YES)}),
        ("unsized", {"unsized": 1, "unplaced": True}),
        ("unplaced", {"unplaced": True, "silent": ("Matmul",)}),
        ("silent_programs", {"silent": ("Matmul",)}),
    ],
)
def test_a_floor_says_why(because, parts):
    assert replayed(**parts).floor_because == because


def test_tensors_wait_only_for_what_ran_to_its_end_on_the_device():
    late = replayed().lifetimes
    assert (late.producers.tolist(), late.last_uses.tolist()) == ([0], [1])
    assert late.launched.tolist() == [YES, YES, YES]
    assert replayed(launched=(YES, NO, YES)).lifetimes.launched.tolist() == [YES, NO, YES]
    assert replayed(never_ended=(2,)).lifetimes.launched.tolist() == [YES, YES, NO]
