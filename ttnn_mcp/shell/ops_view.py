"""The answer of `list_ops` for a terminal: a row for each kind of op, or for each op."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ttnn_mcp.report.sections import ops_counted, window_words
from ttnn_mcp.run.ops.op_names import canonical
from ttnn_mcp.shell.outline import Outline, Section, measured

if TYPE_CHECKING:
    from collections.abc import Callable

# heading -> column of the answer, and how its cell is told
GROUPS: dict[str, str] = {
    "op": "key", "ops": "count", "time [us]": "kernel_us", "time %": "share", "gap [us]": "median_gap_us",
    "cores": "min_cores", "DRAM %": "dram_share", "FLOP %": "flop_share", "heaviest line": "heaviest_op",
    "differ": "differ",
}  # fmt: skip
EACH: dict[str, str] = {
    "line": "op", "op": "op_code", "device": "device", "time [us]": "kernel_us", "time %": "share",
    "gap [us]": "gap_us", "cores": "cores", "bound": "bound", "fidelity": "fidelity", "shapes": "shapes",
}  # fmt: skip
LEGEND = (  # below the table
    "time: of kernels. gap: the median before such an op, in which its device is idle. DRAM %, FLOP %: of the chip's "
    "peak, where the report tells. line: in the CSV, for ttnn-mcp op LINE."
)


def ops_outline(answer: dict[str, Any]) -> Outline:
    """The answer's outline; that of an answer about operations of the host stays as it is elsewhere."""
    total = answer["total"]
    kind = "groups" if "groups" in answer else "ops"
    table, columns = answer[kind], GROUPS if kind == "groups" else EACH
    facts = [
        ("window", window_words(answer["window"])),
        ("total", f"{ops_counted(total['count'])}, {total['kernel_us']:,} us of kernels"),
        *([("caveat", answer["caveat"])] if answer.get("caveat") else []),
    ]
    places = {
        heading: table["columns"].index(name) for heading, name in columns.items() if name in table["columns"]
    }
    rows = [
        tuple(TOLD.get(heading, _as_is)(row[place]) for heading, place in places.items()) for row in table["rows"]
    ]
    devices = {row[place] for heading, place in places.items() if heading == "device" for row in table["rows"]}
    kept = [place for place, heading in enumerate(places) if heading != "device" or len(devices) > 1]
    headings = tuple(places)
    return Outline(
        facts,
        [
            Section(
                "", tuple(headings[place] for place in kept), [tuple(row[place] for place in kept) for row in rows]
            )
        ],
    )


def _as_is(cell: Any) -> Any:
    return cell


def _short(name: Any) -> Any:
    """The name without 'DeviceOperation', and whatever stands behind it."""
    first, gap, rest = str(name).partition(" ")
    return f"{canonical(first)}{gap}{rest}"


def _percents(share: Any) -> Any:
    return None if share is None else measured(round(share * 100, 1), 1)


def _times(us: Any) -> Any:
    return measured(us, 1)


TOLD: dict[str, Callable[[Any], Any]] = {
    "op": _short,
    "time [us]": _times,
    "gap [us]": _times,
    "time %": _percents,
    "DRAM %": _percents,
    "FLOP %": _percents,
}
