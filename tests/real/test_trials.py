"""Settings that real TTNN 0.81.1 accepted or refused on mock devices: we agree with every verdict, and size its buffers."""

from __future__ import annotations

import json
import sys

import pytest

from tests.for_all import for_all
from tests.real import trials
from tests.real.trial_plans import matmul
from tests.real.trials import outcome, summary
from tests.shared_reports import SHARED

TRIALS = SHARED.parent / "real" / "settings" / "trials.json"


@pytest.fixture(scope="module")
def rows():
    if not TRIALS.exists():
        pytest.skip(f"{TRIALS} is not there: the trials lie beside this repository")
    return json.loads(TRIALS.read_text())


@pytest.fixture(scope="module")
def outcomes(rows):
    return [outcome(row) for row in rows]


def test_no_yes_where_ttnn_refused_and_no_no_where_it_accepted(outcomes):
    line, enough = summary(outcomes)
    assert enough, line
    assert not [one.row for one in outcomes if one.wrong_yes]


def test_buffers_are_ttnns_own_to_the_byte(outcomes):
    known = [one for one in outcomes if one.buffers_close is not None]
    assert len(known) > 400
    assert [one.row for one in known if one.own_bytes != one.row["circular_bytes_per_core"]] == []


def test_each_kind_of_op_is_tried_both_ways(rows):
    seen = {(row["op"], row["accepted"]) for row in rows}
    assert {op for op, accepted in seen if accepted} == {op for op, accepted in seen if not accepted}


@for_all(("accepted", "code"), [(True, 0), (False, 1)])
def test_the_command_exits_with_one_wrong_yes(rows, tmp_path, monkeypatch, capsys, *, accepted, code):
    yes = next(row for row in rows if row["accepted"])
    (tmp_path / "one.json").write_text(json.dumps([yes | {"accepted": accepted}]))
    monkeypatch.setattr(sys, "argv", ["trials", str(tmp_path / "one.json"), "--half", "1"])
    assert trials.main() == code
    assert capsys.readouterr().out.strip().splitlines()[-1].startswith("agreement on 1 trials: ")


def test_an_op_nobody_knows_is_no_yes(rows):
    one = outcome(rows[0] | {"op": "upsample", "accepted": True})
    assert one.judged.verdict == "cannot_tell"
    assert one.missed
    assert not summary([one])[1]


TOO_TALL, ROWS_APART, COLUMNS_APART = (
    "per_core_M is at most the 8 tiles of M",
    "per_core_M holds the 8 tiles of M",
    "per_core_N holds the 16 tiles of N",
)


@for_all(
    ("kind", "per_core", "broken"),
    [
        ("2D", (8, 2), ()),
        ("2D", (9, 2), (TOO_TALL,)),
        ("2D", (1, 17), ()),
        ("1D", (16, 1), ()),
        ("1D", (4, 2), (ROWS_APART,)),
        ("1D columns", (1, 16), ()),
        ("1D columns", (2, 8), (COLUMNS_APART,)),
    ],
)
def test_blocks_larger_than_the_matrix_are_refused_where_ttnn_refuses_them(kind, per_core, broken):
    """8 x 16 tiles on 8x8 cores; tried on a Wormhole mock device of TTNN 0.81.1."""
    case = {"m": 256, "k": 512, "n": 512, "kind": kind.split()[0], "mcast_in0": kind == "1D", "grid": [8, 8]}
    case |= {"in0_block_w": 2, "out_subblock_h": 1, "out_subblock_w": 1, "fp32": False, "packer": True}
    case |= {"a": "bfloat16", "b": "bfloat16", "out": "bfloat16", "per_core_N": per_core[1]}
    row = {"grid": [8, 8], "case": case, "setting": "per_core_M", "value": per_core[0]}
    rules = matmul(row, "wormhole").rules
    assert tuple(rule for rule, held in rules.items() if not held) == broken
