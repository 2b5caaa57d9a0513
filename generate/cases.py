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
    from collections.abc import Iterable, Iterator, Mapping, Sequence

SAVINGS = ROOT / "measurements" / "savings.csv"
LEAST_CASES = 5  # fewer say nothing about the next one
LEAST_SOURCES = 3  # of the tries of a check: one ledger's habits say nothing about the next one
GAINED = 0.75  # of the tries: where fewer gained it stays a trial (ours)
OUTSIDE = 0.25  # of further cases, which save less than the low end: with 0.2 91 % of what was left out lay inside
LEVERS = {check.id: check.lever.name for check in CATALOGUE}
TRIES = {check.lever.name for check in CATALOGUE if check.lever.tries}
NEAR = 2  # times
KIND = ": "  # between a check and which of its changes a case is of


HEAD = """## What is expected

A finding expects what the faster ops of its run, an earlier run or a law of time (ttnn://laws) let expect. Otherwise it
expects the share of its bound that measured changes kept: those of its check, or of all checks that change the same in
the code, where at least five are known. These are {cases} changes of the tables here and of `measurements/savings.csv`;
a dead end that is still promised counts as nothing. The interval reaches from the low end, below which one case of four
is to be expected, to the bound. A trial, of which no rule tells whether it gains, expects what tries of the same check
brought, losers and refusals among them, where at least five from three ledgers are known and
{gained:.0%} of them gained. Where fewer gained it stays without an expectation, and last.

How well others tell of a case, with all cases of its ledger or model left out:

{left_out}
The cases are of changes that were worth telling.

"""


class Case(NamedTuple):
    """A change that was measured: the share of its bound that it saved."""

    source: str
    check: str
    share: float
    is_trial: bool = False


def cases() -> list[Case]:
    """All of them."""
    with SAVINGS.open(encoding="utf-8", newline="") as file:
        told = [
            Case(
                row["source"],
                row["check"],
                _share(float(row["at_most_us"]), float(row["saved_us"])),
                row["trial"] == "1",
            )
            for row in csv.DictReader(file)
        ]
    return [*told, *_of_stories()]


def _of_stories() -> Iterator[Case]:
    """Of each story the finding whose bound comes nearest to what was measured."""
    for story in STORIES:
        if story.several or not (story.denies or story.saving_us):
            continue
        bounds: dict[str, float] = defaultdict(float)
        for one in naming(story, findings_of(story)[0]):
            if LEVERS[one["check"]] not in TRIES:
                bounds[one["check"]] += one["saving_us"]["at_most"]
        bounds = {check: most for check, most in bounds.items() if most > 0}
        saved = story.saving_us or 0.0
        for check in sorted(bounds, key=lambda each: abs(bounds[each] - saved))[:1]:
            yield Case(story.source, check, _share(bounds[check], saved))


def _share(most: float, saved: float) -> float:
    return min(saved / most, 1.0)


def shares(told: Iterable[Case], sources: int = LEAST_SOURCES) -> dict[str, dict[str, dict[str, float]]]:
    """The middle share of checks and levers with enough cases, and their ends; of trials only where most gained."""
    by: dict[str, dict[str, list[float]]] = {"checks": defaultdict(list), "levers": defaultdict(list)}
    tries = defaultdict[str, list[Case]](list)
    for case in told:
        if case.is_trial:
            tries[case.check].append(case)
        else:
            by["checks"][case.check].append(case.share)
            by["levers"][_lever(case)].append(case.share)
    by["trials"] = {name: [each.share for each in cases] for name, cases in tries.items() if _speak(cases, sources)}
    return {
        kind: {name: _summary(each) for name, each in sorted(groups.items()) if len(each) >= LEAST_CASES}
        for kind, groups in by.items()
    }


def _lever(case: Case) -> str:
    return LEVERS[case.check.partition(KIND)[0]]


def _speak(tries: list[Case], sources: int) -> bool:
    """Whether tries of a check let expect something of the next one."""
    gained = sum(case.share > 0 for case in tries)
    return len({case.source for case in tries}) >= sources and gained >= GAINED * len(tries)


def _summary(each: list[float]) -> dict[str, float]:
    """The low end is the case below which one of four further ones is expected, whatever their distribution."""
    ordered = sorted(each)
    below = max(int(OUTSIDE * (len(each) + 1)), 1) - 1
    return {"cases": len(each), "median": round(median(each), 3), "low": round(ordered[below], 3)}


def left_out(told: list[Case], *, tries: bool) -> dict[str, str]:
    """Told by the others, with all of a case's source left out."""
    known = [(case, expected) for case in told if case.is_trial == tries and (expected := _by_others(told, case))]
    inside = sum(case.share >= each["low"] for case, each in known)
    near = sum(each["median"] / NEAR <= case.share <= each["median"] * NEAR for case, each in known)
    lost = sum(not case.share for case, _ in known)
    gains = max(len(known) - lost, 1)
    return {
        "of": "tries" if tries else "cases",
        "told": str(len(known)),
        "inside the interval": f"{inside} ({inside / max(len(known), 1):.0%})",
        "gained": str(len(known) - lost),
        f"of these within a factor of {NEAR}": f"{near} ({near / gains:.0%})",
        "lost, and expected to gain": str(lost),
        "nothing expected": str(sum(case.is_trial == tries for case in told) - len(known)),
    }


def _by_others(told: list[Case], case: Case) -> dict[str, float] | None:
    by = shares((other for other in told if other.source != case.source), LEAST_SOURCES - 1)  # one is left out
    if case.is_trial:
        return by["trials"].get(case.check)
    return by["checks"].get(case.check) or by["levers"].get(_lever(case))


def section() -> str:
    """The part of the page on the advice: what measured changes kept of their bounds, and how well that told others."""
    told = cases()
    by, tested = shares(told), [left_out(told, tries=tries) for tries in (False, True)]
    rows = [
        (kind, name, str(each["cases"]), *(f"{each[key]:.0%}" for key in ("median", "low")))
        for kind, groups in (("check", by["checks"]), ("lever", by["levers"]), ("trial", by["trials"]))
        for name, each in groups.items()
    ]
    head = HEAD.format(
        cases=len(told), gained=GAINED, left_out=_table([[*tested[0]], *([*each.values()] for each in tested)])
    )
    return head + _table([("of a", "name", "cases", "middle share of the bound", "low end"), *rows])


def _table(rows: Sequence[Sequence[str]]) -> str:
    lines = ["| " + " | ".join(row) + " |" for row in rows]
    return "\n".join([lines[0], "|---" * len(rows[0]) + "|", *lines[1:]]) + "\n"


def text_of(by: Mapping[str, object]) -> str:
    return json.dumps(by, indent=1) + "\n"


def main() -> None:
    CASES.write_text(text_of(shares(cases())), encoding="utf-8")
    measured_cases.cache_clear()  # answers that are generated next are told by the new ones


if __name__ == "__main__":
    main()
