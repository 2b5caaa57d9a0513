"""Settings that real TTNN 0.81.1 accepted or refused on mock devices: we agree with every verdict, and size its buffers."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest

from tests.real.trials import outcome, summary
from tests.shared_reports import SHARED

TRIALS = SHARED.parent / "real" / "settings" / "trials.json"


@pytest.fixture(scope="module")
def rows():
    if not TRIALS.exists():
        pytest.skip(f"{TRIALS} is not there: the trials lie beside this repository")
    return json.loads(TRIALS.read_text())


def test_no_yes_where_ttnn_refused_and_no_no_where_it_accepted(rows):
    outcomes = [outcome(row) for row in rows]
    line, enough = summary(outcomes)
    assert enough, line
    assert not [one.row for one in outcomes if one.wrong_yes]


def test_buffers_are_ttnns_own_to_the_byte(rows):
    outcomes = [outcome(row) for row in rows]
    known = [one for one in outcomes if one.buffers_close is not None]
    assert len(known) > 400
    assert [one.row for one in known if one.own_bytes != one.row["circular_bytes_per_core"]] == []


def test_each_kind_of_op_is_tried_both_ways(rows):
    seen = {(row["op"], row["accepted"]) for row in rows}
    assert {op for op, accepted in seen if accepted} == {op for op, accepted in seen if not accepted}


@pytest.mark.parametrize(("accepted", "code"), [(True, 0), (False, 1)])
def test_the_command_exits_with_one_wrong_yes(rows, tmp_path, accepted, code):
    yes = next(row for row in rows if row["accepted"])
    (tmp_path / "one.json").write_text(json.dumps([yes | {"accepted": accepted}]))
    command = [sys.executable, "-m", "tests.real.trials", str(tmp_path / "one.json"), "--half", "1"]
    ran = subprocess.run(command, capture_output=True, text=True, check=False)
    assert ran.returncode == code, ran.stderr
    assert ran.stdout.strip().splitlines()[-1].startswith("agreement on 1 trials: ")


def test_an_op_nobody_knows_is_no_yes(rows):
    one = outcome(rows[0] | {"op": "upsample", "accepted": True})
    assert one.judged.verdict == "cannot_tell"
    assert one.missed
    assert not summary([one])[1]
