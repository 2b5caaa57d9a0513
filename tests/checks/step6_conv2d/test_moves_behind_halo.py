"""moves-behind-halo: Moves between Halo and a conv that fits L1 with the gap that they close."""

from tests.checks.asking import real_case
from tests.checks.conv_programs import (
    ROOMY,
    SHARDS,
    TUNED,
    Conv,
    halo_output,
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
from tests.profiles.ops import reshard
from tests.shared_reports import SEGFORMER

SAFE_L1 = int(0.95 * (1_499_136 - 105_824))  # of a Wormhole core, above what firmware keeps
SCRATCH = 64  # bytes of the reader, in every conv: tt-metal l1_scratchpad_CB_size
# ROOMY's buffers: output, one block of weights, the activations of all its rows, the same tilized
BUFFERS = 8 * 2 * 1088 + 2 * 6 * 1088 + 8 * 6 * 2048 + 8 * 6 * 1088 + SCRATCH


def packed(program, allocated=100_000):
    """relu, Halo, Move of 30 us, Conv2d."""
    made = relu(program, row_major(program, SHARDS))
    put_conv(program, ROOMY, moved(program, put_halo(program, made, ROOMY)), allocated=allocated)


def test_a_move_packs_l1_that_is_not_short(check):
    claim = check.assert_sound(with_all(packed))
    assert claim.rows.tolist() == [2]
    assert claim.at_most_ns.tolist() == [30_000]
    assert "heaviest at line 8, 16512x64" in claim.claim
    assert "reallocate_halo_output=False" in claim.fix


def test_a_move_is_idle_where_another_halo_tensor_fits_l1(check):
    room = (SAFE_L1 - BUFFERS) // 2  # what is allocated holds the halo tensor: at most as much is lost to the gap
    check.pair(lambda allocated: with_all(lambda program: packed(program, allocated)), silent=room + 1, fires=room)


def test_one_percent_of_the_window_is_the_line(check):
    check.share_pair(packed, 0.01, of="time")


def test_the_heaviest_move_is_the_example(check):
    program = with_all(packed)
    narrow = Conv(block=(8, 6), grid=(8, 4))
    made = relu(program, row_major(program, height_sharded(256, 64, (8, 4)), 8192))
    put_conv(program, narrow, moved(program, put_halo(program, made, narrow), 50_000))
    claim = check.ask(program).claim
    assert claim.rows.tolist() == [2, 6]
    assert "(2x, 80 us" in claim.claim
    assert "heaviest at line 16, 8320x64" in claim.claim


def test_a_copy_in_front_of_halo_is_another_checks(check):
    program = Program("wormhole_b0")
    into = into_shards(program, relu(program, row_major(program)))
    put_conv(program, ROOMY, moved(program, put_halo(program, into, ROOMY)))
    assert check.ask(program).claim.rows.tolist() == [3]


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


@for_all("last", [halo_last, move_last])
@for_all("first_is_a_move", [False, True])
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


def test_halo_without_a_move_is_clean(check):
    assert check.ask(with_conv(**TUNED)).status == "clean"
    program = Program("wormhole_b0")
    halo_last(program)
    put_conv(program, ROOMY, put_halo(program, row_major(program, SHARDS), ROOMY))
    assert check.ask(program).status == "clean"


def test_a_compilers_user_is_told_the_compilers_option(check):
    assert "optimization_level" in check.ask(with_all(packed), generation="tt-torch").claim.fix


def test_nothing_to_judge(check):
    none = check.ask(without_convs())
    assert none.status == "not_applicable"
    assert "Conv2d" in none.why
    silent = check.ask(with_silent_conv())
    assert silent.status == "cannot_tell"
    assert "ATTRIBUTES" in silent.why


def test_segformers_moves_pack_l1_that_is_not_short(check):
    assert "reallocate_halo_output=False" in check.ask(real_case(SEGFORMER)).claim.fix
