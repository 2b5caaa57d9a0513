"""L1 that one Conv2d takes on each core, buffer by buffer, from the ATTRIBUTES of its row.

The formulas are those of ttnn's conv2d program factories (conv2d_op_program_factory_common.cpp: get_cb_info), held
against TTNN 0.81.1 on mock devices: equal to the byte there. Conv2d since mid 2025 and OptimizedConvNew before
print the same facts under other keys. Older builds take more: `older_bytes`.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from math import isqrt
from typing import TYPE_CHECKING

from ttnn_mcp.hardware import TILE_BYTES, TILE_SIDE

if TYPE_CHECKING:
    from ttnn_mcp.analyses.op_kinds.conv_window import Window

HEIGHT, BLOCK, WIDTH = "HEIGHT_SHARDED", "BLOCK_SHARDED", "WIDTH_SHARDED"
SCRATCH_BYTES = 64  # l1_scratchpad_CB_size, same file
DIVISORS_AT_MOST = 1 << 20  # tiles: no tensor that fits a chip has more along one side
DOUBLE_BUFFER_BEST = 0.5  # of a conv's time: reading and computing overlap, the longer half stays (0.405 seen)


@dataclass(frozen=True, slots=True)
class Conv:
    """What decides a Conv2d's L1. Blocks and per-core sizes in tiles.

    Attributes:
        block_h: tiles of output height worked on at a time; act_block_h_override is 32 times as much.
        kernel_h: rows of the window.
        inner_blocks: blocks along the inner dimension that one output block sums up.
        cores: cores that share the work; along output rows, along input and output channels.
        staging_dtype: what halo hands over: row-major, BFLOAT16 unless FLOAT32.
        allocated_bytes: L1 in use per core when the op starts, its input included.
        allocated_said: False where the report only gives away the input's shard: then a lower bound.
        window: what slides over the input; None where the report leaves out a part.
        input_channels: of the input, padding included; 0 where not known.
        indices_in_l1: bytes of the reader's indices, where they are no tensor (config_tensors_in_dram).
        reuses_activation: enable_activation_reuse, whose buffers are not modelled.
        depthwise: as many groups as channels: a program of its own, not modelled.
        transposed: rows lie along the columns of the grid (transpose_shards).
    """

    layout: str
    block_h: int
    block_w: int
    per_core_h: int
    per_core_w: int
    kernel_h: int
    inner_blocks: int
    cores: tuple[int, int, int]
    staging_dtype: str
    weights_dtype: str
    output_dtype: str
    act_double: bool
    weights_double: bool
    bias: bool
    untilize: bool
    fp32_accumulation: bool
    packer_l1: bool
    allocated_bytes: int
    allocated_said: bool
    window: Window | None = None
    input_channels: int = 0
    indices_in_l1: bool = False
    reuses_activation: bool = False
    depthwise: bool = False
    transposed: bool = False

    @property
    def modelled(self) -> bool:
        """Whether `buffers` are those of the program that TTNN builds."""
        return not (self.reuses_activation or self.depthwise)

    @property
    def halo_bytes(self) -> int | None:
        """Of the input that halo hands over, per core; None where the window or the channels are not known."""
        if self.window is None or not self.input_channels:
            return None
        sticks = self.window.sticks(1 if self.layout == WIDTH else self.cores[0], TILE_SIDE * self.per_core_h)
        each = self.input_channels // (1 if self.layout == HEIGHT else self.cores[1])
        return sticks * each * TILE_BYTES[self.staging_dtype] // TILE_SIDE**2

    @property
    def blocks(self) -> int:
        """Blocks one core works through along its output height."""
        return -(-self.per_core_h // self.block_h)

    @property
    def buffers(self) -> dict[str, int]:
        """Bytes per core of each circular buffer and of the output shard, in the factory's names."""
        weights, output = TILE_BYTES[self.weights_dtype], TILE_BYTES[self.output_dtype]
        staging = TILE_BYTES[self.staging_dtype]
        block, high = self.block_h * self.block_w, self.layout == HEIGHT
        # HEIGHT with several blocks keeps the weights of all window rows; every other case one or two blocks
        copies = self.kernel_h if high and self.blocks > 1 else 1 + self.weights_double
        alone = not high and self.cores[1] == self.cores[2] == 1  # nobody to multicast to: conv_skip_mcast
        sizes = {
            "OUT": self.per_core_h * self.per_core_w * output,
            "WEIGHTS": self.per_core_w * self.block_w * weights * copies,
            # without multicast the blocks are tilized in place: get_cb_info, overlap_act_cb
            "ACT": 0 if alone else block * (staging if high else output) * (1 + self.act_double),
            "ACT_TILIZED": block * output,
            "ACT_ROW_MAJOR": self._row_major(block, alone=alone),
            "PARTIALS": self._partials,
            "BIAS": self.per_core_w * weights * self.bias,
            "SCRATCH": SCRATCH_BYTES,
            "INDICES": self._indices,
        }
        return {name: size for name, size in sizes.items() if size}

    @property
    def older_bytes(self) -> int:
        """What builds before 0.81 may take more: sums of a core's whole output, staging beside the activations.

        get_cb_info of 2025 and early 2026 has neither the one nor the other overlap.
        """
        partials = self._partials // self.block_h * max(self.per_core_h - self.block_h, 0)
        staging = self.block_h * self.block_w * TILE_BYTES[self.staging_dtype]
        return partials + (staging if self.layout == BLOCK and "ACT_ROW_MAJOR" not in self.buffers else 0)

    @property
    def own_bytes(self) -> int:
        """Of the circular buffers, without the output's shard, which is a tensor."""
        return sum(size for name, size in self.buffers.items() if name != "OUT")

    @property
    def total_bytes(self) -> int:
        """Everything in L1 on one core while the op runs."""
        return self.allocated_bytes + sum(self.buffers.values())

    def _row_major(self, block: int, *, alone: bool) -> int:
        """Rows before they are tilized; BLOCK lays them over ACT where both have one format."""
        staging = TILE_BYTES[self.staging_dtype]
        if self.layout == WIDTH:
            return 2 * self.block_w * staging
        over_act = self.staging_dtype == self.output_dtype and not alone
        return block * staging if self.layout == BLOCK and not over_act else 0

    @property
    def _partials(self) -> int:
        """Sums of one block of the output, unless they can grow in the output's own buffer."""
        dtype = self.output_dtype
        if self.packer_l1 and self.inner_blocks > (1 if self.bias else 2):  # determine_packer_l1_acc
            dtype = "FLOAT32" if self.fp32_accumulation else "BFLOAT16"
        if not self.untilize and dtype == self.output_dtype:
            return 0
        return self.block_h * self.per_core_w * TILE_BYTES[dtype]

    @property
    def _indices(self) -> int:
        """Two bytes per row of output, three of them in a conv of one dimension."""
        if not self.indices_in_l1:
            return 0
        each = 6 if self.window is not None and self.window.is_one_dimensional else 2
        return self.per_core_h * TILE_SIDE * each

    @property
    def doubling_helps(self) -> bool:
        """Whether there is a next activation block to read while this one is computed."""
        return self.blocks > 1 or (self.layout != HEIGHT and self.inner_blocks > 1)


def larger_block(conv: Conv, safe_bytes: float) -> Conv | None:
    """The conv with the largest legal act_block_h above the present one that fits; None where none does.

    Legal blocks divide the height of a core's output. A block that also fits with activations double buffered is
    preferred to a larger one that does not.
    """
    if not conv.modelled:
        return None
    larger = [replace(conv, block_h=size) for size in blocks_of(conv) if size > conv.block_h][::-1]
    single = [one for one in larger if not one.doubling_helps]
    choices = [
        *single,
        *(replace(one, act_double=False) for one in single),
        *(replace(one, act_double=True) for one in larger if one.doubling_helps),
        *larger,
    ]
    return next((one for one in choices if one.total_bytes <= safe_bytes), None)


def blocks_of(conv: Conv) -> list[int]:
    """Tiles of output height that TTNN takes as a block while the rows stay spread as they are, ascending.

    The divisors of a core's height. WIDTH counts only whole tiles of rows (get_conv_configs: the shard's height by
    32, rounded down), and asks that what it chose divides the padded height too
    (conv2d_op_width_sharded_program_factory.cpp: act_matrix_height_ntiles % act_block_h_ntiles). So without the
    number of rows nothing is sure, and the whole of an uneven height is to be had by no override alone.
    """
    legal = divisors(conv.per_core_h)
    if conv.layout != WIDTH:
        return legal
    whole_tiles = conv.window.rows // TILE_SIDE if conv.window is not None else 0
    return [one for one in legal if whole_tiles and whole_tiles % one == 0]


def divisors(number: int) -> list[int]:
    """All of them, ascending; none of a number that no side of a tensor can have."""
    if not 0 < number <= DIVISORS_AT_MOST:
        return []
    small = [one for one in range(1, isqrt(number) + 1) if number % one == 0]
    return sorted({*small, *(number // one for one in small)})
