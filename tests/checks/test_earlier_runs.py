"""What earlier runs measured raises what a claim saves for certain, or casts doubt on it; nothing else does."""

from dataclasses import replace

import numpy as np
import pytest

from tests.checks.made_checks import cites, saves
from tests.checks.rows import case_of
from tests.for_all import for_all
from tests.profiles import L1, Program
from ttnn_mcp.archive.memory_of_ops import Remembered
from ttnn_mcp.archive.precedents import Earlier, Precedent, Timing
from ttnn_mcp.archive.settings_apart import Apart, Setup
from ttnn_mcp.archive.store import Archive
from ttnn_mcp.checks import earlier_runs
from ttnn_mcp.checks.diagnosis import diagnose
from ttnn_mcp.checks.expectation import Expectation

FIX = "call it with in0_block_w=8 and math_fidelity=HiFi2"
HERE_US = 20.0  # the usual time of the four ops, which took 20, 20, 10 and 30
NOISE = 0.1
KERNEL = "DEVICE KERNEL DURATION [ns]"


def tried(us, value="8", *, setting="in0_block_w", attribute="program_config"):
    """An earlier run of the same work that took `us` with another value of a setting."""
    entry = Earlier(Setup(None, None), 1, Timing(4, us, 0.0), 1, "before.csv", 7)
    return Precedent(entry, (Apart(setting, attribute, value),), NOISE, us / HERE_US - 1)


def of_results(us, value):
    return tried(us, value, setting="math_fidelity", attribute="math_fidelity")


@pytest.fixture
def case(tmp_path):
    program = Program()
    for width, took in enumerate((20, 20, 10, 30), start=1):
        x = program.tensor([1, 1, 32, 32 * width], "UINT16", placement=L1)
        program.op("MadeUpOfNoFamily", [x], kernel_ns=took * 1000)
    return case_of(tmp_path, program)


@pytest.fixture
def before(case, monkeypatch):
    """`before({row: precedents})`: what the archive knows; returns the rows that it is asked for."""
    asked = []

    def known(precedents):
        timing = Timing(4, HERE_US, 0.0)
        rows = {case.line(row): Remembered(timing, tuple(each)) for row, each in precedents.items()}

        def remembered(_run, _ops, lines):
            asked.extend(np.flatnonzero(np.isin(case.ops.lines, lines)).tolist())
            return {line: each for line, each in rows.items() if line in lines.tolist()}

        monkeypatch.setattr(earlier_runs, "remembered", remembered)
        return asked

    return known


def claim_of(case, check, **changes):
    """The check's claim, with the fix that was tried before."""
    return replace(next(check.look(case)).told(case), **{"fix": FIX, **changes})


def backed(case, *claims):
    check = saves("made", 0.5)
    return [claim for _, claim in earlier_runs.backed(case, [(check, claim) for claim in claims])]


@for_all(
    ("us", "at_most", "least"),
    [
        ([12], 0.9, [20 - 13.2, 0, 0, 0]),  # 12 us and the noise of a tenth
        ([12, 15], 0.9, [20 - 13.2, 0, 0, 0]),
        ([12], 0.25, [5, 0, 0, 0]),
    ],
    ids=["by the noise", "by the fastest", "no more than the bound"],
)
def test_what_was_faster_before_is_the_least_that_is_saved(case, before, us, at_most, least):
    before({0: [tried(each) for each in us]})
    claim = claim_of(case, saves("made", at_most))
    (raised,) = backed(case, claim)
    assert raised.at_least_ns / 1e3 == pytest.approx(least)
    assert raised.assumption == (
        "made; at least what was measured: 12.0 us with in0_block_w=8 (before.csv, line 7), 20.0 here, noise 10%"
    )
    assert raised.caveat is None


def test_each_op_is_raised_by_its_own_time_and_none_is_lowered(case, before):
    before({row: [tried(12)] for row in range(4)})
    surely = saves("made", 0.9, sure=0.35)
    (raised,) = backed(case, claim_of(case, surely))
    assert raised.at_least_ns / 1e3 == pytest.approx([7, 7, 3.5, 16.8])
    (from_nothing,) = backed(case, claim_of(case, surely, at_least_ns=None))
    assert from_nothing.at_least_ns / 1e3 == pytest.approx([6.8, 6.8, 0, 16.8])


@for_all(("rows", "expected"), [([0, 3], None), ([0, 1, 3], [8, 8, 0, 18])])
def test_what_was_tried_on_four_fifths_of_the_bound_is_expected(case, before, rows, expected):
    """50 of 80 us are too few, 70 are not."""
    before({row: [tried(12)] for row in rows})
    (raised,) = backed(case, claim_of(case, saves("made", 0.9), expected=None))
    told = raised.expected and (raised.expected.saved_ns / 1e3).tolist()
    assert told == (expected and pytest.approx(expected))


def test_of_what_was_no_faster_before_nothing_is_expected(case, before):
    """19 us are alike to the usual 20, and less than the 30 that the last op took."""
    before({row: [tried(19)] for row in range(4)})
    (doubted,) = backed(case, claim_of(case, saves("made", 0.9)))
    assert doubted.expected.saved_ns.tolist() == [0, 0, 0, 0]


def test_no_less_is_expected_than_what_was_measured(case, before):
    before({0: [tried(12)]})
    law = Expectation(np.full(4, 1_000.0), np.zeros(4), np.full(4, 2_000.0), "a law")
    (raised,) = backed(case, claim_of(case, saves("made", 0.9), expected=law))
    assert raised.expected.basis == "a law"
    assert raised.expected.saved_ns / 1e3 == pytest.approx([6.8, 1, 1, 1])


def test_the_largest_gain_is_told(case, before):
    before({0: [tried(12)], 3: [tried(13)]})
    (raised,) = backed(case, claim_of(case, saves("made", 0.9)))
    assert "13.0 us" in raised.assumption


@for_all(("us", "doubt"), [(25, "was slower before: 25.0 us"), (19, "gained nothing before: 19.0 us")])
@for_all("caveat", [None, "of old"])
def test_what_was_no_faster_before_is_a_doubt_even_where_an_op_is_unusually_slow(case, before, us, doubt, caveat):
    before({2: [tried(21)], 3: [tried(us)]})
    claim = claim_of(case, saves("made", 0.9), caveat=caveat)
    (doubted,) = backed(case, claim)
    told = f"{doubt} with in0_block_w=8 (before.csv, line 7), 20.0 here, noise 10%"
    assert doubted.caveat == (told if caveat is None else f"of old; {told}")
    assert doubted.assumption == claim.assumption
    assert not doubted.at_least_ns.any()


@for_all(
    "precedents",
    [
        {},
        {0: [tried(25, "4")]},
        {0: [of_results(12, "LoFi")]},
        {0: [of_results(25, "LoFi")]},
        {0: [tried(12, setting="grid", attribute="other")]},
        {2: [tried(12)]},
    ],
    ids=[
        "nothing is known",
        "slower with another value",
        "faster with other results",
        "slower with other results",
        "faster with another setting",
        "faster than usual, no faster than this op",
    ],
)
def test_a_change_that_the_fix_does_not_ask_for_says_nothing(case, before, precedents):
    before(precedents)
    claim = claim_of(case, saves("made", 0.9))
    assert backed(case, claim) == [claim]


def test_a_value_like_the_one_asked_for_counts_where_it_was_faster(case, before):
    before({0: [tried(12, "4")]})
    (raised,) = backed(case, claim_of(case, saves("made", 0.9)))
    assert raised.at_least_ns.any()


def test_an_op_that_saves_nothing_casts_no_doubt_where_it_was_faster(case, before):
    before({2: [tried(5)], 3: [tried(12)]})
    claim = claim_of(case, saves("made", 0.9, rows=[0], idle=2))
    assert backed(case, claim) == [claim]


def test_gaps_and_risks_are_neither_looked_up_nor_doubted(case, before):
    asked = before({2: [tried(25)], 3: [tried(12)]})
    others = [
        claim_of(case, saves("gaps", 0.5, rows=[2], gap=True)),
        claim_of(case, saves("risk", 0.0, rows=[1, 2])),
    ]
    assert backed(case, *others) == others
    assert asked == []
    *same, raised = backed(case, *others, claim_of(case, saves("made", 0.9, rows=[2, 3])))
    assert (same, asked) == (others, [2, 3])
    assert raised.at_least_ns.any()


@for_all("us", [12, 25])
def test_the_earlier_cell_is_cited_behind_three_of_its_own(case, before, us, tmp_path):
    before({0: [tried(us)]})
    check = cites("a b c d", fix=FIX)
    (alone,) = diagnose(case, [check], earlier_runs=True).findings
    assert [cell.column for cell in alone.evidence] == ["a", "b", "c", "d"]
    case.run.kept.store(Archive(tmp_path / "archive"))
    (found,) = diagnose(case, [check], earlier_runs=True).findings
    assert [cell.column for cell in found.evidence] == ["a", "b", "c", KERNEL]
    cell = found.evidence[-1]
    assert (cell.source, cell.row, cell.value) == ("before.csv", 7, us * 1000)
    (without,) = diagnose(case, [check]).findings
    assert [cell.column for cell in without.evidence] == ["a", "b", "c", "d"]
