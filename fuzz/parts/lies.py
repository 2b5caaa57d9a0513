"""Reports whose form is right and whose figures are false: each answer carries a doubt, and none is a verdict.

The lies are of the kinds that contradict something else in the report. One that changes everything alike (all times
by a tenth, say) cannot be told from a change of the model by anybody who has the report alone. One that leaves a report
as it was (all rows told to be of one device, where they are) is none.
"""

from __future__ import annotations

import csv
import io
import json

from fuzz.cases import Case
from fuzz.forgeries import END, KERNEL, LIES
from fuzz.questions import BASE, PLACE
from fuzz.sources import SHARED
from fuzz.verdict import Flaw
from tests.profiles import header_of, performance_rows
from tests.programs import block

MADE = ((1, "C7"), (2, "C7"), (2, "C3"), (2, "C1"), (1, "C1"))  # devices, generation
ROWS = 120  # of a real report: the rows of its last lines
OF_SOME_OPS = {"told_from_firmware", "beyond_peak"}
UNDECIDED = {"unproven", "not_comparable"}
ABOUT_WINDOWS = ("optimization_check", "time_budget", "host_overhead")
CALLS = (
    ("open_run", {"performance": f"{PLACE}/lie.csv"}),
    *((tool, {"run": f"{PLACE}/lie.csv"}) for tool in ABOUT_WINDOWS),
    ("compare_runs", {"baseline": f"{BASE}/honest.csv", "candidate": f"{PLACE}/lie.csv"}),
    ("compare_runs", {"baseline": f"{PLACE}/lie.csv", "candidate": f"{BASE}/honest.csv"}),
)
TOLD = frozenset(tool for tool, _ in CALLS)


def run(sitting):
    """One lie about one report per case, until the time is up."""
    reports = honest_reports(sitting.shared)
    for number in sitting.numbers():
        rng = sitting.random(number)
        rows, columns = rng.choice(reports)
        name = rng.choice(list(LIES))
        honest, lie = (written(each, columns) for each in (rows, lying(rng, rows, name)))
        if lie == honest:
            sitting.tally["no lie"] += 1
            continue
        case = Case({"lie.csv": lie}, CALLS, base={"honest.csv": honest}, told=TOLD)
        for outcome in sitting.judge(case, number):
            for flaw in verdicts(outcome, name):
                sitting.found(case, outcome.tool, flaw, number)


def lying(rng, rows, name):
    changed = [row.copy() for row in rows]
    LIES[name](rng, [row for row in changed if row.get(KERNEL)])
    return changed


def honest_reports(shared):
    """(rows, columns) of made reports and of real ones, whose last lines are one window."""
    reports = []
    for devices, generation in MADE:
        rows = performance_rows(block(devices, layers=6), generation=generation)
        reports.append((rows, header_of(rows, generation)))
    for path in sorted((SHARED / "data" / "perf").glob("*.csv")) if shared else ():
        with path.open(newline="", encoding="utf-8") as file:
            columns, *cells = csv.reader(file)
        real = [dict(zip(columns, row, strict=True)) for row in cells[-ROWS:]]
        if sum(bool(row.get(KERNEL) and row.get(END)) for row in real) > ROWS // 2:
            reports.append((real, columns))
    return reports


def written(rows, columns):
    file = io.StringIO()
    writer = csv.DictWriter(file, columns, restval="", extrasaction="ignore", lineterminator="\n")
    writer.writeheader()
    writer.writerows(rows)
    return file.getvalue().encode()


def verdicts(outcome, lie):
    """What an answer says without a doubt, or decides beside one."""
    if outcome.status != "answer":
        return
    answer = json.loads(outcome.text)
    doubts = answer["window"].get("doubts", []) + answer.get("baseline_window", {}).get("doubts", [])
    if not (doubts or answer.get("suspicious", {}).get("rows")):
        yield Flaw("no doubt", f"{outcome.tool} of {lie}")
    if doubts and all(doubt.split(":")[0] in OF_SOME_OPS for doubt in doubts):
        return  # sums hold: the better column was read
    steps = [step["status"] for step in answer.get("steps", [])]
    decided = {
        "optimization_check": "clean" in steps
        or any("expected" in each["saving_us"] for each in _findings(answer)),
        "time_budget": answer.get("verdict") != "cannot_tell",
        "host_overhead": answer.get("verdict") != "unknown",
        "compare_runs": answer.get("verdict") not in UNDECIDED,
    }
    if decided.get(outcome.tool):
        yield Flaw("a verdict", f"{outcome.tool} of {lie}", str(answer.get("verdict")))


def _findings(answer):
    return answer.get("findings", ())
