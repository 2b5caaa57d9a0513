"""Every op by its arithmetic and DRAM traffic, under the peaks that its bound was computed with."""

# pyright: reportMissingImports=false, reportUnknownVariableType=false, reportUnknownMemberType=false

from __future__ import annotations

from typing import Any

from ttnn_mcp.report.images.canvas import COLOURS, NOT_MODELLED, TEXT, head
from ttnn_mcp.report.roofs import points_of, roofs_of

Answer = dict[str, Any]

MARKERS = {"compute": "o", "dram": "s", "l1": "^", "overhead": "D", None: "v"}  # the shapes of the page
OFFSET = {"textcoords": "offset points", "va": "bottom", "color": TEXT}
STEPS = (1, 2, 5)  # of a decade, so that less than one still shows its scale
MARGIN = 2  # the factor around points and roofs, as on the page


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
