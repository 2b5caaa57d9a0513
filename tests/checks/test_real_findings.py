"""Every claim on a published report was looked at by hand once, and says why it holds: none changes unnoticed."""

from __future__ import annotations

import ast

from generate.real_findings import REPORTS, claims_of, stored
from tests.checks.asking import real_case
from tests.for_all import for_all
from ttnn_mcp.checks import CATALOGUE
from ttnn_mcp.checks.diagnosis import ask
from ttnn_mcp.checks.fixes import marked, parts_of
from ttnn_mcp.report.code_block import KNOWN, code_block

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


@for_all("name", REPORTS)
def test_the_code_of_each_fix_is_a_program_that_assigns_its_names(name):
    """A name that the code does not make is told in front as one to fill in."""
    case = real_case(name)
    fixes = {marked(claim.fix): check.id for check in CATALOGUE for claim in ask(check, case).claims}
    blocks = {check: (fix, block) for fix, check in fixes.items() if (block := code_block(fix, 1000))}
    assert blocks
    for check, (fix, block) in blocks.items():
        assert not [part for part in parts_of(fix) if not part.code and part.text.endswith("=")], (check, fix)
        made = {*KNOWN, *block[0].removeprefix("# ").replace(",", " ").replace(";", " ").replace(":", " ").split()}
        for statement in ast.parse("\n".join(block)).body:
            names = [node for node in ast.walk(statement) if isinstance(node, ast.Name)]
            unmade = {node.id for node in names if isinstance(node.ctx, ast.Load)} - made
            assert not unmade, (check, block)
            made |= {node.id for node in names}
