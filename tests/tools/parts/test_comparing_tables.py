"""The tables of a comparison: which rows matter, and that the others are counted."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np

from tests.for_all import for_all
from ttnn_mcp.analyses.comparison.comparison import Change, Delta
from ttnn_mcp.analyses.memory.memory_comparison import Figure, MemoryDelta
from ttnn_mcp.tools.parts.comparing import changed, exact_us, groups, memory, rewritten


@for_all(
    ("count", "keys"),
    [
        (3, ["op 0", "op 1", "op 2"]),
        (4, ["op 0", "op 1", "op 2", "op 3"]),  # one other is no longer than "(1 others)"
        (6, ["op 0", "op 1", "op 2", "(3 others)"]),
    ],
)
def test_the_largest_changes_and_all_others_add_up(count, keys):
    deltas = [Delta(f"op {place}", 1_000 * place, 1_500, place, 2) for place in range(count)]
    rows = groups(deltas, 3).rows
    assert [row[0] for row in rows] == keys
    for column, total in ((1, sum(range(count))), (2, 1.5 * count), (4, sum(range(count))), (5, 2 * count)):
        assert sum(row[column] for row in rows) == total


def test_whole_microseconds_are_written_without_a_point():
    assert [repr(exact_us(ns)) for ns in (2_000, -3_000, 1_500, 1)] == ["2", "-3", "1.5", "0.001"]


def test_nothing_rewritten_and_no_memory_compared_are_no_empty_tables():
    assert rewritten([], 3, []) is None
    assert memory(None) is None
    assert memory(MemoryDelta((), ("the baseline has no memory report",))) is None
    assert memory(MemoryDelta((Figure("l1_peak", 5, 3),), ())).rows == (("l1_peak", 5, 3, -2),)


def comparing(changes, before, after, **more):
    """Pairs in their order, with these times, in windows of a millisecond and with a noise of 2 %."""
    places = np.arange(len(before))
    told = {
        "little_in_common": False,
        "alignment": SimpleNamespace(before=places, after=places),
        "ops": (None, SimpleNamespace(lines=places + 2)),
        "times": (np.array(before), np.array(after)),
        "noise": SimpleNamespace(share=0.02),
        "total": SimpleNamespace(before_ns=1_000_000),
        "changes": [Change(op, what, frozenset(), np.array(pairs)) for op, what, pairs in changes],
    }
    return SimpleNamespace(**{**told, **more})


@for_all(("after_ns", "is_told"), [(11_219, False), (11_230, True), (10_000, False), (8_700, True)])
def test_an_op_of_which_only_the_time_changed_is_told_beyond_noise_and_a_thousandth_of_the_window(
    after_ns, is_told
):
    """From 10,000 ns: 2 % of 11,220 and 1,000 are 1,224."""
    table = changed(comparing([("Matmul", "", [0])], [10_000], [after_ns]), 5)
    assert (table is not None) == is_told


def test_a_changed_record_is_told_whatever_the_time_and_alike_ones_together():
    pairs = [("Matmul", "fidelity", [0, 2]), ("Matmul", "fidelity", [3]), ("Unary", "", [1]), ("Add", "dtype", [4])]
    table = changed(comparing(pairs, [10_000] * 5, [10_000, 20_000, 9_000, 10_000, 10_000]), 5)
    assert table.rows == (
        ("Unary", "only its time", 1, 10, 20, 3),
        ("Matmul", "fidelity", 3, 30, 29, 2),
        ("Add", "dtype", 1, 10, 10, 6),
    )
    assert [row[0] for row in changed(comparing(pairs, [10_000] * 5, [10_000] * 5), 1).rows] == ["Matmul"]


def test_windows_with_little_in_common_have_no_ops_that_kept_their_place():
    assert changed(comparing([("Matmul", "dtype", [0])], [10_000], [5_000], little_in_common=True), 5) is None
    assert changed(comparing([], [], []), 5) is None
