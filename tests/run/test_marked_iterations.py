"""Iterations of a few ops and signposts: what marks them, and what only looks like it."""

import numpy as np

from tests.for_all import for_all
from tests.run.ops.test_op_table import column, table
from ttnn_mcp.run.iterations import device_order, iterations_of


def told(text, **columns):
    """(what found them, number of each op); capitals are ops, other words signposts."""
    words = text.split()
    is_op = np.array([word.isupper() for word in words])
    numbers = {"device": [0] * is_op.sum(), **columns}
    filled = {name: np.full(len(words), np.nan) for name in numbers}
    for name, values in numbers.items():
        filled[name][is_op] = values
    rows = table(op_code=column(*words), **filled)
    iterations = iterations_of(rows.take(is_op), rows.take(~is_op))
    return iterations.found_by, "".join(map(str, iterations.number.tolist()))


@for_all(
    ("text", "number"),
    [
        ("go A B go A B", "1122"),
        ("C D E F go A B go A B", "00001122"),  # half of the ops are enough
        ("go A B end C go A B end C", "110220"),
        ("go A B one C go A B two C", "111222"),  # no end that follows every start
        ("go in A x A B go y in A x A B", "111222"),  # `in` marks less of it
        ("go A B A B go A B A B", "11112222"),
        ("in wide A B in A B wide C in A B wide C", "11222333"),  # `wide` says nothing of an end
        ("stem A B head C stem A B head C", "111222"),  # two stages of one iteration
        ("stem_start A B stem_end head_start C head_end stem_start A B stem_end head_start C head_end", "111222"),
        ("go A B end go A B", "1122"),
        ("go A B end C go A B stop C", "110220"),
        ("go A B end C go A B then C", "111222"),
        ("go A B end x C go A B end y D", "110220"),  # nothing repeats from start to start
    ],
)
def test_signposts_mark_iterations(text, number):
    assert told(text) == ("signposts", number)


@for_all(
    "text",
    [
        "C D E F G go A B go A B",  # less than half of the ops
        "go A B go A C",
        "go A B C D go go",  # the last two hold the same: nothing
        "go A B C D",
    ],
)
def test_what_encloses_other_ops_or_few_marks_none(text):
    assert told(text)[0] == ""


def test_the_same_ops_on_another_device_are_no_repeat():
    assert told("go A go A", device=[0, 1])[0] == ""
    assert told("go A A go A A", device=[0, 1, 0, 1]) == ("signposts", "1122")


@for_all(("others", "tried"), [(99, True), (100, False)])
def test_of_many_signposts_the_hundred_most_frequent_are_tried(others, tried):
    """All but the rarest enclose nothing."""
    frequent = " ".join(f"s{number}" for number in range(others))
    assert told(f"{frequent} {frequent} {frequent} go A go A") == ("signposts" if tried else "repeating ops", "12")


def order(**columns):
    filled = {name: np.array(values, dtype=float) for name, values in columns.items()}
    return device_order(table(**filled)).tolist()


def test_the_clock_of_each_device_orders_its_ops():
    assert order(device=[1, 0, 0], fw_end_cycle=[20, 20, 10]) == [2, 1, 0]
    assert order(device=[0, 0, 1, 1], fw_end_cycle=[20, 10, 30, 20]) == [1, 0, 3, 2]


@for_all("cycles", [[30, 10, 10], [30, 20, np.nan], [np.nan] * 3])
def test_a_clock_that_repeats_or_is_missing_orders_nothing(cycles):
    assert order(device=[0, 0, 0], fw_end_cycle=cycles) == [0, 1, 2]


def replayed(*pairs, device=None):
    """Number of each op by (trace, session); None stands for a blank cell."""
    traces, sessions = np.array(pairs, dtype=float).T
    kinds = " ".join("ABCDEFGHIJ"[: len(pairs)])
    return told(kinds, trace_id=traces, trace_session=sessions, device=device or [0] * len(pairs))


@for_all(
    ("pairs", "number"),
    [
        ([(1, 1), (1, 1), (1, 2), (1, 2)], "1122"),
        ([(1, None), (None, 1), (1, 1), (1, 2)], "0012"),  # neither alone is a replay
        ([(1, 1), (None, None), (1, 1), (1, 2)], "1112"),
        ([(1, 1), ((1 << 22) + 1, 1)], "12"),  # ids of any 32 bits stay apart
        ([(2, 1), (1, (1 << 22) + 1)], "12"),
    ],
)
def test_replays_are_told_by_trace_and_session(pairs, number):
    assert replayed(*pairs) == ("trace replays", number)


def test_ops_at_the_ends_of_a_device_are_within_no_replay():
    pairs = [(1, 1), (None, None), (None, None), (1, 1)]
    assert replayed(*pairs, device=[0, 0, 1, 1])[1] == "1001"


def ids(launches, devices):
    return [(launch << 10) | device for launch, device in zip(launches, devices, strict=True)]


@for_all("lost", [(), (4,), (0, 4)])
def test_a_device_that_lost_rows_takes_the_numbers_of_the_others(lost):
    """Three devices, one op of set-up, three passes of two ops, one op after them."""
    launches, kinds = [10, 11, 12, 13, 14, 15, 16, 17], "SABABABZ"
    runs = [(place, device) for device in (0, 1, 2) for place in range(8) if device != 2 or place not in lost]
    devices = [device for _, device in runs]
    found_by, number = told(
        " ".join(kinds[place] for place, _ in runs),
        device=devices,
        call_count=ids([launches[place] for place, _ in runs], devices),
    )
    assert found_by == "repeating ops"
    assert number == "".join("01122330"[place] for place, _ in runs)


def test_what_is_left_of_a_device_may_repeat_more_often_than_the_others():
    """It lost all ops but one kind, so that its own blocks are half as long."""
    runs = [(place, device) for device in (0, 1, 2) for place in range(12) if device != 2 or place % 2 == 0]
    devices = [device for _, device in runs]
    found_by, number = told(
        " ".join("ABAC"[place % 4] for place, _ in runs),
        device=devices,
        call_count=ids([place + 1 for place, _ in runs], devices),
    )
    assert (found_by, number) == ("repeating ops", "111122223333" * 2 + "112233")


@for_all(
    ("kinds", "counted"),
    [
        (("ABAB", "ABAB", "ABA"), False),  # no call counts
        (("ABAB", "ABA"), True),  # one of two
        (("ABAB", "ABABAB"), True),
        (("ABC", "ABC", "ABAB"), True),  # most have no repeats
    ],
)
def test_devices_that_do_not_agree_have_no_iterations(kinds, counted):
    devices = [device for device, codes in enumerate(kinds) for _ in codes]
    launches = [launch for codes in kinds for launch in range(1, 1 + len(codes))]
    columns = {"call_count": ids(launches, devices)} if counted else {}
    assert told(" ".join("".join(kinds)), device=devices, **columns)[0] == ""


def test_one_device_needs_no_call_counts():
    assert told("A B A B") == ("repeating ops", "1122")
