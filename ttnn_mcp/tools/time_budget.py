"""time_budget: how fast could the model be, and where does the difference go?"""

from __future__ import annotations

from collections.abc import Sequence
from math import floor
from typing import Annotated, Literal

import numpy as np
from pydantic import Field

from ttnn_mcp.analyses.roofline.roofline import IMPOSSIBLE, WHY_IMPOSSIBLE
from ttnn_mcp.analyses.time_budget.least_times import MODELLED
from ttnn_mcp.analyses.time_budget.ledger import Entry, ledger_of
from ttnn_mcp.analyses.window_facts import WindowFacts
from ttnn_mcp.errors import QuestionRefused, shown
from ttnn_mcp.quoting import figure
from ttnn_mcp.run.ops.groups import grouped
from ttnn_mcp.run.run import Run
from ttnn_mcp.run.window import REPROFILE
from ttnn_mcp.tools.parts.op_cores import CORES, cores_of_window
from ttnn_mcp.tools.parts.without_times import PredictedRun, prediction, refuse_device_arguments
from ttnn_mcp.tools.tool import Budget, OfWindow, Tool
from ttnn_mcp.wire import Columns, Quoted, Quoting, Table, Us, Window, Wire

FLOORS = Columns("what", "time_us", "share", "modelled_share", "assumption")
LEDGER = Columns("what", "time_us", "share", "heaviest_ops", quoted=("heaviest_ops",))
AT_THE_FLOOR = 0.8  # of the window: well-placed ops reach 0.83 to 0.85 of the DRAM peak (`hardware`), engines less
NAMED, ABOVE_NAMED = 3, 5  # kinds of op per entry
MINOR = 0.01  # of the time: an entry below it names its heaviest kind only
AS_IT_IS = "these ops and formats at peak rates on all cores; no gaps, no vector arithmetic"
CHEAPER = "the same with BFLOAT4_B weights, BFLOAT8_B activations, LoFi, if PCC allows"
READ_ONCE = "weights once per op, needed arithmetic beside it, all else in L1; caches not counted"
TOO_SHORT = "these ops need more time than the window took, so its times or their shapes are wrong"
NO_LINKS = "the report does not show the links of this collective"


class Arguments(OfWindow):
    """Arguments of time_budget; with `picture` an image of the window comes too, where a chat shows images."""

    picture: Literal["window", "timeline", "roofline", "cores"] | None = None


class Answer(Wire):
    """Answer of time_budget."""

    verdict: Literal["at_floor", "above_floor", "cannot_tell"]
    why: Quoting
    window_us: Us | None = None
    kernel_us: Us | None = None
    floors: Annotated[Table, FLOORS]
    ledger: Annotated[Table, LEDGER] | None = None
    predicted: PredictedRun | None = None
    cold_gaps_us: Us | None = None
    not_in_the_bounds: dict[Quoted, Us] = Field(default={})
    on_cores: Annotated[Table, CORES] | None = None
    on_cores_caveat: Quoting | None = None
    device: int | None = None
    chip_caveats: tuple[Quoting, ...] = ()
    window: Window | None = None


def time_budget(facts: WindowFacts, _asked: Arguments) -> Answer:
    """How fast could this model be, and where does the time go?

    Lower bounds of the window, and a ledger that adds up to it: roofline, padding, fidelity, idle cores, waiting,
    movement, gaps, the rest above all bounds. On a memory report alone: predicted by laws of time.
    """
    least, line = facts.least_times, facts.timeline
    warm = facts.scope.window.warm
    entries = [
        entry
        for entry in ledger_of(facts.ops, least, line, facts.balance)
        if warm or entry.name != "gaps"  # of a cold window they are compiling and loading
    ]
    window_ns = sum(entry.time_ns for entry in entries)
    if not window_ns:
        raise QuestionRefused(f"All kernel times of this window are 0: {REPROFILE}.")
    floors = [(what, min(ns, window_ns), why) for what, ns, why in _floors(facts) if ns <= IMPOSSIBLE * window_ns]
    modelled = facts.modelled_share
    on_cores, on_cores_caveat = cores_of_window(facts)
    as_it_is_ns = next((ns for what, ns, _ in floors if what == "as_it_is"), None)
    unbounded = "no rate of this architecture is known" if facts.chip.foreign else f"{TOO_SHORT}: {REPROFILE}"
    verdict, why = (
        ("cannot_tell", unbounded)
        if as_it_is_ns is None
        else _judged(as_it_is_ns / window_ns, modelled, entries, window_ns)
    )
    if facts.scope.in_doubt:
        verdict, why = "cannot_tell", facts.scope.in_doubt
    return Answer(
        verdict=verdict,
        why=why + lost_in_window(facts),
        window_us=window_ns / 1e3,
        kernel_us=line.kernel_ns / 1e3,
        floors=FLOORS.table(
            [
                (what, floor_ns / 1e3, floor_ns / window_ns, modelled, assumption)
                for what, floor_ns, assumption in floors
            ]
        ),
        ledger=_ledger(facts, entries, window_ns),
        cold_gaps_us=None if warm else line.gap_ns / 1e3,
        not_in_the_bounds=_left_out(facts),
        on_cores=on_cores,
        on_cores_caveat=on_cores_caveat,
        device=facts.scope.critical_device,
        chip_caveats=facts.chip.caveats,
        window=facts.scope.window,
    )


async def budget_alone(run: Run, asked: Arguments) -> Answer:
    """The answer of a memory report alone: what laws of time predict, beside the ops at peak rates."""
    refuse_device_arguments(asked)
    predicted = await prediction(run)
    return Answer(
        verdict="cannot_tell",
        why=predicted.why,
        floors=FLOORS.table([("as_it_is", predicted.at_peak_rates_us, None, None, AS_IT_IS)]),
        predicted=predicted,
        chip_caveats=run.chip.caveats,
    )


def _ledger(facts: WindowFacts, entries: list[Entry], window_ns: float) -> Table:
    times_us = rounded_parts([entry.time_ns / 1e3 for entry in entries], window_ns / 1e3, 2)
    shares = rounded_parts([entry.time_ns / window_ns for entry in entries], 1.0, 4)
    return LEDGER.table(
        [
            (entry.name, time_us, share, _heaviest(facts, entry))
            for entry, time_us, share in zip(entries, times_us, shares, strict=True)
        ]
    )


def _floors(facts: WindowFacts) -> list[tuple[str, float, str]]:
    if facts.chip.foreign:
        return []
    least = facts.least_times
    weights_ns = float(least.weight_bytes.sum()) / (facts.chip.dram_peak_gb_s or np.inf)
    one_pass_ns = max(weights_ns, float(least.arithmetic_ns.sum()))
    as_it_is_ns, cheaper_ns = float(least.as_it_is_ns.sum()), float(least.cheaper_ns.sum())
    # one op may compute while another one reads: bounds of single ops do not add up
    if facts.timeline.side_by_side:
        as_it_is_ns, cheaper_ns = max(float(least.as_it_is_ns.max()), one_pass_ns), float(least.cheaper_ns.max())
    return [
        ("as_it_is", as_it_is_ns, AS_IT_IS),
        ("cheaper_formats", cheaper_ns, CHEAPER),
        ("one_pass", one_pass_ns, READ_ONCE),
    ]


def _judged(
    share: float, modelled: float, entries: list[Entry], window_ns: float
) -> tuple[Literal["at_floor", "above_floor", "cannot_tell"], str]:
    """Whether the window is at its floor, also if the ops that the bounds leave out needed all of their time."""
    largest = max((entry for entry in entries if entry.name != "roofline"), key=lambda entry: entry.time_ns)
    kernels = sum(entry.time_ns for entry in entries if entry.name != "gaps")
    sentence = (
        f"as it is, the program needs at least {figure(share, '.0%')} of this time; most of the rest is "
        f"{largest.name.replace('_', ' ')} ({figure(largest.time_ns / window_ns, '.0%')})"
    )
    if share >= AT_THE_FLOOR and modelled >= MODELLED:
        return "at_floor", sentence
    if share + (1 - modelled) * kernels / window_ns < AT_THE_FLOOR:
        return "above_floor", sentence
    incomplete = (
        f"{sentence}. The bounds are incomplete on {figure(1 - modelled, '.0%')} "
        "of the kernel time: see not_in_the_bounds"
    )
    return "cannot_tell", incomplete


def _heaviest(facts: WindowFacts, entry: Entry) -> str:
    """`Conv2d 812 (line 117), Matmul 40 (line 9)`: the kinds of op with the largest part, in microseconds."""
    most = ABOVE_NAMED if entry.name == "above_bounds" else NAMED
    most = most if entry.time_ns >= MINOR * facts.timeline.busy_ns else 1
    return ", ".join(
        f"{shown(name)} {figure(ns / 1e3, '.0f')} (line {row})" for name, ns, row in entry.heaviest(facts.ops, most)
    )


def _left_out(facts: WindowFacts) -> dict[str, float]:
    """Why a bound leaves something out -> kernel time of the ops it concerns, in microseconds."""
    least, reasons = facts.least_times, facts.roofline.why
    labels = (*dict.fromkeys((*reasons.distinct, NO_LINKS, WHY_IMPOSSIBLE)),)
    unsaid = np.where(least.bounded, labels.index(NO_LINKS), labels.index(WHY_IMPOSSIBLE))
    keys = np.where(reasons.codes >= 0, reasons.codes, unsaid)
    rows = np.flatnonzero(~least.complete)
    return {labels[group.key]: group.kernel_ns / 1e3 for group in grouped(keys[rows], facts.kernel_ns[rows])}


TOOL = Tool(
    name="time_budget",
    title="Time budget",
    arguments=Arguments,
    answer=Answer,
    ask=time_budget,
    about="window",
    needs=("performance",),
    alone=budget_alone,
    budget=Budget(6_000, ("not_in_the_bounds",), keep=3),  # a ledger without some entries would not add up
    view="ui://ttnn-mcp/pictures",
    search_hint="speed of light roofline of the whole model floor how fast could it be where does the time go",
)


def rounded_parts(parts: Sequence[float], whole: float, decimals: int) -> list[float]:
    """The parts, each rounded up or down so that they add up to the rounded whole; the largest remainders go up."""
    scale = 10**decimals
    exact = [part * scale for part in parts]
    units = [floor(part) for part in exact]
    missing = round(round(whole, decimals) * scale) - sum(units)
    by_remainder = sorted(range(len(parts)), key=lambda place: units[place] - exact[place])
    for place in by_remainder[:missing]:
        units[place] += 1
    return [each / scale for each in units]


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
