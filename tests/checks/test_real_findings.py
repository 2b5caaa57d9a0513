"""Every claim on a published report was looked at by hand once, and says why it holds: none changes unnoticed."""

from __future__ import annotations

from generate.real_findings import REPORTS, claims_of, stored
from tests.checks.asking import real_case
from tests.for_all import for_all

SENTENCE = 30  # characters that a reason has at least


@for_all("name", REPORTS)
def test_claims_are_those_that_were_looked_at(name):
    looked = [{**one, "reason": ""} for one in stored()[name]]
    assert claims_of(real_case(name)) == looked, (
        "look at the rows of what is new or changed, run `python -m generate.real_findings`, write the reason"
    )


@for_all("name", REPORTS)
def test_each_says_why_it_holds(name):
    unlooked = [(one["check"], one["line"]) for one in stored()[name] if len(one["reason"]) < SENTENCE]
    assert not unlooked, f"look at these by hand and write why they hold in real_findings.json: {unlooked}"
