"""The report as Markdown: the numbers of the tools, and no markup from a profile."""

import re
from dataclasses import fields

from tests.asking import ask, session
from tests.for_all import for_all
from tests.pairs import Model, write
from tests.report.test_page import HOSTILE, named
from ttnn_mcp.report.answers import Answers, answers_of
from ttnn_mcp.served.documents import meaning_of
from ttnn_mcp.shell.markdown import FINDINGS, comment


async def test_the_comment_has_verdict_budget_findings_and_peak(tmp_path):
    at = session(tmp_path)
    text = comment(await answers_of(at, "demo", None))
    budget, check = await ask(at, "time_budget", run="demo"), await ask(at, "optimization_check", run="demo")
    assert "**above its floor**" in text
    for row in budget["ledger"]["rows"]:
        assert re.search(rf"\| {row[0]} +\| {row[1]:,.2f} \| ", text.replace("\\", "")), row
    for finding in check["findings"]:
        assert f"**{finding['check']}**" in text
        assert f"at most {finding['saving_us']['at_most']:,.1f} us" in text
    assert text.count("   - fix:") == FINDINGS
    found = int(re.search(r"\*\*Findings: (\d+)\*\*", text)[1])
    assert f"{found - FINDINGS} more findings" in text
    assert "L1 peak: **1,132,864 B** of a bank, at operation 24, ttnn.conv2d, model.py:104." in text


async def test_the_comment_compares(tmp_path):
    at = session(tmp_path)
    before, after = (str(write(tmp_path / name, Model(up_ns=ns))) for name, ns in (("a", 90_000), ("b", 80_000)))
    answer = await ask(at, "compare_runs", baseline=before, candidate=after)
    text = comment(await answers_of(at, after, before))
    assert f"**{answer['verdict']}**" in text
    assert "kernel 1.163 -\\> 1.123 ms (-3.44%), beyond the noise of 2.00%; most by Matmul -0.040 ms" in text
    assert f"Noise 2%: {answer['noise_from']}." in text
    assert text.count("- PM columns hold no model for any op") == 1  # of the findings and of the run: told once
    assert len(text.encode()) < 65_536


async def test_text_of_a_profile_is_no_markdown(tmp_path):
    text = comment(
        await answers_of(session(tmp_path), named(tmp_path / "run", [*HOSTILE, "[a](javascript:b) |x| @all"]), None)
    )
    assert not re.search(r"(?<!\\)[<\[@]", text)


def told(**parts):
    """The comment where only these parts were answered."""
    nothing = {each.name: None for each in fields(Answers)}
    card = {"name": "mine", "id": "ab12"}
    return comment(Answers(**{**nothing, "card": card, "left_out": (), **parts})).splitlines()


def test_what_was_not_answered_is_not_told():
    assert told() == ["## TTNN report: mine (ab12)"]
    assert told(left_out=("No memory report.",))[3:] == ["- No memory report."]


def test_a_finding_is_told_with_what_it_has():
    finding = {
        "check": "few-cores",
        "step": 3,
        "claim": "It is slow.",
        "assumption": "time falls",
        "fix": "once: `ttnn.a(1)`",
        "verify": "Look.",
    }
    saving = {"at_least": 1.5, "at_most": 2000}
    cell = {"source": "ops.csv", "row": 7, "column": "CORE COUNT", "value": 8}
    findings = [{**finding, "saving_us": saving, "evidence": [cell]}]
    total = {"of": "kernels", "before_us": 5000, "after_us": 2400}
    check = {
        "findings": findings,
        "trust": [],
        "total": total,
        "plan": {
            "columns": [
                "rank",
                "edit",
                "what",
                "where",
                "share",
                "expected_us",
                "if_gains_us",
                "basis",
                "alone_us",
                "then_us",
                "accuracy",
            ],
            "rows": [
                [1, "more-cores", "few cores", "line 7", 0.5, 1000.5, None, "law", 2000, 2000, "none"],
                [2, "trace", "gaps", "all ops", 0.2, None, None, "trial", 600, 0, "none"],
                [3, "untried", "banks", "line 9", 0.1, None, 150, "17/85 gained elsewhere", 500, 0, "none"],
            ],
        },
    }
    assert told(check=check)[1:] == [
        *("", "**The plan: 5,000.0 us of kernels, at best 2,400.0 us after all edits**", ""),
        "|  | change | where | expected \\[us\\] | at most alone \\[us\\] | after those above \\[us\\] | accuracy |",
        "| --- | --- | --- | ---: | ---: | ---: | --- |",
        "| 1 | few cores | line 7 | 1,000.5 | 2,000.0 | 2,000.0 | - |",
        "| 2 | gaps | all ops | trial | 600.0 | 0.0 | - |",
        "| 3 | banks; 17/85 gained elsewhere | line 9 | if it gains 150.0 | 500.0 | 0.0 | - |",
        *("", f"- trial: {meaning_of('trial')}"),
        *("", "**Findings: 1**", ""),
        "1. **few-cores** (step 3): It is slow.",
        "   - saving: at least 1.5 us, at most 2,000.0 us (a trial: how much is not known); assumes time falls",
        *("   - fix:", "", "     ```python", "     # once", "     ttnn.a(1)", "     ```", ""),
        "   - verify: Look.",
        "   - evidence: ops.csv, line 7: CORE COUNT = 8",
        *("", "- no doubts"),
    ]


@for_all(
    ("rows", "left_out", "more"),
    [
        (0, 0, []),
        (20, 0, []),
        (21, 0, ["", "1 more rows are not listed."]),
        (8, 3, ["", "3 more rows are not listed."]),  # of the answer itself
        (21, 3, ["", "4 more rows are not listed."]),
    ],
)
def test_a_table_has_twenty_rows_and_none_without(rows, left_out, more):
    parts = {"tensors_bytes": 24, "circular_buffers_bytes": 1000}
    peak = {"operation": 24, "name": "ttnn.conv2d", "bytes_per_bank": 1024, **parts}
    live = {"columns": ["name", "share"], "rows": [[f"t{row}", 0.5] for row in range(rows)]}
    _title, _gap, level, held, *lines = told(memory={"l1_peak": peak, "live": live, "more_live": left_out})
    assert level == "L1 peak: **1,024 B** of a bank, at operation 24, ttnn.conv2d."
    assert held == "Of these: tensors 24 B, circular buffers 1,000 B."
    card = {"name": "run", "ran_out": "ran out of L1"}
    assert told(card=card, memory={"l1_peak": peak, "live": live})[2:5] == ["Memory: **ran out of L1**", "", level]
    table = ["", "**Live at the peak**", "", "| name | share |", "| --- | --- |"]
    cells = [f"| t{row} | 50% |" for row in range(min(rows, 20))]
    assert lines == ([*table, *cells, *more] if rows else [])


def test_a_comment_has_ten_findings_and_a_plan_where_there_is_one():
    finding = {"check": "made", "step": 1, "claim": "Slow.", "saving_us": {"at_most": 1}, "assumption": "so"}
    short, long = (f"ttnn.a({', '.join(f'argument_{at}=1' for at in range(count))})" for count in (6, 7))
    assert (len(short), len(long)) == (90, 104)
    fixes = ["Look there.", f"once `{short}`", f"once `{long}`", *[""] * 9]
    findings = [{**finding, "fix": fix, "evidence": []} for fix in fixes]
    lines = told(check={"findings": findings, "trust": [], "plan": {"columns": ["rank"], "rows": []}})
    assert "The plan" not in "".join(lines)
    total = {"of": "kernels", "before_us": 5, "after_us": 2}
    assert (
        told(check={"findings": findings, "trust": [], "total": total, "plan": {"columns": [], "rows": []}})
        == lines
    )
    assert "   - fix: Look there." in lines
    assert [line.partition(".")[0] for line in lines if "**made**" in line] == [str(1 + at) for at in range(10)]
    assert "2 more findings, each saving less, are not listed." in lines
    assert (f"     {short}" in lines, f"     {long}" in lines) == (True, False)
