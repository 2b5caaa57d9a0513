"""Convolutions and pools: their device ops, attributes and circular buffers (sizes as in tt-metal's get_cb_info)."""

from __future__ import annotations

from dataclasses import dataclass
from math import ceil, prod
from typing import TYPE_CHECKING

from .model import TILE_BYTES, Attribute, CircularBuffer, DeviceOp, Tensor, round_up
from .ops import kernel_config, modelled_ns, tile_buffers
from .text import grid_text

if TYPE_CHECKING:
    from .model import Placement


@dataclass(frozen=True)
class Window:
    """A sliding window over one image."""

    input_hw: tuple[int, int]
    kernel: tuple[int, int]
    stride: int = 1
    padding: int = 0

    @property
    def output_hw(self) -> tuple[int, int]:
        h, w = (
            (n + 2 * self.padding - k) // self.stride + 1 for n, k in zip(self.input_hw, self.kernel, strict=True)
        )
        return h, w

    def text(self, placement: Placement) -> str:
        (h, w), (kh, kw), s, p = self.input_hw, self.kernel, self.stride, self.padding
        return (
            f"SlidingWindowConfig(batch_size=1, input_hw=({h},{w}), window_hw=({kh},{kw}), stride_hw=({s},{s}), "
            f"padding=(({p}, {p}), ({p}, {p})), output_padding = (0, 0), dilation_hw=(1,1), "
            f"num_cores_nhw={len(placement.cores)}, num_cores_c=1, core_range_set_={grid_text(placement.grid)}, "
            "is_transpose=false)"
        )


def _placement(tensor: Tensor) -> Placement:
    assert tensor.placement is not None
    assert tensor.placement.shard is not None
    return tensor.placement


def halo(x: Tensor, out: Tensor, window: Window, kernel_ns: int) -> DeviceOp:
    where = _placement(out)
    attributes: dict[str, Attribute] = {
        "config": window.text(where),
        "config_tensors_in_dram": False,
        "in_nsticks_per_core": ceil(prod(x.shape[:-1]) / len(where.cores)),
        "is_out_tiled": True,
        "max_out_nsticks_per_core": where.shard[0] if where.shard else 0,
        "output_memory_config": where,
        "pad_val": 0,
        "parallel_config": (
            f"ParallelConfig(grid={grid_text(where.grid)}, shard_scheme=HEIGHT_SHARDED, shard_orientation=ROW_MAJOR)"
        ),
        "remote_read": False,
        "transpose_mcast": False,
    }
    buffers = tile_buffers(x, out)
    return DeviceOp("HaloDeviceOperation", (x,), (out,), kernel_ns, attributes=attributes, circular_buffers=buffers)


def move(x: Tensor, out: Tensor, kernel_ns: int) -> DeviceOp:
    """Compaction of the halo's output (reallocate_halo_output); real rows name the operand twice."""
    attributes: dict[str, Attribute] = {
        "backwards": False,
        "move_op_parallelization_strategy": "MoveOpParallelizationStrategy::MULTI_CORE_SHARDED",
        "output_mem_config": out.placement,
    }
    buffers = tile_buffers(x, out)
    return DeviceOp(
        "MoveDeviceOperation", (x, x), (out,), kernel_ns, attributes=attributes, circular_buffers=buffers
    )


def conv2d(
    x: Tensor,
    weight: Tensor,
    bias: Tensor,
    out: Tensor,
    *,
    window: Window,
    kernel_ns: int,
    in_channels: int,
    act_block_h: int,
    fidelity: str = "HiFi4",
    activation: str | None = None,
    act_double_buffer: bool = False,
    weights_double_buffer: bool = False,
) -> DeviceOp:
    """HEIGHT_SHARDED; `x` is the halo's output, `act_block_h` in tiles."""
    where = _placement(out)
    rows, columns = where.shard or (32, 32)
    height, width, cores = ceil(rows / 32), ceil(columns / 32), len(where.cores)
    block_w = round_up(x.padded[-1] * window.kernel[1], 32) // 32
    blocks = ceil(height / act_block_h)
    weight_copies = window.kernel[0] if blocks > 1 else 2 if weights_double_buffer else 1
    tile, weight_tile = TILE_BYTES[out.dtype], TILE_BYTES[weight.dtype]
    activations = act_block_h * block_w * 2048
    buffers = [
        CircularBuffer(width * block_w * weight_tile * weight_copies),
        CircularBuffer(activations * (2 if act_double_buffer else 1)),
        CircularBuffer(act_block_h * block_w * tile),
        CircularBuffer(width * weight_tile),
        *tile_buffers(x, out),
    ]
    h, w = window.output_hw
    flops = 2 * h * w * out.shape[-1] * in_channels * prod(window.kernel)
    grid_x, grid_y = where.grid[0][2] + 1, where.grid[-1][3] + 1
    unary = f"BasicUnaryWithParam<float>(op_type=UnaryOpType::{activation},param={{}})"
    attributes: dict[str, Attribute] = {
        "activation": unary if activation else None,
        "block_config": (
            f"Conv2dBlockConfig(act_block_h_ntiles={act_block_h},act_block_w_ntiles={block_w},"
            f"out_subblock_h_ntiles=1,out_subblock_w_ntiles={min(width, 8)})"
        ),
        "compute_kernel_config": kernel_config(fidelity),
        "config_tensors_in_dram": False,
        "dtype": f"DataType::{out.dtype}",
        "enable_act_double_buffer": act_double_buffer,
        "enable_activation_reuse": False,
        "enable_weights_double_buffer": weights_double_buffer,
        "force_split_reader": None,
        "full_inner_dim": False,
        "groups": 1,
        "has_bias": True,
        "input_tensor_shape": f"{{1, {window.input_hw[0]}, {window.input_hw[1]}, {in_channels}}}",
        "memory_config": where,
        "output_channels": out.shape[-1],
        "parallelization_config": (
            f"Conv2dParallelizationConfig(grid_size=(x={grid_x},y={grid_y}),num_cores_nhw={cores},num_cores_c_in=1,"
            f"num_cores_c_out=1,per_core_out_matrix_height_ntile={height},per_core_out_matrix_width_ntile={width})"
        ),
        "pre_op_l1_allocation_size_bytes": 0,  # `Replay` knows; the demo fills it in
        "sliding_window_config": window.text(where),
        "untilize_out": False,
    }
    return DeviceOp(
        "Conv2dDeviceOperation",
        (x, weight, bias),
        (out,),
        kernel_ns,
        fidelity=fidelity,
        attributes=attributes,
        circular_buffers=buffers,
        pm_ns=modelled_ns(flops, fidelity, (weight, bias)),
    )


def max_pool(x: Tensor, out: Tensor, window: Window, kernel_ns: int) -> DeviceOp:
    where = _placement(out)
    attributes: dict[str, Attribute] = {
        "compute_kernel_config_": None,
        "count_include_pad_": True,
        "divisor_override_": None,
        "memory_config_": where,
        "output_dtype_": f"DataType::{out.dtype}",
        "output_layout_": f"Layout::{out.layout}",
        "pool_type_": "Pool2DType::MAX_POOL2D",
        "return_indices_": False,
        "sliding_window_config_": window.text(where),
    }
    rows = CircularBuffer(round_up(prod(window.kernel), 32) * x.page_bytes)
    return DeviceOp(
        "Pool2D", (x,), (out,), kernel_ns, fidelity="HiFi4", attributes=attributes,
        circular_buffers=[rows, *tile_buffers(x, out)],
    )  # fmt: skip
