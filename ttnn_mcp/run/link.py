"""The link between the two reports of one run: which ttnn operation launched which device op.

Neither report holds the other's ids, unless the memory report has the table `operation_executions`. Without it,
the device ops that the captured graphs name are compared, in order, with the device ops of the performance report.
Rows of several devices are one launch when GLOBAL CALL COUNT says so. Whole passes of the model are linked or
nothing is: one op that differs is enough to link no op of its pass.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ttnn_mcp.arrays import Integers
from ttnn_mcp.errors import shown
from ttnn_mcp.records import dataclass
from ttnn_mcp.run.ops.op_names import canonical
from ttnn_mcp.run.performance import Performance
from ttnn_mcp.wire import Link

NOT_LINKED = -1


@dataclass(frozen=True, slots=True)
class Launched:
    """The device ops that the captured graphs name.

    Attributes:
        operations: ttnn operation id per device op, in launch order.
        op_codes: their names, in the same order.
        finished: positions sorted by when each op ended (nested ops end in another order).
    """

    operations: tuple[int, ...]
    op_codes: tuple[str, ...]
    finished: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Linked:
    """Which ttnn operation launched which device op.

    Attributes:
        link: status, method, and how many of the device ops were matched.
        operation_at: line of the performance report -> ttnn operation id.
    """

    link: Link
    operation_at: dict[int, int]


def linked(performance: Performance, launched: Launched, executions: Sequence[tuple[int, int, int]] = ()) -> Linked:
    """Match the device ops of the two reports.

    Args:
        performance: the performance report.
        launched: the device ops that the memory report's graphs name.
        executions: (operation id, device, global call count) from the memory report; empty where it has none.
    """
    total = len(performance.ops)
    if not total:
        return not_linked("the performance report shows no device ops")
    exact = by_execution(performance, executions)
    if len(exact) == total:
        return _linked(exact, total, "operation_executions")
    if not launched.op_codes:
        return not_linked(
            "the memory report captured no device ops (no captured_graph): capture it with graph tracking on"
        )
    launches, method = _launches(performance)
    captured = _names(launched.op_codes)
    for order, suffix in ((None, ""), (launched.finished, " (order of completion)")):
        names = captured if order is None else [captured[place] for place in order]
        operations = launched.operations if order is None else tuple(launched.operations[place] for place in order)
        matched = _matched_lines(names, operations, launches)
        if matched is not None:
            return _linked(matched, total, method + suffix)
    return not_linked(_first_difference(captured, launches))


@dataclass(frozen=True, slots=True)
class _Launches:
    """Launches of the performance report in order: their names and the report lines of each."""

    names: list[str]
    lines: list[Integers]


def _launches(performance: Performance) -> tuple[_Launches, str]:
    ops, ids = performance.timed, performance.runtime_ids
    if ids is None:
        counts = ops.numbers("call_count")
        order = np.lexsort((ops.lines, np.nan_to_num(counts, nan=np.inf)))
        names = _names([ops.texts("op_code")[int(place)] for place in order])
        return _Launches(names, [ops.lines[place : place + 1] for place in order]), "device op order"
    order = np.lexsort((ops.lines, ids))
    starts = np.flatnonzero(np.diff(ids[order], prepend=-1))
    groups = np.split(order, starts[1:])
    names = _names([ops.texts("op_code")[int(group[0])] for group in groups])
    return _Launches(names, [ops.lines[group] for group in groups]), "global call count >> 10, then device op order"


def _names(op_codes: Sequence[str]) -> list[str]:
    folded = {code: canonical(code) for code in set(op_codes)}
    return [folded[code] for code in op_codes]


def _matched_lines(names: list[str], operations: tuple[int, ...], launches: _Launches) -> dict[int, int] | None:
    """Operation id per report line, where the performance report contains whole passes of `names`; else None.

    Passes are looked for at the end (after set-up ops; the last one may be cut off) and at the beginning (the memory
    report may end before the run does). A report that is only the beginning of a pass is linked as far as it goes.
    """
    length, total = len(names), len(launches.names)
    if length > total:
        return _lines(operations, launches, 0, total) if launches.names == names[:total] else None
    first, end = _passes_at_the_end(names, launches.names)
    leading_end = 0
    while leading_end + length <= first and launches.names[leading_end : leading_end + length] == names:
        leading_end += length
    matched = {**_lines(operations, launches, 0, leading_end), **_lines(operations, launches, first, end)}
    return matched or None


def _passes_at_the_end(names: list[str], launched_names: list[str]) -> tuple[int, int]:
    """(first, end) of the unbroken passes that reach the end of `launched_names`; the last one may be cut off."""
    length, total = len(names), len(launched_names)
    for cut in range(length):
        cut_off, whole = launched_names[total - cut :], launched_names[total - cut - length : total - cut]
        if cut_off == names[:cut] and whole == names:
            first = total - cut
            while launched_names[first - length : first] == names:  # a slice that begins before the list is empty
                first -= length
            return first, total
    return total, total


def _lines(operations: tuple[int, ...], launches: _Launches, start: int, end: int) -> dict[int, int]:
    return {
        int(line): operations[(place - start) % len(operations)]
        for place in range(start, end)
        for line in launches.lines[place]
    }


def _first_difference(captured: list[str], launches: _Launches) -> str:
    if len(captured) > len(launches.names):
        return (
            f"the memory report launched {len(captured)} device ops, the performance report holds "
            f"{len(launches.names)}: not the same run, or rows were dropped"
        )
    place = next(
        (number for number, pair in enumerate(zip(captured, launches.names, strict=False)) if pair[0] != pair[1]),
        len(captured),
    )
    line = int(launches.lines[place][0]) if place < len(launches.lines) else 0
    timed_op = launches.names[place] if place < len(launches.names) else "nothing"
    captured_op = captured[min(place, len(captured) - 1)]
    return f"device op {place + 1} is {shown(captured_op)} in the memory report, {shown(timed_op)} at line {line}"


def by_execution(performance: Performance, executions: Sequence[tuple[int, int, int]]) -> dict[int, int]:
    """Line of an op -> operation, for `executions` of (operation, device, call count)."""
    ops = performance.ops
    by_call = {(device, count): operation for operation, device, count in executions}
    keys = zip(ops.numbers("device").tolist(), ops.numbers("call_count").tolist(), strict=True)
    return {  # a lost device or count is NaN, which is no key
        int(line): by_call[key] for line, key in zip(ops.lines, keys, strict=True) if key in by_call
    }


def _linked(matched: dict[int, int], total: int, method: str) -> Linked:
    return Linked(Link(status="linked", method=method, matched=len(matched), of=total), matched)


def not_linked(why: str) -> Linked:
    """The result for reports that are not linked, with the reason."""
    return Linked(Link(status="not_linked", why=why), {})
