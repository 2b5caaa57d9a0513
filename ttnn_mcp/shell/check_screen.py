"""The first screen of `check`: how fast it is, how fast it could be, the plan as a table, and what to do first."""

from __future__ import annotations

import re
import textwrap
from collections.abc import Iterator
from functools import partial
from itertools import zip_longest
from typing import Any

from ttnn_mcp.records import dataclass
from ttnn_mcp.report.markup import TRIAL, light_words
from ttnn_mcp.report.sections import ops_counted
from ttnn_mcp.shell.check_report import duration, in_lines
from ttnn_mcp.shell.questions import command
from ttnn_mcp.tools.answering import records

LINES = 24  # of a terminal as it opens: 80 columns, 24 lines
CLAIM_LINES, OTHER_LINES = 3, 2  # of one sentence: what is cut stands in the whole answer
GAP = "  "
TIME = 8  # columns of a saving: '999.9 us'
ACCURACY = "accuracy"  # the heading is as wide as its column
MODEL_LINE = re.compile(r"\(([^()]+:\d+)\)$")
OTHERS = re.compile(r" and (\d+) more\b")
TRIED = re.compile(r"(\d+/\d+)[\d/, ]* gained\b")
IN_LAYERS = re.compile(r" of \d+ in each of (\d+) layers")


def check_screen(
    answer: dict[str, Any], *, run: str, width: int, colour: bool = False, wall_ms: str | None = None
) -> str:
    """At most `LINES` lines of the answer of `optimization_check`; its commands repeat the wall time."""
    return "\n".join(line.rstrip() for line in _Screen(answer, run, width, colour, wall_ms).lines()) + "\n"


def verdict(answer: dict[str, Any]) -> list[str]:
    """How long the window takes, and what that means, in a sentence each; none where no times are told."""
    screen, total = _Screen(answer, "", 0, colour=False), answer.get("total")
    return [screen.times(total), screen.verdict(total)] if total else []


@dataclass(frozen=True, slots=True)
class _Screen:
    answer: dict[str, Any]
    run: str
    width: int
    colour: bool
    wall_ms: str | None = None

    def lines(self) -> Iterator[str]:
        top, rest = [*self.top()], [*self.first(), *self.doubt(), *self.commands()]
        yield from top
        yield from self.plan(LINES - len(top) - len(rest))
        yield from rest

    def top(self) -> Iterator[str]:
        """What is looked at, how long it takes, and what that means."""
        yield from _cut(self.bold(f"{self.run}: {_window(self.answer.get('window'))}"))
        if self.answer.get("ran_out"):
            yield from self.bold(f"Memory: {self.answer['ran_out']}")
        for sentence in verdict(self.answer):
            yield from self.wrapped(sentence)

    def times(self, total: dict[str, Any]) -> str:
        """'kernels 5.00 ms; wall time 10.00 ms; speed of light 0.80 ms'."""
        kernel_us = self.answer["kernel_ms"] * 1000
        longest = max(total["before_us"], kernel_us)
        kernel, light = duration(kernel_us, longest), light_words(total, partial(duration, beside=longest))
        window: dict[str, Any] = self.answer.get("window") or {}
        why = "it has no gaps" if window.get("warm") else "not a warm window"
        wall = duration(total["before_us"]) if total["of"] == "kernels and gaps" else f"unknown: {why}"
        return f"kernels {kernel}; wall time {wall}; speed of light {light}"

    def verdict(self, total: dict[str, Any]) -> str:
        """How far from the speed of light it is, what of it are gaps, and what the plan is worth."""
        before, light = total["before_us"], total["speed_of_light_us"]
        bound = "At most " if total.get("modelled_share") is not None else ""
        far = [f"{bound}{before / light:.1f} times its speed of light"] if light else []
        gaps_us = before - self.answer["kernel_ms"] * 1000
        if total["of"] == "kernels and gaps" and gaps_us >= 0:  # below 0 kernels ran at one time
            far.append(f"{gaps_us / before:.0%} of it waiting between kernels")
        known, most = before - total["expected_after_us"], before - total["after_us"]
        if not records(self.answer.get("plan")):
            return f"{', '.join(far)}: no check found anything that would pay."
        saves = f"saves {_with_share(known, before)} as far as known" if known > 0 else "is all trials"
        return f"{', '.join(far)}. The plan {saves}, at most {_with_share(most, before)}."

    def plan(self, room: int) -> Iterator[str]:
        """A row for each edit, as many as `room` lines hold."""
        edits = records(self.answer.get("plan"))
        if not edits:
            return
        head, blocks = self.table(edits) or ([], self.sentences(edits))
        yield from ["", *head]
        room -= 1 + len(head)  # and the empty line
        rows, notes = list[str](), self.notes(edits, 0)
        for shown, lines in enumerate(blocks, start=1):
            below = self.notes(edits, shown)
            if room < len(rows) + len(lines) + len(below):
                break
            rows, notes = [*rows, *lines], below
        yield from (*rows, *notes)

    def notes(self, edits: list[dict[str, Any]], shown: int) -> list[str]:
        """The lines below the first edits: how many more there are, and what words among them mean."""
        left = len(edits) - shown + self.answer.get("smaller_edits", 0)
        notes = [f"and {left} more: --all"] if left else []
        if any(edit["basis"] == TRIAL for edit in edits[:shown]):
            notes.append("trial: only a bound is known")
        tried = next((_tried(edit) for edit in edits[:shown] if _tried(edit)), None)
        if tried:
            notes.append(f"{tried}: tries that gained elsewhere")
        last = [str(edit["rank"]) for edit in edits[:shown] if "symptom" in (edit.get("relation") or "")]
        if last:
            notes.append(f"{', '.join(last)} last, as a symptom that edits above may take away")
        return [f"   {line}" for line in self.wrapped("; ".join(notes), self.width - 3)]

    def table(self, edits: list[dict[str, Any]]) -> tuple[list[str], Iterator[list[str]]] | None:
        """The heading, and the lines of each edit; None where the terminal is too narrow for names."""
        places = [_place(edit["where"]) for edit in edits]
        names = [edit["what"] for edit in edits]
        wide = self.width - len("99 ") - len(GAP) - 2 * (len(GAP) + TIME) - len(GAP) - len(ACCURACY)
        at_least = [max(map(len, " ".join(texts).split())) for texts in (["what", *names], ["where", *places])]
        if sum(at_least) > wide:
            return None
        whole = max(map(len, names))
        where = min(max(map(len, places)), max(wide * 2 // 5, wide - whole))
        where = min(max(where, at_least[1]), wide - at_least[0])
        what = min(max(whole, at_least[0]), wide - where)
        heads = f"{'expected':>{TIME}}{GAP}{'at most':>{TIME}}{GAP}{ACCURACY}"
        head = self.bold(f" # {'what':<{what}}{GAP}{'where':<{where}}{GAP}{heads}")
        longest = max(edit["alone_us"] for edit in edits)
        return head, (_row(edit, place, what, where, longest) for edit, place in zip(edits, places, strict=True))

    def sentences(self, edits: list[dict[str, Any]]) -> Iterator[list[str]]:
        """The lines of each edit where no table fits."""
        for edit in edits:
            expected, most, accuracy = _figures(edit, edit["alone_us"])
            cost = "" if accuracy == "-" else f", {accuracy} accuracy"
            text = f"{edit['what']}: {expected}, at most {most}{cost}"
            yield in_lines(text, self.width, f"{edit['rank']:>2} ")

    def first(self) -> Iterator[str]:
        """The first edit, and its heaviest claim."""
        edits = records(self.answer.get("plan"))
        finding = next(
            (one for one in self.answer.get("findings", ()) if edits and one["edit"] == edits[0]["edit"]), None
        )
        if finding is None:
            return
        yield ""
        line = _model_line(finding)
        yield from self.bold(f"Do this first: {edits[0]['what']}{f' ({line})' if line else ''}")
        yield from (f"   {text}" for text in _cut(self.wrapped(finding["claim"], self.width - 3), CLAIM_LINES))

    def commands(self) -> Iterator[str]:
        """What shows the rest, each whole, so that it can be pasted."""
        more = {"--all": "all findings, the seven steps; or --explain WORD"}
        if records(self.answer.get("plan")):
            more = {"--details 1": "its code, evidence, how to verify"} | more
        yield ""
        wall = () if self.wall_ms is None else ("--wall-ms", self.wall_ms)
        for option, why in more.items():
            line = f"{command('check', self.run, *wall)} {option}"
            with_reason = f"{line}  # {why}"
            yield with_reason if len(with_reason) <= self.width else line

    def doubt(self) -> Iterator[str]:
        """What is in doubt."""
        trust = self.answer.get("trust", ())
        if trust:
            rest = f" (and {len(trust) - 1} more: --all)" if len(trust) > 1 else ""
            yield ""
            yield from _cut(self.wrapped(f"In doubt: {trust[0]}{rest}"))

    def bold(self, text: str) -> list[str]:
        lines = self.wrapped(text)
        return [f"\x1b[1m{line}\x1b[0m" for line in lines] if self.colour else lines

    def wrapped(self, text: str, width: int | None = None) -> list[str]:
        return in_lines(text, width or self.width)


def _window(window: dict[str, Any] | None) -> str:
    """'iteration 2 of 2, warm, 40 ops', and that it is in doubt."""
    if not window:
        return "no window"
    kind = window["kind"].replace("_", " ")
    if window.get("iteration"):
        kind += f" {window['iteration']} of {window['of_iterations']}"
    doubts = "".join(f"; IN DOUBT: {doubt}" for doubt in window.get("doubts", ()))
    return f"{kind}, {'warm' if window['warm'] else 'not warm'}, {ops_counted(window['rows'])}{doubts}"


def _with_share(us: float, whole: float) -> str:
    return f"{duration(us, whole)} ({us / whole:.0%})" if whole else duration(us)


def _cut(lines: list[str], most: int = OTHER_LINES) -> list[str]:
    return lines if len(lines) <= most else [*lines[: most - 1], f"{lines[most - 1][:-3]}..."]


def _row(edit: dict[str, Any], place: str, what: int, where: int, longest: float) -> list[str]:
    """The lines of an edit in columns of these widths; names are not divided."""
    expected, most, accuracy = _figures(edit, longest)
    name = textwrap.wrap(edit["what"], what)
    lying = textwrap.wrap(place, where, break_on_hyphens=False)
    (first, at), *others = zip_longest(name, lying, fillvalue="")
    figures = f"{expected:>{TIME}}{GAP}{most:>{TIME}}{GAP}{accuracy}"
    return [
        f"{edit['rank']:>2} {first:<{what}}{GAP}{at:<{where}}{GAP}{figures}",
        *(f"   {more:<{what}}{GAP}{rest}" for more, rest in others),
    ]


def _figures(edit: dict[str, Any], longest: float) -> tuple[str, str, str]:
    """What an edit is expected to save, saves at most, and whether it may cost accuracy; in one unit."""
    trial = edit["expected_us"] is None
    expected = (_tried(edit) or TRIAL) if trial else duration(edit["expected_us"], longest)
    return expected, duration(edit["alone_us"], longest), "-" if edit["accuracy"] == "none" else edit["accuracy"]


def _tried(edit: dict[str, Any]) -> str | None:
    """'17/85': how many measured tries like this trial gained."""
    tried = TRIED.match(edit["basis"])
    return tried[1] if tried else None


def _place(where: str) -> str:
    """'model.py:104 +7' for 'line 64 and 7 more (model.py:104)'; as it is where no line of the model is known."""
    line, others = MODEL_LINE.search(where), OTHERS.search(where)
    more = f" +{others[1]}" if others else ""
    return f"{line[1]}{more}" if line else IN_LAYERS.sub(r"; \1 layers", OTHERS.sub(more, where))


def _model_line(finding: dict[str, Any]) -> str | None:
    """The line of the model that is cited last."""
    cells = [cell for cell in finding["evidence"] if cell["column"] in ("LOC", "stack_traces")]
    return str(cells[-1]["value"]) if cells else None
