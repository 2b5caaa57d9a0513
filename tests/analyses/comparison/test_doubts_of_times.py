"""Times that cannot be: each line with a pair."""

from types import SimpleNamespace

import numpy as np

from tests.for_all import for_all
from tests.profiles import DRAM, L1, Program
from ttnn_mcp.analyses.comparison.alignment import Alignment
from ttnn_mcp.analyses.comparison.noise import Noise
from ttnn_mcp.analyses.comparison.suspicion import below_floor, impossible_times, zero_times
from ttnn_mcp.analyses.dataflow.likely_producers import flow_of
from ttnn_mcp.analyses.time_budget.least_times import least_times_of
from ttnn_mcp.run.ops.op_table import CORRECTED

SHAPE = [1, 1, 1024, 1024]


def program(kernel_ns, where=L1, fidelity="HiFi4", **settings):
    """One op with its operands in L1 or DRAM, behind another that takes long."""
    made = Program()
    made.op("SoftmaxDeviceOperation", [made.tensor([1, 1, 64, 64])], kernel_ns=900_000)
    x = made.tensor(SHAPE, placement=where)
    made.op("UnaryDeviceOperation", [x], kernel_ns=kernel_ns, fidelity=fidelity, attributes=settings)
    return made


SLOW = 200_000


def floor_ns(compare):
    found = compare(program(SLOW), program(SLOW))
    ops = found.ops[0]
    return float(least_times_of(ops, found.before.run.chip, flow_of(ops), 1).as_it_is_ns[1])


@for_all(("share", "told"), [(1.0, False), (0.96, False), (0.945, True), (0.5, True)])
def test_an_op_five_per_cent_below_the_floor_of_the_same_work_is_told(compare, share, told):
    reason = below_floor(compare(program(SLOW), program(round(share * floor_ns(compare)))))
    assert (reason is not None) == told
    assert not told or "1 op (line 5) took" in reason.what


def test_another_config_is_the_same_work_and_another_fidelity_is_not(compare):
    quick = round(0.6 * floor_ns(compare))
    assert below_floor(compare(program(SLOW, axis=0), program(quick, axis=1))) is not None
    assert below_floor(compare(program(SLOW), program(quick, fidelity="LoFi"))) is None


def test_a_row_that_shows_what_cannot_be_on_both_sides_is_no_doubt_of_the_candidate(compare):
    """Its operands are another op's, or its times are: the candidate shows nothing new."""
    assert below_floor(compare(program(2_000, DRAM), program(2_000, DRAM))) is None
    assert below_floor(compare(program(SLOW, DRAM), program(2_000, DRAM))) is not None


def test_an_op_that_took_no_time_is_told_by_that(compare):
    found = compare(program(SLOW), program(0))
    assert below_floor(found) is None
    assert zero_times(found).what == "1 op (line 5) took 0 ns"


def test_an_op_that_took_no_time_before_either_is_not_told(compare):
    assert zero_times(compare(program(0), program(0))) is None


def doubtful(before, after, corrected, *, change=-0.2, pairs=((0, 0), (1, 1))):
    """Times of both sides, and which of them were told from other columns."""
    rows = np.array(pairs, dtype=np.int64)
    return SimpleNamespace(
        alignment=Alignment(rows[:, 0], rows[:, 1], rows[:, 0] >= 0, ()),
        noise=Noise(0.02, "default", ""),
        change_share=change,
        times=(np.array(before), np.array(after)),
        ops=[
            SimpleNamespace(
                numbers={CORRECTED: np.array(side, dtype=float)}.__getitem__, lines=np.arange(len(side)) + 2
            )
            for side in corrected
        ],
    )


@for_all(
    ("found", "told"),
    [
        (doubtful([100, 100], [60, 100], ([0, 0], [1, 0])), True),
        (doubtful([100, 100], [60, 100], ([0, 0], [0, 1])), False),
        (doubtful([100, 100], [100, 60], ([0, 0], [0, 1])), True),
        (doubtful([100, 100], [60, 60], ([0, 0], [1, 0])), False),  # the other op gained too
        (doubtful([100, 100], [99, 99], ([0, 0], [1, 0]), change=-0.01), False),  # nothing is gained
        (doubtful([100, 100], [60, 100], ([1, 0], [0, 0])), True),  # the baseline's time was not measured
        (doubtful([100, 100], [140, 100], ([0, 0], [1, 0]), change=0.2), True),  # as for what is lost
        (doubtful([100, 100], [140, 103], ([0, 0], [1, 0]), change=0.2), False),
        (doubtful([100, 100], [140, 90], ([0, 0], [1, 0]), change=0.2), True),
        (doubtful([100, 100], [101, 101], ([0, 0], [1, 0]), change=0.01), False),
        (doubtful([100, 100], [60, 50], ([0, 1], [1, 0])), True),  # a partner's time is as doubtful
        (doubtful([100, 100, 100], [60, 50, 90], ([0, 1, 0], [1, 0, 0]), pairs=((0, 0), (1, 1), (2, 2))), False),
        (doubtful([100], [60], ([0], [1]), pairs=((0, 0),)), True),
        (doubtful([100, 100], [60, 99], ([0, 0], [1, 0])), True),
        (doubtful([100, 100], [60, 97], ([0, 0], [1, 0])), False),
        (doubtful([100, 100], [60, 100], ([0, 0], [0, 0])), False),
        (doubtful([0, 0], [0, 0], ([0, 0], [0, 0]), change=0.0), False),
    ],
)
def test_a_gain_that_rests_on_times_nobody_measured_is_told(found, told):
    assert (impossible_times(found) is not None) == told
