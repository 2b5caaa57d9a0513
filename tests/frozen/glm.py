"""GLM-4.7-Flash on one Blackhole chip (p300c): decode of one user through a layer of experts and a dense one; prefill.

Hidden 2048; attention over a latent of 512 + 64 with 20 heads; 64 experts of 1536, four of them active, and one shared.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from tests.frozen.build import DRAM, L1, ROW_MAJOR, Block, banked, chunks, norm_shards, one_d, two_d
from tests.frozen.gpt_oss import chosen
from tests.frozen.layer import TT_METAL, dead, gain, laid
from tests.frozen.names import (
    BFP4,
    BFP8,
    BLOCK_W,
    CONFIG,
    CORES,
    DRAM_SHARDED,
    INTERLEAVED_1D,
    LOFI,
    PACKED,
    SDPA_CHUNKS,
    SHARDED,
    unbanked,
)

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.profiles import Placement, Tensor

FOLDER = f"{TT_METAL}/ba10cee4e6028b212146ccfe66bfa395d6912f86/models/autoports/zai_org_glm_4_7_flash/doc/optimized_decoder"  # fmt: skip
LOG = f"{FOLDER}/work_log.md"
README = f"{FOLDER}/README.md"
HIDDEN, Q_RANK, LATENT, ROPE, HEADS, WIDE, EXPERT = 2048, 768, 512, 64, 20, 10240, 1536
GRID = (11, 10)


def left_to_ttnn(columns: int, subblock: int = 1) -> str:
    per_n = -(-columns // 32 // 110)
    return one_d(GRID, 2, (1, per_n), subblock=(1, subblock))


def batched(
    block: Block, role: str, x: Tensor, n: int, us: float, *, dtype: str, fidelity: str, config: str, cores: int
) -> Tensor:
    """A product for each head; its weight stands in DRAM."""
    weight = block.tensor([1, HEADS, x.shape[-1], n], dtype)
    return block.op(
        role, "Matmul", (x, weight), block.tensor([1, HEADS, 32, n], place=x.placement or DRAM), us, cores=cores,
        fidelity=fidelity, bcast_batch=False, compute_kernel_config=block.kernel(fidelity, fp32=fidelity == "HiFi4"),
        output_dtype="DataType::BFLOAT16", output_mem_config=x.placement or DRAM, program_config=config,
        transpose_a=False, transpose_b=False, untilize_out=False, user_core_coord=None, user_fused_activation=None,
    )  # fmt: skip


def reuse(block: int, columns: int) -> str:
    """One head on each core of 5 x 4."""
    return (
        f"MatmulMultiCoreReuseProgramConfig(compute_with_storage_grid_size=(x=5,y=4),in0_block_w={block},"
        f"out_subblock_h=1,out_subblock_w=4,per_core_M=1,per_core_N={columns // 32})"
    )


def tables(block: Block) -> tuple[Tensor, Tensor]:
    made = []
    for name in ("cos", "sin"):
        rows = block.moved(f"{name}_untilized", "UntilizeCodegen", block.tensor([1, 1, 4096, ROPE]), 4.7, layout=ROW_MAJOR, cores=110)  # fmt: skip
        picked = block.op(f"{name}_row", "Embeddings", (block.tensor([1, 1], "UINT32", layout=ROW_MAJOR), rows), block.tensor([1, 1, 1, ROPE], layout=ROW_MAJOR), 1.1, cores=1, embeddings_type="EmbeddingsType::GENERIC", output_mem_config=DRAM, pad_token=None, tilized=False)  # fmt: skip
        tiles = block.moved(f"{name}_tilized", "TilizeWithValPadding", picked, 3.2, cores=1, layout="TILE", fidelity="HiFi4", use_multicore=True)  # fmt: skip
        made.append(block.to_shards(f"{name}_placed", tiles, block.along(32, ROPE, 1), 0.5))
    return made[0], made[1]


def turned(block: Block, name: str, x: Tensor, made: tuple[Tensor, Tensor], place: Placement) -> Tensor:
    placed = block.to_shards(f"rope_{name}_placed", x, block.along(32, ROPE, 1), 0.5)
    out = block.op(f"rope_{name}", "RotaryEmbeddingLlama", (placed, *made, block.tensor([1, 1, 32, 32])), block.tensor(placed.shape, place=placed.placement), 1.9, cores=1, fidelity="HiFi4", is_decode_mode=True, output_mem_config=placed.placement)  # fmt: skip
    return block.from_shards(f"rope_{name}_flat", out, 0.5, place)


def attention(block: Block, x: Tensor, how: How) -> Tensor:
    """The attention of a decode step at 1024 tokens, up to the sum with the residual."""
    if how.tuned:
        place, norm = block.across(32, HIDDEN, 8), norm_shards((8, 1), 8)
        x = block.to_shards("entry", x, place, 1.0)
        normed = block.norm("norm_in", x, 5.7, cores=8, config=norm)
    else:
        normed = block.norm("norm_in", x, 33.4, cores=1)
    made = tables(block)
    inner = L1 if how.tuned else DRAM
    dtype, fidelity = how.attention, "LoFi" if how.tuned else "HiFi4"
    us = how.us
    if how.tuned:
        both = block.linear("wqkv_a", normed, 1536, us["wqkv_a"], dtype=dtype, fidelity=fidelity, config=banked(8, 6), cores=8, place=block.across(32, 1536, 8), banks=True)  # fmt: skip
        both = block.from_shards("wqkv_a_flat", both, 1.35, L1)
    else:
        both = block.linear("wqkv_a", normed, 1344, us["wqkv_a"], fidelity=fidelity, config=left_to_ttnn(1344), cores=42, fp32=True)  # fmt: skip
    small = 1.3 if how.tuned else 1.7
    q = block.slice("q_part", both, (0, 0, 0, 0), (1, 1, 32, Q_RANK), small)
    latent = block.slice("latent_part", both, (0, 0, 0, Q_RANK), (1, 1, 32, Q_RANK + LATENT), small)
    k_rope = block.slice("rope_part", both, (0, 0, 0, Q_RANK + LATENT), (1, 1, 32, Q_RANK + LATENT + ROPE), 1.1)
    latent, q = normed_parts(block, latent, q, k_rope, made, how)
    if how.tuned:
        wide = block.linear("wq_b", q, 5120, us["wq_b"], dtype=dtype, fidelity=fidelity, config=banked(3, 20), cores=8, place=block.across(32, 5120, 8), banks=True)  # fmt: skip
        wide = block.from_shards("wq_b_flat", wide, 1.95, L1)
    else:
        wide = block.linear("wq_b", q, 5120, us["wq_b"], fidelity=fidelity, config=left_to_ttnn(5120, 2), cores=80, fp32=True)  # fmt: skip
    query = queries(block, wide, made, how, inner)
    cache = block.tensor([64, 1, 64, LATENT + ROPE], how.cache)
    block.update_cache("cache", cache, block.to_shards("cache_placed", latent, block.along(32, LATENT + ROPE, 1), 1.0), 4.4)  # fmt: skip
    where = block.tensor([1], "INT32", layout=ROW_MAJOR)
    pages = block.tensor([1, 64], "INT32", layout=ROW_MAJOR)
    attended = block.op(
        "sdpa", "SdpaDecode", (query, cache, where, pages), block.tensor([1, 1, HEADS, LATENT]), 40.2, cores=110,
        fidelity="HiFi4", compute_kernel_config=block.kernel("HiFi4"), is_causal=True, k_chunk_size=128,
        output_mem_config=DRAM, paged_attention=True, program_config=chunks(0, 128, GRID, 8), scale="0.0625",
        share_cache=False, sliding_window_size=None, use_mla=True, head_dim_v=LATENT,
    )  # fmt: skip
    attended = block.moved("attended_turned", "Transpose", attended, 3.8, dim="TransposeOpDim::HC", shape=[1, HEADS, 1, LATENT], cores=110)  # fmt: skip
    attended = block.view(attended, [1, HEADS, 32, LATENT])
    config = reuse(how.uv_block, 256) if how.tuned else left_to_ttnn(256)
    values = batched(block, "w_uv", attended, 256, us["w_uv"], dtype=dtype, fidelity=fidelity, config=config, cores=20 if how.tuned else 8)  # fmt: skip
    values = block.moved("values_turned", "Transpose", values, 2.4, dim="TransposeOpDim::HC", shape=[1, 1, HEADS, 256], cores=110)  # fmt: skip
    placed = block.to_shards("values_placed", values, block.along(32, 256, 1), 0.7)
    joined = block.moved("joined", "NLPConcatHeadsDecode", placed, 1.6, shape=[1, 1, 32, 5120], place=block.across(32, 5120, 20), cores=20, num_heads=HEADS, on_subcoregrids=False)  # fmt: skip
    joined = block.from_shards("joined_flat", joined, 1.2 if how.tuned else 1.8, inner)
    joined = block.slice("joined_rows", joined, (0, 0, 0, 0), (1, 1, 32, 5120), 1.9 if how.tuned else 2.3)
    if how.tuned:
        joined = block.to_shards("wo_placed", joined, block.across(32, 5120, 8), 1.3)
        out = block.linear("wo", joined, HIDDEN, us["wo"], dtype=dtype, fidelity=fidelity, config=banked(how.wo_block, 8), cores=8, place=block.across(32, HIDDEN, 8), banks=True)  # fmt: skip
        return block.binary("sum_attention", "ADD", x, out, 1.6)
    out = block.linear("wo", joined, HIDDEN, us["wo"], fidelity=fidelity, config=left_to_ttnn(HIDDEN), cores=64, fp32=True)  # fmt: skip
    return block.binary("sum_attention", "ADD", x, out, 2.5)


def queries(block: Block, wide: Tensor, made: tuple[Tensor, Tensor], how: How, inner: Placement) -> Tensor:
    """Queries of each head against the latent, and their turned part."""
    dtype, fidelity = how.attention, "LoFi" if how.tuned else "HiFi4"
    rows = block.moved("heads_untilized", "UntilizeCodegen", wide, 15.1, layout=ROW_MAJOR, cores=1)
    rows = block.moved("heads_shaped", "ReshapeView", rows, 6.6, shape=[1, 1, HEADS, 256], cores=110)
    heads = block.moved("heads_tilized", "TilizeWithValPadding", rows, 6.0, layout="TILE", cores=1, fidelity="HiFi4", use_multicore=True)  # fmt: skip
    plain = block.slice("heads_plain", heads, (0, 0, 0, 0), (1, 1, HEADS, 192), 1.5)
    q_rope = block.slice("heads_rope", heads, (0, 0, 0, 192), (1, 1, HEADS, 256), 1.4)
    plain = block.moved("heads_turned", "Transpose", plain, 3.4, dim="TransposeOpDim::HC", shape=[1, HEADS, 1, 192], cores=110)  # fmt: skip
    plain = block.view(plain, [1, HEADS, 32, 192])
    config = reuse(6, LATENT) if how.tuned else left_to_ttnn(LATENT)
    absorbed = batched(block, "w_uk", plain, LATENT, how.us["w_uk"], dtype=dtype, fidelity=fidelity, config=config, cores=20 if how.tuned else 16)  # fmt: skip
    absorbed = block.moved("absorbed_turned", "Transpose", absorbed, 3.4, dim="TransposeOpDim::HC", shape=[1, 1, HEADS, LATENT], place=DRAM, cores=110)  # fmt: skip
    q_rope = turned(block, "q", q_rope, made, inner)
    return block.concat("query", (absorbed, q_rope), [1, 1, HEADS, LATENT + ROPE], 3, 1.7)


def normed_parts(  # noqa: PLR0917
    block: Block, latent: Tensor, q: Tensor, k_rope: Tensor, made: tuple[Tensor, Tensor], how: How
) -> tuple[Tensor, Tensor]:
    """What goes into the cache, and the queries' part before its second projection."""
    if not how.tuned:
        latent = block.norm("norm_latent", latent, 9.5, cores=1)
        joined = block.concat("latent_joined", (latent, turned(block, "k", k_rope, made, DRAM)), [1, 1, 32, LATENT + ROPE], 3, 1.7)  # fmt: skip
        return joined, block.norm("norm_q", q, 13.5, cores=1)
    shards = block.to_shards("latent_placed", latent, block.across(32, LATENT, 8), 1.4)
    latent = block.from_shards("latent_flat", block.norm("norm_latent", shards, 5.0, cores=8, config=norm_shards((8, 1), 2)), 0.8, L1)  # fmt: skip
    joined = block.concat("latent_joined", (latent, turned(block, "k", k_rope, made, L1)), [1, 1, 32, LATENT + ROPE], 3, 1.5)  # fmt: skip
    shards = block.to_shards("q_placed", q, block.across(32, Q_RANK, 8), 1.4)
    return joined, block.norm("norm_q", shards, 5.2, cores=8, config=norm_shards((8, 1), 3))


class How:
    """The layer before its tuning, or after it."""

    def __init__(
        self, *, tuned: bool, attention: str = "BFLOAT16", shared: str = "BFLOAT8_B", experts: str = "BFLOAT8_B",
        cache: str = "BFLOAT16", wo_block: int = 10, uv_block: int = 16, **us: float,
    ) -> None:  # fmt: skip
        self.tuned, self.attention, self.shared, self.experts, self.cache = tuned, attention, shared, experts, cache
        self.wo_block, self.uv_block = wo_block, uv_block
        self.us = us


BEFORE = {"wqkv_a": 33.4, "wq_b": 22.1, "w_uk": 53.6, "w_uv": 121.5, "wo": 91.3}
IN_BFP8 = {"wqkv_a": 10.8, "wq_b": 13.1, "w_uk": 13.1, "w_uv": 16.1, "wo": 26.0}
IN_BFP4 = {"wqkv_a": 10.3, "wq_b": 12.5, "w_uk": 12.0, "w_uv": 13.5, "wo": 24.6}


def routing(block: Block, normed: Tensor, *, tuned: bool) -> tuple[Tensor, Tensor]:
    """The experts of the token, as rows for sparse matmuls, and their weights."""
    place = normed.placement or DRAM
    config = one_d((2, 1), 32, (1, 1)) if tuned else left_to_ttnn(64)
    logits = block.linear("router", normed, 64, 7.5 if tuned else 25.7, dtype="FLOAT32", fidelity="HiFi4", config=config, cores=2, place=place, out="FLOAT32", fp32=True)  # fmt: skip
    scores = block.unary("scores", "SIGMOID", logits, 3.2)
    biased = block.binary("biased", "ADD", scores, block.tensor([1, 1, 32, 64], "FLOAT32"), 2.6)
    filled = block.moved("biased_filled", "FillPad", biased, 4.8, cores=2, fill_value="-inf")
    lowest = block.op("lowest", "Reduce", (filled,), block.tensor([1, 1, 32, 1], "FLOAT32", place), 2.1, cores=1, fidelity="HiFi4", math_op="ReduceOpMath::MIN", dim="ReduceOpDim::W")  # fmt: skip
    centred = block.typecast("centred_narrow", block.binary("centred", "SUB", filled, lowest, 5.0), "BFLOAT16", 2.0, cores=2)  # fmt: skip
    centred = block.moved("centred_filled", "FillPad", centred, 4.8, cores=2, fill_value="-inf")
    best = (block.tensor([1, 1, 32, 4], place=place), block.tensor([1, 1, 32, 4], "UINT16", place))
    block.op(
        "topk", "TopK", (centred,), best, 13.5, cores=1, fidelity="HiFi4", dim=3, k=4, largest=True, sorted=True
    )
    ids = block.slice("ids", best[1], (0, 0, 0, 0), (1, 1, 32, 4), 0.7)
    if tuned:
        ids = block.typecast("ids_wide", block.moved("ids_rows", "UntilizeWithUnpadding", ids, 1.0, layout=ROW_MAJOR, cores=1), "UINT32", 0.8, cores=1)  # fmt: skip
        narrow = block.typecast("scores_narrow", scores, "BFLOAT16", 1.8, cores=2)
        rows = block.moved("scores_rows", "UntilizeWithUnpadding", narrow, 1.1, layout=ROW_MAJOR, cores=1)
        table = block.moved("scores_table", "ReshapeView", rows, 10.4, shape=[1, 1, 64, 1], cores=110)
        picked = block.op("picked", "Embeddings", (ids, table), block.tensor([1, 1, 4, 1], place=place, layout=ROW_MAJOR), 1.6, cores=4, embeddings_type="EmbeddingsType::GENERIC", output_mem_config=place, pad_token=None, tilized=False)  # fmt: skip
        picked = block.moved("picked_tilized", "TilizeWithValPadding", picked, 2.6, cores=4, layout="TILE", fidelity="HiFi4", use_multicore=True)  # fmt: skip
        picked = block.moved("picked_filled", "FillPad", picked, 11.0, cores=4, fill_value="0")
        total = block.op("picked_sum", "FastReduceNC", (picked,), block.tensor([1, 1, 1, 1], place=place), 1.2, cores=1, fidelity="HiFi4", dim=2)  # fmt: skip
        weights = block.binary("weights", "DIV", picked, block.unary("floor", "ADD_UNARY_SFPU", total, 2.7, parameter="1e-20"), 2.9)  # fmt: skip
        return ids, block.unary("scaled", "MUL_UNARY_SFPU", weights, 2.7, parameter="1.8")
    ids = block.moved("ids_filled", "FillPad", ids, 9.4, cores=1, fill_value="0")
    plain = block.slice("plain", scores, (0, 0, 0, 0), (1, 1, 32, 64), 1.7)
    picked = block.op("gather", "Gather", (plain, ids), block.tensor([1, 1, 32, 4], "FLOAT32"), 29.6, cores=1, dim=3, sparse_grad=False, output_mem_config=DRAM)  # fmt: skip
    picked = block.moved("gather_filled", "FillPad", picked, 10.6, cores=1, fill_value="0")
    total = block.op("picked_sum", "Reduce", (picked,), block.tensor([1, 1, 32, 1], "FLOAT32"), 1.6, cores=1, fidelity="HiFi4", math_op="ReduceOpMath::SUM", dim="ReduceOpDim::W")  # fmt: skip
    weights = block.binary("weights", "DIV", picked, block.unary("floor", "ADD_UNARY_SFPU", total, 4.3, parameter="1e-20"), 6.1)  # fmt: skip
    weights = block.typecast("weights_narrow", weights, "BFLOAT16", 1.3, cores=1)
    weights = block.permute("weights_turned", weights, (0, 3, 2, 1), 4.3)
    ids = block.moved("ids_rows", "UntilizeWithUnpadding", ids, 1.2, layout=ROW_MAJOR, cores=1)
    return ids, block.unary("scaled", "MUL_UNARY_SFPU", weights, 4.9, parameter="1.8")


def experts(how: How) -> Callable[[], Block]:
    """A decode step through the layer with experts."""

    def build() -> Block:
        block = Block("blackhole", gap_us=0.9)
        x = attention(block, block.tensor([1, 1, 32, HIDDEN]), how)
        if how.tuned:
            normed = block.norm("norm_feed", x, 6.6, cores=8, config=norm_shards((8, 1), 8))
            normed = block.from_shards("feed_flat", normed, 1.0, L1)
        else:
            normed = block.norm("norm_feed", x, 33.1, cores=1)
        _, weights = routing(block, normed, tuned=how.tuned)
        us, act = how.us, 5.7 if how.tuned else 6.6
        many = {"experts": 64, "dtype": how.experts, "fidelity": "LoFi" if how.tuned else "HiFi2"}
        up_grid, down_grid = ((8, 6), (8, 8)) if how.tuned else ((8, 4), (8, 4))
        both = chosen(block, "experts_up", normed, 2 * EXPERT, us["experts_up"], grid=up_grid, size=8, **many)
        gate, up = (block.slice(f"experts_half{n}", both, (0, 0, 0, 0, 0, n * EXPERT), (1, 1, 1, 64, 32, (n + 1) * EXPERT), 2.4) for n in (0, 1))  # fmt: skip
        hidden = block.binary("experts_glu", "MUL", gate, up, act, lhs="SILU")
        hidden = block.binary("experts_weighted", "MUL", hidden, weights, 4.0)
        down = chosen(block, "experts_down", hidden, HIDDEN, us["experts_down"], grid=down_grid, size=16 if how.tuned else 6, **many)  # fmt: skip
        down = block.moved("experts_filled", "FillPad", down, 5.6, cores=110, fill_value="0")
        total = block.op("experts_sum", "FastReduceNC", (down,), block.tensor([1, 1, 32, HIDDEN], place=normed.placement or DRAM), 2.5, cores=64, fidelity="HiFi4", dim=3)  # fmt: skip
        if how.tuned:
            wide = {"dtype": how.shared, "fidelity": "LoFi", "cores": 24, "place": L1}
            gate = block.linear("shared_gate", normed, EXPERT, us["shared_gate"], config=one_d((8, 3), 16, (1, 2), subblock=(1, 2), act="SILU"), **wide)  # fmt: skip
            up = block.linear("shared_up", normed, EXPERT, us["shared_gate"], config=one_d((8, 3), 16, (1, 2), subblock=(1, 2)), **wide)  # fmt: skip
            hidden = block.to_shards("shared_placed", block.binary("shared_glu", "MUL", gate, up, 2.6), block.across(32, EXPERT, 8), 1.2)  # fmt: skip
            shared = block.linear("shared_down", hidden, HIDDEN, us["shared_down"], dtype=how.shared, fidelity="LoFi", config=banked(6, 8), cores=8, place=block.across(32, HIDDEN, 8), banks=True)  # fmt: skip
            total = block.to_shards("experts_placed", total, block.across(32, HIDDEN, 8), 1.2)
        else:
            plain = {"fidelity": "HiFi4", "fp32": True}
            gate = block.unary("shared_silu", "SILU", block.linear("shared_gate", normed, EXPERT, 34.0, config=left_to_ttnn(EXPERT), cores=48, **plain), 2.9)  # fmt: skip
            up = block.linear("shared_up", normed, EXPERT, 33.9, config=left_to_ttnn(EXPERT), cores=48, **plain)
            shared = block.linear("shared_down", block.binary("shared_glu", "MUL", gate, up, 2.9), HIDDEN, 28.9, config=left_to_ttnn(HIDDEN), cores=64, **plain)  # fmt: skip
        block.binary("sum_feed", "ADD", x, block.binary("sum_experts", "ADD", total, shared, 2.2), 2.2)
        return block

    return build


def dense(how: How) -> Callable[[], Block]:
    """A decode step through the dense layer."""

    def build() -> Block:
        block = Block("blackhole", gap_us=0.9)
        x = attention(block, block.tensor([1, 1, 32, HIDDEN]), how)
        if how.tuned:
            normed = block.norm("norm_feed", x, 6.6, cores=8, config=norm_shards((8, 1), 8))
            normed = block.from_shards("feed_flat", normed, 1.0, L1)
            wide = {"dtype": "BFLOAT8_B", "fidelity": "LoFi", "cores": 80, "place": L1}
            gate = block.linear("gate", normed, WIDE, 68.6, config=one_d((10, 8), 32, (1, 4), subblock=(1, 4), act="SILU"), **wide)  # fmt: skip
            up = block.linear("up", normed, WIDE, 62.9, config=one_d((10, 8), 32, (1, 4), subblock=(1, 4)), **wide)
            hidden = block.to_shards("down_placed", block.binary("glu", "MUL", gate, up, 4.0), block.across(32, WIDE, 8), 2.8)  # fmt: skip
            down = block.linear("down", hidden, HIDDEN, 47.6, dtype="BFLOAT8_B", fidelity="LoFi", config=banked(10, 8), cores=8, place=block.across(32, HIDDEN, 8), banks=True)  # fmt: skip
            block.binary("sum_feed", "ADD", x, down, 1.6)
            return block
        normed = block.norm("norm_feed", x, 33.2, cores=1)
        plain = {"fidelity": "HiFi4", "fp32": True}
        gate = block.unary("silu", "SILU", block.linear("gate", normed, WIDE, 107.1, config=left_to_ttnn(WIDE, 3), cores=107, **plain), 4.9)  # fmt: skip
        up = block.linear("up", normed, WIDE, 107.0, config=left_to_ttnn(WIDE, 3), cores=107, **plain)
        down = block.linear("down", block.binary("glu", "MUL", gate, up, 5.9), HIDDEN, 181.5, config=left_to_ttnn(HIDDEN), cores=64, **plain)  # fmt: skip
        block.binary("sum_feed", "ADD", x, down, 2.4)
        return block

    return build


def prefill() -> Block:
    """A chunk of 1024 tokens through the dense layer, matmuls left to TTNN: half of 14.85 ms."""
    block = Block("blackhole")
    rows = 1024
    x = block.tensor([1, 1, rows, HIDDEN])

    def project(role: str, given: Tensor, n: int, us: float) -> Tensor:
        config = two_d(GRID, 1, (4, -(-n // 32 // 11)))
        return block.linear(role, given, n, us, dtype="BFLOAT8_B", config=config, cores=88, fp32=True)

    def of_heads(role: str, given: Tensor, n: int, us: float) -> Tensor:
        weight = block.tensor([1, HEADS, given.shape[-1], n], "BFLOAT8_B")
        return block.op(role, "Matmul", (given, weight), block.tensor([1, HEADS, rows, n]), us, cores=110, fidelity="HiFi2", bcast_batch=False, compute_kernel_config=block.kernel("HiFi2", fp32=True), output_dtype="DataType::BFLOAT16", output_mem_config=DRAM, program_config=None, transpose_a=False, transpose_b=False, untilize_out=False, user_core_coord=None, user_fused_activation=None)  # fmt: skip

    both = project("wqkv_a", block.norm("norm_in", x, 35, cores=32), 1344, 82)
    q = block.norm("norm_q", block.slice("q_part", both, (0, 0, 0, 0), (1, 1, rows, Q_RANK), 15), 18, cores=32)
    latent = block.norm("norm_latent", block.slice("latent_part", both, (0, 0, 0, Q_RANK), (1, 1, rows, Q_RANK + LATENT), 12), 16, cores=32)  # fmt: skip
    k_rope = block.slice("rope_part", both, (0, 0, 0, Q_RANK + LATENT), (1, 1, rows, 1344), 8)
    made = [block.tensor([1, 1, rows, ROPE]) for _ in range(2)]
    k_rope = block.op("rope_k", "RotaryEmbeddingLlama", (k_rope, *made), block.tensor(k_rope.shape), 8, cores=32, fidelity="HiFi4", is_decode_mode=False, output_mem_config=DRAM)  # fmt: skip
    key = block.concat("key", (latent, k_rope), [1, 1, rows, LATENT + ROPE], 3, 20)
    wide = of_heads(
        "wq_b_heads", block.moved("q_repeated", "Repeat", q, 60, shape=[1, HEADS, rows, Q_RANK]), 256, 480
    )
    plain = block.slice("heads_plain", wide, (0, 0, 0, 0), (1, HEADS, rows, 192), 45)
    q_rope = block.slice("heads_rope", wide, (0, 0, 0, 192), (1, HEADS, rows, 256), 30)
    q_rope = block.op("rope_q", "RotaryEmbeddingLlama", (q_rope, *made), block.tensor(q_rope.shape), 27, cores=110, fidelity="HiFi4", is_decode_mode=False, output_mem_config=DRAM)  # fmt: skip
    absorbed = of_heads("w_uk", plain, LATENT, 430)
    query = block.concat("query", (absorbed, q_rope), [1, HEADS, rows, LATENT + ROPE], 3, 110)
    attended = block.attend("sdpa", query, key, latent, 3_667, config=chunks(128, 128, GRID), cores=110, fidelity="HiFi4", fp32=True)  # fmt: skip
    attended = block.view(attended, [1, HEADS, rows, LATENT]) if attended.shape[-1] == LATENT else block.slice("values_part", attended, (0, 0, 0, 0), (1, HEADS, rows, LATENT), 5)  # fmt: skip
    values = block.join_heads("joined", of_heads("w_uv", attended, 256, 500), 73)
    x = block.binary("sum_attention", "ADD", x, project("wo", values, HIDDEN, 235), 25)
    normed = block.norm("norm_feed", x, 35, cores=32)
    gate = block.unary("silu", "SILU", project("gate", normed, WIDE, 320), 95)
    hidden = block.binary("glu", "MUL", gate, project("up", normed, WIDE, 320), 146)
    block.binary("sum_feed", "ADD", x, project("down", hidden, HIDDEN, 452), 25)
    return block


def routed_prefill() -> Block:
    """Two sparse matmuls of a chunk of 1024 tokens, every expert wanted by every 32 rows."""
    block = Block("blackhole")
    x = block.tensor([1, 32, 32, HIDDEN])
    how = {"experts": 64, "dtype": "BFLOAT4_B", "fidelity": "HiFi2", "rows": 32}
    both = chosen(block, "experts_up", x, 2 * EXPERT, 61_400, grid=(8, 4), size=8, **how)
    gate, up = (block.slice(f"experts_half{n}", both, (0, 0, 0, 0, 0, n * EXPERT), (1, 32, 1, 64, 32, (n + 1) * EXPERT), 1_500) for n in (0, 1))  # fmt: skip
    hidden = block.binary("experts_glu", "MUL", gate, up, 2_400, lhs="SILU")
    down = chosen(block, "experts_down", hidden, HIDDEN, 37_800, grid=(8, 4), size=6, **how)
    block.op("experts_sum", "FastReduceNC", (down,), block.tensor([1, 32, 32, HIDDEN]), 2_000, cores=110, fidelity="HiFi4", dim=3)  # fmt: skip
    return block


def tuned(how: dict[str, float], attention_dtype: str, **more: str | float) -> How:
    shared = {"shared_gate": 13.4, "shared_down": 11.1, "experts_up": 50.1, "experts_down": 31.1}
    return How(tuned=True, attention=attention_dtype, cache="BFLOAT8_B", **{**how, **shared, "experts": "BFLOAT4_B", **more})  # fmt: skip


PROBE = "a probe of this op alone, replayed from a trace"
SMALL = "which small ops, as far as the published profile of ops does not name them"
PER_BANK = r"num_workers_per_dram_bank|workers?.{0,20}(per|each).{0,10}bank"
HEAD_CORES = r"max_cores_per_head_batch|cores per head"

GLM = (
    laid(
        "glm-decode-experts", LOG, "decode at 1024 tokens, weights in BFLOAT16, experts in BFLOAT8_B, matmuls left to TTNN: 1034 us of wall time",
        experts(How(tuned=False, **BEFORE, experts_up=118.7, experts_down=72.1)),
        (
            gain("w-uv", "one head a core (5x4), in0_block_w set, BFLOAT8_B, HiFi2", 101.0, "w_uv", rf"{CONFIG}|{CORES}", f"122.1 -> 21.1 us, {PROBE}"),
            gain("w-uk", "one head a core (5x4), in0_block_w set, BFLOAT8_B, HiFi2", 37.6, "w_uk", rf"{CONFIG}|{CORES}", f"54.1 -> 16.5 us, {PROBE}"),
            gain("norms", "both norms of the residual over 16 cores, width-sharded", 54.3, "norm_in norm_feed", rf"{CORES}|{SHARDED}", "33.4 and 33.1 us before, 5.7 and 6.6 after, in the layer"),
            gain("norm-q", "the norm of 768 over 8 cores, width-sharded", 8.3, "norm_q", rf"{CORES}|{SHARDED}", "13.5 -> 5.2 us in the layer, two moves of 1.4 not counted"),
            gain("norm-latent", "the norm of 512 over 8 cores, width-sharded", 4.5, "norm_latent", rf"{CORES}|{SHARDED}", "9.5 -> 5.0 us in the layer, two moves of 1.4 and 0.8 not counted"),
            gain("router", "1D config on two cores with in0_block_w 32", 17.3, "router", rf"{CONFIG}|{BLOCK_W}", f"25.8 -> 8.5 us, {PROBE}"),
            gain("experts-up", "48 cores, in0_block_w 8, subblock 2, still BFLOAT8_B", 43.4, "experts_up", rf"{CONFIG}|{BLOCK_W}|cores|grid|per_core_N", f"125.4 -> 82.0 us, {PROBE}"),
            gain("experts-down", "64 cores, in0_block_w 16, still BFLOAT8_B", 34.2, "experts_down", rf"{CONFIG}|{BLOCK_W}|cores|grid|per_core_N", f"78.8 -> 44.6 us, {PROBE}"),
            gain("wo", "DRAM-sharded in BFLOAT8_B", 65.7, "wo", DRAM_SHARDED, "91.7 -> 26.0 us"),
            gain("wqkv-a", "DRAM-sharded in BFLOAT8_B", 22.3, "wqkv_a", DRAM_SHARDED, "33.1 -> 10.8 us"),
            gain("wq-b", "DRAM-sharded in BFLOAT8_B", 8.6, "wq_b", DRAM_SHARDED, "21.7 -> 13.1 us"),
            gain("shared-down", "DRAM-sharded in BFLOAT8_B", 17.8, "shared_down", DRAM_SHARDED, "28.9 -> 11.1 us"),
            gain("shared-up", "1D config on 24 cores in BFLOAT8_B, SiLU in the gate", 43.9, "shared_gate shared_up shared_silu", unbanked(rf"{INTERLEAVED_1D}|{CONFIG}"), "67.8 + 2.9 us -> 26.75 us for both"),
            gain("gather", "the scores picked by an embedding instead of gather", 18.7, "gather gather_filled", r"embedding|gather", "about 37 us of gather and its padding -> 18.3 us of all ops in its place"),
            dead("narrow-weights", "all weights in BFLOAT8_B, nothing else", "wqkv_a wq_b w_uk w_uv wo shared_*", unbanked(BFP8), "1034.0 -> 1029.7 us of wall time, 0.4 %"),
            dead("narrow-cache", "the cache in BFLOAT8_B", "sdpa", BFP8, f"40.7 -> 40.1 us, {PROBE}"),
            dead("chunks", "k chunks of 256 or more", "sdpa", SDPA_CHUNKS, "refused: circular buffers exceed L1"),
            dead("head-cores", "16 cores for a head group", "sdpa", HEAD_CORES, "slower than 8"),
            dead("fold", "W_UK folded into the queries' projection", "wq_b w_uk", r"fold|absorb|(merge|combine).{0,40}(weights|projection)", "53.4 to 470 us against about 56 us of the split chain"),
            dead("wo-by-heads", "the output projection for each head, then a sum", "w_uv joined wo", r"fast_reduce|per head|each head", "80.8 us against 56"),
        ),
        f"the shapes of tables and caches; {SMALL} (it lost rows: its sum of 787 us is not the step's)",
    ),
    laid(
        "glm-decode-dense", LOG, "decode at 1024 tokens through the dense layer, BFLOAT16, matmuls left to TTNN: 969 us of wall time",
        dense(How(tuned=False, **BEFORE)),
        (
            gain("gate-up", "1D configs on 80 cores in BFLOAT8_B, SiLU in the gate", 81.4, "gate up silu", unbanked(rf"{INTERLEAVED_1D}|{CONFIG}|{BFP8}"), "214.1 + 4.9 -> 137.6 us for both"),
            gain("down", "DRAM-sharded in BFLOAT8_B", 133.9, "down", DRAM_SHARDED, "181.5 -> 47.6 us in the layer"),
        ),
        f"the shapes of tables and caches; {SMALL}",
    ),
    laid(
        "glm-decode-tuned-bfp8", LOG, "decode, tuned, attention and the shared expert in BFLOAT8_B: 513.5 us of wall time",
        experts(tuned(IN_BFP8, "BFLOAT8_B")),
        (
            gain("bfp4-attention", "attention weights in BFLOAT4_B", 13.5, "wqkv_a wq_b w_uk w_uv wo", BFP4, "513.5 -> 500.0 us of wall time"),
            gain("bfp4-shared", "the shared expert in BFLOAT4_B", 8.4, "shared_gate shared_up shared_down", BFP4, "500.0 -> 491.6 us of wall time", README),
            dead("pack-shared", "gate and up of the shared expert as one matmul", "shared_gate shared_up", PACKED, "26.75 -> 26.97 us, splitting included"),
            dead("bank-workers", "two workers a bank", "wo wqkv_a shared_down", PER_BANK, "26.0, 10.8 and 11.1 us -> 38.7, 16.1 and 15.9"),
            dead("wq-b-cores", "the queries' second projection on 4 cores, in0_block_w 6", "wq_b", r"in0_block_w\W{0,4}6\b|\b4 cores", "13.1 -> 14.0 us"),
            dead("banked-heads", "both products of heads DRAM-sharded, padded to 24 heads", "w_uk w_uv", DRAM_SHARDED, "13.1 + 16.1 us -> 13.8 + 16.0 us in LoFi", README),
            dead("chunks", "k chunks of 256 or 512", "sdpa", SDPA_CHUNKS, "refused, or slower", README),
        ),
        f"that all else is as in the published profile of the final step; {SMALL}",
    ),
    laid(
        "glm-decode-tuned-bfp8-experts", LOG, "decode, tuned, attention in BFLOAT4_B, experts in BFLOAT8_B: 539.7 us of wall time",
        experts(tuned(IN_BFP4, "BFLOAT4_B", experts="BFLOAT8_B", experts_up=75.0, experts_down=45.9)),
        (gain("bfp4-experts", "the experts in BFLOAT4_B", 39.7, "experts_up experts_down", BFP4, "539.7 -> 500.0 us of wall time; alone 82.0 and 44.6 us -> 60 and 34.9"),),
        f"how the difference splits over the two; {SMALL}",
    ),
    laid(
        "glm-decode-tuned-bfp4", LOG, "decode, tuned, attention and experts in BFLOAT4_B",
        experts(tuned(IN_BFP4, "BFLOAT4_B")),
        (
            gain("wo-block", "in0_block_w 20 instead of 10", 1.7, "wo", BLOCK_W, f"24.6 -> 22.9 us, {PROBE}"),
            dead("wqkv-cores", "the first projection on 16 cores, in0_block_w 4", "wqkv_a", r"in0_block_w\W{0,4}4\b|16 cores", "10.3 -> 15.1 us"),
            dead("w-uk-blocks", "in0_block_w 2 or 3, wider subblocks", "w_uk", r"in0_block_w\W{0,4}[23]\b|subblock", "11.5 to 12.2 us whichever"),
        ),
        SMALL,
    ),
    laid(
        "glm-decode-dense-tuned", LOG, "decode through the dense layer, tuned: 447 us of wall time",
        dense(tuned(IN_BFP4, "BFLOAT4_B")),
        (
            dead("pack", "gate and up as one matmul", "gate up", PACKED, "137.6 -> 139.1 us, splitting included"),
            dead("banks", "gate and up DRAM-sharded in BFLOAT8_B", "gate up", DRAM_SHARDED, "71.2 -> 87.5 us each; larger blocks refused", README),
            dead("down-block", "in0_block_w 20 instead of 10", "down", BLOCK_W, "47.7 -> 48.8 us"),
        ),
        SMALL,
    ),
    laid(
        "glm-prefill-dense", LOG, "1024 tokens through the dense layer, in0_block_w 1: 7.4 ms",
        prefill,
        (
            gain("wqkv-a", "2D config with in0_block_w 8", 35, "wqkv_a", rf"{BLOCK_W}|{CONFIG}", "82 -> 47 us"),
            gain("wo", "2D config with in0_block_w 8", 101, "wo", rf"{BLOCK_W}|{CONFIG}", "235 -> 134 us"),
            gain("down", "2D config with in0_block_w 8", 205, "down", rf"{BLOCK_W}|{CONFIG}", "452 -> 247 us"),
            dead("heads", "configs of their own for the products of heads", "wq_b_heads w_uk w_uv", rf"{CONFIG}", "refused: their blocks exceed L1", README),
        ),
        "the times of gate and up and of single products of heads (their sums follow); how kinds of small ops split", 7_426,
    ),
    laid(
        "glm-prefill-experts", LOG, "1024 tokens through every expert, in0_block_w 8 and 6 on 32 cores: 99.2 ms for both matmuls",
        routed_prefill,
        (
            gain("up-block", "in0_block_w 32 instead of 8", 24_000, "experts_up", rf"{BLOCK_W}|{CONFIG}", "61.4 -> 37.4 ms"),
            gain("down-block", "in0_block_w 24 on 64 cores instead of 6 on 32", 19_500, "experts_down", rf"{BLOCK_W}|{CONFIG}|cores|grid", "37.8 -> 18.3 ms"),
            dead("lofi", "LoFi for the experts", "experts_up experts_down", LOFI, "no change of speed"),
            dead("subblock", "subblocks of two or three tiles", "experts_up", r"subblock", "wrong results: PCC 0.83 to 0.87"),
        ),
        "the ops between, and their times",
    ),
)  # fmt: skip
