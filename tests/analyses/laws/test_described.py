"""Ops of made reports as the laws describe them."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from tests.analyses.tables import performance_of, put
from tests.for_all import for_all
from tests.profiles import DRAM, L1, Program, height_sharded
from tests.profiles.model import DeviceOp, block_sharded, width_sharded
from tests.profiles.ops import (
    binary,
    collective,
    interleaved_to_sharded,
    layer_norm,
    matmul,
    tilize,
    unary,
    untilize,
)
from ttnn_mcp.analyses.laws.attention import AttentionDescription
from ttnn_mcp.analyses.laws.catalogue import expected
from ttnn_mcp.analyses.laws.described import described
from ttnn_mcp.analyses.laws.matmuls import MatmulDescription
from ttnn_mcp.analyses.laws.moves import MoveDescription
from ttnn_mcp.analyses.laws.others import CollectiveDescription, ElementwiseDescription, NormDescription
from ttnn_mcp.analyses.programs.grids import grid_in
from ttnn_mcp.readers.printed.nesting import parse_struct
from ttnn_mcp.run.chip import chip_of

if TYPE_CHECKING:
    from ttnn_mcp.analyses.laws.descriptions import Described

IN_DRAM = "DRAM_INTERLEAVED"
BANKED = "MatmulMultiCoreReuseMultiCastDRAMShardedProgramConfig(in0_block_w=16,per_core_M=1,per_core_N=4)"
SPREAD = (
    "MatmulMultiCoreReuseMultiCast1DProgramConfig(compute_with_storage_grid_size=(x=8,y=8),in0_block_w=8,"
    "out_subblock_h=1,out_subblock_w=2,per_core_M=1,per_core_N=2,mcast_in0={};gather_in0={})"
)
BLOCKS = (
    "MatmulMultiCoreReuseMultiCastProgramConfig(compute_with_storage_grid_size=(x=8;y=8);in0_block_w=4;"
    "out_subblock_h=1;out_subblock_w=8;per_core_M=3;per_core_N=5;fused_activation={})"
)


def of(folder, program: Program, op: DeviceOp) -> Described | None:
    put(program, op)
    return on_card(folder, program)


def on_card(folder, program: Program, **card) -> Described | None:
    """Its first op, on a card that a memory report tells."""
    performance = performance_of(folder, program)
    return described(performance.ops, 0, replace(chip_of(performance, None), **card))


def of_matmul(folder, shape=(1, 1, 32, 4096), columns=4096, weights="BFLOAT8_B", placement=DRAM, **how):
    program = Program("wormhole_b0")
    x = program.tensor(list(shape), placement=placement)
    w = program.tensor([1, 1, shape[-1], columns], dtype=weights)
    return of(folder, program, matmul(x, w, program.tensor([*shape[:-1], columns]), 90_000, **how))


def test_a_matmul_is_told_by_its_operands_and_its_config(tmp_path):
    assert of_matmul(tmp_path, program_config=BANKED, cores=12) == MatmulDescription(
        "wormhole_b0", None, None, "HiFi2", 32, 4096, 4096, 1, "BFLOAT16", "BFLOAT8_B", "BFLOAT16",
        IN_DRAM, IN_DRAM, IN_DRAM, "DRAM_SHARDED", 16, 1, 4,
    )  # fmt: skip
    assert of_matmul(tmp_path, cores=0).cores is None


def test_an_op_of_a_report_has_an_expected_time_and_so_has_a_change_of_it(tmp_path):
    op = of_matmul(tmp_path, program_config=SPREAD.format(1, 0), cores=64, fidelity="LoFi")
    assert (op.program, op.grid, op.block_w, op.per_core_n, op.cores) == ("1D", (8, 8), 8, 2, 64)
    now, changed = expected(op), expected(replace(op, program="DRAM_SHARDED", block_w=16, fidelity="HiFi2"))
    assert now.low_us < 88.4 < now.high_us
    assert changed.low_us < 80.5 < changed.high_us


def test_rows_of_all_batches_count_unless_the_weights_are_batched_too(tmp_path):
    assert of_matmul(tmp_path, shape=(2, 3, 64, 128)).rows == 384
    program = Program("wormhole_b0")
    x, w = program.tensor([2, 3, 64, 128]), program.tensor([2, 3, 128, 96])
    batched = of(tmp_path, program, matmul(x, w, program.tensor([2, 3, 64, 96]), 9_000))
    assert (batched.rows, batched.batch, batched.n) == (64, 6, 96)


def test_a_program_of_blocks_is_told_apart_from_what_ttnn_chose(tmp_path):
    blocks = of_matmul(tmp_path, program_config=BLOCKS.format("std::nullopt"))
    assert (blocks.program, blocks.per_core_m, blocks.per_core_n, blocks.fused) == ("2D", 3, 5, "")
    assert of_matmul(tmp_path, shape=(1, 1, 64, 128)).program == "AUTO"
    assert of_matmul(tmp_path).program == "1D"
    assert of_matmul(tmp_path, core_grid="(x=8,y=8)").program == "AUTO"
    assert of_matmul(tmp_path, program_config="MatmulMultiCoreProgramConfig()").program == ""


def test_only_a_program_that_divides_columns_may_divide_rows_instead(tmp_path):
    assert of_matmul(tmp_path, program_config="MatmulMultiCoreReuseProgramConfig(mcast_in0=0)").program == ""


def test_a_card_with_a_slower_memory_than_its_chip_is_told(tmp_path):
    program = Program("blackhole")
    x, w, y = (program.tensor([1, 1, 64, 64]) for _ in range(3))
    put(program, matmul(x, w, y, 9_000))
    assert [on_card(tmp_path, program, dram_peak_gb_s=peak).card_gb_s for peak in (448.0, 512.0)] == [448.0, None]


def test_a_matmul_of_one_operand_is_not_described(tmp_path):
    program = Program("wormhole_b0")
    x, y = (program.tensor([1, 1, 64, 64]) for _ in range(2))
    assert of(tmp_path, program, DeviceOp("MatmulDeviceOperation", (x,), (y,), 9_000)) is None


@for_all(("printed", "fused"), [(True, "fuse_swiglu"), (False, "")])
def test_a_form_that_is_off_costs_nothing(tmp_path, printed, fused):
    program = Program("wormhole_b0")
    x, w, y = (program.tensor([1, 1, 64, 64]) for _ in range(3))
    op = DeviceOp("MinimalMatmulOp", (x, w), (y,), 9_000, attributes={"fuse_swiglu": printed})
    assert of(tmp_path, program, op).fused == fused


def test_a_fused_activation_is_named(tmp_path):
    config = BLOCKS.format("UnaryWithParam(op_type=UnaryOpType::SILU;param={})")
    assert of_matmul(tmp_path, program_config=config).fused == "SILU"


def test_rings_and_programs_that_divide_rows_are_not_described(tmp_path):
    assert of_matmul(tmp_path, program_config=SPREAD.format(1, 1)) is None
    assert of_matmul(tmp_path, program_config=SPREAD.format(0, 0)) is None
    banks = BANKED.replace(")", ";num_workers_per_dram_bank={})")
    assert of_matmul(tmp_path, program_config=banks.format(1)).program == "DRAM_SHARDED"
    assert of_matmul(tmp_path, program_config=banks.format(2)) is None
    shards = {"shape": (1, 1, 320, 64), "placement": height_sharded(32, 64, 10)}
    rows = of_matmul(tmp_path, program_config=SPREAD.format(0, 0), **shards)
    assert (rows.program, rows.in0_place) == ("1D", "L1_HEIGHT_SHARDED")


def test_batches_that_follow_one_another_are_not_described(tmp_path):
    apart = BLOCKS.format("std::nullopt;fuse_batch={}")
    assert of_matmul(tmp_path, shape=(2, 2, 64, 128), program_config=apart.format(1)).rows == 256
    for batches in ((2, 1), (1, 2)):
        assert of_matmul(tmp_path, shape=(*batches, 64, 128), program_config=apart.format(0)) is None
    assert of_matmul(tmp_path, shape=(1, 1, 64, 128), program_config=apart.format(0)).rows == 64


@for_all(
    ("sides", "flag", "rows"),
    [((64, 128), False, 64), ((64, 128), True, 64), ((128, 64), True, None), ((64, 64), True, None)],
)
def test_a_first_operand_that_is_turned_within_the_op_is_not_described(tmp_path, sides, flag, rows):
    """Some builds turn it in an op before, and print the wish all the same."""
    program = Program("wormhole_b0")
    x, w, y = (program.tensor([1, 1, *shape]) for shape in (sides, (max(sides), 96), (64, 96)))
    op = matmul(x, w, y, 9_000)
    asked = of(tmp_path, program, replace(op, attributes={**op.attributes, "transpose_a": flag}))
    assert (asked.rows if asked else None) == rows


def test_a_minimal_matmul_has_the_grid_of_its_config_or_all_cores(tmp_path):
    grids = []
    for config in ("MinimalMatmulConfig(M_block_size=2;compute_with_storage_grid_size=(x=8;y=7))", None):
        program = Program("wormhole_b0")
        x, w, y = (program.tensor([1, 1, 256, 256]) for _ in range(3))
        op = DeviceOp("MinimalMatmulOp", (x, w), (y,), 9_000, fidelity="HiFi2", attributes={"config": config})
        asked = of(tmp_path, program, op)
        grids.append((asked.program, asked.grid))
    assert grids == [("MINIMAL", (8, 7)), ("MINIMAL", (8, 8))]


def of_attention(folder, inputs=3, value_size=128, **attributes):
    program = Program("blackhole")
    q = program.tensor([1, 32, 4096, 128], dtype="BFLOAT8_B")
    k, v = (program.tensor([1, 8, 4096, 128], dtype="BFLOAT8_B") for _ in range(2))
    mask = program.tensor([1, 1, 4096, 4096])
    config = "SDPAProgramConfig(compute_with_storage_grid_size=(x=11;y=10);q_chunk_size=256;k_chunk_size=128)"
    out = program.tensor([1, 32, 4096, value_size], dtype="BFLOAT8_B")
    op = DeviceOp(
        "ScaledDotProductAttention", (q, k, v, mask)[:inputs], (out,), 1_284_000, cores=110, fidelity="HiFi2",
        attributes={"program_config": config, "is_causal": True, **attributes},
    )  # fmt: skip
    return of(folder, program, op)


def test_attention_of_prefill_is_told_by_its_chunks(tmp_path):
    assert of_attention(tmp_path) == AttentionDescription(
        "blackhole", 110, (11, 10), "HiFi2", "prefill", 1, 32, 8, 4096, 4096, 128, True, 256, 128, "BFLOAT8_B"
    )
    assert of_attention(tmp_path, is_causal=False).causal is False


@for_all(
    "how",
    [
        {"inputs": 4},
        {"program_config": None},
        {"chunk_start_idx": 128},
        {"inputs": 2},
        {"sliding_window_size": 128},
        {"value_size": 64},
    ],
)
def test_attention_of_other_forms_is_not_described(tmp_path, how):
    assert of_attention(tmp_path, **how) is None


def of_norm(folder, **attributes):
    program = Program("wormhole_b0")
    x, y = (program.tensor([1, 1, 576, 1024], placement=block_sharded(96, 128, (8, 6))) for _ in range(2))
    gamma, beta = (program.tensor([1, 1, 1, 1024]) for _ in range(2))
    op = layer_norm(x, gamma, beta, y, 19_000)
    return of(folder, program, replace(op, attributes={**op.attributes, **attributes}))


def test_a_sharded_norm_is_told_by_the_block_of_a_core(tmp_path):
    config = "LayerNormShardedMultiCoreProgramConfig(subblock_w=4;block_h=3;block_w=4;inplace=0)"
    asked = of_norm(tmp_path, program_config=config)
    assert asked == NormDescription(
        "wormhole_b0", 18, None, "", 576, 1024, "BFLOAT16", "L1_BLOCK_SHARDED", "L1_BLOCK_SHARDED", 3, 4
    )
    assert of_norm(tmp_path).block_h is None
    assert of_norm(tmp_path, program_config=None).block_h is None


def test_stages_and_welford_are_other_norms(tmp_path):
    assert of_norm(tmp_path, distributed_norm_stage="DistributedLayerNormStage::PRE_ALL_GATHER") is None
    config = "LayerNormShardedMultiCoreProgramConfig(block_h=3;block_w=4;use_welford=1)"
    assert of_norm(tmp_path, program_config=config) is None


def test_a_second_tensor_of_the_norms_size_is_a_residual(tmp_path):
    program = Program("wormhole_b0")
    x, residual, gamma, y = (program.tensor([1, 1, rows, 1024]) for rows in (64, 64, 1, 64))
    assert of(tmp_path, program, layer_norm(x, residual, gamma, y, 19_000)).residual


def test_a_norm_without_weights_has_one_input(tmp_path):
    program = Program("wormhole_b0")
    x, y = (program.tensor([1, 1, 64, 1024]) for _ in range(2))
    asked = of(tmp_path, program, replace(layer_norm(x, x, x, y, 19_000), inputs=(x,)))
    assert (asked.rows, asked.residual) == (64, False)


def test_operands_of_other_ops_are_none_of_its_own(tmp_path):
    program = Program("wormhole_b0")
    x, w, y, z = (program.tensor([1, 1, 64, 64]) for _ in range(4))
    put(program, unary("EXP", x, y, 9_000))
    assert of(tmp_path, program, matmul(y, w, z, 9_000)).inputs == 1


def test_element_wise_ops_are_told_by_their_kind_and_their_tiles(tmp_path):
    program = Program("wormhole_b0")
    x, other, y = (program.tensor([1, 2, 40, 1000], placement=L1) for _ in range(3))
    added = of(tmp_path, program, binary("ADD", x, other, y, 9_000))
    in_l1 = "L1_INTERLEAVED"
    assert added == ElementwiseDescription(
        "wormhole_b0", added.cores, None, added.fidelity, "add", 128, 2, "BFLOAT16", "BFLOAT16", in_l1, in_l1
    )
    program = Program("wormhole_b0")
    x, y = (program.tensor([1, 1, 64, 64]) for _ in range(2))
    alone = of(tmp_path, program, unary("EXP", x, y, 9_000))
    assert (alone.kind, alone.inputs, alone.tiles, alone.fused) == ("exp", 1, 4, "")


def experts(folder, *, rows=1, groups=1, of_x=1, listed=None, **attributes):
    """A sparse matmul over 16 experts of the groups of 32 rows of x."""
    program = Program("blackhole", grid=(11, 10))
    x, w = program.tensor([groups, of_x, rows, 256]), program.weight([1, 16, 256, 64], dtype="BFLOAT8_B")
    mask = program.tensor([1, 1, 1, 16], "BFLOAT16", "ROW_MAJOR")
    numbers = [program.tensor([1, 1, 1, listed], "UINT16", "ROW_MAJOR")] if listed else []
    op = DeviceOp("SparseMatmulDeviceOperation", (x, w, mask, *numbers), (program.tensor([1, 16, 32, 64]),), 9_000, cores=2)  # fmt: skip
    op.attributes = {"program_config": SPREAD.format(1, 0), **attributes}
    return of(folder, program, op)


def test_a_sparse_matmul_is_one_of_an_expert_and_how_many_are_active(tmp_path):
    told = experts(tmp_path, nnz=4)
    assert (told.program, told.rows, told.k, told.n, told.batch) == ("SPARSE", 32, 256, 64, 1)
    assert (told.block_w, told.per_core_n, told.subblock_w, told.cores) == (8, 2, 2, 2)

    def counted(**how):
        one = experts(tmp_path, **how)
        return one.active, one.slots

    assert counted(nnz=4) == (4, 4)
    assert counted(listed=3) == (3, 3)
    assert counted() == (None, 16)
    assert counted(groups=4) == (None, 64)
    assert counted(groups=4, of_x=16, is_input_a_sparse=True) == (None, 64)
    assert experts(tmp_path, program_config=BLOCKS.format("std::nullopt")).program == ""
    assert experts(tmp_path, program_config=SPREAD.format(1, 1)) is None
    one_by_one = SPREAD.format(1, "0;fuse_batch=0")
    assert experts(tmp_path, groups=4, program_config=one_by_one).program == "SPARSE"


def test_a_chain_of_functions_is_not_described(tmp_path):
    program = Program("wormhole_b0")
    x, y = (program.tensor([1, 1, 64, 64]) for _ in range(2))
    chain = {"op_chain": "{EltwiseUnary(op_type=UnaryOpType::EXP), EltwiseUnary(op_type=UnaryOpType::RELU)}"}
    assert of(tmp_path, program, replace(unary("EXP", x, y, 9_000), attributes=chain)) is None


@for_all(
    "other",
    [{"shape": [1, 1, 32, 64]}, {"shape": [1, 1, 64, 64], "dtype": "BFLOAT8_B"}, {"shape": [1, 1, 64, 64], "placement": L1}],
)  # fmt: skip
def test_a_broadcast_operand_or_one_of_another_format_or_place_is_not_described(tmp_path, other):
    program = Program("wormhole_b0")
    x, y = (program.tensor([1, 1, 64, 64], placement=DRAM) for _ in range(2))
    second = program.tensor(**{"placement": DRAM, **other})
    assert of(tmp_path, program, binary("ADD", x, second, y, 9_000)) is None


def test_conversions_are_told_by_the_tiles_they_make_or_take_apart(tmp_path):
    program = Program("wormhole_b0")
    x, y = program.tensor([1, 6, 240, 170]), program.tensor([1, 6, 240, 170], layout="ROW_MAJOR")
    apart = of(tmp_path, program, untilize(x, y, 17_000))
    assert (apart.kind, apart.rows, apart.width, apart.ragged) == ("untilize", 1536, 192, True)
    program = Program("wormhole_b0")
    x, y = program.tensor([1, 1, 512, 2048], layout="ROW_MAJOR"), program.tensor([1, 1, 512, 2048])
    made = of(tmp_path, program, tilize(x, y, 75_000))
    assert (made.kind, made.rows, made.width, made.ragged) == ("tilize", 512, 2048, False)


def test_moves_are_told_by_their_placements(tmp_path):
    program = Program("wormhole_b0")
    x, y = program.tensor([1, 1, 32, 512]), program.tensor([1, 1, 32, 512], placement=width_sharded(32, 64, 8))
    asked = of(tmp_path, program, interleaved_to_sharded(x, y, 3_000))
    assert isinstance(asked, MoveDescription)
    assert (asked.kind, asked.from_place, asked.to_place) == ("to_shards", IN_DRAM, "L1_WIDTH_SHARDED")


def test_a_gather_is_told_by_what_a_chip_has_and_its_links(tmp_path):
    program = Program("wormhole_b0")
    x, y = program.tensor([1, 1, 32, 512]), program.tensor([1, 1, 32, 2048])
    asked = of(tmp_path, program, collective("AllGatherAsync", x, y, 9_000, ring_size=4))
    assert asked == CollectiveDescription("wormhole_b0", None, None, "", "all_gather", 4, 32768.0, 2, "linear")
    x, y = program.tensor([1, 1, 8, 512]), program.tensor([1, 1, 32, 512])  # tiles are as many before and after
    asked = of(tmp_path, Program("wormhole_b0"), collective("AllGatherAsync", x, y, 9_000, ring_size=4))
    assert asked.size == 32768.0


@for_all(("columns", "ring"), [(2048, None), (256, 4)])
def test_a_gather_of_unknown_devices_or_a_part_of_its_input_is_not_described(tmp_path, columns, ring):
    program = Program("wormhole_b0")
    x, y = program.tensor([1, 1, 32, 512]), program.tensor([1, 1, 32, columns])
    op = collective("AllGatherAsync", x, y, 9_000, ring_size=4)
    assert of(tmp_path, program, replace(op, attributes={**op.attributes, "ring_size": ring})) is None


@for_all("side", ["inputs", "outputs"])
def test_an_op_that_reads_or_writes_nothing_is_not_described(tmp_path, side):
    """A collective keeps its name without them."""
    program = Program("wormhole_b0")
    x, y = program.tensor([1, 1, 32, 512]), program.tensor([1, 1, 32, 2048])
    whole = collective("AllGatherAsync", x, y, 9_000, ring_size=4)
    for op in (replace(whole, **{side: ()}), whole):
        program.call("ttnn.all_gather", op.inputs, op.outputs, (op,))
    performance = performance_of(tmp_path, program)
    assert [described(performance.ops, row, chip_of(performance, None)) is None for row in (0, 1)] == [True, False]


@for_all("lost", [{how: side} for how in ("without", "emptied") for side in ("^INPUT", "^OUTPUT")])
def test_ops_of_a_report_that_lost_a_side_are_not_described(tmp_path, lost):
    program = Program("wormhole_b0")
    x, y = program.tensor([1, 1, 64, 64]), program.tensor([1, 1, 64, 64], dtype="FLOAT32")
    put(program, DeviceOp("TypecastDeviceOperation", (x,), (y,), 9_000))
    performance = performance_of(tmp_path, program, **lost)
    assert described(performance.ops, 0, chip_of(performance, None)) is None


@for_all("printed", ["(x=0,y=8)", "(x=8,y=0)", "(x=8)", ""])
def test_a_grid_without_cores_is_none(printed):
    config = parse_struct(f"SomeProgramConfig(compute_with_storage_grid_size={printed})")
    assert grid_in(config) is None


def test_ops_without_a_law_and_chips_without_a_name_are_not_described(tmp_path):
    program = Program("wormhole_b0")
    x, y = (program.tensor([1, 1, 64, 64]) for _ in range(2))
    assert of(tmp_path, program, DeviceOp("SoftmaxDeviceOperation", (x,), (y,), 9_000)) is None
    program = Program("wormhole_b0")
    x, w, y = (program.tensor([1, 1, 64, 64]) for _ in range(3))
    put(program, matmul(x, w, y, 9_000))
    performance = performance_of(tmp_path, program)
    unknown = replace(chip_of(performance, None), arch="quasar")
    assert described(performance.ops, 0, unknown) is None
