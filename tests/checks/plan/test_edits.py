"""Claims as edits: which one change of code resolves them."""

from __future__ import annotations

from dataclasses import replace

import pytest

from tests.analyses.op_kinds.test_attention_blocks import FUSED, LINEAR, MOVE, NORM, case
from tests.checks.made_checks import saves
from tests.for_all import for_all
from ttnn_mcp.checks.diagnosis import ask
from ttnn_mcp.checks.levers import (
    ATTENTION,
    ATTENTION_CONFIG,
    ATTENTION_GRID,
    CONSTANTS,
    FUSION,
    LAYOUT,
    MATMUL_CONFIG,
)
from ttnn_mcp.checks.plan.edits import edits_of


@pytest.fixture
def attention(tmp_path):
    """Lines 1 to 4 of 0 to 6 are an attention block."""
    return case(tmp_path, NORM, LINEAR, MOVE, FUSED, LINEAR, NORM, MOVE)


def check(name, rows, lever, part=0.5, **how):
    return replace(saves(name, part, rows=rows), lever=lever, slot="", **how)


def edits(facts, *checks):
    """(lever, its ops) of each edit."""
    claims = [(one, claim) for one in checks for claim in ask(one, facts).claims]
    return sorted((edit.name, edit.rows.tolist()) for edit in edits_of(facts, claims))


@for_all(
    ("lever", "rows", "told"),
    [
        (LAYOUT, [2], [("attention-block", [2])]),
        (LAYOUT, [6], [("layout-chain", [6])]),
        (LAYOUT, [2, 6], [("attention-block", [2]), ("layout-chain", [6])]),
        (ATTENTION, [2, 6], [("attention-block", [2, 6])]),
        (MATMUL_CONFIG, [1, 4], [("matmul-config", [1, 4])]),
    ],
)
def test_conversions_inside_of_an_attention_are_part_of_its_edit(attention, lever, rows, told):
    assert edits(attention, check("one", rows, lever)) == told


def test_a_warning_is_no_part_of_an_edit_that_saves_time(attention):
    warns = check("warns", [0], CONSTANTS, 0.5, risk=True)
    assert edits(attention, warns, check("saves", [0], CONSTANTS)) == [("constants", [0]), ("constants", [0])]


def test_two_problems_of_one_check_are_one_edit_and_no_rivals(attention):
    twice = check("twice", [0, 1], FUSION)

    def look(facts):
        for problem in twice.look(facts):
            yield problem
            yield replace(problem, rows=problem.rows + 1)

    assert edits(attention, replace(twice, look=look, id="twice")) == [("fusion", [0, 1, 2])]


def test_the_grid_of_an_attention_and_its_chunks_are_fields_of_one_config(attention):
    """Two findings about chunks are alternatives."""
    chunks, others = (check(name, [3], ATTENTION_CONFIG) for name in ("chunks", "others"))
    of_matmuls = check("of matmuls", [3], MATMUL_CONFIG)

    def look(facts):
        yield from (replace(problem, lever=ATTENTION_GRID) for problem in of_matmuls.look(facts))

    grid = replace(of_matmuls, look=look, id="grid")
    assert edits(attention, chunks, grid) == [("attention-config", [3])]
    assert edits(attention, chunks, others) == [("attention-config", [3])] * 2
    assert edits(attention, chunks, of_matmuls) == [("attention-config", [3]), ("matmul-config", [3])]
