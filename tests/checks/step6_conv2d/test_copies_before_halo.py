"""copies-before-halo: copies of what another op made, unless it writes no shards; Halo itself is no waste."""

import pytest

from tests.checks.asking import real_case
from tests.checks.conv_programs import (
    OTHER_SHARDS,
    ROOMY,
    SHARDS,
    TUNED,
    into_shards,
    moved,
    put_conv,
    put_halo,
    relu,
    row_major,
    with_all,
    with_conv,
    with_silent_conv,
    without_convs,
)
from tests.checks.rows import put
from tests.for_all import for_all
from tests.profiles import Program, height_sharded
from tests.profiles.ops import interleaved_to_sharded, reshard, sharded_to_interleaved, untilize
from tests.shared_reports import SEGFORMER


def copied(program):
    """relu, InterleavedToSharded of 40 us, Halo, Conv2d."""
    made = relu(program, row_major(program))
    put_conv(program, ROOMY, put_halo(program, into_shards(program, made), ROOMY))


def test_a_copy_in_front_of_halo_is_named_with_who_wrote_interleaved(check):
    claim = check.assert_sound(with_all(copied))
    assert claim.rows.tolist() == [1]
    assert claim.at_most_ns.tolist() == [40_000]
    assert "at line 7, written by Unary at line 6" in claim.claim
    assert "let line 6 write sharded" in claim.fix
    assert "memory_config that line 7 writes (L1 HEIGHT_SHARDED 256x64 on 64 cores)" in claim.fix


@for_all(("maker", "first"), [("Concat", True), ("Typecast", False)])
def test_behind_an_untilize_the_op_before_it_writes_the_shards_if_it_can(check, maker, first):
    """As reshard_detect tells of the same copy: Halo reads TILE."""
    program = Program("wormhole_b0")
    made = relu(program, program.tensor([1, 1, 16_384, 64]))
    program.device_ops[-1].op_code = f"{maker}DeviceOperation"
    plain = put(program, untilize(made, row_major(program), 10_000))
    put_conv(program, ROOMY, put_halo(program, into_shards(program, plain), ROOMY))
    outcome = check.ask(program)
    before, untilized = (outcome.case.line(row) for row in (0, 1))
    tile = f"let line {before} (in TILE, without the untilize: Halo untilizes) or line {untilized} write sharded"
    assert outcome.claim.fix.startswith(tile if first else f"let line {untilized} write sharded")


@for_all("name", ["Typecast", "Upsample"])
def test_what_writes_no_shards_needs_the_copy(check, name):
    def made_by(op_code):
        program = with_all(copied)
        program.device_ops[0].op_code = f"{op_code}DeviceOperation"
        return program

    check.pair(made_by, silent=name, fires="Slice")


def test_one_percent_of_the_window_is_the_line(check):
    check.share_pair(copied, 0.01, of="time")


def test_a_reshard_in_front_of_halo_is_a_copy_too(check):
    program = Program("wormhole_b0")
    made = relu(program, row_major(program, OTHER_SHARDS))
    into = put(program, reshard(made, row_major(program, SHARDS), 40_000))
    put_conv(program, ROOMY, put_halo(program, into, ROOMY))
    assert check.ask(program).claim.rows.tolist() == [1]


def test_a_move_between_the_copy_and_halo_does_not_hide_it(check):
    program = Program("wormhole_b0")
    into = into_shards(program, relu(program, row_major(program)))
    put_conv(program, ROOMY, put_halo(program, moved(program, into), ROOMY))
    claim = check.ask(program).claim
    assert claim.rows.tolist() == [1]
    assert claim.at_most_ns.tolist() == [40_000]


def test_the_first_copy_of_the_models_input_is_no_waste(check):
    program = Program("wormhole_b0")
    put_conv(program, ROOMY, put_halo(program, into_shards(program, row_major(program)), ROOMY))
    assert check.ask(program).status == "clean"


@for_all("partial", [False, True])
def test_what_was_only_just_taken_out_of_shards_is_another_checks(check, partial):
    program = Program("wormhole_b0")
    made = relu(program, row_major(program, OTHER_SHARDS))
    op = sharded_to_interleaved(made, row_major(program), 20_000)
    if partial:
        op.op_code = "ShardedToInterleavedPartialDeviceOperation"
    put_conv(program, ROOMY, put_halo(program, into_shards(program, put(program, op)), ROOMY))
    assert check.ask(program).status == "clean"


@for_all("last_is_a_move", [False, True])
def test_a_halo_of_the_models_input_has_no_copy_in_front_whatever_runs_last(check, last_is_a_move):
    program = Program("wormhole_b0")
    put_conv(program, ROOMY, put_halo(program, row_major(program, SHARDS), ROOMY))
    last = into_shards(program, relu(program, row_major(program)))
    if last_is_a_move:
        moved(program, last)
    assert check.ask(program).status == "clean"


def test_the_heaviest_copy_is_the_example(check):
    program = with_all(copied)
    made = relu(program, program.tensor([1, 1, 8192, 64], layout="ROW_MAJOR"))
    x = program.tensor([1, 1, 8192, 64], layout="ROW_MAJOR", placement=height_sharded(128, 64, (8, 8)))
    put(program, interleaved_to_sharded(made, x, 70_000))
    put_conv(program, ROOMY, put_halo(program, x, ROOMY))
    claim = check.ask(program).claim
    assert claim.rows.tolist() == [1, 5]
    assert "(2x, 110 us" in claim.claim
    assert "8192x64 -> 8192x64 at line 15, written by Unary at line 14" in claim.claim


def test_a_move_behind_halo_is_another_checks(check):
    program = Program("wormhole_b0")
    into = into_shards(program, relu(program, row_major(program)))
    put_conv(program, ROOMY, moved(program, put_halo(program, into, ROOMY)))
    assert check.ask(program).claim.rows.tolist() == [1]


def test_halo_alone_is_needed_and_what_computes_its_input_is_no_copy(check):
    program = Program("wormhole_b0")
    made = relu(program, relu(program, row_major(program, SHARDS)))
    put_conv(program, ROOMY, put_halo(program, made, ROOMY))
    assert check.ask(program).status == "clean"
    assert check.ask(with_conv(**TUNED)).status == "clean"


def test_a_compilers_user_is_told_the_compilers_option(check):
    assert "optimization_level" in check.ask(with_all(copied), generation="tt-torch").claim.fix


def test_nothing_to_judge(check):
    none = check.ask(without_convs())
    assert none.status == "not_applicable"
    assert "Conv2d" in none.why
    silent = check.ask(with_silent_conv())
    assert silent.status == "cannot_tell"
    assert "ATTRIBUTES" in silent.why


def test_segformer_copies_the_inputs_of_its_convs(check):
    assert check.ask(real_case(SEGFORMER)).claim.at_most_ns.sum() / 1e3 == pytest.approx(414, abs=1)
