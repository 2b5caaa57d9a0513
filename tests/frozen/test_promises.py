"""Promises have the ops and the bounds of the findings that they come from. A made program: no layer is judged here."""

import pytest

from generate import frozen
from generate.frozen import MEETINGS_THAT_WERE, Meeting, main, verdicts_at_first
from tests.checks.programs import decode
from tests.checks.rows import case_of, pass_time
from tests.for_all import for_all
from tests.frozen.layer import Layer, Lever
from tests.frozen.promises import judged, promises_of
from tests.profiles import Program


def program():
    made = Program("wormhole_b0")
    decode(made)
    pass_time(made, 100_000)
    return made


@pytest.fixture
def promises(tmp_path):
    return promises_of(case_of(tmp_path, program()))


def of_weights(promises):
    return [one for one in promises if "bfloat8_b" in one.fix]


def test_every_finding_has_ops_of_its_own(promises):
    assert promises
    assert all(one.ops for one in promises)
    assert max(max(one.ops) for one in promises) < len(program().device_ops)


def test_every_saving_divides_over_its_ops_but_that_of_gaps(promises):
    assert all({*one.shares} == {*one.ops} for one in promises if one.shares is not None)
    assert any(one.shares for one in promises)


def test_bounds_are_in_order(promises):
    assert all(0 <= one.at_least_us <= one.at_most_us for one in promises)


def test_promise_about_an_op_is_judged_at_its_place(promises, tmp_path):
    (place,) = set().union(*(one.ops for one in of_weights(promises)))
    saving = max(one.at_most_us for one in of_weights(promises)) / 2

    def said(number, ops):
        lever = Lever("one", "gain", "narrow weights", saving, ops, "bfloat8_b", "a source", "a note")
        layer = Layer(f"made{number}", "", "", "wormhole_b0", program, (lever,), "all")
        return judged(layer, tmp_path)[0].said

    others = set(range(len(program().device_ops))) - {place}
    assert said(1, (place,)) == "right"
    assert said(2, tuple(others)) == "not named"


@for_all("meeting", MEETINGS_THAT_WERE, ids=lambda one: one.file.stem)
def test_a_meeting_tells_of_each_lever_once(meeting):
    first = {model: [one.lever for one in verdicts] for model, verdicts in verdicts_at_first(meeting).items()}
    levers = {
        model: [lever.id for layer in layers for lever in layer.levers] for model, layers in meeting.models.items()
    }
    assert first == levers


def test_what_a_new_meeting_says_is_kept_once(promises, tmp_path, monkeypatch):
    (place,) = set().union(*(one.ops for one in of_weights(promises)))
    levers = tuple(
        Lever(kind, kind, "narrow weights", saving, (place,), "bfloat8_b", "a source", "a note")
        for kind, saving in (("gain", None), ("dead", 0.0))
    )
    layer = Layer("made", "", "", "wormhole_b0", program, levers, "all")
    meeting = Meeting({"A model": (layer,)}, tmp_path / "kept.csv", "A meeting")
    monkeypatch.setattr(frozen, "MEETINGS", (meeting,))
    assert main([]) == 0
    said = {
        model: [(one.lever, one.kind, one.said) for one in of_it]
        for model, of_it in verdicts_at_first(meeting).items()
    }
    assert said == {"A model": [("gain", "gain", "named"), ("dead", "dead", "promised")]}
    assert main([]) == 1


def test_no_layer_is_met_for_the_first_time_again(capsys, monkeypatch):
    monkeypatch.setattr(frozen, "MEETINGS", MEETINGS_THAT_WERE)
    assert main([]) == 1
    assert "nothing is judged at first again" in capsys.readouterr().out
