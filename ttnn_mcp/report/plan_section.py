"""The sections of a page about what to change: the plan with its total and what to do first, and every finding."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from ttnn_mcp.checks.check import STEP_TITLES
from ttnn_mcp.report.code_block import code_block
from ttnn_mcp.report.markup import (
    TRIAL,
    Markup,
    element,
    gained_words,
    joined,
    light_words,
    microseconds,
    number,
    percent,
    rows_told,
    saving_words,
    table,
    worded,
)
from ttnn_mcp.report.sections import figures, folded, listed, paragraph, section
from ttnn_mcp.tools.answering import records

if TYPE_CHECKING:
    Answer = dict[str, Any]

CODE_COLUMNS = 100  # of code beside the margins of a page 1400 pixels wide, with room to spare (ours)
FIRST_ROWS = 8  # of the plan: what a screen of 900 pixels holds below verdict and bar (ours)
HEADS = ("", "change", "where", "expected [us]", "at most alone [us]", "after those above [us]", "accuracy")
NUMBERS = frozenset(HEADS[3:6])


def plan_section(check: Answer) -> Markup:
    """The edits in their order, what is left after them, and the first of them in full."""
    edits = records(check["plan"])
    if not edits:
        return section("plan", "The plan", paragraph("No check found anything it could prove."))
    more = edits[FIRST_ROWS:]
    others = folded(f"{len(more)} more", _edits(more, None)) if more else Markup()
    return section("plan", "The plan", _first(check, edits[0]), _edits(edits[:FIRST_ROWS], check["total"]), others)


def _first(check: Answer, edit: Answer) -> Markup:
    finding = next((one for one in check["findings"] if one.get("edit") == edit["edit"]), None)
    if finding is None:
        return Markup()
    where = f" ({edit['where']})" if edit["where"] else ""
    title = paragraph(
        element("strong", f"Do this first: {edit['what']}{where}. "),
        element("span", finding["claim"], class_="quiet"),
    )
    return element("div", _line_buttons(finding), title, fix_block(finding), class_="first")


def fix_block(finding: Answer) -> Markup:
    """What to write instead: code as lines to copy, or words."""
    fix = finding.get("fix") or ""
    code = code_block(fix, CODE_COLUMNS)
    return (
        element("pre", element("code", "\n".join(code))) if code else paragraph(f"Fix: {fix}") if fix else Markup()
    )


def _line_buttons(finding: Answer) -> Markup:
    """They lead to the ops that are cited, in the timeline."""
    lines = dict.fromkeys(cell["row"] for cell in finding["evidence"] if isinstance(cell["row"], int))
    buttons = [element("button", f"Show line {line}", type="button", data_line=line) for line in lines]
    return element("p", *buttons, class_="buttons")


def _edits(edits: Sequence[Answer], total: Answer | None) -> Markup:
    kinds = ["number" if head in NUMBERS else None for head in HEADS]
    heads = [element("th", worded(head), scope="col", class_=kind) for head, kind in zip(HEADS, kinds, strict=True)]
    body = [_row("td", _cells(edit), kinds) for edit in edits]
    foot = [element("tfoot", _row("th", _total(total), kinds))] if total else []
    filled = element(
        "table",
        element("caption", "The edits in their order" if total else "The edits behind them", class_="unseen"),
        element("thead", element("tr", *heads)),
        element("tbody", *body),
        *foot,
        class_="cards",
    )
    return element("div", filled, class_="wide", tabindex="0", role="region", aria_label="The plan")


def _cells(edit: Answer) -> list[str]:
    notes = [note for note in (edit.get("relation"), tried_of(edit)) if note]
    quiet = [element("span", f" {'; '.join(notes)}", class_="quiet")] if notes else []
    opener = element("button", edit["what"], type="button", data_edit=edit["edit"], class_="plain")
    return [
        number(edit["rank"]),
        joined(opener, *quiet),
        edit["where"] or "-",
        *map(worded, told_of(edit)),
    ]


def tried_of(edit: Answer) -> str | None:
    """How many tries gained elsewhere, of an edit of which nothing is expected; None where too few are known."""
    return gained_words(edit["basis"]) if edit["expected_us"] is None else None


def told_of(edit: Answer) -> list[str]:
    """What an edit saves in the three columns of numbers, and what it costs."""
    likely, *bounds = [edit[name] for name in ("expected_us", "alone_us", "then_us")]
    if_gains = edit.get("if_gains_us")
    expected = _told(likely) if if_gains is None else f"if it gains {if_gains:,.1f}"
    cost = "-" if edit["accuracy"] == "none" else edit["accuracy"]
    return [expected, *map(_told, bounds), cost]


def _told(us: float | None) -> str:
    return TRIAL if us is None else f"{us:,.1f}"


def _total(total: Answer) -> list[str]:
    left = f"Left of {microseconds(total['before_us'])} of {total['of']}"
    light = f"speed of light {light_words(total, microseconds)}"
    return ["", left, light, *(f"{total[name]:,.1f}" for name in ("expected_after_us", "after_us")), "", ""]


def _row(tag: str, cells: Sequence[str], kinds: Sequence[str | None]) -> Markup:
    """A row whose cells say what they are, for a page too narrow for columns."""
    each = zip(cells, HEADS, kinds, strict=True)
    return element("tr", *(element(tag, cell, class_=kind, data_label=head or None) for cell, head, kind in each))


def findings_section(check: Answer) -> Markup:
    """The findings, ranked, each with its evidence; and the seven steps."""
    each = [_finding(rank, finding) for rank, finding in enumerate(check["findings"], start=1)]
    names = ("step", "title", "status", "why")
    rows = [
        [step["step"], STEP_TITLES[step["step"]], step["status"].replace("_", " "), step["why"]]
        for step in check["steps"]
    ]
    parts = ", ".join(
        f"{why.replace('_', ' ')} {microseconds(us)}" for why, us in check.get("unexplained_us", {}).items()
    )
    title = f"Left above the floors after the plan: {parts}"
    return section(
        "findings",
        "The findings behind the plan, with their evidence",
        *each,
        table("The seven steps", names, rows),
        rows_told(title, check["unexplained"]),
        listed(check["trust"], "caveats"),
    )


def _finding(rank: int, finding: Answer) -> Markup:
    saves = saving_words(finding["saving_us"], microseconds)
    head = element(
        "summary",
        element("span", f"{rank}. {finding['check']}", class_="check"),
        element("span", saves, class_="saves"),
        element("span", f"step {finding['step']}, {percent(finding['share'])} of the window", class_="quiet"),
    )
    labels = ("assumption", "verify", "caveat", "read_next")
    words = [(label.replace("_", " "), finding[label]) for label in labels if finding.get(label)]
    cells = [
        [cell["source"], cell["row"], cell["column"], cell["value"], cell.get("unit") or ""]
        for cell in finding["evidence"]
    ]
    evidence = table(f"Evidence of finding {rank}", ("source", "line or row", "column", "value", "unit"), cells)
    body = joined(
        paragraph(finding["claim"]),
        fix_block(finding),
        figures(words, "rowed"),
        evidence,
        _line_buttons(finding),
    )
    return element("details", head, body, class_="finding", data_of=finding.get("edit"))
