"""What `record` writes down, and what it says to do next."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest

from tests.asking import call, session
from tests.experiments.writer import experiment
from tests.for_all import for_all
from tests.pairs import Model, write
from tests.tools.parts.test_loop_story import finding
from ttnn_mcp.checks import CATALOGUE
from ttnn_mcp.errors import ArgumentsInvalid, QuestionRefused
from ttnn_mcp.experiments.outlook import Outlook
from ttnn_mcp.experiments.rules import Walls
from ttnn_mcp.experiments.store import Store
from ttnn_mcp.tools.experiments import TOOL
from ttnn_mcp.tools.parts import loop_actions
from ttnn_mcp.tools.parts.loop_actions import _attempt, finding_of, record, set_target, tried
from ttnn_mcp.tools.parts.loop_answer import Arguments
from ttnn_mcp.wire import Saving

KNOWN, OTHER = (check.id for check in CATALOGUE[:2])
BASE = Model()


@pytest.fixture
def at(tmp_path):
    return session(tmp_path)


@pytest.fixture
def recorded(at, tmp_path):
    """Record the change from the usual model to another one."""
    before = str(write(tmp_path / "before", BASE))

    async def of(target=None, **change):
        after = str(write(tmp_path / "after", replace(BASE, **change)))
        if target:
            await set_target(at, Arguments(baseline=before), target)
        asked = Arguments(action="record", change="one thing", baseline=before, candidate=after, pcc=0.9999)
        return await record(at, asked)

    return of


async def test_the_two_changes_with_most_behind_them_are_told(recorded):
    answer = await recorded(weights="BFLOAT8_B", fused_relu=True, split_softmax=True, reshape=False, up_ns=60_000)
    assert len(answer.engaged.rows) == 2


@for_all(
    ("target", "up_ns", "tools"),
    [
        (None, 60_000, [("experiments", "next")]),
        ("0.1 ms", 60_000, [("experiments", "next")]),
        ("500 ms", 60_000, []),
        (None, 90_000, [("compare_runs", None)]),
    ],
    ids=["no target", "not met", "met", "no change to see"],
)
async def test_what_comes_next_hangs_on_the_verdict_and_the_target(recorded, target, up_ns, tools):
    answer = await recorded(target, up_ns=up_ns, seed=1, jitter=0.001)
    assert [(call.tool, call.arguments.get("action")) for call in answer.next] == tools


async def test_without_a_baseline_the_best_so_far_is_taken_and_there_must_be_one(at, recorded, tmp_path):
    third = str(write(tmp_path / "third", replace(BASE, up_ns=50_000)))
    with pytest.raises(QuestionRefused, match="Nothing is recorded yet: give `baseline`"):
        await record(at, Arguments(action="record", change="one", candidate=third))
    first = await recorded(up_ns=60_000)
    answer = await record(at, Arguments(action="record", change="two", candidate=third, pcc=0.9999))
    assert answer.experiment.baseline == first.experiment.candidate


async def test_a_run_on_record_that_was_overwritten_is_refused_by_its_id(at, recorded, tmp_path, monkeypatch):
    """`aaaaaaaa` is on record, and by now what the folder of another run is called."""
    await Store(at.settings.state_folder).add(experiment("one"))
    path = str(write(tmp_path / "aaaaaaaa", BASE))
    monkeypatch.chdir(tmp_path)
    with pytest.raises(QuestionRefused, match="Run aaaaaaaa no longer exists: its report was overwritten"):
        await record(at, Arguments(action="record", change="two", baseline="aaaaaaaa", candidate=path))
    answer = await recorded(up_ns=60_000)
    of_best = {"baseline": answer.experiment.candidate, "candidate": "aaaaaaaa"}
    with pytest.raises(QuestionRefused, match="Run aaaaaaaa no longer exists: its report was overwritten"):
        await record(at, Arguments(action="record", change="two", **of_best))
    times = answer.experiment.kernel_ms
    assert times.after / times.before - 1 == pytest.approx(answer.experiment.change_share, abs=1e-3)
    assert 0.1 < times.after < 100
    asked = Arguments(
        action="record", change="two", baseline=path, candidate=answer.experiment.candidate, pcc=0.9999
    )
    assert (await record(at, asked)).experiment.candidate == answer.experiment.candidate


@for_all(
    ("walls", "told"),
    [
        ((3.0, 2.0), Walls(3.0, 2.0, profiled=False, blocks=((3.0,), (2.0,)))),
        (([3.0, 5.0], 2.0), Walls(4.0, 2.0, profiled=False, blocks=((3.0, 5.0), (2.0,)))),
        ((3.0, None), None),
        ((None, 2.0), None),
        ((None, None), None),
    ],
)
def test_wall_times_come_in_pairs(walls, told):
    before, after = walls
    assert _attempt(Arguments(wall_before_ms=before, wall_after_ms=after)).walls == told


def curve(folder, name, *pccs, first=None):
    layers = [{"layer": number, "alone": 1.0, "accumulated": pcc} for number, pcc in enumerate(pccs, 1)]
    told = {"format": "ttnn-mcp accuracy", "version": 1, "layers": layers, "first_drifting_layer": first}
    (folder / name).write_text(json.dumps(told))
    return str(folder / name)


async def test_pcc_per_layer_is_stored_and_compared_with_the_last_that_was(tmp_path):
    at = session(tmp_path)
    runs = [
        str(write(tmp_path / name, replace(Model(), up_ns=up)))
        for name, up in (("a", 90_000), ("b", 80_000), ("c", 70_000))
    ]

    async def recorded(before, after, **asked):
        told = await call(
            TOOL, at, {"action": "record", "change": "x", "baseline": before, "candidate": after, **asked}
        )
        one = told["experiment"]
        return one.get("drifts_at_layer"), one.get("layer_falls_most")

    assert await recorded(runs[0], runs[1], accuracy=curve(tmp_path, "1.json", 0.999, 0.998, 0.997)) == (None, None)
    assert await recorded(runs[1], runs[2]) == (None, None)
    second = curve(tmp_path, "2.json", 0.999, 0.98, 0.9795, 0.5, first=2)
    assert await recorded(runs[0], runs[2], accuracy=second) == (2, 2)
    better = curve(tmp_path, "3.json", 0.9995, 0.99)
    assert await recorded(runs[2], runs[1], accuracy=better) == (None, None)
    known, _targets = await Store(tmp_path / "state").all()
    assert [len(one.layer_pccs) for one in known] == [3, 0, 4, 2]
    other = str(write(tmp_path / "other", Model(layers=3)))  # a loop of another model
    assert await recorded(other, other, accuracy=curve(tmp_path, "4.json", 0.9, 0.8)) == (None, None)
    assert (known[2].drifts_at, known[2].layer_pccs[1]) == (2, (2, 0.98))


@for_all(
    ("said", "check"),
    [
        ({"finding": KNOWN, "change": f"as {OTHER} says"}, KNOWN),
        ({"change": f"as {OTHER} says"}, OTHER),
        ({"hypothesis": f"{KNOWN} is right"}, KNOWN),
        ({"change": f"{KNOWN} and {OTHER}"}, None),
        ({}, None),
    ],
)
def test_the_finding_is_the_one_that_was_given_or_that_the_texts_name(said, check):
    assert finding_of(Arguments(**said)) == check


@pytest.mark.parametrize(
    ("said", "hint"), [(KNOWN[:-1], f"Did you mean '{KNOWN}'?"), ("zzz", "Take it from a finding's `check`")]
)
def test_a_finding_that_is_none_is_refused_with_the_nearest(said, hint):
    with pytest.raises(ArgumentsInvalid) as refused:
        finding_of(Arguments(finding=said))
    assert hint in str(refused.value)


async def test_a_promise_is_the_most_of_that_finding_on_the_run_before(monkeypatch):
    saved = [("one", 9.0), ("one", 12.0), ("two", 50.0)]
    found = [
        finding(check).model_copy(update={"saving_us": Saving(at_least=1, at_most=most)}) for check, most in saved
    ]
    outlook = Outlook(1e6, 8e5, 0.0, 0.0, 0.0, tuple(found), ())

    async def outlook_now(_run, wall_ms, **_most):
        return outlook if wall_ms == 5.0 else None

    monkeypatch.setattr(loop_actions, "outlook_now", outlook_now)
    assert await tried(None, "one", 5.0) == ("one", 12.0)
    assert await tried(None, "three", 5.0) == ("three", 0.0)
    assert await tried(None, None, 5.0) == (None, None)
    assert await tried(None, "one", None) == ("one", None)
