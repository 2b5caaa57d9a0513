"""How long ops took, what is noise between them, and which earlier ones are kept apart."""

from statistics import NormalDist, mean, stdev

import numpy as np
import pytest

from tests.archive.reports import report
from tests.archive.test_rows import rows
from tests.for_all import for_all
from ttnn_mcp.archive.precedents import Alike, Earlier, Timing, compared, earlier_of, timing_of
from ttnn_mcp.archive.settings_apart import Setup
from ttnn_mcp.archive.store import Archive

TWICE = 2**0.5 * NormalDist().inv_cdf(0.975)  # two single measurements differ by no more sigmas in 19 of 20 cases
BLOCK = '{{"program_config":"Config(in0_block_w={})"}}'


@for_all("times", [[10.0, 12.0, 11.0, 13.0], [5.0, 5.5]])
def test_the_noise_of_ops_is_what_two_of_them_differ_by(times):
    timing = timing_of(np.array(times))
    assert timing.noise_share == pytest.approx(TWICE * stdev(times) / mean(times), rel=1e-4)
    assert (timing.ops, timing.median_us) == (len(times), sorted(times)[(len(times) - 1) // 2])


def test_a_single_op_has_no_noise_of_its_own():
    assert timing_of(np.array([5.0])) == Timing(1, 5.0, 0.0)


def entry(us, *, block=8, settings_hash=2, noise=0.0, cut=False):
    settings = BLOCK.format(block)
    return Earlier(
        Setup(settings[:20] if cut else settings, "HiFi2"), settings_hash, Timing(4, us, noise), 1, "r", 7
    )


def against(*entries, noise=0.0):
    return compared(Timing(4, 100.0, noise), Setup(BLOCK.format(2), "HiFi2"), 1, entries)


@for_all(
    ("us", "noise", "verdict"),
    [
        (97.9, 0, "faster"),
        (98.1, 0, "alike"),
        (101.9, 0, "alike"),
        (102.1, 0, "slower"),
        (97.9, 0.03, "alike"),
        (75, 0.25, "alike"),
        (125, 0.25, "alike"),
        (99, 0.5, "alike"),
        (49, 0.501, "faster"),
    ],
)
def test_a_difference_counts_beyond_two_percent_and_beyond_the_noise(us, noise, verdict):
    assert [each.verdict for each in against(entry(us, noise=noise))] == [verdict]
    assert [each.verdict for each in against(entry(us), noise=noise)] == [verdict]


def test_the_fastest_comes_first_and_what_cannot_be_told_from_ours_is_left_out():
    ours = entry(60, block=2, settings_hash=1)
    entries = [entry(80), ours, entry(50, cut=True), entry(40, block=2)]
    told = against(*entries)
    assert [each.earlier.timing.median_us for each in told] == [60, 80]
    assert [each.differences and each.differences[0].value for each in told] == [(), "8"]
    assert against(entry(99, noise=0.501)) == against(entry(51), noise=0.501) == []  # alike, by a noise above half


@pytest.fixture(scope="module")
def nights(tmp_path_factory):
    """An archive of three runs, and the op whose times differ between them."""
    folder = tmp_path_factory.mktemp("nights")
    kept = [rows(report(folder, day=day, us=us)) for day, us in ((1, 50.0), (2, 60.0), (3, 55.0))]
    archive = Archive(folder / "archive")
    archive.add(kept)
    return archive, kept[0]


def asked(nights, clock=1.0):
    archive, one = nights
    signature = int(one.ops.iloc[-2]["signature"])
    alike = Alike("", "wormhole_b0", one.run["clock_mhz"] * clock, 1)
    with archive.connection() as engine:
        return earlier_of(engine, [signature], alike).get(signature, [])


def test_the_noise_of_earlier_ops_is_theirs_over_all_runs(nights):
    (entry,) = asked(nights)
    assert entry.timing.noise_share == pytest.approx(TWICE * 5.0 / 55.0, rel=1e-3)


@for_all(("clock", "seen"), [(1.009, 1), (1 / 1.009, 1), (1.012, 0), (1 / 1.012, 0)])
def test_a_clock_within_a_percent_is_the_same(nights, clock, seen):
    assert len(asked(nights, clock)) == seen
