"""A call of ttnn.conv2d on an input that TTNN shards itself: the conv that TTNN builds, and the rules of the call."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from ttnn_mcp.analyses.programs.conv_spread import (
    Channels,
    Spread,
    block_height,
    block_width,
    spread_of,
    width_rules,
)
from ttnn_mcp.analyses.programs.convs import BLOCK, HEIGHT, WIDTH, Conv
from ttnn_mcp.hardware import BLOCK_FLOATS, TILE_SIDE

if TYPE_CHECKING:
    from ttnn_mcp.analyses.programs.conv_window import ConvWindow


@dataclass(frozen=True, slots=True)
class ConvAsked:
    """The arguments of a ttnn.conv2d call that decide its program; data types are spelled as in the report.

    Attributes:
        block_h: act_block_h_override, in elements; 0 if it is not set.
        width_divisor: act_block_w_div, which only WIDTH_SHARDED obeys.
        tensors_bytes: L1 per core of other tensors, the interleaved input included.
        from_dram: whether `window` is that of a slice of an input in DRAM: PaddedSlice has distributed its rows
            already, so TTNN lowers the block to a divisor of them.
    """

    layout: str
    window: ConvWindow
    channels: Channels
    block_h: int = 0
    width_divisor: int = 1
    act_double: bool = False
    weights_double: bool = False
    weights_dtype: str = "BFLOAT8_B"
    output_dtype: str = "BFLOAT16"
    staging_dtype: str = "BFLOAT16"
    bias: bool = True
    fp32_accumulation: bool = False
    packer_l1: bool = True
    untilize: bool = False
    tensors_bytes: int = 0
    from_dram: bool = False
    tables_in_dram: bool = False
    arch: str | None = None

    def rules(self, grid: tuple[int, int]) -> dict[str, bool]:
        """The rules that TTNN asserts, in words, and whether each holds."""
        rules = {
            "a multiple of 32, or 0": self.block_h >= 0 and self.block_h % TILE_SIDE == 0
        }  # conv2d_utils.cpp:280
        if self.untilize:
            rules["output_layout ROW_MAJOR: not in a block format"] = self.output_dtype not in BLOCK_FLOATS
        if self.layout == WIDTH:
            spread = self._spread(grid)
            rules |= width_rules(spread, self.window, self._block(spread))
        return rules

    def on(self, grid: tuple[int, int]) -> Conv:
        """The conv that TTNN builds for the call on a grid."""
        spread = self._spread(grid)
        height, width = self._block(spread)
        rows = 1 if self.layout == WIDTH else self.window.kernel[0]
        return Conv(
            layout=self.layout,
            block_h=max(height, 1),
            block_w=max(width, 1),
            per_core_h=spread.per_core_h,
            per_core_w=spread.per_core_w,
            kernel_h=self.window.kernel[0],
            inner_blocks=rows
            * {HEIGHT: 1, BLOCK: spread.cores[1]}.get(self.layout, spread.cores[1] * self.width_divisor),
            cores=spread.cores,
            staging_dtype=self.staging_dtype,
            weights_dtype=self.weights_dtype,
            output_dtype=self.output_dtype,
            act_double=self.act_double,
            weights_double=self.weights_double,
            bias=self.bias,
            untilize=self.untilize,
            fp32_accumulation=self.fp32_accumulation,
            packer_l1=self.packer_l1,
            allocated_bytes=self.tensors_bytes,
            allocated_said=True,
            window=self.window,
            input_channels=spread.channels,
            indices_in_l1=self.tables_in_dram,
            arch=self.arch,
        )

    def _spread(self, grid: tuple[int, int]) -> Spread:
        tiles = 1 if self.from_dram else max(self.block_h // TILE_SIDE, 1)
        return spread_of(self.layout, self.window, self.channels, grid, tiles=tiles)

    def _block(self, spread: Spread) -> tuple[int, int]:
        height = block_height(spread.whole_tiles, spread.per_core_h, self.block_h // TILE_SIDE)
        divisor = self.width_divisor if self.layout == WIDTH else 1
        return height, block_width(spread, self.layout, self.window, divisor=divisor)
