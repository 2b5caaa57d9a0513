"""Buffers of matmuls: with the program config of the call, or with the one that TTNN chooses."""

from __future__ import annotations

import re
from dataclasses import replace
from math import ceil
from typing import TYPE_CHECKING

from ttnn_mcp.analyses.op_kinds.matmul_config import Tiles
from ttnn_mcp.analyses.program_models.auto_matmul import Blocks, Chooser
from ttnn_mcp.analyses.settings.dram_sharded import DramSharded
from ttnn_mcp.analyses.settings.matmul_plan import MatmulPlan, Shard
from ttnn_mcp.analyses.settings.minimal_matmul import MinimalMatmul, default_config
from ttnn_mcp.hardware import TILE_SIDE
from ttnn_mcp.readers.printed.nesting import PrintedStruct, parse_struct

if TYPE_CHECKING:
    from collections.abc import Mapping

    from ttnn_mcp.analyses.memory.programs import Room
    from ttnn_mcp.analyses.program_models.machine import Machine
    from ttnn_mcp.readers.graph.launches import Launch, Spec

BANKED = "MatmulMultiCoreReuseMultiCastDRAMShardedProgramConfig"
KINDS = {
    "MatmulMultiCoreReuseMultiCastProgramConfig": "2D",
    "MatmulMultiCoreReuseMultiCast1DProgramConfig": "1D",
    "MatmulMultiCoreReuseProgramConfig": "Reuse",
}
FACTORIES = {  # what a factory of 0.81.1 runs; a choice that contradicts it is wrong
    "MatmulMultiCoreReuseMcast2DProgramFactory": "2D",
    "MatmulMultiCoreReuseMcast1DProgramFactory": "1D",
    "MatmulMultiCoreReuseOptimizedProgramFactory": "Reuse",
    "MatmulMultiCoreProgramFactory": "Tiles",
}
_TRANSPOSED = re.compile(r", (\d), (\d), (\d), Tile\(")  # batched by the caller, first operand, second operand
_GRID = re.compile(r"x=(\d+), ?y=(\d+)")


def matmul(launch: Launch, room: Room, machine: Machine, asked: Mapping[str, str]) -> int | None:
    """Bytes per core of a matmul; `asked` are the printed `program_config` and `core_grid` of the call."""
    if len(launch.inputs) < 2 or not launch.outputs:
        return None
    a, b, out = launch.inputs[0], launch.inputs[1], launch.outputs[0]
    flags = _TRANSPOSED.search(launch.attributes)
    if flags is not None:
        a, b = (_turned(spec) if flag == "1" else spec for spec, flag in ((a, flags[2]), (b, flags[3])))
    bias = launch.inputs[2].tile_bytes if len(launch.inputs) > 2 else 0
    config = parse_struct(asked.get("program_config", ""))
    if config is not None and config.name == BANKED:
        return _banked(launch, config, machine, (a, b, out), bias)
    if config is not None and config.name in KINDS:
        blocks = _given(config)
    else:
        blocks = _chosen(launch, room, machine, (a, b, out), bias, asked.get("core_grid"))
    if blocks is None or FACTORIES.get(launch.factory, blocks.kind) != blocks.kind:
        return 2 * (a.tile_bytes + b.tile_bytes + out.tile_bytes) if _is_plain(launch) else None
    return _planned(launch, blocks, (a, b, out), bias)


def sparse_matmul(launch: Launch, room: Room, machine: Machine, asked: Mapping[str, str]) -> int | None:
    """Bytes per core of a sparse matmul: a 1D matmul, and words of the sparsity."""
    config = parse_struct(asked.get("program_config", ""))
    if config is None or config.name not in KINDS or len(launch.inputs) < 3:
        return None
    blocks = _given(config)
    specs = (launch.inputs[0], launch.inputs[1], launch.outputs[0])
    return _planned(launch, blocks, specs, 0) + 2 * launch.inputs[2].row_bytes + TILE_SIDE if blocks else None


def minimal_matmul(launch: Launch, room: Room, machine: Machine) -> int | None:
    """Bytes per core of a MinimalMatmul without a config."""
    if len(launch.inputs) < 2 or not launch.attributes.startswith("MinimalMatmulParams(std::nullopt, std::nullopt, "):
        return None
    a, b, out = launch.inputs[0], launch.inputs[1], launch.outputs[0]
    fp32 = fp32_of(launch)
    block, subblock = default_config(a.batch * a.rows, b.columns, fp32=fp32)
    bias = launch.inputs[2].tile_bytes if len(launch.inputs) > 2 else 0
    sizes = (a.tile_bytes, b.tile_bytes, out.tile_bytes, bias)
    plan = MinimalMatmul(block, subblock, machine.grid, machine.grid, *sizes, fp32=fp32)
    return sum(plan.buffers.values())


def _is_plain(launch: Launch) -> bool:
    return FACTORIES.get(launch.factory) == "Tiles"


def _chosen(
    launch: Launch, room: Room, machine: Machine, specs: tuple[Spec, Spec, Spec], bias: int, core_grid: str | None
) -> Blocks | None:
    a, b, out = specs
    named = _GRID.search(core_grid or "")
    if named is None and "<xy_pair>" in launch.attributes:
        return None  # the caller named the cores, and the report does not say which
    grid = (int(named[1]), int(named[2])) if named else machine.grid
    is_given = named is not None and "<xy_pair>" in launch.attributes
    fp32 = fp32_of(launch)
    return Chooser(a, b, out, grid, room.before, fp32=fp32, bias_bytes=bias, given_grid=is_given).blocks()


def _given(struct: PrintedStruct) -> Blocks | None:
    sizes = [struct.number(key) for key in ("in0_block_w", "per_core_M", "per_core_N")]
    if any(size is None or size < 1 for size in sizes):
        return None
    k, per_m, per_n = (size or 1 for size in sizes)
    high, wide = (struct.number(key) or whole for key, whole in (("out_block_h", per_m), ("out_block_w", per_n)))
    kind = KINDS[struct.name]
    mcast_in0 = struct.fields.get("mcast_in0") in ("1", "True", "true")
    return Blocks(kind, k, per_m, per_n, high, wide, mcast_in0)  # type: ignore[arg-type]


def _planned(launch: Launch, blocks: Blocks, specs: tuple[Spec, Spec, Spec], bias: int) -> int:
    a, b, out = specs
    if blocks.kind == "Tiles":
        return 2 * (a.tile_bytes + b.tile_bytes + out.tile_bytes)
    shard = a.shard if a.sharded_in_l1 else None
    layout = a.placement.layout if a.placement else "INTERLEAVED"
    tiles = Tiles(a.rows, a.columns, b.columns, a.tile_bytes, b.tile_bytes, out.tile_bytes)
    plan = MatmulPlan(
        kind=blocks.kind,
        tiles=tiles,
        grid=(1, 1),
        device_grid=None,
        in0_block_w=blocks.in0_block_w,
        out_subblock_h=1,
        out_subblock_w=1,
        per_core_m=blocks.per_core_m,
        per_core_n=blocks.per_core_n,
        mcast_in0=blocks.mcast_in0,
        batch=a.batch if b.batch > 1 else 1,
        block_h=blocks.block_h,
        block_w=blocks.block_w,
        fp32=fp32_of(launch),
        packer_l1="packer_l1_acc=1" in launch.attributes or not is_printed(launch),
        output=out.placement.layout if out.placement and out.sharded_in_l1 else None,
        shard=Shard(layout, *shard) if shard else None,
        bias_bytes=bias,
    )
    return sum(plan.buffers.values())


def _banked(
    launch: Launch, struct: PrintedStruct, machine: Machine, specs: tuple[Spec, Spec, Spec], bias: int
) -> int | None:
    a, b, out = specs
    sizes = [struct.number(key) for key in ("in0_block_w", "per_core_M", "per_core_N")]
    banks = machine.dram_banks
    if any(not size for size in sizes) or not banks:
        return None
    width, per_m, per_n = (size or 1 for size in sizes)
    tiles = Tiles(a.batch * a.rows, a.columns, b.columns, a.tile_bytes, b.tile_bytes, out.tile_bytes)
    holders = a.placement.cores if a.placement else None
    plan = DramSharded(
        tiles=tiles,
        banks=banks,
        cores=machine.grid[0] * machine.grid[1],
        storage_cores=holders or max(ceil(tiles.n / per_n), 1),
        in0_block_w=width,
        per_core_m=per_m,
        per_core_n=per_n,
        fp32=fp32_of(launch),
        packer_l1="packer_l1_acc=1" in launch.attributes or not is_printed(launch),
        bias_bytes=bias,
    )
    return sum(plan.buffers.values())


def fp32_of(launch: Launch, *, unprinted: bool = False) -> bool:
    """Whether its kernels accumulate in FLOAT32; `unprinted` is for graphs until 0.67, which print no attributes."""
    return "fp32_dest_acc_en=1" in launch.attributes or (unprinted and not is_printed(launch))


def is_printed(launch: Launch) -> bool:
    """Whether the graph prints the op's attributes."""
    return "unsupported type" not in launch.attributes


def _turned(spec: Spec) -> Spec:
    return replace(spec, shape=(*spec.shape[:-2], spec.shape[-1], spec.shape[-2]))
