"""The conv of a row, read from its printed ATTRIBUTES."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ttnn_mcp.analyses.programs.conv_window import window_of
from ttnn_mcp.analyses.programs.convs import DIVISORS_AT_MOST, HEIGHT, WIDTH, Conv
from ttnn_mcp.hardware import TILE_BYTES, TILE_SIDE, canonical_dtype
from ttnn_mcp.readers.printed.memory_config import parse_memory_config
from ttnn_mcp.readers.printed.nesting import PrintedStruct, parse_struct, whole

if TYPE_CHECKING:
    from ttnn_mcp.readers.printed.attributes import Attributes


def conv_of(
    attributes: Attributes, *, input_dtype: str, weights_dtype: str, output_dtype: str, input_bytes: float
) -> Conv | None:
    """The conv of a row; None where its attributes leave out block, parallelisation, window or layout.

    Args:
        attributes: the row's ATTRIBUTES.
        input_dtype: INPUT_0_DATATYPE.
        weights_dtype: INPUT_1_DATATYPE, which ATTRIBUTES do not have.
        output_dtype: OUTPUT_0_DATATYPE, for ATTRIBUTES without one.
        input_bytes: bytes of INPUT_0; its shard is the allocation of reports that do not state one.
    """
    block, spread = attributes.struct("block_config"), attributes.struct("parallelization_config")
    window = attributes.struct("sliding_window_config")
    placement = parse_memory_config(attributes.get("memory_config", ""))
    if block is None or spread is None or window is None or placement is None:
        return None
    block_h, block_w = block.number("act_block_h_ntiles"), block.number("act_block_w_ntiles")
    per_core_h, per_core_w = _tiles(spread, "height"), _tiles(spread, "width")
    kernel = parse_struct(window.fields.get("window_hw", ""))
    dtypes = [canonical_dtype(dtype) for dtype in (weights_dtype, attributes.text_of("dtype") or output_dtype)]
    if not (block_h and block_w and per_core_h and per_core_w and kernel and kernel.values):
        return None
    if any(dtype not in TILE_BYTES for dtype in dtypes):
        return None
    rows, channels = spread.number("num_cores_nhw") or 1, spread.number("num_cores_c") or 1
    cores = (rows, spread.number("num_cores_c_in") or channels, spread.number("num_cores_c_out") or channels)
    if not all(0 < number <= DIVISORS_AT_MOST for number in (block_h, block_w, per_core_h, per_core_w, *cores)):
        return None
    compute = attributes.struct("compute_kernel_config") or PrintedStruct("", {})
    allocated = attributes.number("pre_op_l1_allocation_size_bytes")
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
        allocated_bytes=allocated
        if allocated is not None
        else round(input_bytes / _holders(cores, placement.layout)),
        allocated_said=allocated is not None,
        window=window_of(window),
        input_channels=_channels(attributes),
        indices_in_l1=attributes.flag("config_tensors_in_dram") or False,
        reuses_activation=attributes.flag("enable_activation_reuse") or False,
        depthwise=_is_depthwise(attributes),
        transposed=placement.shard is not None and placement.shard.orientation == "COL_MAJOR",
    )


def _channels(attributes: Attributes) -> int:
    """Channels of the input by its printed shape; 0 where none is printed."""
    shape = attributes.struct("input_tensor_shape")
    return (whole(shape.values[-1]) or 0) if shape and shape.values else 0


def _is_depthwise(attributes: Attributes) -> bool:
    groups = attributes.number("groups") or 1
    return groups > 1 and groups == _channels(attributes) == attributes.number("output_channels")


def _inner_blocks(layout: str, channel_cores: int, kernel_h: int, full: bool) -> int:
    """Blocks along the inner dimension: HEIGHT has one per window row, WIDTH one per core, BLOCK both unless `full`."""
    rows = 1 if full or layout == WIDTH else kernel_h
    return rows if layout == HEIGHT else rows * channel_cores


def _tiles(spread: PrintedStruct, side: str) -> int | None:
    """Tiles per core, from `per_core_out_matrix_height_ntile`; reports before 2025-03 print elements."""
    tiles = spread.number(f"per_core_out_matrix_{side}_ntile")
    elements = spread.number(f"per_core_out_matrix_{side}")
    return tiles if tiles is not None or elements is None else -(-elements // TILE_SIDE)


def _holders(cores: tuple[int, int, int], layout: str) -> int:
    """How many cores hold a shard of the input."""
    return {HEIGHT: cores[0], WIDTH: cores[1]}.get(layout, cores[0] * cores[1])
