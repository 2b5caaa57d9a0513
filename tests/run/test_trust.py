"""A report says itself how far it can be trusted."""

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
from ttnn_mcp.run.chip import chip_of
from ttnn_mcp.run.performance import Performance
from ttnn_mcp.run.trust import caveats_of


def caveats(path) -> str:
    return " | ".join(caveats_of(Performance(read_performance_csv(path))))


def test_a_clean_report_has_no_caveats(tmp_path):
    assert "dropped" not in caveats(write_performance_report(tmp_path, block()))


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
