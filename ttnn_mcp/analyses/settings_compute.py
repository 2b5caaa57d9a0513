"""Settings that many ops share: weight format, math fidelity, core grid."""

from __future__ import annotations

from ttnn_mcp.analyses.grids import Grid, worker_grid
from ttnn_mcp.analyses.setting_trial import Op, Trial, rules
from ttnn_mcp.hardware import BLOCK_FLOATS, FIDELITY_PHASES, TILE_BYTES, canonical_dtype


def lighter_weights(op: Op, now: str, value: str, buffers: dict[str, int] | None = None) -> Trial:
    """`weights_dtype`: saved at most is the weights' part of the DRAM traffic at the rate the op reached."""
    weights, moved = op.table.inputs[1], float(op.bounds.dram_bytes[0])
    ratio = TILE_BYTES[value] / TILE_BYTES[now] if now in TILE_BYTES else 1.0
    saved = 0.0
    if weights.in_dram[0] and moved > 0:
        share = float(weights.bytes[0]) * (1 - ratio) / moved
        saved = max(0.0, min(op.kernel_ns * share, op.kernel_ns - float(op.bounds.compute_used_ns[0] or 0.0)))
    return Trial(
        now,
        rules((f"{value} exists in TILE layout only", value not in BLOCK_FLOATS or weights.layout[0] == "TILE")),
        buffers or {},
        change=f"weights take {ratio:.2f} times the bytes",
        at_most_ns=saved,
        needs="PCC >= 0.99 afterwards; bfloat4_b only where it holds",
        effect=value != now,
    )


def math_fidelity(op: Op, value: str) -> Trial:
    """`math_fidelity`: saved at most is the arithmetic that falls away."""
    now = op.table.texts("fidelity")[0]
    if now not in FIDELITY_PHASES:
        return Trial(None, change="the op reports no math fidelity: it moves data", at_most_ns=0.0, effect=False)
    ratio = FIDELITY_PHASES[value] / FIDELITY_PHASES[now]
    arithmetic = float(op.bounds.compute_used_ns[0])
    weights = canonical_dtype(op.table.inputs[1].dtype[0]) if len(op.table.inputs) > 1 else ""
    same = weights == "BFLOAT4_B" and {now, value} == {"LoFi", "HiFi2"}  # tt-metal #39627: bits that are not there
    known = arithmetic == arithmetic  # noqa: PLR0124 - NaN where the op's arithmetic is not modelled
    return Trial(
        now,
        change="no change: bfloat4_b weights have no bits for a second pass"
        if same
        else f"{FIDELITY_PHASES[now]} passes over the operands become {FIDELITY_PHASES[value]}"
        + (f"; arithmetic is {arithmetic / op.kernel_ns:.0%} of its time" if known else ""),
        at_most_ns=0.0 if same else max(0.0, arithmetic * (1 - ratio)) if known else None,
        needs="PCC >= 0.99 afterwards",
        effect=value != now and not same,
    )


def grid_rules(op: Op, grid: Grid) -> tuple[str, ...]:
    """What a core grid must hold to."""
    most = worker_grid(op.chip)
    cores = op.chip.worker_cores or 0
    x, y = grid
    if most is not None:
        return rules((f"within the worker grid {most[0]}x{most[1]}", 0 < x <= most[0] and 0 < y <= most[1]))
    return rules((f"at most the {cores} worker cores", x > 0 and y > 0 and (not cores or x * y <= cores)))
