"""HTML from parts. A plain text that goes in comes out as text, whatever it holds: only `Markup` is taken as it is.

A row with a bar is text with a drawing of its own, so that it fits any width: on a narrow page the bar stands below its
words. Colours come from the page's style.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from decimal import Decimal
from html import escape
from typing import Any

from ttnn_mcp.checks.fixes import CODE
from ttnn_mcp.served.documents import meaning_of

UNITS = {"us": "us", "ms": "ms", "bytes": "B", "mb": "MB", "ghz": "GHz", "gb_s": "GB/s"}
OURS = frozenset({"how", "what", "remedy", "why", "status"})  # columns whose words are ours
VOID = frozenset({"meta", "input"})
BAR_WIDTH, BAR_HEIGHT = 1000, 10  # units of a bar; it is stretched to the width that the page leaves it
NAME_CHARS = 38
TRIAL = "trial"  # what an edit rests on of which nothing is known
KINDS = 20  # of op, drawn before and after in an image; a table beside it has all


class Markup(str):
    """HTML that is finished."""

    __slots__ = ()


def element(tag: str, *children: str, **attributes: object) -> Markup:
    """An element; texts among its children are escaped. `class_`, `data_line` stand for `class`, `data-line`."""
    written = "".join(
        f' {name.rstrip("_").replace("_", "-")}="{escape(str(value))}"'
        for name, value in attributes.items()
        if value is not None
    )
    if tag in VOID:
        return Markup(f"<{tag}{written}>")
    return Markup(f"<{tag}{written}>{joined(*children)}</{tag}>")


def joined(*children: str) -> Markup:
    """Several parts, one after the other."""
    return Markup("".join(child if isinstance(child, Markup) else escape(child) for child in children))


def number(value: Any, digits: int = 0) -> str:
    """A value of an answer with all its digits, at least so many decimals; a dash where nothing was measured."""
    if value is None:
        return "-"
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        return {True: "yes", False: "no"}[value] if isinstance(value, bool) else str(value)
    return f"{value:,.{digits}f}" if digits else f"{value:,}"


def decimals(column: str, cells: Iterable[Any]) -> int:
    """As many as the longest number of a column of amounts has, so that all stand alike; 0 for what is no amount."""
    if heading(column) == column.replace("_", " "):
        return 0
    fractions = [str(cell).partition(".")[2] for cell in cells if isinstance(cell, float)]
    return max((len(one) for one in fractions if one.isdecimal()), default=0)


def microseconds(us: float) -> str:
    """A time of a plan, of a saving or of a window: one unit and one decimal, wherever it stands."""
    return f"{us:,.1f} us"


def percent(share: float | None) -> str:
    """A share of an answer in percent, with all its digits."""
    if share is None:
        return "-"
    return f"{(Decimal(str(share)) * 100).normalize():f}%"


def heading(column: str) -> str:
    """`kernel_us` -> `kernel [us]`."""
    for end, unit in UNITS.items():
        if column.endswith(f"_{end}"):
            return f"{column.removesuffix(f'_{end}').replace('_', ' ')} [{unit}]"
    return column.replace("_", " ")


def worded(word: str) -> Markup:
    """A word of ours that explains itself where it stands, if the glossary has it."""
    meaning = meaning_of(word.partition(" [")[0])
    return element("abbr", word, title=meaning) if meaning else joined(word)


def table(caption: str, columns: Sequence[str], rows: Sequence[Sequence[Any]]) -> Markup:
    """A table of an answer; shares are shown in percent."""
    kinds = ["number" if any(_is_number(row[place]) for row in rows) else None for place in range(len(columns))]
    digits = [decimals(column, (row[place] for row in rows)) for place, column in enumerate(columns)]
    head = [
        element("th", worded(heading(name)), scope="col", class_=kind)
        for name, kind in zip(columns, kinds, strict=True)
    ]
    body = [
        element(
            "tr",
            *(
                element("td", _written(column, cell, most), class_=kind)
                for column, cell, kind, most in zip(columns, row, kinds, digits, strict=True)
            ),
        )
        for row in rows
    ]
    filled = element(
        "table",
        element("caption", caption),
        element("thead", element("tr", *head)),
        element("tbody", *body),
    )
    return element("div", filled, class_="wide", tabindex="0", role="region", aria_label=caption)


def rows_told(caption: str, answer: dict[str, Any] | None) -> Markup:
    """The table of an answer; nothing where it has no rows."""
    return table(caption, answer["columns"], answer["rows"]) if answer and answer["rows"] else Markup()


def coded(fix: str) -> Markup:
    """A marked fix whose code looks like code."""
    return joined(*(element("code", text) if place % 2 else text for place, text in enumerate(fix.split(CODE))))


def _written(column: str, cell: Any, digits: int) -> str:
    if isinstance(cell, str) and column in OURS:
        return coded(cell) if column == "how" else worded(cell.replace("_", " "))
    return percent(cell) if column.endswith("share") and not isinstance(cell, str) else number(cell, digits)


def _is_number(cell: Any) -> bool:
    return isinstance(cell, (int, float)) and not isinstance(cell, bool)


def light_words(total: Mapping[str, Any], spoken: Callable[[float], str]) -> str:
    """'2.86 ms', or 'at least 2.86 ms, of the 41% that can be told' where bounds leave kernel time out."""
    light, part = spoken(total["speed_of_light_us"]), total.get("modelled_share")
    return light if part is None else f"at least {light}, of the {part:.0%} that can be told"


def saving_words(saving: Mapping[str, Any], spoken: Callable[[float], str]) -> str:
    """'expected 164 us (150 to 176 in 8 of 10; law: ...), at most 206 us'; `spoken` tells microseconds.

    A least saving of nothing says nothing and is left out.
    """
    least, most = saving.get("at_least"), f"at most {spoken(saving['at_most'])}"
    bounds = f"at least {spoken(least)}, {most}" if least else most
    if saving.get("expected") is None:
        tried = tried_words(saving.get("basis"), saving.get("if_gains"), spoken) or "how much is not known"
        return f"{bounds} (a trial: {tried})" if saving["at_most"] else bounds
    low, high = map(spoken, saving["interval"])
    likely = "" if low == high else f"{low} to {high} in 8 of 10; "
    return f"expected {spoken(saving['expected'])} ({likely}{saving['basis']}), {bounds}"


def tried_words(basis: str | None, if_gains: float | None, spoken: Callable[[float], str]) -> str | None:
    """'17/85 gained elsewhere, about 12 us if it gains'; None where nothing is known of tries."""
    likely = None if if_gains is None else f"about {spoken(if_gains)} if it gains"
    return ", ".join(filter(None, (gained_words(basis), likely))) or None


def gained_words(basis: str | None) -> str | None:
    """'17/85 gained elsewhere'; None where too few tries are known."""
    return None if basis == TRIAL else basis


def ranked(groups: dict[str, Any]) -> tuple[list[list[Any]], int]:
    """The groups of compare_runs that an image shows, the largest change first, and how many it does not."""
    rows = sorted(groups["rows"], key=lambda row: -abs(row[3]))
    return rows[:KINDS], max(len(rows) - KINDS, 0)


def shortened(name: str) -> str:
    """A name that fits beside a bar of an image."""
    return name if len(name) <= NAME_CHARS else f"{name[: NAME_CHARS - 1]}…"


def budget_bars(ledger: dict[str, Any]) -> Markup:
    """Where the time of the window goes, one bar per entry of the ledger."""
    rows = [(row[0], row[1], row[2]) for row in ledger["rows"]]
    longest = max((time_us for _, time_us, _ in rows), default=0) or 1
    return _rows(
        "Where the time of the window goes",
        [
            _row(
                name.replace("_", " "),
                f"{microseconds(time_us)}, {percent(share)}",
                [(name if name in ("roofline", "gaps") else "ledger", time_us / longest)],
            )
            for name, time_us, share in rows
        ],
    )


def before_after_bars(groups: Sequence[Sequence[Any]]) -> Markup:
    """Two bars per kind of op: before the change, and after it."""
    longest = max((max(row[1], row[2]) for row in groups), default=0) or 1
    return _rows(
        "Kernel time by op, before and after",
        [
            _row(
                name,
                f"{before_us:,.1f} -> {microseconds(after_us)}, {'+' if delta_us > 0 else ''}{microseconds(delta_us)}",
                [("before", before_us / longest), ("after", after_us / longest)],
            )
            for name, before_us, after_us, delta_us, *_counts in groups
        ],
    )


def _rows(label: str, rows: Sequence[Markup]) -> Markup:
    return element("ul", *rows, class_="bars", aria_label=label)


def _row(name: str, figures: str, bars: Sequence[tuple[str, float]]) -> Markup:
    shapes = [
        element(
            "rect",
            class_=f"bar {kind}",
            x=0,
            y=place * (BAR_HEIGHT + 1),
            width=f"{max(share * BAR_WIDTH, 0.5):.2f}",
            height=BAR_HEIGHT,
        )
        for place, (kind, share) in enumerate(bars)
    ]
    box = f"0 0 {BAR_WIDTH} {len(bars) * (BAR_HEIGHT + 1) - 1}"
    drawing = element("svg", *shapes, viewBox=box, preserveAspectRatio="none", aria_hidden="true")
    return element(
        "li", element("span", worded(name), class_="name"), drawing, element("span", figures, class_="figures")
    )
