"""Settings that many ops share: weight format, math fidelity, core grid. Bounds are those of the step 1 checks."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ttnn_mcp.analyses.op_kinds.formats import (
    fewer_bytes_save,
    fewer_passes_save,
    spared_bytes,
    waits_for_arithmetic,
    waits_for_bytes,
)
from ttnn_mcp.analyses.op_kinds.grids import worker_grid
from ttnn_mcp.analyses.roofline.launch import LAUNCH_FLOOR_NS
from ttnn_mcp.analyses.settings.trial import Op, Trial, rules
from ttnn_mcp.hardware import BLOCK_FLOATS, FIDELITY_PHASES, TILE_BYTES

if TYPE_CHECKING:
    from ttnn_mcp.analyses.op_kinds.grids import Grid

ALIKE = {"LoFi", "HiFi2"}  # of BFLOAT4_B weights: they have no bits for a second pass (tt-metal #39627)


def lighter_weights(op: Op, now: str, value: str, buffers: dict[str, int] | None = None) -> Trial:
    """`weights_dtype`."""
    weights = op.table.inputs[1]
    ratio = TILE_BYTES[value] / TILE_BYTES[now] if now in TILE_BYTES else 1.0
    waits = bool(waits_for_bytes(op.table, op.bounds)[0])
    saved = fewer_bytes_save(op.table, op.bounds, spared_bytes(weights, value), LAUNCH_FLOOR_NS)
    return Trial(
        now,
        rules((f"{value} exists in TILE layout only", value not in BLOCK_FLOATS or weights.layout[0] == "TILE")),
        buffers or {},
        change=f"weights take {ratio:.2f} times the bytes" + ("" if waits else "; the op does not wait for bytes"),
        at_most_ns=float(saved[0]) if waits else 0.0,
        needs="PCC >= 0.99 afterwards",
        effect=value != now,
    )


def math_fidelity(op: Op, value: str) -> Trial:
    """`math_fidelity`."""
    now = op.table.texts("fidelity")[0]
    if now not in FIDELITY_PHASES:
        return Trial(None, change="the op reports no math fidelity", at_most_ns=None)
    alike = op.table.inputs[1].dtype[0] == "BFLOAT4_B" and {now, value} == ALIKE
    waits = bool(waits_for_arithmetic(op.table, op.bounds)[0])
    saved = fewer_passes_save(op.table, op.bounds, np.array([float(FIDELITY_PHASES[value])]), LAUNCH_FLOOR_NS)
    change = f"passes over the operands: {FIDELITY_PHASES[now]} now, {FIDELITY_PHASES[value]} then"
    return Trial(
        now,
        change="no change: bfloat4_b weights have no bits for a second pass"
        if alike
        else change + ("" if waits else "; the op does not wait for its arithmetic"),
        at_most_ns=float(saved[0]) if waits and not alike else 0.0,
        needs="PCC >= 0.99 afterwards",
        effect=value != now and not alike,
    )


def grid_rules(op: Op, grid: Grid) -> tuple[str, ...]:
    """What a core grid must hold to."""
    most, (x, y) = worker_grid(op.chip), grid
    if most is not None:
        return rules((f"within the worker grid {most[0]}x{most[1]}", 0 < x <= most[0] and 0 < y <= most[1]))
    cores = op.chip.worker_cores
    return rules((f"at most the {cores} worker cores", x > 0 and y > 0 and (cores is None or x * y <= cores)))


def largest_grid(op: Op) -> str | None:
    """'11x10': the worker grid, where it is known."""
    most = worker_grid(op.chip)
    return f"{most[0]}x{most[1]}" if most else None
