"""sharding_summary: where tensors live, how they are sharded, and which ops use few cores."""

from __future__ import annotations

from typing import Annotated

import numpy as np
from pydantic import Field

from ttnn_mcp.analyses.moves.placements import (
    Lives,
    Sharded,
    folded,
    shard_specs,
    where_operands_live,
    where_tensors_live,
)
from ttnn_mcp.analyses.op_kinds.few_cores import on_few_cores
from ttnn_mcp.analyses.window_facts import WindowFacts
from ttnn_mcp.checks.wording import counted
from ttnn_mcp.errors import shown
from ttnn_mcp.quoting import figure
from ttnn_mcp.run.chip import Chip
from ttnn_mcp.run.ops.groups import grouped
from ttnn_mcp.run.ops.op_names import canonical
from ttnn_mcp.run.ops.op_table import OpTable
from ttnn_mcp.run.run import Run
from ttnn_mcp.tools.budget import cursor_after, offset_of
from ttnn_mcp.tools.tool import OfWindow, Tool
from ttnn_mcp.wire import Cell, Columns, Quoting, Table, Window, Wire

TIMES, SIZES = ("ops", "kernel_us", "share"), ("bytes",)
DISTRIBUTION = Columns(
    "layout", "buffer", "operands", *TIMES, *SIZES, maybe=(*TIMES, *SIZES), quoted=("layout", "buffer")
)
OPS, TENSORS = ("ops", "kernel_us", "op"), ("tensors",)
SPECS = Columns(
    *("layout", "buffer", "shard", "grid", "cores", "orientation", *OPS, *TENSORS),
    maybe=(*OPS, *TENSORS),
    quoted=("layout", "buffer", "orientation"),
)
LOW_CORE_OPS = Columns("op_code", "cores", "count", "kernel_us", "share", "op", "shapes", quoted=("op_code",))
SHAPE_CHARS = 60


class Arguments(OfWindow):
    """Arguments of sharding_summary."""

    limit: int = Field(8, ge=1, le=200, description="Rows per page")
    cursor: str | None = Field(None, coerce_numbers_to_str=True, description="next_cursor")


class ShardingTotal(Wire):
    """Everything there is, not only this page."""

    shard_specs: int
    low_core_ops: int
    low_core_us: float | None = None


class Answer(Wire):
    """Answer of sharding_summary. An op's kernel time counts where its first output lives.

    `device` where there are several: the one the others wait for.
    """

    distribution: Annotated[Table, DISTRIBUTION]
    shard_specs: Annotated[Table, SPECS]
    low_core_ops: Annotated[Table, LOW_CORE_OPS] | None = None
    worker_cores: int | None = None
    total: ShardingTotal
    next_cursor: str | None = None
    caveat: Quoting | None = None
    device: int | None = None
    window: Window | None = None


def sharding_summary(facts: WindowFacts, asked: Arguments) -> Answer:
    """Where tensors live (layout, buffer, kernel time of ops writing there), shard specs, ops on few cores.

    On a memory report alone: tensors and bytes.
    """
    run, scope = facts.run, facts.scope
    offset = offset_of(asked.cursor, asked, run.id)
    tensors = run.memory.tensors if run.memory else None
    ops = scope.critical
    total_ns = float(ops.numbers("kernel_ns").sum()) or float("nan")
    specs, lives = shard_specs(ops, tensors), where_operands_live(ops)
    few, few_count, few_ns = _low_core_ops(ops, run.chip.cores, total_ns)
    page = slice(offset, offset + asked.limit)
    more = max(len(specs), len(few)) > offset + asked.limit
    return Answer(
        distribution=DISTRIBUTION.table(
            [
                (
                    one.placement.layout,
                    one.placement.buffer,
                    one.operands,
                    one.ops,
                    one.kernel_ns / 1e3,
                    one.kernel_ns / total_ns,
                )
                for one in lives
            ],
            without=SIZES,
        ),
        shard_specs=_specs(specs[page], ops, remembered=tensors is not None),
        low_core_ops=LOW_CORE_OPS.table(few[page]),
        worker_cores=run.chip.cores,
        total=ShardingTotal(shard_specs=len(specs), low_core_ops=few_count, low_core_us=round(few_ns / 1e3, 2)),
        next_cursor=cursor_after(offset + asked.limit, asked, run.id) if more else None,
        caveat=_caveat(run.chip, ops, specs, lives),
        device=scope.critical_device if len(ops) < len(scope.ops) else None,
        window=scope.window,
    )


def tensors_alone(run: Run, asked: Arguments) -> Answer:
    """The answer of a memory report alone: tensors and bytes, without times."""
    offset = offset_of(asked.cursor, asked, run.id)
    specs = shard_specs(None, run.memory_report.tensors)
    more = len(specs) > offset + asked.limit
    return Answer(
        distribution=DISTRIBUTION.table(
            [
                (kind.layout, kind.buffer, count, size)
                for kind, count, size in where_tensors_live(run.memory_report)
            ],
            without=TIMES,
        ),
        shard_specs=_specs(specs[offset : offset + asked.limit], None, remembered=True),
        worker_cores=run.chip.worker_cores,
        total=ShardingTotal(shard_specs=len(specs), low_core_ops=0),
        next_cursor=cursor_after(offset + asked.limit, asked, run.id) if more else None,
        caveat="no performance report: operands are tensors, nothing is timed, cores per op are not known; bytes "
        "count each buffer once (a view has none), without the padding of shards that are not full",
    )


def _specs(specs: list[Sharded], ops: OpTable | None, *, remembered: bool) -> Table:
    rows: list[tuple[Cell, ...]] = []
    for one in specs:
        shard = one.placement.shard
        if shard is None:  # unmoved: a spec has a shard, which its type does not say
            continue
        row: tuple[Cell, ...] = (
            one.placement.layout,
            one.placement.buffer,
            "x".join(str(size) for size in shard.shape),
            shard.grid or None,
            shard.cores or None,
            shown(shard.orientation) if shard.orientation else None,
        )
        if ops is not None:
            kernel = ops.numbers("kernel_ns")[one.rows]
            heaviest = int(ops.lines[one.rows[np.argmax(kernel)]]) if len(one.rows) else None
            row = (*row, len(one.rows), one.kernel_ns / 1e3, heaviest)
        rows.append((*row, one.tensors) if remembered else row)
    return SPECS.table(rows, without=(*(OPS if ops is None else ()), *(() if remembered else TENSORS)))


def _low_core_ops(ops: OpTable, cores: int | None, total_ns: float) -> tuple[list[tuple[Cell, ...]], int, float]:
    """(rows folded by op and cores, heaviest first; ops; their kernel time)."""
    few = np.flatnonzero(on_few_cores(ops, cores))
    names, used, kernel = ops.texts("op_code"), ops.numbers("cores")[few], ops.numbers("kernel_ns")[few]
    rows: list[tuple[Cell, ...]] = []
    for group in grouped(folded((names.codes[few], used.astype(np.int64))), kernel):
        heaviest = int(group.rows[np.argmax(kernel[group.rows])])
        row = int(few[heaviest])
        shapes = ops.shapes(row)
        rows.append(
            (
                canonical(shown(names[row])),
                int(used[heaviest]),
                len(group.rows),
                group.kernel_ns / 1e3,
                group.kernel_ns / total_ns,
                int(ops.lines[row]),
                shapes if len(shapes) <= SHAPE_CHARS else f"{shapes[: SHAPE_CHARS - 3]}...",
            )
        )
    return rows, len(few), float(kernel.sum())


def _caveat(chip: Chip, ops: OpTable, specs: list[Sharded], lives: list[Lives]) -> str | None:
    caveats: list[str] = []
    if chip.cores is None:
        caveats.append("no CORE COUNT in the report: ops on few cores are not known")
    elif chip.worker_cores is None:
        caveats.append(f"the grid is not in the report: {chip.cores} is the most cores any op used")
    if not specs and any(one.placement.sharded for one in lives):
        caveats.append("ATTRIBUTES name no shards: shapes and grids of the sharded operands are not known")
        return "; ".join(caveats)
    unnamed = np.ones(len(ops), dtype=np.bool_)
    for one in specs:
        unnamed[one.rows] = False
    for output in ops.outputs[:1]:
        wrote = np.flatnonzero(unnamed & output.sharded)
        if len(wrote):
            kernel_us = figure(float(ops.numbers("kernel_ns")[wrote].sum()) / 1e3, ".0f")
            more = counted(len(wrote), "more op")
            caveats.append(f"{more} ({kernel_us} us) wrote shards that ATTRIBUTES do not name: not in shard_specs")
    return "; ".join(caveats) or None


TOOL = Tool(
    name="sharding_summary",
    title="Sharding summary",
    arguments=Arguments,
    answer=Answer,
    ask=sharding_summary,
    about="window",
    needs=("performance",),
    alone=tensors_alone,
    narrow=("limit",),
    search_hint="placement layout buffer shard spec grid core count L1 DRAM",
)
