"""The roofline of one op, and what its own times per processor and core say, as op_detail shows them."""

from __future__ import annotations

import numpy as np
from pydantic import Field

from ttnn_mcp.analyses.inside_kernel.kernel_parts import PARTS, Bound, kernel_parts_of
from ttnn_mcp.analyses.roofline.roofline import Roofline
from ttnn_mcp.quoting import figure
from ttnn_mcp.run.ops.op_names import family
from ttnn_mcp.run.ops.op_table import OpTable
from ttnn_mcp.wire import Gbps, Quoting, Share, Us, Wire

MOST_PCT = 105  # of a peak: more cannot be, and is no measurement
TOLD = 0.1  # of the kernel's time: less changes no decision about the op
LONG_FIRMWARE_NS = 5_000  # the longest usual firmware time around a kernel is 4.8 us (Wormhole reports of 2026)
INSIDE = {
    "dram": "dram_util_pct",
    "noc": "noc_util_pct",
    "fpu": "fpu_util_pct",
    "sfpu": "sfpu_util_pct",
    "math": "math_util_pct",
}
BESIDES = {  # what else may keep a part of these ops busy
    ("writer", "matmul"): "BRISC reads weights here too",
    ("writer", "conv"): "BRISC reads weights here too",
    **{(part, "collective"): "it may wait for other devices" for part in PARTS},
}
MEASURED = {"compute": ("FPU", "fpu_util_pct"), "dram": ("DRAM", "dram_util_pct")}  # by what bounds the op
STARVED = 0.25  # of the time: the unpacker sets the pace (tt-metal's study of its matmuls under counters, 2026-09)
AGREES = 0.5  # of the share of its peak that the bound claims: median cores and padding explain less (ours)


class RooflineOf(Wire):
    """Bounds of one op; what is not modelled is left out and `why` says so."""

    flops: int | None = None
    padded_flops: int | None = None
    dram_bytes: int | None = None
    compute_us: Us | None = None
    dram_us: Us | None = None
    dram_achievable_us: Us | None = None
    achieved_dram_gb_s: Gbps | None = None
    bound: str | None = None
    efficiency: Share | None = None
    why: Quoting | None = None


def roofline_said(bounds: Roofline, kernel_ns: float, op: OpTable | None = None) -> RooflineOf:
    """The first row of `bounds`, in the units of the answer, beside what was measured of the op."""

    def said(value: float) -> float | None:
        return value if np.isfinite(value) else None

    def whole(value: float) -> int | None:
        return int(value) if np.isfinite(value) else None

    moved = said(float(bounds.dram_bytes[0]))
    compute, dram = said(float(bounds.compute_ns[0])), said(float(bounds.dram_ns[0]))
    achievable = said(float(bounds.dram_achievable_ns[0]))
    return RooflineOf(
        flops=whole(float(bounds.flops[0])),
        padded_flops=whole(float(bounds.padded_flops[0])),
        dram_bytes=whole(float(bounds.dram_bytes[0])),
        compute_us=None if compute is None else compute / 1e3,
        dram_us=None if dram is None else dram / 1e3,
        dram_achievable_us=None if achievable is None else achievable / 1e3,
        achieved_dram_gb_s=moved / kernel_ns if moved and kernel_ns else None,
        bound=bounds.bound[0] or None,
        efficiency=said(float(np.minimum(bounds.efficiency[0], 1.0))),  # clocks and peaks are good to some percent
        why="; ".join(filter(None, (bounds.why[0], _measured(bounds, op) if op is not None else ""))) or None,
    )


def _measured(bounds: Roofline, op: OpTable) -> str:
    """What hardware counters, of one pass or several, or a NoC trace say for or against the bound."""

    def share(column: str) -> float:
        value = op.numbers(column).item()
        return value / 100 if value <= MOST_PCT else np.nan

    name, column = MEASURED.get(bounds.bound[0], ("", ""))
    claimed = float(bounds.efficiency[0])
    busy, engines = (share(one) if column else np.nan for one in (column, "math_util_pct"))
    parts: list[str] = []
    if np.isfinite(claimed) and np.isfinite(busy):
        verdict = "less than half of what this bound claims" if busy < AGREES * claimed else "as this bound claims"
        parts.append(f"{name} busy {figure(busy, '.0%')}, {verdict} ({figure(min(claimed, 1.0), '.0%')})")
    elif np.isfinite(claimed) and bounds.bound[0] == "dram" and np.isfinite(engines):
        verdict = "more than DRAM" if engines > claimed else "no more than DRAM"
        parts.append(
            f"engines busy {figure(engines, '.0%')}, {verdict} by this bound ({figure(min(claimed, 1.0), '.0%')})"
        )
    waits = np.fmax(share("srca_wait_pct"), share("srcb_wait_pct"))
    parts += [f"math waits {figure(waits, '.0%')} of the time for operands"] if waits >= STARVED else []
    return f"measured: {', '.join(parts)}" if parts else ""


class Inside(Wire):
    """What happens inside the kernel."""

    bound: Bound
    why: Quoting
    ended_before_us: dict[str, Us] = Field(default={})
    uneven_cores_us: Us | None = None
    start_skew_us: Us | None = None
    firmware_us: Us | None = None
    measured_pct: dict[str, float] = Field(default={})


def inside_of(op: OpTable) -> Inside | None:
    """What the report tells about the one op in this table; None where its times decide nothing."""
    parts = kernel_parts_of(op)
    measured = {name: op.numbers(column).item() for name, column in INSIDE.items()}
    measured = {name: round(value, 1) for name, value in measured.items() if 0 <= value <= MOST_PCT}
    kernel = op.numbers("kernel_ns").item()
    if not kernel:
        return None
    uneven = _told(parts.uneven_ns.item(), kernel)
    if not (parts.present.any() or measured or uneven):
        return None
    bound, why = parts.bound(0, kernel)
    besides = BESIDES.get((bound, family(op.texts("op_code")[0])))
    firmware = parts.firmware_ns.item()
    inside = Inside(
        bound=bound,
        why=f"{why}; {besides}" if besides else why,
        ended_before_us={
            part: ended / 1e3
            for part, ended in zip(PARTS, parts.ended_ns[:, 0].tolist(), strict=True)
            if ended >= TOLD * kernel
        },
        uneven_cores_us=uneven,
        start_skew_us=_told(op.numbers("start_skew_ns").item(), kernel),
        firmware_us=firmware / 1e3 if firmware > max(kernel, LONG_FIRMWARE_NS) else None,
        measured_pct=measured,
    )
    return None if bound == "cannot_tell" and inside == Inside(bound=bound, why=inside.why) else inside


def _told(time_ns: float, kernel_ns: float) -> float | None:
    """In microseconds, where it is worth a word."""
    return time_ns / 1e3 if time_ns >= TOLD * kernel_ns else None
