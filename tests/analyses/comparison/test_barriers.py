"""What forbids a comparison, each line with a pair."""

from types import SimpleNamespace

import numpy as np

from tests.for_all import for_all
from ttnn_mcp.analyses.comparison.batches import Work
from ttnn_mcp.analyses.comparison.comparability import (
    batch_barrier,
    hardware_barriers,
    window_barriers,
    window_name,
    work_barriers,
)
from ttnn_mcp.analyses.comparison.grouping import Delta


def on(arch="wormhole_b0", cores=64, devices=1):
    ops = SimpleNamespace(numbers=lambda _: np.arange(2 * devices) % devices)
    return SimpleNamespace(
        run=SimpleNamespace(chip=SimpleNamespace(arch=arch, worker_cores=cores)), scope=SimpleNamespace(ops=ops)
    )


@for_all(
    ("before", "after", "said"),
    [
        (on(), on(), []),
        (on(), on("blackhole"), ["architecture wormhole_b0 -> blackhole"]),
        (on(), on(None), []),
        (on(None), on(), []),
        (on(), on(cores=56), ["compute grid 64 -> 56 cores"]),
        (on(), on(cores=None), []),
        (on(cores=None), on(), []),
        (on(), on(devices=2), ["devices 1 -> 2: compare samples per second instead"]),
    ],
)
def test_other_hardware_is_told_where_both_reports_name_theirs(before, after, said):
    assert hardware_barriers(SimpleNamespace(before=before, after=after)) == said


def window(kind="iteration", of=3, iteration=None, *, warm=True):
    return SimpleNamespace(kind=kind, of_iterations=of, iteration=iteration, warm=warm)


def windows(before, after, *, counts=(100, 100), alike=100, same_arithmetic=False):
    return SimpleNamespace(
        before=SimpleNamespace(scope=SimpleNamespace(window=before)),
        after=SimpleNamespace(scope=SimpleNamespace(window=after)),
        mixed_windows=before.kind != after.kind,
        same_arithmetic=same_arithmetic,
        total=Delta("total", 1, 1, *counts),
        alignment=SimpleNamespace(same_shape=np.arange(max(counts)) < alike),
    )


WHOLE = window("whole_report", None)


@for_all(
    ("pair", "said"),
    [
        (windows(window(), window()), ""),
        (windows(window(), WHOLE), "windows differ"),
        (windows(window(), WHOLE, same_arithmetic=True), ""),
        (windows(WHOLE, window(), same_arithmetic=True), ""),
        (windows(window("whole_report", 3), window("whole_report", 2)), "the windows hold 3 and 2 iterations"),
        (windows(window("whole_report", 3), window("whole_report", 3)), ""),
        (windows(window(of=3), window(of=2)), ""),  # iterations of files that hold more or fewer of them
        (windows(window(of=3), window(of=12), counts=(100, 180), alike=90), "one is part of the other"),
        (windows(window(of=3), window(of=12), counts=(180, 100), alike=90), "one is part of the other"),
        (windows(window(of=3), window(of=12), counts=(100, 179), alike=90), ""),
        (windows(window(of=3), window(of=12), counts=(100, 180), alike=89), ""),
        (windows(window(of=3), window(of=3), counts=(100, 180), alike=90), ""),
        (windows(window(of=None), window(of=1), counts=(100, 180), alike=90), ""),
    ],
)
def test_windows_that_hold_other_passes_are_told(pair, said):
    told = window_barriers(pair)
    assert [said in told[0]] == [True] if said else told == []


def test_a_window_is_named_by_its_kind_and_warmth():
    assert window_name(window(iteration=3)) == "warm iteration 3 of 3"
    assert window_name(window("whole_report", None, warm=False)) == "cold whole report"


def work(*, ns=(5, 5), complete=True, names=(("A", "B"), ("B", "C")), batch=None, ratio=1.0, differs=False):
    return SimpleNamespace(
        total=Delta("total", *ns, 2, 2),
        alignment=SimpleNamespace(complete=complete),
        names=lambda side: [*names[side]],
        work=Work(ratio, batch, differs, 0.75),
    )


APART = (("A", "B"), ("C", "D"))


@for_all(
    ("compared", "said"),
    [
        (work(), ""),
        (work(ns=(0, 5)), "no kernel time on one side"),
        (work(ns=(5, 0)), "no kernel time on one side"),
        (work(names=APART), "different models"),
        (work(names=APART, complete=False), ""),  # what was not aligned tells nothing of its work
        (work(batch=(1, 8), ratio=8.0), "batch 1 -> 8"),
        (work(ratio=2.0), "tensors are 2x the size throughout"),
        (work(differs=True), "shapes differ on 75% of the ops"),
    ],
)
def test_other_work_is_told(compared, said):
    told = work_barriers(compared)
    assert [said in told[0]] == [True] if said else told == []


def test_the_batch_alone_is_a_barrier_by_itself():
    assert batch_barrier(work(batch=(1, 8))) == "batch 1 -> 8"
    assert batch_barrier(work()) is None
