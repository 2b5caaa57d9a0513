"""What a fix writes of minimal_matmul or in its place: what the op has beside its config, and blocks that fit."""

from __future__ import annotations

from math import ceil

import numpy as np

from ttnn_mcp.analyses.laws.printed_op import FUNCTION
from ttnn_mcp.analyses.programs.matmul_config import tile_bytes_of
from ttnn_mcp.analyses.programs.minimal_matmul import DEFAULT_BLOCK, MinimalMatmul
from ttnn_mcp.checks.check import Mask, WindowFacts
from ttnn_mcp.checks.shared.activations import BY_MATMULS, also_applied, has_bias, lies_elsewhere
from ttnn_mcp.hardware import TILE_BYTES, TILE_SIDE
from ttnn_mcp.readers.printed.attributes import Attributes


def multiplies_alone(facts: WindowFacts) -> Mask:
    """Ops that are a product, a bias and a function: no split of the result, no SwiGLU, no sum with a third operand."""
    rows = np.flatnonzero(facts.named("MinimalMatmul"))
    able = np.ones(len(facts), dtype=np.bool_)
    able[rows] = facts.attributes_of_ops.numbers(rows, _does_more) == 0
    return able


def becomes_linear(facts: WindowFacts) -> Mask:
    """Those whose function, if any, an ordinary matmul applies, too: of exp and square TTNN 0.81.1 throws there."""
    rows = np.flatnonzero(multiplies_alone(facts) & facts.named("MinimalMatmul"))
    able = np.zeros(len(facts), dtype=np.bool_)
    able[rows] = facts.attributes_of_ops.numbers(rows, _applies_another) == 0
    return able


def _applies_another(attributes: Attributes) -> float:
    return float(any(one not in BY_MATMULS for one in FUNCTION.findall(attributes.get("fused_activation", ""))))


def _does_more(attributes: Attributes) -> float:
    splits = (attributes.number("chunks") or 1) > 1
    return float(splits or bool(attributes.flag("fuse_swiglu") or attributes.text_of("fused_ternary_scalar")))


def beside_operands(facts: WindowFacts, row: int, bias: str, end: int | None = None) -> str:
    """The bias by the name that the call has for it, and a type and a place that are not TTNN's own: x's, and DRAM.

    The result is that of the op at `end`, where the call does what it does, too.
    """
    end = row if end is None else end
    x, out = facts.ops.inputs[0].dtype[row], facts.ops.outputs[0].dtype[end]
    is_other = out != x and out in TILE_BYTES  # the cell may be blank, or name a type that ttnn has not
    typed = f", dtype=ttnn.{out.lower()}" if is_other else ""
    return f", {bias}=bias" * has_bias(facts, row) + typed + ", memory_config=<as now>" * lies_elsewhere(facts, end)


def beside_minimal(facts: WindowFacts, row: int) -> str:
    """The same of minimal_matmul, and the function that the op applies."""
    return f"{beside_operands(facts, row, 'bias_tensor')}{also_applied(facts, row)}"


def deepest_k(facts: WindowFacts, row: int, high: int, wide: int) -> int:
    """The deepest K_block_size, up to the default, whose buffers fit L1 beside blocks of M and N; 0 if none does.

    With sums of 32 bits, which a call without a compute config has (TTNN 0.81.1).
    """
    tile_bytes, depth = tile_bytes_of(facts.ops, row), DEFAULT_BLOCK
    while depth:
        config = MinimalMatmul((high, depth, wide), (1, 1), (1, 1), None, *tile_bytes, fp32=True)
        if sum(config.buffers.values()) <= facts.safe_l1_bytes:
            break
        depth //= 2
    return depth


def even_k(facts: WindowFacts, row: int, deepest: int) -> int:
    """The K_block_size of as even blocks as can be, none deeper.

    TTNN pads K to whole blocks and multiplies the padding, too (padded_K_tiles in its factory).
    """
    tiles = ceil(facts.ops.inputs[0].padded[row, 3] / TILE_SIDE)
    return ceil(tiles / ceil(tiles / deepest)) if tiles else deepest
