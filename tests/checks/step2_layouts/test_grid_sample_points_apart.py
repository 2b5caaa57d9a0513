"""grid-sample-points-apart: points of a grid that are read one by one, as a trial."""

from __future__ import annotations

import pytest

from tests.checks.rows import pass_time, put
from tests.checks.step3_programs import assert_cannot_tell, no_such_ops, without
from tests.for_all import for_all
from tests.profiles import Program
from tests.profiles.model import DeviceOp
from tests.shared_reports import OFT, shared

ROWS = "ROW_MAJOR"


def sampled(ns=100_000, *, points=(1, 7, 2500, 6), prepared=True, mode="bilinear", made=False):
    """17,500 points of an image of 256 channels: the bytes that it needs take some 15 us."""
    program = Program("wormhole_b0")
    image, grid = program.tensor([1, 24, 80, 256], layout=ROWS), program.tensor(list(points), layout=ROWS)
    if made:
        put(program, DeviceOp("CloneDeviceOperation", (grid,), (grid,), 1_000))
    out = program.tensor([1, points[1], points[2], 256], layout=ROWS)
    attributes = {"mode": mode, "use_precomputed_grid": str(prepared).lower()}
    put(program, DeviceOp("GridSampleDeviceOperation", (image, grid), (out,), ns, attributes=attributes))
    return program


def test_points_that_were_prepared_go_into_rows_of_many(check):
    claim = check.assert_sound(sampled())
    assert claim.claim.startswith("1 grid_sample (100 us, 100.0%) reads one point after the other: ")
    assert claim.at_most_ns == pytest.approx(50_000)
    assert "prepare" not in claim.fix
    assert "points = ttnn.reshape(points, [1, 7, 100, 150])" in claim.fix
    assert claim.expected is None


def test_coordinates_are_worked_out_on_the_host_too(check):
    claim = check.ask(sampled(points=(1, 7, 96, 2), prepared=False)).claim
    assert "its weights worked out in the op" in claim.claim
    assert "ttnn.prepare_grid_sample_grid(grid, [1, 24, 80, 256], output_dtype=ttnn.bfloat16)" in claim.fix
    assert "ttnn.reshape(points, [1, 7, 3, 192])" in claim.fix


def test_points_keep_their_corners(check):
    """Real TTNN prepares other pixels and weights without it."""
    made = sampled(points=(1, 7, 96, 2), prepared=False)
    made.device_ops[0].attributes["align_corners"] = "true"
    fix = check.assert_sound(made).fix
    assert "grid(grid, [1, 24, 80, 256], align_corners=True, output_dtype" in fix
    assert "grid_sample(x, points, align_corners=True, use_precomputed_grid=True)" in fix


def test_what_the_bytes_take_stays(check):
    """5.1 MB of image and grid at 288 GB/s: more than half of 20 us."""
    assert check.ask(sampled(20_000)).at_most_ns < 10_000


@for_all(
    "how",
    [
        {"points": (1, 7, 2500, 12)},
        {"points": (1, 7, 2500, 2)},
        {"prepared": False},
        {"points": (1, 7, 2503, 6)},
        {"points": (1, 7, 37 * 41, 6)},
        {"mode": "nearest"},
        {"made": True},
    ],
)
def test_other_grids_are_none(check, how):
    check.pair(lambda one: sampled(**one), silent=how, fires={})


def test_one_percent_of_the_window_to_save_is_the_line(check):
    def at(share):
        program = sampled()
        pass_time(program, 50_000 / share - 100_000)
        return program

    check.pair(at, silent=0.0099, fires=0.0101)


def test_a_run_without_samples_is_not_applicable(check, tmp_path):
    assert check.ask(no_such_ops()).status == "not_applicable"
    for lost in (("ATTRIBUTES",), ("INPUT_1", "INPUT_2")):
        assert_cannot_tell(check.ask(without(tmp_path / lost[0], lost, sampled())), "")


def test_a_real_network_reads_its_points_one_by_one(check):
    claim = check.ask(shared(OFT)).claim
    assert claim.claim.startswith("12 grid_samples (95.3 ms, 9.5%) read one point after the other: ")
    assert "ttnn.reshape(points, [1, 7, 2809, 54])" in claim.fix
