"""Write into README.md what the demo says: its first screen.

python -m generate.readme        or `make fix`, which rewrites everything generated
"""

import asyncio
import re
import tempfile
from pathlib import Path

from ttnn_mcp.session.session import Session, Settings
from ttnn_mcp.shell import check_screen
from ttnn_mcp.shell.terminal import own_name
from ttnn_mcp.tools import TOOLS, answering

README = Path(__file__).parents[1] / "README.md"
EXCERPT = re.compile(r"(?<=<!-- demo -->\n).*?(?=<!-- /demo -->)", re.DOTALL)


def excerpt():
    """The demo's first screen, fenced, as a terminal shows it where the program is on the PATH."""
    with tempfile.TemporaryDirectory() as folder:
        session = Session(Settings(state=Path(folder)))
        tool = answering.tool_named("optimization_check", TOOLS)
        answer, _text = asyncio.run(answering.answer(session, tool, {"run": "demo"}))
    shown = check_screen.check_screen(answer, run="demo", width=80)
    return f"```text\n{shown.replace(own_name(), 'ttnn-mcp')}```\n"


def main():
    README.write_text(EXCERPT.sub(lambda _: excerpt(), README.read_text(encoding="utf-8")), encoding="utf-8")


if __name__ == "__main__":
    main()
