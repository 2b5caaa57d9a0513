"""Settings of a group norm on interleaved tiles: its grid and the blocks that a core works in."""

from __future__ import annotations

from dataclasses import replace

from ttnn_mcp.analyses.programs.grids import worker_grid
from ttnn_mcp.analyses.programs.group_norms import GroupNorm
from ttnn_mcp.analyses.settings.compute import grid_named, grid_of
from ttnn_mcp.analyses.settings.held import held_in_l1
from ttnn_mcp.analyses.settings.judges import Judge, JudgedSettings
from ttnn_mcp.analyses.settings.norms import GRIDS_AT_MOST
from ttnn_mcp.analyses.settings.trial import Op, Trial, Value, broken_of, per_step_ns
from ttnn_mcp.hardware import TILE_SIDE
from ttnn_mcp.records import dataclass

CONFIG = "GroupNormMultiCoreProgramConfig"


def group_norm_in(op: Op) -> GroupNorm | str:
    """The group norm of the op, or the reason why its config cannot be judged."""
    config, x = op.attributes.struct("program_config"), op.table.inputs[0]
    if config is None or config.name != CONFIG:
        return "a group norm on shards is not modelled"
    grid, blocks, groups = grid_of(config), config.number("num_out_blocks"), op.attributes.number("num_groups")
    if grid is None or blocks is None or not groups:
        return "the report does not print its grid, its blocks or its groups"
    if op.attributes.flag("use_welford") or x.layout[0] != "TILE" or x.dtype[0] != "BFLOAT16":
        return "group norms are modelled for BFLOAT16 tiles, without use_welford"
    return GroupNorm(
        batches=max(int(x.padded[0, 0]), 1),
        rows=int(x.height[0]) // TILE_SIDE,
        channels=int(x.padded[0, 3]),
        groups=int(groups),
        grid=grid,
        out_blocks=blocks,
        weights=sum(one.layout[0] == "ROW_MAJOR" for one in op.table.inputs[1:]),  # masks are tiles
        device_grid=worker_grid(op.chip),
    )


@dataclass(frozen=True)
class GroupNormSettings(JudgedSettings):
    """The settings of one group norm; `norm` is a text if they cannot be judged: the reason."""

    norm: GroupNorm | str

    @property
    def judges(self) -> dict[str, Judge]:
        """The judge of each setting."""
        return {"core_grid": self._grid, "num_out_blocks": self._blocks, "math_fidelity": self.fidelity}

    def sizes(self, setting: str) -> tuple[Value, ...]:
        """Blocks from the whole height of a core down to a row; the grids with the most cores."""
        norm = self.norm
        if isinstance(norm, str):
            return ()
        if setting == "num_out_blocks":
            return tuple(1 << power for power in range(max(norm.block_h, 1).bit_length()))
        x, y = norm.device_grid or norm.grid
        grids = [(across, down) for across in range(1, x + 1) for down in range(1, y + 1)]
        legal = [grid for grid in grids if all(replace(norm, grid=grid, out_blocks=1).rules().values())]
        most = sorted(legal, key=lambda grid: grid[0] * grid[1])[-GRIDS_AT_MOST:]
        return tuple(f"{across}x{down}" for across, down in most)

    def _blocks(self, value: Value) -> Trial:
        if isinstance(self.norm, str):
            return Trial(None, unknown=self.norm)
        changed = replace(self.norm, out_blocks=int(value))
        before = self.norm.out_blocks
        return self._tried(self.norm, changed, before, f"a core works in {value} blocks instead of {before}")

    def _grid(self, value: Value) -> Trial:
        if isinstance(self.norm, str):
            return Trial(None, unknown=self.norm)
        changed = replace(self.norm, grid=grid_named(value))
        before = "x".join(str(side) for side in self.norm.grid)
        cores = [self.norm.cores, changed.cores]
        trial = self._tried(self.norm, changed, before, f"{cores[1]} cores work instead of {cores[0]}")
        needs = "input_mask, weight and bias made for that grid: ttnn.dram_group_norm_params_from_torch"
        return replace(trial, at_most_ns=per_step_ns(self.op, cores[1], cores[0]), needs=needs)

    def _tried(self, current: GroupNorm, changed: GroupNorm, before: Value, change: str) -> Trial:
        broken = broken_of(changed.rules())
        if broken:
            return Trial(before, broken)
        held = held_in_l1(self.op)
        return Trial(
            before,
            buffers=changed.buffers,
            tensors=held.tensors,
            unsure_bytes=held.unsure_bytes,
            ran=(sum(current.buffers.values()), 0),
            change=change,
            effect=changed != current,
        )
