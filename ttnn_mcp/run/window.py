"""The window: the rows that an answer is about, and why these rows."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from functools import cached_property
from typing import Literal

import numpy as np

from ttnn_mcp.arrays import Booleans, Integers
from ttnn_mcp.errors import QuestionRefused, nearest, shown
from ttnn_mcp.quoting import figure
from ttnn_mcp.records import dataclass
from ttnn_mcp.run.doubt import Doubt
from ttnn_mcp.run.iterations import Iterations, device_order, in_replays, iterations_of, signatures
from ttnn_mcp.run.left_out import left_out
from ttnn_mcp.run.marked_pass import marked_pass
from ttnn_mcp.run.ops.alike import numbered
from ttnn_mcp.run.ops.artefact import known, stored
from ttnn_mcp.run.ops.op_table import OpTable
from ttnn_mcp.run.performance import Performance
from ttnn_mcp.wire import Window

REPROFILE = "re-profile 2 or more iterations in one run (3 if compiled)"


@dataclass(frozen=True, eq=False)
class Scope:
    """The ops of a window, in the order each device ran them.

    Attributes:
        ops: device ops, sorted by device, then by time.
        window: the description of these rows that the answer carries.
        cold: the first iteration if the window is a later one; otherwise no rows.
        lead: the device to be taken as the critical one, where another window or its work chose it; None: the slowest.
        doubts: what contradicts itself among these rows.
    """

    ops: OpTable
    window: Window
    cold: OpTable
    lead: int | None = None
    doubts: tuple[Doubt, ...] = ()

    def doubted(self, doubts: tuple[Doubt, ...]) -> Scope:
        """The same with these doubts more, which its window carries into every answer."""
        if not doubts:
            return self
        every = (*self.doubts, *doubts)
        window = self.window.model_copy(update={"doubts": tuple(map(str, every))})
        doubtful = replace(self, window=window, doubts=every)
        # the same tables, so that what is known of them is not computed again
        known = ("critical", "critical_device")
        vars(doubtful).update({name: vars(self)[name] for name in known if name in vars(self)})
        return doubtful

    @property
    def in_doubt(self) -> str:
        """Why no verdict rests on the sums of this window, with the codes of the doubts; empty where one may."""
        codes = ", ".join(doubt.code for doubt in self.doubts if doubt.of_all)
        return f"the report contradicts itself: {codes}" if codes else ""

    @property
    def times_in_doubt(self) -> str:
        """The codes of the doubts for which no other run is compared with these times; empty where it may be."""
        return ", ".join(doubt.code for doubt in self.doubts if doubt.of_times)

    @cached_property
    def critical_device(self) -> int:
        """The device with the most kernel time: the other devices wait for it."""
        if self.lead is not None:
            return self.lead
        kernel_ns = self.ops.by_device(self.ops.numbers("kernel_ns"))
        return max(kernel_ns, key=lambda device: kernel_ns[device])

    @cached_property
    def critical(self) -> OpTable:
        """The ops of the critical device, in the order they ran."""
        return self.of_device(self.critical_device)

    def of_device(self, device: int) -> OpTable:
        """The ops of one device, in the order they ran."""
        return self.ops.take(self.ops.numbers("device") == device)


def scope_of(
    report: Performance,
    iteration: Literal["last", "all"] | int = "last",
    start_signpost: str | None = None,
    end_signpost: str | None = None,
) -> Scope:
    """Choose the rows of the window.

    Args:
        report: the performance report.
        iteration: an iteration's number from 1, "last", or "all" for every row.
        start_signpost: only ops after the last signpost of this name.
        end_signpost: only ops before the first signpost of this name that follows.

    Raises:
        QuestionRefused: no timed device op, an unknown signpost, an iteration that does not exist.
    """
    if not len(report.ops):
        raise QuestionRefused(
            "This report holds no device times: it has no rows, or only host, signpost or captured ones. "
            "Profile again with `python -m tracy -r` on a build with profiling enabled."
        )
    ops, within, outside = report.steady, "", ""
    iterations = report.iterations
    bracketed = start_signpost is not None or end_signpost is not None
    marked = None if bracketed or iterations.count or iteration == "all" else marked_pass(report.signposts, ops)
    if marked is not None:
        start_signpost, end_signpost, bracketed = marked.start, marked.end, True
        outside = f"; {marked.outside} ops outside of them are set-up, or another part: iteration='all' takes them"
    if bracketed:
        ops, within = _between(report, start_signpost, end_signpost)
        iterations = iterations_of(ops, report.signposts.take(_lines_between(report.signposts, ops)))
    if not len(ops):
        raise QuestionRefused(f"No device op ran {within or 'outside const-eval'}. Choose other signposts or none.")
    # who marks a part of a model asks of all of it
    in_part = bracketed and iterations.may_be_layers and not iterations.number.all()
    chosen = _chosen(iteration, iterations, in_part=in_part)
    if chosen is None:
        places, kind = np.arange(len(ops)), "signposts" if bracketed else "whole_report"
        why = _why_all(iteration, iterations.count, within)
        cold = ops.take(np.zeros(len(ops), dtype=np.bool_))
    else:
        places, kind = np.flatnonzero(iterations.number == chosen), "iteration"
        why = " ".join((f"found by {iterations.found_by}", within)).strip()
        cold = ops.take((iterations.number == 1) & (chosen > 1))
    rows = _as_run(ops, places)
    if not len(rows):
        raise QuestionRefused(f"No device op of iteration {chosen} can be told apart. Ask with iteration='all'.")
    replay = chosen is not None and iterations.found_by == "trace replays"
    warm = replay or _ran_before(report, rows.take(~in_replays(rows)))
    if chosen is not None and iterations.may_be_layers:
        why += (
            "; equal layers of one pass would look the same: then all figures are per layer, and the run has "
            f"{iterations.count} of them: iteration='all' takes all"
        )
    if chosen is not None and (others := left_out(ops, iterations.number, chosen)):
        why += (
            f"; {others.ops} ops ({figure(others.ns / 1e6, '.3g')} ms) outside "
            "the iterations are not all repeats of one: "
            "iteration='all' takes them"
        )
    why += outside + "".join(_without_times(iterations, chosen))
    if len(report.steady) < len(report.ops):
        why += f"; {len(report.ops) - len(report.steady)} const-eval ops left out"
    window = Window(
        kind=kind,
        rows=len(rows),
        first_row=int(rows.lines.min()),
        last_row=int(rows.lines.max()),
        iteration=chosen,
        of_iterations=(iterations.count if chosen or iteration == "all" else 0) or None,
        warm=warm,
        why=why if warm or chosen == 1 or iteration == "all" else f"{why}; {REPROFILE}",
    )
    return Scope(rows, window, cold)


def _as_run(ops: OpTable, places: Integers) -> OpTable:
    """The ops at some places in the order they ran; whose signatures are known need not be looked at again."""
    places = places[device_order(ops.take(places))]
    rows, kinds = ops.take(places), stored(ops, signatures)
    if kinds is not None:
        known(rows, signatures, numbered(len(rows), [kinds[places]]))
    return rows


def _chosen(iteration: Literal["last", "all"] | int, iterations: Iterations, *, in_part: bool) -> int | None:
    """The iteration; None for all rows, and by default where what repeats may be blocks in a part of a model."""
    count = iterations.count
    if iteration == "all":
        return None
    if iteration == "last":
        return None if in_part else max(iterations.whole, default=None)
    if not 1 <= iteration <= count:
        reason = (
            f"there are {count}, numbered from 1" if count else "no repeating iterations were found in these rows"
        )
        raise QuestionRefused(f"No iteration {iteration}: {reason}. Use iteration 'last' or 'all'.")
    return iteration


def _without_times(iterations: Iterations, chosen: int | None) -> Iterator[str]:
    """What is said of iterations that lost times: of the chosen one, and of later ones that were passed over."""
    if chosen is None:
        return
    for number, ops in iterations.short:
        lost = (
            f"{ops} of its ops ran without a kernel time" if ops > 1 else "one of its ops ran without a kernel time"
        )
        if number == chosen:
            yield f"; {lost}: sums are too low"
        elif number > chosen:
            yield f"; iteration {number} is passed over: {lost}"


def _why_all(iteration: object, count: int, within: str) -> str:
    if iteration == "all":
        reason = f"all rows asked for, {count} iterations together" if count else "all rows asked for"
    elif count:
        reason = f"all ops: some repeat {count} times without a pause (iteration=1 to {count}), others do not"
    else:
        reason = "no repeating iterations"
    return f"{reason}{', ' + within if within else ''}"


def _ran_before(report: Performance, rows: OpTable) -> bool:
    """Whether every op signature of `rows` ran earlier on some device, so that its program was compiled already.

    A mesh compiles a program once for all its devices, so an earlier run on another device counts too. That also
    covers a device whose earlier row was dropped.
    """
    everything = report.ran if report.iterations.short else report.steady
    signature = signatures(everything)
    device = everything.numbers("device").astype(np.int64)  # ids are small: the reader refuses others
    chosen = np.zeros(int(everything.lines.max()) + 1, dtype=np.bool_)
    chosen[rows.lines] = True
    inside = chosen[everything.lines]
    begins: Integers = np.full(int(device.max()) + 1, np.iinfo(np.int64).max, dtype=np.int64)
    np.minimum.at(begins, device[inside], everything.lines[inside])
    ran_inside = begins < np.iinfo(np.int64).max
    compiled = np.zeros(int(signature.max()) + 1, dtype=np.bool_)
    compiled[signature[(everything.lines < begins[device]) & ran_inside[device]]] = True
    return bool(compiled[signature[inside]].all())


def _between(report: Performance, start: str | None, end: str | None) -> tuple[OpTable, str]:
    """The steady ops after the last `start` signpost and before the first `end` that follows it."""
    names, lines = report.signposts.texts("op_code"), report.signposts.lines
    after, before = 0, np.iinfo(np.int64).max
    bounds: list[str] = []
    if start is not None:
        starts = _lines_named(report, start)
        after = int(starts[-1])
        if end is not None:  # unmoved: without an end none closes, and the last start is taken
            ends = lines[names.among(end)]  # take the last start that an end follows
            closed = starts[starts < ends[-1]] if len(ends) else starts
            after = int(closed[-1]) if len(closed) else after
        bounds.append(f"after signpost '{shown(start)}'{_which(starts, after)}")
    if end is not None:
        matches = _lines_named(report, end)
        later = matches[matches > after]
        if not len(later):
            raise QuestionRefused(
                f"Signpost '{shown(end)}' never comes after '{shown(start)}'. Swap them, or drop one."
            )
        before = int(later[0])
        bounds.append(f"before signpost '{shown(end)}'")
    rows = report.steady
    return rows.take((rows.lines > after) & (rows.lines < before)), " and ".join(bounds)


def _which(lines: Integers, chosen: int) -> str:
    return f" (line {chosen}, one of {len(lines)})" if len(lines) > 1 else ""


def _lines_named(report: Performance, name: str) -> Integers:
    names = report.signposts.texts("op_code")
    lines = report.signposts.lines[names.among(name)]
    if not len(lines):
        hint = nearest(name, names.distinct) if len(report.signposts) else " This report has no signposts."
        raise QuestionRefused(f"No signpost '{shown(name)}'.{hint}")
    return lines


def _lines_between(signposts: OpTable, ops: OpTable) -> Booleans:
    if not len(ops):
        return np.zeros(len(signposts), dtype=np.bool_)
    return (signposts.lines >= ops.lines.min() - 1) & (signposts.lines <= ops.lines.max() + 1)
