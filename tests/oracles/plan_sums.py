"""What must hold of every plan, whatever the report: sums, floors, orders and statuses, by arithmetic on the answer.

Nothing of the package is used: an answer is plain JSON, and times of ops are read with the csv module.
"""

from __future__ import annotations

import csv
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

    Answer = dict[str, Any]

CENT_US = 0.011  # cells are rounded to hundredths
PAGE_BYTES = 6_000
NAMED_FROM = 0.005  # of the whole: an edit that saves as much alone stands on the first page
KERNEL = "DEVICE KERNEL DURATION [ns]"


def flaws(first: Answer, findings: Sequence[Answer]) -> Iterator[str]:
    """What is wrong with an answer: its first page, and the findings of all pages."""
    plan, total = rows_of(first["plan"]), first["total"]
    yield from _of_totals(plan, total)
    yield from _of_edits(plan, total["before_us"])
    yield from _of_findings(findings, total["before_us"], _names(first, plan))
    for step in first["steps"]:
        found = any(finding["step"] == step["step"] for finding in findings)
        if step["status"] != "found" and found:
            yield f"step {step['step']} is {step['status']}, and has findings"


def rows_of(table: Answer) -> list[Answer]:
    return [dict(zip(table["columns"], row, strict=True)) for row in table["rows"]]


def _of_totals(plan: list[Answer], total: Answer) -> Iterator[str]:
    before, after, floor = (total[name] for name in ("before_us", "after_us", "floor_us"))
    slack = CENT_US * (len(plan) + 2)
    if not floor - slack <= after <= total["expected_after_us"] + slack <= before + 2 * slack:
        yield f"floor {floor}, after {after}, expected {total['expected_after_us']}, before {before}"
    left = before
    for edit in plan:
        left -= edit["then_us"]
        if left < floor - slack:
            yield f"{left} us are left after {edit['edit']}, below the floor of {floor}"
    if abs(left - after) > slack:
        yield f"the edits leave {left} us, the total says {after}"


def _of_edits(plan: list[Answer], before: float) -> Iterator[str]:
    for rank, edit in enumerate(plan, start=1):
        name, alone = edit["edit"], edit["alone_us"]
        if edit["rank"] != rank:
            yield f"{name} has rank {edit['rank']} at place {rank}"
        if not 0 <= edit["share"] <= 1:
            yield f"{name} has a share of {edit['share']}"
        if not -CENT_US <= edit["then_us"] <= alone + CENT_US or alone > before + CENT_US:
            yield f"{name} saves {alone} alone, {edit['then_us']} then, of {before}"
        if edit["expected_us"] is not None:
            ends = (edit["low_us"], edit["expected_us"], edit["high_us"], alone)
            if any(low > high + CENT_US for low, high in zip((0, *ends), ends, strict=False)):
                yield f"{name} is expected to save {ends}"
    if len({edit["edit"] for edit in plan}) < len(plan):
        yield "two edits have one name"


def _of_findings(findings: Sequence[Answer], before: float, names: set[str]) -> Iterator[str]:
    for finding in findings:
        saving, check = finding["saving_us"], finding["check"]
        low, high = saving.get("interval") or (saving["at_least"], saving["at_most"])
        ends = (saving["at_least"], low, saving.get("expected", low), high, saving["at_most"], before)
        if any(one > other + CENT_US for one, other in zip((0, *ends), ends, strict=False)):
            yield f"{check} saves {ends}"
        if finding["edit"] not in names:
            yield f"{check} belongs to no edit of the plan: {finding['edit']}"
        if not 0 <= finding["share"] <= 1:
            yield f"{check} has a share of {finding['share']}"
        if not finding["evidence"]:
            yield f"{check} has no evidence"
        if ("expected" in saving) != ("basis" in saving):
            yield f"{check} expects without a basis"


def _names(first: Answer, plan: list[Answer]) -> set[str]:
    others = [rows_of(first[name]) for name in ("trials", "risks") if first.get(name)]
    return {edit["edit"] for edit in plan} | {edit["edit"] for table in others for edit in table}


def flaws_of_page(page: Answer, everything: Answer, size: int) -> Iterator[str]:
    """Of the first page as users get it: small, and with every edit that matters."""
    if size > PAGE_BYTES:
        yield f"the first page takes {size} bytes"
    shown = {edit["edit"] for edit in rows_of(page["plan"])}
    least = NAMED_FROM * everything["total"]["before_us"]
    for edit in rows_of(everything["plan"]):
        if edit["alone_us"] >= least + CENT_US and edit["edit"] not in shown:
            yield f"{edit['edit']} saves {edit['alone_us']} us and is not on the first page"


def kernels_us(report: Path, window: Answer) -> tuple[float, int]:
    """Kernel time of the lines of a window, by the csv module, and how many devices ran them."""
    with report.open(encoding="utf-8", newline="") as file:
        reader = csv.DictReader(file)
        rows = [row for row in reader if window["first_row"] <= reader.line_num <= window["last_row"]]
    times = [float(row[KERNEL]) for row in rows if row.get(KERNEL, "").strip()]
    return sum(times) / 1e3, len({row.get("DEVICE ID", "") for row in rows})
