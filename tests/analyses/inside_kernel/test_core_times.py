"""One op core by core: known spans, known sums."""

import pytest

from tests.for_all import for_all
from ttnn_mcp.analyses.inside_kernel.core_times import core_times_of
from ttnn_mcp.readers.performance.device_log import Mark


def marks(*zones: tuple[tuple[int, int], str, str, int, int]) -> tuple[Mark, ...]:
    return tuple(
        Mark(core, processor, zone, starts, cycle)
        for core, processor, zone, start, end in zones
        for starts, cycle in ((True, start), (False, end))
    )


def kernel(core, start, end, processor="BRISC"):
    return (core, processor, f"{processor}-KERNEL", start, end)


A, B, C = (1, 1), (1, 2), (1, 3)


def test_a_core_takes_from_its_first_start_to_its_last_end(tmp_path):
    times = core_times_of(
        marks(kernel(A, 1_000, 4_000), kernel(A, 1_200, 5_000, "NCRISC"), (A, "BRISC", "BRISC-FW", 0, 9_000)), 2.0
    )
    assert times is not None
    assert times.core_ns == {A: 2_000}  # 4,000 cycles at 2 GHz
    assert times.zones_ns == {}  # the firmware around a kernel is no zone of it
    assert times.kernel_ns == 2_000


def test_balance_is_the_mean_by_the_slowest():
    times = core_times_of(marks(kernel(A, 0, 1_000), kernel(B, 100, 600), kernel(C, 200, 500)), 1.0)
    assert times is not None
    assert times.balance == pytest.approx((1_000 + 500 + 300) / 3 / 1_000)
    assert times.slowest(2) == [(A, 1_000), (B, 500)]
    assert times.off_clock == ()


@for_all(("jump", "off", "kernel_ns"), [(100_000, (), 100_600), (100_001, (C,), 1_100)])
def test_a_core_far_from_the_others_has_another_clock(jump, off, kernel_ns):
    """B starts at 100 and ends at 1,100; C starts `jump` later and takes 500."""
    times = core_times_of(marks(kernel(A, 0, 1_000), kernel(B, 100, 1_100), kernel(C, 100 + jump, 600 + jump)), 1.0)
    assert times is not None
    assert times.off_clock == off
    assert times.kernel_ns == kernel_ns
    assert times.core_ns[C] == 500  # right on its own clock


def test_the_op_takes_no_less_than_its_slowest_core_whatever_its_clock():
    times = core_times_of(marks(kernel(A, 0, 1_000), kernel(B, 100, 1_100), kernel(C, 5, 9_000_000_000)), 1.0)
    assert times is not None
    assert times.kernel_ns == 9_000_000_000
    reset = core_times_of(
        marks(
            kernel(A, 9_000_000_000, 9_000_001_000), kernel(B, 9_000_000_100, 9_000_001_100), kernel(C, 5, 2_005)
        ),
        1.0,
    )
    assert reset is not None
    assert (reset.kernel_ns, reset.off_clock) == (2_000, (C,))


def test_zones_of_the_kernels_own_are_summed_per_core():
    times = core_times_of(
        marks(
            kernel(A, 0, 1_000),
            (A, "NCRISC", "wait-in0", 10, 110),
            (A, "NCRISC", "wait-in0", 110, 310),
            (B, "NCRISC", "wait-in0", 0, 250),
        ),
        1.0,
    )
    assert times is not None
    assert times.zones_ns == {"wait-in0": 300}


def test_no_kernel_and_two_runs_are_no_times():
    assert core_times_of((), 1.0) is None
    assert core_times_of(marks((A, "BRISC", "BRISC-FW", 0, 9)), 1.0) is None
    assert core_times_of(marks(kernel(A, 0, 10), kernel(A, 100, 110)), 1.0) is None
    assert core_times_of((Mark(A, "BRISC", "BRISC-KERNEL", starts=False, cycle=4),), 1.0) is None
