"""Number for number what tt-perf-report 1.4.1 printed on four real reports, computed from our op table."""

import csv
from functools import cache

import pytest

from tests.oracles.tt_perf_report import Line, stacked, table_of
from tests.shared_reports import CLIP, DEEPLAB, DEEPSEEK, OFT, shared
from ttnn_mcp.readers.perf_csv import read_performance_csv
from ttnn_mcp.run.performance import Performance

REPORTS = (CLIP, DEEPLAB, OFT, DEEPSEEK)
TABLES = {  # its output file -> how it was asked
    "no_merge_devices": {"signposts": False, "merge": False},
    "ignore_signposts_raw": {"signposts": False, "merge": True},
    "default": {"signposts": True, "merge": True},
}
FIGURES = {
    "Device Time": "time",
    "Op-to-Op Gap": "gap",
    "Cores": "cores",
    "DRAM": "dram",
    "DRAM %": "dram_percent",
    "FLOPs": "flops",
    "FLOPs %": "flops_percent",
    "Total %": "share",
    "Device": "device",
}


@cache
def report_of(name: str) -> Performance:
    return Performance(read_performance_csv(shared(name)))


def golden(name: str, table: str) -> list[dict[str, str]]:
    stem = name.rpartition("/")[2].removesuffix(".csv")
    path = shared(f"golden/tt-perf-report-1.4.1/{stem}/{table}.csv")
    with path.open(encoding="utf-8", newline="") as lines:
        return list(csv.DictReader(lines))


def same(mine: float | None, printed: str) -> bool:
    if mine is None or printed in ("", "nan"):
        return mine is None and printed in ("", "nan")
    return mine == pytest.approx(float(printed), rel=1e-12, abs=0)


def ours(name: str, table: str) -> list[Line]:
    return table_of(report_of(name), **TABLES[table])


@pytest.mark.parametrize("table", TABLES)
@pytest.mark.parametrize("name", REPORTS, ids=lambda name: name.rpartition("/")[2])
def test_times_gaps_and_modelled_rates_are_those_tt_perf_report_prints(name, table):
    theirs = {int(row["ID"]): row for row in golden(name, table)}
    lines = {line.id: line for line in ours(name, table)}
    assert sorted(lines) == sorted(theirs)
    for column, field in FIGURES.items():
        different = {
            key: (row[column], getattr(lines[key], field))
            for key, row in theirs.items()
            if not same(getattr(lines[key], field), row[column])
        }
        assert not different, column
    assert {key: line.bound for key, line in lines.items()} == {key: row["Bound"] for key, row in theirs.items()}


@pytest.mark.parametrize("name", REPORTS, ids=lambda name: name.rpartition("/")[2])
def test_op_counts_and_device_time_per_op_are_those_of_its_stacked_report(name):
    mine = stacked(ours(name, "ignore_signposts_raw"))
    theirs = {row["Op Code"]: row for row in golden(name, "ignore_signposts_stacked")}
    assert sorted(mine) == sorted(theirs)
    for op, (share, time, count) in mine.items():
        assert (f"{share:.2f}", f"{time:.2f}", str(count)) == (
            theirs[op]["Total % [%]"],
            theirs[op]["Device Time Sum [μs]"],
            theirs[op]["Op Count"],
        )
