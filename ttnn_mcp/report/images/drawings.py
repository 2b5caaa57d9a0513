"""The pictures that go with an answer.

A window: where its time goes, its ops and gaps, and their cores; together or one large. Every op by its arithmetic and
DRAM traffic, under the peaks that its bound was computed with. L1 of a bank over the operations, and what is live in it
at the operation that was asked for, or at the peak. Kernel time by op, before a change and after it.
"""

# pyright: reportMissingImports=false, reportUnknownVariableType=false, reportUnknownMemberType=false

from __future__ import annotations

from typing import Any

from ttnn_mcp.report.images.canvas import BAR, COLOURS, GAP, NOT_MODELLED, PLAIN, TEXT, head
from ttnn_mcp.report.markup import ranked, shortened
from ttnn_mcp.report.plotted import Slot, points_of, roofs_of, slots_of

Answer = dict[str, Any]
DEVICES = 8  # lanes that can be told apart on a picture of this size
LEGEND = 24  # points that it takes between a picture and its title
SINCE = "us since the window began"
MARKERS = {"compute": "o", "dram": "s", "l1": "^", "overhead": "D", None: "v"}  # the shapes of the page
OFFSET = {"textcoords": "offset points", "va": "bottom", "color": TEXT}
STEPS = (1, 2, 5)  # of a decade, so that less than one still shows its scale
MARGIN = 2  # the factor around points and roofs, as on the page
LIVE = 12  # tensors that can be told apart beside the levels
KB = 1000
THICK = 0.4
FEWEST = 5  # rows that the picture has room for, so that a single op gets no giant bar
TITLE_CHARS = 100  # beside the names of ops there is less room


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


def draw_roofline(figure: Any, ops: Answer, rooflines: Answer) -> None:
    """The ops that have both, and how many have not."""
    from matplotlib.ticker import LogLocator, NullLocator  # noqa: PLC0415 - an extra

    axes = figure.subplots()
    points, total = points_of(ops, rooflines), len(ops["ops"]["rows"])
    left = f"{total - len(points):,} others have no arithmetic, no DRAM traffic or no model of either"
    head(axes, f"{len(points):,} ops against their roofline; {left}")
    axes.set(xlabel="arithmetic per byte of DRAM traffic [FLOP/B]", ylabel="reached [TFLOP/s]")
    if not points:
        axes.text(0.5, 0.5, "No op of this window has what this picture needs.", ha="center")
        return
    axes.set(xscale="log", yscale="log")
    for axis in (axes.xaxis, axes.yaxis):
        axis.set_major_locator(LogLocator(subs=STEPS))
        axis.set_major_formatter("{x:g}")  # its own powers of ten are formulas, which are switched off here
        axis.set_minor_locator(NullLocator())
    at = ops["ops"]["columns"].index("bound")
    for bound, marker in MARKERS.items():
        chosen = [point for point in points if ops["ops"]["rows"][point.row][at] == bound]
        if chosen:
            xs, ys = [point.flops_per_byte for point in chosen], [point.tflops for point in chosen]
            axes.scatter(xs, ys, 28, COLOURS[bound], marker=marker, label=bound or NOT_MODELLED, linewidths=0)
    _roofs(axes, ops, rooflines, [point.flops_per_byte for point in points], [point.tflops for point in points])
    axes.legend(loc="upper left", frameon=False)


def _roofs(axes: Any, ops: Answer, rooflines: Answer, xs: list[float], ys: list[float]) -> None:
    """DRAM's slope up to the highest peak, and a level for the peak of each fidelity."""
    roofs = roofs_of(ops, rooflines)
    gbs = next((roof["gbs"] for roof in roofs if "gbs" in roof), None)
    peaks = {roof["fidelity"]: roof["tflops"] for roof in roofs if "tflops" in roof}
    highest = max(peaks.values(), default=0.0)
    low, high = min(xs) / MARGIN, max(xs) * MARGIN
    if gbs:
        high = max(high, highest / gbs * 1e3 * MARGIN)  # where the roofs meet
        end = min(highest / gbs * 1e3, high) if highest else high
        axes.plot([low, end], [low * gbs / 1e3, end * gbs / 1e3], color=TEXT, linewidth=1.5)
        middle = (low * end) ** 0.5
        axes.annotate(f"DRAM {gbs:,.0f} GB/s", (middle, middle * gbs / 1e3), (-8, 4), ha="right", **OFFSET)
    for fidelity, tflops in peaks.items():
        begin = max(tflops / gbs * 1e3, low) if gbs else low
        axes.plot([begin, high], [tflops, tflops], color=TEXT, linewidth=1.5)
        axes.annotate(f"{fidelity} {tflops:.3g} TFLOP/s", (high, tflops), (-4, 2), ha="right", **OFFSET)
    axes.set_xlim(low, high)
    axes.set_ylim(min(ys) / MARGIN, max(*ys, highest) * MARGIN)


def draw_levels(figure: Any, memory: Answer, levels: Answer) -> None:
    """Tensors below, circular buffers on top of them, and the capacity."""
    over, live = figure.subplots(1, 2, width_ratios=(3, 2))
    _over_operations(over, memory["l1_peak"], levels)
    _live(live, memory)


def _over_operations(axes: Any, peak: Answer, levels: Answer) -> None:
    at = {name: place for place, name in enumerate(levels["columns"])}
    operations = [row[at["operation"]] for row in levels["rows"]]
    totals = [row[at["bytes_per_bank"]] for row in levels["rows"]]
    circular = [min(row[at["circular_buffers_bytes"]], row[at["bytes_per_bank"]]) for row in levels["rows"]]
    edges = [*operations, operations[-1] + 1]
    tops = [*(total / KB for total in totals), 0]
    middles = [*((total - part) / KB for total, part in zip(totals, circular, strict=True)), 0]
    axes.fill_between(edges, middles, step="post", color=COLOURS["compute"], linewidth=0, label="tensors")
    axes.fill_between(
        edges, middles, tops, step="post", color=COLOURS["dram"], linewidth=0, label="circular buffers"
    )
    level = peak["bytes_per_bank"] / KB
    axes.plot([peak["operation"] + 0.5], [level], marker="v", color=TEXT, linestyle="none")
    words = f"operation {peak['operation']}: {peak['bytes_per_bank']:,} B"
    axes.annotate(words, (peak["operation"] + 0.5, level), (0, 6), textcoords="offset points", ha="center")
    capacity = peak.get("capacity_bytes")
    if capacity:
        axes.axhline(capacity / KB, color=TEXT, linestyle="--", label=f"capacity {capacity:,} B")
    axes.set_xlim(operations[0], edges[-1])
    axes.set_ylim(0, max(*tops, level, (capacity or 0) / KB) * 1.2)
    axes.set(xlabel="ttnn operation", ylabel="kB of one bank")
    axes.legend(loc="upper left", frameon=False)
    head(axes, f"L1 over {levels['operations']:,} operations")


def _live(axes: Any, memory: Answer) -> None:
    """One bar for each of the largest parts of the level."""
    columns, rows = memory["live"]["columns"], memory["live"]["rows"]
    tensor, kind, size, shape = (columns.index(name) for name in ("tensor", "kind", "bytes_per_bank", "shape"))
    buffer = columns.index("buffer") if "buffer" in columns else None
    in_l1 = [row for row in rows if buffer is None or row[buffer] == "L1"]
    parts = [(f"{row[kind]} {row[tensor]} {row[shape] or ''}", row[size]) for row in in_l1[:LIVE]]
    parts.insert(0, ("circular buffers", memory["l1_peak"]["circular_buffers_bytes"]))
    bars = axes.barh(range(len(parts)), [part[1] / KB for part in parts], color=[COLOURS["dram"], *[BAR] * LIVE])
    axes.bar_label(bars, [f"{name}, {value:,} B" for name, value in parts], padding=3, fontsize=8)
    axes.set_xlim(0, max(max(value for _, value in parts) / KB, 1) * 2.2)  # room for the words behind the bars
    axes.set_yticks([])
    axes.invert_yaxis()
    axes.set_xlabel("kB of one bank")
    more = len(rows) - len(parts) + 1 + memory.get("more_live", 0)
    head(
        axes,
        f"Live at operation {memory['l1_peak']['operation']}" + (f"; {more:,} more are not drawn" if more else ""),
    )


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
