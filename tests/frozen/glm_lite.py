"""GLM-4.7-Flash by `glm4_moe_lite` on 32 chips, a Wormhole and a Blackhole Galaxy: decode of one user behind 128 or 512 tokens.

Hidden 2048, 47 layers, 46 of them with experts; attention over a latent of 512 + 64 with 20 heads; 64 experts of 1536, two on
each chip, four active, and one shared. All other weights stand on every chip.
The ledgers tell times of a step (50.1 ms on Wormhole, 26.3 of it in kernels; 33.2 on Blackhole), most of them as what a step
takes without one change: a 47th here, a 46th for what experts alone have. On Blackhole they tell the matmuls' and a norm's
times, of the matmul over DRAM banks, which is taken for the model's. How else a layer's time is shared is made up.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING

from tests.frozen.build import L1, ROW_MAJOR, Block, banked, chunks, norm_shards, one_d
from tests.frozen.layer import TT_METAL, dead, gain, laid
from tests.frozen.names import BFP4, BFP8, BLOCKS, CONFIG, SHARDED

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.profiles import Tensor

MODEL = "models/experimental/glm4_moe_lite"
REPORT = f"{TT_METAL}/1816b76094a274c9ba671a2a41f88f9f4bc20191/{MODEL}/REPORT.md"
BLAZE = f"{TT_METAL}/01b8b8dd811dbd98a718df357518bc93b128fea3/{MODEL}/BLAZE_EVALUATION.md"
README = f"{TT_METAL}/0280d488b8410aa3d9dba2000df3f7e160c3a0ca/{MODEL}/README.md"
HIDDEN, Q_RANK, LATENT, ROPE, HEADS, WIDE, EXPERT = 2048, 768, 512, 64, 20, 5120, 1536


@dataclass(frozen=True)
class How:
    """A state of the port: `us` of the matmuls, `told` whether their configs are the model's own."""

    arch: str
    grid: tuple[int, int]
    us: dict[str, float]
    dtype: str = "BFLOAT8_B"
    told: bool = True
    norm: float = 0
    links: int = 4
    topology: str = "Ring"
    routed: bool = True
    joined: bool = True
    padded: bool = False
    gap: float = 3

    @property
    def banks(self) -> bool:
        return self.arch == "blackhole"


# Cores of input and output, blocks and columns of a core: over DRAM banks; and cores, blocks and columns of a 1D config.
BANKED = {"qkv_a": (64, 1, 1), "q_b": (80, 1, 2), "out": (80, 2, 1), "gate": (64, 1, 1), "up": (64, 1, 1), "down": (64, 1, 1)}  # fmt: skip
SINGLE = {"qkv_a": (21, 4, 2), "q_b": (64, 4, 3), "out": (32, 4, 2), "gate_up": (64, 4, 2), "down": (32, 4, 2), "router": (2, 4, 1)}  # fmt: skip


def matmul(block: Block, how: How, role: str, x: Tensor, n: int) -> Tensor:
    us = how.us[role]
    if how.banks and role in BANKED:
        cores, blocks, columns = BANKED[role]
        near = block.to_shards(f"{role}_placed", x, block.across(32, x.shape[-1], min(cores, x.shape[-1] // 32)), 2)
        y = block.linear(role, near, n, us, dtype=how.dtype, fidelity="LoFi", config=banked(blocks, columns), cores=cores, place=block.across(32, n, min(80, n // 32)), banks=True)  # fmt: skip
        return block.from_shards(f"{role}_flat", y, 2, L1)
    cores, blocks, columns = SINGLE[role]
    rows = -(-cores // 8)
    config = one_d((8, rows), blocks, (1, columns), subblock=(1, 2 if columns == 2 else 1)) if how.told else None
    return block.linear(role, x, n, us, dtype=how.dtype, fidelity="HiFi2", config=config, cores=cores if how.told else None, place=L1)  # fmt: skip


def normed(block: Block, how: How, role: str, x: Tensor) -> Tensor:
    if how.norm:
        return block.norm(role, x, how.norm, cores=1, place=L1)
    near = block.to_shards(f"{role}_placed", x, block.across(32, HIDDEN, 8), 1.5)
    y = block.norm(role, near, 23.3 if how.banks else 9, cores=8, config=norm_shards((8, 1), 8))
    return block.from_shards(f"{role}_flat", y, 1.5, L1)


def headed(block: Block, how: How, role: str, x: Tensor, n: int) -> Tensor:
    """A product for each head; its weight stands in DRAM."""
    weight = block.tensor([1, HEADS, x.shape[-1], n], how.dtype)
    return block.op(
        role, "Matmul", (x, weight), block.tensor([1, HEADS, 32, n], place=L1), how.us[role], cores=20, fidelity="HiFi2",
        bcast_batch=False, compute_kernel_config=block.kernel("HiFi2"), output_dtype="DataType::BFLOAT16",
        output_mem_config=L1, program_config=None, transpose_a=False, transpose_b=False, untilize_out=False,
        user_core_coord=None, user_fused_activation=None,
    )  # fmt: skip


def turned(block: Block, name: str, x: Tensor) -> Tensor:
    """Rotation of one row: rows are moved into shards, turned and moved back, six ops more than the plain op has."""
    heads = x.shape[1]
    y = block.permute(f"rope_{name}_turn", x, (0, 2, 1, 3), 3)
    y = block.moved(f"rope_{name}_pad", "Pad", y, 2.5, shape=[1, 1, 32, ROPE], cores=8)
    y = block.to_shards(f"rope_{name}_near", y, block.along(32, ROPE, 1), 1.5)
    tables = [block.tensor([1, 1, 32, ROPE], place=block.along(32, ROPE, 1)) for _ in range(2)]
    y = block.op(f"rope_{name}", "RotaryEmbeddingLlama", (y, *tables, block.tensor([1, 1, 32, 32])), block.tensor([1, 1, 32, ROPE], place=block.along(32, ROPE, 1)), 3, cores=1, fidelity="HiFi4", is_decode_mode=True)  # fmt: skip
    y = block.from_shards(f"rope_{name}_far", y, 1.5, L1)
    y = block.slice(f"rope_{name}_cut", y, (0, 0, 0, 0), (1, 1, heads, ROPE), 2.5)
    return block.permute(f"rope_{name}_back", y, (0, 2, 1, 3), 3)


def attention(block: Block, how: How, x: Tensor) -> Tensor:
    y = matmul(block, how, "qkv_a", normed(block, how, "norm_in", x), 1344)
    q = block.slice("cut_q", y, (0, 0, 0, 0), (1, 1, 32, Q_RANK), 2.5)
    kv = block.slice("cut_kv", y, (0, 0, 0, Q_RANK), (1, 1, 32, 1344), 2.5)
    latent = block.slice("cut_latent", kv, (0, 0, 0, 0), (1, 1, 32, LATENT), 2.5)
    rope = block.slice("cut_rope", kv, (0, 0, 0, LATENT), (1, 1, 32, LATENT + ROPE), 2.5)
    latent = block.norm("norm_kv", latent, 9, cores=1)
    made = block.concat("cache_row", (latent, turned(block, "k", rope)), [1, 1, 32, LATENT + ROPE], 3, 3)
    cache = block.tensor([64, 1, 64, LATENT + ROPE])
    block.update_cache(
        "cache", cache, block.to_shards("cache_near", made, block.along(32, LATENT + ROPE, 1), 1.5), 5
    )
    y = matmul(block, how, "q_b", block.norm("norm_q", q, 11, cores=1), WIDE)
    y = block.moved("q_heads", "ReshapeView", y, 7, shape=[1, 32, HEADS, 256], cores=how.grid[0] * how.grid[1])
    y = block.permute("q_turned", y, (0, 2, 1, 3), 6)
    plain = block.slice("q_plain", y, (0, 0, 0, 0), (1, HEADS, 32, 192), 3)
    rope = block.slice("q_rope", y, (0, 0, 0, 192), (1, HEADS, 32, 256), 3)
    parts = headed(block, how, "kv_b1", plain, LATENT), turned(block, "q", rope)
    y = block.permute(
        "q_back", block.concat("q_whole", parts, [1, HEADS, 32, LATENT + ROPE], 3, 4), (0, 2, 1, 3), 5
    )
    where, pages = (block.tensor([1, n], "INT32", layout=ROW_MAJOR) for n in (1, 64))
    y = block.op(
        "mla", "SdpaDecode", (y, cache, where, pages), block.tensor([1, 1, HEADS, LATENT], place=L1), 24,
        cores=how.grid[0] * how.grid[1], fidelity="HiFi4", compute_kernel_config=block.kernel("HiFi4"), is_causal=True,
        k_chunk_size=64, output_mem_config=L1, paged_attention=True, program_config=chunks(0, 64, how.grid), use_mla=True,
        scale="0.0625", share_cache=False, sliding_window_size=None, head_dim_v=LATENT,
    )  # fmt: skip
    y = block.permute("attended_turned", y, (0, 2, 1, 3), 4)
    y = headed(block, how, "kv_b2", y, 256)
    y = block.permute("values_turned", y, (0, 2, 1, 3), 4)
    y = block.moved("values_flat", "ReshapeView", y, 6, shape=[1, 1, 32, WIDE], cores=how.grid[0] * how.grid[1])
    return block.binary("sum_attention", "ADD", x, matmul(block, how, "out", y, HIDDEN), 2.5, cores=64)


def router(block: Block, how: How, x: Tensor) -> Tensor:
    logits = block.linear("router", x, 64, how.us["router"], fidelity="HiFi4", config=one_d((2, 1), 4, (1, 1)) if how.told else None, cores=2 if how.told else None, place=L1)  # fmt: skip
    if how.routed:
        made = block.tensor([1, 1, 32, 64], place=L1, layout=ROW_MAJOR)
        return block.op(
            "pick", "TopkRouterGpt", (logits,), made, 10, cores=12, fidelity="HiFi4", k=4, num_experts=64
        )
    scores = block.unary("pick_sigmoid", "SIGMOID", logits, 2, cores=2)
    biased = block.binary("pick_bias", "ADD", scores, block.tensor([1, 1, 32, 64]), 2, cores=2)
    made = block.tensor([1, 1, 32, 32], place=L1), block.tensor([1, 1, 32, 32], "UINT16", L1)
    block.op(
        "pick_topk", "TopK", (biased,), made, 9, cores=1, fidelity="HiFi4", dim=3, k=4, largest=True, sorted=True
    )
    best = block.op("pick_gather", "Gather", (scores, made[1]), block.tensor([1, 1, 32, 32], place=L1), 5, cores=1)
    total = block.op("pick_total", "Reduce", (best,), block.tensor([1, 1, 32, 32], place=L1), 3, cores=1, fidelity="HiFi4", dim="ReduceOpDim::W")  # fmt: skip
    return block.binary("pick_share", "DIV", best, total, 2, cores=1)


def several(block: Block, how: How, role: str, x: Tensor, n: int) -> Tensor:
    """A chip's two experts, as far as a token chose them."""
    weight, grid = block.tensor([1, 2, x.shape[-1], n], "BFLOAT8_B"), (8, 6)
    return block.op(
        role, "SparseMatmul", (x, weight, block.tensor([1, 1, 1, 2], layout=ROW_MAJOR)), block.tensor([1, 2, 32, n], place=L1),
        how.us[role], cores=48 if n == EXPERT else 64, fidelity="HiFi2", compute_kernel_config=block.kernel("HiFi2"),
        is_input_a_sparse=n == HIDDEN, is_input_b_sparse=True, nnz="std::nullopt", output_dtype="DataType::BFLOAT16",
        output_mem_config=L1, program_config=one_d(grid if n == EXPERT else (8, 8), 4, (1, 1)), user_core_coord=None,
    )  # fmt: skip


def reduced(block: Block, how: How, x: Tensor) -> Tensor:
    """A sum over both axes of the chips."""
    moved = partial(block.collective, links=how.links, topology=how.topology, place=L1)
    us = 16 if how.links > 1 else 27
    if how.joined:
        for axis, ring in (("rows", 8), ("columns", 4)):
            x = block.op(f"reduce_{axis}", "AllReduceAsync", (x, block.tensor([1, 1, 32, ring * HIDDEN], place=L1)), block.tensor([1, 1, 32, HIDDEN], place=L1), us * 1.5, cores=16, num_links=how.links, ring_size=ring, topology=f"Topology::{how.topology}", output_mem_config=L1)  # fmt: skip
        return x
    for axis, ring in (("rows", 8), ("columns", 4)):
        part = moved(f"scatter_{axis}", "ReduceScatterMinimalAsync", x, HIDDEN // ring, us, ring=ring)
        x = moved(f"gather_{axis}", "AllGatherAsync", part, HIDDEN, us, ring=ring)
    return x


def experts(block: Block, how: How, x: Tensor) -> None:
    y = normed(block, how, "norm_feed", x)
    weights = router(block, how, y)
    given = y
    if how.padded:
        given = block.moved("rows_padded", "Pad", given, 9, shape=[1, 1, 64, HIDDEN], cores=32)
        given = block.moved("rows_flat", "UntilizeWithUnpadding", given, 9, layout=ROW_MAJOR, cores=32)
        given = block.moved("rows_shaped", "ReshapeView", given, 8, shape=[1, 1, 32, HIDDEN], cores=32)
        given = block.moved("rows_tiled", "TilizeWithValPadding", given, 9, layout="TILE", cores=32)
    gate, up = (several(block, how, f"expert_{name}", given, EXPERT) for name in ("gate", "up"))
    y_routed = several(block, how, "expert_down", block.binary("expert_gated", "MUL", gate, up, 5, cores=96 if how.banks else 64, lhs="SILU"), HIDDEN)  # fmt: skip
    if not how.joined:
        y_routed = block.binary("scaled", "MUL", y_routed, weights, 6, cores=64)
    if how.banks:
        gate, up = (matmul(block, how, name, y, EXPERT) for name in ("gate", "up"))
    else:
        both = matmul(block, how, "gate_up", y, 2 * EXPERT)
        gate, up = (block.slice(f"cut_{name}", both, (0, 0, 0, at), (1, 1, 32, at + EXPERT), 2.5) for name, at in (("gate", 0), ("up", EXPERT)))  # fmt: skip
    shared = matmul(block, how, "down", block.binary("gated", "MUL", gate, up, 3, cores=48, lhs="SILU"), HIDDEN)
    made = block.tensor([1, 1, 32, HIDDEN], place=L1)
    if how.joined:
        y = block.op("sum_experts", "FastReduceNC", (reduced(block, how, y_routed), shared, x), made, 7, cores=64, fidelity="HiFi4", dim=1)  # fmt: skip
    else:
        y = block.op("sum_experts", "FastReduceNC", (y_routed,), made, 7, cores=64, fidelity="HiFi4", dim=1)
        y = block.binary("sum_shared", "ADD", reduced(block, how, y), shared, 3, cores=64)
        y = block.binary("sum_feed", "ADD", x, y, 3, cores=64)
    if how.padded:
        y = block.moved("rows_back", "UntilizeWithUnpadding", y, 9, layout=ROW_MAJOR, cores=32)
        y = block.moved("rows_whole", "ReshapeView", y, 8, shape=[1, 1, 64, HIDDEN], cores=32)
        y = block.slice("rows_cut", y, (0, 0, 0, 0), (1, 1, 32, HIDDEN), 8)
        block.moved("rows_tiles", "Tilize", y, 9, layout="TILE", cores=32)


def layer(how: How) -> Callable[[], Block]:
    def build() -> Block:
        block = Block(how.arch, devices=32, grid=how.grid, gap_us=how.gap)
        experts(block, how, attention(block, how, block.tensor([1, 1, 32, HIDDEN], place=L1)))
        return block

    return build


EXPERTS = {"expert_gate": 30.0, "expert_up": 30.0, "expert_down": 30.0}
BF16 = {"qkv_a": 58.0, "q_b": 70.0, "kv_b1": 40.0, "kv_b2": 48.0, "out": 138.0, "gate_up": 90.0, "down": 52.0, "router": 12.0} | EXPERTS  # fmt: skip
BF8 = {"qkv_a": 45.0, "q_b": 42.0, "kv_b1": 25.0, "kv_b2": 29.0, "out": 85.0, "gate_up": 56.0, "down": 34.0, "router": 26.0} | EXPERTS  # fmt: skip
FAST = {"qkv_a": 47.0, "q_b": 20.3, "kv_b1": 20.0, "kv_b2": 22.0, "out": 58.4, "gate": 45.0, "up": 45.0, "down": 34.4, "router": 12.0} | dict.fromkeys(EXPERTS, 22.0)  # fmt: skip
FAST16 = FAST | {"qkv_a": 57.0, "q_b": 31.0, "kv_b1": 25.0, "kv_b2": 27.0, "out": 85.0, "gate": 54.0, "up": 54.0, "down": 42.5}  # fmt: skip
DENSE = "qkv_a q_b kv_b1 kv_b2 out gate_up down"
DENSE_FAST = "qkv_a q_b kv_b1 kv_b2 out gate up down"
ROTATION = "rope_k_* rope_q_*"
OWN = r"one (own |custom |fused )?(kernel|op|program)|single (op|kernel|program)|generic_op|custom kernel|own kernel|stream"
TOPOLOGY = r"Topology|\bring\b|\blinear\b"
LINKS = r"num_links|links"
TURN = r"rotary|rope|fewer ops|decode.mode"
MADE_UP = "all times of single ops but those told; small ops around rotation and the padding; core counts; gaps"
GLM_LITE = (
    laid(
        "glm-lite-early", README, "Wormhole Galaxy, dense weights in BFLOAT8_B: 68.9 ms a step behind 512 tokens",
        layer(How("wormhole_b0", (8, 8), BF8, told=False, norm=41, links=4, routed=False, joined=False, padded=True)),
        (
            gain("layouts", "relayouts around the experts dropped", 66, "rows_*", r"pad|tilize|untilize|layout|reshape|slice|round.trip", "68.9 -> 65.8 ms a step, behind 512 tokens; a 47th"),
            gain("norms", "two norms width-sharded over eight cores", 57.4, "norm_in norm_feed", rf"{SHARDED}|cores", "65.8 -> 63.1 ms a step, behind 512 tokens; a 47th"),
            gain("joined", "buffered reductions, the sum of experts, shared expert and residual in one op, weights within down", 57.4, "scatter_* gather_* scaled sum_experts sum_shared sum_feed", r"all_reduce|fus|epilogue|one op|post_scale|reduce_scatter", "63.1 -> 60.4 ms a step, behind 512 tokens; a 47th"),
            gain("configs", "1D configs for matmuls of one row of tiles", 83, "qkv_a q_b out gate_up down router", rf"{CONFIG}|\b1D\b|{BLOCKS}", "58.1 -> 54.2 ms a step, a 47th"),
        ),
        f"{MADE_UP}; that these four changes did not depend on another",
    ),
    laid(
        "glm-lite-wormhole", REPORT, "Wormhole Galaxy: 50.1 ms a step, were not its dense weights in BFLOAT16, its norms on one core, one link used",
        layer(How("wormhole_b0", (8, 8), BF16, norm=41, links=1)),
        (
            gain("bf8", "dense weights in BFLOAT8_B", 208.5, DENSE, BFP8, "9.8 ms a step if undone; 71.8 -> 66.8 ms at first"),
            gain("norms", "two norms width-sharded over eight cores", 59.6, "norm_in norm_feed", rf"{SHARDED}|cores", "2.8 ms a step if undone"),
            gain("links", "four links for the collectives", 34, "reduce_rows reduce_columns", LINKS, "1.6 ms a step if undone"),
            dead("linear", "linear topology for ring", "reduce_rows reduce_columns", TOPOLOGY, "0.0 ms a step"),
            dead("rope", "the plain rotation, with 564 ops a step less, 23 % of all", ROTATION, TURN, "0.0 ms a step"),
            dead("heads", "the op that joins heads for a permute and a reshape", "values_turned values_flat", r"concatenate_heads|concat.?heads|NLPConcatHeads", "neutral in a traced step", README),
            dead("bf4", "experts' weights in BFLOAT4_B", "expert_gate expert_up expert_down", BFP4, "refused: accuracy", README),
            dead("cache", "the cache in BFLOAT8_B", "cache mla", BFP8, "refused: accuracy", README),
            dead("branch", "latent's matmul, norm and rotation in one own op", f"qkv_a norm_kv {ROTATION} cache_row", OWN, "wrong values", README),
        ),
        f"{MADE_UP}; each change was undone alone, from the step with all of them",
    ),
    laid(
        "glm-lite-blackhole-bf16", BLAZE, "Blackhole Galaxy, dense weights in BFLOAT16: 37.1 ms a step",
        layer(How("blackhole", (12, 10), FAST16, dtype="BFLOAT16", gap=2)),
        (gain("bf8", "dense weights in BFLOAT8_B", 83, DENSE_FAST, BFP8, "37.1 -> 33.2 ms a step"),),
        f"{MADE_UP}; the matmuls' times in BFLOAT16",
    ),
    laid(
        "glm-lite-blackhole-open", BLAZE, "Blackhole Galaxy, router, weights and sums in ops of their own: 34.1 ms a step",
        layer(How("blackhole", (12, 10), FAST, routed=False, joined=False, gap=2)),
        (gain("joined", "one op for the router, weights within down, one op for the last sums", 19.6, "pick_* scaled sum_experts sum_shared sum_feed", r"fus|one op|epilogue|post_scale|topk_router", "34.1 -> 33.2 ms a step, a 46th"),),
        MADE_UP,
    ),
    laid(
        "glm-lite-blackhole", REPORT, "Blackhole Galaxy: 33.2 ms a step", layer(How("blackhole", (12, 10), FAST, gap=2)),
        (
            dead("own-qkv", "one own op that streams the first matmul's weight", "qkv_a", OWN, "47.0 -> 33.7 us alone, 34.6 -> 36.8 ms a step"),
            dead("own-out", "the last matmul of attention and the residual in one own op", "out sum_attention", rf"{OWN}|fus.{{0,60}}(residual|add)|residual.{{0,60}}(matmul|linear)", "0.37 of the speed"),
            dead("own-norm", "an own op for the norm", "norm_in norm_feed", OWN, "23.3 -> 25.2 us; 22.4 with sums in BFLOAT16, refused at a PCC of 0.9865", BLAZE),
            dead("eight", "inputs in shards on eight cores, as many as banks, for up to 80", DENSE_FAST, r"fewer cores|\b(8|eight) cores|as many (cores )?as (there are )?banks|one core (for|per) (each )?bank", "33.2 -> 33.4 ms a step", BLAZE),
        ),
        MADE_UP,
    ),
)  # fmt: skip
