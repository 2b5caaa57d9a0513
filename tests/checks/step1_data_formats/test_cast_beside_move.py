"""cast-beside-move: a typecast before or behind a move that could write the type."""

from __future__ import annotations

from tests.checks.programs import cast, relu
from tests.checks.rows import pass_time, put
from tests.checks.step3_programs import assert_cannot_tell, no_such_ops, without
from tests.for_all import for_all
from tests.profiles import DRAM, L1, Program, height_sharded
from tests.profiles.model import DeviceOp
from tests.profiles.ops import interleaved_to_sharded, reshard, sharded_to_interleaved

SIDE = [1, 1, 512, 512]
SHARDS = height_sharded(512, 512, 16)
KINDS = {
    "into shards": (interleaved_to_sharded, SHARDS),
    "out of them": (sharded_to_interleaved, L1),
    "anew": (reshard, SHARDS),
}


def before(
    program, source="BFLOAT16", to="BFLOAT8_B", *, move="into shards", also_read=False, layout="TILE", ns=20_000
):
    """A cast, then the move."""
    run, where = KINDS[move]
    x = program.tensor(SIDE, source, layout=layout)
    narrow = program.tensor(SIDE, to, layout=layout)
    put(program, DeviceOp("TypecastDeviceOperation", (x,), (narrow,), ns))
    if also_read:
        put(program, DeviceOp("MadeUp", (narrow,), (program.tensor([1, 1, 32, 32], "UINT16"),), 1_000))
    relu(program, put(program, run(narrow, program.tensor(SIDE, to, placement=where, layout=layout), 9_000)))


def behind(program, source="BFLOAT8_B", to="BFLOAT16", *, move="into shards", also_read=False, layout="TILE"):
    """The move, then a cast."""
    run, where = KINDS[move]
    x = program.tensor(SIDE, source, placement=DRAM, layout=layout)
    moved = put(program, run(x, program.tensor(SIDE, source, placement=where, layout=layout), 9_000))
    if also_read:
        put(program, DeviceOp("MadeUp", (moved,), (program.tensor([1, 1, 32, 32], "UINT16"),), 1_000))
    wide = program.tensor(SIDE, to, placement=where, layout=layout)
    relu(program, put(program, DeviceOp("TypecastDeviceOperation", (moved,), (wide,), 20_000)))


def of(build, *args, **how):
    program = Program("wormhole_b0")
    build(program, *args, **how)
    return program


def test_the_move_behind_a_cast_writes_the_type(check):
    claim = check.assert_sound(of(before))
    start = "Typecasts run beside ops that could write the type (1x, 20 us, "
    assert claim.claim.startswith(start)
    assert claim.claim.endswith(
        "BFLOAT16 to BFLOAT8_B, 512x512 -> 512x512 at line 5, InterleavedToSharded at line 6"
    )
    assert claim.at_most_ns.tolist() == [20_000]
    assert claim.fix.startswith("ttnn.to_memory_config(x, memory_config, dtype=ttnn.bfloat8_b) at line 6, ")
    assert [one.value for one in claim.evidence] == [20_000, "BFLOAT16", "BFLOAT8_B"]


def test_the_move_before_a_widening_cast_writes_the_type(check):
    claim = check.assert_sound(of(behind))
    assert claim.claim.endswith("at line 6, InterleavedToSharded at line 5")
    assert "dtype=ttnn.bfloat16) at line 5" in claim.fix


@for_all("build", [before, behind])
def test_both_moves_take_a_type_and_a_reshard_takes_none(check, build):
    assert check.ask(of(build, move="out of them")).fires
    check.pair(lambda move: of(build, move=move), silent="anew", fires="into shards")


@for_all("build", [before, behind])
def test_only_the_two_may_know_the_tensor_between(check, build):
    check.pair(lambda one: of(build, also_read=one), silent=True, fires=False)


@for_all("build", [before, behind])
def test_integers_and_rows_are_not_converted_on_the_way(check, build):
    check.pair(lambda to: of(build, to=to), silent="UINT32", fires="FLOAT32")
    check.pair(lambda source: of(build, source, "FLOAT32"), silent="UINT16", fires="BFLOAT16")
    check.pair(lambda layout: of(build, "BFLOAT16", "FLOAT32", layout=layout), silent="ROW_MAJOR", fires="TILE")


def test_a_cast_that_narrows_behind_a_move_is_told_elsewhere(check):
    check.pair(lambda to: of(behind, "BFLOAT16", to), silent="BFLOAT8_B", fires="FLOAT32")


def tilized(program, to="FLOAT32", *, first="Tilize", also_read=False):
    """Rows into tiles, then a cast."""
    tiles = program.tensor(SIDE)
    put(program, DeviceOp(f"{first}DeviceOperation", (program.tensor(SIDE, layout="ROW_MAJOR"),), (tiles,), 9_000))
    if also_read:
        put(program, DeviceOp("MadeUp", (tiles,), (program.tensor([1, 1, 32, 32], "UINT16"),), 1_000))
    relu(program, put(program, DeviceOp("TypecastDeviceOperation", (tiles,), (program.tensor(SIDE, to),), 20_000)))


def cast_rows(program, source="FLOAT32", *, then="Tilize"):
    """A cast of rows, then their tilize."""
    rows = program.tensor(SIDE, layout="ROW_MAJOR")
    put(program, DeviceOp("TypecastDeviceOperation", (program.tensor(SIDE, source, layout="ROW_MAJOR"),), (rows,), 20_000))  # fmt: skip
    relu(program, put(program, DeviceOp(f"{then}DeviceOperation", (rows,), (program.tensor(SIDE),), 9_000)))


@for_all("name", ["Tilize", "TilizeWithValPadding"])
def test_a_tilize_writes_the_wider_type(check, name):
    claim = check.assert_sound(of(tilized, first=name))
    assert claim.fix.startswith("ttnn.to_layout(x, ttnn.TILE_LAYOUT, dtype=ttnn.float32) at line 5, and no ")
    assert claim.at_most_ns.tolist() == [20_000]
    check.pair(lambda one: of(tilized, also_read=one), silent=True, fires=False)


def test_a_cast_that_narrows_behind_a_tilize_is_told_elsewhere(check):
    check.pair(lambda to: of(tilized, to), silent="BFLOAT8_B", fires="FLOAT32")


def test_rows_are_cast_as_they_become_tiles(check):
    claim = check.pair(lambda then: of(cast_rows, then=then), silent="Untilize", fires="Tilize").claim
    assert claim.fix.startswith("ttnn.to_layout(x, ttnn.TILE_LAYOUT, dtype=ttnn.bfloat16) at line 6, ")
    check.pair(lambda source: of(cast_rows, source), silent="INT32", fires="FLOAT32")


def test_half_a_percent_of_the_window_is_the_line(check):
    check.share_pair(before, 0.005, of="time")


def test_other_ops_first_change_nothing(check):
    program = Program("wormhole_b0")
    pass_time(program, 5_000)
    behind(program)
    assert check.ask(program).claim.rows.tolist() == [2]


def test_what_is_no_cast_stays(check):
    """A cast of no move, and another op before one."""
    program = Program("wormhole_b0")
    cast(program, program.tensor(SIDE), "BFLOAT8_B")
    before(program)
    last = max(place for place, op in enumerate(program.device_ops) if "Typecast" in op.op_code)
    program.device_ops[last].op_code = "MadeUpDeviceOperation"
    assert check.ask(program).status == "clean"


def test_casts_without_moves_stay(check):
    program = Program("wormhole_b0")
    cast(program, program.tensor(SIDE), "BFLOAT8_B")
    assert check.ask(program).status == "clean"


def test_a_run_without_casts_is_not_applicable(check):
    assert check.ask(no_such_ops()).status == "not_applicable"


def test_what_it_cannot_see_it_cannot_tell(check, tmp_path):
    assert_cannot_tell(check.ask(without(tmp_path, ("PUT_",), of(before))), "INPUT_n")
