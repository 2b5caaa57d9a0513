"""The link between the two reports of one run: which ttnn operation launched which device op.

Neither report holds the other's id (until `operation_executions` is written), so the device ops that the
captured graphs name, in order, are laid beside the device ops of the performance report, in order. Rows of
several devices are one launch when GLOBAL CALL COUNT says so. A link holds for whole passes of the model or not
at all: a pass that differs in one op is not linked, and nothing is ever stretched to fit.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from ttnn_mcp.errors import shown
from ttnn_mcp.run.ops.op_names import canonical
from ttnn_mcp.wire import Link

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from ttnn_mcp.run.performance import Performance

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
    """What was matched.

    Attributes:
        said: status, method, matched of total.
        operation_at: line of the performance report -> ttnn operation id.
    """

    said: Link
    operation_at: dict[int, int]


def linked(performance: Performance, launched: Launched, executions: Sequence[tuple[int, int, int]] = ()) -> Linked:
    """Match the reports; `executions` are (operation id, device, global call count) where the report has them."""
    total = len(performance.ops)
    if executions:
        exact = _by_execution(performance, executions)
        if len(exact) == total:
            return _said(exact, total, "operation_executions")
    if not launched.op_codes:
        return not_linked(
            "the memory report captured no device ops (no captured_graph): capture it with graph tracking on"
        )
    launches, method = _launches(performance)
    wanted = _names(launched.op_codes)
    for order, spoken in ((None, ""), (launched.finished, " (order of completion)")):
        names = wanted if order is None else [wanted[place] for place in order]
        operations = launched.operations if order is None else tuple(launched.operations[place] for place in order)
        matched = _matched_lines(names, operations, launches)
        if matched is not None:
            return _said(matched, total, method + spoken)
    return not_linked(_first_difference(wanted, launches))


@dataclass(frozen=True, slots=True)
class _Launches:
    """Launches of the performance report in order: their names and the report lines of each."""

    names: list[str]
    lines: list[NDArray[np.int64]]


def _launches(performance: Performance) -> tuple[_Launches, str]:
    ops = performance.ops
    ids = performance.runtime_ids
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
    """Lines to operations where the performance report is made of whole passes of `names`.

    Passes are looked for at the end (behind set-up ops; the last one may be cut off) and at the beginning (the memory
    report may stop before the run did). A report that is only the beginning of what the memory report holds is
    linked as far as it goes.
    """
    length, total = len(names), len(launches.names)
    if length > total:
        return _lines(operations, launches, 0, total) if launches.names == names[:total] else None
    first, end = _passes_at_the_end(names, launches.names)
    last = 0
    while last + length <= first and launches.names[last : last + length] == names:
        last += length
    linked = {**_lines(operations, launches, 0, last), **_lines(operations, launches, first, end)}
    return linked or None


def _passes_at_the_end(names: list[str], seen: list[str]) -> tuple[int, int]:
    """(first, end) of the unbroken passes that reach the end of `seen`; the last one may be cut off."""
    length, total = len(names), len(seen)
    for cut in range(length):
        if (
            total - cut >= length
            and seen[total - cut :] == names[:cut]
            and seen[total - cut - length : total - cut] == names
        ):
            first = total - cut
            while first >= length and seen[first - length : first] == names:
                first -= length
            return first, total
    return total, total


def _lines(operations: tuple[int, ...], launches: _Launches, start: int, end: int) -> dict[int, int]:
    return {
        int(line): operations[(place - start) % len(operations)]
        for place in range(start, end)
        for line in launches.lines[place]
    }


def _first_difference(wanted: list[str], launches: _Launches) -> str:
    if len(wanted) > len(launches.names):
        return (
            f"the memory report launched {len(wanted)} device ops, the performance report holds "
            f"{len(launches.names)}: not the same run, or rows were dropped"
        )
    place = next(
        (n for n, pair in enumerate(zip(wanted, launches.names, strict=False)) if pair[0] != pair[1]), len(wanted)
    )
    line = int(launches.lines[place][0]) if place < len(launches.lines) else 0
    there = launches.names[place] if place < len(launches.names) else "nothing"
    here = wanted[min(place, len(wanted) - 1)]
    return f"device op {place + 1} is {shown(here)} in the memory report, {shown(there)} at line {line}"


def _by_execution(performance: Performance, executions: Sequence[tuple[int, int, int]]) -> dict[int, int]:
    ops = performance.ops
    by_call = {(device, count): operation for operation, device, count in executions}
    keys = zip(ops.numbers("device").tolist(), ops.numbers("call_count").tolist(), strict=True)
    return {
        int(line): by_call[key]
        for line, key in zip(ops.lines, ((int(d), int(c)) for d, c in keys), strict=True)
        if key in by_call
    }


def _said(matched: dict[int, int], total: int, method: str) -> Linked:
    return Linked(Link(status="linked", method=method, matched=len(matched), of=total), matched)


def not_linked(why: str) -> Linked:
    """No link, and why."""
    return Linked(Link(status="not_linked", why=why), {})
