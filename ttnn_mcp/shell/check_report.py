"""The whole answer of `optimization_check` as text, as wide as the reader wants; check_screen.py has its beginning."""

from __future__ import annotations

import re
import textwrap
from collections.abc import Iterable, Iterator
from functools import partial
from typing import Any

from ttnn_mcp.checks.check import STEP_TITLES
from ttnn_mcp.checks.fixes import marked
from ttnn_mcp.records import dataclass
from ttnn_mcp.report.code_block import code_block
from ttnn_mcp.report.markup import light_words, saving_words, tried_words
from ttnn_mcp.report.sections import window_words
from ttnn_mcp.shell.questions import command, following, more
from ttnn_mcp.tools.answering import records

LABEL = 10  # columns of the label in front of a finding's lines
ROOMY = 70  # columns from which title, status and reason of a step stand side by side
LEAST = 12  # columns of text beside a lead
OF_NUMBER = re.compile(r"(?<=\d) (?=(?:[um]s|[kMG]?B)\b)")  # between a number and its unit


def check_report(answer: dict[str, Any], *, run: str, width: int, colour: bool = False) -> str:
    """The answer of `optimization_check`: the plan, the findings behind it with their evidence, the seven steps."""
    return _text(_Report(answer, run, colour, width).lines())


def edit_report(answer: dict[str, Any], *, run: str, width: int, colour: bool = False) -> str:
    """The answer with `details`: the findings of some edits, and what each group of shapes is to be given."""
    return _text(_Report(answer, run, colour, width).details())


def _text(lines: Iterable[str]) -> str:
    return "\n".join(line.rstrip() for line in lines) + "\n"


def duration(microseconds: float, beside: float = 0.0) -> str:
    """A duration in the unit and with the decimals that give the longest one `beside` it four digits."""
    longest = max(abs(microseconds), abs(beside))
    if longest < 1000:
        return f"{microseconds:,.1f} us"
    digits = sum(longest < least for least in (10_000, 100_000, 1_000_000))
    return f"{microseconds / 1000:,.{digits}f} ms"


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
        if answer.get("ran_out"):
            yield from self.headed(f"Memory: {answer['ran_out']}")
        if answer.get("window"):
            yield from self.labelled("window", window_words(answer["window"]), 0)
        yield from self.total()
        yield from self.plan()
        for rank, finding in enumerate(findings, start=1):
            yield ""
            yield from self.finding(rank, finding)
        if not findings:
            yield from ["", "No check found anything it could prove."]
        further = more(("call", "optimization_check", f"run={self.run}"), answer)
        if further:
            yield from ["", f"More findings, each saving less: {further}"]
        if answer.get("steps"):
            yield from ["", *self.headed("The seven steps"), *self.steps()]
        yield from self.unexplained()
        for doubt in answer.get("trust", []):
            yield from self.labelled("trust", doubt, 0)
        calls = following(answer, self.run)
        if calls:
            yield from ["", *self.headed("Next")]
            yield from (f"{call}  # {why}" for call, why in calls)  # whole, so that it can be pasted

    def details(self) -> Iterator[str]:
        findings = self.answer.get("findings", [])
        for rank, finding in enumerate(findings, start=1):
            yield from ([""] if rank > 1 else [])
            yield from self.finding(rank, finding)
        for group in records(self.answer.get("settings")):
            yield from ["", *self.headed(f"{group['edit']}, {group['shapes']}: lines {group['lines']}"), ""]
            yield from code_block(marked(group["sets"]), self.width)

    def headed(self, text: str, rest: str = "") -> list[str]:
        """A heading in bold and what follows it, in as many lines as it takes."""
        first, *others = in_lines(text + rest, self.width)
        bold = f"\x1b[1m{first[: len(text)]}\x1b[0m{first[len(text) :]}" if self.colour else first
        return [bold, *others]

    def finding(self, rank: int, finding: dict[str, Any]) -> Iterator[str]:
        saving = finding["saving_us"]
        whole = self.answer.get("total", {}).get("of", "the window")
        share = f"  (edit {finding['edit']}, step {finding['step']}, {finding['share']:.1%} of {whole})"
        yield from self.headed(f"{rank}. {finding['check']}", share)
        yield from self.labelled("", finding["claim"], 3)
        saves = saving_words(saving, partial(duration, beside=saving["at_most"]))
        yield from self.labelled("saves", f"{saves}; assumes {finding['assumption']}", 3)
        for place, row in enumerate(_cited(finding["evidence"])):
            yield from self.labelled("evidence" if place == 0 else " ", row, 3)
        code = code_block(_spoken_here(finding["fix"]), self.width)  # from the first column on: it is to be pasted
        yield from ["   fix", "", *code, ""] if code else self.labelled("fix", _spoken_here(finding["fix"]), 3)
        for label in ("verify", "caveat"):
            if finding.get(label):
                yield from self.labelled(label, finding[label], 3)
        yield from self.labelled("read", command("skill", finding["read_next"].removesuffix(".md")), 3)

    def steps(self) -> Iterator[str]:
        for step in self.answer.get("steps", []):
            title, status, place = STEP_TITLES[step["step"]], step["status"].replace("_", " "), f"{step['step']}  "
            if self.width >= ROOMY:
                yield from self.wrapped(step["why"], f"{place}{title:<24.24}  {status:<14}  ")
            else:
                yield from self.wrapped(f"{title}: {status}; {step['why']}", place)

    def total(self) -> Iterator[str]:
        """The window before and at best after the plan, beside the speed of light."""
        total = self.answer.get("total")
        if total:
            before, after, likely = (
                duration(total[name], total["before_us"]) for name in ("before_us", "after_us", "expected_after_us")
            )
            light = light_words(total, partial(duration, beside=total["before_us"]))
            if total["after_us"] < total["speed_of_light_us"]:
                light += f" in today's formats, {duration(total['floor_us'], total['before_us'])} after the plan"
            text = (
                f"{before} of {total['of']}; after the plan {likely} as far as savings are known, {after} at best; "
                f"speed of light {light}"
            )
            yield from self.labelled("total", text, 0)

    def plan(self) -> Iterator[str]:
        """A line for each edit, and one for where it is."""
        edits = records(self.answer.get("plan"))
        if edits:
            yield from ["", *self.headed("The plan"), ""]
        for edit in edits:
            before, most, expected = self.answer["total"]["before_us"], edit["alone_us"], edit["expected_us"]
            likely = (
                f"expected {duration(expected, most)} ({expected / before:.1%}), " if expected is not None else ""
            )
            tried = None if likely else tried_words(edit["basis"], edit.get("if_gains_us"), duration)
            saves = f"{likely}at most {duration(most)} ({most / before:.1%})"
            then = "" if edit["then_us"] == most else f", then {duration(edit['then_us'], most)}"
            notes = ("may cost accuracy" if edit["accuracy"] != "none" else None, tried)
            line = "; ".join(filter(None, (f"{edit['what']}: {saves}{then}", *notes)))
            yield from self.wrapped(line, f"{edit['rank']:>2}  ")
            relation = f"; {edit['relation']}" if edit["relation"] else ""
            yield from self.wrapped(f"{edit['edit']}, {edit['where']}{relation}", "    ")
        smaller = self.answer.get("smaller_edits", 0)
        if smaller:
            yield from self.wrapped(f"and {smaller} smaller: min_saving_share=0 shows them", "    ")
        for label, name in (("try", "trials"), ("risk", "risks")):
            for other in records(self.answer.get(name)):
                place = ", ".join(filter(None, (other["edit"], other["where"])))
                tried = tried_words(other.get("basis"), other.get("if_gains_us"), duration)
                yield from self.labelled(label, f"{other['what']} ({place})" + (f": {tried}" if tried else ""), 0)

    def unexplained(self) -> Iterator[str]:
        """The time above the floors after the plan, by why, and the kinds of op with most of it."""
        by_why = self.answer.get("unexplained_us")
        if not by_why:
            return
        parts = ", ".join(
            f"{why.replace('_', ' ')} {duration(us, max(by_why.values()))}" for why, us in by_why.items()
        )
        yield from ["", *self.wrapped(f"Left above the floors after the plan: {parts}.", "")]
        for op in records(self.answer.get("unexplained")):
            now, above = op["now_us"], op["above_us"]
            text = f"{op['op_code']} ({op['ops']}x, {duration(now)}): {duration(above, now)} above"
            why = op["why"].replace("_", " ")
            yield from self.labelled("", f"{text}, {why}, heaviest at line {op['heaviest_op']}", 2)
            if op.get("hint"):
                yield from self.labelled("try", op["hint"], 4)

    def labelled(self, label: str, text: str, indent: int) -> list[str]:
        return self.wrapped(text, " " * indent + (f"{label:<{LABEL}}" if label else ""))

    def wrapped(self, text: str, lead: str) -> list[str]:
        return in_lines(text, max(self.width, len(lead) + LEAST), lead)


def in_lines(text: str, width: int, lead: str = "") -> list[str]:
    """A text behind a lead in lines of this width, which end between words and never between a number and its unit."""
    kept = OF_NUMBER.sub("\xa0", text)
    lines = textwrap.wrap(
        kept, width, initial_indent=lead, subsequent_indent=" " * len(lead), break_on_hyphens=False
    )
    return [line.replace("\xa0", " ") for line in lines]


def _spoken_here(fix: str) -> str:
    """A fix that points to an option of the command, not to an argument of the tool."""
    return re.sub(r"\bdetails=", "--details ", fix)


def _cited(evidence: list[dict[str, Any]]) -> list[str]:
    """One line per row of the report, with all its cells."""
    rows: dict[str, list[str]] = {}
    for cell in evidence:
        row, column, unit = cell["row"], cell["column"], cell.get("unit")
        location = f"{cell['source']}, {f'line {row}' if isinstance(row, int) else row}"
        suffix = f" {unit}" if unit and f"[{unit}]" not in column else ""
        rows.setdefault(location, []).append(f"{column} = {cell['value']}{suffix}")
    return [f"{location}: {'; '.join(cells)}" for location, cells in rows.items()]
