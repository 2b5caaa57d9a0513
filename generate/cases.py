"""Write ttnn_mcp/checks/cases.json: what measured changes brought of the bounds that checks gave them.

python -m generate.cases        or `make fix`

The cases are the stories of the tests, whose bounds are computed, and those of `measurements/savings.csv`, with the
bounds that the checks gave for reports outside of this repository. A dead end that is still promised counts as zero.
"""

from __future__ import annotations

import csv
import json
from collections import defaultdict
from statistics import median
from typing import TYPE_CHECKING, NamedTuple

from generate.layout import ROOT
from tests.stories import STORIES
from tests.stories.story import findings_of, naming
from ttnn_mcp.checks import CATALOGUE
from ttnn_mcp.checks.expectation import CASES, measured_cases

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

SAVINGS = ROOT / "measurements" / "savings.csv"
LEAST_CASES = 5  # fewer say nothing about the next one
OUTSIDE = 0.25  # of further cases, which save less than the low end: with 0.2 91 % of what was left out lay inside
LEVERS = {check.id: check.lever.name for check in CATALOGUE}
NEAR = 2  # times


HEAD = """## What is expected

A finding expects what the faster ops of its run, an earlier run or a law of time (ttnn://laws) let expect. Otherwise it
expects the share of its bound that measured changes kept: those of its check, or of all checks that change the same in
the code, where at least five are known. These are {cases} changes of the tables here and of `measurements/savings.csv`;
a dead end that is still promised counts as nothing. The interval reaches from the low end, below which one case of four
is to be expected, to the bound. With each case's source left out, the others tell of {known} cases: {inside} lie inside
of the interval, {near} within a factor of 2 of what was expected. The cases are of changes that were worth telling.

"""


class Case(NamedTuple):
    """A change that was measured: the share of its bound that it saved."""

    source: str
    check: str
    share: float


def cases() -> list[Case]:
    """All of them."""
    with SAVINGS.open(encoding="utf-8", newline="") as file:
        rows = [(row["source"], row["check"], row["at_most_us"], row["saved_us"]) for row in csv.DictReader(file)]
    told = [Case(source, check, _share(float(most), float(saved))) for source, check, most, saved in rows]
    return [*told, *_of_stories()]


def _of_stories() -> Iterator[Case]:
    """Of each story the finding whose bound comes nearest to what was measured."""
    for story in STORIES:
        if story.several or not (story.denies or story.saving_us):
            continue
        bounds: dict[str, float] = defaultdict(float)
        for one in naming(story, findings_of(story)[0]):
            bounds[one["check"]] += one["saving_us"]["at_most"]
        bounds = {check: most for check, most in bounds.items() if most > 0}
        saved = story.saving_us or 0.0
        for check in sorted(bounds, key=lambda each: abs(bounds[each] - saved))[:1]:
            yield Case(story.source, check, _share(bounds[check], saved))


def _share(most: float, saved: float) -> float:
    return min(saved / most, 1.0)


def shares(told: Iterable[Case]) -> dict[str, dict[str, dict[str, float]]]:
    """The middle share of checks and levers with enough cases, and their low end; the bound is the high end."""
    by: dict[str, dict[str, list[float]]] = {"checks": defaultdict(list), "levers": defaultdict(list)}
    for case in told:
        by["checks"][case.check].append(case.share)
        by["levers"][LEVERS[case.check]].append(case.share)
    return {
        kind: {name: _summary(each) for name, each in sorted(groups.items()) if len(each) >= LEAST_CASES}
        for kind, groups in by.items()
    }


def _summary(each: list[float]) -> dict[str, float]:
    """The low end is the case below which one of four further ones is expected, whatever their distribution."""
    ordered = sorted(each)
    below = max(int(OUTSIDE * (len(each) + 1)), 1) - 1
    return {"cases": len(each), "median": round(median(each), 3), "low": round(ordered[below], 3)}


def left_out(told: list[Case]) -> tuple[int, int, int]:
    """Told by the others, with all of a case's source left out: how many, how many inside, how many within twice."""
    known, inside, near = 0, 0, 0
    for case in told:
        by = shares(other for other in told if other.source != case.source)
        expected = by["checks"].get(case.check) or by["levers"].get(LEVERS[case.check])
        if expected:
            known += 1
            inside += case.share >= expected["low"]
            near += expected["median"] / NEAR <= case.share <= expected["median"] * NEAR
    return known, inside, near


def section() -> str:
    """The part of the page on the advice: what measured changes kept of their bounds, and how well that told others."""
    told = cases()
    by, (known, inside, near) = shares(told), left_out(told)
    rows = [
        (kind, name, str(each["cases"]), f"{each['median']:.0%}", f"{each['low']:.0%}")
        for kind, groups in (("check", by["checks"]), ("lever", by["levers"]))
        for name, each in groups.items()
    ]
    head = ("of a", "name", "cases", "middle share of the bound", "low end")
    lines = ["| " + " | ".join(row) + " |" for row in (head, *rows)]
    lines.insert(1, "|---" * len(head) + "|")
    return HEAD.format(cases=len(told), known=known, inside=inside, near=near) + "\n".join(lines) + "\n"


def text_of(by: Mapping[str, object]) -> str:
    return json.dumps(by, indent=1) + "\n"


def main() -> None:
    CASES.write_text(text_of(shares(cases())), encoding="utf-8")
    measured_cases.cache_clear()  # answers that are generated next are told by the new ones


if __name__ == "__main__":
    main()
