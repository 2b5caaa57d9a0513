"""How ops of the matrix engine accumulate: settings of partial sums, and block sizes, as ATTRIBUTES print them."""

from __future__ import annotations

from ttnn_mcp.analyses.attribute_columns import attributes_of
from ttnn_mcp.arrays import Floats, Integers
from ttnn_mcp.hardware import DST_TILES, DST_TILES_FP32
from ttnn_mcp.readers.printed.attributes import Attributes
from ttnn_mcp.run.ops.op_table import OpTable

# the struct of a conv, of a matmul, of a minimal matmul
SUBBLOCKS = {
    "block_config": ("out_subblock_h_ntiles", "out_subblock_w_ntiles"),
    "program_config": ("out_subblock_h", "out_subblock_w"),
    "config": ("subblock_h", "subblock_w"),
}
INNER_BLOCKS = {
    "block_config": ("act_block_w_ntiles",),
    "program_config": ("in0_block_w",),
    "config": ("K_block_size",),
}


def compute_setting(ops: OpTable, rows: Integers, field: str) -> Floats:
    """1 or 0 by compute_kernel_config; NaN if it is not printed."""

    def of(attributes: Attributes) -> float | None:
        config = attributes.struct("compute_kernel_config")
        return None if config is None else config.number(field)

    return attributes_of(ops).numbers(rows, of)


def fills_half_of_dst(ops: OpTable, rows: Integers) -> Floats:
    """1 where an output subblock is as large as FLOAT32 sums let it be, and 16-bit sums would let it grow; else 0."""
    return attributes_of(ops).numbers(rows, _fills_half)


def _fills_half(attributes: Attributes) -> float:
    tiles, config = _product(attributes, SUBBLOCKS), attributes.struct("program_config")
    if config is None or tiles == DST_TILES_FP32:
        return float(tiles == DST_TILES_FP32)
    high, wide = (int(config.number(f"per_core_{side}") or 0) for side in "MN")
    fitting = {
        a * b for a in range(1, DST_TILES + 1) for b in range(1, DST_TILES + 1) if not (high % a or wide % b)
    }
    most = [max(size for size in fitting if size <= limit) for limit in (DST_TILES_FP32, DST_TILES)]
    return float(tiles == most[0] < most[1])


def inner_block_tiles(ops: OpTable, rows: Integers) -> Floats:
    """Tiles of one block along K, from the config that the op prints; NaN if it prints none."""
    return attributes_of(ops).numbers(rows, lambda attributes: _product(attributes, INNER_BLOCKS))


def _product(attributes: Attributes, fields_of: dict[str, tuple[str, ...]]) -> float | None:
    for key, fields in fields_of.items():
        config = attributes.struct(key)
        sides = [config.number(field) for field in fields] if config else []
        product = 1
        for side in sides:
            product *= side or 0
        if sides and product:
            return product
    return None
