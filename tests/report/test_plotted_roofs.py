"""The roofs of a window and its ops below them, from what op_detail says of each op."""

import pytest

from tests.for_all import for_all
from ttnn_mcp.report.plotted import Point, points_of, roofs_of


def tables(*rows):
    """(fidelity, kernel_us, padded_flops, dram_bytes, compute_us, dram_us) of each op, as the two tables."""
    ops = {"ops": {"columns": ["fidelity", "kernel_us"], "rows": [row[:2] for row in rows]}}
    names = ["padded_flops", "dram_bytes", "compute_us", "dram_us"]
    return ops, {"columns": names, "rows": [row[2:] for row in rows]}


def test_a_roof_is_the_highest_rate_that_a_bound_was_computed_with():
    shown = tables(
        ("HiFi2", 9.0, 4_000_000, 600_000, 2.0, 3.0),
        ("HiFi2", 9.0, 9_000_000, 500_000, 3.0, 2.0),
        ("HiFi4", 9.0, 3_000_000, None, 2.0, None),
    )
    assert roofs_of(*shown) == [
        {"gbs": 250.0},
        {"fidelity": "HiFi2", "tflops": 3.0},
        {"fidelity": "HiFi4", "tflops": 1.5},
    ]


@for_all(("compute_us", "dram_us"), [(1.0, 1.0), (None, None), (0.5, 0.1)])
def test_a_time_of_a_microsecond_or_less_tells_no_peak(compute_us, dram_us):
    assert roofs_of(*tables(("HiFi2", 9.0, 1_000_000, 100_000, compute_us, dram_us))) == []
    assert len(roofs_of(*tables(("HiFi2", 9.0, 1_000_000, 100_000, 1.001, 1.001)))) == 2


def test_an_op_without_fidelity_has_no_peak_of_arithmetic():
    assert roofs_of(*tables((None, 9.0, 1_000_000, 300_000, 2.0, 2.0))) == [{"gbs": 150.0}]


def test_an_op_stands_by_its_arithmetic_per_byte_and_the_rate_it_reached():
    shown = tables(
        ("HiFi2", 2.0, 4_000_000, 1_000_000, 2.0, 3.0),
        ("HiFi2", 2.0, None, 1_000_000, None, 3.0),
        ("HiFi2", 2.0, 4_000_000, 0, 2.0, 0.0),
        ("HiFi2", None, 4_000_000, 1_000_000, 2.0, 3.0),
        ("HiFi2", 4.0, 4_000_000, 8_000_000, 2.0, 3.0),
    )
    assert points_of(*shown) == [Point(0, 4.0, 2.0), Point(4, 0.5, 1.0)]


def test_no_op_of_the_demo_is_above_its_roofs(demo_answers):
    shown = demo_answers.ops, demo_answers.rooflines
    roofs, points = roofs_of(*shown), points_of(*shown)
    peaks = {roof["fidelity"]: roof["tflops"] for roof in roofs[1:]}
    assert peaks["HiFi2"] == pytest.approx(2 * peaks["HiFi4"], rel=1e-2)  # half the passes over the operands
    assert roofs[0]["gbs"] == pytest.approx(288, rel=1e-3)  # of a Wormhole's DRAM (hardware)
    assert points
    for point in points:
        assert point.tflops <= min(point.flops_per_byte * roofs[0]["gbs"] / 1e3, peaks["HiFi2"])
