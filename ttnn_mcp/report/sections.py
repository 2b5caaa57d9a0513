"""The sections of a page that are text: verdict, budget, findings, steps, the comparison, and what is left out."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ttnn_mcp.report.bars import before_after_bars, budget_bars, ranked
from ttnn_mcp.report.markup import Markup, element, joined, number, percent, table
from ttnn_mcp.report.savings import saving_words

if TYPE_CHECKING:
    from ttnn_mcp.report.answers import Answers

    Answer = dict[str, Any]

WORDS = {
    "at_floor": "at its floor",
    "above_floor": "above its floor",
    "cannot_tell": "cannot tell",
    "not_applicable": "not applicable",
}


def section(name: str, title: str, *parts: str) -> Markup:
    """A section under a heading that links can name."""
    heading = element("h2", title, id=f"{name}-title")
    return element("section", heading, *parts, id=name, aria_labelledby=f"{name}-title")


def paragraph(*words: str, kind: str | None = None) -> Markup:
    """A paragraph."""
    return element("p", *words, class_=kind)


def listed(sentences: tuple[str, ...] | list[str], kind: str | None = None) -> Markup:
    """Sentences as a list; nothing where there are none."""
    return element("ul", *(element("li", words) for words in sentences), class_=kind) if sentences else Markup()


def figures(pairs: list[tuple[str, str]]) -> Markup:
    """Names with their values."""
    each = [joined(element("div", element("dt", name), element("dd", value))) for name, value in pairs]
    return element("dl", *each)


def window_words(window: Answer) -> str:
    """A window in a sentence, and what is in doubt about it."""
    kind = window["kind"].replace("_", " ")
    if window.get("iteration"):
        kind += f" {window['iteration']} of {window['of_iterations']}"
    warm = "warm" if window["warm"] else "not warm"
    lines = f"lines {window['first_row']} to {window['last_row']}"
    doubts = "".join(f"; IN DOUBT, {doubt}" for doubt in window.get("doubts", ()))
    return f"{kind}, {warm}, {number(window['rows'])} ops ({lines}): {window['why']}{doubts}"


def run_words(card: Answer) -> str:
    """A run's name and id: two runs may come from folders of one name."""
    name, run_id = card.get("name", ""), card.get("id", "")
    return name if name == run_id else f"{name} ({run_id})"


def summary(answers: Answers) -> Markup:
    """What a reader must know first."""
    budget, check, comparison, card = answers.budget, answers.check, answers.comparison, answers.card
    pairs: list[tuple[str, str]] = []
    verdicts: list[Markup] = []
    if comparison:
        verdicts.append(verdict("Against the baseline", comparison["verdict"], comparison["why"]))
    if budget and check:
        verdicts.append(verdict("By its own measure", budget["verdict"], budget["why"]))
        pairs += [
            ("kernel time", f"{number(check['kernel_ms'])} ms"),
            ("window", f"{number(budget['window_us'])} us"),
            ("at best after the plan", f"{number(check['total']['after_us'])} us"),
            ("findings", number(len(check["findings"]))),
        ]
    if answers.memory:
        peak = answers.memory["l1_peak"]
        pairs.append(("L1 peak of a bank", f"{number(peak['bytes_per_bank'])} B"))
    pairs += [
        (label, number(card[name]))
        for name, label in (("arch", "chip"), ("clock_ghz", "clock [GHz]"))
        if name in card
    ]
    if "devices" in card:
        pairs.append(("devices", number(len(card["devices"]))))
    window = paragraph(f"Window: {window_words(budget['window'])}.") if budget else Markup()
    return joined(
        *verdicts, figures(pairs), window, listed([*answers.left_out, *card.get("caveats", ())], "caveats")
    )


def verdict(label: str, outcome: str, why: str) -> Markup:
    """One verdict, its word first."""
    word = element("strong", WORDS.get(outcome, outcome), class_=f"verdict {outcome}")
    return paragraph(f"{label}: ", word, f" - {why}", kind="verdicts")


def budget_section(budget: Answer) -> Markup:
    """Where the time goes, and the bounds of the window."""
    ledger, floors = budget["ledger"], budget["floors"]
    return section(
        "budget",
        "Where the time goes",
        budget_bars(ledger),
        _folded("The ledger as a table", table("Ledger of the window", ledger["columns"], ledger["rows"])),
        table("Lower bounds of the window", floors["columns"], floors["rows"]),
        listed(budget.get("chip_caveats", ()), "caveats"),
    )


def findings_section(check: Answer) -> Markup:
    """The findings, ranked, each with its evidence; and the seven steps."""
    each = [_finding(rank, finding) for rank, finding in enumerate(check["findings"], start=1)]
    nothing = paragraph("No check found anything it could prove.")
    steps = table(
        "The seven steps",
        ("step", "title", "status", "why"),
        [
            [
                step[name].replace("_", " ") if name == "status" else step[name]
                for name in ("step", "title", "status", "why")
            ]
            for step in check["steps"]
        ],
    )
    left = check["unexplained"]
    parts = ", ".join(
        f"{why.replace('_', ' ')} {number(us)} us" for why, us in check.get("unexplained_us", {}).items()
    )
    title = f"Left above the floors after the plan: {parts}"
    unexplained = table(title, left["columns"], left["rows"]) if left["rows"] else Markup()
    plan = plan_table(check)
    return section(
        "findings", "The plan", plan, *(each or [nothing]), steps, unexplained, listed(check["trust"], "caveats")
    )


def plan_table(check: Answer) -> Markup:
    """The edits in their order."""
    plan, total = check["plan"], check["total"]
    if not plan["rows"]:
        return Markup()
    title = (
        f"{number(total['before_us'])} us of {total['of']}; at best {number(total['after_us'])} us after all edits; "
        f"speed of light {number(total['speed_of_light_us'])} us"
    )
    return table(title, plan["columns"], plan["rows"])


def _finding(rank: int, finding: Answer) -> Markup:
    saving = finding["saving_us"]
    saves = saving_words(saving, lambda us: f"{number(us)} us")
    head = element(
        "summary",
        element("span", f"{rank}. {finding['check']}", class_="check"),
        element("span", saves, class_="saves"),
        element("span", f"step {finding['step']}, {percent(finding['share'])} of the window", class_="quiet"),
    )
    labels = ("assumption", "fix", "verify", "caveat", "read_next")
    words = [(label.replace("_", " "), finding[label]) for label in labels if finding.get(label)]
    cells = [
        [cell["source"], cell["row"], cell["column"], cell["value"], cell.get("unit") or ""]
        for cell in finding["evidence"]
    ]
    evidence = table(f"Evidence of finding {rank}", ("source", "line or row", "column", "value", "unit"), cells)
    lines = dict.fromkeys(cell["row"] for cell in finding["evidence"] if isinstance(cell["row"], int))
    buttons = [element("button", f"Show line {line}", type="button", data_line=line) for line in lines]
    body = joined(paragraph(finding["claim"]), figures(words), evidence, element("p", *buttons, class_="buttons"))
    return element("details", head, body, open="open" if rank == 1 else None, class_="finding")


def comparison_section(answers: Answers) -> Markup:
    """Before and after: verdict, what makes the gain doubtful, ops, and edits of the program."""
    comparison = answers.comparison or {}
    names = [run_words(side) for side in (answers.base or {}, answers.card)]
    groups = comparison["groups"]
    pairs = [
        ("before", f"{names[0]}, {number(comparison['kernel_ms']['before'])} ms"),
        ("after", f"{names[1]}, {number(comparison['kernel_ms']['after'])} ms"),
        ("change", percent(comparison["change_share"])),
        ("noise", f"{percent(comparison['noise_share'])}: {comparison['noise_from']}"),
        ("window before", window_words(comparison["baseline_window"])),
        ("window after", window_words(comparison["window"])),
    ]
    more = [
        table(title, comparison[name]["columns"], comparison[name]["rows"])
        for name, title in (
            ("suspicious", "What makes the gain doubtful"),
            ("added", "Ops that are new"),
            ("removed", "Ops that are gone"),
            ("rewritten", "Ops that became others"),
            ("changed", "Ops that changed"),
            ("engaged", "Where the change took hold"),
            ("memory", "Memory"),
        )
        if name in comparison and comparison[name]["rows"]
    ]
    legend = paragraph(
        element("span", "before", class_="key before"), element("span", "after", class_="key after"), kind="legend"
    )
    return section(
        "against",
        "Before and after",
        verdict("Verdict", comparison["verdict"], comparison["why"]),
        figures(pairs),
        legend,
        before_after_bars(ranked(groups)[0]),
        _folded("All ops as a table", table("Kernel time by op", groups["columns"], groups["rows"])),
        *more,
        listed(comparison.get("caveats", ()), "caveats"),
    )


def _folded(title: str, inside: Markup) -> Markup:
    return element("details", element("summary", title), inside)
