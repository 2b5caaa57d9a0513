"""conv-sliced-in-dram: transports of slices, saved only where the whole conv fits L1."""

import pytest

from tests.analyses.tables import ops_of
from tests.checks.asking import real_case
from tests.checks.conv_programs import (
    TUNED,
    Conv,
    put_conv,
    put_halo,
    put_silent_conv,
    relu,
    row_major,
    with_conv,
    without_convs,
)
from tests.checks.rows import put
from tests.for_all import for_all
from tests.profiles import Program
from tests.profiles.conv import move
from tests.profiles.model import DeviceOp
from tests.shared_reports import DEEPLAB
from ttnn_mcp.analyses.op_kinds.convs import convs_of
from ttnn_mcp.checks.step6_conv2d.conv_sliced_in_dram import Slice, slices_of, unsliced

SAFE_L1 = int(0.95 * (1_499_136 - 105_824))  # of a Wormhole core, above what firmware keeps
SCRATCH = 64  # bytes of the reader, in every conv: tt-metal l1_scratchpad_CB_size
# Both slices at once: 16 x 2 tiles of output; Bh stays 8, so that weights of 3 window rows are kept
BOTH_SLICES = 16 * 2 * 1088 + 2 * 6 * 1088 * 3 + 8 * 6 * 2048 + 8 * 6 * 1088 + SCRATCH


def fetched(program, whole, conv, kernel_ns=20_000):
    part = row_major(program, conv.placed(256, 64), conv.rows)
    return put(program, DeviceOp("PaddedSliceDeviceOperation", (whole,), (part,), kernel_ns))


def written(program, y, filled, kernel_ns=20_000):
    put(program, DeviceOp("SliceWriteDeviceOperation", (y, filled), (filled,), kernel_ns))


def slices(program, *, kernel_ns=20_000, packed=False, **change):
    """A conv in two slices of the height: fetched, convolved, written."""
    conv = Conv(block=(8, 6), **change)
    whole = relu(program, program.tensor([1, 1, 2 * conv.rows + 256, 64], layout="ROW_MAJOR"))
    filled = program.tensor([1, 1, 2 * conv.rows, conv.columns], "BFLOAT8_B")
    for _ in range(2):
        halo = put_halo(program, fetched(program, whole, conv, kernel_ns), conv)
        if packed:
            halo = put(
                program, move(halo, program.tensor(halo.shape, halo.dtype, "ROW_MAJOR", halo.placement), 9_000)
            )
        written(program, put_conv(program, conv, halo), filled, kernel_ns)


def sliced(**how):
    program = Program("wormhole_b0")
    slices(program, **how)
    return program


def test_slices_of_a_conv_that_fits_whole_cost_what_their_transport_costs(check):
    claim = check.assert_sound(sliced())
    assert claim.rows.tolist() == [1, 4, 5, 8]
    assert claim.at_most_ns.tolist() == [20_000] * 4
    assert "2 convs work on slices" in claim.claim
    assert "2 of them would fit L1 unsliced, e.g. line 14, 1 of 2 slices" in claim.claim
    assert "slice_config=ttnn.Conv2dL1FullSliceConfig)  # from 0.64.0; line 14" in claim.fix
    assert [one.row for one in claim.evidence] == [12, 15]  # the fetch and the write of that conv
    assert "modelled to about 5 %" in claim.caveat


def test_one_percent_of_the_window_is_the_line(check):
    check.share_pair(slices, 0.01, of="time")


def test_a_move_and_halo_between_fetch_and_conv_do_not_hide_the_fetch(check):
    assert check.ask(sliced(packed=True)).claim.rows.tolist() == [1, 5, 6, 10]


def test_the_whole_conv_must_fit_l1_with_five_percent_to_spare(check):
    room = (SAFE_L1 - BOTH_SLICES) // 2  # each slice's input and what else is allocated, twice
    fits = check.ask(sliced(allocated=room))
    assert "2 of them would fit" in fits.claim.claim
    assert fits.at_most_ns == 80_000
    short = check.ask(sliced(allocated=room + 1))
    assert "0 of them would fit" in short.claim.claim
    assert short.at_most_ns == 0
    assert "without slice_config picks the number of slices itself" in short.claim.fix


def test_a_saving_is_claimed_for_those_that_fit_alone_and_the_heaviest_of_them_is_named(check):
    program = sliced(allocated=700_000, kernel_ns=50_000)
    slices(program, grid=(8, 4), kernel_ns=20_000)
    slices(program, grid=(4, 4), kernel_ns=30_000)
    claim = check.ask(program).claim
    assert "6 convs" in claim.claim
    assert "4 of them would fit" in claim.claim
    assert claim.at_most_ns.tolist() == [0] * 4 + [20_000] * 4 + [30_000] * 4
    # 27 ops a pass; the third conv's slices are the 22nd and the 26th of them
    assert "e.g. line 50" in claim.claim or "e.g. line 54" in claim.claim


def test_the_heaviest_is_named_where_none_fits(check):
    program = sliced(allocated=700_000, kernel_ns=20_000)
    slices(program, allocated=700_000, grid=(8, 4), kernel_ns=30_000)
    claim = check.ask(program).claim
    assert "e.g. line 32" in claim.claim or "e.g. line 36" in claim.claim
    assert claim.at_most_ns.sum() == 0


def test_only_a_fetch_that_leads_to_the_conv_is_its_own(check):
    program = Program("wormhole_b0")
    conv = Conv(block=(8, 6))
    whole = program.tensor([1, 1, 2 * conv.rows + 256, 64], layout="ROW_MAJOR")
    filled = program.tensor([1, 1, 2 * conv.rows, conv.columns], "BFLOAT8_B")
    x = relu(program, fetched(program, whole, conv))
    halo = put_halo(program, x, conv)
    halo = put(program, move(halo, program.tensor(halo.shape, halo.dtype, "ROW_MAJOR", halo.placement), 9_000))
    written(program, put_conv(program, conv, halo), filled)
    assert check.ask(program).claim.rows.tolist() == [5]


@for_all("read", [False, True])
def test_a_conv_of_the_models_input_was_not_fetched_whatever_runs_last(check, read):
    program = Program("wormhole_b0")
    conv = Conv(block=(8, 6))
    filled = program.tensor([1, 1, 2 * conv.rows, conv.columns], "BFLOAT8_B")
    written(program, put_conv(program, conv), filled)
    part = fetched(program, program.tensor([1, 1, 4096, 64], layout="ROW_MAJOR"), conv)
    if read:
        relu(program, part)
    assert check.ask(program).claim.rows.tolist() == [1]


def test_slices_nobody_convolves_are_not_this_checks(check):
    program = Program("wormhole_b0")
    filled = program.tensor([1, 1, 128, 64])
    written(program, program.tensor([1, 1, 64, 64]), filled, 50_000)  # the model's input
    written(program, relu(program, program.tensor([1, 1, 96, 64])), filled, 50_000)
    put_conv(program, **TUNED)
    outcome = check.ask(program)
    assert outcome.status == "not_applicable"
    assert "no SliceWrite behind a Conv2d" in outcome.why


@for_all("height", [16_384, 32], ids=["all of it", "less than it writes"])
def test_a_slice_that_fills_the_whole_output_is_one_of_one(check, height):
    program = Program("wormhole_b0")
    conv = Conv(block=(8, 6))
    written(program, put_conv(program, conv), program.tensor([1, 1, height, 64], "BFLOAT8_B"))
    assert "1 of 1 slices" in check.ask(program).claim.claim


def test_a_sliced_conv_without_attributes_is_told_without_a_saving(check):
    program = with_conv(**TUNED)
    y = put_silent_conv(program)
    written(program, y, program.tensor([1, 1, 2 * 4096, 64]), 50_000)
    claim = check.ask(program).claim
    assert "0 of them would fit" in claim.claim
    assert claim.at_most_ns.tolist() == [0]
    assert claim.caveat is None


def test_on_an_unknown_chip_slices_are_told_without_a_saving(check):
    program = Program("wormhole_b0", clock_ghz=0.7)
    slices(program)
    claim = check.ask(program, generation="C4").claim
    assert claim.at_most_ns.sum() == 0
    assert claim.caveat is None


def test_a_compilers_user_is_told_the_compilers_option(check):
    assert "optimization_level" in check.ask(sliced(), generation="tt-torch").claim.fix


def test_nothing_to_judge(check):
    none = check.ask(without_convs())
    assert none.status == "not_applicable"
    assert "Conv2d" in none.why
    program = Program("wormhole_b0")
    written(program, put_silent_conv(program), program.tensor([1, 1, 2 * 4096, 64]), 50_000)
    silent = check.ask(program)
    assert silent.status == "cannot_tell"
    assert "ATTRIBUTES" in silent.why


def test_deeplabs_slices_cost_7_percent(check):
    outcome = check.ask(real_case(DEEPLAB))
    assert outcome.case.share(outcome.claim.rows) == pytest.approx(0.073, abs=0.0005)
    assert "10 of them would fit" in outcome.claim.claim


def in_slices(parts, *, fetched, moves=0):
    """A conv on a slice; `moves` are copies of it before the halo."""
    program, conv = Program("wormhole_b0"), Conv(block=(8, 6))
    part = row_major(program, conv.placed(256, 64), conv.rows)
    if fetched:
        whole = program.tensor([1, 1, parts * conv.rows, 64], layout="ROW_MAJOR")
        put(program, DeviceOp("PaddedSliceDeviceOperation", (whole,), (part,), 20_000))
    for _ in range(moves):
        part = put(program, DeviceOp("MoveDeviceOperation", (part,), (part,), 5_000))
    y = put_conv(program, conv, put_halo(program, part, conv))
    filled = program.tensor([1, 1, parts * conv.rows, conv.columns], "BFLOAT8_B")
    put(program, DeviceOp("SliceWriteDeviceOperation", (y, filled), (filled,), 20_000))
    return program


def test_a_slice_is_fetched_convolved_and_written(tmp_path):
    assert slices_of(ops_of(tmp_path / "fetched", in_slices(3, fetched=True))) == {2: Slice(3, (3, 0), 3)}
    assert slices_of(ops_of(tmp_path / "there", in_slices(2, fetched=False))) == {1: Slice(2, (2,), 2)}


def test_a_move_and_a_halo_may_stand_between_the_fetch_and_the_conv(tmp_path):
    assert slices_of(ops_of(tmp_path, in_slices(3, fetched=True, moves=1)))[3].transports == (4, 0)
    assert slices_of(ops_of(tmp_path, in_slices(3, fetched=True, moves=2)))[4].transports == (5,)


def test_a_fetch_for_another_conv_is_not_this_ones(tmp_path):
    """What no op of the window made was not fetched by its last op."""
    program = in_slices(2, fetched=False)
    whole = program.tensor([1, 1, 999, 64], layout="ROW_MAJOR")
    put(program, DeviceOp("PaddedSliceDeviceOperation", (whole,), (program.tensor([1, 1, 99, 64]),), 20_000))
    assert slices_of(ops_of(tmp_path, program)) == {1: Slice(2, (2,), 2)}


def test_only_a_conv_makes_a_slice_and_only_a_write_puts_it_back(tmp_path):
    program = Program("wormhole_b0")
    x = relu(program, put_conv(program))
    whole = program.tensor([1, 1, 2 * x.shape[2], x.shape[3]], x.dtype)
    put(program, DeviceOp("SliceWriteDeviceOperation", (x, whole), (whole,), 20_000))
    assert slices_of(ops_of(tmp_path, program)) == {}


def test_a_conv_that_writes_no_slice_is_whole(tmp_path):
    program = Program("wormhole_b0")
    put_conv(program)
    assert slices_of(ops_of(tmp_path, program)) == {}


def test_a_window_that_begins_with_a_write_does_not_make_its_last_conv_a_slice(tmp_path):
    program = Program("wormhole_b0")
    part, whole = (program.tensor([1, 1, rows, 64], "BFLOAT8_B") for rows in (96, 192))
    put(program, DeviceOp("SliceWriteDeviceOperation", (part, whole), (whole,), 20_000))
    put_conv(program)
    assert slices_of(ops_of(tmp_path, program)) == {}


def test_all_slices_at_once_take_as_many_rows_and_inputs(tmp_path):
    conv = convs_of(ops_of(tmp_path, in_slices(2, fetched=False))).at(1)
    whole = unsliced(conv, 2)
    assert (whole.per_core_h, whole.allocated_bytes) == (16, 200_000)
    assert whole.block_h == conv.block_h
