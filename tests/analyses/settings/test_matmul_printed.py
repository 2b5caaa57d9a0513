"""What a matmul's row tells of its operands and its config, and what it leaves out."""

from __future__ import annotations

from dataclasses import replace

import pytest

from tests.analyses.settings.rows import on_chip, ops_in, printing
from tests.analyses.tables import put
from tests.for_all import for_all
from tests.profiles import DRAM, L1, Program, block_sharded, height_sharded, width_sharded
from tests.profiles.model import DeviceOp, sharded
from tests.profiles.ops import matmul
from ttnn_mcp.analyses.settings.matmul_printed import printed_matmul, printed_minimal

SAFE = 1_300_000
SIZES = "in0_block_w=2,out_subblock_h=1,out_subblock_w=4,per_core_M=4,per_core_N=8"
GRID = "compute_with_storage_grid_size=(x=8,y=8)"
NAMES = {
    "2D": "MatmulMultiCoreReuseMultiCastProgramConfig",
    "1D": "MatmulMultiCoreReuseMultiCast1DProgramConfig",
    "Reuse": "MatmulMultiCoreReuseProgramConfig",
    "banked": "MatmulMultiCoreReuseMultiCastDRAMShardedProgramConfig",
}


def config(kind="2D", sizes=SIZES, grid=GRID, more=""):
    return f"{NAMES.get(kind, kind)}({grid},{sizes}{more})"


def linear(program, *, placed=DRAM, weights=None, out=DRAM, bias="", batch=1):
    x, w = (
        program.tensor([1, batch, 1024, 2048], placement=placed),
        program.weight([1, batch, 2048, 2048], "BFLOAT8_B"),
    )
    if weights:
        w = program.tensor([1, batch, 2048, 2048], placement=weights)
    y = program.tensor([1, batch, 1024, 2048], placement=out)
    op = matmul(x, w, y, 200_000, program_config=config())
    if bias:
        op.inputs = (x, w, program.tensor([1, 1, 32, 2048], dtype=bias))
    put(program, op)


@pytest.fixture(scope="module")
def ops(tmp_path_factory):
    """One matmul of each kind, by name."""
    program, made = Program("wormhole_b0"), {}
    made["plain"] = {}
    made["bias"] = {"bias": "FLOAT32"}
    made["batched"] = {"batch": 4}
    made["block"] = {"placed": block_sharded(128, 256, (8, 8))}
    made["height"] = {"placed": height_sharded(32, 2048, 32)}
    made["width"] = {"placed": width_sharded(1024, 32, 64)}
    made["height in DRAM"] = {"placed": sharded("HEIGHT", 128, 2048, 8, buffer="DRAM")}
    made["weights"] = {"weights": width_sharded(2048, 32, 64)}
    made["L1"] = {"placed": L1}
    made["to blocks"] = {"out": block_sharded(128, 256, (8, 8))}
    for how in made.values():
        linear(program, **how)
    return dict(zip(made, ops_in(tmp_path_factory.mktemp("matmuls"), program), strict=True))


def printed(op, text=None, **attributes):
    return printed_matmul(printing(op, program_config=text, **attributes), SAFE)


@for_all(
    ("text", "why"),
    [
        (config("MatmulOfTomorrow"), "not modelled"),
        (config(grid="compute_with_storage_grid_size=<grid>"), "not modelled"),
        (config(sizes=SIZES.replace("per_core_N=8", "per_core_N=auto")), "not modelled"),
        (config("1D", more=",gather_in0=1"), "gather_in0 and transpose_mcast"),
        (config(more=",transpose_mcast=1"), "gather_in0 and transpose_mcast"),
        (config("1D", more=",gather_in0=0"), ""),
    ],
)
def test_configs_without_a_model_say_so(ops, text, why):
    found = printed(ops["plain"], text)
    assert (found.plan is None) is bool(why)
    assert why in found.why_not


def test_a_first_operand_that_is_turned_within_the_op_is_not_modelled(tmp_path):
    """TTNN 0.81.1 refuses in0_block_w=32 of a 512 x 2048 one: K is 16 tiles. And it takes one buffer more."""
    program = Program("wormhole_b0")
    x, w, y = (program.tensor([1, 1, high, 2048]) for high in (512, 512, 2048))
    put(program, matmul(x, w, y, 200_000))
    op = ops_in(tmp_path, program)[0]
    assert printed(op, config(), transpose_a="false").plan is not None
    assert "transposed" in printed(op, config(), transpose_a="true").why_not


def test_a_block_of_another_height_counts_and_one_as_high_as_the_core_does_not(ops):
    plans = [
        printed(ops["plain"], config(more=f",out_block_h={high},out_block_w=8")).plan for high in (4, 2, -2, 0)
    ]
    assert [(plan.block_h, plan.block_w) for plan in plans] == [(None, None), (2, None), (None, None), (None, None)]


@for_all(
    ("name", "kind", "shard", "is_unknown"),
    [
        ("plain", "2D", None, False),
        ("L1", "2D", None, False),
        ("block", "2D", ("BLOCK_SHARDED", 4, None), True),  # on any columns of cores: a config of 1x7 takes 8x7
        ("block", "Reuse", ("BLOCK_SHARDED", 4, 64), False),
        ("height", "1D", ("HEIGHT_SHARDED", 4, 64), False),
        ("height", "2D", ("HEIGHT_SHARDED", 4, 64), False),
        ("width", "1D", ("WIDTH_SHARDED", 4, None), True),
        ("height in DRAM", "1D", None, False),
    ],
)
def test_a_shard_is_told_where_it_follows_from_the_config_that_ran(ops, name, kind, shard, is_unknown):
    found = printed(ops[name], config(kind))
    told = found.plan.shard and (found.plan.shard.layout, found.plan.shard.rows, found.plan.shard.columns)
    assert (told, found.shard_unknown) == (shard, is_unknown)


def test_weights_in_shards_and_blocks_of_one_row_are_not_modelled(ops):
    """TTNN holds per_core_N to the shards of L1 weights, and turns BLOCK_SHARDED on one row to WIDTH_SHARDED."""
    assert printed(ops["weights"], config()).why_not == "weights in shards are not modelled"
    assert "BLOCK_SHARDED" in printed(ops["to blocks"], config("1D")).why_not
    assert printed(ops["block"], config("1D")).plan


@for_all(
    ("shards", "grid"),
    [
        ("std::nullopt", None),
        ("ShardSpec(grid={},shape={128, 256})", None),
        ("ShardSpec(grid={[(x=0,y=0) - (x=7,y=3)]},shape={128, 256})", (8, 4)),
        ("ShardSpec(grid={[(x=0,y=0) - (x=7,y=3)], [(x=0,y=4) - (x=2,y=4)]},shape={128, 256})", (8, 5)),
    ],
)
def test_the_cores_of_the_outputs_shards_are_those_that_the_call_named(ops, shards, grid):
    config_of = f"MemoryConfig(memory_layout=TensorMemoryLayout::BLOCK_SHARDED,buffer_type=BufferType::L1,shard_spec={shards})"
    assert printed(ops["to blocks"], config(), output_mem_config=config_of).plan.output_grid == grid
    assert printed(ops["plain"], config(), output_mem_config=None).plan.output_grid is None


@for_all(("name", "size"), [("plain", 0), ("bias", 4096)])
def test_a_bias_is_the_third_input(ops, name, size):
    assert printed(ops[name], config()).plan.bias_bytes == size


def test_a_report_of_two_inputs_has_no_bias_and_one_without_outputs_place_reads_the_attributes(tmp_path):
    program = Program("wormhole_b0")
    linear(program, out=block_sharded(128, 256, (8, 8)))
    narrow, silent = (ops_in(tmp_path, program, without=lost)[0] for lost in ("INPUT_[2-9]", "OUTPUT_0_MEMORY"))
    assert printed(narrow, config()).plan.bias_bytes == 0
    assert printed(silent, config()).plan.output == "BLOCK_SHARDED"


def test_the_outputs_place_is_read_where_no_attribute_tells_it(ops):
    places = [printed(ops[name], config(), output_mem_config=None).plan.output for name in ("to blocks", "plain")]
    assert places == ["BLOCK_SHARDED", None]


@for_all(
    ("name", "safe", "why"),
    [
        ("plain", SAFE, ""),
        ("plain", 1_000, "no suggestion fits"),
        ("batched", SAFE, "both operands are batched"),
    ],
)
def test_a_config_is_suggested_where_one_fits(ops, name, safe, why):
    found = printed_matmul(printing(ops[name], program_config=None), safe)
    assert (found.plan is None, found.was_given) == (bool(why), False)
    assert why in found.why_not


def test_operands_of_unknown_type_have_no_size(tmp_path):
    program = Program("wormhole_b0")
    linear(program)
    op = ops_in(tmp_path, program, without="INPUT_1_DATATYPE")[0]
    assert printed(op, config()).why_not == printed_minimal(op).why_not == "operands of unknown data type"


BANKED = "in0_block_w=4,per_core_M=1,per_core_N=4"


@for_all(
    ("arch", "cores", "sizes", "banks"),
    [
        ("wormhole_b0", 64, BANKED, 12),
        ("wormhole_b0", 61, BANKED, 12),  # no card of so many cores, but each Wormhole has twelve
        ("blackhole", 120, BANKED, 8),  # a p150
        ("blackhole", 110, BANKED, "DRAM banks"),  # a p100 has seven, a p150 eight
        ("wormhole_b0", 64, BANKED.replace("in0_block_w=4", "in0_block_w=?"), "cut off"),
        ("wormhole_b0", 64, BANKED.replace("per_core_M=1", "per_core_M=0"), "cut off"),
        ("wormhole_b0", 64, BANKED.replace("per_core_N=4", ""), "cut off"),
    ],
)
def test_banks_of_dram_follow_from_the_card(ops, arch, cores, sizes, banks):
    found = printed(on_chip(ops["plain"], arch, cores), config("banked", sizes))
    if isinstance(banks, int):
        assert found.plan.banks == banks
        assert found.shard_unknown
        assert found.plan.readers == 1
        two = printed(
            on_chip(ops["plain"], arch, cores), config("banked", sizes, more=",num_workers_per_dram_bank=2")
        )
        assert two.plan.readers == 2
    else:
        assert found.plan is None
        assert banks in found.why_not


MINIMAL = "M_block_size=8,K_block_size=4,N_block_size=2,subblock_h=2,subblock_w=1"


@pytest.fixture(scope="module")
def small(tmp_path_factory):
    program = Program("wormhole_b0")
    for m, n in ((64, 512), (512, 64), (64, 64)):
        x, w, y = program.tensor([1, 1, m, 256]), program.weight([1, 1, 256, n]), program.tensor([1, 1, m, n])
        put(program, DeviceOp("MinimalMatmulDeviceOperation", (x, w), (y,), 9_000, fidelity="HiFi2"))
    return ops_in(tmp_path_factory.mktemp("minimal"), program)


@for_all(("place", "fp32", "subblock"), [(0, 0, (2, 4)), (1, 0, (4, 2)), (2, 0, (2, 4)), (0, 1, (2, 2))])
def test_without_a_config_minimal_matmul_takes_blocks_of_eight(small, place, fp32, subblock):
    """determine_default_block_sizes of tt-metal."""
    op = printing(small[place], compute_kernel_config=f"ComputeKernelConfig(fp32_dest_acc_en={fp32})")
    found = printed_matmul(op, SAFE)
    assert (found.plan.block, found.plan.subblock, found.was_given) == ((8, 8, 8), subblock, False)
    assert found.plan.grid == (8, 8)


@for_all(
    ("text", "more", "why"),
    [
        (f"MinimalMatmulConfig({MINIMAL},{GRID})", {}, ""),
        (f"MinimalMatmulConfig({MINIMAL})", {}, "block sizes"),
        (f"MinimalMatmulConfig({MINIMAL.replace('K_block_size=4', 'K_block_size=0')},{GRID})", {}, "block sizes"),
        (f"MinimalMatmulConfig({MINIMAL.replace('subblock_w=1', 'subblock_w=?')},{GRID})", {}, "block sizes"),
        (f"MinimalMatmulConfig({MINIMAL},{GRID})", {"fused_ternary_scalar": "2"}, "fused ternary"),
        (f"MinimalMatmulConfig({MINIMAL},{GRID})", {"fused_ternary_scalar": "std::nullopt"}, ""),
        (f"MinimalMatmulConfig({MINIMAL},{GRID})", {"fuse_swiglu": "true"}, "SwiGLU"),
        (f"MinimalMatmulConfig({MINIMAL},{GRID})", {"fuse_swiglu": "false"}, ""),
    ],
)
def test_minimal_matmuls_without_a_model_say_so(small, text, more, why):
    found = printed_matmul(printing(small[0], config=text, **more), SAFE)
    assert why in found.why_not
    if not why:
        assert (found.plan.block, found.plan.subblock, found.plan.grid) == ((8, 4, 2), (2, 1), (8, 8))


def test_without_config_and_grid_minimal_matmul_is_not_modelled(small):
    assert printed_matmul(on_chip(small[0], cores=61), SAFE).plan is None


def test_matrices_that_are_not_fused_are_multiplied_one_after_the_other(tmp_path):
    """TTNN 0.81.1 holds per_core_M against the rows of one matrix then, and took these bytes."""
    program = Program("wormhole_b0")
    x, w = program.tensor([1, 4, 256, 1024]), program.weight([1, 1, 1024, 1024])
    put(program, matmul(x, w, program.tensor([1, 4, 256, 1024]), 90_000, program_config=config()))
    (op,) = ops_in(tmp_path, program)
    sizes = "in0_block_w=32,out_subblock_h=1,out_subblock_w=1,per_core_M=1,per_core_N=4,fuse_batch={}"
    apart, fused = (printed(op, config(sizes=sizes.format(flag))).plan for flag in (0, 1))
    assert (apart.tiles.m, apart.batch, sum(apart.buffers.values())) == (8, 4, 663_552)
    assert all(apart.rules().values())
    assert (fused.tiles.m, fused.batch) == (32, 1)
    assert not all(fused.rules().values())


def test_sizes_are_of_one_batch_where_both_operands_are_batched(ops):
    plans = [printed(ops[name], config("Reuse")).plan for name in ("plain", "batched")]
    assert [(plan.tiles.m, plan.batch) for plan in plans] == [(32, 1), (32, 4)]
    assert replace(plans[1], batch=1) == plans[0]
