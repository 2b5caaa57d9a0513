"""Device ops with the attributes real reports print, for moves, element-wise ops, matmuls and norms.

Each takes the tensors it reads and writes and its kernel time; convolutions and pools are in `conv`.
"""

from __future__ import annotations

from math import ceil
from typing import TYPE_CHECKING

from .model import Attribute, CircularBuffer, DeviceOp, Tensor

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

NO = "std::nullopt"
PHASES = {"LoFi": 1, "HiFi2": 2, "HiFi3": 3, "HiFi4": 4}
FLOP_PER_CYCLE = 4096  # per core at LoFi


def kernel_config(fidelity: str, *, approximate: bool = True, fp32: bool = False, packer: bool = False) -> str:
    return (
        f"WormholeComputeKernelConfig(math_fidelity={fidelity},math_approx_mode={int(approximate)},"
        f"fp32_dest_acc_en={int(fp32)},packer_l1_acc={int(packer)},dst_full_sync_en=0,"
        "throttle_level=ThrottleLevel::NO_THROTTLE)"
    )


def modelled_ns(flops: int, fidelity: str, tensors: Sequence[Tensor], cores: int = 64) -> tuple[int, int, int]:
    """The PM columns: ideal, compute and bandwidth of a Wormhole at 1 GHz and 288 GB/s."""
    compute = max(1, ceil(flops * PHASES[fidelity] / (cores * FLOP_PER_CYCLE)))
    bandwidth = max(1, ceil(sum(t.bytes for t in tensors if t.is_in("DRAM")) / 288))
    return max(compute, bandwidth), compute, bandwidth


def tile_buffers(*tensors: Tensor, tiles: int = 2) -> list[CircularBuffer]:
    """What most ops have: a few pages of each interleaved operand; a sharded operand is used where it lies."""
    buffers: list[CircularBuffer] = []
    for tensor in tensors:
        if tensor.placement is not None and tensor.placement.shard is not None:
            buffers.append(CircularBuffer(tensor.shard_pages * tensor.page_bytes, over=tensor))
        else:
            buffers.append(CircularBuffer(tiles * tensor.page_bytes))
    return buffers


def _move(op_code: str, x: Tensor, out: Tensor, kernel_ns: int, attributes: Mapping[str, Attribute]) -> DeviceOp:
    compute = "HiFi4" if "ilize" in op_code else None
    everything = {"output_mem_config": out.placement, **attributes}
    return DeviceOp(
        op_code,
        (x,),
        (out,),
        kernel_ns,
        fidelity=compute,
        attributes=everything,
        circular_buffers=tile_buffers(x, out),
    )


def interleaved_to_sharded(x: Tensor, out: Tensor, kernel_ns: int) -> DeviceOp:
    attributes = {"keep_l1_aligned": False, "output_dtype": f"DataType::{out.dtype}"}
    return _move("InterleavedToShardedDeviceOperation", x, out, kernel_ns, attributes)


def sharded_to_interleaved(x: Tensor, out: Tensor, kernel_ns: int) -> DeviceOp:
    attributes = {"num_slices": 1, "output_dtype": f"DataType::{out.dtype}", "slice_index": 0}
    return _move("ShardedToInterleavedDeviceOperation", x, out, kernel_ns, attributes)


def reshard(x: Tensor, out: Tensor, kernel_ns: int) -> DeviceOp:
    return _move("ReshardDeviceOperation", x, out, kernel_ns, {})


def tilize(x: Tensor, out: Tensor, kernel_ns: int) -> DeviceOp:
    """With padding where the output needs it, as `ttnn.to_layout` chooses."""
    attributes: dict[str, Attribute] = {
        "enough_space_height": True, "enough_space_width": True, "output_dtype": f"DataType::{out.dtype}",
        "sub_core_grids": None, "use_multicore": True,
    }  # fmt: skip
    if out.padded == out.shape:
        return _move("TilizeDeviceOperation", x, out, kernel_ns, {**attributes, "use_low_perf": False})
    padding = {"output_padded_shape": f"Shape([{', '.join(map(str, out.padded))}])", "pad_value": 0}
    return _move("TilizeWithValPaddingDeviceOperation", x, out, kernel_ns, {**attributes, **padding})


def untilize(x: Tensor, out: Tensor, kernel_ns: int, *, codegen: bool = False) -> DeviceOp:
    """`codegen`: the program that TTNN 0.81 takes for interleaved tensors."""
    attributes: dict[str, Attribute] = {
        "enough_space_height": True, "enough_space_width": True, "fp32_dest_acc_en": False, "sub_core_grids": None,
        "use_multicore": True, "use_pack_untilize": True,
    }  # fmt: skip
    if codegen:
        return _move("UntilizeCodegenDeviceOperation", x, out, kernel_ns, {})
    if x.padded == x.shape:
        return _move("UntilizeDeviceOperation", x, out, kernel_ns, attributes)
    end = {"output_tensor_end": f"Shape([{', '.join(str(n - 1) for n in out.shape)}])"}
    return _move("UntilizeWithUnpaddingDeviceOperation", x, out, kernel_ns, {**attributes, **end})


def unary(kind: str, x: Tensor, out: Tensor, kernel_ns: int) -> DeviceOp:
    base = f"BasicUnaryWithParam<float>(op_type=UnaryOpType::{kind},param={{}})"
    attributes: dict[str, Attribute] = {
        "bfp8_pack_precise": False,
        "fp32_dest_acc_en": False,
        "op_chain": f"{{BasicUnaryWithParam<float, int, unsigned int>(base={base})}}",
        "output_dtype": f"DataType::{out.dtype}",
        "output_memory_config": out.placement,
        "preserve_fp32_precision": False,
        "sub_core_grids": None,
    }
    buffers = tile_buffers(x, out)
    return DeviceOp(
        "UnaryDeviceOperation",
        (x,),
        (out,),
        kernel_ns,
        fidelity="HiFi4",
        attributes=attributes,
        circular_buffers=buffers,
    )


def binary(kind: str, a: Tensor, b: Tensor, out: Tensor, kernel_ns: int) -> DeviceOp:
    attributes: dict[str, Attribute] = {
        "binary_op_type": f"BinaryOpType::{kind}",
        "compute_kernel_config": None,
        "dtype": f"DataType::{out.dtype}",
        "input_dtype": f"DataType::{a.dtype}",
        "is_sfpu": False,
        "lhs_activations": "SmallVector([])",
        "memory_config": out.placement,
        "post_activations": "SmallVector([])",
        "rhs_activations": "SmallVector([])",
        "scalar": None,
        "subtile_broadcast_type": f"SubtileBroadcastType::{'NONE' if a.shape == b.shape else 'ROW_B'}",
        "worker_grid": "{[(x=0,y=0) - (x=7,y=7)]}",
    }
    buffers = tile_buffers(a, b, out)
    return DeviceOp(
        "BinaryNgDeviceOperation", (a, b), (out,), kernel_ns, fidelity="HiFi4", attributes=attributes,
        circular_buffers=buffers,
    )  # fmt: skip


def concat(parts: Sequence[Tensor], out: Tensor, kernel_ns: int) -> DeviceOp:
    attributes: dict[str, Attribute] = {
        "dim": 3,
        "groups": 1,
        "output_mem_config": out.placement,
        "sub_core_grids": None,
    }
    buffers = tile_buffers(*parts, out)
    return DeviceOp(
        "ConcatDeviceOperation", parts, (out,), kernel_ns, attributes=attributes, circular_buffers=buffers
    )


def matmul(
    x: Tensor,
    weight: Tensor,
    out: Tensor,
    kernel_ns: int,
    *,
    fidelity: str = "HiFi2",
    cores: int | None = None,
    program_config: str | None = None,
    core_grid: str | None = None,
    buffers: Sequence[int] = (65_536, 65_536, 131_072),
) -> DeviceOp:
    """`program_config` and `core_grid` None: ttnn chose. `buffers` are bytes per core."""
    attributes: dict[str, Attribute] = {
        "bcast_batch": True,
        "compute_kernel_config": kernel_config(fidelity, packer=True),
        "global_cb": None,
        "output_dtype": f"DataType::{out.dtype}",
        "output_mem_config": out.placement,
        "output_tile": "Tile(tile_shape={32, 32},face_shape={16, 16},num_faces=4)",
        "program_config": program_config,
        "transpose_a": False,
        "transpose_b": False,
        "untilize_out": False,
        "user_core_coord": core_grid,
        "user_fused_activation": None,
        "user_run_batched": False,
    }
    flops = 2 * out.pages * 1024 * x.padded[-1]
    return DeviceOp(
        "MatmulDeviceOperation",
        (x, weight),
        (out,),
        kernel_ns,
        cores=cores,
        fidelity=fidelity,
        attributes=attributes,
        circular_buffers=[CircularBuffer(size) for size in buffers],
        pm_ns=modelled_ns(flops, fidelity, (x, weight, out)),
    )


def reduce_mean(x: Tensor, out: Tensor, kernel_ns: int, *, cores: int) -> DeviceOp:
    attributes: dict[str, Attribute] = {
        "compute_kernel_config": kernel_config("HiFi3", approximate=False, fp32=True),
        "dim": "ReduceOpDim::H",
        "math_op": "ReduceOpMath::SUM",
        "output_dtype": f"DataType::{out.dtype}",
        "output_mem_config": out.placement,
        "scaler": round(1 / x.shape[-2], 9),
    }
    return DeviceOp(
        "ReduceDeviceOperation", (x,), (out,), kernel_ns, cores=cores, fidelity="HiFi3", attributes=attributes,
        circular_buffers=tile_buffers(x, out),
    )  # fmt: skip


def layer_norm(x: Tensor, gamma: Tensor, beta: Tensor, out: Tensor, kernel_ns: int) -> DeviceOp:
    """Interleaved with the default config: one core per row of tiles."""
    attributes: dict[str, Attribute] = {
        "compute_kernel_config": kernel_config("HiFi4", approximate=False, fp32=True),
        "distributed_norm_stage": "DistributedLayerNormStage::NOT_DISTRIBUTED",
        "dtype": None,
        "eps": 1e-12,
        "norm_type": "LayerNormType::LAYERNORM",
        "output_mem_config": out.placement,
        "program_config": "LayerNormDefaultProgramConfig(legacy_reduction=0,legacy_rsqrt=0,use_welford=0)",
    }
    return DeviceOp(
        "LayerNormDeviceOperation", (x, gamma, beta), (out,), kernel_ns, cores=ceil(x.padded[-2] / 32), fidelity="HiFi4",
        attributes=attributes, circular_buffers=tile_buffers(x, out, tiles=24),
    )  # fmt: skip


def collective(
    kind: str,
    x: Tensor,
    out: Tensor,
    kernel_ns: int | Sequence[int],
    *,
    ring_size: int,
    links: int = 2,
    cores: int = 18,
) -> DeviceOp:
    """`kind`: AllGatherAsync, ReduceScatterMinimalAsync ..."""
    attributes: dict[str, Attribute] = {
        "cluster_axis": 1,
        "dim": 3,
        "num_links": links,
        "output_mem_config": out.placement,
        "ring_size": ring_size,
        "sub_device_id": None,
        "topology": "Topology::Linear",
        "using_persistent_buffers": False,
    }
    return DeviceOp(f"{kind}DeviceOperation", (x,), (out,), kernel_ns, cores=cores, attributes=attributes)
