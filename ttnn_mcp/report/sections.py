"""The sections of a page that are text: verdict, time by kind of op, budget, and what is left out."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ttnn_mcp.report.bars import budget_bars
from ttnn_mcp.report.kinds import of_comparison, of_window, stacked
from ttnn_mcp.report.markup import Markup, element, joined, microseconds, number, rows_told, worded

if TYPE_CHECKING:
    from ttnn_mcp.report.answers import Answers

    Answer = dict[str, Any]

NOT_BOUNDED = "Not in the bounds"
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


def figures(pairs: list[tuple[str, str]], kind: str | None = None) -> Markup:
    """Names with their values, beside each other or, `rowed`, below each other."""
    each = [joined(element("div", element("dt", worded(name)), element("dd", value))) for name, value in pairs]
    return element("dl", *each, class_=kind)


def window_words(window: Answer) -> str:
    """A window in a sentence, and what is in doubt about it."""
    kind = window["kind"].replace("_", " ")
    if window.get("iteration"):
        kind += f" {window['iteration']} of {window['of_iterations']}"
    warm = "warm" if window["warm"] else "not warm"
    first, last = window["first_row"], window["last_row"]
    lines = f"line {first}" if first == last else f"lines {first} to {last}"
    doubts = "".join(f"; IN DOUBT, {doubt}" for doubt in window.get("doubts", ()))
    return f"{kind}, {warm}, {ops_counted(window['rows'])} ({lines}): {window['why']}{doubts}"


def ops_counted(count: int) -> str:
    """'1 op', '1,200 ops'."""
    return f"{count:,} op{'' if count == 1 else 's'}"


def run_words(card: Answer) -> str:
    """A run's name and id: two runs may come from folders of one name."""
    name, run_id = card.get("name", ""), card.get("id", "")
    return name if name == run_id else f"{name} ({run_id})"


def summary(answers: Answers) -> Markup:
    """What a reader must know first."""
    budget, check, comparison, memory = answers.budget, answers.check, answers.comparison, answers.memory
    verdicts: list[Markup] = []
    failed = failure_words(memory["errors"][0]) if memory and memory["errors"] else None
    failed = next((one["ran_out"] for one in (comparison, memory) if one and one.get("ran_out")), failed)
    if failed:
        words = element("strong", failed, class_="verdict slower")
        verdicts.append(paragraph("Memory: ", words, kind="verdicts"))
    if comparison:
        verdicts.append(verdict("Against the baseline", comparison["verdict"], comparison["why"]))
    if budget and check:
        verdicts.append(verdict("By its own measure", budget["verdict"], budget_why(budget)))
    window = paragraph(f"Window: {window_words(budget['window'])}.", kind="quiet") if budget else Markup()
    caveats = listed([*answers.left_out, *answers.card.get("caveats", ())], "caveats")
    return joined(*verdicts, figures(_measured(answers)), window, caveats)


def budget_why(budget: Answer) -> str:
    """What the verdict of a budget rests on; the table that it names stands below."""
    return budget["why"].replace("not_in_the_bounds", f"'{NOT_BOUNDED}'")


def not_bounded(budget: Answer) -> Answer:
    """The kernel time that the bounds leave out, by why."""
    return {"columns": ["why", "kernel_us"], "rows": [*budget.get("not_in_the_bounds", {}).items()]}


def failure_words(failed: Answer) -> str:
    """'aborted in operation 3 ttnn.add (model.py:22): RuntimeError', of what is no shortage."""
    number_of = "" if failed.get("operation") is None else f"operation {failed['operation']} "
    line = f" ({failed['line']})" if failed.get("line") else ""
    kind = f": {failed['kind']}" if failed.get("kind") else ""
    return f"{failed['outcome']} in {number_of}{failed['name']}{line}{kind}"


def _measured(answers: Answers) -> list[tuple[str, str]]:
    """Names and values of the whole run."""
    check, card, pairs = answers.check, answers.card, list[tuple[str, str]]()
    if answers.budget and check:
        pairs += [
            ("window", microseconds(answers.budget["window_us"])),
            ("kernel time", microseconds(answers.budget["kernel_us"])),
            ("expected after the plan", microseconds(check["total"]["expected_after_us"])),
            ("at best after the plan", microseconds(check["total"]["after_us"])),
            ("speed of light", microseconds(check["total"]["speed_of_light_us"])),
            ("findings", number(len(check["findings"]))),
        ]
    if answers.memory:
        pairs.append(("L1 peak of a bank", f"{number(answers.memory['l1_peak']['bytes_per_bank'])} B"))
    labels = (("arch", "chip"), ("clock_ghz", "clock [GHz]"))
    pairs += [(label, number(card[name])) for name, label in labels if card.get(name) is not None]
    if card.get("devices"):
        pairs.append(("devices", number(len(card["devices"]))))
    return pairs


def verdict(label: str, outcome: str, why: str) -> Markup:
    """One verdict, its word first."""
    word = element("strong", WORDS.get(outcome, outcome), class_=f"verdict {outcome}")
    return paragraph(f"{label}: ", word, f" - {why}", kind="verdicts")


def kinds_section(answers: Answers) -> Markup:
    """Time by kind of op as one stacked bar, or two of a comparison; nothing where nothing took time."""
    if answers.comparison:
        kinds, what = of_comparison(answers.comparison["groups"]), "Kernel time by kind of op, before and after"
    elif answers.kinds:
        kinds, what = of_window(answers.kinds["groups"], _gaps_us(answers.budget)), "Time by kind of op"
    else:
        return Markup()
    return section("kinds", what, stacked(kinds)) if kinds else Markup()


def _gaps_us(budget: Answer | None) -> float:
    """The gaps of the window by its ledger, which has none where it is not warm."""
    rows: list[list[Any]] = budget["ledger"]["rows"] if budget else []
    return sum(row[1] for row in rows if row[0] == "gaps")


def budget_section(budget: Answer) -> Markup:
    """Where the time goes, and the bounds of the window."""
    ledger, floors = budget["ledger"], budget["floors"]
    return section(
        "budget",
        "Where the time goes",
        budget_bars(ledger),
        folded("The ledger as a table", rows_told("Ledger of the window", ledger)),
        rows_told("Lower bounds of the window", floors),
        rows_told(NOT_BOUNDED, not_bounded(budget)),
        listed(budget.get("chip_caveats", ()), "caveats"),
    )


def predicted_section(predicted: Answer) -> Markup:
    """What laws of time tell of a run that has no times, and of faster settings."""
    return section(
        "predicted",
        "Times that laws predict",
        paragraph(f"Nothing here was measured. {predicted['why'].partition(', not measured: ')[2].capitalize()}."),
        rows_told("Predicted times of the ops of which laws speak", predicted.get("total")),
        rows_told("Settings that laws of time expect to be faster", predicted.get("changes")),
        folded("By kind of op", rows_told("Predicted times by kind of op", predicted["kinds"])),
    )


def folded(title: str, inside: Markup) -> Markup:
    """What is seen after a click."""
    return element("details", element("summary", title), inside)
