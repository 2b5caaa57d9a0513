"""Kernel time by op, before a change and after it."""

# pyright: reportUnknownMemberType=false

from __future__ import annotations

from typing import Any

from ttnn_mcp.report.bars import ranked, shortened
from ttnn_mcp.report.images.canvas import BAR, COLOURS, head

Answer = dict[str, Any]

THICK = 0.4
FEWEST = 5  # rows that the picture has room for, so that a single op gets no giant bar
TITLE_CHARS = 100  # beside the names of ops there is less room


def draw_before_after(figure: Any, comparison: Answer) -> None:
    """Two bars for each kind of op, the largest change first."""
    axes = figure.subplots()
    groups, left = ranked(comparison["groups"])
    for column, shift, colour, label in (
        (1, -THICK / 2, BAR, "before"),
        (2, THICK / 2, COLOURS["compute"], "after"),
    ):
        places = [place + shift for place in range(len(groups))]
        axes.barh(places, [row[column] for row in groups], THICK, color=colour, label=label)
    for place, row in enumerate(groups):
        words = f" {'+' if row[3] > 0 else ''}{row[3]:,} us"
        axes.text(max(row[1], row[2]), place, words, va="center")
    axes.set_yticks(range(len(groups)), [shortened(str(row[0])) for row in groups])
    axes.set_ylim(max(len(groups), FEWEST) - 0.5, -0.5)  # downwards
    axes.margins(x=0.15)
    axes.set_xlabel("kernel time [us]" + (f"; {left:,} kinds with smaller changes are not drawn" if left else ""))
    axes.legend(loc="lower right", frameon=False)
    times = comparison["kernel_ms"]
    head(
        axes,
        f"{comparison['verdict']}, {times['before']:,} to {times['after']:,} ms: {comparison['why']}",
        chars=TITLE_CHARS,
    )
