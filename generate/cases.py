"""Write ttnn_mcp/checks/cases.json: what measured changes brought of the bounds that checks gave them.

With it tests/frozen/by_others.csv: verdicts on each model's layers without its own cases and measured times.

python -m generate.cases        or `make fix`

The cases are the stories and the whole layers of the tests, whose bounds are computed, and those of
`measurements/savings.csv`, with the bounds that the checks gave for reports outside of this repository. None is chosen:
of a gain the finding counts whose bound is the nearest, of a dead end each that names it, with nothing saved.
"""

from __future__ import annotations

import csv
import json
from collections import defaultdict
from functools import partial
from itertools import pairwise
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, NamedTuple
from unittest.mock import patch

from generate.frozen import (
    FOLDER,
    MODELS,
    Named,
    said_now,
    write_said,
    write_verdicts,
)
from generate.law_fit import fits
from generate.law_rows import measured, port, ports
from generate.laws import coefficients
from generate.layout import ROOT
from generate.markdown import table
from tests.frozen.promises import judged
from tests.frozen.verdict import NOISE
from tests.stories import STORIES
from tests.stories.story import findings_of, naming
from ttnn_mcp.analyses.devices.host_gaps import DEVICE_BOUND, TRACED_GAP_NS
from ttnn_mcp.analyses.laws import law
from ttnn_mcp.analyses.laws.catalogue import LAWS
from ttnn_mcp.checks import CATALOGUE, expectation
from ttnn_mcp.checks.levers import TRACE

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from typing import Any

    from tests.frozen.verdict import Verdict

    Known = dict[str, float] | dict[str, int | float | None] | None
    Shares = dict[str, dict[str, Known]]

SAVINGS = ROOT / "measurements" / "savings.csv"
TRACES = ROOT / "measurements" / "traces.csv"
BY_OTHERS = FOLDER / "by_others.csv"  # what is said of each without its own cases and times
LEAST_CASES = 5  # fewer say nothing about the next one
LEAST_TRIES = 8  # fewer do not tell a third from a half (ours)
LEAST_SOURCES = 3  # one ledger's habits say nothing about the next one
# With models of eighteen sets left out 25 % of the gains are near and 4.3 % of the dead ends promised; of seventeen
# sets 26 and 4.5 %; of sixteen 28 and 5.2 %; of fifteen 31 and 4.3 %; of fourteen, without laws of sparse matmuls and
# of exchanges, 29 and 4.0 %; of twelve, with laws of fewer models, 26 and 4.5 %. Where all cases of a lever spoke for
# its checks of which too little is known, it was 25 and 4.0 %, and then a few losses of one check took what all
# others of its lever expect. Of ten sets, where three of four had to gain in place of four of five, 30 and 4.6 %.
OUTSIDE = 0.2  # of further cases, which save less than the low end: 8 of 10 lie inside (82 % of what was left out)
GAINED = 1 - OUTSIDE  # of the cases: where fewer gained, "nothing saved" lies well inside the interval
LEVERS = {check.id: check.lever.name for check in CATALOGUE}
TRIES = {check.lever.name for check in CATALOGUE if check.lever.tries}
NEAR = 2  # times
ODDS = (0, 1 / 3, 1 / 2, 2 / 3, 1.01)  # the ends of the rows in which tries are told (ours)
FASTER = 0.01  # of the untraced wall: less is the noise of such walls (ours)
TRACED = "stalled-on-host"  # the check whose change is a trace


HEAD = """## What is expected

What a finding expects comes from faster ops of its run, from an earlier run, or from a law of time (ttnn://laws).
Without these it is the share of the bound that measured changes of the same check kept. If too few are known, those of
other checks count that change the same in the code and have too few of their own. At least five cases of three ledgers
must be known, and {gained:.0%} of them must have gained; otherwise nothing is expected. The interval reaches from the
low end to the bound. One case of five is below the low end.

These are {cases} cases: the stories, the whole layers, and `measurements/savings.csv`. No case of a layer is chosen by
hand. For a gain, the finding whose bound is the nearest is a case. For a dead end, each finding that names it is a case
that saved nothing.

How well the other cases tell of one, with all cases of its ledger or model left out:

{left_out}
A trial expects nothing, because no rule tells whether it gains. It says how many measured tries of its check gained,
and the median of what these saved. A check with fewer than {least_tries} known tries, or from fewer than three models,
says nothing. The checks have learnt from these tries, so fewer of the next ones may gain. By the tries of other models:

{tries_left_out}
Above a third, this share hardly ranks the tries. Half of the bound tells as well what a try saves that gains: in
November 2026 71% of 369 lay within a factor of two of it, and 67% of what tries of their checks kept.

Expecting more would promise more dead ends, because a profile tells little of which tries gain. A forest of 400
decision trees was fitted in November 2026 to the cases of the other models of eight sets (check, kind, what the change
edits, bound, share of op and window, time of an op, chip). It ranks tries with an area under its curve of 0.64; chance
is 0.5. It would have 55% of the gains near if 23% of the dead ends may be promised, and 36% near if 4% may.

Of traces, `measurements/traces.csv` has {pairs} pairs of wall times, untraced and traced, from {ledgers} sources.
{gained_pairs} got faster by more than 1 %. Stories and layers do not count here, because their gaps are what the trace
left. The gaps of a profile promise nothing: of the bound of `stalled-on-host` {by_gaps} was saved. If the wall time of
a pass without the profiler is given and shows less waiting than the gaps, `host_overhead` takes what the wall has
beyond the kernels as the bound. It expects the share that {by_walls} measured pairs kept of it, those whose kernels
fill less than {bound:.0%} of the wall. Told by the others, with all pairs of a source left out:

{walls_left_out}
What measured changes kept of their bounds:

"""


class Case(NamedTuple):
    """A change that was measured: the share of its bound that it saved."""

    source: str
    check: str
    share: float


def cases() -> list[Case]:
    """All of them."""
    with SAVINGS.open(encoding="utf-8", newline="") as file:
        told = [
            Case(row["source"], row["check"], _share(float(row["at_most_us"]), float(row["saved_us"])))
            for row in csv.DictReader(file)
        ]
    others = (case for case in (*_of_stories(), *_of_layers()) if LEVERS[case.check] != TRACE.name)
    return [*told, *_of_gaps(), *others]


class Pair(NamedTuple):
    """One pass, untraced and replayed from a trace, in milliseconds; None where it is not told."""

    source: str
    ops: int | None
    kernels: float | None
    gaps: float | None
    eager: float
    traced: float

    @property
    def saved(self) -> float:
        """What the trace saved; nothing where it lost."""
        return max(self.eager - self.traced, 0.0)

    def case(self, waited: float) -> Case:
        """Of what the pass waited, less the gaps that a trace keeps: none where the ops are not told."""
        return Case(self.source, TRACED, _share(waited - (self.ops or 0) * TRACED_GAP_NS / 1e6, self.saved))


def pairs() -> list[Pair]:
    """All measured ones."""
    with TRACES.open(encoding="utf-8", newline="") as file:
        return [
            Pair(
                row["source"].partition("/")[0],
                int(row["ops"]) if row["ops"] else None,
                *(float(row[name]) if row[name] else None for name in ("kernel_ms", "gaps_ms")),
                *(float(row[name]) for name in ("eager_ms", "traced_ms")),
            )
            for row in csv.DictReader(file)
        ]


def _of_gaps() -> list[Case]:
    """What traces saved of the gaps of a profile: the bound that the check gives."""
    return [pair.case(pair.gaps) for pair in pairs() if pair.gaps is not None]


def of_walls() -> list[Case]:
    """What traces saved of what the wall has beyond the kernels, without the profiler, of passes that wait for it.

    Kernels that take longer than the traced wall hold waits for other chips: their sum bounds nothing.
    """
    return [
        pair.case(pair.eager - pair.kernels)
        for pair in pairs()
        if pair.kernels is not None and pair.kernels < DEVICE_BOUND * pair.eager and pair.kernels <= pair.traced
    ]


def told_by(told: Iterable[Case], tried: Iterable[Case]) -> Shares:
    """All that the package knows of cases and of tries."""
    walls = shares(of_walls())["checks"].get(TRACED)
    return {**shares(told), "walls": {TRACE.name: walls}, "tries": tries_by_check(tried)}


def tries_by_check(tried: Iterable[Case], sources: int = LEAST_SOURCES) -> dict[str, Known]:
    """Of each check with enough of them: how many gained, and what of the bound these kept."""
    by_check = defaultdict[str, list[Case]](list)
    for case in tried:
        by_check[case.check].append(case)
    return {
        name: _of_tries(cases)
        for name, cases in sorted(by_check.items())
        if len(cases) >= LEAST_TRIES and len({case.source for case in cases}) >= sources
    }


def _of_tries(cases: list[Case]) -> dict[str, int | float | None]:
    kept = [min(case.share, 1.0) for case in cases if 0 < case.share <= NOISE]
    part = round(median(kept), 3) if len(kept) >= LEAST_CASES else None
    return {"tried": len(cases), "gained": that_gained(cases), "part": part}


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


def _of_layers() -> Iterator[Case]:
    """Of each change to the layers that met the checks: what is tuned to them is told by their first meeting."""
    for model, saved, promises in _measured_levers():
        about = [one for one in promises if one.at_most_us > 0]
        if saved:
            about = sorted(about, key=lambda one: abs(one.at_most_us - saved))[:1]
        for one in about:
            if not one.is_trial:
                yield Case(model, one.check, _share(one.at_most_us, saved))


def tries() -> list[Case]:
    """Of each change to these layers, each check that names it and expects nothing: how others like it went.

    A change that saved more than the bound was of more ops than the check's: it gained, and its share tells nothing.
    """
    told: list[Case] = []
    for model, saved, promises in _measured_levers():
        bounds = defaultdict[str, float](float)
        for one in promises:
            bounds[one.check] += one.at_most_us if one.expected_us is None else 0.0
        told += [Case(model, check, saved / most) for check, most in bounds.items() if most > 0]
    return told


def _measured_levers() -> Iterator[tuple[str, float, tuple[Named, ...]]]:
    """Of each change to the layers that met the checks: its model, what it saved, and the promises that name it."""
    for model, layers in MODELS.items():
        levers = (lever for layer in layers for lever in layer.levers)
        for lever, said in zip(levers, said_now()[model], strict=True):
            saved = 0.0 if lever.kind == "dead" else lever.saving_us
            if saved is not None and not lever.faster:
                yield model, saved, said.named


def _share(most: float, saved: float) -> float:
    return min(saved / most, 1.0)


def shares(told: Iterable[Case], sources: int = LEAST_SOURCES) -> Shares:
    """The middle share of checks and levers of which enough is known, and its low end; None: few gained.

    A check of which enough is known speaks for itself alone: the cases of a lever are those of its other checks.
    """
    checks, levers = defaultdict[str, list[Case]](list), defaultdict[str, list[Case]](list)
    for case in told:
        checks[case.check].append(case)
    known = {name: cases for name, cases in checks.items() if _suffice(cases, sources)}
    for name in checks.keys() - known:
        levers[LEVERS[name]] += checks[name]
    return {
        group: {
            name: _summary([case.share for case in cases]) if that_gained(cases) >= GAINED * len(cases) else None
            for name, cases in sorted(groups.items())
            if _suffice(cases, sources)
        }
        for group, groups in (("checks", known), ("levers", levers))
    }


def _suffice(cases: list[Case], sources: int) -> bool:
    return len(cases) >= LEAST_CASES and len({case.source for case in cases}) >= sources


def that_gained(cases: list[Case]) -> int:
    return sum(case.share > 0 for case in cases)


def _summary(each: list[float]) -> dict[str, float]:
    """The low end is the case below which one of five further ones is expected, whatever their distribution."""
    ordered = sorted(each)
    below = max(int(OUTSIDE * (len(each) + 1)), 1) - 1
    return {"cases": len(each), "median": round(median(each), 3), "low": round(ordered[below], 3)}


def tries_left_out(tried: list[Case]) -> list[tuple[str, ...]]:
    """Rows of a table: by the part that gained of the tries of other models, how many did, and saved what these did."""
    told = [(case, known) for case in tried if (known := _tries_by_others(tried, case))]
    rows = [("so many gained elsewhere", "tries", "gained", f"of these within a factor of {NEAR}")]
    for low, high in pairwise(ODDS):
        here = [(case, known) for case, known in told if low <= known["gained"] / known["tried"] < high]
        gained = [(case.share, known["part"]) for case, known in here if 0 < case.share <= NOISE and known["part"]]
        near = sum(part / NEAR <= share <= part * NEAR for share, part in gained)
        count = that_gained([case for case, _ in here])
        rows.append(
            (
                f"{low:.0%} to {min(high, 1):.0%}",
                str(len(here)),
                f"{count} ({count / max(len(here), 1):.0%})",
                f"{near} of {len(gained)} ({near / max(len(gained), 1):.0%})",
            )
        )
    return rows


def _tries_by_others(tried: list[Case], case: Case) -> dict[str, Any] | None:
    by = tries_by_check((other for other in tried if other.source != case.source), LEAST_SOURCES - 1)
    return by.get(case.check)


def left_out(told: list[Case]) -> dict[str, str]:
    """Told by the others, with all of a case's source left out."""
    known = [(case, expected) for case in told if (expected := _by_others(told, case))]
    inside = sum(case.share >= each["low"] for case, each in known)
    near = sum(each["median"] / NEAR <= case.share <= each["median"] * NEAR for case, each in known)
    gained = that_gained([case for case, _ in known])
    return {
        "told": str(len(known)),
        "inside the interval": f"{inside} ({inside / len(known):.0%})",
        "gained": str(gained),
        f"of these within a factor of {NEAR}": f"{near} ({near / gained:.0%})",
        "lost, and expected to gain": str(len(known) - gained),
        "nothing expected": str(len(told) - len(known)),
    }


def _by_others(told: list[Case], case: Case) -> dict[str, float] | None:
    by = shares((other for other in told if other.source != case.source), LEAST_SOURCES - 1)  # one is left out
    return by["checks"][case.check] if case.check in by["checks"] else by["levers"].get(LEVERS[case.check])


def verdicts_by_others(model: str, told: list[Case], tried: list[Case]) -> list[Verdict]:
    """What is said of the layers of a model now, without its own cases and measured times."""
    layers = MODELS[model]
    others = {
        **shares(case for case in told if case.source != model),
        "tries": tries_by_check(case for case in tried if case.source != model),
    }
    laws = _laws_without({port(one.source) for layer in layers for one in (layer, *layer.levers)})
    with (
        patch.object(expectation, "measured_cases", partial(dict, others)),
        patch.object(law, "fitted_laws", lambda laws=laws: laws),
        TemporaryDirectory() as folder,
    ):
        return [one for layer in layers for one in judged(layer, Path(folder))]


def _laws_without(without: set[str]) -> dict[str, dict[str, law.Fitted]]:
    """The laws, fitted without the rows of these ports."""
    left = {key for key, named in ports().items() if named in without}
    known = law.fitted_laws()
    rests = {name for name, of in known.items() if any(key in one.source for key in left for one in of.values())}
    if not rests:
        return known
    rows = [row for row in measured() if row.source.partition("/")[0] not in left]
    anew = law.read(coefficients(fits([one for one in LAWS if one.name in rests], rows)))
    return {**{name: of for name, of in known.items() if name not in rests}, **anew}


def section() -> str:
    """The part of the page on the advice: what measured changes kept of their bounds, and how well that told others."""
    told = cases()
    tried = tries()
    by, tested = told_by(told, tried), left_out(told)
    traced, walls = pairs(), of_walls()
    walls_tested = left_out(walls)
    rows = [
        (kind, name, str(each["cases"]), *(f"{each[key]:.0%}" for key in ("median", "low")))
        for kind, groups in (("check", by["checks"]), ("lever", by["levers"]), ("wall", by["walls"]))
        for name, each in groups.items()
        if each is not None
    ]
    head = HEAD.format(
        cases=len(told),
        gained=GAINED,
        least_tries=LEAST_TRIES,
        tries_left_out=table(*tries_left_out(tried)),
        left_out=table([*tested], [*tested.values()]),
        pairs=len(traced),
        ledgers=len({pair.source for pair in traced}),
        gained_pairs=sum(pair.saved > FASTER * pair.eager for pair in traced),
        by_gaps=", ".join(f"{case.share:.0%} ({case.source})" for case in _of_gaps()),
        by_walls=len(walls),
        bound=DEVICE_BOUND,
        walls_left_out=table([*walls_tested], [*walls_tested.values()]),
    )
    return head + table(("of a", "name", "cases", "middle share of the bound", "low end"), *rows)


def text_of(by: Shares) -> str:
    return json.dumps(by, indent=1) + "\n"


def main() -> None:
    """Write what is known; again, as what is expected decides what a trial is."""
    write_said()
    while (text := text_of(told_by(cases(), tries()))) != expectation.CASES.read_text(encoding="utf-8"):
        expectation.CASES.write_text(text, encoding="utf-8")
        expectation.measured_cases.cache_clear()  # answers that are generated next are told by the new ones
        write_said()
    told, tried = cases(), tries()
    write_verdicts(BY_OTHERS, {model: verdicts_by_others(model, told, tried) for model in MODELS})


if __name__ == "__main__":
    main()
