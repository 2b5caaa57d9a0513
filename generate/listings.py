"""Write the lists that stand outside the package: tools in two tables and an import contract, checks on the pages.

python -m generate.listings        or `make fix`, which rewrites everything generated

What people wrote into the tables stays. A tool that is missing gets a line, one that is gone loses it.
"""

import re
import sys
from functools import partial
from textwrap import fill

from generate.layout import BLANK, ROOT
from ttnn_mcp.checks import CATALOGUE
from ttnn_mcp.checks.check import STEP_PAGES
from ttnn_mcp.tools import TOOLS
from ttnn_mcp.tools.tool import Tool

README = ROOT / "README.md"
SKILL = ROOT / "skills" / "optimizing-ttnn-models"
REFERENCE = SKILL / "quick-reference.md"
ARCHITECTURE = ROOT / "pyproject.toml"

README_TABLE = re.compile(r"(?<=\| tool \| question \|\n\|---\|---\|\n)(?:\|.*\n)*")
REFERENCE_TABLE = re.compile(r"(?<=\| question \| call \| read \|\n\|---\|---\|---\|\n)(?:\|.*\n)*")
SIDE_BY_SIDE = re.compile(
    r'(name = "rooms of tools/".*?layers = \[\n(?:    "\w+",\n)*)    "[^"\n]* \| [^"\n]*"', re.DOTALL
)
BULLETS = re.compile(r"(?<=## Checks of this step\n\n)(?:- .*\n(?:  .*\n)*)*")
PAGE_WIDTH = 120
SAMPLES = {"string": '"..."', "integer": "1", "number": "1.0", "boolean": "True", "array": "[]", "object": "{}"}


def merged(table: str, named: re.Pattern[str], lines: dict[str, str], *, in_order: bool) -> str:
    """The table's lines for these tools: as they are where they exist, else the given ones; others are dropped."""
    kept = {match.group(1): line for line in table.splitlines() if (match := named.search(line))}
    kept = {name: line for name, line in kept.items() if name in lines and BLANK not in line}
    order = lines if in_order else [*kept, *(name for name in lines if name not in kept)]
    return "".join(f"{kept.get(name, lines[name])}\n" for name in order)


def question(tool: Tool) -> str:
    """As the first line of its module asks it: `some_tool: which ops are slow?`."""
    return (sys.modules[tool.ask.__module__].__doc__ or "").partition(": ")[2].partition("\n")[0].rstrip(".")


def call(tool: Tool) -> str:
    """A call that the tool accepts, with what it cannot do without."""
    schema = tool.input_schema
    asked = []
    for name in schema.get("required", ()):
        field = schema["properties"][name]
        sample = f'"{field["enum"][0]}"' if "enum" in field else SAMPLES[field.get("type", "string")]
        asked.append(f"{name}={sample}")
    return f"{tool.name}({', '.join(asked)})"


def readme(text: str) -> str:
    lines = {tool.name: f"| `{tool.name}` | {question(tool)} |" for tool in TOOLS}
    named = re.compile(r"^\| `(\w+)`")
    return README_TABLE.sub(lambda match: merged(match.group(0), named, lines, in_order=True), text, count=1)


def reference(text: str) -> str:
    lines = {tool.name: f"| {tool.title} | `{call(tool)}` | |" for tool in TOOLS}
    named = re.compile(r"\| `(\w+)\(")
    return REFERENCE_TABLE.sub(lambda match: merged(match.group(0), named, lines, in_order=False), text, count=1)


def architecture(text: str) -> str:
    names = " | ".join(sorted(tool.name for tool in TOOLS))
    return SIDE_BY_SIDE.sub(lambda match: f'{match.group(1)}    "{names}"', text, count=1)


def checks(text: str, *, step: int) -> str:
    """The page of a step with its checks, each in the first sentence of its documentation."""
    lines = [
        fill(f"- `{check.id}`: {check.problem}", PAGE_WIDTH, subsequent_indent="  ", break_on_hyphens=False)
        for check in CATALOGUE
        if check.step == step
    ]
    return BULLETS.sub("".join(f"{line}\n" for line in lines), text, count=1)


LISTINGS = {
    README: readme,
    REFERENCE: reference,
    ARCHITECTURE: architecture,
    **{SKILL / page: partial(checks, step=step) for step, page in STEP_PAGES.items()},
}


def main() -> None:
    for path, rewritten in LISTINGS.items():
        text = path.read_text(encoding="utf-8")
        if (fresh := rewritten(text)) != text:  # a pyproject.toml that is written again has make set up .venv again
            path.write_text(fresh, encoding="utf-8")


if __name__ == "__main__":
    main()
