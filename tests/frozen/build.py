"""Device ops of a layer, one after the other, each with a role; attributes spelled as TTNN's profiler prints them."""

from __future__ import annotations

from fnmatch import fnmatchcase
from math import ceil
from typing import TYPE_CHECKING

from tests.profiles import DRAM, L1, DeviceOp, Placement, Program, Tensor, height_sharded, width_sharded
from tests.profiles.model import core_ranges

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tests.profiles.model import Attribute

BANKS = {"wormhole_b0": 12, "blackhole": 8}
ROW_MAJOR = "ROW_MAJOR"


def activation(kind: str) -> str:
    return f"BasicUnaryWithParam<float>(op_type=UnaryOpType::{kind},param={{}})"


def chain(kind: str) -> str:
    return f"BasicUnaryWithParam<float, int, unsigned int>(base={activation(kind)})"


def one_d(
    grid: tuple[int, int], block: int, per_core: tuple[int, int], *, subblock: tuple[int, int] = (1, 1), in0: bool = True,
    act: str | None = None,
) -> str:  # fmt: skip
    return (
        f"MatmulMultiCoreReuseMultiCast1DProgramConfig(compute_with_storage_grid_size=(x={grid[0]},y={grid[1]}),"
        f"in0_block_w={block},out_subblock_h={subblock[0]},out_subblock_w={subblock[1]},out_block_h={per_core[0]},"
        f"out_block_w={per_core[1]},per_core_M={per_core[0]},per_core_N={per_core[1]},fuse_batch=1,"
        f"fused_activation={activation(act) if act else 'std::nullopt'},mcast_in0={int(in0)},gather_in0=0,"
        "hop_cores={},num_global_cb_receivers=1,untilize_out=0)"
    )


def two_d(
    grid: tuple[int, int], block: int, per_core: tuple[int, int], *, subblock: tuple[int, int] = (1, 1),
    act: str | None = None, batch: bool = True,
) -> str:  # fmt: skip
    return (
        f"MatmulMultiCoreReuseMultiCastProgramConfig(compute_with_storage_grid_size=(x={grid[0]},y={grid[1]}),"
        f"in0_block_w={block},out_subblock_h={subblock[0]},out_subblock_w={subblock[1]},out_block_h={per_core[0]},"
        f"out_block_w={per_core[1]},per_core_M={per_core[0]},per_core_N={per_core[1]},transpose_mcast=0,"
        f"fused_activation={activation(act) if act else 'std::nullopt'},fuse_batch={int(batch)})"
    )


def banked(block: int, per_n: int, act: str | None = None) -> str:
    return (
        f"MatmulMultiCoreReuseMultiCastDRAMShardedProgramConfig(in0_block_w={block},per_core_M=1,per_core_N={per_n},"
        f"fused_activation={activation(act) if act else 'std::nullopt'})"
    )


def minimal(blocks: tuple[int, int, int], subblock: tuple[int, int], grid: tuple[int, int]) -> str:
    return (
        f"MinimalMatmulConfig(M_block_size={blocks[0]},K_block_size={blocks[1]},N_block_size={blocks[2]},"
        f"subblock_h={subblock[0]},subblock_w={subblock[1]},compute_with_storage_grid_size=(x={grid[0]},y={grid[1]}))"
    )


def norm_shards(grid: tuple[int, int], block_w: int, *, block_h: int = 1) -> str:
    subblock = next(n for n in (4, 3, 2, 1) if block_w % n == 0)
    return (
        f"LayerNormShardedMultiCoreProgramConfig(compute_with_storage_grid_size=(x={grid[0]},y={grid[1]}),"
        f"subblock_w={subblock},block_h={block_h},block_w={block_w},inplace=0,legacy_reduction=0,legacy_rsqrt=0,"
        "use_welford=0)"
    )


PLAIN_NORM = "LayerNormDefaultProgramConfig(legacy_reduction=0,legacy_rsqrt=0,use_welford=0)"


def chunks(q: int, k: int, grid: tuple[int, int], most_cores: int = 16) -> str:
    return (
        f"SDPAProgramConfig(compute_with_storage_grid_size=(x={grid[0]},y={grid[1]}),sub_core_grids=std::nullopt,"
        f"q_chunk_size={q},k_chunk_size={k},exp_approx_mode=0,max_cores_per_head_batch={most_cores})"
    )


class Block:
    """The ops of one pass, in order; `roles` names each."""

    def __init__(
        self, arch: str, *, devices: int = 1, grid: tuple[int, int] | None = None, gap_us: float = 1.0
    ) -> None:
        self.program = Program(arch, devices=devices, grid=grid)
        self.grid = self.program.device.grid
        self.gap_ns = round(gap_us * 1e3)
        self.roles: list[str] = []

    def positions(self, wanted: Sequence[str]) -> tuple[int, ...]:
        for pattern in wanted:
            if not any(fnmatchcase(role, pattern) for role in self.roles):
                raise ValueError(f"no op with the role {pattern}")
        return tuple(
            place for place, role in enumerate(self.roles) if any(fnmatchcase(role, pattern) for pattern in wanted)
        )

    def tensor(
        self, shape: Sequence[int], dtype: str = "BFLOAT16", place: Placement = DRAM, layout: str = "TILE"
    ) -> Tensor:
        return self.program.tensor(shape, dtype, layout, place)

    def view(self, x: Tensor, shape: Sequence[int]) -> Tensor:
        """The same bytes in another shape: no device op."""
        return self.program.tensor(shape, x.dtype, x.layout, x.placement, alias_of=x)

    def across(self, rows: int, columns: int, cores: int) -> Placement:
        """L1, width-sharded over `cores`."""
        return width_sharded(rows, 32 * ceil(columns / 32 / cores), cores, width=self.grid[0])

    def along(self, rows: int, columns: int, cores: int) -> Placement:
        """L1, height-sharded: a shard of `rows` x `columns` on each core."""
        return height_sharded(rows, columns, cores, width=self.grid[0])

    def weight(self, k: int, n: int, dtype: str, *, banks: bool = False) -> Tensor:
        count = BANKS[self.program.device.arch]
        place = Placement("DRAM", "WIDTH_SHARDED", core_ranges((count, 1)), (k, 32 * ceil(n / 32 / count)))
        return self.tensor([1, 1, k, n], dtype, place if banks else DRAM)

    def kernel(self, fidelity: str, *, fp32: bool = False, packer: bool = True, approximate: bool = False) -> str:
        name = "WormholeComputeKernelConfig" if self.program.device.arch == "wormhole_b0" else "ComputeKernelConfig"
        return (
            f"{name}(math_fidelity={fidelity},math_approx_mode={int(approximate)},fp32_dest_acc_en={int(fp32)},"
            f"packer_l1_acc={int(packer)},dst_full_sync_en=0,throttle_level=ThrottleLevel::NO_THROTTLE)"
        )

    def op(
        self,
        role: str,
        name: str,
        inputs: Sequence[Tensor],
        out: Tensor | Sequence[Tensor],
        us: float,
        *,
        cores: int | None = None,
        fidelity: str | None = None,
        **attributes: Attribute,
    ) -> Tensor:
        """One device op of `us` microseconds; its first output."""
        outputs = (out,) if isinstance(out, Tensor) else tuple(out)
        code = name if name.endswith("Operation") else f"{name}DeviceOperation"
        made = DeviceOp(
            code, tuple(inputs), outputs, round(us * 1e3), self.gap_ns, cores, fidelity, attributes
        )  # fmt: skip
        self.program.call("ttnn.made_up", made.inputs, outputs, (made,))
        self.roles.append(role)
        return outputs[0]

    def put(self, role: str, made: DeviceOp) -> Tensor:
        """An op that somebody else made."""
        made.gap_ns = self.gap_ns
        self.program.call("ttnn.made_up", made.inputs, made.outputs, (made,))
        self.roles.append(role)
        return made.outputs[0]

    def linear(
        self, role: str, x: Tensor, n: int, us: float, *, dtype: str = "BFLOAT16", fidelity: str = "HiFi2",
        config: str | None = None, cores: int | None = None, place: Placement = DRAM, banks: bool = False,
        out: str = "BFLOAT16", packer: bool = True, fp32: bool = False, weight: Tensor | None = None,
        bias: bool = False, grid: tuple[int, int] | None = None, act: str | None = None,
    ) -> Tensor:  # fmt: skip
        """A matmul with a weight; `config` None: TTNN chose and printed none, in `grid` if the call gave one."""
        weight = weight or self.weight(x.shape[-1], n, dtype, banks=banks)
        given = (x, weight, self.tensor([1, 1, 32, n])) if bias else (x, weight)
        return self.op(
            role, "Matmul", given, self.tensor([*x.shape[:-1], n], out, place), us, cores=cores, fidelity=fidelity,
            bcast_batch=True, compute_kernel_config=self.kernel(fidelity, packer=packer, fp32=fp32), global_cb=None,
            output_dtype=f"DataType::{out}", output_mem_config=place,
            output_tile="Tile(tile_shape={32, 32},face_shape={16, 16},num_faces=4)", program_config=config,
            sub_device_id=None, transpose_a=False, transpose_b=False, untilize_out=False,
            user_core_coord=f"(x={grid[0]},y={grid[1]})" if grid else None,
            user_fused_activation=activation(act) if act else None, user_run_batched=False,
        )  # fmt: skip

    def product(
        self, role: str, a: Tensor, b: Tensor, us: float, *, cores: int | None = None, fidelity: str = "HiFi4",
        fp32: bool = True, place: Placement = DRAM, config: str | None = None,
    ) -> Tensor:  # fmt: skip
        """A matmul of two activations, head by head."""
        out = self.tensor([*a.shape[:-1], b.shape[-1]], a.dtype, place)
        return self.op(
            role, "Matmul", (a, b), out, us, cores=cores, fidelity=fidelity, bcast_batch=False,
            compute_kernel_config=self.kernel(fidelity, fp32=fp32), output_dtype=f"DataType::{a.dtype}",
            output_mem_config=place, program_config=config, transpose_a=False, transpose_b=False,
            user_core_coord=None, user_fused_activation=None,
        )  # fmt: skip

    def softmax(self, role: str, x: Tensor, us: float, *, cores: int | None = None, fp32: bool = True) -> Tensor:
        return self.op(
            role, "Softmax", (x,), self.tensor(x.shape, x.dtype), us, cores=cores, fidelity="HiFi4",
            compute_kernel_config=self.kernel("HiFi4", fp32=fp32), dim=3, is_causal_mask=False, numeric_stable=True,
            program_config="SoftmaxDefaultProgramConfig()", scale=None,
        )  # fmt: skip

    def turned(self, role: str, x: Tensor, us: float, *, dims: str = "WH", cores: int | None = None) -> Tensor:
        """A transpose of two axes: C, H and W are the last three."""
        shape = list(x.shape)
        one, two = ({"N": -4, "C": -3, "H": -2, "W": -1}[axis] for axis in dims)
        shape[one], shape[two] = shape[two], shape[one]
        return self.moved(
            role, "Transpose", x, us, shape=shape, cores=cores, fidelity="HiFi4", dim=f"TransposeOpDim::{dims}",
            pad_value=0,
        )  # fmt: skip

    def minimal(
        self, role: str, x: Tensor, n: int, us: float, *, dtype: str = "BFLOAT16", fidelity: str = "HiFi2",
        config: str | None = None, cores: int | None = None, place: Placement = DRAM, out: str = "BFLOAT16",
        act: str | None = None, banks: bool = False, name: str = "MinimalMatmul", **more: Attribute,
    ) -> Tensor:  # fmt: skip
        weight = self.weight(x.shape[-1], n, dtype, banks=banks)
        return self.op(
            role, name, (x, weight), self.tensor([*x.shape[:-1], n], out, place), us, cores=cores, fidelity=fidelity,
            compute_kernel_config=self.kernel(fidelity), config=config,
            fused_activation=activation(act) if act else None, output_dtype=None, output_mem_config=place, **more,
        )  # fmt: skip

    def norm(
        self, role: str, x: Tensor, us: float, *, cores: int, config: str = PLAIN_NORM, kind: str = "RMSNORM",
        place: Placement | None = None, stage: str = "NOT_DISTRIBUTED",
    ) -> Tensor:  # fmt: skip
        where = place or x.placement or DRAM
        gamma = self.tensor([1, 1, x.shape[-1] // 32, 32], layout=ROW_MAJOR)
        return self.op(
            role, "LayerNorm", (x, gamma), self.tensor(x.shape, x.dtype, where), us, cores=cores, fidelity="HiFi4",
            compute_kernel_config=self.kernel("HiFi4", fp32=True),
            distributed_norm_stage=f"DistributedLayerNormStage::{stage}", dtype=None, eps="1e-05",
            fused_activation=None, norm_type=f"LayerNormType::{kind}", output_mem_config=where, program_config=config,
        )  # fmt: skip

    def binary(
        self, role: str, kind: str, a: Tensor, b: Tensor, us: float, *, cores: int | None = None,
        place: Placement | None = None, lhs: str | None = None, rhs: str | None = None, out: str | None = None,
        fidelity: str = "HiFi4",
    ) -> Tensor:  # fmt: skip
        where = place or a.placement or DRAM
        dtype = out or a.dtype
        spread = f"{{[(x=0,y=0) - (x={self.grid[0] - 1},y={self.grid[1] - 1})]}}"
        return self.op(
            role, "BinaryNg", (a, b), self.tensor(a.shape, dtype, where), us, cores=cores, fidelity=fidelity,
            binary_op_type=f"BinaryOpType::{kind}", compute_kernel_config=None, dtype=f"DataType::{dtype}",
            input_dtype=f"DataType::{a.dtype}", is_quant_op=False, is_sfpu=False, is_where_op=False,
            lhs_activations=f"SmallVector([{chain(lhs) if lhs else ''}])", memory_config=where,
            post_activations="SmallVector([])", rhs_activations=f"SmallVector([{chain(rhs) if rhs else ''}])",
            scalar=None, sub_core_grids=None,
            subtile_broadcast_type=f"SubtileBroadcastType::{'NONE' if a.shape == b.shape else 'ROW_B'}",
            worker_grid=spread,
        )  # fmt: skip

    def unary(
        self, role: str, kind: str, x: Tensor, us: float, *, cores: int | None = None, place: Placement | None = None,
        parameter: str = "",
    ) -> Tensor:  # fmt: skip
        where = place or x.placement or DRAM
        base = f"BasicUnaryWithParam<float>(op_type=UnaryOpType::{kind},param={{{parameter}}})"
        return self.op(
            role, "Unary", (x,), self.tensor(x.shape, x.dtype, where), us, cores=cores, fidelity="HiFi4",
            bfp8_pack_precise=False, fp32_dest_acc_en=False,
            op_chain=f"{{BasicUnaryWithParam<float, int, unsigned int>(base={base})}}",
            output_dtype=f"DataType::{x.dtype}", output_memory_config=where, preserve_fp32_precision=False,
            sub_core_grids=None,
        )  # fmt: skip

    def typecast(self, role: str, x: Tensor, dtype: str, us: float, *, cores: int | None = None) -> Tensor:
        where = x.placement or DRAM
        return self.op(
            role, "Typecast", (x,), self.tensor(x.shape, dtype, where), us, cores=cores, fidelity="HiFi4",
            bfp8_pack_precise=False, fp32_dest_acc_en=False, input_dtype=f"DataType::{x.dtype}",
            output_dtype=f"DataType::{dtype}", output_memory_config=where, preserve_fp32_precision=False,
            sub_core_grids=None,
        )  # fmt: skip

    def moved(
        self, role: str, name: str, x: Tensor, us: float, *, place: Placement | None = None, cores: int | None = None,
        shape: Sequence[int] | None = None, layout: str | None = None, dtype: str | None = None,
        fidelity: str | None = None, **attributes: Attribute,
    ) -> Tensor:  # fmt: skip
        """An op that only moves: the output is like the input but for what is given."""
        where = place or x.placement or DRAM
        out = self.tensor(shape or x.shape, dtype or x.dtype, where, layout or x.layout)
        return self.op(
            role, name, (x,), out, us, cores=cores, fidelity=fidelity, output_mem_config=where, **attributes
        )

    def to_shards(self, role: str, x: Tensor, place: Placement, us: float) -> Tensor:
        more = {"keep_l1_aligned": False, "output_dtype": f"DataType::{x.dtype}"}
        return self.moved(role, "InterleavedToSharded", x, us, place=place, cores=len(place.cores), **more)

    def from_shards(self, role: str, x: Tensor, us: float, place: Placement = DRAM) -> Tensor:
        cores = len(x.placement.cores) if x.placement else None
        more = {"num_slices": 1, "output_dtype": f"DataType::{x.dtype}", "slice_index": 0}
        return self.moved(role, "ShardedToInterleaved", x, us, place=place, cores=cores, **more)

    def reshard(self, role: str, x: Tensor, place: Placement, us: float) -> Tensor:
        return self.moved(role, "Reshard", x, us, place=place, cores=len(place.cores))

    def slice(  # noqa: PLR0917
        self,
        role: str,
        x: Tensor,
        start: Sequence[int],
        end: Sequence[int],
        us: float,
        place: Placement | None = None,
    ) -> Tensor:
        shape = [b - a for a, b in zip(start, end, strict=True)]
        return self.moved(
            role, "Slice", x, us, place=place, shape=shape, slice_start=f"Shape([{', '.join(map(str, start))}])",
            slice_end=f"Shape([{', '.join(map(str, end))}])", step=f"Shape([{', '.join('1' * len(shape))}])",
        )  # fmt: skip

    def concat(self, role: str, parts: Sequence[Tensor], shape: Sequence[int], dim: int, us: float) -> Tensor:
        where = parts[0].placement or DRAM
        out = self.tensor(shape, parts[0].dtype, where, parts[0].layout)
        return self.op(
            role, "Concat", parts, out, us, dim=dim, groups=1, output_mem_config=where, sub_core_grids=None
        )

    def permute(
        self, role: str, x: Tensor, order: Sequence[int], us: float, place: Placement | None = None
    ) -> Tensor:
        return self.moved(
            role, "Permute", x, us, place=place, shape=[x.shape[n] for n in order], fidelity="HiFi4",
            dims=f"SmallVector([{', '.join(map(str, order))}])", pad_value=0,
        )  # fmt: skip

    def heads_of_decode(
        self, role: str, qkv: Tensor, us: float, *, heads: int, kv: int, size: int, users: int
    ) -> tuple[Tensor, Tensor, Tensor]:
        place = self.along(32 * ceil(heads / 32), size, users)
        q = self.tensor([1, users, heads, size], place=place)
        k, v = (self.tensor([1, users, kv, size], place=self.along(32, size, users)) for _ in range(2))
        self.op(
            role, "NLPCreateQKVHeadsDecode", (qkv,), (q, k, v), us, cores=users, head_dim=size, num_kv_heads=kv,
            num_q_heads=heads, output_mem_config=place, overlap_qk_coregrid=True, slice_size=None,
        )  # fmt: skip
        return q, k, v

    def attend_decode(
        self, role: str, q: Tensor, cache: Tensor, us: float, *, config: str | None, cores: int, place: Placement = DRAM,
        k_chunk: int = 0, fidelity: str = "HiFi4", fp32: bool = True,
    ) -> Tensor:  # fmt: skip
        table = self.tensor([q.shape[1], 64], "INT32", layout=ROW_MAJOR)
        where = self.tensor([q.shape[1]], "INT32", layout=ROW_MAJOR)
        return self.op(
            role, "SdpaDecode", (q, cache, cache, where, table), self.tensor(q.shape, q.dtype, place), us, cores=cores,
            fidelity=fidelity, compute_kernel_config=self.kernel(fidelity, fp32=fp32), is_causal=True,
            k_chunk_size=k_chunk, output_mem_config=place, paged_attention=True, program_config=config,
            scale="0.08838834764", share_cache=False, sliding_window_size=None, use_mla=False,
        )  # fmt: skip

    def attend(
        self, role: str, q: Tensor, k: Tensor, v: Tensor, us: float, *, config: str | None, cores: int,
        causal: bool = True, fidelity: str = "HiFi2", place: Placement | None = None, window: int | None = None,
        fp32: bool = False,
    ) -> Tensor:  # fmt: skip
        where = place or q.placement or DRAM
        return self.op(
            role, "SDPAOperation", (q, k, v), self.tensor(q.shape, q.dtype, where), us, cores=cores, fidelity=fidelity,
            compute_kernel_config=self.kernel(fidelity, fp32=fp32), is_causal=causal, output_mem_config=where,
            program_config=config, scale="0.08838834764", sliding_window_size=window, use_mla=False,
        )  # fmt: skip

    def update_cache(self, role: str, cache: Tensor, x: Tensor, us: float) -> None:
        where = self.tensor([x.shape[1]], "INT32", layout=ROW_MAJOR)
        table = self.tensor([x.shape[1], 64], "INT32", layout=ROW_MAJOR)
        self.op(
            role, "PagedUpdateCache", (cache, x, where, table), cache, us, cores=x.shape[1], batch_offset=0,
            compute_kernel_config=self.kernel("HiFi4"), mesh_coords=None, op_type="PagedUpdateCacheOpType::UPDATE",
            share_cache=False, update_idxs="{}",
        )  # fmt: skip

    def rotary(
        self, role: str, x: Tensor, us: float, *, decode: bool, cores: int | None = None,
        tables: Sequence[Tensor] = (),
    ) -> Tensor:  # fmt: skip
        """`rotary_embedding_hf`; cosines and sines are there before the run if not given."""
        place = x.placement or DRAM
        tables = tables or [self.tensor([1, 1, x.shape[-2], x.shape[-1]]) for _ in range(2)]
        return self.op(
            role, "RotaryEmbeddingHf", (x, *tables), self.tensor(x.shape, x.dtype, place), us, cores=cores,
            fidelity="HiFi4", compute_kernel_config=self.kernel("HiFi4", fp32=True), is_decode_mode=decode,
            output_mem_config=place,
        )  # fmt: skip

    def split_heads(
        self, role: str, qkv: Tensor, us: float, *, heads: int, kv: int, size: int, rows: int, batch: int = 1,
        place: Placement = DRAM, cores: int | None = None, dtype: str | None = None,
    ) -> tuple[Tensor, Tensor, Tensor]:  # fmt: skip
        q = self.tensor([batch, heads, rows, size], dtype or qkv.dtype, place)
        k, v = (self.tensor([batch, kv, rows, size], dtype or qkv.dtype, place) for _ in range(2))
        self.op(
            role, "NlpCreateHeads", (qkv,), (q, k, v), us, cores=cores, head_dim=size, num_kv_heads=kv,
            num_q_heads=heads, output_mem_config=place, transpose_k_heads=False,
        )  # fmt: skip
        return q, k, v

    def join_heads(
        self, role: str, x: Tensor, us: float, *, place: Placement | None = None, cores: int | None = None
    ) -> Tensor:
        batch, heads, rows, size = x.shape
        return self.moved(
            role, "NLPConcatHeads", x, us, place=place, cores=cores, shape=[batch, 1, rows, heads * size]
        )

    def collective(
        self, role: str, kind: str, x: Tensor, columns: int, us: float, *, ring: int = 4, links: int = 2, cores: int = 8,
        topology: str = "Ring", workers: int | None = None, place: Placement | None = None, **more: Attribute,
    ) -> Tensor:  # fmt: skip
        where = place or x.placement or DRAM
        return self.op(
            role, kind, (x,), self.tensor([*x.shape[:-1], columns], x.dtype, where), us, cores=cores,
            fidelity="HiFi4" if "Reduce" in kind else None, chunks_per_sync=None, cluster_axis=1, dim=3,
            num_buffers_per_channel=None, num_links=links, num_workers_per_link=workers, output_mem_config=where,
            ring_size=ring, sub_device_id=None, topology=f"Topology::{topology}", **more,
        )  # fmt: skip


__all__ = ["DRAM", "L1", "PLAIN_NORM", "ROW_MAJOR", "Block"]
