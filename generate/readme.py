"""Write into README.md what the demo says: the beginning of its report, with its first finding.

python -m generate.readme        or `make fix`, which rewrites everything generated
"""

import asyncio
import re
import tempfile
from pathlib import Path

from ttnn_mcp.session.session import Session, Settings
from ttnn_mcp.shell import check_report
from ttnn_mcp.tools import TOOLS, answering

README = Path(__file__).parents[1] / "README.md"
EXCERPT = re.compile(r"(?<=<!-- demo -->\n).*?(?=<!-- /demo -->)", re.DOTALL)
FINDINGS_SHOWN = 1


def excerpt():
    """The beginning of the demo's report, fenced."""
    with tempfile.TemporaryDirectory() as folder:
        session = Session(Settings(state=Path(folder)))
        tool = answering.tool_named("optimization_check", TOOLS)
        answer, _text = asyncio.run(answering.answer(session, tool, {"run": "demo"}))
    report = check_report.check_report(answer, run="demo", width=100)
    shown = report.partition(f"\n{FINDINGS_SHOWN + 1}. ")[0].partition("\nThe seven steps")[0].rstrip()
    return f"```text\n{shown}\n...\n```\n"


def main():
    README.write_text(EXCERPT.sub(lambda _: excerpt(), README.read_text(encoding="utf-8")), encoding="utf-8")


if __name__ == "__main__":
    main()
