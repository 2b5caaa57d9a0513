"""What the fuzz calls a failure: every rule with an answer that breaks it and one that does not."""

import asyncio
import json
import tempfile
from typing import get_args

from fuzz import doors, figures, verdict
from fuzz.outside import judged
from fuzz.verdict import flaws, gap_savings, sentence_flaws
from tests.for_all import for_all
from ttnn_mcp.wire import Share, Wire

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
        "lost_share": 0.1,
        "window": WINDOW,
    }


def kinds(tool, answer):
    return {flaw.kind for flaw in flaws(tool, answer if isinstance(answer, str) else json.dumps(answer))} - {
        "off schema"
    }


def models():
    """Every class that crosses the wire."""
    doors.tools()
    known, reached = set(), {Wire}
    while reached:
        reached = {below for model in reached for below in model.__subclasses__()} - known
        known |= reached
    return known


def answered(tool):
    """What a tool answers about the demo."""
    with tempfile.TemporaryDirectory() as state:
        return json.loads(asyncio.run(doors.ask(doors.session([], state), tool, {"run": "demo"})))


def test_an_answer_that_is_right_has_no_flaw():
    assert kinds("optimization_check", check_answer()) == set()
    assert flaws("experiments", "{}") == []


@for_all(
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


@for_all("changed", [{"share": 1}, {"share": 0}, {"saving_us": {"at_most": 10}}, {"claim": "für 日本"}])
def test_a_finding_at_the_bound_is_none(changed):
    assert kinds("optimization_check", check_answer(**changed)) == set()


def test_a_saving_of_gaps_may_pass_the_kernels_and_not_the_wall():
    check = check_answer(step=4, saving_us={"at_most": 50})
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


@for_all(
    ("name", "value", "kind"),
    [
        ("share", 133252.0, "share"),
        ("modelled_share", -0.01, "share"),
        ("busy_share", 1.001, "share"),
        ("imbalance", 0.9, "share"),
        ("dram_share", 1.06, "over the peak"),
        ("efficiency", 1.06, "over the peak"),
        ("measured_pct", 106, "over the peak"),
        ("change_share", -1.1, "share"),
        ("gap_us", -0.1, "negative"),
    ],
)
def test_a_bad_figure_is_seen_in_a_field_in_a_table_and_inside_another_field(name, value, kind):
    table = {"columns": ["what", name, "ops"], "rows": [["a", None, 1], ["b", value, 1]]}
    for answer in (
        {name: value},
        {"floors": table},
        {"parts": [{"inside": {"floors": table}}]},
        {name: {"x": value}},
    ):
        assert kinds("time_budget", answer) == {kind}, answer
    assert kinds("query_run", {"floors": table}) == set()


def test_a_roofline_is_a_share_in_a_column_and_an_object_in_a_field():
    table = {"columns": ["op_code", "roofline"], "rows": [["Matmul", 1.2]]}
    assert kinds("optimization_check", {"unexplained": table, "findings": []}) == {"over the peak"}
    assert kinds("op_detail", {"roofline": {"flops": 7_000}}) == set()
    assert kinds("op_detail", {"roofline": {"efficiency": 1.2}}) == {"over the peak"}


@for_all(
    ("name", "value"),
    [("share", 1.00005), ("dram_share", 1.05), ("measured_pct", 100), ("change_share", 9), ("delta_us", -4)],
)
def test_a_figure_at_its_bound_is_right(name, value):
    assert kinds("time_budget", {name: value, "t": {"columns": [name], "rows": [[value]]}}) == set()


def test_a_lower_bound_above_its_upper_bound_is_seen():
    names = ["tokens_s_user_at_least", "tokens_s_user_at_most"]
    assert kinds("model_stages", {"stages": {"columns": names, "rows": [[5, 6]]}}) == set()
    assert kinds("model_stages", {"stages": {"columns": names, "rows": [[5, 6], [7, 6]]}}) == {"bounds crossed"}


def test_every_field_that_is_typed_as_a_share_is_judged_as_one():
    """So that a new name for a share does not pass unseen."""
    fields = [(name, field) for model in models() for name, field in model.model_fields.items()]
    shares = {
        name
        for name, field in fields
        if Share.__metadata__[0] in field.metadata or Share in get_args(field.annotation)
    } - {"before", "after"}  # named by the field that they stand in
    assert len(shares) > 7
    for name in shares:
        assert list(figures.wrong_of(name, float("inf"))) or list(figures.wrong_of(name, float("-inf"))), name


def test_a_saving_of_an_answer_is_held_against_its_window():
    formats = answered("tensor_formats")
    assert kinds("tensor_formats", formats) == set()
    at_most = formats["candidates"]["columns"].index("at_most_us")
    formats["candidates"]["rows"][0][at_most] = formats["kernel_us"] + 1
    assert kinds("tensor_formats", formats) == {"saving above the window"}
    host = answered("host_overhead")
    assert kinds("host_overhead", host) == set()
    host["trace_saving_ms"]["at_most"] = host["wall_ms"] + 0.01
    assert kinds("host_overhead", host) == {"saving above the window"}


def test_a_ledger_that_does_not_add_up_is_a_failure():
    budget = answered("time_budget")
    assert kinds("time_budget", budget) == set()
    budget["ledger"]["rows"].pop()
    assert kinds("time_budget", budget) == {"saving above the window"}


def test_no_entry_of_a_ledger_is_negative_or_above_its_window():
    budget = answered("time_budget")
    window_us = budget["window_us"]
    budget["ledger"]["rows"] = [["no_bound", 2 * window_us, 2, ""], ["above_bounds", -window_us, -1, ""]]
    assert kinds("time_budget", budget) == {"share", "negative"}
    budget["ledger"]["rows"] = [["no_bound", window_us, 1.1, ""]]
    assert kinds("time_budget", budget) == {"share"}


def test_pages_may_have_lines_and_nothing_else():
    assert kinds("skill_step", {"page": "x", "text": "a\nb"}) == set()
    assert kinds("skill_step", {"page": "x", "text": "a\rb"}) == {"unclean text"}


def test_a_page_over_the_wire_is_plain_text_without_structure():
    def over_the_wire(text, **more):
        _status, flaws = judged("skill_step", {"result": {"content": [{"type": "text", "text": text}], **more}})
        return {flaw.kind for flaw in flaws}

    assert over_the_wire("# a\nb") == set()
    assert over_the_wire("a\rb") == {"unclean text"}
    assert over_the_wire("# a", structuredContent={"text": "# a"}) == {"two answers"}


@for_all(
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
