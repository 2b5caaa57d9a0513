"""The rows of a report by kind: which are a device's, which have a time, and what holds for all of them."""

from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

from tests.for_all import for_all
from tests.run.ops.test_op_table import column
from ttnn_mcp.readers.performance.frame import Frame
from ttnn_mcp.run.performance import Performance

DEVICE, HOST, MARK = "tt_dnn_device", "python_fallback", "signpost"
NONE = np.nan


def report(types, codes=None, **numbers):
    """A report of a few rows on device 0, each of 100 ns at 1 GHz unless `numbers` says other things."""
    rows = len(types)
    measured = {"device": 0.0, "kernel_ns": 90.0, "gap_ns": 10.0, "fw_ns": 100.0}
    ends = 1_000 + 110.0 * np.arange(rows)
    columns = {name: np.full(rows, value) for name, value in measured.items()}
    columns |= {"fw_start_cycle": ends - 100, "fw_end_cycle": ends, "trace_id": np.full(rows, NONE)}
    texts = {name: numbers.pop(name) for name in ("sub_device", "arch", "const_eval") if name in numbers}
    columns |= {**texts, **{name: np.array(values, dtype=float) for name, values in numbers.items()}}
    columns |= {"op_type": column(*types), "op_code": column(*(codes or ["A"] * rows))}
    frame = Frame(rows, columns)
    return Performance(
        SimpleNamespace(frame=frame, path=Path("x.csv"), headers=dict.fromkeys(columns, "x"), logical_shapes=True)
    )


def lines(ops):
    return ops.lines.tolist()


def test_rows_are_a_devices_a_mark_or_a_named_call_of_the_host():
    here = report([DEVICE, HOST, MARK, HOST], ["A", "b", "c", ""])
    assert (lines(here.ops), lines(here.signposts), lines(here.host_rows)) == ([2], [4], [3])


def test_a_host_row_with_figures_of_a_device_is_none_of_its_ops():
    """Nor does a wrapped or a blank time make it one."""
    times = {"kernel_ns": [90, 7e9, NONE, 5_000], "gap_ns": [10, -7e9, NONE, 10], "trace_id": [1, 1, 1, 1]}
    here = report([DEVICE, HOST, HOST, HOST], **times)
    assert (lines(here.ops), lines(here.untimed)) == ([2], [])
    assert (here.impossible, here.outlasting, here.unplaced) == (0, 0, 0)


def test_call_counts_name_their_device_where_every_row_says_so():
    assert report([DEVICE] * 2, call_count=[1 << 10, 2 << 10]).encodes_device is True
    assert report([DEVICE] * 2, call_count=[5, 6]).encodes_device is False


def test_an_op_without_a_device_is_counted_and_left_out():
    here = report([DEVICE, DEVICE, HOST], device=[0, NONE, NONE], kernel_ns=[90, 5_000, NONE])
    assert (lines(here.ops), here.unplaced, here.outlasting, lines(here.untimed)) == ([2], 1, 0, [])


@for_all(
    ("columns", "impossible"),
    [
        ({"trace_id": [1, 1, 1]}, 1),
        ({"trace_id": [1, NONE, 1]}, 0),  # dropped or captured: no replay
        ({"trace_id": [1, 1, 1], "fw_end_cycle": [1_000, NONE, 1_220]}, 0),
        ({"kernel_ns": [90, 90, 90], "trace_id": [1, 1, 1]}, 0),
    ],
)
def test_a_replayed_op_that_ended_without_a_time_had_an_impossible_one(columns, impossible):
    here = report([DEVICE] * 3, **{"kernel_ns": [90, NONE, 90], **columns})
    assert (here.impossible, here.impossible_left_out) == (impossible, 0)


def test_what_ran_without_a_time_is_no_op_of_a_compiler_that_runs_once():
    types, once = [DEVICE] * 4, column("true", "false", "true", "false")
    here = report(types, kernel_ns=[NONE, NONE, 90, 90], const_eval=once)
    assert (lines(here.steady), sorted(lines(here.ran))) == ([5], [3, 5])


def test_an_impossible_time_is_no_timestamp_and_told_from_the_end_before():
    here = report([DEVICE] * 3, kernel_ns=[90, 7e9, 90], gap_ns=[10, -7e9, 10])
    assert (here.impossible, here.outlasting, here.impossible_left_out) == (1, 0, 0)
    assert here.ops.numbers("kernel_ns").tolist() == [90, 100, 90]
    assert here.told_otherwise.tolist() == [3]
    assert [here.ops.cite(row, "kernel_ns").column[:6] for row in range(3)] == ["x", "DEVICE", "x"]


def test_without_a_clock_an_impossible_time_is_left_out():
    here = report([DEVICE] * 3, kernel_ns=[90, 7e9, 90], gap_ns=[10, -7e9, 10], fw_ns=[NONE] * 3)
    assert (here.clock_ghz, lines(here.ops), lines(here.untimed)) == (None, [2, 4], [3])
    assert (here.impossible, here.impossible_left_out) == (1, 1)


def test_a_timestamp_takes_its_firmwares_time():
    here = report([DEVICE] * 3, kernel_ns=[90, 1_200, 90])
    assert (here.outlasting, here.impossible, here.impossible_left_out) == (1, 0, 0)
    assert here.ops.numbers("kernel_ns").tolist() == [90, 100, 90]
    assert [here.ops.cite(row, "kernel_ns").column[:6] for row in range(3)] == ["x", "DEVICE", "x"]


def test_what_was_computed_before_is_taken_for_the_same_rows_only():
    types = [DEVICE, HOST, MARK, DEVICE, DEVICE, DEVICE]
    times = {"kernel_ns": [90, NONE, NONE, 7e9, 5_000, 90], "gap_ns": [10, NONE, NONE, -7e9, 10, 10]}
    first, again = report(types, **times), report(types, **times)
    figures, bits = first.figures()
    with pytest.raises(ValueError, match="these rows"):
        again.know(figures, bits[:1])
    again.know(figures, bits)
    for name in ("ops", "untimed", "signposts", "host_rows"):
        assert lines(getattr(again, name)) == lines(getattr(first, name))
    assert (again.figures()[0], again.figures()[1].tolist()) == (figures, bits.tolist())


@for_all(("ghz", "arch"), [(1.0, "wormhole_b0"), (1.029, "wormhole_b0"), (1.031, None), (1.35, "blackhole")])
def test_the_clock_names_the_architecture(ghz, arch):
    here = report([DEVICE], fw_start_cycle=[0], fw_end_cycle=[1_000_000], fw_ns=[1_000_000 / ghz])
    assert (here.arch_inferred, here.arch) == (arch, arch)


@for_all(
    ("sub_devices", "cores", "each", "all_cores"),
    [
        (["0", "1", "0"], [8, 56, 8], {"0": 8, "1": 56}, 64),
        (["0", "1", "0"], [8, NONE, 6], {"0": 8}, 8),  # the largest that is said
        (["0", "1", ""], [8, 56, NONE], {"0": 8, "1": 56}, 64),
        (["0", "1", ""], [8, 56, 64], {}, 64),  # that of the whole grid
        (["", "", ""], [56, NONE, 64], {}, 64),
        (["", "", ""], [NONE] * 3, {}, None),
    ],
)
def test_the_cores_of_sub_devices_add_up_unless_the_grid_is_said(sub_devices, cores, each, all_cores):
    here = report([DEVICE] * 3, worker_cores=cores, sub_device=column(*sub_devices))
    assert (here.sub_device_cores, here.worker_cores_stated) == (each, all_cores)


def test_the_most_cores_used_are_known_from_any_row():
    assert report([DEVICE] * 2, cores=[8, NONE]).most_cores_used == 8
    assert report([DEVICE] * 2, cores=[NONE, NONE]).most_cores_used is None
