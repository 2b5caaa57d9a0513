"""The report as Markdown: the numbers of the tools, and no markup from a profile."""

import re

from tests.asking import ask, session
from tests.pairs import Model, write
from tests.report.test_page import HOSTILE, named
from ttnn_mcp.report.answers import answers_of
from ttnn_mcp.shell.report_markdown import FINDINGS, comment


async def test_the_comment_has_verdict_budget_findings_and_peak(tmp_path):
    at = session(tmp_path)
    text = comment(await answers_of(at, "demo", None))
    budget, check = await ask(at, "time_budget", run="demo"), await ask(at, "optimization_check", run="demo")
    assert "**above its floor**" in text
    for row in budget["ledger"]["rows"]:
        assert re.search(rf"\| {row[0]} +\| {row[1]:,} \| ", text.replace("\\", "")), row
    for finding in check["findings"]:
        assert f"**{finding['check']}**" in text
        assert f"saves {finding['saving_us']['at_least']:,} to {finding['saving_us']['at_most']:,} us" in text
    assert text.count("   - fix: ") == FINDINGS
    assert "7 more findings" in text
    assert "L1 peak: **1,132,864 B** of a bank, at operation 24, ttnn.conv2d, model.py:104." in text


async def test_the_comment_compares(tmp_path):
    at = session(tmp_path)
    before, after = (str(write(tmp_path / name, Model(up_ns=ns))) for name, ns in (("a", 90_000), ("b", 80_000)))
    answer = await ask(at, "compare_runs", baseline=before, candidate=after)
    text = comment(await answers_of(at, after, before))
    assert f"**{answer['verdict']}**" in text
    assert f"{answer['kernel_ms']['before']:,} -> {answer['kernel_ms']['after']:,} ms" in text
    assert text.count("- PM columns hold no model for any op") == 1  # of the findings and of the run: told once
    assert len(text.encode()) < 65_536


async def test_text_of_a_profile_is_no_markdown(tmp_path):
    text = comment(
        await answers_of(session(tmp_path), named(tmp_path / "run", [*HOSTILE, "[a](javascript:b) |x| @all"]), None)
    )
    assert not re.search(r"(?<!\\)[<\[@]", text)
