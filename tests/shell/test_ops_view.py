"""What a terminal shows of list_ops: the columns one looks at, shares in percent."""

from ttnn_mcp.shell.asking import LEGEND, ops_outline

WINDOW = {"kind": "whole_report", "rows": 3, "first_row": 2, "last_row": 4, "warm": False, "why": "no iterations"}
TOTAL = {"count": 1234, "kernel_us": 5678.5}
GROUPS = {
    "columns": ["key", "count", "kernel_us", "share", "median_gap_us", "min_cores", "heaviest_op", "heaviest_us",
                "gflop", "flop_share"],
    "rows": [["MatmulDeviceOperation 32x64", 3, 10.5, 0.61618, None, 64, 7, 5.0, 1.0, 0.0456]],
}  # fmt: skip
OPS = {
    "columns": ["op", "op_code", "device", "kernel_us", "share"],
    "rows": [[7, "Conv2d", 0, 1.5, 1], [8, "Halo", 0, 1, 0]],
}


def test_a_group_has_its_short_name_and_its_shares_in_percent():
    outline = ops_outline({"groups": GROUPS, "total": TOTAL, "window": WINDOW})
    (section,) = outline.sections
    assert section.columns == ("op", "ops", "time [us]", "time %", "gap [us]", "cores", "FLOP %", "heaviest line")
    assert section.rows == [("Matmul 32x64", 3, 10.5, 61.6, None, 64, 4.6, 7)]
    assert outline.facts == [
        ("window", "whole report, not warm, 3 ops (lines 2 to 4): no iterations"),
        ("total", "1,234 ops, 5,678.5 us of kernels"),
    ]


def test_the_device_is_told_where_there_are_several():
    (one,) = ops_outline({"ops": OPS, "total": TOTAL, "window": WINDOW}).sections
    assert one.columns == ("line", "op", "time [us]", "time %")
    mesh = {**OPS, "rows": [*OPS["rows"], [9, "Halo", 1, 1, 0]]}
    (several,) = ops_outline({"ops": mesh, "total": TOTAL, "window": WINDOW, "caveat": "c"}).sections
    assert several.columns == ("line", "op", "device", "time [us]", "time %")
    assert several.rows[2] == (9, "Halo", 1, 1, 0)
    assert ops_outline({"ops": mesh, "total": TOTAL, "window": WINDOW, "caveat": "c"}).facts[-1] == ("caveat", "c")


def test_every_heading_is_explained():
    for word in ("time", "gap", "DRAM %", "FLOP %", "line"):
        assert f"{word}:" in LEGEND or f"{word}," in LEGEND
