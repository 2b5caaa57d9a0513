"""What the row of a sharded norm or softmax tells of its program, and what it leaves out."""

from __future__ import annotations

import pytest

from tests.analyses.settings.rows import ops_in, printing
from tests.analyses.tables import put
from tests.for_all import for_all
from tests.profiles import Program, block_sharded
from tests.profiles.model import DeviceOp
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


@pytest.mark.parametrize(("placed", "grid"), [(EVEN, (8, 8)), (UNEVEN, (7, 4))])
def test_shards_lie_on_the_box_around_their_ranges(ops, placed, grid):
    assert norm_in(printing(ops["bare"], output_mem_config=placed)).shards == grid


@for_all(("name", "weights"), [("bare", (0, 0)), ("weight", (2048, 0)), ("all", (2048, 4096))])
def test_a_residual_is_no_weight(ops, name, weights):
    norm = norm_in(ops[name])
    assert (norm.weight_bytes, norm.bias_bytes) == weights


@pytest.mark.parametrize(("flag", "widest"), [(0, 8), (1, 16)])
def test_full_sync_doubles_the_tiles_of_dst(ops, flag, widest):
    op = printing(ops["bare"], compute_kernel_config=f"ComputeKernelConfig(dst_full_sync_en={flag})")
    trials = [settings_of(op, 0).tried("subblock_w", wide) for wide in (8, 16)]
    assert [f"subblock_w <= {widest} (DST)" in trial.broken for trial in trials] == [False, flag == 0]


def test_a_block_tells_what_it_changes(ops):
    trial = settings_of(ops["weight"], 0).tried("subblock_w", 4)
    assert (trial.now, trial.change, trial.effect, trial.broken) == (1, "subblock_w 1 becomes 4", True, ())
    assert sum(trial.buffers.values()) == 229_376  # TTNN 0.81.1's own, on a mock device
