"""`ttnn-mcp ops RUN --format tt-perf-report`: the CSV of tt-perf-report, for a script that reads one."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ttnn_mcp.checks.fixes import CODE
from ttnn_mcp.errors import QuestionRefused
from ttnn_mcp.shell.asking import all_findings
from ttnn_mcp.shell.perf_report.table import perf_report_csv
from ttnn_mcp.shell.questions import QUESTIONS, arguments

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from ttnn_mcp.session.session import Session

EVERYTHING = "iteration=all"


async def perf_report(session: Session, words: Sequence[str], tell: Callable[[str], None]) -> str:
    """The CSV of a run, as tt-perf-report writes it by default; with `iteration=all` as with --ignore-signposts.

    Raises:
        TtnnMcpError: the run cannot be opened, or has no times.
    """
    stated, _named, choice = await arguments(session, QUESTIONS["ops"], words)
    if choice:
        tell(choice)
    run = await session.run(str(stated["run"]))
    if run.performance is None:
        raise QuestionRefused("This format needs a performance report: this run has none.")
    findings = (await all_findings(session, {"run": run.id}))["findings"]
    advice: dict[int, list[str]] = {}
    for finding in findings:
        lines = dict.fromkeys(cell["row"] for cell in finding["evidence"] if isinstance(cell["row"], int))
        for line in lines:
            advice.setdefault(line, []).append(f"{finding['check']}: {finding['fix'].replace(CODE, '')}")
    joined = {line: " • ".join(texts) for line, texts in advice.items()}
    text = perf_report_csv(run.performance, joined, signposts=EVERYTHING not in words)
    if text.count("\n") == 1:
        tell(f"tt-perf-report takes no op between the signposts of this report; {EVERYTHING} takes all.")
    return text
