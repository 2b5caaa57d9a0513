"""Number for number what tt-perf-report 1.4.1 printed on four real reports, computed from our op table."""

import csv
from collections import defaultdict
from functools import cache
from math import fsum
from pathlib import Path

import numpy as np
import pytest

from tests.for_all import for_all
from tests.shared_reports import CLIP, DEEPLAB, DEEPSEEK, OFT, shared
from ttnn_mcp.analyses.roofline.roofline import roofline_of
from ttnn_mcp.readers.performance.csv_file import read_performance_csv
from ttnn_mcp.run.chip import chip_of
from ttnn_mcp.run.performance import Performance
from ttnn_mcp.shell.perf_report.command import perf_report_csv
from ttnn_mcp.shell.perf_report.lines import PerfLine, table_of

AGREEMENT = Path(__file__).parents[2] / "resources" / "agreement.md"
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


def golden_text(name: str, table: str) -> str:
    stem = name.rpartition("/")[2].removesuffix(".csv")
    return shared(f"golden/tt-perf-report-1.4.1/{stem}/{table}.csv").read_text(encoding="utf-8")


def golden(name: str, table: str) -> list[dict[str, str]]:
    return list(csv.DictReader(golden_text(name, table).splitlines()))


def header(name: str, table: str) -> list[str]:
    return golden_text(name, table).partition("\n")[0].strip().split(",")


def same(mine: float | None, printed: str) -> bool:
    if mine is None or printed in ("", "nan"):
        return mine is None and printed in ("", "nan")
    return mine == pytest.approx(float(printed), rel=1e-12, abs=0)


def ours(name: str, table: str) -> list[PerfLine]:
    return table_of(report_of(name), **TABLES[table])


def stacked(lines: list[PerfLine]) -> dict[str, tuple[float, float, int]]:
    """The stacked table of tt-perf-report: by op and memory of input 0, percent of device time, device time in us, ops."""
    groups: dict[str, list[PerfLine]] = defaultdict(list)
    for line in lines:
        if not line.is_signpost:
            where = "_".join(line.memory.split("_")[-2:]).lower()
            groups[f"{line.name.split()[0]} (in0:{where})" if where else line.name.split()[0]].append(line)
    total = sum(line.time or 0 for line in lines)
    times = {name: fsum(line.time or 0 for line in group) for name, group in groups.items()}
    return {name: (100 * times[name] / total, times[name], len(groups[name])) for name in groups}


@for_all("table", TABLES, sampled=5)
@for_all("name", REPORTS, ids=lambda name: name.rpartition("/")[2])
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


@for_all("name", REPORTS, ids=lambda name: name.rpartition("/")[2])
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


@pytest.mark.parametrize(("table", "signposts"), [("default", True), ("ignore_signposts", False)])
@pytest.mark.parametrize("name", REPORTS, ids=lambda name: name.rpartition("/")[2])
def test_the_csv_has_its_columns_and_its_cells_but_for_advice(name, table, signposts):
    theirs = golden(name, table)
    text = perf_report_csv(report_of(name), {}, signposts=signposts)
    mine = csv.DictReader(text.splitlines())
    assert mine.fieldnames == header(name, table)
    for row, their in zip(mine, theirs, strict=True):
        assert their["OP Code"] == row["OP Code"]
        if "(signpost)" in their["OP Code"]:
            continue
        for column in set(row) - {"OP Code", "Advice"}:
            if column in FIGURES or column == "Global Call Count":
                assert same(float(row[column]) if row[column] else None, their[column]), column
            else:
                assert row[column] == their[column], column


# What `resources/agreement.md` quotes: report, line, its column, and the same of ours.
QUOTED = (
    (CLIP, 8, "FLOPs", lambda roof, row, ns: roof.flops[row] / ns / 1e3, "1.72", "1.02"),
    (DEEPLAB, 388, "DRAM", lambda roof, row, ns: roof.dram_bytes[row] / ns, "98.7", "104.9"),
    (CLIP, 28, "DRAM", lambda roof, row, ns: roof.dram_bytes[row] / ns, "72.6", "74.3"),
    (CLIP, 7, "DRAM", lambda roof, row, ns: roof.dram_bytes[row] / ns, "", "6.1"),
    (DEEPSEEK, 180, "FLOPs", lambda roof, row, ns: roof.flops[row] / ns / 1e3, "", "33.4"),
    (DEEPLAB, 205, "FLOPs", lambda roof, row, ns: roof.padded_flops[row] / ns / 1e3, "102.0", "113.3"),
    (DEEPLAB, 205, "FLOPs", lambda roof, row, ns: roof.flops[row] / ns / 1e3, "102.0", "98.9"),
    (DEEPLAB, 4, "FLOPs", lambda roof, row, ns: roof.padded_flops[row] / ns / 1e3, "29.6", "39.5"),
    (DEEPLAB, 4, "FLOPs", lambda roof, row, ns: roof.flops[row] / ns / 1e3, "29.6", "11.1"),
    (OFT, 255, "FLOPs %", lambda roof, row, ns: 100 * roof.compute_ns[row] / ns, "80.0", "59.5"),
    (OFT, 255, "DRAM %", lambda roof, row, ns: 100 * roof.dram_ns[row] / ns, "51.4", "28.9"),
    (DEEPSEEK, 2, "FLOPs %", lambda roof, row, ns: 100 * roof.compute_ns[row] / ns, "67.9", "61.7"),
    (CLIP, 22, "FLOPs %", lambda roof, row, ns: 100 * roof.compute_ns[row] / ns, "2.33", "0.07"),
    (CLIP, 8, "FLOPs %", lambda roof, row, ns: 100 * roof.compute_ns[row] / ns, "2.618", "2.628"),
    (DEEPLAB, 388, "Bound", lambda roof, row, ns: roof.efficiency[row], "SLOW", "0.20"),
)


@for_all("quote", QUOTED, ids=lambda quote: f"{quote[0].rpartition('/')[2]}:{quote[1]} {quote[2]}")
def test_the_page_on_agreement_quotes_both_tools_as_they_are(quote):
    name, line, column, of, theirs, mine = quote
    report = report_of(name)
    row = report.ops.at_line(line)
    roof = roofline_of(report.ops, chip_of(report, None))
    printed = next(cells[column] for cells in golden(name, "no_merge_devices") if cells["ID"] == str(line))
    assert _as_quoted(printed, theirs) == theirs
    assert _as_quoted(of(roof, row, report.ops.numbers("kernel_ns")[row]), mine) == mine
    quoted = [text for text in AGREEMENT.read_text(encoding="utf-8").splitlines() if f"line {line}," in text]
    assert any((theirs or "blank") in text and mine in text for text in quoted)


def test_the_page_on_agreement_quotes_both_totals_as_they_are():
    page = AGREEMENT.read_text(encoding="utf-8")
    merged = sum(float(row["Device Time"] or 0) for row in golden(DEEPSEEK, "default"))
    ops = report_of(DEEPSEEK).ops
    slowest = np.bincount(ops.numbers("device").astype(int), weights=ops.numbers("kernel_ns")).max() / 1e3
    assert f"| {merged:.0f} us | {slowest:.0f} us |" in page
    first = next(float(row["Total %"]) for row in golden(CLIP, "default") if row["ID"] == "3")
    kernel = report_of(CLIP).ops.numbers("kernel_ns")
    share = 100 * kernel[report_of(CLIP).ops.at_line(3)] / kernel.sum()
    assert f"| {first:.2f} % | {share:.2f} % |" in page


def _as_quoted(value: str | float, like: str) -> str:
    """The number with as many decimals as the quote; words as they are."""
    try:
        return f"{float(value):.{len(like.partition('.')[2])}f}"
    except ValueError:
        return str(value)
