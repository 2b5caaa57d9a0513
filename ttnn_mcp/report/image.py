"""A window as a PNG: where its time goes, its ops and gaps, and their cores. Matplotlib draws; it is an extra."""

# pyright: reportMissingImports=false, reportUnknownVariableType=false, reportUnknownMemberType=false
# pyright: reportUnknownArgumentType=false

from __future__ import annotations

import io
import os
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

from ttnn_mcp.errors import QuestionRefused
from ttnn_mcp.report.schedule import slots_of

if TYPE_CHECKING:
    from pathlib import Path

    from ttnn_mcp.report.schedule import Slot

    Answer = dict[str, Any]

COLOURS = {  # the light ones of the page
    "compute": "#0b62c4",
    "dram": "#b3470b",
    "l1": "#1b7a3d",
    "overhead": "#7a3fa8",
    None: "#666d75",
}
GAP, CORES, PLAIN = "#e3e6ea", "#5b6b7c", "#666d75"
DEVICES = 8  # lanes that can be told apart on a picture of this size
WIDTH, HEIGHT, DOTS = 10.0, 6.0, 100  # inches, inches, dots per inch: what a chat shows without scaling


def check_drawable() -> None:
    """Whether pictures can be drawn here.

    Raises:
        QuestionRefused: the extra is not installed.
    """
    if find_spec("matplotlib") is None:
        raise QuestionRefused(
            "A picture needs matplotlib, which is not installed: install ttnn-mcp[picture], or leave `picture` out."
        )


def window_image(budget: Answer, ops: Answer, caches: Path) -> bytes:
    """The picture of a window, from time_budget and list_ops; `caches` is where matplotlib keeps its list of fonts."""
    os.environ.setdefault("MPLCONFIGDIR", str(caches))
    import matplotlib as mpl  # noqa: PLC0415 - an extra
    from matplotlib.backends.backend_agg import FigureCanvasAgg  # noqa: PLC0415
    from matplotlib.figure import Figure  # noqa: PLC0415

    with mpl.rc_context({"text.parse_math": False, "font.size": 9}):  # a name with dollars is no formula
        figure = Figure(figsize=(WIDTH, HEIGHT), dpi=DOTS, layout="constrained")
        FigureCanvasAgg(figure)
        spent, lanes, cores = figure.subplots(3, 1, height_ratios=(3, 2, 1.5))
        _ledger(spent, budget)
        slots = slots_of(ops["ops"]["columns"], ops["ops"]["rows"], warm=ops["window"]["warm"])
        shown = sorted({slot.device for slot in slots})[:DEVICES]
        _timeline(lanes, ops["ops"], [slot for slot in slots if slot.device in shown], shown)
        _cores(cores, ops["ops"], [slot for slot in slots if slot.device == budget["device"]])
        cores.sharex(lanes)
        cores.set_xlabel(f"us since the window began; cores of device {budget['device']}")
        content = io.BytesIO()
        figure.savefig(content, format="png", metadata={"Software": None})
    return content.getvalue()


def _ledger(axes: Any, budget: Answer) -> None:
    rows = budget["ledger"]["rows"]
    colours = [{"roofline": COLOURS["compute"], "gaps": COLOURS["dram"]}.get(row[0], PLAIN) for row in rows]
    bars = axes.barh([row[0].replace("_", " ") for row in rows], [row[1] for row in rows], color=colours)
    axes.bar_label(bars, [f"{row[1]:,} us" for row in rows], padding=3)
    axes.invert_yaxis()
    axes.margins(x=0.12)
    verdict = budget["verdict"].replace("_", " ")
    axes.set_title(f"{budget['window_us']:,} us, {verdict}: {budget['why']}"[:130], loc="left", fontsize=9)
    axes.spines[["top", "right"]].set_visible(False)


def _timeline(axes: Any, table: Answer, slots: list[Slot], devices: list[int]) -> None:
    """Ops in the colour of what binds them; what is left of a lane is a gap."""
    at = table["columns"].index("bound")
    bounds = [table["rows"][slot.row][at] for slot in slots]
    for place, device in enumerate(devices):
        end = max(slot.end_ns for slot in slots if slot.device == device)
        axes.broken_barh([(0, end / 1e3)], (place - 0.4, 0.8), color=GAP)
        for bound, colour in COLOURS.items():
            spans = [
                (slot.start_ns / 1e3, (slot.end_ns - slot.start_ns) / 1e3)
                for slot, binds in zip(slots, bounds, strict=True)
                if slot.device == device and binds == bound
            ]
            if spans:
                label = bound or "not modelled"
                axes.broken_barh(spans, (place - 0.4, 0.8), color=colour, label=None if place else label)
    axes.set_yticks(range(len(devices)), [f"device {device}" for device in devices])
    axes.invert_yaxis()
    axes.legend(loc="lower left", bbox_to_anchor=(0, 1), ncols=len(COLOURS), frameon=False, fontsize=8)


def _cores(axes: Any, table: Answer, slots: list[Slot]) -> None:
    at = table["columns"].index("cores")
    times: list[float] = []
    heights: list[int] = []
    for slot in slots:
        cores = table["rows"][slot.row][at] or 0
        times += [slot.start_ns / 1e3, slot.start_ns / 1e3, slot.end_ns / 1e3, slot.end_ns / 1e3]
        heights += [0, cores, cores, 0]
    axes.fill_between(times, heights, color=CORES, linewidth=0)  # one shape: thousands of bars take half a minute
    axes.set_ylim(bottom=0)
    axes.set_ylabel("cores")
