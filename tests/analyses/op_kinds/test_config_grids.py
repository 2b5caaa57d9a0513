"""Config grids: work per core as a program config deals it out, and as the whole grid would."""

import numpy as np
import pytest

from tests.analyses.tables import ops_of
from tests.checks.rows import case_of, put
from tests.for_all import for_all
from tests.profiles import Program, width_sharded
from tests.profiles.model import DeviceOp
from ttnn_mcp.analyses.op_kinds.config_grids import deal_of, padded_columns, shares_left

REUSE = "MatmulMultiCoreReuse{}ProgramConfig(compute_with_storage_grid_size=(x=8,y=8),in0_block_w=4,{})"
ONE_SIDED = REUSE.format("MultiCast1D", "per_core_M=1,per_core_N=6,fuse_batch=1,mcast_in0=1")
BOTH = "compute_with_storage_grid_size=(x=8,y=8),per_core_M=2,per_core_N=16"
ATTENTION = "ScaledDotProductAttentionDeviceOperation"


def dealt(folder, program, row=0):
    case = case_of(folder, program)
    return deal_of(case.ops, row, case.chip)


def multiplied(
    config=ONE_SIDED, *, op_code="MatmulDeviceOperation", arch="blackhole", grid=(11, 10), rows=32, **said
):  # fmt: skip
    """128 tiles of N."""
    program = Program(arch, grid=grid)
    x, w, y = (program.tensor([1, 1, *sides]) for sides in ((rows, 1024), (1024, 4096), (rows, 4096)))
    put(program, DeviceOp(op_code, (x, w), (y,), 400_000, attributes={"program_config": config, **said}))
    return program


def attending(fields, *, shape=(1, 4, 2112, 64), op_code=ATTENTION):
    program = Program("wormhole_b0", grid=(8, 8))
    q, k, v, y = (program.tensor(list(shape)) for _ in range(4))
    attributes = {"program_config": f"SDPAProgramConfig({fields})"}
    put(program, DeviceOp(op_code, (q, k, v), (y,), 400_000, attributes=attributes))
    return program


def test_what_is_dealt_out_and_what_could_be(tmp_path):
    deal = dealt(tmp_path, multiplied())
    assert (deal.per_core, deal.could_be, deal.grid) == ((1, 6), (1, 2), (11, 10))
    assert deal.share == pytest.approx(2 / 6)
    assert dealt(tmp_path, multiplied(arch="wormhole_b0", grid=(8, 8))).grid == (8, 8)


def test_only_a_2d_config_must_divide_n(tmp_path):
    """128 tiles in blocks of 6."""
    one_sided = multiplied(ONE_SIDED.replace("mcast_in0=1", "mcast_in0=0"), rows=4096)
    assert dealt(tmp_path, one_sided).padded_n == 0
    both = multiplied(f"MatmulMultiCoreReuseMultiCastProgramConfig({BOTH})", grid=(12, 10))
    assert dealt(tmp_path, both).padded_n == 132


@for_all("cards", [(12, 10), (13, 10)])
def test_blackhole_is_used_to_its_eleventh_column(tmp_path, cards):
    assert dealt(tmp_path, multiplied(grid=cards)).grid == (11, 10)


@for_all(
    ("cards", "rows", "grid", "could_be"),
    [
        ((11, 10), 32, (11, 10), (1, 12)),
        ((12, 10), 32, (12, 9), (1, 11)),
        ((13, 10), 32, (13, 8), (1, 10)),
        ((13, 10), 320, (11, 10), (1, 12)),
    ],
)
def test_both_sides_may_take_more_columns_and_leave_rows_for_them(tmp_path, cards, rows, grid, could_be):
    """No more than 110 cores work; ten tiles of M want ten rows."""
    program = multiplied(f"MatmulMultiCoreReuseMultiCastProgramConfig({BOTH})", grid=cards, rows=rows)
    deal = dealt(tmp_path, program)
    assert (deal.grid, deal.could_be) == (grid, could_be)


def test_queries_come_in_chunks_of_32_where_nothing_is_said(tmp_path):
    """4 heads of 2112 rows: 66 chunks of 32 each, 264 on 64 cores; 384 of 22 would be six, 204 of 42 four."""
    deal = dealt(tmp_path, attending("compute_with_storage_grid_size=(x=4,y=8)"))
    assert (deal.per_core, deal.could_be) == ((9, 1), (5, 1))


@for_all("fields", ["q_chunk_size=32", "compute_with_storage_grid_size=(x=0,y=0),q_chunk_size=32"])
def test_an_attention_without_a_grid_is_not_judged(tmp_path, fields):
    assert dealt(tmp_path, attending(fields)) is None


def test_an_attention_over_nothing_is_not_judged(tmp_path):
    grid = "compute_with_storage_grid_size=(x=4,y=8)"
    assert dealt(tmp_path, attending(grid)) is not None
    assert dealt(tmp_path, attending(grid, shape=(1, 0, 2112, 64))) is None


def test_nor_is_one_of_which_only_an_empty_mask_is_left(tmp_path):
    program = attending("compute_with_storage_grid_size=(x=4,y=8)")
    op = program.device_ops[0]
    op.inputs = (*op.inputs, program.tensor([1, 0, 2112, 64]))
    chip, ops = case_of(tmp_path, program).chip, ops_of(tmp_path, program, without="INPUT_[012]")
    np.testing.assert_array_equal(shares_left(ops, chip), [1])


@for_all("said", [{"sub_core_grids": "{[(x=0,y=0) - (x=3,y=3)]}"}, {"sub_device_id": "SubDeviceId(1)"}])
def test_cores_that_the_caller_chose_are_left_alone(tmp_path, said):
    assert dealt(tmp_path, multiplied(**said)) is None


def test_cores_that_the_config_names_are_left_alone(tmp_path):
    grid = "compute_with_storage_grid_size=(x=4,y=8)"
    assert dealt(tmp_path, attending(f"{grid},sub_core_grids=std::nullopt")) is not None
    assert dealt(tmp_path, attending(f"{grid},sub_core_grids={{[(x=0,y=0) - (x=3,y=7)]}}")) is None


@for_all(
    ("op_code", "share"),
    [("MatmulDeviceOperation", 2 / 6), ("SparseMatmulDeviceOperation", 2 / 6), ("AllGatherMatmulAsyncOp", 1)],
)
def test_a_matmul_that_waits_for_other_devices_keeps_its_cores(tmp_path, op_code, share):
    case = case_of(tmp_path, multiplied(op_code=op_code))
    np.testing.assert_allclose(shares_left(case.ops, case.chip), [share])


@for_all("lost", ["per_core_M", "per_core_N"])
def test_a_config_that_leaves_out_its_blocks_is_not_judged(tmp_path, lost):
    assert dealt(tmp_path, multiplied(ONE_SIDED.replace(lost, "other"))) is None


@for_all(("kind", "is_judged"), [("MultiCast", True), ("", False)])
def test_without_multicast_batches_are_dealt_out(tmp_path, kind, is_judged):
    config = REUSE.format(kind, "per_core_M=1,per_core_N=128")
    assert (dealt(tmp_path, multiplied(config)) is not None) == is_judged


def test_shares_left_are_asked_of_all_ops_at_once(tmp_path):
    program = multiplied()
    x = program.tensor([1, 1, 32, 4096])
    put(program, DeviceOp("UnaryDeviceOperation", (x,), (x,), 1_000))
    put(program, DeviceOp("MatmulDeviceOperation", (), (x,), 1_000, attributes={"program_config": ONE_SIDED}))
    case = case_of(tmp_path, program)
    np.testing.assert_allclose(shares_left(case.ops, case.chip), [2 / 6, 1, 1])


def test_a_matmul_over_shards_has_its_cores(tmp_path):
    program = multiplied()
    program.device_ops[0].outputs[0].placement = width_sharded(32, 64, (8, 8))
    assert dealt(tmp_path, program) is None


@for_all("lost", ["INPUT_", "OUTPUT_"])
def test_without_operands_nothing_is_left(tmp_path, lost):
    chip = case_of(tmp_path, multiplied()).chip
    np.testing.assert_array_equal(shares_left(ops_of(tmp_path, multiplied(), without=lost), chip), [1])


@for_all("lost", ["INPUT_", "INPUT_0", "OUTPUT_"])
@for_all(
    "program",
    [
        multiplied(),
        multiplied(f"MatmulMultiCoreReuseMultiCastProgramConfig({BOTH})"),
        attending("compute_with_storage_grid_size=(x=4,y=8)"),
    ],
    ids=["1D", "2D", "attention"],
)
def test_operands_whose_cells_are_blank_leave_nothing_either(tmp_path, lost, program):
    chip, ops = case_of(tmp_path, program).chip, ops_of(tmp_path, program, emptied=lost)
    np.testing.assert_array_equal(shares_left(ops, chip), [1])
    np.testing.assert_array_equal(padded_columns(ops, chip), [0])
