"""What the fuzz calls a failure: every rule with an answer that breaks it and one that does not."""

import json

import pytest

from fuzz import verdict
from fuzz.verdict import flaws, gap_savings, sentence_flaws

WINDOW = {"kind": "whole_report", "rows": 2, "first_row": 2, "last_row": 3, "warm": False, "why": "one pass"}
EVIDENCE = {"source": "x.csv", "row": 2, "column": "CORE COUNT", "value": 8}
FINDING = {
    "check": "low-core-count", "step": 3, "claim": "c", "share": 0.5, "saving_us": {"at_least": 1, "at_most": 2}, "assumption": "a",
    "evidence": [EVIDENCE], "fix": "f", "verify": "v", "read_next": "r",
}  # fmt: skip


def check_answer(**changed):
    return {
        "kernel_ms": 0.01,
        "findings": [{**FINDING, **changed}],
        "steps": [],
        "unexplained_share": 0.1,
        "window": WINDOW,
    }


def kinds(tool, answer):
    return {flaw.kind for flaw in flaws(tool, answer if isinstance(answer, str) else json.dumps(answer))} - {
        "off schema"
    }


def test_an_answer_that_is_right_has_no_flaw():
    assert kinds("optimization_check", check_answer()) == set()
    assert flaws("experiments", "{}") == []


@pytest.mark.parametrize(
    ("changed", "kind"),
    [
        ({"evidence": []}, "no evidence"),
        ({"share": 1.2}, "share"),
        ({"share": -0.1}, "share"),
        ({"saving_us": {"at_least": 1, "at_most": 11}}, "saving above the window"),
        ({"saving_us": {"at_least": 3, "at_most": 2}}, "saving bounds"),
        ({"claim": "\x1b[31m"}, "unclean text"),
        ({"claim": "a\u202eb"}, "unclean text"),
        ({"claim": "a\nb"}, "unclean text"),
        ({"share": 2**63}, "absurd number"),
    ],
)
def test_a_finding_with_something_wrong_is_a_failure(changed, kind):
    assert kind in kinds("optimization_check", check_answer(**changed))


@pytest.mark.parametrize(
    "changed", [{"share": 1}, {"share": 0}, {"saving_us": {"at_least": 0, "at_most": 10}}, {"claim": "für 日本"}]
)
def test_a_finding_at_the_bound_is_none(changed):
    assert kinds("optimization_check", check_answer(**changed)) == set()


def test_a_saving_of_gaps_may_pass_the_kernels_and_not_the_wall():
    check = check_answer(step=4, saving_us={"at_least": 0, "at_most": 50})
    assert kinds("optimization_check", check) == set()
    assert gap_savings(check, {"window": WINDOW, "wall_ms": 0.05}) == []
    assert [flaw.kind for flaw in gap_savings(check, {"window": WINDOW, "wall_ms": 0.04})] == [
        "saving above the window"
    ]


def test_what_is_no_json_or_off_its_schema_is_a_failure():
    assert kinds("experiments", '{"notes": NaN}') == {"not JSON"}
    assert kinds("experiments", "[") == {"not JSON"}
    assert {flaw.kind for flaw in flaws("experiments", '{"new": 1}')} == {"off schema"}


def test_columns_of_tables_are_judged_by_their_names():
    ops = {"columns": ["share", "kernel_us", "change_share"], "rows": [[1.5, -1, 7]]}
    assert kinds("list_ops", {"ops": ops}) == {"share", "negative"}
    assert kinds("query_run", ops) == set()


def test_pages_may_have_lines_and_nothing_else():
    assert kinds("skill_step", {"page": "x", "text": "a\nb"}) == set()
    assert kinds("skill_step", {"page": "x", "text": "a\rb"}) == {"unclean text"}


@pytest.mark.parametrize(
    ("sentence", "kind"),
    [
        ("", "empty refusal"),
        ("x" * 5000, "long refusal"),
        ("There is no \x00.", "unclean refusal"),
        ("failed: this is a bug in ttnn-mcp, not in the call", "unforeseen"),
    ],
)
def test_a_refusal_is_a_clean_short_sentence(sentence, kind):
    assert [flaw.kind for flaw in sentence_flaws("list_ops", sentence)] == [kind]
    assert sentence_flaws("list_ops", "No run 'x'. Call list_runs.") == []


def test_the_fields_that_are_judged_exist_in_the_answers():
    """So that a renamed field does not put a rule out of work."""
    written = json.dumps([schemas[1] for schemas in verdict.doors.tools().values()])
    for name in (
        "evidence",
        "saving_us",
        "at_most",
        "at_least",
        "kernel_ms",
        "wall_ms",
        "share",
        "busy_share",
        "columns",
        "rows",
        "window",
    ):
        assert f'"{name}"' in written, name
