"""L1 that one Conv2d takes on each core, buffer by buffer, from the ATTRIBUTES of its row.

The formulas are those of ttnn's conv2d program factories (`get_cb_info` and `calculate_L1_usage`), read in
tt-metal; Conv2d since mid 2025 and OptimizedConvNew before print the same facts under other keys. Overlaps that
only some builds have (row-major staging over the tilized block, skipped multicast) are not taken off, so totals
are upper-ish: good to about 5 %, and no configuration known to have run exceeds the limit.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from math import isqrt
from typing import TYPE_CHECKING

from ttnn_mcp.hardware import TILE_BYTES, TILE_SIDE, canonical_dtype
from ttnn_mcp.readers.printed.memory_config import parse_memory_config
from ttnn_mcp.readers.printed.nesting import Call, parse_call, whole

if TYPE_CHECKING:
    from ttnn_mcp.readers.printed.attributes import Attributes

HEIGHT, BLOCK, WIDTH = "HEIGHT_SHARDED", "BLOCK_SHARDED", "WIDTH_SHARDED"
TILES_AT_MOST = 1 << 30  # a tile takes 576 bytes and more, so a conv of more tiles would take 600 GB
DOUBLE_BUFFER_BEST = 0.40  # of a conv's time, the most seen saved: 3.89 -> 2.32 ms, tt-metal #23123


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
        rows = {HEIGHT: 0, BLOCK: block * staging}.get(self.layout, 2 * self.block_w * staging)
        sizes = {
            "OUT": self.per_core_h * self.per_core_w * output,
            "WEIGHTS": self.per_core_w * self.block_w * weights * copies,
            "ACT": block * (staging if high else output) * (1 + self.act_double),
            "ACT_TILIZED": block * output,
            "ACT_ROW_MAJOR": rows,
            "PARTIALS": self._partials,
            "BIAS": self.per_core_w * weights * self.bias,
        }
        return {name: size for name, size in sizes.items() if size}

    @property
    def total_bytes(self) -> int:
        """Everything in L1 on one core while the op runs."""
        return self.allocated_bytes + sum(self.buffers.values())

    @property
    def _partials(self) -> int:
        dtype = self.output_dtype
        if self.packer_l1 and self.inner_blocks > (1 if self.bias else 2):
            dtype = "FLOAT32" if self.fp32_accumulation else "BFLOAT16"
        if not self.untilize and dtype == self.output_dtype:
            return 0  # sums grow in the output's own buffer
        return self.per_core_h * self.per_core_w * TILE_BYTES[dtype]

    @property
    def doubling_helps(self) -> bool:
        """Whether there is a next activation block to read while this one is computed."""
        return self.blocks > 1 or (self.layout != HEIGHT and self.inner_blocks > 1)


def larger_block(conv: Conv, safe_bytes: float) -> Conv | None:
    """The conv with the largest legal act_block_h above the present one that fits; None where none does.

    Legal blocks divide the height of a core's output. A block that also fits with activations double buffered is
    preferred to a larger one that does not. WIDTH_SHARDED ignores the setting.
    """
    if conv.layout == WIDTH:
        return None
    larger = [replace(conv, block_h=size) for size in divisors(conv.per_core_h) if size > conv.block_h][::-1]
    single = [one for one in larger if not one.doubling_helps]
    choices = [
        *single,
        *(replace(one, act_double=False) for one in single),
        *(replace(one, act_double=True) for one in larger if one.doubling_helps),
        *larger,
    ]
    return next((one for one in choices if one.total_bytes <= safe_bytes), None)


def divisors(number: int) -> list[int]:
    """All of them, ascending; of a number beyond `TILES_AT_MOST` only 1, as it counts no tiles."""
    if number > TILES_AT_MOST:
        return [1]
    small = [one for one in range(1, isqrt(max(number, 0)) + 1) if number % one == 0]
    return small + [number // one for one in reversed(small) if one * one != number]


def conv_of(
    attributes: Attributes, *, input_dtype: str, weights_dtype: str, output_dtype: str, input_bytes: float
) -> Conv | None:
    """The conv of a row; None where its attributes leave out block, parallelisation, window or layout.

    Args:
        attributes: of the row.
        input_dtype: INPUT_0_DATATYPE.
        weights_dtype: INPUT_1_DATATYPE; ATTRIBUTES do not say it.
        output_dtype: OUTPUT_0_DATATYPE, where ATTRIBUTES say none.
        input_bytes: all of INPUT_0; its shard stands in for what older reports do not say is allocated.
    """
    block, spread = attributes.call("block_config"), attributes.call("parallelization_config")
    window = attributes.call("sliding_window_config")
    placement = parse_memory_config(attributes.get("memory_config", ""))
    if block is None or spread is None or window is None or placement is None:
        return None
    block_h, block_w = block.number("act_block_h_ntiles"), block.number("act_block_w_ntiles")
    per_core_h, per_core_w = _tiles(spread, "height"), _tiles(spread, "width")
    kernel = parse_call(window.fields.get("window_hw", ""))
    dtypes = [canonical_dtype(one) for one in (weights_dtype, attributes.given("dtype") or output_dtype)]
    if not (block_h and block_w and per_core_h and per_core_w and kernel and kernel.values):
        return None
    if any(dtype not in TILE_BYTES for dtype in dtypes):
        return None
    rows, channels = spread.number("num_cores_nhw") or 1, spread.number("num_cores_c") or 1
    cores = (rows, spread.number("num_cores_c_in") or channels, spread.number("num_cores_c_out") or channels)
    if not all(0 < number <= TILES_AT_MOST for number in (block_h, block_w, per_core_h, per_core_w, *cores)):
        return None
    compute = attributes.call("compute_kernel_config") or Call("", {})
    said = attributes.number("pre_op_l1_allocation_size_bytes")
    height = whole(kernel.values[0]) or 1
    return Conv(
        layout=placement.layout,
        block_h=block_h,
        block_w=block_w,
        per_core_h=per_core_h,
        per_core_w=per_core_w,
        kernel_h=height,
        inner_blocks=_inner_blocks(placement.layout, cores[1], height, attributes.flag("full_inner_dim") or False),
        cores=cores,
        staging_dtype="FLOAT32" if canonical_dtype(input_dtype) == "FLOAT32" else "BFLOAT16",
        weights_dtype=dtypes[0],
        output_dtype=dtypes[1],
        act_double=attributes.flag("enable_act_double_buffer") or False,
        weights_double=attributes.flag("enable_weights_double_buffer") or False,
        bias=attributes.flag("has_bias") or False,
        untilize=attributes.flag("untilize_out") or False,
        fp32_accumulation=compute.number("fp32_dest_acc_en") == 1,
        packer_l1=compute.number("packer_l1_acc") == 1,
        allocated_bytes=said if said is not None else round(input_bytes / _holders(cores, placement.layout)),
        allocated_said=said is not None,
    )


def _inner_blocks(layout: str, channel_cores: int, kernel_h: int, full: bool) -> int:
    """HEIGHT goes window row by window row, WIDTH core by core, BLOCK both unless told to take whole windows."""
    rows = 1 if full or layout == WIDTH else kernel_h
    return rows if layout == HEIGHT else rows * channel_cores


def _tiles(spread: Call, side: str) -> int | None:
    """`per_core_out_matrix_height_ntile`; before 2025-03 the same in elements."""
    tiles = spread.number(f"per_core_out_matrix_{side}_ntile")
    elements = spread.number(f"per_core_out_matrix_{side}")
    return tiles if tiles is not None or elements is None else -(-elements // TILE_SIDE)


def _holders(cores: tuple[int, int, int], layout: str) -> int:
    """Cores that hold a shard of the input."""
    return {HEIGHT: cores[0], WIDTH: cores[1]}.get(layout, cores[0] * cores[1])
