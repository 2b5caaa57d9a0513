"""The answer of `optimization_check` for a terminal: plain text, 100 columns, colour only in a terminal."""

from __future__ import annotations

import textwrap
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable

WIDTH = 100
LABEL = 10  # columns of the label in front of a finding's lines


def check_report(answer: dict[str, Any], *, run: str, colour: bool = False) -> str:
    """The answer of `optimization_check`: findings ranked, with their evidence, then the seven steps."""
    bold = _bold if colour else str
    findings = answer.get("findings", [])
    lines = [bold(f"What could make run '{run}' faster"), "", *_window(answer.get("window"))]
    for rank, finding in enumerate(findings, start=1):
        lines += ["", *_finding(rank, finding, bold)]
    if not findings:
        lines += ["", "No check found anything it could prove."]
    if "next_cursor" in answer:
        more = f"ttnn-mcp call optimization_check run={run} cursor={answer['next_cursor']}"
        lines += ["", f"More findings, each saving less: {more}"]
    lines += ["", bold("The seven steps"), *_steps(answer.get("steps", []))]
    if "unexplained_share" in answer:
        lines += ["", f"{answer['unexplained_share']:.1%} of the window is explained by no finding."]
    lines += _unexplained(answer.get("unexplained", {}))
    for doubt in answer.get("trust", []):
        lines += _labelled("trust", doubt, 0)
    calls = answer.get("next", [])
    if calls:
        lines += ["", bold("Next")]
        lines += [line for call in calls for line in _call(call, run)]
    return "\n".join(line.rstrip() for line in lines) + "\n"


def _unexplained(table: dict[str, Any]) -> list[str]:
    """The kinds of op that no finding explains, and how near they are to what the chip can do."""
    lines: list[str] = []
    for row in table.get("rows", []):
        op = dict(zip(table["columns"], row, strict=True))
        bound = "no roofline" if op["roofline"] is None else f"at {op['roofline']:.0%} of its roofline"
        text = f"{op['op_code']} ({op['ops']}x, {duration(op['time_us'])}, {op['share']:.1%}): {bound}"
        lines += _labelled("", f"{text}, heaviest at line {op['heaviest_op']}", 2)
    return lines


def duration(microseconds: float) -> str:
    """A duration with its unit: us below a millisecond, otherwise ms."""
    return f"{microseconds / 1000:,.2f} ms" if abs(microseconds) >= 1000 else f"{microseconds:,.1f} us"


def _bold(text: str) -> str:
    return f"\x1b[1m{text}\x1b[0m"


def _window(window: dict[str, Any] | None) -> list[str]:
    if not window:
        return []
    kind = window["kind"].replace("_", " ")
    if window.get("iteration"):
        kind += f" {window['iteration']} of {window['of_iterations']}"
    warm = "warm" if window["warm"] else "not warm"
    rows = f"{window['rows']:,} ops (lines {window['first_row']} to {window['last_row']})"
    return _labelled("window", f"{kind}, {warm}, {rows}: {window['why']}", 0)


def _finding(rank: int, finding: dict[str, Any], bold: Callable[[str], str]) -> list[str]:
    saving = finding["saving_us"]
    bounds = f"{duration(saving['at_least'])} to {duration(saving['at_most'])}"
    lines = [
        bold(f"{rank}. {finding['check']}") + f"  (step {finding['step']}, {finding['share']:.1%} of the window)"
    ]
    lines += _labelled("", finding["claim"], 3)
    lines += _labelled("saves", f"{bounds}; assumes {finding['assumption']}", 3)
    for place, row in enumerate(_cited(finding["evidence"])):
        lines += _labelled("evidence" if place == 0 else " ", row, 3)
    for label in ("fix", "verify", "caveat"):
        if finding.get(label):
            lines += _labelled(label, finding[label], 3)
    return [*lines, *_labelled("read", finding["read_next"], 3)]


def _cited(evidence: list[dict[str, Any]]) -> list[str]:
    """One line per row of the report, with all its cells."""
    rows: dict[str, list[str]] = {}
    for cell in evidence:
        row, column, unit = cell["row"], cell["column"], cell.get("unit")
        location = f"{cell['source']}, {f'line {row}' if isinstance(row, int) else row}"
        suffix = f" {unit}" if unit and f"[{unit}]" not in column else ""
        rows.setdefault(location, []).append(f"{column} = {cell['value']}{suffix}")
    return [f"{location}: {'; '.join(cells)}" for location, cells in rows.items()]


def _steps(steps: list[dict[str, Any]]) -> list[str]:
    lines: list[str] = []
    for step in steps:
        head = f"{step['step']}  {step['title']:<24.24}  {step['status'].replace('_', ' '):<14}  "
        lines += _wrapped(step["why"], head)
    return lines


def _call(call: dict[str, Any], run: str) -> list[str]:
    arguments = {**call["arguments"], **({"run": run} if "run" in call["arguments"] else {})}
    words = " ".join(f"{name}={value}" for name, value in arguments.items())
    return _labelled("", f"ttnn-mcp call {call['tool']} {words}  # {call['why']}", 0)


def _labelled(label: str, text: str, indent: int) -> list[str]:
    return _wrapped(text, " " * indent + (f"{label:<{LABEL}}" if label else ""))


def _wrapped(text: str, lead: str) -> list[str]:
    return textwrap.wrap(
        text, WIDTH, initial_indent=lead, subsequent_indent=" " * len(lead), break_on_hyphens=False
    )
