"""The plan as tables: which edits have a line, where their ops are, how they stand to those above."""

from __future__ import annotations

from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest

from tests.checks.made_checks import four_ops, saves
from tests.checks.rows import ONE_PASS, case_of, put
from tests.for_all import for_all
from tests.profiles import DRAM, Program, height_sharded
from tests.profiles.model import DeviceOp
from tests.programs import LAYERS, layered
from ttnn_mcp.checks import expectation
from ttnn_mcp.checks.diagnosis import diagnose
from ttnn_mcp.checks.levers import UNTRIED
from ttnn_mcp.checks.plan.expected import ExpectedSaving
from ttnn_mcp.tools.parts.plan_tables import (
    plan_table,
    relation,
    risks_table,
    settings_table,
    trials_table,
    unexplained_table,
    where,
)


@pytest.fixture(scope="module")
def case(tmp_path_factory):
    """Four ops without layers; the third is the heaviest."""
    program = four_ops()
    program.calls[2].ops[0].kernel_ns = 20_000
    return case_of(tmp_path_factory.mktemp("four"), program, ONE_PASS)


@pytest.fixture(autouse=True)
def _no_tries(monkeypatch):
    """What was measured of real edits says nothing of made ones."""
    monkeypatch.setattr(expectation, "measured_cases", lambda: {"tries": {}, "checks": {}, "levers": {}})


def ranked(name, alone_ns=0.0, after=(), instead_of=None, symptom=False):
    part = SimpleNamespace(claim=SimpleNamespace(expected=None), change=SimpleNamespace(in_gaps=True))
    edit = SimpleNamespace(name=name, what=f"what {name} is", costs_accuracy=False, parts=(part,))
    rows = np.array([0])
    return SimpleNamespace(
        edit=edit,
        rows=rows,
        time_ns=10.0,
        alone_ns=alone_ns,
        then_ns=alone_ns,
        expected=None,
        after=after,
        instead_of=instead_of,
        symptom=symptom,
    )


def plan(*edits):
    return SimpleNamespace(ranked=edits, before_ns=100.0, ground=None)


def test_edits_that_save_less_have_no_line(case):
    table = plan_table(case, plan(ranked("large", 5.0), ranked("enough", 4.0), ranked("small", 3.9)), 4.0)
    assert [row[:2] for row in table.rows] == [(1, "large"), (2, "enough")]


def test_what_is_expected_of_an_edit_is_told_in_microseconds(case):
    known = ranked("known", 5_000.0)
    known.expected = ExpectedSaving(3_000.0, 1_000.0, 4_000.0, "law: tilize")
    table = plan_table(case, plan(known), 0.0)
    (row,) = (dict(zip(table.columns, row, strict=True)) for row in table.rows)
    assert [row[name] for name in ("expected_us", "low_us", "high_us", "basis")] == [3, 1, 4, "law"]


@for_all(
    ("how", "told"),
    [
        ({}, None),
        ({"after": (0,)}, "after first"),
        ({"after": (0, 1)}, "after first, second"),
        ({"instead_of": 0}, "instead of first"),
        ({"after": (1,), "instead_of": 0}, "instead of first"),
        ({"symptom": True}, "symptom, so last"),
        ({"symptom": True, "after": (0,)}, "symptom, so last; after first"),
    ],
)
def test_an_edit_says_after_or_instead_of_which_it_comes(how, told):
    third = ranked("third", **how)
    assert relation(plan(ranked("first"), ranked("second"), third), third) == told


def test_without_trials_and_risks_there_is_no_table_of_them(case):
    nothing = diagnose(case, []).plan
    assert trials_table(case, nothing, 0.0) is risks_table(case, nothing) is None
    warned = diagnose(case, [replace(saves("warns", 0.0, rows=[1]), risk=True)]).plan
    assert trials_table(case, warned, 0.0) is None
    assert risks_table(case, warned).rows == (("other-op", "warns", "line 3"),)


def test_trials_stand_by_what_such_tries_brought_each_check_in_a_row(case, monkeypatch):
    known = {
        name: {"tried": 10, "gained": gained, "part": part}
        for name, gained, part in (("seldom", 1, 0.8), ("often", 9, 0.2), ("unclear", 9, None))
    }
    monkeypatch.setattr(expectation, "measured_cases", lambda: {"tries": known, "checks": {}, "levers": {}})
    shares = {"seldom": 0.5, "often": 0.5, "unclear": 0.5, "small": 0.01, "unknown": 0.0}
    checks = [replace(saves(name, part, rows=[1, 2]), lever=UNTRIED) for name, part in shares.items()]
    table = trials_table(case, diagnose(case, checks).plan, 1_000.0)
    assert table.columns == ("edit", "what", "where", "if_gains_us", "basis")
    assert [(row[1], *row[2:]) for row in table.rows] == [
        ("often", "lines 3, 4", 3, "9/10 gained elsewhere"),
        ("seldom", "lines 3, 4", 12, "1/10 gained elsewhere"),
        ("unclear", "lines 3, 4", None, "9/10 gained elsewhere"),
        ("small", "lines 3, 4", None, None),
        ("unknown", "lines 3, 4", None, None),
    ]


@for_all(("part", "told"), [(0.25, [(5, "1/9 gained elsewhere")]), (None, [("1/9 gained elsewhere",)])])
def test_a_trial_in_the_plan_tells_what_such_tries_brought(case, monkeypatch, part, told):
    known = {f"one{part}": {"tried": 9, "gained": 1, "part": part}}
    monkeypatch.setattr(expectation, "measured_cases", lambda: {"tries": known, "checks": {}, "levers": {}})
    table = plan_table(case, diagnose(case, [saves(f"one{part}", 0.4)]).plan, 0.0)
    at = table.columns.index("high_us")
    assert [row[at + 1 : table.columns.index("alone_us")] for row in table.rows] == told


@for_all(("ops", "told"), [(5, "6, 5, 4, 3, 2"), (6, "7, 6, 5, 4, 3, 2"), (8, "9, 8, 7, 6, 5, 4 and 2 more")])
def test_of_a_group_of_shapes_six_lines_are_told_the_heaviest_first(ops, told):
    facts = SimpleNamespace(kernel_ns=np.arange(ops), line=lambda row: row + 2, shapes=lambda _: "32x32")
    group = SimpleNamespace(rows=[np.arange(ops)], value="a config", beside="")
    table = settings_table(facts, SimpleNamespace(groups=lambda _: [group]), [ranked("edit").edit])
    assert table.rows == (("edit", "32x32", told, "a config"),)


@for_all(
    ("rows", "told"),
    [
        ([], ""),
        ([1], "line 3"),
        ([0, 3], "lines 2, 5"),
        ([0, 2, 3], "line 4 and 2 more"),
        ([0, 1, 2, 3], "all ops"),
    ],
)
def test_two_ops_are_named_and_of_more_the_heaviest(case, rows, told):
    assert where(case, np.array(rows, dtype=np.int64)) == told


def test_the_line_of_the_model_stands_behind_that_of_the_report(case, monkeypatch):
    monkeypatch.setattr(type(case.run), "source_at", lambda _, line: f"models/attention.py:{line * 10}")
    assert where(case, np.array([0, 2])) == "lines 2, 4 (attention.py:40)"


def test_ops_that_are_a_part_of_every_layer_are_told_so(tmp_path):
    case = case_of(tmp_path, layered())
    matmuls = np.flatnonzero(case.named("Matmul"))[:LAYERS]
    assert where(case, matmuls) == f"role 2 of 4 in each of {LAYERS} layers"


def test_what_is_known_is_told_of_kinds_of_which_edits_save_the_smaller_part(case):
    """Without such a kind there is no column for it."""

    def table(name, why, above_ns=4.9, times=1):
        kind = SimpleNamespace(name=name, ops=1, above_ns=above_ns, now_ns=10.0, why=why, heaviest=0)
        return unexplained_table(case, SimpleNamespace(kinds=(kind,) * times))

    assert table("Halo", "no_edit").rows[0][-1].startswith("copies borders of shards")
    assert table("Halo", "no_edit").rows[0][3] == 0.01  # us
    assert [row[-1] is None for row in table("Halo", "no_edit", times=5).rows] == [False] * 3 + [True] * 2
    assert table("GridSample", "no_floor_known").columns[-1] == "hint"
    assert table("RingJointSDPA", "after_edits", 5.0).rows[0][-1].startswith("chunks of 320 x 384")
    for name, why in (("Halo", "after_edits"), ("Embeddings", "no_edit")):
        assert table(name, why).columns[-1] == "heaviest_op"


def test_an_op_in_shards_is_told_what_is_known_of_it_there(tmp_path):
    program = Program("wormhole_b0")
    for place in (DRAM, height_sharded(1024, 64, 8)):
        x = program.tensor([1, 1, 1024, 64], placement=place)
        put(program, DeviceOp("GroupNormDeviceOperation", (x,), (x,), 10_000))
    case = case_of(tmp_path, program, ONE_PASS)
    kinds = [SimpleNamespace(name="GroupNorm", ops=1, above_ns=9.0, now_ns=9.0, why="no_edit", heaviest=row) for row in (0, 1)]  # fmt: skip
    hints = [row[-1] for row in unexplained_table(case, SimpleNamespace(kinds=kinds)).rows]
    assert ["num_out_blocks" in hint for hint in hints] == [True, False]
