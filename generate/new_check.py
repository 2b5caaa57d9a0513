"""Lay out the files of a new check: module, line in CATALOGUE, test, bullet in the page of its step.

make new-check NAME=some-problem STEP=3        or python -m generate.new_check some-problem 3
"""

import re
import sys

from generate.layout import BLANK, ROOT, after_last, imported, left_to_do, refuse, write

CATALOGUE = ROOT / "ttnn_mcp" / "checks" / "__init__.py"
NAME = re.compile(r"[a-z][a-z0-9]*(-[a-z0-9]+)+")
MODULE = '''"""FILL IN what is wrong, in one sentence.

FILL IN why it costs time, and who says so: a file of TTNN, or a measurement.

The line: FILL IN from where on it is told, and whose line that is.

Silent FILL IN on what.
"""

from __future__ import annotations

import numpy as np

from ttnn_mcp.checks.check import Check, Claim, Claims, WindowFacts, ops_named
from ttnn_mcp.checks.shared.wording import cite_op, example, time_of
from ttnn_mcp.checks.worth import USUAL, Worth


def look(facts: WindowFacts) -> Claims:
    """Yield one claim over FILL IN which ops."""
    rows = np.flatnonzero(facts.named("FILL IN"))
    if not len(rows):
        return
    row = facts.heaviest(rows, 1)[0]
    yield Claim(
        claim=f"FILL IN what is seen ({len(rows)}x, {time_of(facts, rows)}): {example(facts, row)}",
        rows=rows,
        at_most_ns=facts.kernel_ns[rows],
        assumption="FILL IN what the bound rests on",
        evidence=cite_op(facts, row),
        fix="FILL IN TTNN code with this op's numbers",
        verify="FILL IN which tool to call, and what must move; PCC >= 0.99",
    )


CHECK = Check(
    id="{id}",
    title="FILL IN a few words",
    step={step},
    look=look,
    of=ops_named("no FILL IN ops", "FILL IN"),
    worth=Worth(saving=USUAL),
)
'''
TEST = '''"""{id}: FILL IN what is wrong, in one line."""

from tests.checks.rows import pass_time
from tests.profiles import Program


def program(amount: float) -> Program:
    """FILL IN: a program that has `amount` of what the check measures."""
    made = Program("wormhole_b0")
    pass_time(made, 1000 * amount)
    return made


def test_where_the_line_is(check):
    check.pair(program, silent=1.0, fires=2.0)  # FILL IN both sides of the line
'''


def lay_out(name: str, step: str) -> str:
    """Write the files; returns what is left to do."""
    folders = {path.name[4]: path for path in CATALOGUE.parent.glob("step[1-7]_*")}
    if not NAME.fullmatch(name):
        refuse("NAME is the problem seen, in kebab-case and two words or more: NAME=late-free.")
    if step not in folders:
        refuse(f"STEP is a step of the skill, {min(folders)} to {max(folders)}: STEP=3.")
    stem, folder = name.replace("-", "_"), folders[step]
    package = f"ttnn_mcp.checks.{folder.name}"
    (page,) = ROOT.glob(f"skills/*/step-0{step}-*.md")
    test = ROOT / "tests" / "checks" / folder.name / f"test_{stem}.py"
    listed = CATALOGUE.read_text(encoding="utf-8")
    siblings = "|".join(sorted(path.stem for path in folder.glob("*.py") if path.stem != "__init__"))
    write(folder / f"{stem}.py", MODULE.replace("{id}", name).replace("{step}", step))
    write(test, TEST.replace("{id}", name))
    listed = after_last(imported(listed, package, stem), rf"^    (?:{siblings})\.CHECK,\n", f"    {stem}.CHECK,")
    CATALOGUE.write_text(listed, encoding="utf-8")
    before, heading, section = page.read_text(encoding="utf-8").partition("## Checks of this step\n")
    bullets, _, rest = section.partition("\n## ")
    bullets = after_last(bullets, r"^- `.*\n(?:  .*\n)*", f"- `{name}`: {BLANK}")
    page.write_text(f"{before}{heading}{bullets}\n## {rest}", encoding="utf-8")
    return left_to_do(folder / f"{stem}.py", test, page)


if __name__ == "__main__":
    if len(sys.argv) != 3:
        refuse("make new-check NAME=some-problem STEP=3")
    print(lay_out(*sys.argv[1:]))
