"""conv-data-movement: copies that another op's output needs, Moves where L1 is not short; Halo itself is no waste."""

import pytest

from tests.checks.asking import real_case
from tests.checks.conv_programs import (
    TUNED,
    Conv,
    halo_output,
    put_conv,
    put_halo,
    relu,
    row_major,
    with_conv,
    with_silent_conv,
    without_convs,
)
from tests.checks.rows import put
from tests.profiles import Program, height_sharded
from tests.profiles.conv import move
from tests.profiles.ops import interleaved_to_sharded, reshard, sharded_to_interleaved
from tests.shared_reports import SEGFORMER

SHARDS = height_sharded(256, 64, (8, 8))
OTHER_SHARDS = height_sharded(512, 64, (8, 4))
ROOMY = Conv(block=(8, 6))
SAFE_L1 = int(0.95 * (1_499_136 - 105_824))  # of a Wormhole core, above what firmware keeps
SCRATCH = 64  # bytes of the reader, in every conv: tt-metal l1_scratchpad_CB_size
# ROOMY's buffers: output, one block of weights, the activations of all its rows, the same tilized
BUFFERS = 8 * 2 * 1088 + 2 * 6 * 1088 + 8 * 6 * 2048 + 8 * 6 * 1088 + SCRATCH


def into_shards(program, x, kernel_ns=40_000):
    return put(program, interleaved_to_sharded(x, row_major(program, SHARDS), kernel_ns))


def moved(program, x, kernel_ns=30_000):
    return put(program, move(x, program.tensor(x.shape, x.dtype, "ROW_MAJOR", x.placement), kernel_ns))


def copied(program):
    """relu, InterleavedToSharded of 40 us, Halo, Conv2d."""
    made = relu(program, row_major(program))
    put_conv(program, ROOMY, put_halo(program, into_shards(program, made), ROOMY))


def packed(program, allocated=100_000):
    """relu, Halo, Move of 30 us, Conv2d."""
    made = relu(program, row_major(program, SHARDS))
    put_conv(program, ROOMY, moved(program, put_halo(program, made, ROOMY)), allocated=allocated)


def with_all(*parts):
    program = Program("wormhole_b0")
    for part in parts:
        part(program)
    return program


def test_a_copy_in_front_of_halo_is_named_with_who_wrote_interleaved(check):
    claim = check.assert_sound(with_all(copied))
    assert claim.rows.tolist() == [1]
    assert claim.at_most_ns.tolist() == [40_000]
    assert "at line 7, written by Unary at line 6" in claim.claim
    assert "let line 6 write sharded" in claim.fix
    assert "memory_config that line 7 writes (L1 HEIGHT_SHARDED 256x64 on 64 cores)" in claim.fix


@pytest.mark.parametrize("name", ["Typecast", "Upsample"])
def test_what_writes_no_shards_needs_the_copy(check, name):
    def made_by(op_code):
        program = with_all(copied)
        program.device_ops[0].op_code = f"{op_code}DeviceOperation"
        return program

    check.pair(made_by, silent=name, fires="Slice")


def test_one_percent_of_the_window_is_the_line_for_either(check):
    check.share_pair(copied, 0.01, of="time")
    check.share_pair(packed, 0.01, of="time")


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


@pytest.mark.parametrize("partial", [False, True])
def test_what_was_only_just_taken_out_of_shards_is_another_checks(check, partial):
    program = Program("wormhole_b0")
    made = relu(program, row_major(program, OTHER_SHARDS))
    op = sharded_to_interleaved(made, row_major(program), 20_000)
    if partial:
        op.op_code = "ShardedToInterleavedPartialDeviceOperation"
    put_conv(program, ROOMY, put_halo(program, into_shards(program, put(program, op)), ROOMY))
    assert check.ask(program).status == "clean"


@pytest.mark.parametrize("last_is_a_move", [False, True])
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


def test_a_move_packs_l1_that_is_not_short(check):
    claim = check.assert_sound(with_all(packed))
    assert claim.rows.tolist() == [2]
    assert claim.at_most_ns.tolist() == [30_000]
    assert "heaviest at line 8, 16512x64" in claim.claim
    assert "reallocate_halo_output=False" in claim.fix


def test_a_move_is_idle_where_another_halo_tensor_fits_l1(check):
    room = (SAFE_L1 - BUFFERS) // 2  # what is allocated holds the halo tensor: at most as much is lost to the gap
    check.pair(lambda allocated: with_all(lambda program: packed(program, allocated)), silent=room + 1, fires=room)


def test_the_heaviest_move_is_the_example(check):
    program = with_all(packed)
    narrow = Conv(block=(8, 6), grid=(8, 4))
    made = relu(program, row_major(program, height_sharded(256, 64, (8, 4)), 8192))
    put_conv(program, narrow, moved(program, put_halo(program, made, narrow), 50_000))
    claim = check.ask(program).claim
    assert claim.rows.tolist() == [2, 6]
    assert "(2x, 80 us" in claim.claim
    assert "heaviest at line 16, 8320x64" in claim.claim


def test_copies_and_moves_are_two_claims(check):
    program = Program("wormhole_b0")
    into = into_shards(program, relu(program, row_major(program)))
    put_conv(program, ROOMY, moved(program, put_halo(program, into, ROOMY)))
    copies, moves = check.ask(program).claims
    assert copies.rows.tolist() == [1]
    assert moves.rows.tolist() == [3]


def test_what_lies_between_halo_and_conv_must_be_a_move_and_come_from_halo(check):
    program = Program("wormhole_b0")
    halo = put_halo(program, relu(program, row_major(program, SHARDS)), ROOMY)
    other = halo_output(program, Conv(grid=(8, 4), per_core=(16, 2)))
    put_conv(program, ROOMY, put(program, reshard(halo, other, 30_000)))
    assert check.ask(program).status == "clean"
    program = Program("wormhole_b0")
    made = relu(program, halo_output(program, ROOMY))
    put_conv(program, ROOMY, moved(program, made))
    assert check.ask(program).status == "clean"


def halo_last(program):
    put_halo(program, relu(program, row_major(program, SHARDS)), ROOMY)


def move_last(program):
    moved(program, put_halo(program, relu(program, row_major(program, SHARDS)), ROOMY))


@pytest.mark.parametrize("last", [halo_last, move_last])
@pytest.mark.parametrize("first_is_a_move", [False, True])
def test_a_conv_of_the_models_input_has_no_halo_behind_it_whatever_runs_last(check, last, first_is_a_move):
    program = Program("wormhole_b0")
    x = halo_output(program, ROOMY)
    put_conv(program, ROOMY, moved(program, x) if first_is_a_move else x)
    last(program)
    assert check.ask(program).status == "clean"


def test_without_a_known_chip_no_move_is_called_idle(check):
    program = Program("wormhole_b0", clock_ghz=0.7)
    packed(program)
    assert check.ask(program, generation="C4").status == "cannot_tell"


def test_without_a_known_chip_a_run_without_moves_is_clean(check):
    program = Program("wormhole_b0", clock_ghz=0.7)
    put_conv(program, ROOMY, put_halo(program, row_major(program, SHARDS), ROOMY))
    assert check.ask(program, generation="C4").status == "clean"


def test_halo_alone_is_needed_and_what_computes_its_input_is_no_copy(check):
    program = Program("wormhole_b0")
    made = relu(program, relu(program, row_major(program, SHARDS)))
    put_conv(program, ROOMY, put_halo(program, made, ROOMY))
    assert check.ask(program).status == "clean"
    assert check.ask(with_conv(**TUNED)).status == "clean"


def test_a_compilers_user_is_told_the_compilers_option(check):
    for program in (with_all(copied), with_all(packed)):
        assert "optimization_level" in check.ask(program, generation="tt-torch").claim.fix


def test_nothing_to_judge(check):
    none = check.ask(without_convs())
    assert none.status == "not_applicable"
    assert "Conv2d" in none.why
    silent = check.ask(with_silent_conv())
    assert silent.status == "cannot_tell"
    assert "ATTRIBUTES" in silent.why


def test_segformer_copies_the_inputs_of_its_convs(check):
    copies, moves = check.ask(real_case(SEGFORMER)).claims
    assert copies.at_most_ns.sum() / 1e3 == pytest.approx(414, abs=1)
    assert "reallocate_halo_output=False" in moves.fix
