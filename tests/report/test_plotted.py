"""When each op ran: one after the other on each device, with the gaps of a warm window."""

from ttnn_mcp.report.plotted import slots_of

COLUMNS = ("gap_us", "device", "kernel_us")
ROWS = [(5.0, 0, 2.0), (7.0, 1, 1.0), (3.0, 0, 4.0), (-1.0, 0, 1.0), (None, 1, None)]


def times(**how):
    return [
        (slot.row, slot.device, slot.start_ns, slot.end_ns, slot.gap_ns) for slot in slots_of(COLUMNS, ROWS, **how)
    ]


def test_each_device_runs_its_ops_in_turn_and_a_gap_before_the_first_is_none():
    assert times() == [
        (0, 0, 0, 2_000, 0),
        (1, 1, 0, 1_000, 0),
        (2, 0, 5_000, 9_000, 3_000),
        (3, 0, 8_000, 9_000, 0),  # it began before the last one ended
        (4, 1, 1_000, 1_000, 0),
    ]


def test_a_window_that_is_not_warm_has_no_gaps():
    assert times(warm=False) == [
        (0, 0, 0, 2_000, 0),
        (1, 1, 0, 1_000, 0),
        (2, 0, 2_000, 6_000, 0),
        (3, 0, 6_000, 7_000, 0),
        (4, 1, 1_000, 1_000, 0),
    ]
