"""Rewrite tests/checks/real_findings.json: what checks claim of the published reports, each looked at by hand once.

python -m generate.real_findings     keeps the reasons; a claim without one fails tests/checks/test_real_findings.py

It is no part of `make fix`: what changes here wants a look at the rows, and a sentence that says why the claim holds.
"""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, TypedDict

import numpy as np

from tests.checks.asking import case_of_reports
from tests.shared_reports import CLIP, DEEPLAB, DEEPSEEK, OFT, SEGFORMER, SHARED
from ttnn_mcp.checks import CATALOGUE
from ttnn_mcp.checks.diagnosis import ask

if TYPE_CHECKING:
    from tests.checks.asking import Case

PAGE = Path(__file__).parents[1] / "tests" / "checks" / "real_findings.json"
REPORTS = (CLIP, DEEPLAB, OFT, DEEPSEEK, SEGFORMER)


class Looked(TypedDict):
    """One claim: its check, the line of its heaviest op, how many ops it names, its bounds, and why it holds."""

    check: str
    line: int
    ops: int
    at_least_us: float
    at_most_us: float
    reason: str


def claims_of(case: Case) -> list[Looked]:
    """What every check claims of the window, each on its own; the reasons are empty."""
    return [
        Looked(
            check=check.id,
            line=case.line(int(claim.rows[np.argmax(case.kernel_ns[claim.rows])])) if len(claim.rows) else 0,
            ops=len(claim.rows),
            at_least_us=round(float(claim.at_least_ns.sum()) / 1e3, 1) if claim.at_least_ns is not None else 0.0,
            at_most_us=round(claim.promise_ns / 1e3, 1),
            reason="",
        )
        for check in CATALOGUE
        for claim in ask(check, case).claims
    ]


def stored() -> dict[str, list[Looked]]:
    """The claims as they were looked at."""
    return json.loads(PAGE.read_text("utf-8")) if PAGE.exists() else {}


def _numbered(looked: list[Looked]) -> list[tuple[tuple[str, int, int], Looked]]:
    """Each with its check, its line and how many of both came before: a check may claim two things of one op."""
    seen: Counter[tuple[str, int]] = Counter()
    numbered: list[tuple[tuple[str, int, int], Looked]] = []
    for one in looked:
        place = one["check"], one["line"]
        numbered.append(((*place, seen[place]), one))
        seen[place] += 1
    return numbered


def main() -> None:
    """Write what is claimed today, with the reasons of claims that were there before."""
    before = {(name, *key): one["reason"] for name, looked in stored().items() for key, one in _numbered(looked)}
    now = {
        name: [
            Looked(**{**one, "reason": before.get((name, *key), "")})
            for key, one in _numbered(claims_of(case_of_reports(SHARED / name)))
        ]
        for name in REPORTS
    }
    PAGE.write_text(json.dumps(now, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
