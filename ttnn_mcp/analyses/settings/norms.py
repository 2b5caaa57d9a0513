"""Settings of layer norm, RMS norm and softmax: blocks and sub-blocks of shards, and the grid that holds the shards."""

from __future__ import annotations

from dataclasses import replace
from math import ceil

from ttnn_mcp.analyses.laws.descriptions import Described
from ttnn_mcp.analyses.laws.others import NormDescription
from ttnn_mcp.analyses.programs.convs import divisors
from ttnn_mcp.analyses.programs.grids import DEFAULT_GRID, Grid, worker_grid
from ttnn_mcp.analyses.programs.norms import ShardedNorm, ShardedSoftmax, blocks_on, leaves_none_out
from ttnn_mcp.analyses.settings.compute import accumulates_fp32, grid_named, grid_of, kernel_flag, tile_bytes
from ttnn_mcp.analyses.settings.held import Bounds, held_in_l1
from ttnn_mcp.analyses.settings.judges import Judge, JudgedSettings, judges_of_plan
from ttnn_mcp.analyses.settings.trial import Op, Trial, Value, broken_of, per_step_ns
from ttnn_mcp.hardware import TILE_BYTES, TILE_SIDE
from ttnn_mcp.readers.printed.memory_config import parse_memory_config
from ttnn_mcp.readers.printed.nesting import PrintedStruct
from ttnn_mcp.records import dataclass
from ttnn_mcp.run.ops.op_names import canonical
from ttnn_mcp.run.ops.operand import Operand

FIELDS = ("subblock_w", "block_h", "block_w")
GRIDS_AT_MOST = 24  # listed, those with the most cores (ours)
NEEDS = (
    "x and the result in L1 {} shards on that grid (a move each where the neighbours have others); block_h and block_w "
    "of LayerNormShardedMultiCoreProgramConfig are a shard's tiles, subblock_w=1"
)
NORM_CONFIG, SOFTMAX_CONFIG = "LayerNormShardedMultiCoreProgramConfig", "SoftmaxShardedMultiCoreProgramConfig"


def norm_in(op: Op) -> ShardedNorm | ShardedSoftmax | str:
    """The norm of the op, or the reason why its config cannot be judged."""
    config = op.attributes.struct("program_config") or PrintedStruct("an interleaved input", {})
    if config.name not in (NORM_CONFIG, SOFTMAX_CONFIG):
        return f"only the program configs of sharded norms and softmax have blocks: this one ran with {config.name}"
    placement = parse_memory_config(op.attributes.get("output_mem_config", ""))
    shard = placement.shard if placement else None
    blocks = [config.number(key) for key in ("block_h", "block_w", "subblock_w")]
    grid = grid_of(config)
    if shard is None or not shard.ranges or grid is None or None in blocks:
        return "the report does not print its shards"
    starts, ends = [corner for corner, _ in shard.ranges], [corner for _, corner in shard.ranges]
    shards = (
        max(x for x, _ in ends) - min(x for x, _ in starts) + 1,
        max(y for _, y in ends) - min(y for _, y in starts) + 1,
    )
    high, wide, sub = (number or 0 for number in blocks)
    if config.name == SOFTMAX_CONFIG:
        return _softmax(op, (high, wide, sub), grid, shards)
    return _norm(op, config, (high, wide, sub), (grid, shards))


def norm_on(op: Op, cores: Grid) -> ShardedNorm | str:
    """The layer norm of the op in shards on a grid of cores, wherever its input lies now."""
    x, config = op.table.inputs[0], op.attributes.struct("program_config") or PrintedStruct("", {})
    rows, columns = ceil(int(x.height[0]) / TILE_SIDE), ceil(int(x.padded[0, 3]) / TILE_SIDE)
    if min(rows, columns, *cores) < 1:
        return "a side is 0"
    return _norm(op, config, (*blocks_on(rows, columns, cores), 1), (cores, cores))


def _norm(
    op: Op, config: PrintedStruct, blocks: tuple[int, int, int], grids: tuple[Grid, Grid]
) -> ShardedNorm | str:
    x, inputs = op.table.inputs[0], op.table.inputs
    if config.number("use_welford") == 1:
        return "Welford's algorithm is not modelled"
    if op.attributes.get("distributed_norm_stage", "").rpartition(":")[2] not in ("", "NOT_DISTRIBUTED"):
        return "stages of a distributed norm are not modelled"
    (high, wide, sub), (grid, shards) = blocks, grids
    # gamma and beta; a residual is sharded and read in place
    weight_places = [
        place for place in range(1, len(inputs)) if inputs[place].present[0] and not inputs[place].sharded[0]
    ]
    weights = [float(tile_bytes(op, place) or TILE_BYTES["BFLOAT16"]) for place in weight_places]
    return ShardedNorm(
        rows=ceil(int(x.height[0]) / TILE_SIDE),
        columns=ceil(int(x.padded[0, 3]) / TILE_SIDE),
        shards=shards,
        grid=grid,
        block_h=high,
        block_w=wide,
        subblock_w=sub,
        device_grid=worker_grid(op.chip),
        root_mean_square="RMSNORM" in op.attributes.get("norm_type", ""),
        fp32=accumulates_fp32(op),
        full_sync=kernel_flag(op, "dst_full_sync_en"),
        weight_bytes=weights[0] if weights else 0.0,
        bias_bytes=weights[1] if len(weights) > 1 else 0.0,
    )


def _softmax(op: Op, blocks: tuple[int, int, int], grid: Grid, shards: Grid) -> ShardedSoftmax | str:
    if any(operand.present[0] for operand in op.table.inputs[1:]):
        return "a softmax with a mask is not modelled"
    x, cores = op.table.inputs[0], shards[0] * shards[1]
    rows, columns = int(x.height[0]) // TILE_SIDE, int(x.padded[0, 3]) // TILE_SIDE
    high, wide, sub = blocks
    stable = op.attributes.flag("numeric_stable") or False
    shard = (rows // cores, columns)
    within = worker_grid(op.chip)
    return ShardedSoftmax(shard, shards, grid, high, wide, sub, accumulates_fp32(op), stable, device_grid=within)


@dataclass(frozen=True)
class NormSettings(JudgedSettings):
    """The settings of one norm or softmax; `norm` is a text if its blocks cannot be judged: the reason."""

    norm: ShardedNorm | ShardedSoftmax | str

    @property
    def judges(self) -> dict[str, Judge]:
        """The judge of each setting."""
        others = {"math_fidelity": self.fidelity, **({"core_grid": self._grid} if self._is_layer_norm else {})}
        return {**judges_of_plan(self.op, self.norm, FIELDS, self._block), **others}

    @property
    def _is_layer_norm(self) -> bool:
        return canonical(self.op.table.texts("op_code")[0]) == "LayerNorm"

    def sizes(self, setting: str) -> tuple[Value, ...]:
        """Sub-blocks that divide the block; the shards decide the block. Grids of which each core gets a shard."""
        norm = self.norm
        if setting == "core_grid":
            return self._grids()
        if isinstance(norm, str):
            return ()
        return tuple(divisors(norm.block_w)) if setting == "subblock_w" else (getattr(norm, setting),)

    def changed(self, now: Described, setting: str, value: Value) -> Described | None:
        """On another grid the blocks are others."""
        if setting != "core_grid" or not isinstance(now, NormDescription):
            return super().changed(now, setting, value)
        norm = norm_on(self.op, grid_named(value))
        if isinstance(norm, str):
            return None
        place, cores = f"L1_{_layout(norm)}_SHARDED", norm.grid[0] * norm.grid[1]
        blocks = {"block_h": norm.block_h, "block_w": norm.block_w}
        return replace(now, in_place=place, out_place=place, cores=cores, **blocks)

    def _grids(self) -> tuple[str, ...]:
        across, down = worker_grid(self.op.chip) or DEFAULT_GRID
        norm = norm_on(self.op, (across, down))
        if isinstance(norm, str):
            return ()
        grids = [(x, y) for x in range(1, across + 1) for y in range(1, down + 1)]
        whole = [grid for grid in grids if leaves_none_out(norm.rows, norm.columns, grid)]
        most = sorted(whole, key=lambda grid: grid[0] * grid[1])[-GRIDS_AT_MOST:]
        return tuple(f"{x}x{y}" for x, y in most)

    def _grid(self, value: Value) -> Trial:
        """The norm in shards on that grid, in place of other shards or of none."""
        norm, now = norm_on(self.op, grid_named(value)), self.norm
        if isinstance(norm, str):
            return Trial(None, unknown=norm)
        before = None if isinstance(now, str) else "x".join(str(side) for side in now.shards)
        even = leaves_none_out(norm.rows, norm.columns, norm.grid)
        broken = broken_of({**norm.rules(), "each core of the grid gets a shard": even})
        if broken:
            return Trial(before, broken)
        cores, held = norm.grid[0] * norm.grid[1], held_in_l1(self.op, self._shards(norm))
        was = held_in_l1(self.op, {} if isinstance(now, str) else self._shards(now))
        new = self._bytes_of_new_shards(norm)
        return Trial(
            before,
            buffers=norm.buffers,
            tensors={**held.tensors, "SHARDS": new},
            unsure_bytes=held.unsure_bytes,
            grown=held.least - was.least + new,
            ran=None if isinstance(now, str) else (sum(now.buffers.values()), 0),
            change=f"{cores} cores, each with {norm.block_h}x{norm.block_w} tiles",
            at_most_ns=per_step_ns(self.op, cores, self.op.cores or cores),
            needs=NEEDS.format(_layout(norm)),
            effect=str(value) != before,
        )

    def _block(self, current: ShardedNorm | ShardedSoftmax, setting: str, value: int) -> Trial:
        changed = replace(current, **{setting: value})
        before = getattr(current, setting)
        held = held_in_l1(self.op, self._shards(current))
        return Trial(
            before,
            broken_of(changed.rules()),
            buffers=changed.buffers,
            tensors=held.tensors,
            unsure_bytes=held.unsure_bytes,
            ran=(sum(current.buffers.values()), 0),
            change=f"{setting} {before} becomes {value}",
            effect=changed != current,
        )

    def _shards(self, norm: ShardedNorm | ShardedSoftmax) -> dict[str, Bounds]:
        """A block is the shard of the input, of a residual and of the output."""
        tensors = (*self.op.table.inputs, *self.op.table.outputs)
        sizes = {tensor.name: _block_bytes(norm, tensor) for tensor in tensors if tensor.sharded[0]}
        return {name: (size, size) for name, size in sizes.items()}

    def _bytes_of_new_shards(self, norm: ShardedNorm) -> int:
        """Bytes per core of the input, a residual and the output, as far as they lie in no shards yet."""
        first, *others = self.op.table.inputs
        alike = (tensor for tensor in others if tensor.present[0] and tensor.elements[0] == first.elements[0])
        tensors = (first, *alike, self.op.table.outputs[0])
        return sum(_block_bytes(norm, tensor) for tensor in tensors if not tensor.sharded[0])


def _block_bytes(norm: ShardedNorm | ShardedSoftmax, tensor: Operand) -> int:
    return int(norm.block_h * norm.block_w * TILE_SIDE**2 * tensor.element_bytes[0])


def _layout(norm: ShardedNorm) -> str:
    return "WIDTH" if norm.rows == 1 else "BLOCK"
