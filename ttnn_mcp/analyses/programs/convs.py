"""The L1 that one Conv2d takes on each core, buffer by buffer, from the ATTRIBUTES of its row.

The formulas are those of ttnn's conv2d program factories (conv2d_op_program_factory_common.cpp: get_cb_info).
Compared with TTNN 0.81.1 on mock devices, they are equal to the byte. Conv2d (since mid 2025) and OptimizedConvNew
(before) print the same facts under different keys. Older builds take more: `older_bytes`.
"""

from __future__ import annotations

from dataclasses import replace
from math import isqrt

from ttnn_mcp.analyses.programs.conv_readers import ALIGNED, ReadBlock
from ttnn_mcp.analyses.programs.conv_window import ConvWindow
from ttnn_mcp.hardware import TILE_BYTES, TILE_SIDE, filled_up
from ttnn_mcp.records import dataclass

HEIGHT, BLOCK, WIDTH = "HEIGHT_SHARDED", "BLOCK_SHARDED", "WIDTH_SHARDED"
SCRATCH_BYTES = 64  # l1_scratchpad_CB_size, same file
TABLED_AT_MOST = 4_096  # tiles of a core's output height: L1 holds no more even in BFLOAT4_B
DIVISORS_AT_MOST = 1 << 20  # tiles: no tensor that fits a chip has more along one side
DOUBLE_BUFFER_BEST = 0.5  # of a conv's time: reading and computing overlap, the longer half stays (0.405 seen)


@dataclass(frozen=True, slots=True)
class Conv:
    """The properties of a Conv2d that decide its L1. Blocks and per-core sizes are in tiles.

    Attributes:
        layout: HEIGHT_SHARDED, BLOCK_SHARDED or WIDTH_SHARDED.
        block_h: tiles of output height worked on at a time; act_block_h_override is 32 times as much.
        kernel_h: rows of the window.
        inner_blocks: blocks along the inner dimension that one output block sums up.
        cores: cores that share the work; along output rows, along input and output channels.
        staging_dtype: data type of the row-major input that halo writes: FLOAT32 or BFLOAT16.
        allocated_bytes: L1 in use per core when the op starts, its input included.
        allocated_said: whether the report states that; otherwise only the input's shard is known, a lower bound.
        window: the sliding window; None where the report leaves out a part of it.
        input_channels: channels of the input with padding; 0 where unknown.
        indices_in_l1: whether the reader's indices are in a buffer of their own (config_tensors_in_dram).
        reuses_activation: enable_activation_reuse, whose buffers are not modelled.
        depthwise: as many groups as channels: a program of its own, not modelled.
        transposed: rows lie along the columns of the grid (transpose_shards).
        arch: the chip, which only the number of readers depends on; None where unknown.
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
    window: ConvWindow | None = None
    input_channels: int = 0
    indices_in_l1: bool = False
    reuses_activation: bool = False
    depthwise: bool = False
    transposed: bool = False
    arch: str | None = None

    @property
    def modelled(self) -> bool:
        """Whether `buffers` are those of the program that TTNN builds."""
        return not (self.reuses_activation or self.depthwise)

    @property
    def halo_bytes(self) -> int | None:
        """Bytes per core of the input that halo writes; None where the window or the channels are unknown."""
        if self.window is None or not self.input_channels:
            return None
        sticks = self.window.sticks(1 if self.layout == WIDTH else self.cores[0], TILE_SIDE * self.per_core_h)
        channels_per_core = self.input_channels // (1 if self.layout == HEIGHT else self.cores[1])
        return sticks * channels_per_core * TILE_BYTES[self.staging_dtype] // TILE_SIDE**2

    @property
    def blocks(self) -> int:
        """The number of blocks that one core computes along its output height."""
        return -(-self.per_core_h // self.block_h)

    @property
    def buffers(self) -> dict[str, int]:
        """Bytes per core of each circular buffer and of the output shard, in the factory's names."""
        weights, output = TILE_BYTES[self.weights_dtype], TILE_BYTES[self.output_dtype]
        staging = TILE_BYTES[self.staging_dtype]
        block, high = self.block_h * self.block_w, self.layout == HEIGHT
        # HEIGHT with several blocks holds the weights of all rows of the window; other cases hold one or two blocks
        copies = self.kernel_h if high and self.blocks > 1 else 1 + self.weights_double
        alone = not high and self.cores[1] == self.cores[2] == 1  # no other core to multicast to: conv_skip_mcast
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
        """Bytes per core that builds before 0.81 may take more.

        They hold the sums of a core's whole output, and the staging beside the activations: get_cb_info of 2025 and
        early 2026 lets neither of them share a buffer.
        """
        partials = self._partials // self.block_h * max(self.per_core_h - self.block_h, 0)
        staging = self.block_h * self.block_w * TILE_BYTES[self.staging_dtype] * (1 + self.act_double)
        return partials + (staging if self.layout == BLOCK and "ACT_ROW_MAJOR" not in self.buffers else 0)

    @property
    def total_bytes(self) -> int:
        """All bytes in L1 on one core while the op runs."""
        return self.allocated_bytes + sum(self.buffers.values())

    def _row_major(self, block: int, *, alone: bool) -> int:
        """Bytes of the rows before they are tilized; with BLOCK they share ACT if both have the same format."""
        staging = TILE_BYTES[self.staging_dtype]
        if self.layout == WIDTH:
            return 2 * self.block_w * staging
        over_act = self.staging_dtype == self.output_dtype and not alone
        # get_cb_info doubles the block before it sizes the rows of both readers; 0.81.1 does so on mock devices
        return block * staging * (1 + self.act_double) if self.layout == BLOCK and not over_act else 0

    @property
    def _partials(self) -> int:
        """Bytes of the sums of one block of the output; 0 if they can use the output's buffer."""
        dtype = self.output_dtype
        # in0_num_blocks_w of the factory
        steps = self.inner_blocks * (self.cores[2] if self.layout == BLOCK else 1)
        if self.packer_l1 and steps > (1 if self.bias else 2):  # determine_packer_l1_acc
            dtype = "FLOAT32" if self.fp32_accumulation else "BFLOAT16"
        if not self.untilize and dtype == self.output_dtype:
            return 0
        return self.block_h * self.per_core_w * TILE_BYTES[dtype]

    @property
    def _indices(self) -> int:
        """Bytes of the reader's table of indices; where the window is unknown two per row, as TTNN estimates."""
        rows = self.per_core_h * TILE_SIDE
        if not self.indices_in_l1 or self.window is None or self.per_core_h > TABLED_AT_MOST:
            return 2 * rows * self.indices_in_l1
        second = self.block_h // 2 if self.two_read else 0
        readers = (TILE_SIDE * (self.block_h - second), TILE_SIDE * second)
        return self.window.index_bytes(1 if self.layout == WIDTH else self.cores[0], rows, readers)

    @property
    def two_read(self) -> bool:
        """Whether two readers share a block; of a height-sharded conv on an unknown chip they are taken to."""
        if self.layout != HEIGHT or self.window is None:
            return self.layout != WIDTH
        across = self.window.kernel[1]
        pixel = filled_up(TILE_BYTES[self.staging_dtype] // TILE_SIDE**2 * self.input_channels, ALIGNED)
        block = ReadBlock(
            self.block_h * self.block_w,
            self.per_core_w * self.block_w,
            TILE_BYTES[self.weights_dtype],
            once_bytes=pixel * (across if self.window.dilation[1] == 1 else 1),
            read_bytes=self.block_h * TILE_SIDE * pixel * across,
        )
        formats = (self.staging_dtype, self.output_dtype)
        return block.is_shared(self.arch or "", formats, fp32=self.fp32_accumulation) is not False

    @property
    def doubling_helps(self) -> bool:
        """Whether there is another activation block to read while one is computed."""
        return self.blocks > 1 or (self.layout != HEIGHT and self.inner_blocks > 1)


def larger_block(conv: Conv, safe_bytes: float) -> Conv | None:
    """The conv with the largest legal act_block_h that fits and is above the current one; None if there is none.

    Legal blocks divide the height of a core's output. A block that also fits with activations double buffered is
    preferred to a larger one that does not.
    """
    if not conv.modelled:
        return None
    larger = [replace(conv, block_h=size) for size in blocks_of(conv) if size > conv.block_h][::-1]
    single = [candidate for candidate in larger if not candidate.doubling_helps]
    choices = [
        *single,
        *(replace(candidate, act_double=False) for candidate in single),
        *(replace(candidate, act_double=True) for candidate in larger),
        *larger,
    ]
    return next((candidate for candidate in choices if candidate.total_bytes <= safe_bytes), None)


def blocks_of(conv: Conv) -> list[int]:
    """The block heights in tiles that TTNN accepts if the rows stay on the same cores, ascending.

    They are the divisors of a core's height. WIDTH counts only whole tiles of rows (get_conv_configs: the shard's
    height by 32, rounded down), and the block must divide the padded height too
    (conv2d_op_width_sharded_program_factory.cpp: act_matrix_height_ntiles % act_block_h_ntiles). So nothing is known
    without the number of rows, and no override can choose the whole of an uneven height.
    """
    legal = divisors(conv.per_core_h)
    if conv.layout != WIDTH:
        return legal
    whole_tiles = conv.window.rows // TILE_SIDE if conv.window is not None else 0
    return [height for height in legal if whole_tiles and whole_tiles % height == 0]


def divisors(number: int) -> list[int]:
    """All divisors of a number, ascending; empty for a number that no side of a tensor can have."""
    if not 1 <= number <= DIVISORS_AT_MOST:
        return []
    small = [divisor for divisor in range(1, isqrt(number) + 1) if number % divisor == 0]
    return sorted({*small, *(number // divisor for divisor in small)})
