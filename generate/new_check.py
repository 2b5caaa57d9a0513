"""Lay out the files of a new check: its module in the folder of its step, and its test.

make new-check NAME=some-problem STEP=3        or python -m generate.new_check some-problem 3
"""

import re
import sys

from generate.layout import ROOT, left_to_do, refuse, write

CHECKS = ROOT / "ttnn_mcp" / "checks"
NAME = re.compile(r"[a-z][a-z0-9]*(-[a-z0-9]+)+")
MODULE = '''"""FILL IN what is wrong, in one sentence.

FILL IN why it costs time, and who says so: a file of TTNN, or a measurement.

The line: FILL IN from where on it is told, and whose line that is.

Silent FILL IN on what.
"""

from __future__ import annotations

import numpy as np

from ttnn_mcp.checks.check import Affected, Problem, Problems, WindowFacts, Words, check, ops_named
from ttnn_mcp.checks.worth import USUAL, Worth


@check(
    title="FILL IN a few words",
    of=ops_named("no FILL IN ops", "FILL IN the same name"),
    needs=(),  # FILL IN what it reads beside times, of ttnn_mcp/checks/needs.py: (OPERANDS,); without any, no such line
    worth=Worth(saving=USUAL),
)
def look(facts: WindowFacts) -> Problems:
    """Yield FILL IN which ops."""
    rows = np.flatnonzero(facts.named("FILL IN the name that list_ops gives the op: Tilize"))
    yield Problem(rows, facts.kernel_ns[rows], tell=_tell)


def _tell(ops: Affected) -> Words:
    return Words(
        claim=f"FILL IN what is seen ({len(ops.rows)}x, {ops.time}): {ops.example}",
        assumption="FILL IN what the bound rests on",
        fix="FILL IN TTNN code with this op's numbers",
    )
'''
TEST = '''"""{id}: FILL IN what is wrong, in one line."""

from tests.checks.rows import pass_time
from tests.profiles import Program


def program(amount: float) -> Program:
    """FILL IN: a program that has `amount` of what the check measures."""
    made = Program("wormhole_b0")
    x = made.tensor([1, 1, 64, 64])
    # the output is like the first input, but for shape=, dtype=, layout= and placement=
    made.op("FILL IN an op code of the CSV: TilizeDeviceOperation", [x], kernel_ns=round(1000 * amount))
    pass_time(made, 100_000)
    return made


def test_where_the_line_is(check):
    check.pair(program, silent=1.0, fires=2.0)  # FILL IN both sides of the line


def test_its_claim_is_sound(check):
    claim = check.assert_sound(program(2.0))  # FILL IN an amount that fires
    assert claim.at_most_ns.sum() == 2_000  # FILL IN what it can save
'''


def lay_out(name: str, step: str) -> str:
    """Write the files; returns what is left to do."""
    folders = {path.name[4]: path for path in CHECKS.glob("step[1-7]_*")}
    if not NAME.fullmatch(name):
        refuse("NAME is the problem seen, in kebab-case and two words or more: NAME=late-free.")
    if step not in folders:
        refuse(f"STEP is a step of the skill, {min(folders)} to {max(folders)}: STEP=3.")
    stem, folder = name.replace("-", "_"), folders[step]
    test = ROOT / "tests" / "checks" / folder.name / f"test_{stem}.py"
    write(folder / f"{stem}.py", MODULE)
    write(test, TEST.replace("{id}", name))
    return left_to_do(folder / f"{stem}.py", test)


if __name__ == "__main__":
    if len(sys.argv) != 3:
        refuse("make new-check NAME=some-problem STEP=3")
    print(lay_out(*sys.argv[1:]))
