"""Doubts of what ops read, write and compute: more than the chip can, or operands that do not belong together."""

from __future__ import annotations

from ttnn_mcp.analyses.roofline.matmul_flops import WHY_UNFIT
from ttnn_mcp.analyses.roofline.roofline import IMPOSSIBLE, Roofline
from ttnn_mcp.quoting import figure
from ttnn_mcp.run.doubt import Doubt, some_lines
from ttnn_mcp.run.ops.op_names import family
from ttnn_mcp.run.ops.op_table import OpTable
from ttnn_mcp.run.window import Scope

UNFIT = 0.1  # of the matmuls: the operands of all 2,000 on 37 real reports fit (ours)


def doubted_by_work(scope: Scope, roofline: Roofline, *, some_ops: bool = True) -> Scope:
    """The window with what the operands of its ops contradict; without `some_ops` only what all of it rests on."""
    doubts = _operands_at_odds(scope.critical, roofline), _beyond_peak(scope.critical, roofline)
    return scope.doubted(tuple(doubt for doubt in doubts if doubt is not None and (some_ops or doubt.of_all)))


def _operands_at_odds(ops: OpTable, roofline: Roofline) -> Doubt | None:
    """Matmuls whose operands cannot be multiplied, so many that columns are exchanged; None where they are fewer."""
    unfit = roofline.why.among(WHY_UNFIT)
    matmuls = ops.texts("op_code").where(lambda name: family(name) == "matmul")
    if unfit.sum() <= UNFIT * matmuls.sum():
        return None
    what = f"operands that no matmul can multiply at {some_lines(ops, unfit)}"
    return Doubt("operands_at_odds", f"{what}: columns of names, shapes or operands are exchanged")


def _beyond_peak(ops: OpTable, roofline: Roofline) -> Doubt | None:
    """The ops of a window that are faster than the chip's peaks allow; None where there are none."""
    if not roofline.impossible.any():
        return None
    where = some_lines(ops, roofline.impossible)
    what = f"more bytes or arithmetic than {figure(IMPOSSIBLE, '.0%')} of the chip's peak at {where}"
    return Doubt("beyond_peak", f"{what}: times, shapes or memories are false; nothing is bound by them")
