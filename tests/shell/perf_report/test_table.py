"""The CSV of tt-perf-report on the demo; on real reports: tests/oracles/test_tt_perf_report.py."""

import csv

import pytest

from tests.shell.perf_report.demo_table import demo
from ttnn_mcp.shell.perf_report.table import COLUMNS, perf_report_csv


@pytest.fixture(scope="module")
def rows():
    text = perf_report_csv(demo(), {64: "smaller, blocks"})
    return {int(row["ID"]): row for row in csv.DictReader(text.splitlines())}


def test_every_column_is_there_in_order(rows):
    assert tuple(rows[2]) == COLUMNS
    assert len(rows) == 80


@pytest.mark.parametrize(
    ("line", "column", "cell"),
    [
        (64, "OP Code", "Conv2dDeviceOperation 4096 x 1728 x 256"),
        (64, "Bound Analysis", "flops_only"),
        (64, "Math Fidelity", "HiFi4 BF16 x BF16 => BF16"),
        (64, "Advice", "smaller, blocks"),
        (65, "Advice", ""),
        (75, "OP Code", "MatmulDeviceOperation 1024 x 256 x 768"),
        (75, "Bound Analysis", "full"),
        (75, "Op Category", "Compute"),
        (75, "DRAM Sharded", "False"),
        (78, "Bound Analysis", "none"),
        (78, "OP Code", "LayerNormDeviceOperation"),
        (78, "DRAM", ""),
        (63, "Op Category", "DM"),
        (74, "Op Category", "TM"),
        (61, "Op Category", "TM"),
    ],
)
def test_a_cell_is_what_tt_perf_report_writes_there(rows, line, column, cell):
    assert rows[line][column] == cell


def test_a_text_that_is_missing_is_nan(rows):
    assert rows[74]["Input 1 Datatype"] == "nan"
