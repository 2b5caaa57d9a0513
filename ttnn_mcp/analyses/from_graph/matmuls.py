"""Buffers of matmuls: with the program config of the call, or with the one that TTNN chooses.

MinimalMatmul with its own blocks or those of a config, and with what is fused into it: measured on TTNN 0.81.1 mock
devices, equal to the byte.
"""

from __future__ import annotations

import re
from dataclasses import replace
from math import ceil
from typing import Literal

from ttnn_mcp.analyses.from_graph.matmul_cores import Blocks, Chooser
from ttnn_mcp.analyses.from_graph.program import CALL, Buffers, Program
from ttnn_mcp.analyses.programs.dram_sharded import DramSharded
from ttnn_mcp.analyses.programs.matmul import MatmulPlan
from ttnn_mcp.analyses.programs.matmul_config import Tiles
from ttnn_mcp.analyses.programs.matmul_shards import Shard
from ttnn_mcp.analyses.programs.minimal_matmul import MinimalMatmul, default_config
from ttnn_mcp.hardware import filled_up
from ttnn_mcp.readers.graph.specs import Spec
from ttnn_mcp.readers.printed.nesting import PrintedStruct, parse_struct
from ttnn_mcp.records import dataclass

BANKED = "MatmulMultiCoreReuseMultiCastDRAMShardedProgramConfig"
KINDS: dict[str, Literal["2D", "1D", "Reuse"]] = {
    "MatmulMultiCoreReuseMultiCastProgramConfig": "2D",
    "MatmulMultiCoreReuseMultiCast1DProgramConfig": "1D",
    "MatmulMultiCoreReuseProgramConfig": "Reuse",
}
FACTORIES = {  # the config that each factory of 0.81.1 runs; a modelled choice that differs is wrong
    "MatmulMultiCoreReuseMcast2DProgramFactory": "2D",
    "MatmulMultiCoreReuseMcast1DProgramFactory": "1D",
    "MatmulMultiCoreReuseOptimizedProgramFactory": "Reuse",
    "MatmulMultiCoreProgramFactory": "Tiles",
}
_TRANSPOSED = re.compile(r", (\d), (\d), (\d), Tile\(")  # batched by the caller, first operand, second operand
_CORES = re.compile(r"x=(\d+), ?y=(\d+)")
_OPERANDS, _WITH_THIRD = 2, 3
CONVS = ("ttnn.conv1d", "ttnn.conv2d")  # of one point they are matmuls, their channels filled up to whole shards
_TRUE = {"1", "True", "true"}
_MINIMAL = re.compile(
    r"^MinimalMatmulParams\((?:std::nullopt|MinimalMatmulConfig\((?P<config>\d[\d, ]+)[^)]*\)), "
    r".*?ComputeKernelConfig\([^)]*\)(?P<end>.*)$"
)
_MINIMAL_FIELDS = 5
_SWIGLU = 3  # place among what is printed behind the kernel's config; absent before 0.81


@dataclass(frozen=True, slots=True)
class Operands:
    """Operands and output of a matmul as it multiplies them: transposed if the call says so."""

    a: Spec
    b: Spec
    out: Spec
    bias_bytes: int
    turned: bool = False  # the first

    @property
    def page_buffers(self) -> Buffers:
        """Bytes of a program without blocks: two tiles of each operand and of the output."""
        return {"IN0": 2 * self.a.tile_bytes, "IN1": 2 * self.b.tile_bytes, "OUT": 2 * self.out.tile_bytes}

    @property
    def tiles(self) -> Tiles:
        """One pair of matrices."""
        a, b = self.a, self.b
        return Tiles(a.rows, a.columns, b.columns, a.tile_bytes, b.tile_bytes, self.out.tile_bytes)


def matmul(program: Program) -> Buffers | None:
    """Bytes per core of a matmul."""
    if len(program.inputs) < _OPERANDS:
        return None
    operands = _operands(program)
    config = parse_struct(program.config)
    if config is not None and config.name == BANKED:
        return _banked(program, config, operands)
    blocks = _given(config) if config is not None else _chosen(program, operands)
    ran = FACTORIES.get(program.factory)
    if blocks is None or (ran is not None and ran != blocks.kind):
        return operands.page_buffers if ran == "Tiles" else None
    return _planned(program, blocks, operands)


def sparse_matmul(program: Program) -> Buffers | None:
    """Bytes per core of a sparse matmul: a 1D matmul, and words of the sparsity."""
    config = parse_struct(program.config)
    blocks = _given(config) if config is not None else None
    if blocks is None or len(program.inputs) < _WITH_THIRD:
        return None
    a, b, sparsity = program.inputs[:_WITH_THIRD]
    buffers = _planned(program, blocks, Operands(a, b, program.out, 0))
    words = 2 * filled_up(sparsity.row_bytes, program.machine.aligned)
    return {**buffers, "SPARSITY": words} if buffers is not None else None


def _operands(program: Program) -> Operands:
    a, b = program.inputs[:_OPERANDS]
    flags = _TRANSPOSED.search(program.attributes)
    if flags is not None:
        a, b = (_turned(spec) if flag == "1" else spec for spec, flag in ((a, flags[2]), (b, flags[3])))
    if a.held_width is not None and program.settings.get(CALL, "").startswith(CONVS):
        a = replace(a, shape=(*a.shape[:-1], filled_up(a.shape[-1], a.held_width)))
    bias = program.inputs[_OPERANDS].tile_bytes if len(program.inputs) >= _WITH_THIRD else 0
    return Operands(a, b, program.out, bias, turned=flags is not None and flags[2] == "1")


def _chosen(program: Program, operands: Operands) -> Blocks | None:
    """Without a program config: on the cores that the caller set, or on all."""
    machine, is_named = program.machine, "<xy_pair>" in program.attributes
    named = _CORES.search(program.settings.get("core_grid", "")) if is_named else None
    if is_named and named is None:
        return None
    grid = (int(named[1]), int(named[2])) if named else machine.grid
    if grid[0] > machine.grid[0] or grid[1] > machine.grid[1]:
        grid = machine.grid  # TTNN ignores a grid that the chip does not have
    specs = (operands.a, operands.b, operands.out)
    kernel = (program.fp32, operands.bias_bytes)
    return Chooser(*specs, grid, program.room.before, *kernel, given_grid=is_named, turned=operands.turned).blocks()


def _given(config: PrintedStruct) -> Blocks | None:
    """With a program config; None for one of another kind."""
    k, per_m, per_n = (config.number(key) or 0 for key in ("in0_block_w", "per_core_M", "per_core_N"))
    if config.name not in KINDS or min(k, per_m, per_n) < 1:
        return None
    high, wide = config.number("out_block_h") or per_m, config.number("out_block_w") or per_n
    mcast_in0 = config.fields.get("mcast_in0") in _TRUE
    return Blocks(KINDS[config.name], k, per_m, per_n, high, wide, mcast_in0)


def _planned(program: Program, blocks: Blocks, operands: Operands) -> Buffers | None:
    if blocks.kind == "Tiles":
        return operands.page_buffers
    a, out = operands.a, operands.out
    if any(spec.sharded_in_l1 and spec.held is None for spec in (a, out)):
        return None
    plan = MatmulPlan(
        kind=blocks.kind,
        tiles=operands.tiles,
        grid=(1, 1),
        device_grid=None,
        in0_block_w=blocks.in0_block_w,
        out_subblock_h=1,
        out_subblock_w=1,
        per_core_m=blocks.per_core_m,
        per_core_n=blocks.per_core_n,
        mcast_in0=blocks.mcast_in0,
        batch=_times(program, operands),
        block_h=blocks.block_h,
        block_w=blocks.block_w,
        fp32=program.fp32,
        packer_l1=program.packer_l1,
        output=out.held[0] if out.held else None,
        shard=Shard(*a.held) if a.held else None,
        bias_bytes=operands.bias_bytes,
    )
    sizes = plan.buffers
    if blocks.kind == "1D" and operands.b.batch == 1 and a.columns == blocks.in0_block_w and plan.batch > 1:
        sizes["IN1"] //= 2  # one block serves all batches: nothing to read ahead
    if operands.turned:
        sizes["TURNED"] = sizes["IN0"]
    if a.batch == 1 and operands.b.batch > 1 and not blocks.mcast_in0:
        sizes["IN0"] = blocks.per_core_m * a.columns * a.tile_bytes  # kept for all batches of the second operand
    return sizes


def _times(program: Program, operands: Operands) -> int:
    """How many pairs of matrices a core multiplies one after the other; batches of a single second one may be fused."""
    a, b, config = operands.a, operands.b, parse_struct(program.config)
    if b.batch > 1:
        return max(a.batch, b.batch)
    if config is not None:
        return 1 if config.fields.get("fuse_batch", "1") in _TRUE else a.batch
    return 1 if "<xy_pair>" in program.attributes or a.sharded_in_l1 or operands.out.sharded_in_l1 else a.batch


def _banked(program: Program, config: PrintedStruct, operands: Operands) -> Buffers | None:
    """Weights sharded over the banks of DRAM."""
    width, per_m, per_n = (config.number(key) or 0 for key in ("in0_block_w", "per_core_M", "per_core_N"))
    machine, a = program.machine, operands.a
    if min(width, per_m, per_n, machine.dram_banks) < 1:
        return None
    tiles = replace(operands.tiles, m=a.batch * a.rows)
    holders = a.placement.cores if a.placement else None
    plan = DramSharded(
        tiles=tiles,
        banks=machine.dram_banks,
        cores=machine.cores,
        storage_cores=holders or max(ceil(tiles.n / per_n), 1),
        in0_block_w=width,
        per_core_m=per_m,
        per_core_n=per_n,
        fp32=program.fp32,
        packer_l1=program.packer_l1,
        bias_bytes=operands.bias_bytes,
        readers=config.number("num_workers_per_dram_bank") or 1,
    )
    return plan.buffers


def _turned(spec: Spec) -> Spec:
    return replace(spec, shape=(*spec.shape[:-2], spec.shape[-1], spec.shape[-2]))


def minimal_matmul(program: Program) -> Buffers | None:
    """Operands, output, sums, bias; of a fused addcmul the tensor that is added and the row that it is scaled by."""
    printed = _MINIMAL.match(program.attributes)
    if printed is None or len(program.inputs) < _OPERANDS:
        return None
    a, b, *others = program.inputs
    numbers = [int(number) for number in re.findall(r"\d+", printed["config"] or "")]
    if numbers and len(numbers) != _MINIMAL_FIELDS:
        return None
    block, subblock = default_config(a.batch * a.rows, b.columns, fp32=program.fp32)
    if numbers:
        block, subblock = (numbers[0], numbers[1], numbers[2]), (numbers[3], numbers[4])
    scaled = others[-2:] if len(others) >= _OPERANDS else []  # beside a bias there is nothing else
    bias = others[0].tile_bytes if len(others) > len(scaled) else 0
    sizes = (a.tile_bytes, b.tile_bytes, program.out.tile_bytes, bias)
    grid = program.machine.grid
    buffers = MinimalMatmul(block, subblock, grid, grid, *sizes, fp32=program.fp32).buffers
    high, _, wide = block
    behind = printed["end"].rstrip(")").split(", ")
    if len(behind) > _SWIGLU and behind[_SWIGLU] == "1":  # two columns become one
        buffers["OUT"] //= 2
    if scaled:
        buffers |= {"ADDED": high * wide * scaled[0].tile_bytes, "SCALE": wide * scaled[1].tile_bytes}
    return buffers
