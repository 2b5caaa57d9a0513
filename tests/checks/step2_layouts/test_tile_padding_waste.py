"""tile-padding-waste: padding that another shape would not need, where ops only move elements."""

import pytest

from tests.checks.programs import linear, relu, scaled
from tests.checks.rows import pass_time, put
from tests.for_all import for_all
from tests.profiles import DRAM, L1, Program, header_of, performance_rows, write_rows
from tests.profiles.model import DeviceOp
from ttnn_mcp.analyses.roofline.launch import LAUNCH_FLOOR_NS


@pytest.fixture
def program() -> Program:
    return Program("wormhole_b0")


def padded(program, shape=(1, 384, 1280, 3), kernel_ns=1_000_000, place=DRAM):
    """Three channels as the last dim: 32/3 of the bytes, 34 MB in TILE, 140 us at 240 GB/s."""
    x, y = (program.tensor(shape, placement=place) for _ in "xy")
    put(program, DeviceOp("UnaryDeviceOperation", (x,), (y,), kernel_ns))
    return program


def test_two_percent_of_the_window_on_such_ops_are_the_line(check):
    check.share_pair(padded, 0.02, of="time")


def test_one_percent_of_the_window_must_be_given_back(check):
    def program(share):
        made = padded(Program("wormhole_b0"), (1, 48, 22, 640), 15_000)  # 11,264 ns at 240 GB/s without its padding
        pass_time(made, 3_736 / share - 15_000)
        return made

    check.pair(program, silent=0.00995, fires=0.01005)


@for_all(
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
def test_padding_is_waste_where_another_shape_would_not_need_it(check, program, shape, wasteful):
    assert check.ask(padded(program, shape)).fires is wasteful


def test_what_bounds_the_other_shape_is_where_its_bytes_are(check):
    made = [check.ask(padded(Program("wormhole_b0"), place=place)).claim for place in (DRAM, L1)]
    assert [claim.assumption.partition("which move ")[2] for claim in made] == [
        "at DRAM bandwidth at most",
        "in a launch at least",
    ]
    assert made[1].at_most_ns.tolist() == [1_000_000 - LAUNCH_FLOOR_NS]


def test_the_claim_is_sound(check, program):
    check.assert_sound(padded(program))


def test_a_run_without_ops_that_move_elements_is_not_applicable(check, program):
    pass_time(program, 1000)
    assert check.ask(program).status == "not_applicable"


def test_the_bytes_that_stay_take_their_time(check, program):
    bytes_ns = 2 * 48 * 32 * 640 * 2 / 240
    padded(program, [1, 48, 22, 640], 1_000_000)
    assert check.ask(program).at_most_ns == pytest.approx(1_000_000 - bytes_ns * 33 / 48)


def test_a_short_op_keeps_its_launch(check, program):
    assert check.ask(padded(program, [1, 8, 16, 96], 600)).at_most_ns == 600 - LAUNCH_FLOOR_NS


def permuted(program, width):
    """Heights of 8 in tiles of 32: three quarters are padding."""
    x, y = program.tensor([1, 64, 8, width]), program.tensor([1, 64, 8, width])
    put(program, DeviceOp("PermuteDeviceOperation", (x,), (y,), 1_000_000))
    return program


def test_a_permute_of_rows_that_dram_serves_at_full_rate_keeps_them_whole(check):
    """Rows of 256 B are no small pages on Wormhole, rows of 128 B are (tt-metal #55898)."""
    long = check.ask(permuted(Program("wormhole_b0"), 128))
    short = check.ask(permuted(Program("wormhole_b0"), 64))
    assert "keep the tensor ROW_MAJOR" in long.claim.fix
    assert "merge the short dim" in short.claim.fix


def test_without_outputs_nothing_is_known(check, program):
    assert check.ask(padded(program), without="OUTPUT_").status == "cannot_tell"


def test_a_matmul_waits_for_its_weights_and_not_for_padding(check, program):
    linear(program, 1, 4096, 4096, 300_000)
    relu(program, program.tensor([1, 1, 4096, 4096]))
    assert check.ask(program).status == "clean"


def test_a_row_that_is_broadcast_wastes_little(check, program):
    scaled(program)
    assert check.ask(program).status == "clean"


def test_an_op_without_waste_is_not_claimed_with_others(check, program):
    padded(program)
    padded(program, [1, 1, 2048, 2048])
    assert check.ask(program).claim.rows.tolist() == [0]


def test_a_matmul_of_padded_rows_is_not_claimed_with_others(check, program):
    padded(program)
    x, w, y = program.tensor([1, 19, 20, 64]), program.tensor([1, 1, 64, 64]), program.tensor([1, 19, 20, 64])
    put(program, DeviceOp("MatmulDeviceOperation", (x, w), (y,), 1_000_000))
    assert check.ask(program).claim.rows.tolist() == [0]


def test_records_copied_from_an_earlier_call_are_not_counted(check, program):
    for name, kernel_ns in (("MadeUpA", 1_000_000), ("MadeUpB", 700_000)):  # equal records of unequal work
        padded(program, kernel_ns=kernel_ns)
        put(program, DeviceOp(name, (program.tensor([1, 1, 32, 32], "UINT16"),), (program.tensor([1, 1, 32, 64]),)))
    assert check.ask(program).status == "clean"


def test_reports_that_write_padded_shapes_only_cannot_tell(check, program):
    outcome = check.ask(padded(program), generation="C2")
    assert outcome.status == "cannot_tell"
    assert "padded shapes only" in outcome.why


def test_a_short_last_dim_and_a_short_height_have_remedies_of_their_own(check):
    assert "put a large dim last" in check.ask(padded(Program("wormhole_b0"))).claim.fix
    assert "put a large dim last" in check.ask(padded(Program("wormhole_b0"), [1, 384, 1280, 15])).claim.fix
    assert "merge the short dim" in check.ask(padded(Program("wormhole_b0"), [1, 384, 20, 16])).claim.fix
    assert "merge the short dim" in check.ask(padded(Program("wormhole_b0"), [1, 19, 20, 64])).claim.fix


def test_a_front_end_that_writes_logical_shapes_gets_advice_on_its_model(check, program, tmp_path):
    rows = performance_rows(padded(program))
    csv = write_rows(tmp_path / "ops_perf_results_made.csv", rows, [*header_of(rows, "C7"), "LOC"])
    assert check.ask(csv).claim.fix.startswith("choose dims that are multiples of 32 in the model")


def test_rows_of_one_kilobyte_move_better_whole_than_by_their_faces(check):
    """tt-metal #29219: 160 x 48 rows of 256 UINT32, one of 32 rows of a tile each, on Blackhole."""

    def fix(width):
        program = Program("blackhole")
        x, y = program.tensor([1, 48, 160, width], "UINT32"), program.tensor([160, 48, 1, width], "UINT32")
        put(program, DeviceOp("PermuteDeviceOperation", (x,), (y,), 5_530_000))
        return check.ask(program).claim.fix

    assert fix(256).startswith("keep the tensor ROW_MAJOR from the op that makes it")
    assert fix(224).startswith("merge the short dim")


@for_all(
    ("shape", "decode"),
    [
        ((16, 8, 1, 64), True),
        ((2, 2, 1, 64), True),
        ((1, 8, 1, 64), False),
        ((16, 1, 1, 64), False),
        ((16, 8, 2, 64), False),
    ],
)
def test_heads_of_a_decode_step_belong_into_the_rows(check, program, shape, decode):
    padded(program, shape)
    assert ("[1,B,heads,d]" in check.ask(program).claim.fix) == decode
