"""Step 2: each check fires where a layout costs time, stays silent just below its line and on its false positives."""

from __future__ import annotations

import pytest

from tests.checks.programs import L1, WIDE, linear, relu, reshape, scaled, to_rows, to_tiles
from tests.checks.rows import ONE_PASS, case_of, claims, pass_time, put, the_claim
from tests.profiles import DRAM, Program, height_sharded
from tests.profiles.model import DeviceOp
from ttnn_mcp.checks.check import CannotTell, NotApplicable
from ttnn_mcp.checks.step2_layouts import (
    constant_converted_repeatedly,
    layout_conversion_share,
    reshape_not_a_view,
    tile_padding_waste,
    tilize_round_trip,
    tiny_row_reshape,
)

ROWS = "ROW_MAJOR"


@pytest.fixture
def program() -> Program:
    return Program("wormhole_b0")


def conversions(program):
    """Conversions that nothing demands: rows are read by an op that takes TILE as well."""
    x = relu(program, program.tensor([1, 1, 512, 512]))
    relu(program, to_rows(program, x), "FLOAT32")


def round_trips(program):
    for height in (512, 1024):
        relu(program, to_tiles(program, to_rows(program, relu(program, program.tensor([1, 1, height, 256])))))


def constants(program):
    """The model's input, then a mask."""
    for height in (64, 128):
        relu(program, to_tiles(program, program.tensor([1, 1, height, 512], layout=ROWS)))


def padding(program):
    """Three channels as the last dim: 32/3 of the bytes, 34 MB in TILE, 140 us at 240 GB/s."""
    x = program.tensor([1, 384, 1280, 3])
    put(program, DeviceOp("UnaryDeviceOperation", (x,), (program.tensor([1, 384, 1280, 3]),), 1_000_000))


def tiny_rows(program):
    reshape(program, [1, 1, 640_000, 7], [1, 1, 2500, 1792], layout=ROWS, kernel_ns=10_000_000)


def heads(program):
    reshape(program, [1, 1, 19, 1280], [1, 19, 20, 64])


PAIRS = [
    (layout_conversion_share.CHECK, conversions, "time", 0.05),
    (tilize_round_trip.CHECK, round_trips, "saving", 0.01),
    (constant_converted_repeatedly.CHECK, constants, "saving", 0.01),
    (tile_padding_waste.CHECK, padding, "time", 0.02),
    (tiny_row_reshape.CHECK, tiny_rows, "saving", 0.01),
    (reshape_not_a_view.CHECK, heads, "saving", 0.01),
]


@pytest.mark.parametrize("pair", PAIRS, ids=[pair[0].id for pair in PAIRS])
@pytest.mark.parametrize("over", [True, False], ids=["just above the line", "just below"])
def test_a_pair_at_every_line(tmp_path, pair, over):
    check, build, counted, line = pair
    alone = Program("wormhole_b0")
    build(alone)
    case = case_of(tmp_path, alone)
    claim = the_claim(check, case)
    reference = claim.at_most_ns.sum() if counted == "saving" else case.kernel_ns[claim.rows].sum()
    longer = Program("wormhole_b0")
    build(longer)
    pass_time(longer, reference / line * (0.995 if over else 1.005) - case.total_ns)
    assert bool(claims(check, case_of(tmp_path, longer))) is over


@pytest.mark.parametrize(("check", "build"), [pair[:2] for pair in PAIRS], ids=[pair[0].id for pair in PAIRS])
def test_a_claim_is_short_cites_its_ops_and_promises_no_more_than_they_take(tmp_path, program, check, build):
    build(program)
    case = case_of(tmp_path, program)
    claim = the_claim(check, case)
    assert len(claim.claim) <= 200
    assert len(claim.assumption) <= 120
    assert len(claim.fix) <= 260
    assert len(claim.verify) <= 120
    assert len(claim.caveat or "") <= 160
    assert (claim.at_most_ns <= case.kernel_ns[claim.rows]).all()
    assert {one.row for one in claim.evidence} <= {case.line(int(row)) for row in claim.rows}
    assert all(one.value is not None for one in claim.evidence)


@pytest.mark.parametrize("check", [pair[0] for pair in PAIRS], ids=[pair[0].id for pair in PAIRS])
def test_a_run_without_such_ops_is_not_applicable(tmp_path, program, check):
    pass_time(program, 1000)
    (said,) = check.look(case_of(tmp_path, program))
    assert isinstance(said, NotApplicable)


COMPILED = [pair[:2] for pair in PAIRS if pair[0] is not tile_padding_waste.CHECK]  # which needs logical shapes


@pytest.mark.parametrize(("check", "build"), COMPILED, ids=[pair[0].id for pair in COMPILED])
def test_a_front_end_gets_advice_on_its_model_and_not_on_ttnn_calls(tmp_path, program, check, build):
    build(program)
    claim = the_claim(check, case_of(tmp_path, program, generation="tt-torch"))
    assert "ttnn." not in claim.fix
    assert any(one.column == "LOC" for one in claim.evidence)


def test_beyond_a_quarter_of_the_time_conversions_come_first(tmp_path, program):
    conversions(program)
    pass_time(program, 70_000)
    assert "do this step first" in the_claim(layout_conversion_share.CHECK, case_of(tmp_path, program)).claim
    pass_time(program, 70_000)
    assert "first" not in the_claim(layout_conversion_share.CHECK, case_of(tmp_path, program)).claim


def test_conversions_that_a_row_reader_the_boundary_or_a_round_trip_explains_are_not_promised(tmp_path, program):
    x = relu(program, to_tiles(program, program.tensor([1, 1, 512, 512], layout=ROWS)))  # the model's input
    y = to_rows(program, x)  # for the pool, through a move
    where = height_sharded(64, 512, 8)
    sharded = program.tensor([1, 1, 512, 512], layout=ROWS, placement=where)
    put(program, DeviceOp("InterleavedToShardedDeviceOperation", (y,), (sharded,)))
    pooled = program.tensor([1, 1, 128, 512], layout=ROWS)
    put(program, DeviceOp("Pool2D", (sharded,), (pooled,)))
    to_rows(program, relu(program, to_tiles(program, pooled)))  # after the pool; the model's output
    round_trips(program)
    conversions(program)
    case = case_of(tmp_path, program)
    claim = the_claim(layout_conversion_share.CHECK, case)
    promised = claim.at_most_ns > 0
    assert promised.tolist() == [False] * 8 + [True]
    assert claim.at_most_ns.sum() == 30_000


def test_both_ops_of_a_round_trip_can_go(tmp_path, program):
    round_trips(program)
    claim = the_claim(tilize_round_trip.CHECK, case_of(tmp_path, program))
    assert claim.claim.startswith("2 Untilize->Tilize pairs")
    assert claim.at_most_ns.sum() == 2 * (30_000 + 40_000)


def test_an_untilize_that_somebody_else_reads_stays(tmp_path, program):
    rows = to_rows(program, relu(program, program.tensor([1, 1, 512, 256])))
    to_tiles(program, rows)
    put(program, DeviceOp("GridSampleDeviceOperation", (rows,), (program.tensor([1, 1, 8, 8], layout=ROWS),)))
    claim = the_claim(tilize_round_trip.CHECK, case_of(tmp_path, program))
    assert claim.at_most_ns.tolist() == [0, 40_000]


def test_of_two_ops_that_tilize_the_same_rows_again_the_nearest_counts(tmp_path, program):
    rows = to_rows(program, relu(program, program.tensor([1, 1, 512, 256])))
    to_tiles(program, rows)
    to_tiles(program, rows)
    claim = the_claim(tilize_round_trip.CHECK, case_of(tmp_path, program))
    assert claim.at_most_ns.tolist() == [30_000, 40_000]


def test_a_round_trip_that_moves_on_the_way_needs_one_move_still(tmp_path, program):
    x = relu(program, program.tensor([1, 1, 512, 256], placement=L1))
    to_tiles(program, to_rows(program, x, placement=DRAM))
    claim = the_claim(tilize_round_trip.CHECK, case_of(tmp_path, program))
    assert claim.fix.startswith("replace both by one")


@pytest.mark.parametrize(
    ("before", "after", "is_trip"),
    [([1, 1, 1024, 160], [1, 32, 32, 160], True), ([1, 1, 25281, 64], [1, 159, 159, 64], False)],
    ids=["whole tiles on both sides", "a reshape that breaks tiles"],
)
def test_a_reshape_in_rows_is_a_reason_only_where_it_breaks_tiles(tmp_path, program, before, after, is_trip):
    rows = to_rows(program, relu(program, program.tensor(before)))
    view = program.tensor(after, layout=ROWS, alias_of=rows)
    put(
        program,
        DeviceOp("TilizeWithValPaddingDeviceOperation", (view,), (program.tensor(after),), 40_000),
    )
    assert bool(claims(tilize_round_trip.CHECK, case_of(tmp_path, program))) is is_trip


def test_rows_to_tiles_to_rows_is_a_round_trip_too(tmp_path, program):
    x = program.tensor([1, 1, 512, 256], layout=ROWS)
    y = put(program, DeviceOp("GridSampleDeviceOperation", (x,), (program.tensor([1, 1, 512, 256], layout=ROWS),)))
    to_rows(program, to_tiles(program, y))
    assert the_claim(tilize_round_trip.CHECK, case_of(tmp_path, program)).claim.startswith("1 Tilize->Untilize")


def test_one_pass_does_not_show_what_repeats(tmp_path, program):
    constants(program)
    (said,) = constant_converted_repeatedly.CHECK.look(case_of(tmp_path, program, ONE_PASS))
    assert isinstance(said, CannotTell)
    assert "2 or more iterations" in said.why


def test_the_first_conversion_is_taken_for_the_models_input(tmp_path, program):
    relu(program, to_tiles(program, program.tensor([1, 1, 64, 512], layout=ROWS)))
    assert not list(constant_converted_repeatedly.CHECK.look(case_of(tmp_path, program)))


def test_what_an_op_of_the_iteration_made_is_no_constant(tmp_path, program):
    round_trips(program)
    assert not list(constant_converted_repeatedly.CHECK.look(case_of(tmp_path, program)))


@pytest.mark.parametrize(
    ("shape", "wasteful"),
    [
        ([1, 384, 1280, 3], True),
        ([1, 19, 20, 64], True),  # 12 rows of tiles would do; 19 are there
        ([1, 1, 1, 40_960], False),  # the one row of a decode step
        ([1, 1, 1, 1], False),  # a scalar is a tile whatever one does
        ([1, 1, 10_001, 640], False),  # 31 rows of 10,032
        ([1, 48, 23, 640], False),  # 28 %: just below the line
        ([1, 48, 22, 640], True),  # 31 %: just above
    ],
    ids=lambda value: "x".join(map(str, value)) if isinstance(value, list) else "",
)
def test_padding_is_waste_where_another_shape_would_not_need_it(tmp_path, program, shape, wasteful):
    x, y = program.tensor(shape), program.tensor(shape)
    put(program, DeviceOp("UnaryDeviceOperation", (x,), (y,), 1_000_000))
    assert bool(claims(tile_padding_waste.CHECK, case_of(tmp_path, program))) is wasteful


def test_a_matmul_waits_for_its_weights_and_not_for_padding(tmp_path, program):
    linear(program, 1, 4096, 4096, 300_000)
    relu(program, program.tensor([1, 1, 4096, 4096]))
    assert not list(tile_padding_waste.CHECK.look(case_of(tmp_path, program)))


def test_reports_that_write_padded_shapes_only_cannot_tell(tmp_path, program):
    padding(program)
    (said,) = tile_padding_waste.CHECK.look(case_of(tmp_path, program, generation="C2"))
    assert isinstance(said, CannotTell)


@pytest.mark.parametrize(("width", "tiny"), [(31, True), (32, False)])
def test_rows_of_64_bytes_and_more_are_not_tiny(tmp_path, program, width, tiny):
    reshape(program, [1, 1, 64_000, width], [1, 1, 1000, 64 * width], layout=ROWS, kernel_ns=10_000_000)
    assert bool(claims(tiny_row_reshape.CHECK, case_of(tmp_path, program))) is tiny
    assert bool(claims(reshape_not_a_view.CHECK, case_of(tmp_path, program))) is not tiny


def test_a_tiny_width_in_tile_moves_tiles_and_not_rows(tmp_path, program):
    reshape(program, [1, 1, 64_000, 7], [1, 1, 2000, 224], kernel_ns=10_000_000)
    assert not list(tiny_row_reshape.CHECK.look(case_of(tmp_path, program)))


def test_tiny_rows_keep_the_time_their_bytes_need(tmp_path, program):
    tiny_rows(program)
    claim = the_claim(tiny_row_reshape.CHECK, case_of(tmp_path, program))
    assert claim.at_most_ns.sum() == pytest.approx(10_000_000 - 2 * 640_000 * 7 * 2 / 240)


def test_splitting_heads_names_the_op_made_for_it(tmp_path, program):
    heads(program)
    assert "num_heads=20" in the_claim(reshape_not_a_view.CHECK, case_of(tmp_path, program)).fix


def test_rows_that_are_no_whole_tiles_are_named(tmp_path, program):
    reshape(program, [1, 1, 25281, 256], [1, 159, 159, 256])
    claim = the_claim(reshape_not_a_view.CHECK, case_of(tmp_path, program))
    assert "159 rows are no whole tiles" in claim.claim
    assert "ROW_MAJOR (a view there)" in claim.fix


def test_element_wise_work_is_not_a_layout(tmp_path, program):
    scaled(program, dtype=WIDE)
    for check, *_ in PAIRS:
        assert not claims(check, case_of(tmp_path, program))
