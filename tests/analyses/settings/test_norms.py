"""What the row of a sharded norm or softmax tells of its program, and what it leaves out."""

from __future__ import annotations

import pytest

from tests.analyses.settings.rows import ops_in, printing
from tests.analyses.tables import put
from tests.for_all import for_all
from tests.profiles import DRAM, Program, block_sharded
from tests.profiles.model import DeviceOp
from ttnn_mcp.analyses.laws.moves import MoveDescription
from ttnn_mcp.analyses.laws.others import NormDescription
from ttnn_mcp.analyses.programs.norms import ShardedNorm, ShardedSoftmax
from ttnn_mcp.analyses.settings.kinds import settings_of
from ttnn_mcp.analyses.settings.norms import norm_in

GRID = "compute_with_storage_grid_size=(x=8,y=8)"
BLOCKS = f"({GRID},subblock_w=1,block_h=4,block_w=8,inplace=0)"
NORM, SOFTMAX = (f"{name}ShardedMultiCoreProgramConfig" for name in ("LayerNorm", "Softmax"))
HEAD = "MemoryConfig(memory_layout=TensorMemoryLayout::BLOCK_SHARDED,buffer_type=BufferType::L1"
PLACED = HEAD + ",shard_spec=ShardSpec(grid={{{}}},shape={{128, 256}},orientation=ShardOrientation::ROW_MAJOR))"
EVEN = PLACED.format("[(x=0,y=0) - (x=7,y=7)]")
UNEVEN = PLACED.format("[(x=1,y=2) - (x=7,y=4)], [(x=1,y=5) - (x=3,y=5)]")


@pytest.fixture(scope="module")
def ops(tmp_path_factory):
    program, placed = Program("wormhole_b0"), block_sharded(128, 256, (8, 8))
    x, residual, out = (program.tensor([1, 1, 1024, 2048], placement=placed) for _ in range(3))
    gamma = program.tensor([1, 1, 64, 32], layout="ROW_MAJOR")
    beta = program.tensor([1, 1, 32, 2048], dtype="FLOAT32")
    mask = program.tensor([1, 1, 1024, 2048], placement=placed)
    for code, inputs in {
        "LayerNorm": ((x,), (x, gamma), (x, residual, gamma, beta)),
        "Softmax": ((x,), (x, mask)),
    }.items():
        for given in inputs:
            put(program, DeviceOp(f"{code}DeviceOperation", given, (out,), 30_000, fidelity="HiFi2"))
    made = ops_in(tmp_path_factory.mktemp("norms"), program)
    names = ("bare", "weight", "all", "softmax", "masked")
    configs = [NORM] * 3 + [SOFTMAX] * 2
    return {
        name: printing(op, program_config=config + BLOCKS, output_mem_config=EVEN)
        for name, op, config in zip(names, made, configs, strict=True)
    }


@for_all(
    ("name", "more", "why"),
    [
        ("bare", {}, None),
        ("softmax", {}, None),
        ("bare", {"program_config": None}, "ran with an interleaved input"),
        ("bare", {"program_config": "LayerNormDefaultProgramConfig(legacy=0)"}, "ran with LayerNormDefault"),
        ("bare", {"output_mem_config": None}, "does not print its shards"),
        ("bare", {"output_mem_config": HEAD + ")"}, "does not print its shards"),
        ("bare", {"output_mem_config": PLACED.format("<CoreRangeSet>")}, "does not print its shards"),
        ("bare", {"program_config": NORM + BLOCKS.replace(GRID, "grid=?")}, "does not print its shards"),
        ("bare", {"program_config": NORM + BLOCKS.replace("block_h=4,", "")}, "does not print its shards"),
        ("bare", {"distributed_norm_stage": "DistributedLayerNormStage::PRE_ALL_GATHER"}, "distributed norm"),
        ("bare", {"distributed_norm_stage": "DistributedLayerNormStage::NOT_DISTRIBUTED"}, None),
        ("bare", {"program_config": NORM + BLOCKS.replace("inplace=0", "use_welford=1")}, "Welford"),
        ("bare", {"program_config": NORM + BLOCKS.replace("inplace=0", "use_welford=0")}, None),
        ("masked", {}, "a softmax with a mask"),
    ],
)
def test_forms_without_a_model_say_so(ops, name, more, why):
    op = printing(ops[name], **more)
    norm = norm_in(op)
    assert (norm if isinstance(norm, str) else "") == "" if why is None else why in norm
    sizes = settings_of(op, 0).choices("subblock_w")
    assert sizes == ((1, 2, 4, 8) if why is None else ())
    assert (why or "") in settings_of(op, 0).tried("subblock_w", 2).unknown


def test_each_config_has_its_program(ops):
    assert isinstance(norm_in(ops["bare"]), ShardedNorm)
    softmax = norm_in(printing(ops["softmax"], numeric_stable="true"))
    assert isinstance(softmax, ShardedSoftmax)
    assert (softmax.shard, softmax.stable) == ((0, 64), True)
    assert settings_of(ops["bare"], 0).choices("block_h") == (4,)


@for_all(("placed", "grid"), [(EVEN, (8, 8)), (UNEVEN, (7, 4))])
def test_shards_lie_on_the_box_around_their_ranges(ops, placed, grid):
    assert norm_in(printing(ops["bare"], output_mem_config=placed)).shards == grid


@for_all(("name", "weights"), [("bare", (0, 0)), ("weight", (2048, 0)), ("all", (2048, 4096))])
def test_a_residual_is_no_weight(ops, name, weights):
    norm = norm_in(ops[name])
    assert (norm.weight_bytes, norm.bias_bytes) == weights


@for_all(("flag", "widest"), [(0, 8), (1, 16)])
def test_full_sync_doubles_the_tiles_of_dst(ops, flag, widest):
    op = printing(ops["bare"], compute_kernel_config=f"ComputeKernelConfig(dst_full_sync_en={flag})")
    trials = [settings_of(op, 0).tried("subblock_w", wide) for wide in (8, 16)]
    assert [f"subblock_w <= {widest} (DST)" in trial.broken for trial in trials] == [False, flag == 0]


def test_a_block_tells_what_it_changes(ops):
    trial = settings_of(ops["weight"], 0).tried("subblock_w", 4)
    assert (trial.now, trial.change, trial.effect, trial.broken) == (1, "subblock_w 1 becomes 4", True, ())
    assert sum(trial.buffers.values()) == 229_376  # TTNN 0.81.1's own, on a mock device


@pytest.fixture(scope="module")
def moved(tmp_path_factory):
    """576x1024 and a row of 1280, in DRAM; the first with a residual too; then in shards on 8x6 cores."""
    program, placed = Program("wormhole_b0", grid=(8, 8)), block_sharded(96, 128, (8, 6))
    for rows, columns, place, more in ((576, 1024, DRAM, 0), (32, 1280, DRAM, 0), (576, 1024, DRAM, 1), (576, 1024, placed, 0)):  # fmt: skip
        x, out, *residual = (program.tensor([1, 1, rows, columns], placement=place) for _ in range(2 + more))
        put(
            program,
            DeviceOp("LayerNormDeviceOperation", (x, *residual), (out,), 30_000, cores=18, fidelity="HiFi2"),
        )
    *plain, sharded = ops_in(tmp_path_factory.mktemp("moved"), program)
    config = NORM + "(compute_with_storage_grid_size=(x=8,y=6),subblock_w=4,block_h=3,block_w=4,inplace=0)"
    return [
        *plain,
        printing(sharded, program_config=config, output_mem_config=PLACED.format("[(x=0,y=0) - (x=7,y=5)]")),
    ]


FEW = ("8x1", "2x6", "1x1")  # cores: not listed


def on_grid(op, value):
    return settings_of(op, 0).tried("core_grid", value)


@for_all(
    ("which", "value", "taken"),
    [  # by TTNN 0.81.1 on a mock n150
        *((0, value, True) for value in ("8x6", "4x6", "8x3", "8x1", "2x6", "6x6", "7x6", "8x5", "8x4")),
        *((0, value, False) for value in ("8x8", "9x6", "8x9", "8x7")),
        *((1, value, True) for value in ("5x8", "8x5", "1x1")),
        *((1, value, False) for value in ("8x8", "7x5")),
    ],
)
def test_ttnn_takes_grids_of_which_each_core_gets_a_shard(moved, which, value, taken):
    assert (on_grid(moved[which], value).broken == ()) is taken
    assert (value in settings_of(moved[which], 0).choices("core_grid")) is (taken and value not in FEW)


def test_the_grids_with_the_most_cores_are_listed(moved):
    grids = settings_of(moved[0], 0).choices("core_grid")
    assert (len(grids), grids[-1]) == (24, "8x6")


def test_a_norm_in_dram_gets_shards_of_its_input_a_residual_and_its_output(moved):
    trial = on_grid(moved[0], "8x6")
    assert (trial.now, trial.change, trial.ran) == (None, "48 cores, each with 3x4 tiles", None)
    assert trial.tensors["SHARDS"] == trial.grown == 2 * 3 * 4 * 2048
    assert on_grid(moved[2], "8x6").tensors["SHARDS"] == 3 * 3 * 4 * 2048
    assert "L1 BLOCK shards" in trial.needs
    assert "L1 WIDTH shards" in on_grid(moved[1], "5x8").needs
    assert trial.at_most_ns == pytest.approx((30_000 - moved[0].least_ns) * (1 - 18 / 48))


def test_a_norm_in_shards_moves_to_other_shards(moved):
    now, other = on_grid(moved[3], "8x6"), on_grid(moved[3], "8x3")
    assert (now.now, now.effect, other.effect) == ("8x6", False, True)
    assert (now.grown, other.grown) == (0, 2 * 3 * 4 * 2048)
    assert other.tensors["SHARDS"] == 0
    assert now.ran == (sum(now.buffers.values()), 0)


def test_what_the_laws_see_of_another_grid(moved):
    settings, law = settings_of(moved[0], 0), NormDescription("wormhole_b0", rows=576, width=1024, cores=18)
    then = settings.changed(law, "core_grid", "4x6")
    assert (then.in_place, then.out_place, then.cores, then.block_h, then.block_w) == (
        *("L1_BLOCK_SHARDED",) * 2,
        24,
        3,
        8,
    )
    assert settings_of(moved[1], 0).changed(law, "core_grid", "5x8").in_place == "L1_WIDTH_SHARDED"
    assert settings.changed(law, "math_fidelity", "LoFi").fidelity == "LoFi"
    assert settings.changed(MoveDescription("wormhole_b0"), "core_grid", "4x6") is None


def test_other_stages_softmax_and_no_cores_have_no_grid(moved, ops):
    op = printing(moved[0], distributed_norm_stage="DistributedLayerNormStage::PRE_ALL_GATHER")
    law = NormDescription("wormhole_b0", rows=576, width=1024)
    assert settings_of(op, 0).choices("core_grid") == ()
    assert "distributed" in on_grid(op, "8x6").unknown
    assert settings_of(op, 0).changed(law, "core_grid", "8x6") is None
    assert "side is 0" in on_grid(moved[0], "0x6").unknown
    assert "core_grid" not in settings_of(ops["softmax"], 0).takes
