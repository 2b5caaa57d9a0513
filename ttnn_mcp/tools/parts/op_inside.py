"""What an op's own times per processor and core say, as op_detail shows it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pydantic import Field

from ttnn_mcp.analyses.inside_kernel.kernel_parts import PARTS, Bound, kernel_parts_of
from ttnn_mcp.run.ops.op_names import family
from ttnn_mcp.wire import Quoting, Us, Wire

if TYPE_CHECKING:
    from ttnn_mcp.run.ops.op_table import OpTable

MOST_PCT = 105  # of a peak: more cannot be, and is no measurement
TOLD = 0.1  # of the kernel's time: less changes no decision about the op
LONG_FIRMWARE_NS = 5_000  # the longest usual firmware time around a kernel is 4.8 us (Wormhole reports of 2026)
MEASURED = {
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
    measured = {name: op.numbers(column).item() for name, column in MEASURED.items()}
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
