"""The CSV of tt-perf-report on the demo; on real reports: tests/oracles/test_tt_perf_report.py."""

import csv

import pytest

from tests.for_all import for_all
from tests.shell.perf_report.demo_table import demo, report_file
from ttnn_mcp.readers.performance.csv_file import read_performance_csv
from ttnn_mcp.run.performance import Performance
from ttnn_mcp.shell.perf_report.command import COLUMNS, perf_report_csv


@pytest.fixture(scope="module")
def rows():
    text = perf_report_csv(demo(), {64: "smaller, blocks"})
    return {int(row["ID"]): row for row in csv.DictReader(text.splitlines())}


def test_every_column_is_there_in_order(rows):
    assert tuple(rows[2]) == COLUMNS
    assert len(rows) == 80


@for_all(
    ("line", "column", "cell"),
    [
        (64, "OP Code", "Conv2dDeviceOperation 4096 x 1728 x 256 [ABH=2|1 SR]"),
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


SPARSE = "{'is_input_a_sparse': '%s'; 'is_input_b_sparse': '%s'; 'nnz': '%s'}"
WIDE = {
    "OP CODE": "SparseMatmulDeviceOperation",
    "INPUT_0_Z_PAD[LOGICAL]": "6[6]",
    "INPUT_1_Z_PAD[LOGICAL]": "4[4]",
}
BLANK = {"DRAM": "", "DRAM %": "", "FLOPs": "", "FLOPs %": "", "Bound": ""}
EDITED = (  # line, its cells in another profile -> what tt-perf-report 1.4.1 was seen to write of it
    (
        64,
        {"ATTRIBUTES": "{}"},
        {
            "OP Code": "Conv2dDeviceOperation unknown shape [ABH=x|x ADB SR]",
            "FLOPs": "",
            "FLOPs %": "",
            "Math Fidelity": "HiFi4 BF16 x BF16 => BF16",
            "Bound Analysis": "flops_only",
        },
    ),
    (75, {"OP CODE": "(torch) softmax"}, {"Bound": "HOST", "Op Category": "Host", "Bound Analysis": "none"}),
    (75, {"AVAILABLE WORKER CORE COUNT": ""}, {"Available Cores": "64"}),
    (75, {"AVAILABLE WORKER CORE COUNT": "56"}, {"Available Cores": "56"}),
    (75, {"GLOBAL CALL COUNT": ""}, {"Global Call Count": "nan"}),
    (75, {"DEVICE KERNEL DURATION [ns]": "0"}, BLANK | {"OP Code": "MatmulDeviceOperation 1024 x 256 x 768"}),
    (
        75,
        WIDE | {"ATTRIBUTES": SPARSE % ("false", "true", "5")},
        {
            "OP Code": "SparseMatmulDeviceOperation active=5/24 x 1024 x 256 x 768",
            "FLOPs": f"{2 * 5 * 1024 * 256 * 768 / 68_300e3}",
        },
    ),
    (
        75,
        WIDE | {"ATTRIBUTES": SPARSE % ("false", "true", "std::nullopt")},
        BLANK | {"OP Code": "SparseMatmulDeviceOperation active=?/24 x 1024 x 256 x 768"},
    ),
    (75, WIDE | {"ATTRIBUTES": "{}"}, {"OP Code": "SparseMatmulDeviceOperation active=?/24 x 1024 x 256 x 768"}),
    (
        75,
        WIDE | {"ATTRIBUTES": SPARSE % ("true", "true", "5")},
        {"OP Code": "SparseMatmulDeviceOperation active=5/4 x 1024 x 256 x 768"},
    ),
    (
        75,
        WIDE | {"ATTRIBUTES": SPARSE % ("true", "false", "5")},
        {"OP Code": "SparseMatmulDeviceOperation active=5/4 x 1024 x 256 x 768"},
    ),
    (
        75,
        WIDE | {"ATTRIBUTES": SPARSE % ("false", "false", "5")},
        {"OP Code": "SparseMatmulDeviceOperation active=5/6 x 1024 x 256 x 768"},
    ),
    (63, {"OP CODE": "PadDeviceOperation"}, {"Op Category": "TM"}),
    (63, {"OP CODE": "Pad"}, {"Op Category": "Other"}),
    (63, {"OP CODE": "SDPAOperation"}, {"Op Category": "Compute"}),
    (63, {"OP CODE": "AllGatherAsyncDeviceOperation"}, {"Op Category": "CCL"}),
    (62, {"ATTRIBUTES": "{}"}, {"OP Code": "HaloDeviceOperation w=x s=x p=x d=x | x"}),
)


@for_all("edit", EDITED, sampled=4)
def test_a_cell_of_another_profile_is_what_tt_perf_report_writes_there(edit, tmp_path):
    line, cells, expected = edit
    table = list(csv.DictReader(report_file().read_text(encoding="utf-8").splitlines()))
    table[line - 2] |= cells
    path = tmp_path / "ops_perf_results.csv"
    with path.open("w", encoding="utf-8", newline="") as paper:
        writer = csv.DictWriter(paper, table[0].keys())
        writer.writeheader()
        writer.writerows(table)
    text = perf_report_csv(Performance(read_performance_csv(path)), {})
    row = next(row for row in csv.DictReader(text.splitlines()) if row["ID"] == str(line))
    assert {name: row[name] for name in expected} == expected
