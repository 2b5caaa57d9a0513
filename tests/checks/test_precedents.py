"""What an edit brings is first what this run shows of the form that it brings."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from tests.checks.made_checks import saves
from tests.checks.rows import case_of
from tests.checks.step3_memory_sharding.test_same_work_elsewhere_faster import SHARDS, forms
from tests.for_all import for_all
from tests.profiles import DRAM
from tests.profiles.model import L1
from ttnn_mcp.checks import CATALOGUE
from ttnn_mcp.checks.diagnosis import ask
from ttnn_mcp.checks.expectation import AN_EARLIER_RUN, Expectation
from ttnn_mcp.checks.op_config import sets_program
from ttnn_mcp.checks.precedents import by_precedents

MINIMAL = {"name": "MinimalMatmulDeviceOperation"}
OTHER_OP = ((DRAM, 61, MINIMAL), (DRAM, 26))
IN_SHARDS = ((DRAM, 41), (SHARDS, 9))
SEEN = next(check for check in CATALOGUE if check.id == "same-work-elsewhere-faster")


@pytest.fixture
def told(tmp_path):
    """What a made change of some ops expects beside what the run has faster elsewhere, in microseconds."""

    def of(ops, *, slot="program", sets="ttnn.linear(x, w)", rows=(0,), before=None, part=0.9):
        case = case_of(tmp_path, forms(*ops))
        check = replace(saves("made", part, rows=rows), slot=slot)
        (seen,), (claim,) = ask(SEEN, case).claims, ask(check, case).claims
        made = replace(claim, expected=before, sets=sets_program(lambda *_: sets) if sets != "" else None)
        (_, first), (_, after) = by_precedents(case, [(SEEN, seen), (check, made)])
        assert first is seen
        return after.expected, case

    return of


def us(expected):
    return [[round(ns / 1e3, 2) for ns in each] for each in (expected.saved_ns, expected.low_ns, expected.high_ns)]


def of_law(*saved_us, basis="law: made"):
    return Expectation(*(np.array(saved_us) * 1e3,) * 3, basis)


def test_a_change_that_brings_the_form_of_a_twin_expects_its_time_with_both_lines(told):
    expected, case = told(OTHER_OP)
    assert expected.basis == f"precedent: line {case.line(0)} as {case.line(2)}"
    assert us(expected) == [[35], [33.7], [35]]  # 61 - 26, and a twentieth of 26 below


def test_it_outranks_a_law_which_may_promise_more_and_never_passes_the_bound(told):
    expected, case = told(OTHER_OP, before=of_law(50))
    assert us(expected) == [[35], [33.7], [50]]
    assert expected.basis == f"precedent: line {case.line(0)} as {case.line(2)}"
    assert us(told(OTHER_OP, before=of_law(20))[0]) == [[35], [33.7], [35]]
    assert us(told(OTHER_OP, part=0.5)[0]) == [[30.5], [30.5], [30.5]]


def test_activations_in_l1_expect_what_the_run_shows_of_them(told):
    assert us(told(IN_SHARDS, slot="placement", sets="")[0])[0] == [32]


@for_all(
    ("ops", "how"),
    [
        (OTHER_OP, {"sets": "ttnn.experimental.minimal_matmul(x, w)"}),
        (OTHER_OP, {"sets": ""}),
        (OTHER_OP, {"sets": None}),  # the fix has no text for this op
        (OTHER_OP, {"slot": "data type of weights"}),
        (OTHER_OP, {"slot": "placement"}),
        (OTHER_OP, {"rows": (1,)}),
        (IN_SHARDS, {}),
        (((DRAM, 41, MINIMAL), (SHARDS, 9)), {"slot": "placement"}),
        (((SHARDS, 41), (DRAM, 9)), {"slot": "placement"}),
        (((L1, 41), (SHARDS, 9)), {"slot": "placement"}),
    ],
)
def test_another_form_is_no_precedent(told, ops, how):
    assert told(ops, **how)[0] is None
    law = of_law(20)
    assert told(ops, **how, before=law)[0] is law


def test_what_was_measured_before_stands(told):
    before = of_law(50, basis=AN_EARLIER_RUN)
    assert told(OTHER_OP, before=before)[0] is before


def test_ops_without_a_twin_keep_what_was_known_of_them(told):
    """The op behind the first one takes 1 us and is nobody's twin."""
    expected, case = told(OTHER_OP, rows=(0, 1), before=of_law(50, 0.5))
    assert us(expected)[0] == [35, 0.5]
    assert expected.basis == f"precedent: line {case.line(0)} as {case.line(2)}; law: made"


@for_all(("us_of_others", "known"), [(15.2, True), (15.3, False)])
def test_what_is_known_of_few_ops_does_not_speak_for_all(told, us_of_others, known):
    """A twin for 61 us, none for the other op: four fifths of both are 61 of 76.25."""
    expected, _ = told((*OTHER_OP, (DRAM, us_of_others, {"m": 2048})), rows=(0, 4))
    assert (expected is not None) == known
    expected, _ = told((*OTHER_OP, (DRAM, us_of_others, {"m": 2048})), rows=(0, 4), before=of_law(20, 5))
    assert us(expected)[0] == [35, 5]
