"""Write the laws of time: their coefficients, and the page resources/laws.md that says how good they are.

python -m generate.laws        or `make laws`, after a change to measurements/ or to a law; `make fix` runs it too
"""

import csv
import json

from generate.law_changes import Changes
from generate.law_fit import (
    INSIDE,
    LEAST_WIDTH,
    MANY_STUDIES,
    MEDIAN_AT_MOST,
    ONE_STUDY,
    ROWS_AT_LEAST,
    SHAPES_AT_LEAST,
    Fit,
    fits,
)
from generate.law_rows import MEASUREMENTS, measured
from generate.law_sweeps import MISSED, NEAR, TRUE, sweeps_of
from generate.law_trials import TRIALS, tried
from generate.layout import ROOT
from ttnn_mcp.analyses.laws.anchored import SAME
from ttnn_mcp.analyses.laws.catalogue import LAWS
from ttnn_mcp.analyses.laws.law import COEFFICIENTS, MARGIN

PAGE = ROOT / "resources" / "laws.md"
DIGITS = 4  # of what is written: a fit on another machine differs later
HEAD = f"""# Laws of time

A law of time says how long an op is expected to take. Each is a formula with few coefficients. These were fitted to
measurements that others published (`measurements/` in the repository; links at the end). `make laws` generates this
page; `make check` fails if this page, the coefficients and the measurements differ.

* A law gives the device kernel time in microseconds. It gives no time for a chip, a format or a placement that was not
  measured, nor for sizes and times more than {MARGIN - 1:.0%} outside of those that were.
* "At peak" is the time by the data sheet: of DRAM, of the matrix engine at the op's fidelity, of the links. No law
  gives less than the roofline.
* Errors are those of rows left out of the fit: first all rows of one shape after the other, then all rows of one source
  after the other. Where a source has several models, each of them counts as one.
* The interval holds at least {INSIDE:.0%} of both, and reaches {LEAST_WIDTH:.0%} to either side. If all rows come
  from one study, the coefficients rest on it alone, and the interval's logarithm is widened by {ONE_STUDY - 1:.0%}.
* A law is not used if its median error on left-out shapes is above {MEDIAN_AT_MOST:.0%}; with {MANY_STUDIES} studies or
  more this also holds for left-out sources. Nor is a law with fewer than {ROWS_AT_LEAST} rows or {SHAPES_AT_LEAST}
  shapes. The laws that are not used are at the end.
* 2 us are taken off the wall times of replayed traces, and 1 us off firmware times. If that is more than a fifth of the
  time, the row is left out, and so are builds and flags that are not today's default.
"""
CHANGES = f"""## How well they tell a change

The effect of changed settings (fidelity, format of the weights, block, chunk, grid) is predicted in one of two ways.
One is the law alone. The other is anchored: the measured time of the op, times the ratio of what the law expects after
the change and before it. Both are judged on pairs of rows of one shape and source, each predicted from the other. All
rows of the source are left out of that fit (of the shape, if there is only one source). The way with the smaller error
is used.

* If the time of the op as it ran is outside of its law's interval, but not by more than a factor of 1.5, it keeps its
  distance from the law, and the interval holds both. If it is further away, no change of it is predicted.
* If another law covers the op after the change, that law alone is used.
* A law predicts no change that nobody measured, that its formula does not see, or for which the median error is above
  {MEDIAN_AT_MOST:.0%}. Nor does it predict a change of one setting alone where "no difference" errs less, of
  {ROWS_AT_LEAST} pairs and more of two models. If fewer than {SHAPES_AT_LEAST} shapes were measured with several
  settings, its own interval is used.
* The interval holds {INSIDE:.0%} of the changed rows, by shape and by source, and is widened as above.
"""
CHANGE_COLUMNS = ("law", "chip", "shapes", "pairs", "alone", "anchored", "used", "interval", "inside it")
SWEEPS = f"""## How well they choose

In a sweep a source ran one op with several grids, blocks or chunks; it is predicted by a fit without that shape. First
choice: how often the choice that should be the fastest lies within {NEAR:.0%} of the measured best (without the shape,
without the source; any choice at random), and by how much it is slower on average. The other columns: what is said of
a change, and how often it was true. "Faster" and "slower" lie outside of the interval, "likely" inside. "No difference"
is within {SAME:.0%} of the time as it ran, and true if less than {MISSED:.0%} was gained.
"""
SWEEP_COLUMNS = ("sweeps of", "sweeps", "rows", "first choice near the best", "slower by", *TRUE)
COLUMNS = ("law", "chip", "rows", "studies", "by shape", "by source", "interval", "inside it")


def short(value):
    return float(f"{value:.{DIGITS}g}")


def spans(fit, rows):
    """The least and the most of each size, and of the time."""
    ranges = {}
    for row in rows:
        for name, size in (*fit.law.known(row.op), ("us", row.us / row.op.in_turn)):
            low, high = ranges.get(name, (size, size))
            ranges[name] = [min(low, size), max(high, size)]
    return ranges


def likenesses(fit, rows):
    """The values of each field that must have been measured; what a row does not tell speaks for no value."""
    return {name: sorted({str(getattr(row.op, name)) for row in rows} - {""}) for name in fit.law.alike}


def by_chip(rows):
    chips = sorted({row.op.chip for row in rows})
    return {chip: [row for row in rows if row.op.chip == chip] for chip in chips}


def written(fit: Fit):
    """What the package reads of a law, and what it was fitted to."""
    studies = fit.studies
    return {
        "good": not fit.why_not,
        "coefficients": dict(zip(fit.law.terms, map(short, fit.coefficients), strict=True)),
        "ratios": [short(end) for end in fit.ratios],
        "ranges": {chip: spans(fit, rows) for chip, rows in by_chip(fit.rows).items()},
        "alike": {chip: likenesses(fit, rows) for chip, rows in by_chip(fit.rows).items()},
        "source": f"{len(fit.rows)} measurements of {', '.join(studies)} (ttnn://laws)",
        "changes": written_changes(Changes(fit)),
    }


def written_changes(changes: Changes):
    """How the law tells changes; None where it must not."""
    if changes.why_not:
        return None
    return {
        "anchors": changes.anchors,
        "ratios": [short(end) for end in changes.ratios],
        "rests_on": changes.rests_on,
        "varied": {chip: changes.varied(rows) for chip, rows in by_chip(changes.fit.rows).items()},
    }


def coefficients(made):
    laws = {}
    for fit in made:
        if not fit.why_not:
            laws.setdefault(fit.law.name, {})[fit.chip] = written(fit)
    return json.dumps(laws, indent=1) + "\n"


def errors(left_out):
    return f"{left_out.median:.1%}, {left_out.p90:.0%}" if left_out else "-"


def row_of(fit):
    low, high = fit.ratios
    inside = [f"{each.inside(fit.ratios):.0%}" if each else "-" for each in (fit.by_shape, fit.by_source)]
    return (
        fit.law.name,
        fit.chip or "both",
        len(fit.rows),
        len(fit.studies),
        errors(fit.by_shape),
        errors(fit.by_source),
        f"{low:.2f} to {high:.2f}",
        ", ".join(inside),
    )


def change_row(changes: Changes):
    fit, judged = changes.fit, changes.judged[0]
    (low, high), anchors = changes.ratios, changes.anchors
    ways = [f"{judged.error(anchors=way):.1%}, {judged.error(0.9, anchors=way):.0%}" for way in (False, True)]
    why_not, used = changes.why_not, "anchored" if anchors else "alone"
    inside = ", ".join(f"{each.inside((low, high), anchors=anchors):.0%}" for each in changes.judged[::-1])
    told = (used, f"{low:.2f} to {high:.2f}", inside) if not why_not else (f"silent: {why_not}", "-", "-")
    return (fit.law.name, fit.chip or "both", len(changes.groups), changes.count, *ways, *told)


def change_rows(fits_made):
    made = [Changes(fit) for fit in fits_made]
    return [change_row(changes) for changes in made if changes.were_measured]


def sweep_rows(made):
    """One per kind of sweeps."""
    without_sources = sweeps_of(made, by_source=True)
    rows = []
    for name, sweeps in sweeps_of(made, by_source=False).items():
        other = without_sources.get(name)
        near = (sweeps.near_best, other.near_best if other else None, sweeps.at_random)
        shares = ", ".join(f"{each:.0%}" if each is not None else "-" for each in near)
        count = sum(map(len, sweeps.sweeps))
        rows.append((name, len(sweeps.sweeps), count, shares, f"{sweeps.lost:.1%}", *map(sweeps.held, TRUE)))
    return rows


def table(rows):
    return "".join(f"| {' | '.join(map(str, cells))} |\n" for cells in rows)


def section(law, made):
    """One law: its formula, its coefficients and where it holds, per chip."""
    lines = [f"### {law.name}\n\nTime = {law.formula}.\n\n"]
    for fit in made:
        parts = [priced(*each) for each in zip(fit.coefficients, law.terms, strict=True) if each[0] > 0]
        lines.append(f"* {fit.chip or 'Both chips'}: {' + '.join(parts)}.\n")
        lines += (f"  Holds on {chip} for {where(fit, rows)}.\n" for chip, rows in by_chip(fit.rows).items())
        alone = " alone" if len(fit.studies) == 1 else ""
        lines.append(
            f"  Rests on {', '.join(f'{name} ({count})' for name, count in fit.studies.items())}{alone}.\n"
        )
    return "".join(lines)


def priced(coefficient, term):
    """'2.02 us', '0.54 us per K block', '1.01 x reading at peak'."""
    return f"{short(coefficient):g} {'' if term.startswith('us') else 'x '}{term}"


def where(fit, rows):
    ranges = [f"{name.replace('_', ' ')} {low:g} to {high:g}" for name, (low, high) in spans(fit, rows).items()]
    values = [f"{name.replace('_', ' ')} {' or '.join(each)}" for name, each in likenesses(fit, rows).items()]
    return ", ".join([*ranges, *values])


def page(made):
    good, silent = [fit for fit in made if not fit.why_not], [fit for fit in made if fit.why_not]
    rows = [COLUMNS, ("---",) * len(COLUMNS), *map(row_of, good)]
    laws = [section(law, mine) for law in LAWS if (mine := [fit for fit in good if fit.law is law])]
    not_good = [("law", "chip", "why it is not used"), ("---",) * 3]
    not_good += [(fit.law.name, fit.chip or "both", fit.why_not) for fit in silent]
    return "\n".join(
        (
            HEAD,
            "## How good they are\n\nErrors: median, 90th percentile. Inside the interval: by shape, by source.\n",
            table(rows),
            CHANGES,
            table([CHANGE_COLUMNS, ("---",) * len(CHANGE_COLUMNS), *change_rows(good)]),
            SWEEPS,
            table([SWEEP_COLUMNS, ("---",) * len(SWEEP_COLUMNS), *sweep_rows(good)]),
            "## The laws\n",
            *laws,
            "## Not good enough\n",
            table(not_good),
            "## Sources\n",
            sources({key for fit in made for key in fit.studies}),
        )
    )


def sources(used):
    with (MEASUREMENTS / "sources.csv").open(encoding="utf-8", newline="") as lines:
        return "".join(
            f"* {row['key']}: {row['what']}; <{row['link']}>\n"
            for row in csv.DictReader(lines)
            if row["key"] in used
        )


def all_fits():
    """What was fitted, and what was tried."""
    return [*fits(LAWS, [*measured()]), *fits(TRIALS, [*tried()])]


def main():
    made = all_fits()
    COEFFICIENTS.write_text(coefficients(made), encoding="utf-8")
    PAGE.write_text(page(made), encoding="utf-8")


if __name__ == "__main__":
    main()
