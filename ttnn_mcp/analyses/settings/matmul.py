"""Settings of a matmul's program config: block sizes, grid and formats, by the rules of ttnn's matmul."""

from __future__ import annotations

from dataclasses import replace
from math import ceil

from ttnn_mcp.analyses.laws.descriptions import Described
from ttnn_mcp.analyses.laws.matmuls import MatmulDescription
from ttnn_mcp.analyses.programs.convs import divisors
from ttnn_mcp.analyses.programs.dram_sharded import DramSharded
from ttnn_mcp.analyses.programs.matmul import MatmulPlan
from ttnn_mcp.analyses.programs.matmul_config import most_cores
from ttnn_mcp.analyses.programs.minimal_matmul import FIELDS as MINIMAL_FIELDS
from ttnn_mcp.analyses.programs.minimal_matmul import MinimalMatmul
from ttnn_mcp.analyses.settings.compute import grid_named, grid_rules, largest_grid, lighter_weights
from ttnn_mcp.analyses.settings.held import held_in_l1
from ttnn_mcp.analyses.settings.judges import Judge, JudgedSettings, judges_of_plan
from ttnn_mcp.analyses.settings.matmul_printed import PrintedMatmul
from ttnn_mcp.analyses.settings.trial import Trial, Value, broken_of, per_step_ns
from ttnn_mcp.hardware import TILE_BYTES, canonical_dtype
from ttnn_mcp.records import dataclass

Plan = MatmulPlan | DramSharded | MinimalMatmul  # unmoved: it only names types
FIELDS = {
    "in0_block_w": "in0_block_w",
    "per_core_M": "per_core_m",
    "per_core_N": "per_core_n",
    "out_subblock_h": "out_subblock_h",
    "out_subblock_w": "out_subblock_w",
}
OTHER_SIDES = {"out_subblock_h": "out_subblock_w", "out_subblock_w": "out_subblock_h"}
KERNEL_FLAGS = {"fp32_dest_acc_en": "fp32", "packer_l1_acc": "packer_l1"}
CORES_AT_MOST = 1024  # more than any chip has
SUBBLOCKS = tuple(range(1, 17))  # tiles of DST: 16 at most, without half-sync
KERNEL_CONFIG = "compute_kernel_config in the same call, otherwise fidelity falls to LoFi (tt-metal #55889)"

DESCRIBED = ("in0_block_w", "per_core_M", "per_core_N")  # by the laws, which know no sub-blocks
NO_BLOCKS = dict.fromkeys(("block_w", "per_core_m", "per_core_n"))


@dataclass(frozen=True)
class MatmulSettings(JudgedSettings):
    """The settings of one matmul."""

    printed: PrintedMatmul

    @property
    def judges(self) -> dict[str, Judge]:
        """The judge of each setting; an unknown plan has the judges of a multicast matmul."""
        plan = self.printed.plan
        others: dict[str, Judge] = {"weights_dtype": self._weights, "math_fidelity": self.fidelity}
        if isinstance(plan, MinimalMatmul):
            flags = judges_of_plan(self.op, plan, ("fp32_dest_acc_en",), self._kernel_flag)
            blocks = judges_of_plan(self.op, plan, MINIMAL_FIELDS, self._minimal)
            return {**blocks, **flags, **others, "core_grid": self._core_grid}
        known = plan if plan is not None else self.printed.why_not
        flags = judges_of_plan(self.op, known, KERNEL_FLAGS, self._kernel_flag)
        if isinstance(plan, DramSharded):
            return {
                **judges_of_plan(self.op, plan, ("in0_block_w", "per_core_N"), self._block_size),
                **flags,
                **others,
            }
        blocks = judges_of_plan(self.op, known, FIELDS, self._block_size)
        return {**blocks, **flags, **others, "core_grid": self._core_grid}

    def sizes(self, setting: str) -> tuple[Value, ...]:
        """Blocks that divide the operands, or distribute them over the cores."""
        plan = self.printed.plan
        if setting == "core_grid" or plan is None:
            return ()
        if isinstance(plan, MinimalMatmul):
            return (1, 2, 4, 8, 16, 32) if "block_size" in setting else SUBBLOCKS
        return self._sizes(plan, setting)

    def _sizes(self, plan: MatmulPlan | DramSharded, setting: str) -> tuple[Value, ...]:
        tiles, cores = plan.tiles, min(self.op.chip.cores or 1, CORES_AT_MOST)
        if setting == "in0_block_w":
            return tuple(divisors(tiles.k))
        if setting in ("per_core_M", "per_core_N"):
            side = tiles.m if setting == "per_core_M" else tiles.n
            return tuple(sorted({ceil(side / shares) for shares in range(1, cores + 1)}))
        return SUBBLOCKS

    def changed(self, now: Described, setting: str, value: Value) -> Described | None:
        """Other blocks, weights or cores too; with a core_grid TTNN builds the program config itself."""
        plan = self.printed.plan
        if not isinstance(now, MatmulDescription):
            return None
        if setting == "weights_dtype":
            return replace(now, in1_dtype=str(value))
        if setting == "core_grid":
            grid = replace(now, grid=grid_named(value), cores=None)
            return grid if now.program == "MINIMAL" else replace(grid, program="AUTO", **NO_BLOCKS)
        if isinstance(plan, DramSharded) and setting == "in0_block_w":
            return replace(now, block_w=int(value))
        if isinstance(plan, MatmulPlan) and setting in DESCRIBED:
            blocks = replace(plan, **{FIELDS[setting]: int(value)})
            # without a config of its own an op changes its program, and the law of 2D does not see blocks of K
            unseen = blocks.in0_block_w != plan.in0_block_w and plan.kind == "2D"
            return None if unseen and not self.printed.was_given else _planned(now, blocks)
        return super().changed(now, setting, value)

    def _with(self, trial: Trial, plan: Plan) -> Trial:
        """The trial with the L1 that a plan takes."""
        printed = self.printed
        now = printed.plan or plan
        written = plan.output_shard_bytes
        implied = {"OUTPUT_0": (written, written)}
        if printed.first_bytes is not None:
            implied["INPUT_0"] = printed.first_bytes
        held = held_in_l1(self.op, implied)
        return replace(
            trial,
            buffers=plan.buffers,
            tensors=held.tensors,
            unsure_bytes=held.unsure_bytes,
            grown=max(written - now.output_shard_bytes, 0),
            ran=(sum(now.buffers.values()), 0) if printed.was_given else None,
            wrong_values=plan.wrong_values if isinstance(plan, MatmulPlan) else "",
        )

    def _block_size(self, current: MatmulPlan | DramSharded, setting: str, value: int) -> Trial:
        """The trial of one field of the program config, with the others as they are."""
        field, was_given, missing = FIELDS[setting], self.printed.was_given, ""
        changed = replace(current, **{field: value})
        before = getattr(current, field)
        if isinstance(changed, MatmulPlan) and not was_given:  # unmoved: other programs run with a config only
            changed = changed.with_suiting_subblock(field)
            subblock = f"out_subblock_h={changed.out_subblock_h}, out_subblock_w={changed.out_subblock_w}"
            missing = f"a whole program_config (none was given: the other fields are a suggestion, {subblock}), "
        trial = Trial(
            before if was_given else None,
            broken_of(changed.rules()),
            unknown=self._unknown(current, setting, value),
            change=self._change(current, changed, setting),
            at_most_ns=self._at_most(current, setting, value) if was_given else None,
            needs=missing + KERNEL_CONFIG,
            beside={
                name: getattr(changed, name)
                for name in OTHER_SIDES
                if name != setting and getattr(changed, name, 0) != getattr(current, name, 0)
            },
            effect=not was_given or changed != current,
        )
        return trial if trial.broken else self._with(trial, changed)

    def _unknown(self, current: MatmulPlan | DramSharded, setting: str, value: int) -> str:
        """Why a block of K cannot be judged: it must divide the first operand's shards, which no report prints."""
        narrow = setting == "in0_block_w" and self.printed.shard_unknown
        if not narrow or value < 1 or current.in0_block_w % value == 0:
            return ""
        return "it must divide the width of the first operand's shards, which the report does not print"

    def _at_most(self, current: MatmulPlan | DramSharded, setting: str, value: int) -> float | None:
        steps = {
            "in0_block_w": (current.tiles.k / current.in0_block_w, current.tiles.k / max(value, 1)),
            "per_core_M": (current.per_core_m, value),
            "per_core_N": (current.per_core_n, value),
        }.get(setting)
        return per_step_ns(self.op, *steps) if steps else None

    def _change(self, current: MatmulPlan | DramSharded, changed: MatmulPlan | DramSharded, setting: str) -> str:
        value, before = (getattr(plan, FIELDS[setting]) for plan in (changed, current))
        if setting == "in0_block_w":
            steps, after = ceil(current.tiles.k / before), ceil(current.tiles.k / max(value, 1))
            return self._beside_now(f"{after} steps along K", f"{steps} now")
        if setting.startswith("per_core"):
            return self._beside_now(f"{value} tiles per core", f"{before} now")
        after, filled = (getattr(plan, OTHER_SIDES[setting]) for plan in (changed, current))
        return self._beside_now(f"{value * after} of the DST tiles filled at a time", f"{before * filled} now")

    def _beside_now(self, then: str, now: str) -> str:
        """Both; where TTNN chose the config no report prints it, and the present plan is a suggestion."""
        return f"{then}, {now if self.printed.was_given else 'TTNN chose the present ones'}"

    def _minimal(self, current: MinimalMatmul, setting: str, value: int) -> Trial:
        changed, before = current.with_field(setting, value), current.field(setting)
        trial = Trial(
            before if self.printed.was_given else None,
            broken_of(changed.rules()),
            change=f"{setting} {before} becomes {value}",
            needs=KERNEL_CONFIG,
            effect=changed != current,
        )
        return trial if trial.broken else self._with(trial, changed)

    def _kernel_flag(self, current: Plan, setting: str, value: int) -> Trial:
        field = KERNEL_FLAGS[setting]
        before = bool(getattr(current, field))
        changed = replace(current, **{field: bool(value)})
        change = "sums are kept in FLOAT32" if changed.fp32 else "sums are kept in BFLOAT16"
        trial = Trial(
            before,
            broken_of(changed.rules()),
            change=change,
            needs="PCC >= 0.99 afterwards",
            effect=bool(value) != before,
        )
        return trial if trial.broken else self._with(trial, changed)

    def _weights(self, weights_dtype: Value) -> Trial:
        """The trial of a `weights_dtype`; if the config was printed, B's blocks in L1 change too."""
        value, plan = str(weights_dtype), self.printed.plan if self.printed.was_given else None
        current = canonical_dtype(self.op.table.inputs[1].dtype[0])
        if plan is None:
            return lighter_weights(self.op, current, value)
        size = float(TILE_BYTES[value])
        if isinstance(plan, MinimalMatmul):
            changed: Plan = replace(plan, b_bytes=size)
        else:
            changed = replace(plan, tiles=replace(plan.tiles, b_bytes=size))
        return lighter_weights(self.op, current, value, self._with(Trial(None), changed))

    def _core_grid(self, value: Value) -> Trial:
        """The trial of a `core_grid`. TTNN builds the program config for it; MinimalMatmul uses the grid as it is."""
        grid = grid_named(value)
        op, plan = self.op, self.printed.plan
        minimal = isinstance(plan, MinimalMatmul)
        changed = replace(plan, grid=grid) if isinstance(plan, MinimalMatmul) else None
        broken = broken_of(changed.rules()) if changed else grid_rules(op, grid)
        grid_cores = grid[0] * grid[1] if minimal else most_cores(op.table, 0, grid[0] * grid[1])
        cores = op.cores or grid_cores
        trial = Trial(
            f"{cores} cores",
            broken,
            change=f"{cores} cores become at most {grid_cores}"
            + ("" if minimal else "; TTNN builds the program config for it, so its L1 is not known in advance"),
            at_most_ns=max(0.0, min(op.kernel_ns * (1 - cores / max(grid_cores, 1)), op.kernel_ns - op.least_ns)),
            needs=KERNEL_CONFIG,
            effect=grid_cores != cores,
            instead=largest_grid(op) if broken else None,
        )
        return self._with(trial, changed) if changed and not broken else trial


def _planned(now: MatmulDescription, plan: MatmulPlan) -> MatmulDescription:
    """The matmul with the plan's program config."""
    down, across = ceil(plan.tiles.m / max(plan.per_core_m, 1)), ceil(plan.tiles.n / max(plan.per_core_n, 1))
    return replace(
        now,
        program=plan.kind if plan.kind != "Reuse" else "",
        grid=plan.grid,
        cores=down * across,
        block_w=plan.in0_block_w,
        per_core_m=plan.per_core_m,
        per_core_n=plan.per_core_n,
    )
