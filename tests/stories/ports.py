"""Stories about two ported language models, whose logs tell what was tried op by op: North-Mini and Gemma 4 12B."""

from __future__ import annotations

from tests.profiles import L1, Program, width_sharded
from tests.profiles.ops import kernel_config
from tests.stories.matmuls import BANKS, bank_sharded, blackhole, both_sided, multiply, one_sided
from tests.stories.story import SHAPE, SPLIT, TIMES, Story, run_op

NORTH = "tt-metal autoports north_mini_code README"
NORTH_LOG = "tt-metal autoports north_mini_code work log"
GEMMA_LOG = "tt-metal autoports gemma_4_12b work log"
PROJECTIONS = (
    (2048, 5120),
    (4096, 2048),
    (2048, 6144),
    (3072, 2048),
)  # QKV, O, gate and up, down: 37,748,736 weights
MULTIPLIED = {"binary_op_type": "BinaryOpType::MUL"}
ADDED = {"binary_op_type": "BinaryOpType::ADD"}
RMS = {"norm_type": "LayerNormType::RMSNORM"}


def rest_of_layer(program, us):
    """What else the source's layer took: no op of any family."""
    x, out = (program.tensor([1, 1, 32, 64], "UINT16") for _ in range(2))
    run_op(program, "MadeUpOfNoFamily", (x,), out, us)


def down_without_config():
    program = blackhole()
    multiply(program, 32, 3072, 2048, 55.6)
    return program


def choose(program, x, k, n, us, *, weights="BFLOAT8_B", nnz="8", fidelity="LoFi", experts=128, cores=24):
    """A matmul with the eight experts of 128 that the router chose."""
    w, out = program.tensor([1, experts, k, n], weights), program.tensor([1, 1, 1, experts, 32, n])
    per_n = -(-n // 32 // cores)
    attributes = {
        "compute_kernel_config": kernel_config(fidelity, packer=True),
        "nnz": nnz,
        "program_config": one_sided(per_n, 8, grid=(8, cores // 8)),
    }
    return run_op(program, "SparseMatmul", (x, w), out, us, fidelity=fidelity, attributes=attributes, cores=cores)


def experts_all_multiplied():
    """Gate and up of eight experts, then down of all 128."""
    program = blackhole()
    x = program.tensor([1, 1, 1, 2048])
    both = choose(program, x, 2048, 1536, 150, weights="BFLOAT16", fidelity="HiFi2")
    halves = [run_op(program, "Slice", (both,), program.tensor([1, 128, 32, 768]), 12, attributes={"slice_start": f"Shape([0, 0, 0, {start}])", "slice_end": f"Shape([1, 128, 32, {start + 768}])"}) for start in (0, 768)]  # fmt: skip
    hidden = run_op(program, "BinaryNg", halves, program.tensor([1, 128, 32, 768]), 14, attributes=MULTIPLIED)
    w = program.tensor([1, 128, 768, 2048])
    attributes = {"compute_kernel_config": kernel_config("HiFi2", packer=True), "program_config": None, "bcast_batch": 0}  # fmt: skip
    run_op(program, "Matmul", (hidden, w), program.tensor([1, 128, 32, 2048]), 1_650, fidelity="HiFi2", attributes=attributes)  # fmt: skip
    return program


def experts(weights, fidelity, first_us, second_us, nnz="8"):
    def build():
        program = blackhole()
        scores = program.tensor([1, 1, 1, 128])
        run_op(program, "TopK", (scores,), program.tensor([1, 1, 1, 8]), 12, cores=1, attributes={"k": 8})
        both = choose(program, program.tensor([1, 1, 1, 2048]), 2048, 1536, first_us, weights=weights, fidelity=fidelity, nnz=nnz)  # fmt: skip
        hidden = run_op(program, "Unary", (both,), program.tensor([1, 128, 32, 768]), 20)
        choose(program, hidden, 768, 2048, second_us, weights=weights, fidelity=fidelity, nnz=nnz, cores=32)
        return program

    return build


def interleaved_residual():
    """One norm, both sums of a parallel block, and the moves between them and the sharded matmuls."""
    program = blackhole()
    row, shards = [1, 1, 32, 2048], width_sharded(32, 256, (8, 1))
    x, y = (program.tensor(row) for _ in range(2))
    summed = run_op(program, "BinaryNg", (x, y), program.tensor(row), 4, attributes=ADDED)
    summed = run_op(program, "BinaryNg", (summed, y), program.tensor(row), 4, attributes=ADDED)
    normed = run_op(program, "LayerNorm", (summed, program.tensor([1, 1, 1, 2048])), program.tensor(row), 20, cores=1, fidelity="HiFi4", attributes=RMS)  # fmt: skip
    placed = run_op(program, "InterleavedToSharded", (normed,), program.tensor(row, placement=shards), 3)
    multiply(program, 32, 2048, 5120, 38, bank_sharded(20, 8), x=placed, where=BANKS, into=width_sharded(32, 640, (8, 1)), cores=8)  # fmt: skip
    return program


def heads_behind_a_move():
    program = blackhole()
    shards = width_sharded(32, 256, (8, 1))
    x = program.tensor([1, 1, 32, 2048], placement=shards)
    qkv = multiply(program, 32, 2048, 5120, 38, bank_sharded(20, 8), x=x, where=BANKS, into=width_sharded(32, 640, (8, 1)), cores=8)  # fmt: skip
    flat = run_op(program, "ShardedToInterleaved", (qkv,), program.tensor([1, 1, 32, 5120]), 5)
    run_op(program, "NlpCreateHeads", (flat,), program.tensor([1, 32, 32, 128]), 22, cores=1)
    return program


def decode_in_two_passes():
    """37.7 million weights behind eight banks, the whole layer's gain theirs."""
    program = blackhole()
    for (k, n), us in zip(PROJECTIONS, (46, 38, 54, 28), strict=True):
        place, into = width_sharded(32, k // 8, (8, 1)), width_sharded(32, n // 8, (8, 1))
        multiply(program, 32, k, n, us, bank_sharded(n // 256, 8), where=BANKS, place=place, into=into, cores=8)
    return program


def prefill_in_small_blocks():
    """128 tokens through all 128 experts, two tiles of K at a time: 56 and 25 % of 9.74 ms."""
    program = blackhole()
    for k, n, us, grid in ((2048, 1536, 5_460, (6, 4)), (768, 2048, 2_440, (8, 4))):
        x, w = program.tensor([1, 128, 128, k]), program.tensor([1, 128, k, n], "BFLOAT8_B")
        attributes = {
            "compute_kernel_config": kernel_config("HiFi2", packer=True), "bcast_batch": 0,
            "program_config": both_sided(1, 8, grid=grid, block=2),
        }  # fmt: skip
        run_op(program, "Matmul", (x, w), program.tensor([1, 128, 128, n]), us, fidelity="HiFi2", attributes=attributes, cores=grid[0] * grid[1])  # fmt: skip
    return program


def attention_matmuls_interleaved():
    program = blackhole()
    for (k, n), us in zip(PROJECTIONS[:2], (31, 26), strict=True):
        multiply(program, 32, k, n, us, one_sided(-(-n // 32 // 88), 8, grid=(11, 8)))
    rest_of_layer(program, 466)
    return program


def attention_of_a_wide_cache():
    """A cache for 500,000 tokens, a few of which are read."""
    program = blackhole()
    q, table = program.tensor([1, 1, 32, 128]), program.tensor([1, 7813], "INT32", layout="ROW_MAJOR")
    caches = [program.tensor([7813, 4, 64, 128]) for _ in range(2)]
    place = program.tensor([1], "INT32", layout="ROW_MAJOR")
    run_op(program, "SdpaDecode", (q, *caches, table, place), program.tensor([1, 1, 32, 128]), 14, fidelity="HiFi2")
    rest_of_layer(program, 272)
    return program


def short_prefill_attention():
    program = blackhole()
    q, out = (program.tensor([1, 32, 128, 128]) for _ in range(2))
    keys = [program.tensor([1, 4, 128, 128]) for _ in range(2)]
    attributes = {"is_causal": True, "program_config": None, "compute_kernel_config": kernel_config("HiFi2")}
    run_op(program, "ScaledDotProductAttention", (q, *keys), out, 16, fidelity="HiFi2", attributes=attributes)
    rest_of_layer(program, 522)
    return program


def gate_and_up_apart():
    """The pair that beat every packed form at batch 1: 48 cores, sixteen tiles of K, at the layer's mean of 316 GB/s."""
    program = blackhole()
    x = run_op(program, "LayerNorm", (program.tensor([1, 1, 32, 2048]),), program.tensor([1, 1, 32, 2048]), 3, attributes=RMS)  # fmt: skip
    halves = [multiply(program, 32, 2048, 3072, 11.2, one_sided(2, 16, grid=(8, 6)), x=x, weights="BFLOAT4_B", fidelity="LoFi", into=L1) for _ in range(2)]  # fmt: skip
    run_op(program, "BinaryNg", halves, program.tensor([1, 1, 32, 3072], placement=L1), 2, attributes=MULTIPLIED)
    rest_of_layer(program, 145)
    return program


def silu_apart():
    program = blackhole()
    gate, up = (run_op(program, "Slice", (program.tensor([1, 1, 32, 6144]),), program.tensor([1, 1, 32, 3072]), 4) for _ in range(2))  # fmt: skip
    chain = {"op_chain": "{BasicUnaryWithParam<float>(op_type=UnaryOpType::SILU,param={})}"}
    gate = run_op(program, "Unary", (gate,), program.tensor([1, 1, 32, 3072]), 5, attributes=chain)
    run_op(program, "BinaryNg", (gate, up), program.tensor([1, 1, 32, 3072]), 5, attributes=MULTIPLIED)
    return program


def two_cache_updates():
    program = blackhole()
    table, place = program.tensor([1, 128], "INT32", layout="ROW_MAJOR"), program.tensor([1], "INT32", layout="ROW_MAJOR")  # fmt: skip
    for _ in range(2):
        cache = program.tensor([128, 4, 64, 128])
        run_op(
            program, "PagedUpdateCache", (cache, program.tensor([1, 1, 32, 128]), place, table), cache, 6, cores=1
        )
    rest_of_layer(program, 290)
    return program


def gemma_decode():
    """A layer with a window: bfloat16, interleaved, no program config."""
    program = Program()
    row = [1, 1, 32, 3840]
    x = program.tensor(row)
    for k, n, us in ((3840, 8192, 380), (4096, 3840, 190), (3840, 15_360, 700), (3840, 15_360, 700), (15_360, 3840, 700)):  # fmt: skip
        multiply(program, 32, k, n, us, weights="BFLOAT16")
    run_op(program, "LayerNorm", (x, program.tensor([1, 1, 1, 3840])), program.tensor(row), 12, fidelity="HiFi4", attributes=RMS)  # fmt: skip
    rest_of_layer(program, 200)
    return program


def gemma_all_reduce():
    program = Program(devices=8)
    row = [1, 1, 32, 3840]
    for k in (512, 1920):
        x = multiply(program, 32, k, 3840, 30, into=L1)
        ring = {"num_links": 1, "ring_size": 8, "topology": "Topology::Ring"}
        run_op(program, "AllReduce", (x,), program.tensor(row), 108, cores=8, attributes=ring)
    rest_of_layer(program, 403)
    return program


PORTS = (
    Story(
        "north-down", NORTH, "down of a dense layer, batch 1, without a config: 55.6 us", "32 cores, in0_block_w 8 (18.8 us)",
        down_without_config, "bound wrong", "right", 36.8, "in0_block_w", made_up="nothing",
    ),
    Story(
        "north-all-experts", NORTH_LOG, "down of all 128 experts for one token: 2129.9 us a layer", "sparse_matmul of the active eight (651.8 us)",
        experts_all_multiplied, "other change", "right", 1_478, "sparse_matmul",
    ),
    Story(
        "north-wide-experts", NORTH_LOG, "experts' weights in BFLOAT16: 651.8 us a layer", "BFLOAT8_B and LoFi (569.0 us)",
        experts("BFLOAT16", "HiFi2", 170, 110), "right", "right", 82.9, "BFLOAT8_B|bfloat8_b",
    ),
    Story(
        "north-nnz", NORTH, "sparse_matmul that counts its experts itself: 679 us a layer", "nnz=8 (604 us)",
        experts("BFLOAT8_B", "HiFi2", 130, 90, nnz="std::nullopt"), "other change", "right", 75, "nnz",
    ),
    Story(
        "north-norms", NORTH_LOG, "decode with norm and residual interleaved: 266.2 us", "both WIDTH_SHARDED (244.3 us)",
        interleaved_residual, "bound wrong", "right", 21.9, "[Ss]hard|SHARDED",
    ),
    Story(
        "north-qkv", NORTH_LOG, "QKV moved out of its shards before the heads: 244.3 us", "the shards kept (220.8 us)",
        heads_behind_a_move, "other change", "right", 23.6, "nlp_create_qkv_heads_decode|stay|keep",
    ),
    Story(
        "north-lofi", NORTH_LOG, "decode with BFLOAT8_B weights at HiFi2, DRAM-sharded: 220.8 us", "LoFi (173.9 us)",
        decode_in_two_passes, "right", "right", 46.9, "LoFi",
    ),
    Story(
        "north-prefill", NORTH_LOG, "128 tokens, all experts, in0_block_w 2: 9742 us", "in0_block_w 8 (8003 us)",
        prefill_in_small_blocks, "other change", "right", 1_738, "in0_block_w", made_up="how the experts lie in one matmul",
    ),
    Story(
        "north-interleaved", NORTH_LOG, "QKV and O interleaved on Blackhole: 543.5 us a layer", "none: DRAM-sharded took 568.0 us",
        attention_matmuls_interleaved, "right", "right", denies="DRAM.?[Ss]harded", made_up=TIMES,
    ),
    Story(
        "north-cache", NORTH_LOG, "decode attention on a BFLOAT16 cache, few tokens: 286.0 us a layer", "none: a BFLOAT8_B cache took 287.4 us",
        attention_of_a_wide_cache, "false promise", "right", denies="bfloat8_b|BFLOAT8_B", made_up=TIMES,
    ),
    Story(
        "north-sdpa", NORTH_LOG, "attention over 128 tokens without a config: 573.6 us a layer", "none: a config for 8x8 cores took 583.8 us",
        short_prefill_attention, "right", "right", denies="SDPAProgramConfig|grid|chunk", made_up=TIMES,
    ),
    Story(
        "north-gate-up", NORTH, "gate and up as two matmuls on 48 cores: 196.9 us a layer", "none: the best packed form took 198.8 us",
        gate_and_up_apart, "false promise", "right", denies=r"one ttnn\.linear|concat\(\[", made_up=TIMES,
    ),
    Story(
        "north-silu", NORTH, "SiLU, then the product with up", "the activation in the product", silu_apart, "named", "named", None,
        "input_tensor_a_activations", made_up=TIMES,
    ),
    Story(
        "north-updates", NORTH, "two updates of paged caches", "paged_fused_update_cache", two_cache_updates, "other change", "named", None,
        "paged_fused_update_cache", made_up=TIMES,
    ),
    Story(
        "gemma-decode", GEMMA_LOG, "decode in BFLOAT16, interleaved, no configs: 2882 us a layer", "BFLOAT8_B, DRAM-sharded (1374 us)",
        gemma_decode, "bound wrong", "right", 1_508, "bfloat8_b|DRAM.?[Ss]harded", made_up=f"N and K, {SPLIT}",
        several=True,
    ),
    Story(
        "gemma-all-reduce", GEMMA_LOG, "ttnn.all_reduce on a ring of eight: 679.4 us a layer", "none: all_reduce_async took 681.8 us",
        gemma_all_reduce, "false promise", "right", denies="all_reduce_async", made_up=SPLIT,
    ),
)  # fmt: skip
__all__ = ["PORTS", "SHAPE"]
