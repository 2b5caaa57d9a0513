"""A window: where its time goes, its ops and gaps, and their cores; together or one large."""

# pyright: reportUnknownMemberType=false

from __future__ import annotations

from typing import Any

from ttnn_mcp.report.images.canvas import BAR, COLOURS, GAP, NOT_MODELLED, PLAIN, head
from ttnn_mcp.report.schedule import Slot, slots_of

Answer = dict[str, Any]
DEVICES = 8  # lanes that can be told apart on a picture of this size
LEGEND = 24  # points that it takes between a picture and its title
SINCE = "us since the window began"


def draw_window(figure: Any, budget: Answer, ops: Answer) -> None:
    """Ledger, timeline and cores."""
    spent, lanes, cores = figure.subplots(3, 1, height_ratios=(3, 2, 1.5))
    _ledger(spent, budget)
    slots = _slots(ops)
    _timeline(lanes, ops["ops"], slots)
    _cores(cores, ops["ops"], _of_device(slots, budget))
    cores.sharex(lanes)
    cores.set_xlabel(f"{SINCE}; cores of device {budget['device']}")


def draw_timeline(figure: Any, budget: Answer, ops: Answer) -> None:
    """Ops and gaps of each device."""
    lanes = figure.subplots()
    shown, devices = _timeline(lanes, ops["ops"], _slots(ops))
    head(lanes, f"{_of_window(budget)}; ops and gaps of {shown} of {devices} devices", above=LEGEND)
    lanes.set_xlabel(SINCE)


def draw_cores(figure: Any, budget: Answer, ops: Answer) -> None:
    """The cores of each op, over time and over the ops."""
    over_time, over_ops = figure.subplots(2, 1)
    slots = _of_device(_slots(ops), budget)
    _cores(over_time, ops["ops"], slots)
    over_time.set_xlabel(SINCE)
    head(over_time, f"{_of_window(budget)}; cores of device {budget['device']}, over time and op by op")
    at = ops["ops"]["columns"].index("cores")
    each = [ops["ops"]["rows"][slot.row][at] or 0 for slot in slots]
    over_ops.fill_between(range(len(each) + 1), [*each, 0], step="post", color=BAR, linewidth=0)
    over_ops.set_ylim(bottom=0)
    over_ops.set_ylabel("cores")
    over_ops.set_xlabel(f"the {len(each):,} ops in the order they ran")


def _of_window(budget: Answer) -> str:
    return f"{budget['window_us']:,} us, {budget['verdict'].replace('_', ' ')}"


def _slots(ops: Answer) -> list[Slot]:
    return slots_of(ops["ops"]["columns"], ops["ops"]["rows"], warm=ops["window"]["warm"])


def _of_device(slots: list[Slot], budget: Answer) -> list[Slot]:
    return [slot for slot in slots if slot.device == budget["device"]]


def _ledger(axes: Any, budget: Answer) -> None:
    rows = budget["ledger"]["rows"]
    colours = [{"roofline": COLOURS["compute"], "gaps": COLOURS["dram"]}.get(row[0], PLAIN) for row in rows]
    bars = axes.barh([row[0].replace("_", " ") for row in rows], [row[1] for row in rows], color=colours)
    axes.bar_label(bars, [f"{row[1]:,} us" for row in rows], padding=3)
    axes.invert_yaxis()
    axes.margins(x=0.12)
    head(axes, f"{_of_window(budget)}: {budget['why']}")


def _timeline(axes: Any, table: Answer, slots: list[Slot]) -> tuple[int, int]:
    """Ops in the colour of what binds them; what is left of a lane is a gap. Returns devices drawn, and of how many."""
    at = table["columns"].index("bound")
    everything = sorted({slot.device for slot in slots})
    devices = everything[:DEVICES]
    for place, device in enumerate(devices):
        lane = [slot for slot in slots if slot.device == device]
        axes.broken_barh([(0, lane[-1].end_ns / 1e3)], (place - 0.4, 0.8), color=GAP, linewidth=0, label="gap")
        for bound, colour in COLOURS.items():
            spans = [
                (slot.start_ns / 1e3, (slot.end_ns - slot.start_ns) / 1e3)
                for slot in lane
                if table["rows"][slot.row][at] == bound
            ]
            if spans:
                axes.broken_barh(spans, (place - 0.4, 0.8), color=colour, linewidth=0, label=bound or NOT_MODELLED)
    axes.set_yticks(range(len(devices)), [f"device {device}" for device in devices])
    axes.invert_yaxis()
    names = dict(zip(*reversed(axes.get_legend_handles_labels()), strict=True))  # one entry for all lanes
    axes.legend(names.values(), names.keys(), loc="lower left", bbox_to_anchor=(0, 1), ncols=6, frameon=False)
    return len(devices), len(everything)


def _cores(axes: Any, table: Answer, slots: list[Slot]) -> None:
    at = table["columns"].index("cores")
    times: list[float] = []
    heights: list[int] = []
    for slot in slots:
        cores = table["rows"][slot.row][at] or 0
        times += [slot.start_ns / 1e3, slot.start_ns / 1e3, slot.end_ns / 1e3, slot.end_ns / 1e3]
        heights += [0, cores, cores, 0]
    axes.fill_between(times, heights, color=BAR, linewidth=0)  # one shape: thousands of bars take half a minute
    axes.set_ylim(bottom=0)
    axes.set_ylabel("cores")
