"""Settings of a Conv2d: blocks, double buffers, shard layout, formats. Rules are those of ttnn's conv2d."""

from __future__ import annotations

from dataclasses import replace

from ttnn_mcp.analyses.op_kinds.convs import convs_of, sizes_of
from ttnn_mcp.analyses.programs.conv_cores import in_layout, tiles_of_busiest_core
from ttnn_mcp.analyses.programs.convs import BLOCK, DOUBLE_BUFFER_BEST, HEIGHT, WIDTH, Conv, divisors
from ttnn_mcp.analyses.programs.grids import worker_grid
from ttnn_mcp.analyses.settings.compute import grid_named, grid_rules, largest_grid, lighter_weights
from ttnn_mcp.analyses.settings.conv_blocks import (
    block_choices,
    block_height_trial,
    may_be_sliced,
    width_divisor_trial,
)
from ttnn_mcp.analyses.settings.judges import Judge, JudgedSettings
from ttnn_mcp.analyses.settings.trial import Op, Trial, Value
from ttnn_mcp.hardware import TILE_SIDE
from ttnn_mcp.quoting import figure
from ttnn_mcp.records import dataclass

LAYOUTS = (HEIGHT, BLOCK, WIDTH)
_FLAGS = {
    "enable_act_double_buffer": "act_double",
    "enable_weights_double_buffer": "weights_double",
    "fp32_dest_acc_en": "fp32_accumulation",
    "packer_l1_acc": "packer_l1",
}


def conv_in(op: Op) -> Conv | None:
    """The conv of the op; None where its attributes do not describe it."""
    convs = convs_of(op.table)
    conv = convs.at(0) if len(convs.rows) else None
    return replace(conv, arch=op.chip.arch) if conv is not None else None


def l1_of(changed: Conv, current: Conv) -> Trial:
    """The L1 that a changed conv takes while it runs, and how much more its tensors take than the current conv's."""
    buffers = {name: size for name, size in changed.buffers.items() if name != "OUT"} if changed.modelled else {}
    tensors = {"ALLOCATED": changed.allocated_bytes, "OUT": changed.buffers.get("OUT", 0)}
    grown = sum(tensors.values()) - current.allocated_bytes - current.buffers.get("OUT", 0)
    return Trial(None, buffers=buffers, tensors=tensors, grown=grown, older_bytes=changed.older_bytes)


@dataclass(frozen=True)
class ConvSettings(JudgedSettings):
    """The settings of one Conv2d."""

    conv: Conv

    @property
    def judges(self) -> dict[str, Judge]:
        """The judge of each setting."""
        flags = {setting: self._judge_of_flag(setting) for setting in _FLAGS}
        return {
            "act_block_h_override": self._block_height,
            "act_block_w_div": self._block_width,
            "enable_act_double_buffer": flags.pop("enable_act_double_buffer"),
            "enable_weights_double_buffer": flags.pop("enable_weights_double_buffer"),
            "shard_layout": self._shard_layout,
            "weights_dtype": self._weights,
            **flags,
            "math_fidelity": self.fidelity,
            "core_grid": self._core_grid,
        }

    def sizes(self, setting: str) -> tuple[Value, ...]:
        """The shard layouts, and the blocks that divide a core's output."""
        return LAYOUTS if setting == "shard_layout" else block_choices(self.conv, setting)

    def _judge_of_flag(self, setting: str) -> Judge:
        return lambda value: self._flag(setting, value=bool(value))

    def _block_height(self, value: Value) -> Trial:
        return self._beside(block_height_trial(self.op, self.conv, int(value)))

    def _block_width(self, value: Value) -> Trial:
        return self._beside(width_divisor_trial(self.op, self.conv, int(value)))

    def _weights(self, value: Value) -> Trial:
        changed = replace(self.conv, weights_dtype=str(value))
        return lighter_weights(self.op, self.conv.weights_dtype, str(value), self._l1(changed))

    def _beside(self, trial_and_conv: tuple[Trial, Conv | None]) -> Trial:
        """The trial with the L1 of its conv, if there is one."""
        trial, changed = trial_and_conv
        return self._with(trial, changed) if changed is not None else trial

    def _with(self, trial: Trial, changed: Conv) -> Trial:
        l1 = self._l1(changed)
        return replace(trial, buffers=l1.buffers, tensors=l1.tensors, grown=l1.grown, older_bytes=l1.older_bytes)

    def _l1(self, changed: Conv) -> Trial:
        return l1_of(changed, self.conv)

    def _flag(self, setting: str, *, value: bool) -> Trial:
        conv, field = self.conv, _FLAGS[setting]
        current, changed = bool(getattr(conv, field)), replace(conv, **{field: value})
        if field in ("fp32_accumulation", "packer_l1"):
            change = "sums are kept in FLOAT32" if changed.fp32_accumulation else "sums are kept in BFLOAT16"
            return self._with(
                Trial(current, change=change, needs="PCC >= 0.99 afterwards", effect=value != current), changed
            )
        if field == "weights_double":
            useful = conv.layout != HEIGHT or conv.blocks == 1
            idle = "no change: HEIGHT_SHARDED with several blocks holds all weights already"
        else:
            useful, idle = conv.doubling_helps, "no change: a single block leaves nothing to read ahead"
        op = self.op
        best = min(DOUBLE_BUFFER_BEST * op.kernel_ns, op.kernel_ns - op.least_ns) if value and not current else 0.0
        helps = "the next block is read while one is computed" if value else "reading and computing take turns"
        change, at_most = (helps, best) if useful else (idle, 0.0)
        return self._with(
            Trial(current, change=change, at_most_ns=at_most, effect=useful and value != current), changed
        )

    def _core_grid(self, value: Value) -> Trial:
        """The trial of a `core_grid`, with override_sharding_config: the same layout on another grid."""
        op, conv, grid = self.op, self.conv, grid_named(value)
        broken = grid_rules(op, grid)
        if broken:
            return Trial(f"{op.cores} cores", broken, instead=largest_grid(op))
        conv_size = sizes_of(op.table, convs_of(op.table).rows)[0]
        spread_conv = in_layout(conv, conv.layout, conv_size, grid)
        # the largest legal block up to the current one
        block = max((size for size in divisors(spread_conv.per_core_h) if size <= conv.block_h), default=1)
        changed = replace(spread_conv, block_h=spread_conv.block_h if conv.layout == WIDTH else block)
        work = tiles_of_busiest_core(changed) / tiles_of_busiest_core(conv)
        trial = Trial(
            f"{op.cores} cores",
            change=f"the busiest core has {figure(work, '.2f')} times the output tiles",
            at_most_ns=max(0.0, op.kernel_ns * (1 - work)),
            needs="override_sharding_config=True and shard_layout",
        )
        return self._with(trial, changed)

    def _shard_layout(self, layout: Value) -> Trial:
        """The trial of a `shard_layout`, with the legal block that takes the least L1 in it."""
        conv, grid, value = self.conv, worker_grid(self.op.chip), str(layout)
        if value == conv.layout:
            return self._with(Trial(conv.layout, change="no change", at_most_ns=0.0, effect=False), conv)
        if grid is None:
            return Trial(conv.layout, change="the worker grid is not known, so L1 is not modelled")
        in_other_layout = in_layout(conv, value, sizes_of(self.op.table, convs_of(self.op.table).rows)[0], grid)
        blocks = [in_other_layout.block_h] if value == WIDTH else divisors(in_other_layout.per_core_h) or [1]
        least = min(
            (replace(in_other_layout, block_h=height) for height in blocks), key=lambda height: height.total_bytes
        )
        trial = Trial(
            conv.layout,
            change=(
                f"per core {least.per_core_h} x {least.per_core_w} tiles instead of {conv.per_core_h} x "
                f"{conv.per_core_w} (least L1 at act_block_h_override={TILE_SIDE * least.block_h})"
            ),
            needs="neighbours in the same layout, else a Reshard appears",
            in_slices=may_be_sliced(self.op),  # 0.81.1 does so of itself where its input is in DRAM
        )
        return self._with(trial, least)
