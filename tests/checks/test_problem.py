"""A claim has evidence and one bound per op, and counts each op once."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from tests.checks.made_checks import four_ops
from tests.checks.rows import ONE_PASS, case_of
from tests.for_all import for_all
from ttnn_mcp.checks.problem import Affected, Claim, Words
from ttnn_mcp.wire import Evidence

CELL = (Evidence(source="made.csv", row=2, column="made", value=1.0),)


def claim(rows, at_most, at_least=None, evidence=CELL):
    least = None if at_least is None else np.array(at_least, dtype=np.float64)
    return Claim(
        claim="made",
        rows=np.array(rows, dtype=np.int64),
        at_most_ns=np.array(at_most, dtype=np.float64),
        at_least_ns=least,
        assumption="",
        evidence=evidence,
        fix="",
        verify="",
    )


def test_a_claim_without_evidence_cannot_be_made():
    with pytest.raises(ValueError, match="no evidence for: made"):
        claim([0], [1], evidence=())


@for_all("at_most", [[], [1, 2]])
def test_each_op_has_one_bound(at_most):
    with pytest.raises(ValueError, match="one bound per row"):
        claim([0], at_most)


@for_all("at_least", [None, [1, 3, 2]])
def test_an_op_of_two_patterns_keeps_its_highest_bounds(at_least):
    once = claim([2, 1, 1], [5, 2, 10], at_least)
    assert once.rows.tolist() == [1, 2]
    assert once.at_most_ns.tolist() == [10, 5]
    assert once.promise_ns == 15
    if at_least is None:
        assert once.at_least_ns is None
    else:
        assert once.at_least_ns.tolist() == [3, 1]


@for_all(
    ("given", "columns"),
    [
        ({}, ["DEVICE KERNEL DURATION [ns]"]),
        ({"also": CELL}, ["DEVICE KERNEL DURATION [ns]", "made"]),
        ({"evidence": CELL}, ["made"]),
        ({"evidence": CELL, "also": CELL, "columns": ("cores",)}, ["made"]),
    ],
)
def test_words_cite_their_heaviest_op_unless_they_name_their_evidence(tmp_path, given, columns):
    case, rows = case_of(tmp_path, four_ops(), ONE_PASS), np.array([1, 3])
    cited = Words("made", "", "", **given).evidence_of(Affected(case, rows, rows))
    assert [cell.column for cell in cited] == columns


def test_ops_come_in_the_order_they_ran():
    assert claim([4, 0], [5, 2]).at_most_ns.tolist() == [2, 5]


@for_all(("gap_ns", "promise_ns"), [(None, 11), ((0.0, 7.0), 7)])
def test_what_a_claim_saves_stands_in_its_ops_or_in_the_gaps(gap_ns, promise_ns):
    assert replace(claim([1, 2], [5, 6]), gap_ns=gap_ns).promise_ns == promise_ns
