"""The sections of a page that its script draws: timeline, table of ops, roofline, and memory over the operations."""

from __future__ import annotations

from typing import Any, TypeAlias

from ttnn_mcp.report.answers import Answers
from ttnn_mcp.report.markup import Markup, element, joined, number, rows_told, table
from ttnn_mcp.report.sections import listed, paragraph, section

Answer = dict[str, Any]
BOUNDS = ("compute", "dram", "l1", "overhead", "not modelled")
KEYS = (
    "Keys: arrows left and right for the op before and after, up and down for another device, + and - to zoom, Enter "
    "to zoom in on what is selected and its neighbours, page up and down to move, Home for everything. Mouse: rest on "
    "a part to read it, click to select it, drag to move, wheel to zoom once the picture has the focus (or with Ctrl)."
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
        "Timeline",
        paragraph(
            "Ops in the order they ran, each after the gap before it, and the cores that worked"
            f"{cores}. Where several ops share a pixel, it is filled as far as kernels fill its time."
        ),
        part,
        cold,
        legend(*BOUNDS, "gap"),
        search("timeline-find", "Find ops"),
        figure("timeline", "Timeline of ops and gaps", ACTIONS),
    )


def ops_section() -> Markup:
    """All ops, for the script to sort and to filter; the table holds only those that are in sight."""
    body = element("table", element("caption", "All ops"), element("thead"), element("tbody"))
    note = "A click on a heading sorts, a click on a row selects the op in all pictures."
    return section(
        "ops",
        "All ops",
        paragraph(note, kind="quiet"),
        search("ops-find", "Show only"),
        element("p", id="ops-count", class_="quiet", role="status"),
        element("div", body, id="ops-rows", class_="rows", tabindex="0", role="region", aria_label="All ops"),
    )


def search(name: str, label: str) -> Markup:
    """Where one types what to look for."""
    hint = "name, line, shape, bound, layer 3"
    box = element(
        "input", type="search", id=name, class_="find", placeholder=hint, autocomplete="off", spellcheck="false"
    )
    return element("p", element("label", f"{label} ", for_=name), box, element("span", class_="found quiet"))


def roofline_section(actions: Actions = ACTIONS) -> Markup:
    """Every op against its roofline."""
    return section(
        "bounds",
        "Roofline",
        paragraph(
            "Each op by its arithmetic and its DRAM traffic, the ones that took longest with their names. The lines "
            "are the peaks that the bounds of these ops were computed with. The other view has the least time of each "
            "op against the measured one; on the line an op is as fast as its bound."
        ),
        legend(*BOUNDS, shapes=True),
        figure("roofline", "Roofline of the ops", (("swap", "Other view"), *actions)),
        element("p", data_count="", class_="quiet"),
    )


def memory_section(memory: Answer, levels: Answer | None, spans: Answer | None) -> Markup:
    """L1 by address over the operations with DRAM beside it, and what is live at the peak."""
    peak = memory["l1_peak"]
    where = f"operation {peak['operation']}, {peak['name']}" + (f", {peak['line']}" if "line" in peak else "")
    sizes = {
        name.removesuffix("_bytes"): value
        for name, value in peak.items()
        if isinstance(value, int) and name.endswith("bytes")
    }
    rows = [[part, sizes.pop(part)] for part in ("tensors", "circular_buffers")]
    rows += [["together", peak["bytes_per_bank"]], *map(list, sizes.items())]  # of the rest nothing adds up to it
    more = f" ({number(memory['more_live'])} smaller ones are not listed)" if memory.get("more_live") else ""
    return section(
        "memory",
        "L1 over the operations",
        paragraph(f"The peak is {number(peak['bytes_per_bank'])} B of a bank, at {where}."),
        *(_drawn(spans) if levels and levels["rows"] else []),
        element(
            "div",
            _failure(memory),
            rows_told(f"Live at the peak{more}", memory["live"]),
            table("The peak, in bytes of a bank", ("what", "bytes"), rows),
            rows_told("Tensors that stay after their last use", memory["late_frees"]),
            class_="beside",
        ),
        listed([*([memory["why"]] if "why" in memory else []), *memory.get("caveats", ())], "caveats"),
    )


def _drawn(spans: Answer | None) -> list[Markup]:
    levels = "L1 over the operations"
    if spans is None:
        return [legend("tensors", "circular buffers"), figure("levels", levels, ACTIONS)]
    left = spans["left_out"]
    words = f"Buffers by address, free holes between them. {number(left)} small or brief ones are not drawn. "
    note = words if left else "Buffers by address, free holes between them. "
    l1 = figure("levels", levels, (("swap", "Other view"), *ACTIONS))
    pair = [l1, figure("dram", "DRAM over the operations", ACTIONS)] if any(spans["dram_bytes_per_bank"]) else [l1]
    return [
        paragraph(f"{note}The other view has the sums.", kind="quiet"),
        legend("tensors", "circular buffers", "free"),
        element("div", *pair, class_="pair" if len(pair) > 1 else None),
    ]


def _failure(memory: Answer) -> Markup:
    """Who held the memory when it ran out, and what helps."""
    if not memory["errors"]:
        return Markup()
    failed: Answer = memory["errors"][0]
    return joined(rows_told("What helps", failed.get("remedies")), rows_told("Who held it", failed.get("holders")))


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
        element(
            "details", element("summary", "Keys and mouse"), element("p", KEYS, id=f"{name}-keys"), class_="quiet"
        ),
        id=name,
    )


def legend(*names: str, shapes: bool = False) -> Markup:
    """What the colours of a picture stand for; with `shapes` its marks too."""
    each = [
        element("span", name, class_=f"key {name.replace(' ', '-')}{' shaped' if shapes else ''}") for name in names
    ]
    return paragraph(joined(*each), kind="legend")
