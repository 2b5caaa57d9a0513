"""Rows with bars: the budget of a window, and the ops before and after a change. Colours come from the page's style.

A row is text with a drawing of its own, so that it fits any width: on a narrow page the bar stands below its words.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ttnn_mcp.report.markup import Markup, element, microseconds, percent, worded

WIDTH, HEIGHT = 1000, 10  # units of a bar; it is stretched to the width that the page leaves it
NAME_CHARS = 38
KINDS = 20  # of op, drawn before and after in an image; a table beside it has all


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
            y=place * (HEIGHT + 1),
            width=f"{max(share * WIDTH, 0.5):.2f}",
            height=HEIGHT,
        )
        for place, (kind, share) in enumerate(bars)
    ]
    box = f"0 0 {WIDTH} {len(bars) * (HEIGHT + 1) - 1}"
    drawing = element("svg", *shapes, viewBox=box, preserveAspectRatio="none", aria_hidden="true")
    return element(
        "li", element("span", worded(name), class_="name"), drawing, element("span", figures, class_="figures")
    )
