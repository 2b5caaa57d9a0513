"""The doubt about ops that read, write or compute more than the chip can in their time."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ttnn_mcp.analyses.roofline.roofline import IMPOSSIBLE
from ttnn_mcp.quoting import figure
from ttnn_mcp.run.doubt import Doubt, some_lines

if TYPE_CHECKING:
    from ttnn_mcp.analyses.roofline.roofline import Roofline
    from ttnn_mcp.run.ops.op_table import OpTable


def beyond_peak(ops: OpTable, roofline: Roofline) -> Doubt | None:
    """The ops of a window that are faster than the chip's peaks allow; None where there are none."""
    if not roofline.impossible.any():
        return None
    where = some_lines(ops, roofline.impossible)
    what = f"more bytes or arithmetic than {figure(IMPOSSIBLE, '.0%')} of the chip's peak at {where}"
    return Doubt("beyond_peak", f"{what}: times, shapes or memories are false; nothing is bound by them")
