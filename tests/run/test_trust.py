"""A report says itself how far it can be trusted."""

from types import SimpleNamespace

import numpy as np

from tests.for_all import for_all
from tests.profiles import (
    CsvStyle,
    Iteration,
    header_of,
    keep_per_device,
    performance_rows,
    write_performance_report,
    write_rows,
)
from tests.profiles.program import Program
from tests.programs import block
from ttnn_mcp.readers.performance.csv_file import read_performance_csv
from ttnn_mcp.run import trust
from ttnn_mcp.run.chip import chip_of
from ttnn_mcp.run.performance import Performance
from ttnn_mcp.run.trust import caveats_of, dropped_rows


def caveats(path) -> str:
    return " | ".join(caveats_of(Performance(read_performance_csv(path))))


def test_a_clean_report_has_no_caveats(tmp_path):
    assert caveats(write_performance_report(tmp_path, block())) == "PM columns hold no model for any op (all 1)"


def test_a_full_profiler_buffer_is_recognised_by_its_round_count(tmp_path):
    rows = performance_rows(block(layers=3), [Iteration(cold=True)] + [Iteration()] * 200)
    kept = keep_per_device(rows, 1000)
    assert "exactly 1000 ops" in caveats(write_rows(tmp_path / "full.csv", kept, header_of(kept, "C7")))
    more = keep_per_device(rows, 1001)
    assert "exactly" not in caveats(write_rows(tmp_path / "fine.csv", more, header_of(more, "C7")))


def test_devices_with_different_counts_are_told(tmp_path):
    rows = performance_rows(block(devices=2))
    assert "devices hold" in caveats(write_rows(tmp_path / "x.csv", rows[:-1], header_of(rows, "C7")))


def test_missing_call_counts_are_told(tmp_path):
    rows = performance_rows(block())
    del rows[3]
    assert "1 call counts are missing" in caveats(write_rows(tmp_path / "x.csv", rows, header_of(rows, "C7")))


def test_model_columns_above_one_hundred_percent_are_not_trusted(tmp_path):
    program = Program("blackhole")
    x = program.tensor([1, 1, 64, 64])
    program.op("MatmulDeviceOperation", [x, x], kernel_ns=1_000, pm_ns=(1_500, 1_500, 10))
    assert "PM columns not to be trusted" in caveats(write_performance_report(tmp_path, program))


def test_host_rows_are_plumbing_not_fallbacks(tmp_path):
    path = write_performance_report(
        tmp_path, block(), [Iteration(host_rows=("(torch) contiguous", "(torch) numel"))], style=CsvStyle()
    )
    assert "2 host rows, all to/from-torch plumbing" in caveats(path)


def test_host_rows_that_compute_may_be_fallbacks(tmp_path):
    rows = ("(torch) numel", "(torch) softmax", "tt_dnn_cpu_op")
    said = caveats(write_performance_report(tmp_path, block(), [Iteration(host_rows=rows)]))
    assert "3 host rows, 1 of them to/from-torch plumbing" in said
    assert "(torch) softmax" in said
    assert "no fallbacks" not in said


def sub_devices(folder, whole: str) -> Performance:
    rows = performance_rows(block(layers=3))
    for number, row in enumerate(rows):
        row["SUB DEVICE ID"], row["AVAILABLE WORKER CORE COUNT"] = (str(number % 2), ("48", "12")[number % 2])
    rows[0]["SUB DEVICE ID"], rows[0]["AVAILABLE WORKER CORE COUNT"] = whole, "64" if not whole else "48"
    return Performance(read_performance_csv(write_rows(folder / "x.csv", rows, header_of(rows, "C7"))))


def test_sub_devices_together_are_the_grid_unless_a_row_says_it(tmp_path):
    parts = chip_of(sub_devices(tmp_path / "parts", "0"), None)
    assert parts.worker_cores == 60
    assert any("48 + 12" in caveat for caveat in parts.caveats)
    assert chip_of(sub_devices(tmp_path / "whole", ""), None).worker_cores == 64


def test_replays_whose_trace_id_was_lost_are_suspected(tmp_path):
    passes = [Iteration(cold=True), Iteration(capture=True), Iteration(trace=(1, 1)), Iteration(trace=(1, 2))]
    rows = performance_rows(block(), passes)
    assert "call count" not in caveats(write_rows(tmp_path / "said.csv", rows, header_of(rows, "C7")))
    blank = {"METAL TRACE ID": "", "METAL TRACE REPLAY SESSION ID": ""}
    said = caveats(write_rows(tmp_path / "lost.csv", [{**row, **blank} for row in rows], header_of(rows, "C7")))
    assert f"{len(block().device_ops)} ops repeat the call count of an earlier one" in said


def report(devices=(0,), **told):
    """What the caveats ask of a report, given by hand."""
    columns = {
        "device": np.array(devices, dtype=float),
        "call_count": np.array(told.pop("counts", ()), dtype=float),
        "kernel_ns": np.array(told.pop("times", (1.0,))),
        "pm_fpu_util_pct": np.array(told.pop("used", (np.nan,))),
        "pm_ideal_ns": np.array(told.pop("ideal", (np.nan,))),
    }
    usual = {
        "ops": SimpleNamespace(numbers=columns.get),
        "devices": sorted({*devices}),
        "runtime_ids": None,
        "untimed": (),
        "impossible": 0,
        "impossible_left_out": 0,
        "outlasting": 0,
        "traced": False,
        "iterations": SimpleNamespace(count=0, short=()),
    }
    return SimpleNamespace(**{**usual, **told})


@for_all(
    ("devices", "said"),
    [
        ([0] * 1000, "every device has exactly 1000 ops"),
        ([0] * 2000 + [1] * 2000, "every device has exactly 2000 ops"),
        ([0] * 700, None),
        ([0] * 1300, None),
        ([0] * 1000 + [1] * 999, "devices hold 999 to 1000 ops (fewest on device 1)"),
        ([0] * 3 + [1] * 3, None),
        ([], None),
    ],
)
def test_counts_of_devices_tell_what_was_dropped(devices, said):
    told = dropped_rows(report(devices))
    assert [caveat.startswith(said) for caveat in told] == [True] if said else told == []


def test_ops_without_a_time_are_counted_once():
    assert dropped_rows(report(untimed=(1, 2), impossible_left_out=2)) == []
    [told] = dropped_rows(report(untimed=(1, 2, 3), impossible_left_out=2))
    assert told.startswith("1 device ops have no kernel time")


def test_ops_that_a_trace_recorded_were_not_dropped_and_are_told(tmp_path):
    recorded = counted([1, 2, 5], untimed=(1, 2, 3), traced=True)
    assert dropped_rows(recorded) == []
    passes = [Iteration(cold=True), Iteration(capture=True), Iteration(trace=(1, 1)), Iteration(trace=(1, 2))]
    said = caveats(write_performance_report(tmp_path, block(), passes))
    assert f"{len(block().device_ops)} device ops have no kernel time (captured or dropped)" in said


def counted(ids, counts=None, **told):
    return report([0] * len(ids), runtime_ids=np.array(ids), counts=ids if counts is None else counts, **told)


@for_all(
    ("ids", "told", "missing"),
    [([1, 2, 5], {}, 2), ([1, 2, 3], {}, 0), ([5, 5, 8], {}, 0), ([1, 2, 5], {"traced": True}, 0), ([7], {}, 0)],
)
def test_missing_call_counts_are_those_between_first_and_last(ids, told, missing):
    said = dropped_rows(counted(ids, **told))
    assert [caveat.startswith(f"{missing} call counts are missing") for caveat in said] == [True] * bool(missing)


def test_repeated_call_counts_are_told_where_no_trace_explains_them():
    [told] = trust._repeated_counts(counted([5, 5, 5, 8]))
    assert told.startswith("2 ops repeat the call count of an earlier one")
    assert trust._repeated_counts(counted([5, 5, 8], traced=True)) == []
    assert trust._repeated_counts(counted([5, 6])) == []
    assert trust._repeated_counts(report()) == []


def test_impossible_times_are_told_with_those_left_out():
    [told] = trust._left_out(report(impossible=3))
    assert told.startswith("3 device ops have impossible durations")
    assert told.endswith("to within a gap")
    [told] = trust._left_out(report(impossible=3, impossible_left_out=2))
    assert told.endswith("; 2 of them left out, sums are too low")
    assert trust._left_out(report()) == []


@for_all(("after", "told"), [(8, 0), (9, 1)])
def test_more_than_four_ops_of_each_device_after_the_last_pass_are_a_cut_one(after, told):
    number = np.array([1, 1, 2, 2, *[0] * after])
    iterations = SimpleNamespace(count=2, number=number, short=())
    steady = SimpleNamespace(lines=np.arange(len(number)))
    said = trust._left_out(report([0, 1], iterations=iterations, steady=steady))
    assert len(said) == told
    assert all(f"cut off: {after} ops after" in caveat for caveat in said)


def test_times_longer_than_the_firmware_ran_are_told():
    assert trust._timestamps(report()) == []
    [told] = trust._timestamps(report(outlasting=4))
    assert told.startswith("4 device ops say a kernel time that is longer than their firmware ran")


def test_times_of_zero_are_told():
    assert trust._lost_times(report(times=(1.0, 0.5))) == []
    [told] = trust._lost_times(report(times=(0.0, 0.0, 7.0)))
    assert told.startswith("2 of 3 device ops took 0 ns")


@for_all(
    ("used", "ideal", "said"),
    [
        ([100.0, np.nan], [5.0], None),
        ([101.0, 120.0, 3.0], [5.0], "reaches 120 % on 2 ops"),
        ([np.nan], [1.0, np.nan], "hold no model for any op"),
        ([np.nan], [1.0, 2.0], None),
        ([np.nan], [np.nan], None),
    ],
)
def test_model_columns_are_trusted_where_they_can_be_true(used, ideal, said):
    told = trust._model_columns(report(used=used, ideal=ideal))
    assert [said in caveat for caveat in told] == [True] if said else told == []


def test_three_ops_that_may_fall_back_are_named(tmp_path):
    rows = ("(torch) numel", "a", "b", "c")
    assert caveats(write_performance_report(tmp_path / "a", block(), [Iteration(host_rows=rows)])).endswith(
        ": a, b, c"
    )
    more = caveats(write_performance_report(tmp_path / "b", block(), [Iteration(host_rows=(*rows, "d"))]))
    assert more.endswith(": a, b, c, ...")


def without_device(folder, places):
    rows = performance_rows(block())
    for place in places or range(len(rows)):
        rows[place]["DEVICE ID"] = ""
    return caveats(write_rows(folder / "x.csv", rows, header_of(rows, "C7")))


def test_ops_without_a_device_are_told(tmp_path):
    for name in "abc":
        (tmp_path / name).mkdir()
    assert "1 device ops have no DEVICE ID and are left out" in without_device(tmp_path / "a", [2])
    whole = without_device(tmp_path / "b", [])
    assert whole.startswith("no row has a DEVICE ID: all ops count as one device's")
    assert "left out" not in whole
    rows = [{name: cell for name, cell in row.items() if name != "DEVICE ID"} for row in performance_rows(block())]
    lost = caveats(
        write_rows(tmp_path / "c/x.csv", rows, [name for name in header_of(rows, "C7") if name in rows[0]])
    )
    assert "no DEVICE ID" in lost
    assert "no row has" not in lost


def test_caveats_are_worked_out_once():
    assert caveats_of(SimpleNamespace(known_caveats=("known",))) == ["known"]
