"""Ops that leave most of the grid idle, and over how many cores their work could be spread."""

from __future__ import annotations

import numpy as np

from ttnn_mcp.analyses.attribute_columns import attributes_of
from ttnn_mcp.arrays import Booleans, Floats
from ttnn_mcp.hardware import TILE_SIDE
from ttnn_mcp.run.ops.artefact import artefact
from ttnn_mcp.run.ops.op_table import OpTable
from ttnn_mcp.run.ops.operand import Operand

FEW_CORES = 0.5  # of the grid (domain practice)
SMALL_NS = 5_000.0  # below it the launch dominates, and fewer cores may be faster (tt-metal #54915)
_FEW_ON_PURPOSE = ("collective",)  # a collective uses a few cores to drive the links
PARTITION = ("sub_core_grids", "sub_device_id")  # set: the caller gave this op a part of the grid


def on_few_cores(ops: OpTable, cores: int | None) -> Booleans:
    """Ops of 5 us and more on fewer than half of `cores`; none if the grid or CORE COUNT is unknown.

    An op of a sub-device has only the cores of it: the available cores in its own row count.
    """
    used = ops.numbers("cores")
    available = np.fmin(ops.numbers("worker_cores"), cores or 0)
    few = (used > 0) & (used < FEW_CORES * available) & (ops.numbers("kernel_ns") >= SMALL_NS)
    few &= ~ops.of_family(*_FEW_ON_PURPOSE)
    rows = np.flatnonzero(few)
    partitioned = attributes_of(ops).numbers(
        rows, lambda attributes: float(attributes.text_of(*PARTITION) is not None)
    )
    few[rows[partitioned > 0]] = False
    return few


@artefact
def parallel_units(ops: OpTable) -> Floats:
    """Per op, the number of pieces into which its output can be cut: tiles, or rows in ROW_MAJOR.

    HEIGHT_SHARDED outputs are cut into rows of tiles only, WIDTH_SHARDED into columns. NaN without an output.
    """
    return pieces_of(ops.outputs[0]) if ops.outputs else np.full(len(ops), np.nan)


def pieces_of(operand: Operand) -> Floats:
    """The same of any operand; NaN where it is absent."""
    tall = np.where(operand.layout.among("TILE"), TILE_SIDE, 1)
    rows = np.ceil(operand.height / tall)
    columns = np.ceil(operand.padded[:, 3] / TILE_SIDE)
    by_rows = operand.placement.where(lambda text: text.endswith("HEIGHT_SHARDED"))
    by_columns = operand.placement.where(lambda text: text.endswith("WIDTH_SHARDED"))
    in_rows = operand.layout.among("ROW_MAJOR") & ~operand.sharded
    pieces = np.where(by_rows | in_rows, rows, np.where(by_columns, columns, rows * columns))
    return np.where(operand.present, pieces, np.nan)


def spread_ns(ops: OpTable, cores: int) -> Floats:
    """Per op, its kernel time if its pieces were spread evenly over `cores`; never above its real time."""
    took, used = ops.numbers("kernel_ns"), ops.numbers("cores")
    units = np.nan_to_num(parallel_units(ops), nan=1.0)
    wide = np.maximum(np.minimum(cores, np.maximum(units, 1)), used)
    return np.where(used > 0, took * used / wide, took)
