"""What is left of ops after changes: they multiply, floors hold, what goes away takes its gap along."""

from __future__ import annotations

import numpy as np
import pytest

from tests.for_all import for_all
from ttnn_mcp.analyses.devices.host_gaps import TRACED_GAP_NS
from ttnn_mcp.analyses.roofline.launch import LAUNCH_FLOOR_NS
from ttnn_mcp.checks.plan.remaining import NOTHING_LEFT_NS, Ground, Relief, Remaining, time_of
from ttnn_mcp.checks.problem import Bounds

SPENT_NS = 10_000.0
FLOOR_NS = 6_000.0


def ground(ops=2, *, gap=3_000.0, arithmetic=FLOOR_NS, dram=2_000.0, peak=1.0, scale=1.0):
    """Ops of 10 us that must take 6; DRAM moves a byte in a nanosecond, and no wall bounds the kernels."""
    ones = np.ones(ops)
    return Ground(SPENT_NS * ones, gap * ones, FLOOR_NS * ones, arithmetic * ones, dram * ones, peak, scale * ones)


def change(most, rows=(0,), slot="", **how):
    bounds = Bounds(np.array(rows), np.full(len(rows), float(most)), **how)
    return Relief.of(bounds, slot or f"slot{most}{rows}{sorted(how)}")


def left(*changes, **how):
    """(time of the first op, gap before it)."""
    remaining = Remaining(ground(**how))
    for one in changes:
        remaining.make(one)
    return remaining.ops_ns[0], remaining.gaps_ns[0]


@for_all(
    ("how", "op_ns"),
    [
        ({"passes": np.array([0.5])}, 3_000),  # half of its arithmetic
        ({"spared_bytes": np.array([500.0])}, FLOOR_NS),  # arithmetic needs the same
        ({}, 1_000),  # its own bound says what the work still takes
    ],
)
def test_what_an_op_must_take_depends_on_what_the_change_spares(how, op_ns):
    assert left(change(9_000, **how))[0] == op_ns


def test_bytes_that_are_spared_lower_the_floor_of_an_op_that_waits_for_them():
    spared = change(9_000, spared_bytes=np.array([1_500.0]))
    assert left(spared, arithmetic=200.0)[0] == 1_000  # what is left of the time; 500 of 2,000 bytes
    assert left(spared, change(900, spared_bytes=np.array([300.0])), arithmetic=200.0)[0] == pytest.approx(910)


def test_what_kernels_save_is_scaled_to_the_wall_that_bounds_them():
    assert left(change(4_000), scale=0.5)[0] == 8_000
    spared = change(19_000, spared_bytes=np.array([4_000.0]))  # half of them at two bytes in a nanosecond
    assert left(spared, arithmetic=200.0, dram=6_000.0, peak=2.0, scale=0.5)[0] == 5_000


def test_no_op_takes_less_than_its_launch():
    fewer = change(9_900, passes=np.array([0.01]))
    assert left(fewer, dram=0.0)[0] == LAUNCH_FLOOR_NS


def test_changes_multiply():
    assert left(change(2_000), change(1_000))[0] == pytest.approx(SPENT_NS * 0.8 * 0.9)


@for_all(("rest", "gone"), [(NOTHING_LEFT_NS - 0.2, True), (NOTHING_LEFT_NS + 0.2, False)])
def test_an_op_of_which_nothing_is_left_takes_its_gap_along(rest, gone):
    assert left(change(SPENT_NS - rest)) == ((0, 0) if gone else (pytest.approx(rest), 3_000))


def test_an_op_whose_place_another_one_takes_goes_with_its_gap_and_takes_no_other_change():
    replaced = change(8_000, gone=np.array([0]))
    assert left(replaced) == (2_000, 0)
    assert left(replaced, change(9_000)) == (2_000, 0)
    assert left(change(8_000, gone=np.array([1]))) == (2_000, 3_000)


def test_a_trace_shortens_gaps_to_those_of_a_replay():
    traced = change(0, gap_ns=(0.0, 2_000.0))
    assert left(traced) == (SPENT_NS, TRACED_GAP_NS)
    assert left(traced, gap=100.0)[1] == 100


def test_of_gaps_no_more_goes_than_their_change_saves_at_most():
    """As another chip works meanwhile, say: of 2 us above traced gaps half, of what an op took along no more."""
    half = change(0, (0, 1), gap_ns=(0.0, 2_000.0))
    remaining = Remaining(ground())
    remaining.make(half)
    assert remaining.gaps_ns.tolist() == [2_000, 2_000]
    one_gone = Remaining(ground())
    one_gone.make(change(SPENT_NS, (0,)))
    one_gone.make(half)
    assert one_gone.gaps_ns.tolist() == [0, 2_000]
    expected = Remaining(ground())
    expected.make(half.saving(np.array([500.0, 500.0])))
    assert expected.gaps_ns.tolist() == [2_500, 2_500]


def test_a_setting_is_made_once_and_not_by_what_saves_nothing():
    first, second = change(1_000, slot="program"), change(4_000, slot="program")
    assert left(first, second)[0] == 9_000
    assert left(change(0, slot="program"), second)[0] == 6_000


def test_what_went_away_was_set_by_nobody():
    remaining = Remaining(ground())
    program = change(4_000, (0, 1), slot="program")
    remaining.make(change(SPENT_NS, (0,), slot="program"))
    assert remaining.set_by_others(program).tolist() == [False, False]
    remaining.make(change(100, (1,), slot="program"))
    assert remaining.set_by_others(program).tolist() == [False, True]


@for_all(
    ("changes", "about_ns"),
    [
        ([change(1_000, (0, 1)), change(2_000)], 2 * SPENT_NS),  # each op once
        ([change(SPENT_NS), change(1_000, (1,))], 2 * SPENT_NS + 3_000),  # one goes, with the gap before it
        ([change(0, (0, 1), gap_ns=(0.0, 2_000.0))], 6_000),  # gaps alone
        ([change(1_000), change(0, gap_ns=(0.0, 2_000.0))], SPENT_NS + 3_000),
    ],
)
def test_changes_are_about_their_ops_and_the_gaps_that_they_shorten(changes, about_ns):
    assert time_of(ground(), changes) == about_ns
