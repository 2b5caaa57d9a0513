"""Stories about attention, heads and what moves between them."""

from __future__ import annotations

from tests.profiles import DRAM, L1, Program, height_sharded
from tests.profiles.ops import kernel_config
from tests.stories.story import SHAPE, SPLIT, Story, run_op

BLACKHOLE = {"grid": (11, 10)}


def sdpa_config(q: int, k: int, grid: tuple[int, int]) -> str:
    return (
        f"SDPAProgramConfig(compute_with_storage_grid_size=(x={grid[0]},y={grid[1]}),sub_core_grids=std::nullopt,"
        f"q_chunk_size={q},k_chunk_size={k},exp_approx_mode=std::nullopt)"
    )


def attend(
    program, shape, us, *, dtype="BFLOAT16", chunks=(128, 128), grid=(8, 8), kv=None, where=DRAM, causal=False
):
    q, out = (program.tensor(shape, dtype, placement=where) for _ in range(2))
    keys = [program.tensor(kv or shape, dtype, placement=where) for _ in range(2)]
    attributes = {
        "is_causal": causal,
        "program_config": sdpa_config(*chunks, grid),
        "compute_kernel_config": kernel_config("HiFi2"),
    }
    run_op(
        program,
        "ScaledDotProductAttention",
        (q, *keys),
        out,
        us,
        fidelity="HiFi2",
        attributes=attributes,
        cores=grid[0] * grid[1],
    )


def cross_attention_by_reshapes():
    """Of one attention of 70; q 560 + 250 us, k and v 90 each; the head ops that came instead took the rest."""
    program = Program()
    for rows, reshape_us, transpose_us in ((4096, 560, 250), (96, 60, 30), (96, 60, 30)):
        x = program.tensor([1, 1, rows, 640])
        split = run_op(program, "ReshapeView", (x,), program.tensor([1, rows, 10, 64]), reshape_us)
        run_op(program, "Transpose", (split,), program.tensor([1, 10, rows, 64]), transpose_us)
    return program


def rope_between_transposes():
    program = Program()
    x = program.tensor([1, 1, 32, 64])
    shards = height_sharded(32, 64, 32)
    across = run_op(program, "Transpose", (x,), program.tensor([1, 32, 1, 64]), 3)
    placed = run_op(program, "InterleavedToSharded", (across,), program.tensor([1, 32, 1, 64], placement=shards), 2)
    tables = [program.tensor([1, 32, 1, 64], placement=shards) for _ in range(2)]
    swap = program.tensor([1, 1, 1024, 32], placement=height_sharded(32, 32, 32))
    turned = run_op(
        program,
        "RotaryEmbeddingLlama",
        (placed, *tables, swap),
        program.tensor([1, 32, 1, 64], placement=shards),
        4,
        attributes={"is_decode_mode": True},
        fidelity="HiFi4",
    )
    back = run_op(program, "ShardedToInterleaved", (turned,), program.tensor([1, 32, 1, 64]), 2)
    run_op(program, "Transpose", (back,), program.tensor([1, 1, 32, 64]), 3)
    return program


def casts_before_attention():
    """One of 24 layers of BGE-M3 at batch 32."""
    program = Program("blackhole", **BLACKHOLE)
    shape = [32, 16, 512, 64]
    wide = []
    for _ in range(3):
        narrow = run_op(
            program, "Unary", (program.tensor(shape, "BFLOAT8_B"),), program.tensor(shape, "BFLOAT8_B"), 90
        )
        wide.append(run_op(program, "Typecast", (narrow,), program.tensor(shape), 132, fidelity="HiFi4"))
    attributes = {"is_causal": False, "program_config": sdpa_config(256, 512, (11, 10))}
    out = program.tensor(shape, "BFLOAT8_B")
    run_op(
        program, "ScaledDotProductAttention", wide, out, 1_467, fidelity="HiFi2", attributes=attributes, cores=110
    )
    return program


def head_op_on_one_core(name, before, after, us, cores=1):
    def build():
        program = Program()
        run_op(program, name, (program.tensor(before),), program.tensor(after), us, cores=cores)
        return program

    return build


def attention_in_parts():
    program = Program()
    heads, scores = [1, 16, 2048, 64], [1, 16, 2048, 2048]
    q, k, v = (program.tensor(heads, "FLOAT32") for _ in range(3))
    product = program.tensor(scores, "FLOAT32")
    config = {"compute_kernel_config": kernel_config("HiFi4", fp32=True)}
    run_op(program, "Matmul", (q, k), product, 1_200, fidelity="HiFi4", attributes=config)
    scaled = run_op(program, "BinaryNg", (product, program.tensor([1, 1, 1, 1], "FLOAT32")), program.tensor(scores, "FLOAT32"), 2_300)  # fmt: skip
    soft = run_op(program, "Softmax", (scaled,), program.tensor(scores, "FLOAT32"), 3_600, fidelity="HiFi4")
    run_op(
        program, "Matmul", (soft, v), program.tensor(heads, "FLOAT32"), 1_500, fidelity="HiFi4", attributes=config
    )
    return program


def attention_alone(arch, shape, us, **how):
    def build():
        program = Program(arch, **(BLACKHOLE if arch == "blackhole" else {}))
        attend(program, shape, us, **how)
        return program

    return build


ATTENTION = (
    Story(
        "S14", "tt-metal PR#22938", "SDXL UNet cross-attention, reshape + transpose for q, k, v",
        "nlp_create_qkv_heads (672 -> 612 ms over 70 attentions)", cross_attention_by_reshapes, "bound wrong", "right", 857,
        "create_(qkv_)?heads|split_heads",
    ),
    Story(
        "S30", "tt-metal PR#39572, PR#39575", "transpose, shard, rope, unshard, transpose: 14 us",
        "rope in prefill mode with sharded tables (3.9 us)", rope_between_transposes, "other change", "right", 10.1,
        "prefill mode|is_decode_mode=False",
    ),
    Story(
        "bge-casts", "tt-metal perf_automation guide GL-04", "three casts to BFLOAT16 before SDPA, BGE-M3 batch 32",
        "q, k, v stay BFLOAT8_B (typecasts 11.1 -> 1.6, SDPA 35.2 -> 21.5 ms over 24 layers)",
        casts_before_attention, "bound wrong", "right", 967, "BFLOAT8_B|bfloat8_b|without the cast",
    ),
    Story(
        "create-heads", "tt-metal skill core-occupancy", "create_qkv_heads unsharded on one core: 39 us",
        "sharded over 16 cores (1.85 us)",
        head_op_on_one_core("NlpCreateHeads", [1, 1, 32, 3072], [1, 16, 32, 64], 39), "bound wrong", "right", 37.2, "[Ss]hard",
        made_up=SHAPE,
    ),
    Story(
        "concat-heads", "tt-metal skill core-occupancy", "concat_heads on one core: 20 us", "sharded (1.2 us)",
        head_op_on_one_core("NLPConcatHeads", [1, 16, 32, 64], [1, 1, 32, 1024], 20), "bound wrong", "right", 18.8, "[Ss]hard",
        made_up=SHAPE,
    ),
    Story(
        "attention-chain", "tt-metal skill optimization", "attention written out in FLOAT32",
        "scaled_dot_product_attention (prefill 51.8 -> 14.4 ms)", attention_in_parts, "named", "named", None,
        "scaled_dot_product_attention", made_up=f"{SHAPE}, {SPLIT}",
    ),
    Story(
        "sdpa-grid-1k", "tt-metal PR#56898", "SDPA prefill of 1024 rows, grid 8x8 of 110: 371.7 us",
        "device grid 11x10 (345.1 us)",
        attention_alone("blackhole", [1, 32, 1024, 128], 371.7, dtype="BFLOAT8_B", causal=True), "right", "right", 26.6,
        "grid", made_up="chunks of 128",
    ),
    Story(
        "vit-chunks", "tt-metal skill tt-dit", "SDPA of a ViT decoder with default chunks",
        "q and k chunks of 192 (2.95x)",
        attention_alone("wormhole_b0", [1, 16, 1728, 64], 1_180, chunks=(32, 32)), "silent", "right", 780, "chunk",
        made_up="the times: only their ratio is told",
    ),
    Story(
        "window-in-l1", "tt-metal perf_automation guide GL-04", "windowed SDPA with inputs in DRAM",
        "none: inputs in L1 give back 110 us and cost 158 us of moves",
        attention_alone("blackhole", [256, 8, 64, 32], 400, chunks=(64, 64), grid=(11, 10)), "right", "right",
        denies=r"L1_MEMORY_CONFIG|buffer_type=ttnn\.BufferType\.L1", made_up=f"{SHAPE}, the time before",
    ),
)  # fmt: skip

__all__ = ["ATTENTION", "L1"]
