"""The matmul of a row: its operands in tiles, and its program config, or the one that we suggest."""

from __future__ import annotations

from math import ceil

from ttnn_mcp.analyses.from_graph.matmuls import BANKED, KINDS
from ttnn_mcp.analyses.programs.dram_sharded import DramSharded
from ttnn_mcp.analyses.programs.grids import Grid, worker_grid
from ttnn_mcp.analyses.programs.matmul import MatmulPlan
from ttnn_mcp.analyses.programs.matmul_config import Tiles, suggested, turns_first
from ttnn_mcp.analyses.programs.minimal_matmul import MinimalMatmul, default_config
from ttnn_mcp.analyses.settings.compute import accumulates_fp32, grid_of, kernel_flag, tile_bytes
from ttnn_mcp.analyses.settings.held import Bounds
from ttnn_mcp.analyses.settings.matmul_first_operand import first_bytes, first_in_shards, first_shard, told_tiles
from ttnn_mcp.analyses.settings.trial import Op
from ttnn_mcp.errors import shown
from ttnn_mcp.hardware import TILE_SIDE
from ttnn_mcp.readers.printed.memory_config import parse_memory_config
from ttnn_mcp.readers.printed.nesting import PrintedStruct
from ttnn_mcp.records import dataclass
from ttnn_mcp.run.ops.op_names import canonical

_SIZES = ("in0_block_w", "out_subblock_h", "out_subblock_w", "per_core_M", "per_core_N")
_BIAS = 2  # place of the bias among the inputs


@dataclass(frozen=True, slots=True)
class PrintedMatmul:
    """A matmul as far as its row describes it.

    Attributes:
        plan: the matmul and its config; None if not modelled.
        why_not: why it is not modelled.
        was_given: whether the row has a program config; otherwise the plan's config is our suggestion.
        shard_unknown: whether the first operand is sharded and its shard is not printed.
        first_bytes: bytes of the first operand's shard, at least and at most; None if it is not sharded, or where they
            follow from nothing but its size.
    """

    plan: MatmulPlan | DramSharded | MinimalMatmul | None
    why_not: str = ""
    was_given: bool = False
    shard_unknown: bool = False
    first_bytes: Bounds | None = None


UNKNOWN = PrintedMatmul(None, "operands of unknown data type")


def printed_matmul(op: Op, safe_bytes: float) -> PrintedMatmul:
    """The matmul of an op. A config that we suggest takes at most `safe_bytes` of L1."""
    if canonical(op.table.texts("op_code")[0]).startswith("MinimalMatmul"):
        return printed_minimal(op)
    config = op.attributes.struct("program_config")
    tiles = _tiles(op, config)
    if tiles is None:
        return UNKNOWN
    if turns_first(op.table, 0, op.attributes):
        return PrintedMatmul(None, "a first operand that is transposed within the op is not modelled")
    if config is None:
        return _suggested(op, tiles, safe_bytes)
    return _banked(op, tiles, config) if config.name == BANKED else _multicast(op, tiles, config)


def _multicast(op: Op, tiles: Tiles, config: PrintedStruct) -> PrintedMatmul:
    """A matmul with one of the program configs that distribute blocks over a grid."""
    kind, grid = KINDS.get(config.name), grid_of(config)
    numbers = [config.number(key) for key in _SIZES]
    if kind is None or grid is None or None in numbers:
        return PrintedMatmul(None, f"{shown(config.name)} is not modelled")
    if config.number("gather_in0") == 1 or config.fields.get("transpose_mcast") == "1":
        return PrintedMatmul(None, "gather_in0 and transpose_mcast are not modelled")
    width, high, wide, per_m, per_n = (number or 0 for number in numbers)
    output = _output(op)
    if op.table.inputs[1].sharded[0]:
        return PrintedMatmul(None, "weights in shards are not modelled")
    if kind == "1D" and output == "BLOCK_SHARDED":
        return PrintedMatmul(None, "a 1D program that writes BLOCK_SHARDED is not modelled")
    shard = first_shard(op, kind, tiles, per_m, width)
    plan = MatmulPlan(
        kind=kind,
        tiles=tiles,
        grid=grid,
        device_grid=worker_grid(op.chip),
        in0_block_w=width,
        out_subblock_h=high,
        out_subblock_w=wide,
        per_core_m=per_m,
        per_core_n=per_n,
        mcast_in0=config.fields.get("mcast_in0") == "1",
        batch=_batch(op, config),
        block_h=_smaller(config.number("out_block_h"), per_m),
        block_w=_smaller(config.number("out_block_w"), per_n),
        fp32=accumulates_fp32(op),
        packer_l1=kernel_flag(op, "packer_l1_acc"),
        full_sync=kernel_flag(op, "dst_full_sync_en"),
        output=output,
        output_grid=_output_grid(op),
        shard=shard,
        bias_bytes=_bias_bytes(op),
    )
    unknown = shard is not None and shard.columns is None
    bounds = first_bytes(op, shard, tiles) if shard is not None else None
    return PrintedMatmul(plan, was_given=True, shard_unknown=unknown, first_bytes=bounds)


def _suggested(op: Op, tiles: Tiles, safe_bytes: float) -> PrintedMatmul:
    grid, fp32 = worker_grid(op.chip), accumulates_fp32(op)
    if _batch(op, None) > 1:
        return PrintedMatmul(None, "the call set no program config, and both operands are batched")
    suggestion = suggested(tiles, grid, safe_bytes, fp32_acc=fp32) if grid else None
    if suggestion is None:
        return PrintedMatmul(None, "the call set no program config, and no suggestion fits")
    plan = MatmulPlan(
        kind=suggestion.kind,
        tiles=tiles,
        grid=suggestion.grid,
        device_grid=grid,
        in0_block_w=suggestion.in0_block_w,
        out_subblock_h=suggestion.out_subblock_h,
        out_subblock_w=suggestion.out_subblock_w,
        per_core_m=suggestion.per_core_m,
        per_core_n=suggestion.per_core_n,
        mcast_in0=suggestion.mcast_in0,
        fp32=fp32,
        packer_l1=kernel_flag(op, "packer_l1_acc"),
        output=_output(op),
        bias_bytes=_bias_bytes(op),
    )
    return PrintedMatmul(plan, shard_unknown=first_in_shards(op) and told_tiles(op) is None)


def _banked(op: Op, tiles: Tiles, config: PrintedStruct) -> PrintedMatmul:
    """A matmul with weights in DRAM banks; the first operand is on the cores of the output, unless a report tells."""
    width, per_m, per_n = (config.number(key) for key in ("in0_block_w", "per_core_M", "per_core_N"))
    if not (width and per_m and per_n):
        return PrintedMatmul(None, "its config is cut off")
    banks = op.chip.known_dram_banks
    if banks is None:
        return PrintedMatmul(None, "the number of DRAM banks of this chip is not known")
    shard = told_tiles(op)
    plan = DramSharded(
        tiles=tiles,
        banks=banks,
        cores=op.chip.worker_cores,
        storage_cores=ceil(tiles.k / shard[1]) if shard else max(ceil(tiles.n / per_n), 1),
        in0_block_w=width,
        per_core_m=per_m,
        per_core_n=per_n,
        fp32=accumulates_fp32(op),
        packer_l1=kernel_flag(op, "packer_l1_acc"),
        bias_bytes=_bias_bytes(op),
        readers=config.number("num_workers_per_dram_bank") or 1,
    )
    return PrintedMatmul(plan, was_given=True, shard_unknown=shard is None)


def printed_minimal(op: Op) -> PrintedMatmul:
    """The minimal_matmul of an op, also where it is fused with an exchange."""
    tiles = _tiles(op, None)
    if tiles is None:
        return UNKNOWN
    config, fp32 = op.attributes.struct("config"), accumulates_fp32(op)
    block, subblock = default_config(tiles.m, tiles.n, fp32=fp32)
    grid = grid_of(config) if config else worker_grid(op.chip)
    if config is not None:
        sizes = [config.number(key) or 0 for key in ("M_block_size", "K_block_size", "N_block_size")]
        block = (sizes[0], sizes[1], sizes[2])
        subblock = (config.number("subblock_h") or 0, config.number("subblock_w") or 0)
    if grid is None or min(*block, *subblock) < 1:
        return PrintedMatmul(None, "its config does not print all block sizes")
    if op.attributes.text_of("fused_ternary_scalar") or op.attributes.flag("fuse_swiglu"):
        return PrintedMatmul(None, "fused ternary and SwiGLU forms are not modelled")
    sizes_of = (tiles.a_bytes, tiles.b_bytes, tiles.out_bytes, _bias_bytes(op))
    plan = MinimalMatmul(block, subblock, grid, worker_grid(op.chip), *sizes_of, fp32=fp32)
    return PrintedMatmul(plan, was_given=config is not None)


def _tiles(op: Op, config: PrintedStruct | None) -> Tiles | None:
    a, out = op.table.inputs[0], op.table.outputs[0]
    sizes = [tile_bytes(op, 0), tile_bytes(op, 1), tile_bytes(op, -1)]
    if None in sizes:
        return None
    rows = int(a.padded[0, 2] if _batch(op, config) > 1 else a.height[0])
    m, k, n = (ceil(size / TILE_SIDE) for size in (rows, int(a.padded[0, 3]), int(out.padded[0, 3])))
    return Tiles(m, k, n, *(float(size or 0) for size in sizes)) if min(m, k, n) > 0 else None


def _batch(op: Op, config: PrintedStruct | None) -> int:
    """Matrices of the first operand that are multiplied one after the other; 1 where they are rows of one matrix."""
    apart = config is not None and config.number("fuse_batch") == 0
    second = int(op.table.inputs[1].padded[0, :2].prod())
    return int(op.table.inputs[0].padded[0, :2].prod()) if second > 1 or apart else 1


def _bias_bytes(op: Op) -> float:
    if len(op.table.inputs) <= _BIAS:
        return 0.0
    return float(tile_bytes(op, _BIAS) or 0)


def _output(op: Op) -> str | None:
    """Layout of a sharded output, from output_mem_config or else from the output's cell; None if interleaved."""
    out = op.table.outputs[0]
    placement = parse_memory_config(op.attributes.get("output_mem_config", ""))
    if placement is not None:
        return placement.layout if placement.sharded else None
    return out.placement[0].partition("_")[2] if out.sharded[0] else None


def _output_grid(op: Op) -> Grid | None:
    """Columns and rows of the cores that output_mem_config names for the shards; None if it names none."""
    placement = parse_memory_config(op.attributes.get("output_mem_config", ""))
    if placement is None or placement.shard is None or not placement.shard.ranges:
        return None
    ends = [end for _, end in placement.shard.ranges]
    return max(x for x, _ in ends) + 1, max(y for _, y in ends) + 1


def _smaller(block: int | None, side: int) -> int | None:
    return block if block and 0 < block != side else None
