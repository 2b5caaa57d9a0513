"""L1 of a bank over the operations, and what is live in it at the operation that was asked for, or at the peak."""

# pyright: reportUnknownMemberType=false

from __future__ import annotations

from typing import Any

from ttnn_mcp.report.images.canvas import BAR, COLOURS, TEXT, head

Answer = dict[str, Any]

LIVE = 12  # tensors that can be told apart beside the levels
KB = 1000


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
