"""tiny-row-reshape: ROW_MAJOR rows of a few bytes, which DRAM serves one by one."""

import pytest

from tests.checks.programs import relu, reshape
from tests.checks.rows import pass_time, put
from tests.for_all import for_all
from tests.profiles import Program, height_sharded
from tests.profiles.model import DeviceOp
from ttnn_mcp.analyses.roofline.launch import LAUNCH_FLOOR_NS

ROWS = "ROW_MAJOR"


@pytest.fixture
def program() -> Program:
    return Program("wormhole_b0")


def tiny_rows(program):
    reshape(program, [1, 1, 640_000, 7], [1, 1, 2500, 1792], layout=ROWS, kernel_ns=10_000_000)


def test_one_percent_of_the_window_is_the_line(check):
    check.share_pair(tiny_rows, 0.01, of="saving")


@for_all(("width", "tiny"), [(31, True), (32, False)])
def test_rows_of_64_bytes_and_more_are_not_tiny(check, program, width, tiny):
    reshape(program, [1, 1, 64_000, width], [1, 1, 1000, 64 * width], layout=ROWS, kernel_ns=10_000_000)
    assert check.ask(program).fires is tiny


def test_the_claim_is_sound_and_names_the_line(check, program):
    tiny_rows(program)
    assert "ROW_MAJOR rows below 64 B; heaviest Reshape, 7-wide rows (14 B)" in check.assert_sound(program).claim


@for_all("other", [lambda program: pass_time(program, 1000), lambda p: relu(p, p.tensor([1, 1, 32, 32]))])
def test_a_run_without_reshapes_and_permutes_is_not_applicable(check, program, other):
    other(program)
    assert check.ask(program).status == "not_applicable"


@for_all("lost", ["INPUT_", "OUTPUT_"])
def test_a_report_without_operands_is_no_evidence(check, program, lost):
    tiny_rows(program)
    assert check.ask(program, without=lost).status in ("not_applicable", "cannot_tell")


def test_tiles_have_no_rows_of_their_own(check, program):
    """A row of 32 elements of BFLOAT8_B would be 34 bytes, and lies in tiles of 1088."""
    x, y = program.tensor([1, 1, 64_000, 32], "BFLOAT8_B"), program.tensor([1, 1, 1000, 2048], "BFLOAT8_B")
    put(program, DeviceOp("ReshapeDeviceOperation", (x,), (y,), 10_000_000))
    assert check.ask(program).status == "clean"


@for_all(
    ("lost", "named"), [("OUTPUT_0_DATATYPE", "9-wide rows (18 B)"), ("INPUT_0_DATATYPE", "7-wide rows (14 B)")]
)
def test_of_rows_whose_format_is_lost_nobody_knows_the_bytes(check, program, lost, named):
    x, y = (program.tensor([1, 1, 64_000, width], layout=ROWS) for width in (9, 7))
    put(program, DeviceOp("ReshapeDeviceOperation", (x,), (y,), 10_000_000))
    assert named in check.ask(program, without=lost).claim.claim


@for_all("name", ["PermuteDeviceOperation", "TransposeDeviceOperation", "ConcatDeviceOperation"])
def test_permutes_and_transposes_move_rows_too(check, program, name):
    x, y = program.tensor([1, 7, 64_000, 10], layout=ROWS), program.tensor([1, 10, 64_000, 7], layout=ROWS)
    put(program, DeviceOp(name, (x,), (y,), 10_000_000))
    assert "7-wide rows" in check.ask(program).claim.claim  # the shorter side


def test_other_ops_on_tiny_rows_are_not_claimed_with_them(check, program):
    tiny_rows(program)
    x, y = (program.tensor([1, 1, 64_000, 7], layout=ROWS) for _ in range(2))
    put(program, DeviceOp("SliceDeviceOperation", (x,), (y,), 10_000_000))
    assert check.ask(program).claim.rows.tolist() == [0]


def test_a_reshape_of_long_rows_is_not_claimed_with_them(check, program):
    tiny_rows(program)
    reshape(program, [1, 1, 512, 512], [1, 1, 1024, 256], layout=ROWS)
    assert check.ask(program).claim.rows.tolist() == [0]


def test_a_tiny_width_in_tile_moves_tiles_and_not_rows(check, program):
    reshape(program, [1, 1, 64_000, 7], [1, 1, 2000, 224], kernel_ns=10_000_000)
    assert check.ask(program).status == "clean"


def test_the_pages_of_a_sharded_tensor_are_not_in_the_report(check, program):
    where = height_sharded(1000, 7, (8, 8))
    x, y = (program.tensor([1, 1, 64_000, 7], layout=ROWS, placement=where) for _ in range(2))
    put(program, DeviceOp("ReshapeViewDeviceOperation", (x,), (y,), 10_000_000))
    assert check.ask(program).status == "clean"


def test_tiny_rows_keep_the_time_their_bytes_need(check, program):
    tiny_rows(program)
    assert check.ask(program).at_most_ns == pytest.approx(10_000_000 - 2 * 640_000 * 7 * 2 / 240)


def test_a_short_op_keeps_its_launch(check, program):
    reshape(program, [1, 1, 640, 7], [1, 1, 64, 70], layout=ROWS, kernel_ns=600)
    assert check.ask(program).at_most_ns == 600 - LAUNCH_FLOOR_NS


def test_a_front_end_gets_advice_on_its_model(check, program):
    tiny_rows(program)
    claim = check.ask(program, generation="tt-torch").claim
    assert "in the PyTorch code" in claim.fix
    assert "ttnn." not in claim.fix
    assert any(one.column == "LOC" for one in claim.evidence)


def test_a_window_that_took_no_time_has_nothing_to_save(check, program):
    reshape(program, [1, 1, 512, 512], [1, 1, 1024, 256], layout=ROWS, kernel_ns=0)
    assert check.ask(program).status == "clean"
