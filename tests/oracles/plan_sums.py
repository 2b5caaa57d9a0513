"""What must hold of every plan, whatever the report: sums, floors, orders and statuses, by arithmetic on the answer.

Nothing of the package is used: an answer is plain JSON, and cells and times of ops are read with the csv module.
"""

from __future__ import annotations

import csv
import re
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

    Answer = dict[str, Any]

CENT_US = 0.011  # cells are rounded to hundredths
PAGE_BYTES = 6_300
NAMED_FROM = 0.005  # of the whole: an edit that saves as much alone stands on the first page
PERCENT = 0.001  # claims tell shares in tenths of a percent
KERNEL = "DEVICE KERNEL DURATION [ns]"
ALL_LINES = re.compile(r"lines? (\d+)(?:, (\d+))?(?: \(.*\))?")
TIMED_SHARE = re.compile(r"(?:us|ms), (\d+\.\d)%(?! on device)")
CALLS = re.compile(r"(\w*Config|\w+kernel_config)\(((?:[^()]|\([^()]*\))*)\)")
FIELDS = re.compile(r"(\w+)=((?:[^,()]|\([^()]*\))+)")
TRIED = re.compile(r"(\d+)/(\d+)[\d/, ]* gained")
SYMPTOM = "symptom, so last"
RELATED = re.compile(r"(?:(?<=after )|(?<=instead of )|(?<=, ))[a-z]+(?:-[a-z0-9]+)*")
WRONG_NUMBER = re.compile(r"(?<!of )\b1 (?:ops|matmuls|convs|norms|casts)\b|\bof 0 tiles|\bneed 0 us")
MACS_A_CYCLE = 2_048  # of a core at LoFi, the fewest passes: Tensix, both chips
FASTEST_GHZ = 1.35  # Blackhole's clock


TRIES = ("untried", "blocks", "own-kernel")  # edits of settings that a run did not try: no finding of a step


def flaws(first: Answer, findings: Sequence[Answer]) -> Iterator[str]:
    """What is wrong with an answer: its first page, and the findings of all pages."""
    plan, total = rows_of(first["plan"]), first["total"]
    yield from _of_totals(plan, total)
    yield from _of_edits(plan, total["before_us"])
    yield from _of_findings(findings, total["before_us"], _names(first, plan))
    yield from _of_parts(plan, findings)
    for step in first["steps"]:
        found = any(
            finding["step"] == step["step"] and not finding["edit"].startswith(TRIES) for finding in findings
        )
        if step["status"] != "found" and found:
            yield f"step {step['step']} is {step['status']}, and has findings"


def rows_of(table: Answer) -> list[Answer]:
    return [dict(zip(table["columns"], row, strict=True)) for row in table["rows"]]


def _of_totals(plan: list[Answer], total: Answer) -> Iterator[str]:
    before, after, floor = (total[name] for name in ("before_us", "after_us", "floor_us"))
    slack = CENT_US * (len(plan) + 2)
    if not floor - slack <= total["speed_of_light_us"] <= before + slack:
        yield f"the plan has a floor of {floor} us, the program as it is one of {total['speed_of_light_us']}"
    if not floor - slack <= after <= total["expected_after_us"] + slack <= before + 2 * slack:
        yield f"floor {floor}, after {after}, expected {total['expected_after_us']}, before {before}"
    expected = sum(edit["expected_us"] or 0 for edit in plan)
    if before - total["expected_after_us"] > expected + slack:
        yield f"the edits are expected to save {expected} us, and the total to save more: {total['expected_after_us']}"
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
        if alone > edit["share"] * before + _rounded(before):
            yield f"{name} saves {alone} us of a share of {edit['share']}"
        if not -CENT_US <= edit["then_us"] <= alone + CENT_US or alone > before + CENT_US:
            yield f"{name} saves {alone} alone, {edit['then_us']} then, of {before}"
        if edit["expected_us"] is not None:
            ends = (edit["low_us"], edit["expected_us"], edit["high_us"], alone)
            if any(low > high + CENT_US for low, high in zip((0, *ends), ends, strict=False)):
                yield f"{name} is expected to save {ends}"
        if wrong := wrong_trial(edit["basis"], edit.get("if_gains_us"), alone):
            yield f"{name} {wrong}"
    if len({edit["edit"] for edit in plan}) < len(plan):
        yield "two edits have one name"
    yield from _of_order(plan)


def _of_order(plan: list[Answer]) -> Iterator[str]:
    """What is expected most stands first, symptoms last, and an edit behind those that it speaks of.

    An edit may count more than the one right above it only where both set the same, of which that one brings more.
    """
    above, last = (False, float("inf")), ""
    names: set[str] = set()
    for edit in plan:
        relation = edit["relation"] or ""
        place = (SYMPTOM in relation, _counts(edit))
        named = RELATED.findall(relation.replace(SYMPTOM, ""))
        more = place[0] == above[0] and place[1] > above[1] + CENT_US
        if place[0] < above[0] or (more and last not in named):
            yield f"{edit['edit']} counts {place[1]} us and stands below one of {above[1]}"
        for other in named:
            if other not in names:
                yield f"{edit['edit']} comes {relation}, and {other} does not stand above it"
        above, last = place, edit["edit"]
        names.add(last)


def _counts(edit: Answer) -> float:
    if edit["basis"].startswith("no difference by "):  # a law denies it
        return 0.0
    us = edit["alone_us"] / 2 if edit["expected_us"] is None else edit["expected_us"]
    return us / 2 if edit["accuracy"] == "may cost" else us


def _of_findings(findings: Sequence[Answer], before: float, names: set[str]) -> Iterator[str]:
    for finding in findings:
        saving, check = finding["saving_us"], finding["check"]
        least = saving["at_least"]
        low, high = saving.get("interval") or (least, saving["at_most"])
        ends = (least, low, saving.get("expected", low), high, saving["at_most"], before)
        if any(one > other + CENT_US for one, other in zip((0, *ends), ends, strict=False)):
            yield f"{check} saves {ends}"
        if finding["edit"] not in names:
            yield f"{check} belongs to no edit of the plan: {finding['edit']}"
        if not 0 <= finding["share"] <= 1:
            yield f"{check} has a share of {finding['share']}"
        if saving["at_most"] > finding["share"] * before + _rounded(before):
            yield f"{check} saves {saving['at_most']} us of a share of {finding['share']}"
        if not finding["evidence"]:
            yield f"{check} has no evidence"
        if wrong := WRONG_NUMBER.search(finding["claim"]):
            yield f"{check} says '{wrong[0]}'"
        if ("expected" in saving) != ("interval" in saving) or ("expected" in saving and "basis" not in saving):
            yield f"{check} expects without a basis"
        if wrong := wrong_trial(saving.get("basis"), saving.get("if_gains"), saving["at_most"]):
            yield f"{check} {wrong}"


def wrong_trial(basis: str | None, if_gains: float | None, at_most: float) -> str | None:
    """What cannot be of that which tries tell: more gained than were tried, or more than the bound."""
    tried = TRIED.search(basis or "")
    if tried and int(tried[1]) > int(tried[2]):
        return f"rests on {basis}"
    if if_gains is not None and not ((tried or basis in (None, "trial")) and 0 <= if_gains <= at_most + CENT_US):
        return f"saves {if_gains} us if it gains, by {basis}, and at most {at_most}"
    return None


def _rounded(before: float) -> float:
    """What a share of four digits may be off."""
    return before * 0.00006 + CENT_US


def flaws_of_unexplained(whole: Answer) -> Iterator[str]:
    """Of a plan of all steps: what it leaves above the floors is what stays unexplained."""
    by_why, total = whole.get("unexplained_us", {}), whole["total"]
    above = total["after_us"] - total["floor_us"]
    if abs(sum(by_why.values()) - above) > CENT_US * (len(by_why) + 2):
        yield f"{sum(by_why.values())} us are unexplained, {above} are above the floors"


def _of_parts(plan: list[Answer], findings: Sequence[Answer]) -> Iterator[str]:
    """No finding saves more than the edit that it belongs to, and no edit is without a finding."""
    for edit in plan:
        parts = [finding for finding in findings if finding["edit"] == edit["edit"]]
        if not parts:
            yield f"{edit['edit']} has no finding"
        for part in parts:
            saves, share = part["saving_us"]["at_most"], part["share"]
            if saves > edit["alone_us"] + CENT_US or share > edit["share"] + 2 * PERCENT:
                yield f"{part['check']} saves {saves} us of {share}, all of {edit['edit']} {edit['alone_us']}"
            told = TIMED_SHARE.search(part["claim"])
            whole = "count here" not in part.get("caveat", "")
            if told and whole and float(told[1]) / 100 > share + PERCENT:
                yield f"{part['check']} tells {told[0]} and has a share of {share}"


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


def flaws_of_some(names: Sequence[str], some: Answer, first: Answer) -> Iterator[str]:
    """Of the total of some edits, beside the plan of all."""
    plan = rows_of(first["plan"])
    edits = [edit for edit in plan if edit["edit"] in names]
    before, after, floor = (some[name] for name in ("before_us", "after_us", "floor_us"))
    slack = CENT_US * (len(edits) + 2)
    if not floor - slack <= after <= some["expected_after_us"] + slack <= before + 2 * slack:
        yield f"of {names}: floor {floor}, after {after}, expected {some['expected_after_us']}, before {before}"
    if abs(before - first["total"]["before_us"]) > CENT_US:
        yield f"of {names}: the window has {before} us, in the plan {first['total']['before_us']}"
    saved, alone = before - after, sum(edit["alone_us"] for edit in edits)
    if saved > alone + slack or (len(edits) == 1 and saved < alone - slack):
        yield f"of {names}: together they save {saved} us, alone {alone}"
    prefix = [edit["edit"] for edit in plan[: len(edits)]] == [edit["edit"] for edit in edits]
    then = sum(edit["then_us"] for edit in edits)
    if prefix and abs(saved - then) > slack:
        yield f"of {names}: they save {saved} us, as the first of the plan {then}"


def flaws_of_cells(cells: dict[int, dict[str, str]], findings: Sequence[Answer]) -> Iterator[str]:
    """Of cited cells and lines: they are those of the CSV."""
    for finding in findings:
        for line in re.findall(r"\blines? (\d+)", f"{finding['claim']} {finding['fix']}"):
            if int(line) not in cells:
                yield f"{finding['check']} names line {line}, which has no op"
        for cell in finding["evidence"]:
            row, column = cells.get(cell["row"]), cell["column"]
            if row is not None and column in row and not _says(row[column], cell["value"]):
                yield f"{finding['check']} cites {cell['value']} of {column}, line {cell['row']} has {row[column]}"


def _says(text: str, value: object) -> bool:
    """Whether a cell says what is cited of it, which may be cut."""
    if isinstance(value, str):
        return text.startswith(value.removesuffix("..."))
    return float(text) == value


def flaws_of_settings(settings: Sequence[Answer]) -> Iterator[str]:
    """Of what the edits set, those that replace another left out: no line gets two values of one field."""
    given: dict[tuple[str, str, str], tuple[str, str]] = {}
    for setting in settings:
        lines = re.findall(r"\d+", setting["lines"].partition(" and ")[0])
        for call, fields in CALLS.findall(setting["sets"]):
            for field, value in FIELDS.findall(fields):
                for line in lines:
                    first = given.setdefault((line, call, field), (setting["edit"], value))
                    if first[1] != value:
                        yield f"line {line} gets {field}={first[1]} of {first[0]} and {value} of {setting['edit']}"


def flaws_of_shares(cells: dict[int, dict[str, str]], first: Answer) -> Iterator[str]:
    """Of edits of one or two ops: their share is that of the ops' kernels, more only by the gaps that go with them."""
    before = first["total"]["before_us"]
    for edit in rows_of(first["plan"]):
        named = ALL_LINES.fullmatch(edit["where"])
        if named:
            share = sum(float(cells[int(line)][KERNEL]) for line in named.groups() if line) / 1e3 / before
            if share > edit["share"] + PERCENT:
                yield f"{edit['edit']} has a share of {edit['share']}, its ops {share}"


def least_us(cells: dict[int, dict[str, str]], window: Answer) -> float:
    """What the matmuls of one device must take as they are, whatever their formats: at LoFi, on all of its cores."""
    rows = _within(cells, window)
    cores = max(float(row.get("AVAILABLE WORKER CORE COUNT") or 0) for row in rows)
    if not cores or len({row.get("DEVICE ID", "") for row in rows}) > 1:
        return 0.0
    macs = sum(
        _size(row, "OUTPUT_0") * _axes(row, "INPUT_0")[-1]
        for row in rows
        if row["OP CODE"] in ("MatmulDeviceOperation", "MinimalMatmulOp")
    )
    return macs / (MACS_A_CYCLE * cores * FASTEST_GHZ * 1e3)


def _size(row: dict[str, str], operand: str) -> float:
    size = 1.0
    for axis in _axes(row, operand):
        size *= axis
    return size


def _axes(row: dict[str, str], operand: str) -> list[float]:
    cells = (row.get(f"{operand}_{axis}_PAD[LOGICAL]") or row.get(f"{operand}_{axis}") or "1" for axis in "WZYX")
    return [float(cell.partition("[")[0]) for cell in cells]


def cells_of(report: Path) -> dict[int, dict[str, str]]:
    """The rows of a report by their line, by the csv module."""
    with report.open(encoding="utf-8", newline="") as file:
        reader = csv.reader(file)
        header = next(reader)
        return {reader.line_num: dict(zip(header, row, strict=False)) for row in reader}  # noqa: B035 - it moves on


def kernels_us(cells: dict[int, dict[str, str]], window: Answer) -> tuple[float, int]:
    """Kernel time of the lines of a window, and how many devices ran them."""
    rows = _within(cells, window)
    times = [float(row[KERNEL]) for row in rows if row.get(KERNEL, "").strip()]
    return sum(times) / 1e3, len({row.get("DEVICE ID", "") for row in rows})


def _within(cells: dict[int, dict[str, str]], window: Answer) -> list[dict[str, str]]:
    return [row for line, row in cells.items() if window["first_row"] <= line <= window["last_row"]]
