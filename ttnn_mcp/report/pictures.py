"""The sections of a page that its script draws: timeline and cores, roofline, and L1 over the operations."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeAlias

from ttnn_mcp.report.markup import Markup, element, joined, number, table
from ttnn_mcp.report.sections import listed, paragraph, section

if TYPE_CHECKING:
    from ttnn_mcp.report.answers import Answers

    Answer = dict[str, Any]

BOUNDS = ("compute", "dram", "l1", "overhead", "not modelled")
KEYS = (
    "Keys: arrow left and right for the op before and after, arrow up and down for another device, + and - to zoom, "
    "Enter to zoom in on the selected op, page up and page down to move, Home for everything. "
    "Mouse: drag to move, click to select, wheel to zoom once the picture has the focus (or with Ctrl)."
)
Actions: TypeAlias = tuple[tuple[str, str], ...]
ACTIONS: Actions = (("in", "Zoom in"), ("out", "Zoom out"), ("all", "Everything"), ("save", "Save as PNG"))


def timeline_section(answers: Answers, ops: Answer) -> Markup:
    """Ops and gaps over time, and the cores of each op."""
    shown, total = len(ops["ops"]["rows"]), ops["window"]["rows"]
    part = (
        paragraph(f"{number(shown)} of {number(total)} ops are shown, all from device {ops['ops']['rows'][0][2]}.")
        if shown < total
        else Markup()
    )
    cold = (
        Markup()
        if ops["window"]["warm"]
        else paragraph("This window is not warm: its gaps are compiling and loading, and are left out here.")
    )
    worker_cores = answers.card.get("worker_cores")
    cores = f" of {worker_cores} worker cores" if worker_cores else ""
    return section(
        "time",
        "Timeline of ops and gaps, with their cores",
        paragraph(
            f"Above: ops in the order they ran, each after the gap before it; an empty lane is a gap. "
            f"Below: cores that worked{cores}. "
            "Where several ops share a pixel, it is filled as far as kernels fill its time."
        ),
        part,
        cold,
        legend(*BOUNDS, "gap"),
        figure("timeline", "Timeline of ops and gaps", ACTIONS),
    )


def roofline_section(actions: Actions = ACTIONS) -> Markup:
    """Every op against its roofline."""
    return section(
        "bounds",
        "Roofline",
        paragraph(
            "Each op by its arithmetic and its DRAM traffic. The lines are the peaks that the bounds of these ops were "
            "computed with. The other view has the least time of each op against the measured one; on the line an op "
            "is as fast as its bound."
        ),
        legend(*BOUNDS, shapes=True),
        figure("roofline", "Roofline of the ops", (("swap", "Other view"), *actions)),
        element("p", data_count="", class_="quiet"),
    )


def memory_section(memory: Answer, levels: Answer | None) -> Markup:
    """L1 over the operations, and what is live at its peak."""
    peak, live = memory["l1_peak"], memory["live"]
    where = f"operation {peak['operation']}, {peak['name']}" + (f", {peak['line']}" if "line" in peak else "")
    rows = [[name, value] for name, value in peak.items() if isinstance(value, int) and name.endswith("bytes")]
    rows.append(["bytes_per_bank", peak["bytes_per_bank"]])
    drawn = [legend("tensors", "circular buffers"), figure("levels", "L1 over the operations", ACTIONS)]
    more = f" ({number(memory['more_live'])} smaller ones are not listed)" if memory.get("more_live") else ""
    late = memory["late_frees"]
    return section(
        "memory",
        "L1 over the operations",
        paragraph(f"The peak is {number(peak['bytes_per_bank'])} B of a bank, at {where}."),
        *(drawn if levels and levels["rows"] else []),
        table(f"Live at the peak{more}", live["columns"], live["rows"]),
        table("The peak, in bytes of a bank", ("what", "bytes"), rows),
        table("Tensors that stay after their last use", late["columns"], late["rows"])
        if late["rows"]
        else Markup(),
        listed([*([memory["why"]] if "why" in memory else []), *memory.get("caveats", ())], "caveats"),
    )


def figure(name: str, label: str, actions: Actions) -> Markup:
    """A canvas, its buttons, and a line that tells what is selected."""
    buttons = [element("button", words, type="button", data_do=action) for action, words in actions]
    canvas = element(
        "canvas",
        f"{label}: this picture needs a browser with its script enabled.",
        tabindex="0",
        role="application",
        aria_label=label,
        aria_describedby=f"{name}-keys {name}-selected",
    )
    return element(
        "figure",
        element("div", *buttons, class_="buttons", role="group", aria_label=f"{label}: zoom"),
        canvas,
        element("output", "Nothing is selected yet.", id=f"{name}-selected", aria_live="polite"),
        element("figcaption", KEYS, id=f"{name}-keys", class_="quiet"),
        id=name,
    )


def legend(*names: str, shapes: bool = False) -> Markup:
    """What the colours of a picture stand for; with `shapes` its marks too."""
    each = [
        element("span", name, class_=f"key {name.replace(' ', '-')}{' shaped' if shapes else ''}") for name in names
    ]
    return paragraph(joined(*each), kind="legend")
