"""Lay out the files of a new tool: module, line in TOOLS, test, contract, its lines in the lists of tools.

make new-tool NAME=some_tool        or python -m generate.new_tool some_tool
"""

import re
import subprocess
import sys

from generate.layout import ROOT, after_last, imported, left_to_do, refuse, write

TOOLS = ROOT / "ttnn_mcp" / "tools" / "catalogue.py"
NAME = re.compile(r"[a-z]+(_[a-z]+)+")
MODULE = '''"""{name}: FILL IN the question."""

from __future__ import annotations

from ttnn_mcp.analyses.window_facts import WindowFacts
from ttnn_mcp.tools.tool import OfWindow, Tool
from ttnn_mcp.wire import Us, Window, Wire


class Arguments(OfWindow):
    """Arguments of {name}."""


class Answer(Wire):
    """Answer of {name}."""

    kernel_us: Us
    window: Window


def {name}(facts: WindowFacts, _asked: Arguments) -> Answer:
    """FILL IN what the assistant reads before it calls; every word is paid for."""
    return Answer(kernel_us=facts.total_ns / 1e3, window=facts.scope.window)


TOOL = Tool(
    name="{name}",
    title="FILL IN",
    arguments=Arguments,
    answer=Answer,
    ask={name},
    about="window",
    needs=("performance",),
    search_hint="FILL IN words by which a host finds it",
)
'''
TEST = '''"""{name}: FILL IN the question."""

from tests.asking import ask, session


async def test_the_demo_run_is_answered(tmp_path):
    answer = await ask(session(tmp_path), "{name}", run="demo")
    del answer["window"]
    assert answer == "FILL IN what is true of the demo run"
'''


def lay_out(name: str) -> str:
    """Write the files; returns what is left to do."""
    if not NAME.fullmatch(name):
        refuse("NAME is two words or more, in snake_case: NAME=list_ops.")
    module, test = ROOT / "ttnn_mcp" / "tools" / f"{name}.py", ROOT / "tests" / "tools" / f"test_{name}.py"
    write(module, MODULE.replace("{name}", name))
    write(test, TEST.replace("{name}", name))
    listed = imported(TOOLS.read_text(encoding="utf-8"), "ttnn_mcp.tools", name)
    TOOLS.write_text(after_last(listed, r"^    \w+\.TOOL,\n", f"    {name}.TOOL,"), encoding="utf-8")
    for generated in ("contracts", "listings"):  # in a Python that knows the new tool
        subprocess.run([sys.executable, "-m", f"generate.{generated}"], cwd=ROOT, check=True)
    return left_to_do(module, test)


if __name__ == "__main__":
    if len(sys.argv) != 2:
        refuse("make new-tool NAME=some_tool")
    print(lay_out(*sys.argv[1:]))
