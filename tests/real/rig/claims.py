"""Collects every fix that our checks give on the reports at hand, with the op that it is given for.

Runs in the project's own environment; `advice` then executes them in that of TTNN.
"""

from __future__ import annotations

import asyncio
import re
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from tests.checks.asking import case_of_reports
from tests.real.rig.convolutions import convolution
from tests.real.rig.instead import as_now, instead, now
from tests.real.rig.printed import pasted
from tests.real.rig.profiled import calls_of, operands_of
from tests.shared_reports import CLIP, DEEPLAB, DEEPSEEK, LINKED, OFT, SEGFORMER, SHARED
from ttnn_mcp.checks import CATALOGUE
from ttnn_mcp.checks.diagnosis import diagnose

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ttnn_mcp.analyses.window_facts import WindowFacts
    from ttnn_mcp.checks.check import Claim
    from ttnn_mcp.checks.diagnosis import Diagnosis

DEMO = Path(__file__).parents[3] / "resources" / "demo"
MOCK = {"wormhole_b0": "n150", "blackhole": "p100"}  # the mock device of an architecture
WIDER = {72: "galaxy"}  # that of more cores than it has
COLLECTIVE = re.compile(r"ttnn\.(all_gather|all_reduce|reduce_scatter)\(")
LINE = re.compile(r"  # line (\d+)")
SLICE = re.compile(r"for the slice at line (\d+)")
MESH = "t3000"  # the mock devices that every collective is asked on


def jobs() -> list[dict[str, Any]]:
    """One per distinct fix and op."""
    found: dict[tuple[str, str, str], dict[str, Any]] = {}
    for facts in _windows():
        diagnosis = diagnose(facts, CATALOGUE)
        told = [*_planned(diagnosis), *_settings(facts, diagnosis)]
        made = [job_of(name, claim, facts) for name, claim in told]
        for job in [*made, *_instead(facts)]:
            if job is not None:
                place = job["line"] if job["check"] == "check_setting" else ""
                found.setdefault((f"{job['check']} {place}", job["fix"], job["kind"]), job)
    return list(found.values())


def job_of(check: str, claim: Claim, facts: WindowFacts) -> dict[str, Any] | None:
    """A fix with the op it is given for; None where a compiler wrote the program, or no mock device is like it."""
    kind = WIDER.get(facts.chip.worker_cores or 0) or MOCK.get(facts.chip.arch or "")
    if kind is None or facts.compiled:
        return None
    row = _row(facts, claim)
    op = {**_op(facts, row), "as_now": as_now(facts, row, claim.fix), "profiled": calls_of(facts, claim, row)}
    if COLLECTIVE.search(claim.fix):  # also where the op it is said of is the slice or pad around one
        op["family"] = "collective"
    told = {"check": check, "fix": claim.fix, "pasted": pasted(claim.fix)}
    return {**told, "kind": MESH if op["family"] == "collective" else kind, **op}


def _planned(diagnosis: Diagnosis) -> Iterator[tuple[str, Claim]]:
    """Each claim with the fix that its finding prints: the value that all findings agree on."""
    for edit in diagnosis.plan.edits:
        for part in edit.parts:
            yield part.check.id, replace(part.claim, fix=diagnosis.configs.fix(edit, part).text)


def _settings(facts: WindowFacts, diagnosis: Diagnosis) -> Iterator[tuple[str, Claim]]:
    """What an edit sets of each group of shapes, as `details` prints it, for the heaviest op of the first shape."""
    for edit in diagnosis.plan.edits:
        for value, row in (
            (group.value, facts.heaviest(group.rows[0], 1)[0]) for group in diagnosis.configs.groups(edit)
        ):
            setting = [part for part in edit.parts if part.claim.sets is not None]
            part = next(part for part in setting if row in part.claim.set_rows(part.change.rows))
            yield part.check.id, replace(part.claim, fix=f"{value}  # line {facts.line(row)}")


def _instead(facts: WindowFacts) -> Iterator[dict[str, Any]]:
    kind = MOCK.get(facts.chip.arch or "")
    if kind is not None and not facts.compiled:
        for row, told in asyncio.run(instead(facts)):
            said = {"check": "check_setting", "fix": told, "pasted": ""}
            yield {**said, "kind": kind, "as_now": "", **_op(facts, row)}


def _windows() -> Iterator[WindowFacts]:
    reports = [(SHARED / name, None) for name in (CLIP, DEEPLAB, DEEPSEEK, OFT, SEGFORMER, LINKED)]
    reports += [(next(DEMO.rglob("ops_perf_results*.csv")), next(DEMO.rglob("db.sqlite")))]
    for performance, memory in reports:
        if performance.is_file():
            yield case_of_reports(performance, memory, chosen="last")
            yield case_of_reports(performance, memory, chosen="all")


def _row(facts: WindowFacts, claim: Claim) -> int:
    """The op that a claim cites first: the heaviest, and the one whose numbers its fix has."""
    cited = {one.row for one in claim.evidence[:1] if one.source == facts.ops.source}
    rows = [int(row) for row in claim.rows]
    row = next((row for row in rows if facts.line(row) in cited), rows[0] if rows else 0)
    if told := LINE.search(claim.fix):
        return next(at for at in range(len(facts)) if facts.line(at) == int(told.group(1)))
    if told := SLICE.search(claim.fix):  # the heaviest may be a concat
        row = next(int(one) for one in claim.rows if facts.line(int(one)) == int(told.group(1)))
    if "Conv2dConfig(" in claim.fix:  # said of an op behind the convolution that it is a setting of
        convs = facts.of_family("conv").nonzero()[0]
        row = next((int(conv) for conv in convs[::-1] if conv <= row), row)
    return row


def _op(facts: WindowFacts, row: int) -> dict[str, Any]:
    ops = facts.ops
    return {
        "report": ops.source,
        "line": facts.line(row),
        "name": facts.names[row],
        "cores": int(np.nan_to_num(ops.numbers("cores")[row])),
        "family": next(
            (name for name in ("conv", "matmul", "norm", "collective") if facts.of_family(name)[row]), "other"
        ),
        **operands_of(facts, row),
        "convolution": convolution(facts, row),
        "now": now(facts, row),
    }
