"""The laws of time, their page and the measurements agree."""

import csv
from collections import Counter

from generate import laws
from generate.law_fit import fits
from generate.law_rows import MEASUREMENTS
from generate.law_trials import TRIALS, tried
from ttnn_mcp.analyses.laws.law import COEFFICIENTS

RENEW = "run `make laws`, and say in the commit which law got better or worse"


def test_coefficients_and_page_are_those_of_the_measurements():
    made = laws.all_fits()
    assert COEFFICIENTS.read_text(encoding="utf-8") == laws.coefficients(made), RENEW
    assert laws.PAGE.read_text(encoding="utf-8") == laws.page(made), RENEW


def test_a_trial_that_turns_out_good_belongs_into_the_package():
    for fit in fits(TRIALS, [*tried()]):
        assert fit.why_not, f"move {fit.law.name} into ttnn_mcp/analyses/laws"


def test_every_measured_row_has_a_source_that_counts_it():
    rows = Counter()
    for path in MEASUREMENTS.glob("*.csv"):
        if path.name not in ("sources.csv", "savings.csv"):
            with path.open(encoding="utf-8", newline="") as lines:
                rows.update(row["source"].partition("/")[0] for row in csv.DictReader(lines))
    with (MEASUREMENTS / "sources.csv").open(encoding="utf-8", newline="") as lines:
        assert rows == {row["key"]: int(row["rows"]) for row in csv.DictReader(lines)}
