"""The sections of a page that are text: verdict, time by kind of op, budget, and what is left out.

Time by kind of op is one stacked bar; of a comparison one before the change, one after it.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from ttnn_mcp.report.markup import (
    Markup,
    budget_bars,
    element,
    joined,
    light_words,
    microseconds,
    number,
    rows_told,
    worded,
)
from ttnn_mcp.tools.answering import records

if TYPE_CHECKING:
    from ttnn_mcp.report.answers import Answers

    Answer = dict[str, Any]

MOST_KINDS = 9  # of op that have a colour of their own: more nobody tells apart (ours)
WIDTH, HEIGHT = 1000, 30  # units of a bar; it is stretched to the width of the page
OTHERS, GAPS = "others", "gaps"
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
            ("speed of light", light_words(check["total"], microseconds)),
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


class KindTime(NamedTuple):
    """A kind of op: its name, the style of its colour, its time before a change if there was one, and after it."""

    name: str
    style: str
    before_us: float | None
    after_us: float
    ops: int | None

    @property
    def ends(self) -> str:
        """What stands behind the name of its time: how many ops, or how the time changed."""
        if self.before_us is not None:
            change = round(self.after_us - self.before_us, 1)
            return f"{change:+,.1f} us" if change else "as before"
        return f"{number(self.ops)} op{'s' * (self.ops != 1)}" if self.ops is not None else ""


def short(op_code: str) -> str:
    """`MatmulDeviceOperation` -> `Matmul`."""
    return op_code.removesuffix("DeviceOperation") or op_code


def of_window(kinds: Answer, gaps_us: float) -> list[KindTime]:
    """The kinds of a window, the most time first, then the others together, then the gaps."""
    rows = sorted(records(kinds), key=lambda row: -row["kernel_us"])
    each = [(row["key"], None, row["kernel_us"], row["count"]) for row in rows]
    return [*_coloured(each), *([KindTime(GAPS, GAPS, None, gaps_us, None)] if gaps_us else [])]


def of_comparison(groups: Answer) -> list[KindTime]:
    """The kinds of both windows, the most time first."""
    rows = sorted(groups["rows"], key=lambda row: -max(row[1], row[2]))
    return _coloured([(row[0], row[1], row[2], None) for row in rows])


def _coloured(each: Sequence[tuple[str, float | None, float, int | None]]) -> list[KindTime]:
    kept = each if len(each) <= MOST_KINDS + 1 else each[:MOST_KINDS]
    drawn = [
        KindTime(short(name), f"kind-{place}" if place <= MOST_KINDS else OTHERS, before_us, after_us, ops)
        for place, (name, before_us, after_us, ops) in enumerate(kept, start=1)
    ]
    left = each[len(kept) :]
    if left:
        before = None if left[0][1] is None else sum(one[1] or 0.0 for one in left)
        count = None if left[0][3] is None else sum(one[3] or 0 for one in left)
        drawn.append(KindTime(f"{len(left)} {OTHERS}", OTHERS, before, sum(one[2] for one in left), count))
    return drawn


def stacked(kinds: Sequence[KindTime]) -> Markup:
    """The bars, and below them what each colour stands for, with its time."""
    after, before = (
        sum(times) for times in zip(*((one.after_us, one.before_us or 0.0) for one in kinds), strict=True)
    )
    longest = max(after, before) or 1.0
    compared = kinds[0].before_us is not None
    bars = [_bar("after" if compared else "", [(one, one.after_us) for one in kinds], longest)]
    if compared:
        bars.insert(0, _bar("before", [(one, one.before_us or 0.0) for one in kinds], longest))
    return Markup("".join([*bars, element("ul", *(_item(one, after) for one in kinds), class_="kinds")]))


def _bar(label: str, parts: Sequence[tuple[KindTime, float]], longest: float) -> Markup:
    rects: list[Markup] = []
    at = 0.0
    for kind, us in parts:
        wide = us / longest * WIDTH
        title = element("title", f"{kind.name} {microseconds(us)}")
        shape = {"x": f"{at:.2f}", "y": 0, "width": f"{wide:.2f}", "height": HEIGHT}
        rects.append(element("rect", title, class_=kind.style, **shape))
        at += wide
    drawing = element(
        "svg",
        *rects,
        viewBox=f"0 0 {WIDTH} {HEIGHT}",
        preserveAspectRatio="none",
        role="img",
        aria_label=f"Time by kind of op {label}".rstrip(),
        class_="stack",
    )
    return element("div", *([element("span", label)] if label else []), drawing, class_="stacked")


def _item(kind: KindTime, total_us: float) -> Markup:
    share = f"{100 * kind.after_us / (total_us or 1.0):.1f}%"
    finds = kind.style not in (OTHERS, GAPS)
    name = (
        element("button", kind.name, type="button", data_find=kind.name, class_=f"key {kind.style}")
        if finds
        else element("span", kind.name, class_=f"key {kind.style}")
    )
    figures = (
        element("span", microseconds(kind.after_us)),
        element("span", share),
        element("span", kind.ends, class_="quiet"),
    )
    return element("li", name, *figures)
