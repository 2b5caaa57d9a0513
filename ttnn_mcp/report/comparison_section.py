"""The section of a page about two runs: totals, the kinds of op that made the change, and behind a click the edits."""

from __future__ import annotations

from typing import Any

from ttnn_mcp.report.answers import Answers
from ttnn_mcp.report.bars import before_after_bars
from ttnn_mcp.report.markup import Markup, element, number, percent, rows_told
from ttnn_mcp.report.sections import figures, folded, listed, paragraph, run_words, section, window_words

Answer = dict[str, Any]
MOST_OF = 0.9  # of all that changed, in either direction: what makes less is noise beside it (ours)
MOST_KINDS = 8  # as many as a screen shows at once (ours)
EDITS = (
    ("added", "Ops that are new"),
    ("removed", "Ops that are gone"),
    ("rewritten", "Ops that became others"),
    ("changed", "Ops that changed"),
    ("engaged", "Where the change took hold"),
    ("memory", "Memory"),
)


def comparison_section(answers: Answers) -> Markup:
    """Before and after."""
    comparison = answers.comparison or {}
    groups, chosen = comparison["groups"], makers(comparison["groups"])
    names = [run_words(side) for side in (answers.base or {}, answers.card)]
    pairs = [
        ("before", f"{names[0]}, {number(comparison['kernel_ms']['before'])} ms"),
        ("after", f"{names[1]}, {number(comparison['kernel_ms']['after'])} ms"),
        ("change", percent(comparison["change_share"])),
        ("noise", f"{percent(comparison['noise_share'])}: {comparison['noise_from']}"),
        ("window before", window_words(comparison["baseline_window"])),
        ("window after", window_words(comparison["window"])),
    ]
    keys = [element("span", word, class_=f"key {word}") for word in ("before", "after")]
    drawn = [paragraph(*keys, kind="legend"), before_after_bars(chosen)] if chosen else []
    edits = [(name, title, rows_told(title, comparison.get(name))) for name, title in EDITS]
    return section(
        "against",
        "Before and after",
        rows_told("What makes the gain doubtful", comparison.get("suspicious")),
        figures(pairs, "rowed"),
        *drawn,
        folded("All ops as a table", rows_told("Kernel time by op", groups)),
        *(folded(f"{title} ({len(comparison[name]['rows'])})", made) for name, title, made in edits if made),
        listed(comparison.get("caveats", ()), "caveats"),
    )


def makers(groups: dict[str, Any]) -> list[list[Any]]:
    """The groups of compare_runs that together make most of the change, the largest first."""
    rows = sorted(groups["rows"], key=lambda row: -abs(row[3]))
    wanted = MOST_OF * sum(abs(row[3]) for row in rows)
    chosen: list[list[Any]] = []
    for row in rows[:MOST_KINDS]:
        if sum(abs(one[3]) for one in chosen) >= wanted:
            break
        chosen.append(row)
    return chosen
