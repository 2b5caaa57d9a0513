"""The time of a window by kind of op, as one stacked bar; of a comparison one bar before the change, one after it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from ttnn_mcp.report.markup import Markup, element, microseconds, number

if TYPE_CHECKING:
    from collections.abc import Sequence

    Answer = dict[str, Any]

MOST_KINDS = 9  # of op that have a colour of their own: more nobody tells apart (ours)
WIDTH, HEIGHT = 1000, 30  # units of a bar; it is stretched to the width of the page
OTHERS, GAPS = "others", "gaps"


class KindTime(NamedTuple):
    """A kind of op: its name, the style of its colour, its time before a change if there was one, and after it."""

    name: str
    style: str
    before_us: float | None
    after_us: float
    ops: int | None

    @property
    def ends(self) -> str:
        """What stands behind the name of its time: how many ops, or how the time changed."""
        if self.before_us is not None:
            change = round(self.after_us - self.before_us, 1)
            return f"{change:+,.1f} us" if change else "as before"
        return f"{number(self.ops)} op{'s' * (self.ops != 1)}" if self.ops is not None else ""


def short(op_code: str) -> str:
    """`MatmulDeviceOperation` -> `Matmul`."""
    return op_code.removesuffix("DeviceOperation") or op_code


def of_window(kinds: Answer, gaps_us: float) -> list[KindTime]:
    """The kinds of a window, the most time first, then the others together, then the gaps."""
    columns = kinds["columns"]
    rows = [dict(zip(columns, row, strict=True)) for row in kinds["rows"]]
    rows.sort(key=lambda row: -row["kernel_us"])
    each = [(row["key"], None, row["kernel_us"], row["count"]) for row in rows]
    return [*_coloured(each), *([KindTime(GAPS, GAPS, None, gaps_us, None)] if gaps_us else [])]


def of_comparison(groups: Answer) -> list[KindTime]:
    """The kinds of both windows, the most time first."""
    rows = sorted(groups["rows"], key=lambda row: -max(row[1], row[2]))
    return _coloured([(row[0], row[1], row[2], None) for row in rows])


def _coloured(each: Sequence[tuple[str, float | None, float, int | None]]) -> list[KindTime]:
    kept = each if len(each) <= MOST_KINDS + 1 else each[:MOST_KINDS]
    drawn = [
        KindTime(short(name), f"kind-{place}" if place <= MOST_KINDS else OTHERS, before_us, after_us, ops)
        for place, (name, before_us, after_us, ops) in enumerate(kept, start=1)
    ]
    left = each[len(kept) :]
    if left:
        before = None if left[0][1] is None else sum(one[1] or 0.0 for one in left)
        count = None if left[0][3] is None else sum(one[3] or 0 for one in left)
        drawn.append(KindTime(f"{len(left)} {OTHERS}", OTHERS, before, sum(one[2] for one in left), count))
    return drawn


def stacked(kinds: Sequence[KindTime]) -> Markup:
    """The bars, and below them what each colour stands for, with its time."""
    after, before = (
        sum(times) for times in zip(*((one.after_us, one.before_us or 0.0) for one in kinds), strict=True)
    )
    longest = max(after, before) or 1.0
    compared = kinds[0].before_us is not None
    bars = [_bar("after" if compared else "", [(one, one.after_us) for one in kinds], longest)]
    if compared:
        bars.insert(0, _bar("before", [(one, one.before_us or 0.0) for one in kinds], longest))
    return Markup("".join([*bars, element("ul", *(_item(one, after) for one in kinds), class_="kinds")]))


def _bar(label: str, parts: Sequence[tuple[KindTime, float]], longest: float) -> Markup:
    rects: list[Markup] = []
    at = 0.0
    for kind, us in parts:
        wide = us / longest * WIDTH
        title = element("title", f"{kind.name} {microseconds(us)}")
        shape = {"x": f"{at:.2f}", "y": 0, "width": f"{wide:.2f}", "height": HEIGHT}
        rects.append(element("rect", title, class_=kind.style, **shape))
        at += wide
    drawing = element(
        "svg",
        *rects,
        viewBox=f"0 0 {WIDTH} {HEIGHT}",
        preserveAspectRatio="none",
        role="img",
        aria_label=f"Time by kind of op {label}".rstrip(),
        class_="stack",
    )
    return element("div", *([element("span", label)] if label else []), drawing, class_="stacked")


def _item(kind: KindTime, total_us: float) -> Markup:
    share = f"{100 * kind.after_us / (total_us or 1.0):.1f}%"
    finds = kind.style not in (OTHERS, GAPS)
    name = (
        element("button", kind.name, type="button", data_find=kind.name, class_=f"key {kind.style}")
        if finds
        else element("span", kind.name, class_=f"key {kind.style}")
    )
    figures = (
        element("span", microseconds(kind.after_us)),
        element("span", share),
        element("span", kind.ends, class_="quiet"),
    )
    return element("li", name, *figures)
