"""The laws of time, their page and the measurements agree."""

import csv
from collections import Counter

import pytest

from generate import laws
from generate.law_rows import MEASUREMENTS
from generate.law_trials import TRIALS
from tests.for_all import for_all
from ttnn_mcp.analyses.laws.law import COEFFICIENTS

RENEW = "run `make laws`, and say in the commit which law got better or worse"


@pytest.fixture(scope="module")
def made():
    """All fits: five seconds, and so once."""
    return laws.all_fits()


def test_coefficients_and_page_are_those_of_the_measurements(made):
    assert COEFFICIENTS.read_text(encoding="utf-8") == laws.coefficients(made), RENEW
    assert laws.PAGE.read_text(encoding="utf-8") == laws.page(made), RENEW


def test_a_trial_that_turns_out_good_belongs_into_the_package(made):
    for fit in (each for each in made if each.law in TRIALS):
        assert fit.why_not, f"move {fit.law.name} into ttnn_mcp/analyses/laws"


def test_every_measured_row_has_a_source_that_counts_it():
    rows = Counter()
    for path in MEASUREMENTS.glob("*.csv"):
        if path.name not in ("sources.csv", "savings.csv"):
            with path.open(encoding="utf-8", newline="") as lines:
                rows.update(row["source"].partition("/")[0] for row in csv.DictReader(lines))
    with (MEASUREMENTS / "sources.csv").open(encoding="utf-8", newline="") as lines:
        assert rows == {row["key"]: int(row["rows"]) for row in csv.DictReader(lines)}


def test_intervals_hold_three_of_four_left_out_rows_at_least(made):
    held = {
        (fit.law.name, fit.chip, left_out.inside(fit.ratios))
        for fit in made
        if not fit.why_not
        for left_out in (fit.by_shape, fit.by_source)
        if left_out is not None
    }
    assert len(held) > 20
    assert [each for each in held if each[2] < 0.75] == []


@for_all(
    ("name", "chip", "median", "p90"),
    [
        ("decode matmul, DRAM-sharded weights", "wormhole_b0", 0.02, 0.05),
        ("decode matmul, DRAM-sharded weights", "blackhole", 0.03, 0.08),
        ("decode matmul, interleaved weights (1D)", "wormhole_b0", 0.06, 0.15),
        ("decode matmul, interleaved weights (1D)", "blackhole", 0.03, 0.13),
    ],
)
def test_decode_matmuls_are_known_to_a_few_percent(made, name, chip, median, p90):
    fit = next(each for each in made if (each.law.name, each.chip) == (name, chip))
    for left_out in (fit.by_shape, fit.by_source):
        assert left_out.median < median
        assert left_out.p90 < p90
