"""Bars as SVG: the budget of a window, and the ops before and after a change. Colours come from the page's style."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ttnn_mcp.report.markup import Markup, element, joined, number, percent

if TYPE_CHECKING:
    from collections.abc import Sequence

WIDTH = 960  # units of the drawing; it scales with the page
LABELS, FIGURES = 260, 220  # units for the names on the left, and for the figures on the right
ROW, BAR = 44, 15
NAME_CHARS = 38
KINDS = 20  # of op, drawn before and after; a table beside the drawing has all


def ranked(groups: dict[str, Any]) -> tuple[list[list[Any]], int]:
    """The groups of compare_runs that are drawn, the largest change first, and how many are not."""
    rows = sorted(groups["rows"], key=lambda row: -abs(row[3]))
    return rows[:KINDS], max(len(rows) - KINDS, 0)


def shortened(name: str) -> str:
    """A name that fits beside a bar."""
    return name if len(name) <= NAME_CHARS else f"{name[: NAME_CHARS - 1]}…"


def budget_bars(ledger: dict[str, Any]) -> Markup:
    """Where the time of the window goes, one bar per entry of the ledger."""
    rows = [(row[0], row[1], row[2]) for row in ledger["rows"]]
    longest = max((time_us for _, time_us, _ in rows), default=0) or 1
    scale = (WIDTH - LABELS - FIGURES) / longest
    parts: list[Markup] = []
    for place, (name, time_us, share) in enumerate(rows):
        top = place * 26
        parts += [
            _text(LABELS - 10, top + 16, name.replace("_", " "), "end"),
            _bar(top + 3, time_us * scale, name if name in ("roofline", "gaps") else "ledger", height=18),
            _text(LABELS + time_us * scale + 6, top + 16, f"{number(time_us)} us, {percent(share)}", "start"),
        ]
    return _drawing(parts, len(rows) * 26, "Where the time of the window goes")


def before_after_bars(groups: Sequence[Sequence[Any]]) -> Markup:
    """Two bars per kind of op: before the change, and after it."""
    longest = max((max(row[1], row[2]) for row in groups), default=0) or 1
    scale = (WIDTH - LABELS - FIGURES) / longest
    parts: list[Markup] = []
    for place, (name, before_us, after_us, delta_us, *_counts) in enumerate(groups):
        top = place * ROW
        sign = "+" if delta_us > 0 else ""
        parts += [
            _text(LABELS - 10, top + 24, shortened(name), "end"),
            _bar(top + 4, before_us * scale, "before"),
            _bar(top + 5 + BAR, after_us * scale, "after"),
            _text(LABELS + max(before_us, after_us) * scale + 6, top + 24, f"{sign}{number(delta_us)} us", "start"),
        ]
    return _drawing(parts, len(groups) * ROW, "Kernel time by op, before and after")


def _drawing(parts: Sequence[Markup], height: float, label: str) -> Markup:
    drawing = element("svg", *parts, viewBox=f"0 0 {WIDTH} {height}", role="img", aria_label=label, class_="bars")
    return element("div", drawing, class_="wide")


def _bar(top: float, width: float, kind: str, height: float = BAR) -> Markup:
    shape = {"x": LABELS, "y": top, "width": f"{max(width, 0.5):.2f}", "height": height}
    return element("rect", class_=f"bar {kind}", **shape)


def _text(x: float, y: float, words: str, anchor: str) -> Markup:
    return joined(element("text", words, x=f"{x:.2f}", y=f"{y:.2f}", text_anchor=anchor))
