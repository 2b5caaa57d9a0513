"""Ops among the rows of a window whose time is not known: what is said of the window's time leaves theirs out."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ttnn_mcp.analyses.window_facts import WindowFacts


def lost_in_window(facts: WindowFacts) -> str:
    """The end of a sentence; empty where all ops of the device have a time."""
    untimed, lines = facts.run.performance_report.untimed, facts.ops.lines
    inside = (untimed.lines > lines.min()) & (untimed.lines < lines.max())
    inside |= facts.scope.window.kind == "whole_report"  # at its ends too
    without = int((inside & (untimed.numbers("device") == facts.scope.critical_device)).sum())
    zero = int((facts.kernel_ns == 0).sum())
    losses = [
        *([f"{without} ops among these rows have no kernel time (captured or dropped)"] if without else []),
        *([f"{zero} took 0 ns (lost by the profiler)"] if zero else []),
    ]
    return f"; {' and '.join(losses)}: their time is not counted" if losses else ""
