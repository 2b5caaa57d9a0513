"""SparseMatmuls: the largest possible block along K, and pairs of them that read one activation."""

from __future__ import annotations

import numpy as np

from ttnn_mcp.analyses.attribute_columns import attributes_of
from ttnn_mcp.analyses.dataflow.likely_producers import Flow
from ttnn_mcp.analyses.programs.matmul_config import BLOCKS
from ttnn_mcp.analyses.roofline.matmul_flops import active_share
from ttnn_mcp.arrays import Booleans, Floats, Integers
from ttnn_mcp.hardware import TILE_BYTES, TILE_SIDE
from ttnn_mcp.readers.printed.attributes import Attributes
from ttnn_mcp.run.iterations import signatures
from ttnn_mcp.run.ops.op_table import OpTable


def share_read(ops: OpTable) -> Floats:
    """Per op, the share of INPUT_1 that it reads: the active experts of a sparse matmul, as far as nnz tells."""
    share = np.ones(len(ops))
    rows = np.flatnonzero(ops.named("SparseMatmul"))
    share[rows] = np.nan_to_num(active_share(ops, attributes_of(ops), rows), nan=1.0)
    return share


def config_numbers(ops: OpTable, rows: Integers, key: str) -> Floats:
    """A number of each row's program config; NaN if none is printed."""

    def of(attributes: Attributes) -> float | None:
        config = attributes.struct("program_config")
        return config.number(key) if config else None

    return attributes_of(ops).numbers(rows, of)


def block_bytes(ops: OpTable, rows: Integers) -> tuple[Floats, Floats]:
    """Bytes of a core's L1 for each tile of a block along K, double-buffered, and for its result; NaN if not told."""
    per_m, per_n = (config_numbers(ops, rows, key) for key in ("per_core_M", "per_core_N"))
    x, weight = (
        operand.dtype.mapped(TILE_BYTES.get, missing=np.nan, dtype=np.float64)[rows] for operand in ops.inputs[:2]
    )
    return 2 * (per_m * x + per_n * weight), per_m * per_n * max(TILE_BYTES.values())


def deepest_blocks(ops: OpTable, rows: Integers, l1_bytes: float) -> Floats:
    """The largest block up to 8 that divides K and whose double-buffered inputs fit `l1_bytes`; 0 where none does."""
    per_tile, result = block_bytes(ops, rows)
    k = ops.inputs[0].padded[rows, 3] // TILE_SIDE
    deepest = np.zeros(len(rows))
    for block in BLOCKS:
        fits = block * per_tile + result <= l1_bytes
        deepest = np.where((deepest == 0) & (k % block == 0) & fits, block, deepest)
    return deepest


def second_of_pairs(ops: OpTable, flow: Flow, rows: Integers, able: Booleans) -> Integers:
    """Rows that do the same work as the row before on the same activation, if both are `able`.

    Of three in a row the third begins a new pair.
    """
    kinds, made = signatures(ops), flow.producers[0]
    first, second = rows[:-1], rows[1:]
    alike = (kinds[first] == kinds[second]) & (made[first] == made[second]) & flow.made[0][first]
    pairs = np.flatnonzero(alike & able[first] & able[second])
    seconds: list[int] = []
    for index in pairs:
        if not seconds or rows[index] != seconds[-1]:
            seconds.append(int(rows[index + 1]))
    return np.array(seconds, dtype=np.int64)
