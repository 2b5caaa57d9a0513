"""Meshes whose slowest device is another one in each run."""

import csv
import random
from dataclasses import dataclass
from types import SimpleNamespace

import numpy as np

from tests import lies
from tests.analyses.comparison.test_comparison import opened
from tests.for_all import for_all
from tests.pairs import Model, write
from tests.shared_reports import DEEPSEEK, shared
from ttnn_mcp.analyses.comparison.comparability import judgement_of
from ttnn_mcp.analyses.comparison.comparison import Comparison, on_one_device
from ttnn_mcp.analyses.comparison.engagement import engaged_of
from ttnn_mcp.analyses.comparison.matching_windows import like_windows, measured
from ttnn_mcp.experiments.runs_seen import seen


def mesh(folder, first=1.0, second=1.0, only=""):
    """Two devices, the second one on fewer cores, with these times; or one of them."""
    path = folder / "ops.csv"
    with open(write(folder / "made", Model(devices=2)), newline="") as file:  # noqa: PTH123 - a text
        rows = [row for row in csv.DictReader(file) if only in ("", row["DEVICE ID"])]
    for row in rows:
        here = row["DEVICE ID"] == "0"
        lies.scale(row, first if here else second)
        row["CORE COUNT"] = row["CORE COUNT"] if here else "7"
    return opened(lies.store(path, rows))


def compared(tmp_path, before, after):
    sides = mesh(tmp_path / "before", *before), mesh(tmp_path / "after", *after)
    return Comparison(*like_windows(*sides))


@for_all(("before", "after"), [((1.001, 1.0), (1.0, 1.004)), ((1.0, 1.03), (1.0, 0.998))])
def test_ops_are_those_of_one_device_where_two_are_as_slow(tmp_path, before, after):
    found = compared(tmp_path, before, after)
    assert found.before.scope.critical_device == found.after.scope.critical_device
    assert not engaged_of(found)
    assert not [caveat for caveat in judgement_of(found).caveats if "slowest device" in caveat]


@dataclass(frozen=True)
class Devices:
    """Two devices with these times, of which one leads."""

    times: tuple[float, float]
    lead: int | None = None

    @property
    def critical_device(self):
        return self.times.index(max(self.times)) if self.lead is None else self.lead

    def of_device(self, device):
        return SimpleNamespace(numbers=lambda _: np.array([self.times[device]]))


@dataclass(frozen=True)
class Side:
    scope: Devices

    @property
    def kernel_ns(self):
        return max(self.scope.times)


@for_all(("after", "led"), [((995, 1_000), 0), ((994.5, 1_000), 1), ((1_000, 995.5), 0)])
def test_half_a_percent_is_the_line(after, led):
    """FLOOR_SHARE, the least noise of two runs."""
    _, second = on_one_device(Side(Devices((1_000, 900))), Side(Devices(after)))
    assert second.scope.critical_device == led


def test_the_slower_side_may_give_the_device(tmp_path):
    """Device 0 is far from the slowest after the change, device 1 was as slow before it."""
    found = compared(tmp_path, (1.002, 1.0), (0.8, 0.9))
    assert (found.before.scope.critical_device, found.after.scope.critical_device) == (1, 1)
    assert not engaged_of(found)


def test_a_device_that_is_faster_by_more_does_not_stand_for_the_mesh(tmp_path):
    found = compared(tmp_path, (1.01, 1.0), (1.0, 1.01))
    assert (found.before.scope.critical_device, found.after.scope.critical_device) == (0, 1)
    alone = "device 0 alone -1.0%, device 1 alone +1.0%"
    assert (
        f"slowest device 0 -> 1 ({alone}): their ops may differ without any change" in judgement_of(found).caveats
    )


def test_nothing_became_of_a_device_that_the_other_run_lacks(tmp_path):
    runs = mesh(tmp_path / "before", 1.0, 0.5), mesh(tmp_path / "after", only="1")
    caveats = judgement_of(Comparison(*like_windows(*runs))).caveats
    (told,) = (caveat for caveat in caveats if caveat.startswith("slowest device"))
    assert told == "slowest device 0 -> 1 (device 1 alone +100.0%): their ops may differ without any change"
    runs = mesh(tmp_path / "first", only="0"), mesh(tmp_path / "second", only="1")
    caveats = judgement_of(Comparison(*like_windows(*runs))).caveats
    assert "slowest device 0 -> 1: their ops may differ without any change" in caveats


def test_no_op_is_named_for_a_change_where_another_device_became_the_slowest(tmp_path):
    """Its ops took longer, and less than those of the one that was the slowest."""
    same, other = (
        compared(tmp_path / str(number), (1.0, 0.5), after) for number, after in enumerate([(1.2, 0.5), (1.0, 1.5)])
    )
    assert "; most by" in judgement_of(same).why
    assert "; most by" not in judgement_of(other).why


def test_a_repeat_may_have_another_slowest_device(tmp_path):
    runs = [mesh(tmp_path / str(number), *sides) for number, sides in enumerate([(1.001, 1.0), (1.0, 1.001)])]
    before, repeat = (measured(run) for run in runs)
    assert Comparison(before, before, [repeat]).noise.source == "repeats"


def test_the_program_of_a_real_mesh_is_the_same_whichever_device_is_slowest(tmp_path):
    honest = lies.Honest(shared(DEEPSEEK), 1, "", ())
    devices, programs = set(), set()
    for seed in range(2):
        rows, jitter = honest.rows, random.Random(seed)  # noqa: S311
        for row in rows:
            lies.scale(row, jitter.gauss(1, 0.002))
        run = opened(lies.store(tmp_path / f"{seed}.csv", rows))
        devices.add(run.scope().critical_device)
        programs.add(seen(run, run.scope()).program)
    assert (len(devices), len(programs)) == (2, 1)
