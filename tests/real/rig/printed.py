"""The code of a fix as a person copies it from the terminal or from a pipe, whatever its width."""

from __future__ import annotations

import ast
from typing import Any

from ttnn_mcp.checks.fixes import marked
from ttnn_mcp.shell.check_report import edit_report
from ttnn_mcp.shell.terminal import NO_TERMINAL

WIDTHS = (60, 80, 120, NO_TERMINAL)  # three terminals, and a pipe
FINDING: dict[str, Any] = {
    "check": "a-check", "edit": "an-edit", "step": 1, "claim": "c", "share": 0.5, "assumption": "a", "evidence": [],
    "saving_us": {"at_most": 1}, "verify": "v", "read_next": "r",
}  # fmt: skip


def copied(fix: str, width: int) -> str:
    """The lines between 'fix' and 'verify'; empty where the fix is told in words alone."""
    printed = edit_report({"findings": [{**FINDING, "fix": marked(fix)}]}, run="demo", width=width)
    _before, head, rest = printed.partition("   fix\n")
    return rest.partition("\n   verify ")[0] if head else ""


def pasted(fix: str) -> str:
    """The statements of a fix, the same from every width; empty where it is told in words alone.

    Raises:
        ValueError: what stands in the terminal cannot be pasted, or depends on its width.
    """
    try:
        programs = {ast.unparse(ast.parse(copied(fix, width))) for width in WIDTHS}
    except SyntaxError as error:
        raise ValueError(f"cannot be pasted: {fix}") from error
    if len(programs) > 1:
        raise ValueError(f"depends on the width: {fix}")
    return programs.pop()
