"""Conv slices: which convs run on slices, what carries these, and how many there are."""

from tests.analyses.tables import ops_of
from tests.checks.conv_programs import Conv, put_conv, put_halo, relu, row_major
from tests.checks.rows import put
from tests.profiles import Program
from tests.profiles.model import DeviceOp
from ttnn_mcp.analyses.op_kinds.conv_slices import Slice, slices_of, unsliced
from ttnn_mcp.analyses.op_kinds.convs import convs_of


def sliced(parts, *, fetched, moves=0):
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
    assert slices_of(ops_of(tmp_path / "fetched", sliced(3, fetched=True))) == {2: Slice(3, (3, 0), 3)}
    assert slices_of(ops_of(tmp_path / "there", sliced(2, fetched=False))) == {1: Slice(2, (2,), 2)}


def test_a_move_and_a_halo_may_stand_between_the_fetch_and_the_conv(tmp_path):
    assert slices_of(ops_of(tmp_path, sliced(3, fetched=True, moves=1)))[3].transports == (4, 0)
    assert slices_of(ops_of(tmp_path, sliced(3, fetched=True, moves=2)))[4].transports == (5,)


def test_a_fetch_for_another_conv_is_not_this_ones(tmp_path):
    """What no op of the window made was not fetched by its last op."""
    program = sliced(2, fetched=False)
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
    conv = convs_of(ops_of(tmp_path, sliced(2, fetched=False))).at(1)
    whole = unsliced(conv, 2)
    assert (whole.per_core_h, whole.allocated_bytes) == (16, 200_000)
    assert whole.block_h == conv.block_h
