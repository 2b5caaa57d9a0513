"""The answer of `optimization_check` as text: as wide as the reader wants, bold headings where colours are shown."""

from __future__ import annotations

import textwrap
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from ttnn_mcp.shell.outline import window_text
from ttnn_mcp.shell.suggestions import following, more

if TYPE_CHECKING:
    from collections.abc import Iterator

LABEL = 10  # columns of the label in front of a finding's lines
ROOMY = 70  # columns from which title, status and reason of a step stand side by side
LEAST = 12  # columns of text beside a lead


def check_report(answer: dict[str, Any], *, run: str, width: int, colour: bool = False) -> str:
    """The answer of `optimization_check`: findings ranked, with their evidence, then the seven steps."""
    return "\n".join(line.rstrip() for line in _Report(answer, run, colour, width).lines()) + "\n"


def duration(microseconds: float) -> str:
    """A duration with its unit: us below a millisecond, otherwise ms."""
    return f"{microseconds / 1000:,.2f} ms" if abs(microseconds) >= 1000 else f"{microseconds:,.1f} us"


@dataclass(frozen=True, slots=True)
class _Report:
    answer: dict[str, Any]
    run: str
    colour: bool
    width: int

    def lines(self) -> Iterator[str]:
        answer = self.answer
        findings = answer.get("findings", [])
        yield from self.headed(f"What could make run '{self.run}' faster")
        yield ""
        if answer.get("window"):
            yield from self.labelled("window", window_text(answer["window"]), 0)
        for rank, finding in enumerate(findings, start=1):
            yield ""
            yield from self.finding(rank, finding)
        if not findings:
            yield from ["", "No check found anything it could prove."]
        further = more(("call", "optimization_check", f"run={self.run}"), answer)
        if further:
            yield from ["", f"More findings, each saving less: {further}"]
        yield from ["", *self.headed("The seven steps"), *self.steps()]
        if "unexplained_share" in answer:
            share = f"{answer['unexplained_share']:.1%}"
            yield from ["", *self.wrapped(f"{share} of the window is explained by no finding.", "")]
        yield from self.unexplained()
        for doubt in answer.get("trust", []):
            yield from self.labelled("trust", doubt, 0)
        calls = following(answer, self.run)
        if calls:
            yield from ["", *self.headed("Next")]
            yield from (f"{command}  # {why}" for command, why in calls)  # whole, so that it can be pasted

    def headed(self, text: str, rest: str = "") -> list[str]:
        """A heading in bold and what follows it, in as many lines as it takes."""
        first, *others = textwrap.wrap(text + rest, self.width, break_on_hyphens=False)
        bold = f"\x1b[1m{first[: len(text)]}\x1b[0m{first[len(text) :]}" if self.colour else first
        return [bold, *others]

    def finding(self, rank: int, finding: dict[str, Any]) -> Iterator[str]:
        saving = finding["saving_us"]
        bounds = f"{duration(saving['at_least'])} to {duration(saving['at_most'])}"
        share = f"  (step {finding['step']}, {finding['share']:.1%} of the window)"
        yield from self.headed(f"{rank}. {finding['check']}", share)
        yield from self.labelled("", finding["claim"], 3)
        yield from self.labelled("saves", f"{bounds}; assumes {finding['assumption']}", 3)
        for place, row in enumerate(_cited(finding["evidence"])):
            yield from self.labelled("evidence" if place == 0 else " ", row, 3)
        for label in ("fix", "verify", "caveat"):
            if finding.get(label):
                yield from self.labelled(label, finding[label], 3)
        yield from self.labelled("read", finding["read_next"], 3)

    def steps(self) -> Iterator[str]:
        for step in self.answer.get("steps", []):
            status = step["status"].replace("_", " ")
            if self.width >= ROOMY:
                yield from self.wrapped(step["why"], f"{step['step']}  {step['title']:<24.24}  {status:<14}  ")
            else:
                yield from self.wrapped(f"{step['title']}: {status}; {step['why']}", f"{step['step']}  ")

    def unexplained(self) -> Iterator[str]:
        """The kinds of op that no finding explains, and how near they are to what the chip can do."""
        table = self.answer.get("unexplained", {})
        for row in table.get("rows", []):
            op = dict(zip(table["columns"], row, strict=True))
            bound = "no roofline" if op["roofline"] is None else f"at {op['roofline']:.0%} of its roofline"
            text = f"{op['op_code']} ({op['ops']}x, {duration(op['time_us'])}, {op['share']:.1%}): {bound}"
            yield from self.labelled("", f"{text}, heaviest at line {op['heaviest_op']}", 2)

    def labelled(self, label: str, text: str, indent: int) -> list[str]:
        return self.wrapped(text, " " * indent + (f"{label:<{LABEL}}" if label else ""))

    def wrapped(self, text: str, lead: str) -> list[str]:
        return textwrap.wrap(
            text,
            max(self.width, len(lead) + LEAST),
            initial_indent=lead,
            subsequent_indent=" " * len(lead),
            break_on_hyphens=False,
        )


def _cited(evidence: list[dict[str, Any]]) -> list[str]:
    """One line per row of the report, with all its cells."""
    rows: dict[str, list[str]] = {}
    for cell in evidence:
        row, column, unit = cell["row"], cell["column"], cell.get("unit")
        location = f"{cell['source']}, {f'line {row}' if isinstance(row, int) else row}"
        suffix = f" {unit}" if unit and f"[{unit}]" not in column else ""
        rows.setdefault(location, []).append(f"{column} = {cell['value']}{suffix}")
    return [f"{location}: {'; '.join(cells)}" for location, cells in rows.items()]
