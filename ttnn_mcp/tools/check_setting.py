"""check_setting: is a value legal for an op, does it fit L1, and what would it change?"""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal, TypeAlias

import numpy as np
from pydantic import Field

from ttnn_mcp.analyses.memory.l1_limit import L1Limit, l1_limit
from ttnn_mcp.analyses.memory.replay import replay_of
from ttnn_mcp.analyses.settings import compute as settings_compute
from ttnn_mcp.analyses.settings import conv as settings_conv
from ttnn_mcp.analyses.settings import matmul as settings_matmul
from ttnn_mcp.analyses.settings import sdpa as settings_sdpa
from ttnn_mcp.analyses.settings.trial import Op, Trial, beside, op_of
from ttnn_mcp.errors import QuestionRefused, shown
from ttnn_mcp.hardware import FIDELITY_PHASES
from ttnn_mcp.run.ops.op_names import canonical, family
from ttnn_mcp.tools.parts.op_at import row_at
from ttnn_mcp.tools.parts.setting_values import dtype, flag, grid, one_of, whole
from ttnn_mcp.tools.tool import OfRun, Tool
from ttnn_mcp.wire import Cell, Wire

if TYPE_CHECKING:
    from ttnn_mcp.run.run import Run
    from ttnn_mcp.session.session import Session

Setting: TypeAlias = Literal[
    "act_block_h_override",
    "enable_act_double_buffer",
    "enable_weights_double_buffer",
    "shard_layout",
    "weights_dtype",
    "math_fidelity",
    "in0_block_w",
    "per_core_M",
    "per_core_N",
    "out_subblock_h",
    "out_subblock_w",
    "core_grid",
    "q_chunk_size",
    "k_chunk_size",
]
TAKES = {
    "conv": (
        *("act_block_h_override", "enable_act_double_buffer", "enable_weights_double_buffer", "shard_layout"),
        *("weights_dtype", "math_fidelity", "core_grid"),
    ),
    "matmul": (*settings_matmul.FIELDS, "weights_dtype", "math_fidelity", "core_grid"),
    "attention": ("q_chunk_size", "k_chunk_size", "math_fidelity"),
}


MEASURED = "circular buffers modelled to about 5 %; TENSORS as the memory report shows them at this operation"


class Arguments(OfRun):
    """Arguments of check_setting."""

    op: int = Field(description="The op's line in its CSV")
    setting: Setting
    value: int | bool | str = Field(description="64, true, bfloat8_b, HiFi2, BLOCK_SHARDED, 8x7")


class Answer(Wire):
    """Answer of check_setting. Sizes in bytes per core."""

    op: int
    op_code: str
    setting: str
    value: Cell
    now: Cell
    legal: bool
    fits: bool | None
    l1_bytes: int | None
    limit_bytes: int | None
    expected: str
    why: str
    instead: str | None
    buffers: dict[str, int] = Field(default_factory=dict[str, int])
    needs: str | None = None
    caveat: str | None = None


async def check_setting(session: Session, asked: Arguments) -> Answer:
    """Is a value legal for a Conv2d, matmul or SDPA op, does it fit L1, what can it save at most?

    Every circular buffer is listed; `instead` names the value to use in its place.
    """
    run = await session.run(asked.run)
    table = run.timed.ops
    op = op_of(table.take(np.array([row_at(run, asked.op)])), run.chip)
    limit = l1_limit(run)
    trial = _tried(op, limit, asked.setting, asked.value)
    tensors = await _tensors_beside(run, asked.op) if trial.buffers else None
    if tensors is not None:
        trial = beside(trial, tensors)
    fits = None if limit is None or trial.l1_bytes is None else trial.l1_bytes <= limit.safe_bytes
    return Answer(
        op=asked.op,
        op_code=shown(op.table.texts("op_code")[0]),
        setting=asked.setting,
        value=asked.value,
        now=trial.now,
        legal=not trial.broken,
        fits=None if trial.broken else fits,
        l1_bytes=trial.l1_bytes,
        limit_bytes=limit.limit_bytes if limit else None,
        expected=_expected(op, trial, fits),
        why=_why(trial, fits, limit),
        instead=_instead(trial, fits, limit, asked.value),
        buffers=trial.buffers,
        needs=None if trial.broken else trial.needs or None,
        caveat=_caveat(op, trial, limit, run) if tensors is None else MEASURED,
    )


async def _tensors_beside(run: Run, line: int) -> int | None:
    """Bytes per core of the tensors in L1 while the op runs, by the linked memory report."""
    operation = run.linked.operation_at.get(line) if run.linked else None
    if operation is None:
        return None
    replay = await replay_of(run)
    room = None if replay.floor_because else replay.room_for_buffers_at(operation)
    return None if room is None or replay.capacity_bytes is None else replay.capacity_bytes - room


def _tried(op: Op, limit: L1Limit | None, setting: str, value: bool | int | str) -> Trial:
    kind = family(op.table.texts("op_code")[0])
    name = shown(canonical(op.table.texts("op_code")[0]))
    takes = TAKES.get(kind)
    if takes is None:
        raise QuestionRefused(f"{name} has no setting judged here: ask about a Conv2d, matmul or attention op.")
    if setting not in takes or (name.startswith("MinimalMatmul") and setting in settings_matmul.FIELDS):
        also = " (MinimalMatmulConfig has its own block sizes)" if name.startswith("MinimalMatmul") else ""
        raise QuestionRefused(f"{name} takes no {setting}{also}. It takes: {', '.join(takes)}.")
    if len(op.table.inputs) < 2 or not op.table.outputs:
        raise QuestionRefused(
            "This report has no operand columns, so no setting can be judged. Profile again with tracy -r."
        )
    if setting == "math_fidelity":
        return settings_compute.math_fidelity(op, one_of(setting, value, *FIDELITY_PHASES))
    if kind == "conv":
        return _conv(op, setting, value)
    if kind == "attention":
        return settings_sdpa.chunk_size(op, setting, whole(setting, value))
    safe = limit.safe_bytes if limit else 0
    matmul = settings_matmul.matmul_in(op, safe)
    if setting == "weights_dtype":
        return settings_matmul.weights_dtype(op, matmul, dtype(value))
    if setting == "core_grid":
        return settings_matmul.core_grid(op, matmul, grid(value), safe)
    if isinstance(matmul, str):
        raise QuestionRefused(f"Cannot judge {setting} at this op: {matmul}. op_detail shows its config.")
    return settings_matmul.block_size(op, matmul, setting, whole(setting, value))


def _conv(op: Op, setting: str, value: bool | int | str) -> Trial:
    conv = settings_conv.conv_in(op)
    if conv is None:
        raise QuestionRefused(
            "This conv's ATTRIBUTES hold no block_config, so its L1 cannot be modelled. Profile with a tt-metal "
            "of 2025 or later."
        )
    if setting == "act_block_h_override":
        return settings_conv.act_block_h(op, conv, whole(setting, value))
    if setting == "shard_layout":
        layouts = ("HEIGHT_SHARDED", "BLOCK_SHARDED", "WIDTH_SHARDED")
        return settings_conv.shard_layout(op, conv, one_of(setting, value, *layouts))
    if setting == "weights_dtype":
        return settings_conv.weights_dtype(op, conv, dtype(value))
    if setting == "core_grid":
        return settings_conv.core_grid(op, conv, grid(value))
    return settings_conv.double_buffer(op, conv, flag(setting, value), weights="weights" in setting)


def _expected(op: Op, trial: Trial, fits: bool | None) -> str:
    if trial.broken or fits is False:
        return "nothing: it would not run as asked"
    if not trial.effect:
        return f"no change: {trial.now} is what it runs with" if trial.change == "" else trial.change
    if trial.at_most_ns is not None and trial.at_most_ns <= 0:
        return f"{trial.change}; saves no time by itself"
    if trial.at_most_ns is None:
        return f"{trial.change}; no report bounds the gain, measure it"
    return f"{trial.change}; saves at most {trial.at_most_ns / 1e3:.1f} of {op.kernel_ns / 1e3:.1f} us"


def _why(trial: Trial, fits: bool | None, limit: L1Limit | None) -> str:
    if trial.broken:
        also = f"; {trial.change}" if trial.change else ""
        return f"breaks: {'; '.join(trial.broken)}{also}"
    if fits is None or limit is None or trial.l1_bytes is None:
        return (
            "legal; L1 as before, or not modelled here" if trial.l1_bytes is None else "legal; no L1 limit is known"
        )
    said = f"{trial.l1_bytes / 1e6:.2f} of {limit.limit_bytes / 1e6:.2f} MB of L1 per core"
    return f"{said}, 5 % kept free" if fits else f"{said}: does not fit with 5 % kept free"


def _instead(trial: Trial, fits: bool | None, limit: L1Limit | None, value: Cell) -> str | None:
    """The nearest legal value that fits; or that there is none above today's."""
    if (not trial.broken and fits is not False) or limit is None or not trial.legal or isinstance(value, str):
        return trial.instead
    fitting = [one for one, size in trial.legal if size <= limit.safe_bytes]
    now = trial.now if isinstance(trial.now, int) else 0
    asked = value or max(one for one, _ in trial.legal)  # 0 asks for the largest
    larger = [one for one in fitting if one > now]
    if asked > now and not larger:
        beyond = next(((one, size) for one, size in trial.legal if one > now), None)
        if beyond is None:
            return f"{now} is the largest legal value: raising it is impossible"
        return f"raising it is impossible: the next legal value {beyond[0]} needs {beyond[1] / 1e6:.2f} MB"
    if not fitting:
        return "no legal value fits: free L1 first (weights in bfloat8_b, deallocate_activation, DRAM slicing)"
    best = min(larger if asked > now else fitting, key=lambda one: (abs(one - asked), one))
    return f"{best} ({dict(trial.legal)[best] / 1e6:.2f} MB)"


def _caveat(op: Op, trial: Trial, limit: L1Limit | None, run: Run) -> str | None:
    if not trial.buffers:
        return None
    said = "L1 modelled to about 5 %"
    if family(op.table.texts("op_code")[0]) != "conv":
        said = "circular buffers modelled; of other tensors in L1 only this op's operands are counted"
    elif "pre_op_l1_allocation_size_bytes" not in op.said:
        said += "; other tensors in L1 unknown, only the conv's input counts as ALLOCATED"
    if limit is not None and not limit.read:
        said += f"; limit {'of' if limit.measured else 'inferred for'} {run.chip.arch} (no memory report)"
    return said


TOOL = Tool(
    name="check_setting",
    title="Check a setting",
    arguments=Arguments,
    answer=Answer,
    ask=check_setting,
    needs=("performance",),
    search_hint=(
        "act_block_h program config legal L1 fits circular buffers chunk size core grid matmul conv2d subblock"
    ),
)
