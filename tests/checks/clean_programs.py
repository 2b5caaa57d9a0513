"""Well-tuned models, in the times that real tuned ops reach: what checks must be silent about."""

from __future__ import annotations

from dataclasses import replace

from tests.checks.conv_programs import Conv, put_conv, put_halo
from tests.checks.rows import put
from tests.profiles import Iteration, Program, height_sharded, width_sharded
from tests.profiles.model import Attribute, DeviceOp, Placement, Tensor
from tests.profiles.ops import binary, kernel_config, matmul

COLD_THEN_REPLAYED = (
    Iteration(cold=True),
    Iteration(capture=True),
    Iteration(trace=(1, 1)),
    Iteration(trace=(1, 2)),
)
CORES, HIDDEN, HEADS, KV_HEADS, HEAD, FEED = 64, 4096, 32, 8, 128, 14336
DRAM_GB_S, TFLOPS = 240, CORES * 4.096  # Wormhole: achievable bandwidth; LoFi
ROWS = 32
ON_32 = width_sharded(ROWS, HIDDEN // 32, (8, 4))
WEIGHTS = Placement("DRAM", "WIDTH_SHARDED")


def streamed_ns(*tensors: Tensor, reached: float = 0.93) -> int:
    return round(sum(one.bytes for one in tensors if one.is_in("DRAM")) / DRAM_GB_S / reached)


def _other(
    program: Program,
    op_code: str,
    inputs: list[Tensor],
    out: Tensor,
    kernel_ns: int,
    *,
    cores: int = 32,
    fidelity: str | None = "HiFi2",
    **attributes: Attribute,
) -> Tensor:
    op = DeviceOp(
        op_code, tuple(inputs), (out,), kernel_ns, gap_ns=700, cores=cores, fidelity=fidelity, attributes=attributes
    )
    return put(program, op)


def _norm(program: Program, x: Tensor, kernel_ns: int, config: str, cores: int) -> Tensor:
    gamma = program.weight([1, 1, HIDDEN // 32, 32], layout="ROW_MAJOR")
    out = program.tensor(x.shape, x.dtype, placement=x.placement)
    said = {"norm_type": "LayerNormType::RMSNORM", "program_config": config}
    return _other(program, "LayerNormDeviceOperation", [x, gamma], out, kernel_ns, cores=cores, **said)


def _streamed(program: Program, x: Tensor, width: int, dtype: str, fidelity: str) -> Tensor:
    """A decode matmul on weights sharded over the DRAM banks."""
    k = x.shape[-1]
    w = program.tensor([1, 1, k, width], dtype, placement=WEIGHTS)
    out = program.tensor([1, 1, ROWS, width], "BFLOAT8_B", placement=width_sharded(ROWS, width // 32, (8, 4)))
    config = (
        f"MatmulMultiCoreReuseMultiCastDRAMShardedProgramConfig(in0_block_w={k // 1024},per_core_M=1,"
        f"per_core_N={width // 1024},fused_activation=std::nullopt)"
    )
    op = matmul(x, w, out, streamed_ns(w, reached=0.97), fidelity=fidelity, cores=32, program_config=config)
    return put(program, replace(op, gap_ns=700))


def decode(layers: int = 4) -> Program:
    """A decode step of 32 users: DRAM-sharded matmuls, activations in L1 shards, fused attention."""
    program = Program()
    x = program.tensor([1, 1, ROWS, HIDDEN], placement=ON_32)
    sharded_norm = (
        "LayerNormShardedMultiCoreProgramConfig(compute_with_storage_grid_size=(x=8,y=4),subblock_w=4,block_h=1,"
        "block_w=4,inplace=0)"
    )
    cache = program.tensor([ROWS, KV_HEADS, 2048, HEAD], "BFLOAT8_B")
    for _ in range(layers):
        normed = _norm(program, x, 5_500, sharded_norm, 32)
        qkv = _streamed(program, normed, (HEADS + 2 * KV_HEADS) * HEAD, "BFLOAT8_B", "HiFi2")
        heads = height_sharded(32, HEAD, (8, 4))
        q = program.tensor([1, ROWS, HEADS, HEAD], placement=heads)
        k = program.tensor([1, ROWS, KV_HEADS, HEAD], placement=heads)
        create = DeviceOp("NLPCreateQKVHeadsDecodeDeviceOperation", (qkv,), (q, k), 5_200, 700, 32)
        put(program, create)
        table = program.tensor([1, ROWS, 32, HEAD], placement=heads)
        turned = program.tensor([1, ROWS, HEADS, HEAD], placement=heads)
        _other(program, "RotaryEmbeddingLlamaFusedQK", [q, k, table, table], turned, 4_100)
        _other(program, "PagedUpdateCacheDeviceOperation", [cache, k], cache, 6_000, fidelity=None)
        attended = program.tensor([1, ROWS, HEADS, HEAD], placement=heads)
        chunks = "SDPAProgramConfig(compute_with_storage_grid_size=(x=8,y=8),q_chunk_size=0,k_chunk_size=256)"
        inputs = [turned, cache, cache]
        _other(program, "SdpaDecodeDeviceOperation", inputs, attended, 60_000, cores=64, program_config=chunks)
        joined = program.tensor([1, 1, ROWS, HIDDEN], "BFLOAT8_B", placement=ON_32)
        _other(program, "NLPConcatHeadsDecodeDeviceOperation", [attended], joined, 4_300, fidelity=None)
        out = _streamed(program, joined, HIDDEN, "BFLOAT8_B", "HiFi2")
        x = put(program, binary("ADD", x, out, program.tensor(x.shape, placement=ON_32), 3_200))
        normed = _norm(program, x, 5_500, sharded_norm, 32)
        gate = _streamed(program, normed, FEED, "BFLOAT4_B", "LoFi")
        up = _streamed(program, normed, FEED, "BFLOAT4_B", "LoFi")
        both = put(
            program, binary("MUL", gate, up, program.tensor(up.shape, up.dtype, placement=up.placement), 4_600)
        )
        down = _streamed(program, both, HIDDEN, "BFLOAT8_B", "HiFi2")
        x = put(program, binary("ADD", x, down, program.tensor(x.shape, placement=ON_32), 3_200))
    normed = _norm(program, x, 5_500, sharded_norm, 32)
    _streamed(program, normed, 128 * 1024, "BFLOAT8_B", "HiFi2")
    return program


def _blocked(program: Program, x: Tensor, width: int, fidelity: str = "HiFi2", dtype: str = "BFLOAT8_B") -> Tensor:
    """A prefill matmul in 2D blocks, at 75 % of the engine."""
    rows, k = x.shape[-2:]
    w = program.weight([1, 1, k, width], dtype)
    out = program.tensor([1, 1, rows, width], "BFLOAT8_B")
    config = (
        "MatmulMultiCoreReuseMultiCastProgramConfig(compute_with_storage_grid_size=(x=8,y=8),in0_block_w=4,"
        f"out_subblock_h=1,out_subblock_w=8,per_core_M={rows // 256},per_core_N={width // 256},transpose_mcast=0)"
    )
    passes = {"LoFi": 1, "HiFi2": 2}[fidelity]
    kernel = round(2 * rows * k * width * passes / TFLOPS / 1e3 / 0.75)
    op = matmul(x, w, out, kernel, fidelity=fidelity, cores=CORES, program_config=config)
    return put(program, replace(op, gap_ns=700))


def prefill(layers: int = 4, rows: int = 2048) -> Program:
    """A prompt of 2048 tokens: activations in DRAM, matmuls near the engine's peak, fused attention."""
    program = Program()
    x = program.tensor([1, 1, rows, HIDDEN])
    for _ in range(layers):
        plain = "LayerNormDefaultProgramConfig(legacy_reduction=0,legacy_rsqrt=0,use_welford=0)"
        normed = _norm(program, x, streamed_ns(x, x, reached=0.8), plain, CORES)
        qkv = _blocked(program, normed, (HEADS + 2 * KV_HEADS) * HEAD)
        q = program.tensor([1, HEADS, rows, HEAD], "BFLOAT8_B")
        k, v = (program.tensor([1, KV_HEADS, rows, HEAD], "BFLOAT8_B") for _ in range(2))
        took = streamed_ns(qkv, q, k, v, reached=0.7)
        put(program, DeviceOp("NlpCreateHeadsDeviceOperation", (qkv,), (q, k, v), took, 700, CORES))
        table = program.weight([1, 1, rows, HEAD])
        for one in (q, k):
            turned = program.tensor(one.shape, one.dtype)
            took = streamed_ns(one, one, reached=0.6)
            _other(program, "RotaryEmbeddingLlamaDeviceOperation", [one, table, table], turned, took, cores=CORES)
        attended = program.tensor(q.shape, q.dtype)
        flops = 2 * HEADS * rows * rows / 2 * 2 * HEAD
        chunks = (
            "SDPAProgramConfig(compute_with_storage_grid_size=(x=8,y=8),q_chunk_size=256,k_chunk_size=256,"
            "exp_approx_mode=0)"
        )
        said = {"is_causal": True, "program_config": chunks, "compute_kernel_config": kernel_config("HiFi2")}
        took = round(flops * 2 / TFLOPS / 1e3 / 0.6)
        _other(program, "ScaledDotProductAttention", [q, k, v], attended, took, cores=CORES, **said)
        joined = program.tensor([1, 1, rows, HIDDEN], "BFLOAT8_B")
        took = streamed_ns(attended, joined, reached=0.7)
        put(program, DeviceOp("NLPConcatHeadsDeviceOperation", (attended,), (joined,), took, 700, CORES))
        x = _added(program, x, _blocked(program, joined, HIDDEN))
        normed = _norm(program, x, streamed_ns(x, x, reached=0.8), plain, CORES)
        gate, up = (_blocked(program, normed, FEED, "LoFi", "BFLOAT4_B") for _ in range(2))
        both = program.tensor(up.shape, up.dtype)
        put(program, replace(binary("MUL", gate, up, both, streamed_ns(gate, up, both, reached=0.85)), gap_ns=700))
        x = _added(program, x, _blocked(program, both, HIDDEN))
    return program


def _added(program: Program, x: Tensor, y: Tensor) -> Tensor:
    out = program.tensor(x.shape)
    return put(program, replace(binary("ADD", x, y, out, streamed_ns(x, y, out, reached=0.85)), gap_ns=700))


def cnn(blocks: int = 6) -> Program:
    """Convs in the largest blocks with double buffers, activations fused, one shard layout throughout."""
    program = Program()
    conv = Conv(
        per_core=(8, 4), block=(8, 12), inner=36, act_double=True, weights_double=True, activation="RELU",
        fidelity="LoFi", kernel_ns=45_000, allocated=300_000,
    )  # fmt: skip
    x = program.tensor([1, 1, 65_536, 16], layout="ROW_MAJOR")
    shards = program.tensor([1, 1, 65_536, 16], layout="ROW_MAJOR", placement=height_sharded(1024, 16, (8, 8)))
    put(program, DeviceOp("InterleavedToShardedDeviceOperation", (x,), (shards,), 11_000, 700, CORES))
    x = put_conv(program, conv, put_halo(program, shards, conv))
    for _ in range(blocks):
        y = put_conv(program, conv, put_halo(program, x, conv))
        y = put_conv(program, conv, put_halo(program, y, conv))
        out = program.tensor(x.shape, x.dtype, placement=x.placement)
        x = put(program, replace(binary("ADD", x, y, out, 3_000), gap_ns=700))
    pooled = program.tensor([1, 1, 32, 128], placement=width_sharded(32, 32, (4, 1)))
    put(program, DeviceOp("Pool2D", (x,), (pooled,), 6_000, 700, CORES, "HiFi4"))
    w = program.weight([1, 1, 128, 1024], "BFLOAT8_B")
    logits = program.tensor([1, 1, 32, 1024], placement=width_sharded(32, 32, (8, 4)))
    config = (
        "MatmulMultiCoreReuseMultiCast1DProgramConfig(compute_with_storage_grid_size=(x=8,y=4),in0_block_w=4,"
        "out_subblock_h=1,out_subblock_w=1,per_core_M=1,per_core_N=1,fuse_batch=1,mcast_in0=1)"
    )
    put(program, matmul(pooled, w, logits, 6_000, fidelity="LoFi", cores=32, program_config=config))
    for op in program.device_ops:
        if op.op_code == "Conv2dDeviceOperation":
            config = str(op.attributes["compute_kernel_config"])
            op.attributes = {**op.attributes, "compute_kernel_config": config.replace("l1_acc=0", "l1_acc=1")}
    out = program.tensor([1, 1, 32, 1024])
    put(program, DeviceOp("ShardedToInterleavedDeviceOperation", (logits,), (out,), 1_500, 700, 32))
    return program
