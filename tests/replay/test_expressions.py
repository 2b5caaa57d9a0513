"""Printed text as an expression: what a call can be given is written, and nothing else of a report's text passes."""

import pytest

from tests.for_all import for_all
from tests.replay.rows import LEAKY, RELU
from ttnn_mcp.readers.printed.memory_config import parse_memory_config
from ttnn_mcp.readers.printed.nesting import parse_struct
from ttnn_mcp.replay.expressions import Unwritable, activation, activations, config, flag, kernel, placement

GRID = "compute_with_storage_grid_size=(x=8;y=4)"
CORES = "{[(x=0;y=0) - (x=7;y=3)]; [(x=0;y=4) - (x=1;y=4)]}"
SPREAD = "ttnn.CoreRange(ttnn.CoreCoord(0, 0), ttnn.CoreCoord(7, 3)), ttnn.CoreRange(ttnn.CoreCoord(0, 4), ttnn.CoreCoord(1, 4))"


def memory(layout, buffer, shard="std::nullopt"):
    place = parse_memory_config(
        f"MemoryConfig(memory_layout=TensorMemoryLayout::{layout};buffer_type=BufferType::{buffer};shard_spec={shard})"
    )
    assert place is not None
    return place


def shard(grid, shape="{64; 32}", orientation="ROW_MAJOR"):
    return f"ShardSpec(grid={grid};shape={shape};orientation=ShardOrientation::{orientation})"


@for_all(
    ("place", "text"),
    [
        (("INTERLEAVED", "DRAM"), "ttnn.DRAM_MEMORY_CONFIG"),
        (("INTERLEAVED", "L1"), "ttnn.L1_MEMORY_CONFIG"),
        (("WIDTH_SHARDED", "L1"), "ttnn.MemoryConfig(ttnn.TensorMemoryLayout.WIDTH_SHARDED, ttnn.BufferType.L1)"),
        (("HEIGHT_SHARDED", "L1", shard(CORES)), f"CoreRangeSet({{{SPREAD}}}), [64, 32], ttnn.ShardOrientation.ROW_MAJOR))"),
        (("HEIGHT_SHARDED", "L1", shard(CORES, orientation="COL_MAJOR")), "[64, 32], ttnn.ShardOrientation.COL_MAJOR))"),
        (("INTERLEAVED", "L1_SMALL"), None),
        (("ND_SHARDED", "L1"), None),
        (("HEIGHT_SHARDED", "L1", shard("{}")), None),
        (("HEIGHT_SHARDED", "L1", shard(CORES, "{1; 64; 32}")), None),
    ],
)  # fmt: skip
def test_a_placement_is_written_or_refused(place, text):
    if text is None:
        with pytest.raises(Unwritable):
            placement(memory(*place))
    else:
        assert placement(memory(*place)).endswith(text)


@for_all(
    ("printed", "swept", "text"),
    [
        (f"SDPAProgramConfig({GRID};q_chunk_size=32)", {}, "SDPAProgramConfig(compute_with_storage_grid_size=ttnn.CoreCoord(8, 4), q_chunk_size=32)"),
        ("SDPAProgramConfig(q_chunk_size=32;exp_approx_mode=0)", {}, "SDPAProgramConfig(q_chunk_size=32, exp_approx_mode=False)"),
        ("SDPAProgramConfig(q_chunk_size=32;sub_core_grids=std::nullopt)", {}, "SDPAProgramConfig(q_chunk_size=32)"),
        ("SDPAProgramConfig(q_chunk_size=32;sub_core_grids={1})", {}, None),
        ("SDPAProgramConfig(compute_with_storage_grid_size=(x=8))", {}, None),
        (f"MatmulMultiCoreProgramConfig({GRID})", {}, "MatmulMultiCoreProgramConfig()"),
        ("LayerNormDefaultProgramConfig(legacy_reduction=1;use_welford=1)", {}, "LayerNormDefaultProgramConfig(use_welford=True)"),
        ("SoftmaxShardedMultiCoreProgramConfig()", {}, "SoftmaxShardedMultiCoreProgramConfig()"),
        ("OtherProgramConfig()", {}, None),
        ("MatmulMultiCoreReuseMultiCastProgramConfig(out_block_h=2;per_core_M=4;out_block_w=8;per_core_N=8;gather_in0=0)",
         {"per_core_M": "m", "per_core_N": "n"},
         "MatmulMultiCoreReuseMultiCastProgramConfig(out_block_h=2, per_core_M=m, out_block_w=n, per_core_N=n)"),
        (f"MatmulMultiCoreReuseMultiCast1DProgramConfig(fused_activation={RELU})", {},
         "MatmulMultiCoreReuseMultiCast1DProgramConfig(fused_activation=ttnn.UnaryWithParam(ttnn.UnaryOpType.RELU))"),
        ("MatmulMultiCoreReuseMultiCast1DProgramConfig(mcast_in0=2)", {}, None),
    ],
)  # fmt: skip
def test_a_program_config_is_written_with_what_it_takes_or_refused(printed, swept, text):
    struct = parse_struct(printed)
    assert struct is not None
    if text is None:
        with pytest.raises(Unwritable):
            config(struct, swept)
    else:
        assert config(struct, swept) == f"ttnn.{text}"


def test_a_default_config_need_not_be_written():
    for printed in ("SoftmaxDefaultProgramConfig()", "LayerNormDefaultProgramConfig(use_welford=0)"):
        struct = parse_struct(printed)
        assert struct is not None
        assert config(struct, {}) is None


def test_a_kernel_config_without_any_known_field_is_refused():
    struct = parse_struct("WormholeComputeKernelConfig(throttle_level=ThrottleLevel::NO_THROTTLE)")
    assert struct is not None
    with pytest.raises(Unwritable):
        kernel(struct, {})


def test_flags_and_activations_are_written_or_refused():
    assert [flag(text) for text in ("1", " true", "False", "0")] == ["True", "True", "False", "False"]
    leaky = "ttnn.UnaryWithParam(ttnn.UnaryOpType.LEAKY_RELU, 0.1)"
    assert activations(RELU + LEAKY) == ["ttnn.UnaryWithParam(ttnn.UnaryOpType.RELU)", leaky]
    assert activation(LEAKY + RELU) == leaky
    for write, text in ((flag, "2"), (flag, "None"), (activations, f"{RELU}op_type=import"), (activation, "")):
        with pytest.raises(Unwritable):
            write(text)
