"""GLM 4.7 (358B) on 32 Wormhole chips (a Galaxy, 4 x 8): its attention, its dense and its mixed feed-forward, decode.

Hidden 5120; eight chips of a row share 96 heads of 128 (of whose numbers half are turned by position) with eight of
keys and values, a dense feed-forward of 12288, and a shared expert of 1536; 160 experts of 1536, eight of them active,
lie on all 32 chips. 64 users, 16 on each row of chips. The code came out of a compiler (tt-xla) and was tuned by hand.
The ledger tells device times of each part by kinds of ops and the time of a part after each change. Two branches of
it: one tuned attention, one began anew with a fused op for the experts. Four figures were read in versions of it whose
commits are not known here; their notes say so.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from tests.frozen.build import DRAM, L1, ROW_MAJOR, Block, banked
from tests.frozen.layer import dead, gain, laid
from tests.frozen.names import CORES, DRAM_SHARDED, HIFI2, LOFI, SHARDED

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.profiles import Tensor

HOME = "https://github.com/svuckovicTT/ttnn-models/blob"
FOLDER = "zai-org/GLM-4.7/model/graph_0"
LOG = f"{HOME}/11d1404b27549cf9e440aca919cc88923d84b5e1/{FOLDER}/TUNING_LOG.md"
ATTENTION_LOG = f"{HOME}/b29734d894233f0d0a36cb8bf03787fbbb8afb62/{FOLDER}/TUNING_LOG.md"
BLOCKERS = f"{HOME}/3de1f81cf48cd38fae32ec627db47a4503bb57f7/{FOLDER}/METAL_BLOCKERS.md"
REFUSED = f"{HOME}/215a0645fa181285a1ca8c50f89f2f12a99a944d/{FOLDER}/METAL_BLOCKERS.md"
ADVICE = f"{HOME}/8d1b51b5e64442796dd1bd9bd340b886e2110535/{FOLDER}/TT_MLIR_RECOMMENDATIONS.md"
GRID, CHIPS, USERS = (8, 8), 32, 16
HIDDEN, HEADS, KV, SIZE, QKV, ATTENDED, WIDE, EXPERT, EXPERTS = 5120, 12, 1, 128, 1792, 1536, 1536, 192, 160


def summed(block: Block, name: str, x: Tensor, us: tuple[float, float], links: tuple[int, int] = (1, 1)) -> Tensor:
    """A reduce-scatter over the eight chips of a row and an all-gather; names of roles begin with `name`."""
    part = block.collective(f"{name}scatter", "ReduceScatter", x, HIDDEN // 8, us[0], ring=8, links=links[0], cores=5 * links[0], topology="Linear", place=DRAM)  # fmt: skip
    return block.collective(f"{name}gather", "AllGather", part, HIDDEN, us[1], ring=8, links=links[1], cores=5 * links[1], topology="Linear", place=DRAM)  # fmt: skip


@dataclass(frozen=True)
class How:
    """Attention at a step of its tuning; times in us."""

    banks: bool = True  # over the DRAM banks
    norm: float = 0  # of the norm before it, if that counts
    links: int = 1  # of the gather
    gather: float = 80
    scatter: float = 78
    heads: tuple[float, float] = (39, 36)  # their split, the norm of queries
    rotary: float = 58
    moves: float = 1.0  # times of slices, concats and reshapes, against those told


def attention(how: How) -> Callable[[], Block]:
    def build() -> Block:
        block = Block("wormhole_b0", devices=CHIPS, grid=GRID, gap_us=1)

        def linear(role: str, x: Tensor, n: int, us: float, plain: float) -> Tensor:
            if not how.banks:
                return block.linear(role, x, n, plain, dtype="BFLOAT8_B", fidelity="HiFi2", packer=False)
            k = x.shape[-1]
            placed = block.to_shards(f"{role}_placed", x, block.across(32, k, 8), 2)
            made = block.linear(role, placed, n, us, dtype="BFLOAT8_B", fidelity="LoFi", config=banked(k // 256, n // 256), cores=12, place=block.across(32, n, 8), banks=True)  # fmt: skip
            return block.from_shards(f"{role}_back", made, 2)

        x = block.tensor([USERS, HIDDEN])
        if how.norm:
            x = block.norm("norm_in", x, how.norm, cores=1)
        qkv = linear("qkv", x, QKV, 47, 107)
        if how.banks:
            qkv = block.binary("qkv_bias", "ADD", qkv, block.tensor([1, QKV]), 4, cores=56)
        qkv = block.moved("qkv_shaped", "ReshapeView", qkv, 20.5 * how.moves, shape=[USERS, 1, QKV], cores=56)
        q, k, v = block.split_heads("heads", qkv, how.heads[0], heads=HEADS, kv=KV, size=SIZE, rows=1, batch=USERS, cores=16)  # fmt: skip
        q = turned(block, how, "q", block.norm("norm_q", q, how.heads[1], cores=64))
        k = turned(block, how, "k", block.norm("norm_k", k, 9, cores=16))
        q, k = (block.moved(f"{name}_shaped", "ReshapeView", one, 20.5 * how.moves, shape=[1, USERS, heads, SIZE], cores=16) for name, one, heads in (("q", q, HEADS), ("k", k, KV)))  # fmt: skip
        cache = block.tensor([USERS, KV, 128, SIZE])
        block.update_cache("cache_k", cache, k, 5)
        block.update_cache("cache_v", cache, block.view(v, [1, USERS, KV, SIZE]), 5)
        out = block.attend_decode("attend", q, cache, 23, config=None, cores=64)
        out = linear("out", block.view(out, [USERS, ATTENDED]), HIDDEN, 40, 47)
        summed(block, "", out, (how.scatter, how.gather), (1, how.links))
        return block

    return build


def turned(block: Block, how: How, name: str, x: Tensor) -> Tensor:
    """The first half of each head turned by its position."""
    batch, heads, rows, size = x.shape
    half, end, moves = size // 2, (batch, heads, rows, size), how.moves
    first = block.slice(f"turn_{name}_first", x, (0, 0, 0, 0), (batch, heads, rows, half), 7 * moves)
    rest = block.slice(f"turn_{name}_rest", x, (0, 0, 0, half), end, 7 * moves)
    tables = [block.tensor([1, 1, 32, half]) for _ in range(2)]
    first = block.op(f"turn_{name}", "RotaryEmbedding", (first, *tables), block.tensor(first.shape), how.rotary if name == "q" else 9, cores=64, fidelity="HiFi4", output_mem_config=DRAM, token_idx=0)  # fmt: skip
    first = block.slice(f"turn_{name}_cut", first, (0, 0, 0, 0), (batch, heads, rows, half), 6.5 * moves)
    return block.concat(f"turn_{name}_joined", (first, rest), x.shape, 3, 10 * moves)


def dense() -> Block:
    """The norm and the feed-forward of the first three layers."""
    block = Block("wormhole_b0", devices=CHIPS, grid=GRID, gap_us=1)
    normed = block.norm("norm", block.tensor([USERS, HIDDEN]), 191, cores=1)
    gate, up = (block.linear(role, normed, WIDE, 92, dtype="BFLOAT8_B", packer=False) for role in ("gate", "up"))
    hidden = block.binary("gated", "MUL", gate, up, 5, cores=48, lhs="SILU")
    down = block.linear("down", hidden, HIDDEN, 60, dtype="BFLOAT8_B", packer=False)
    block.binary("added", "ADD", block.tensor([USERS, HIDDEN]), summed(block, "", down, (85, 70)), 5, cores=64)
    return block


@dataclass(frozen=True)
class Mixed:
    """The mixed feed-forward at a step of its tuning."""

    dead_chain: bool = False  # the experts' places by an embedding that nobody reads
    groups: bool = False  # the mask of groups of experts, of which there is one
    links: int = 3  # of the collectives after the experts
    doubled: bool = False  # reshapes that keep the shape, and two in a row


def mixed(how: Mixed) -> Callable[[], Block]:
    def build() -> Block:
        block = Block("wormhole_b0", devices=CHIPS, grid=GRID, gap_us=1)
        x = block.moved("entry_shaped", "ReshapeView", block.tensor([USERS, HIDDEN]), 48, shape=[USERS, 1, HIDDEN], cores=64)  # fmt: skip
        normed = block.norm("norm", x, 193, cores=1)
        flat = block.moved("norm_shaped", "ReshapeView", normed, 48, shape=[USERS, HIDDEN], cores=64)
        logits = block.linear("router", flat, EXPERTS, 62, fidelity="HiFi4", fp32=True, packer=False, out="FLOAT32")
        scores = block.unary("scores", "SIGMOID", logits, 3, cores=5)
        biased = block.binary("biased", "ADD", scores, block.tensor([1, EXPERTS], "FLOAT32"), 4, cores=5)
        if how.groups:
            biased = grouped(block, biased)
        best = (block.tensor([USERS, 8], "FLOAT32"), block.tensor([USERS, 8], "UINT16"))
        block.op(
            "topk", "TopK", (biased,), best, 99, cores=1, fidelity="HiFi4", dim=1, k=8, largest=True, sorted=True
        )
        if how.dead_chain:
            index = block.collective(
                "index_gather", "AllGather", best[1], 8 * 4, 90, links=1, cores=5, topology="Linear", place=DRAM
            )
            index = block.binary("index_added", "ADD", index, block.tensor(index.shape, "UINT16"), 6, cores=1)
            index = block.linear("index_matmul", block.typecast("index_cast", index, "FLOAT32", 6, cores=1), 32, 60, fidelity="HiFi4", fp32=True)  # fmt: skip
            table = block.tensor([10_240, 32], layout=ROW_MAJOR)
            rows = block.moved("index_rows", "Untilize", index, 18, layout=ROW_MAJOR, cores=1, fidelity="HiFi4")
            block.op("index_embedding", "Embeddings", (rows, table), block.tensor([USERS, 8, 32]), 170, cores=8)
        chosen = block.op("chosen", "Gather", (scores, best[1]), block.tensor([USERS, 8], "FLOAT32"), 40, cores=1, dim=1)  # fmt: skip
        total = block.op("total", "Reduce", (chosen,), block.tensor([USERS, 1], "FLOAT32"), 12, cores=1, fidelity="HiFi4", dim="ReduceOpDim::W", math_op="ReduceOpMath::SUM")  # fmt: skip
        chosen = block.binary("divided", "DIV", chosen, total, 6, cores=1)
        if how.doubled:
            chosen = block.moved("same_shape", "ReshapeView", chosen, 1.3, shape=[USERS, 8], cores=1)
            chosen = block.moved("again_shaped", "ReshapeView", chosen, 1.4, shape=[USERS, 1, 8], cores=1)
        chosen = block.moved("chosen_shaped", "ReshapeView", chosen, 14, shape=[USERS, 1, 1, 8], cores=16)
        rows = block.moved("dispatch_filled", "FillPad", flat, 47, cores=64)
        rows = block.moved("dispatch_rows", "Untilize", rows, 38, layout=ROW_MAJOR, cores=64, fidelity="HiFi4")
        sent = block.op("dispatch", "AllToAllDispatchMetadata", (rows,), block.tensor([1, 64, HIDDEN], place=L1, layout=ROW_MAJOR), 82, cores=8, axis=0, num_links=4, topology="Topology::Ring")  # fmt: skip
        weights = (block.tensor([5, HIDDEN, 2 * 1536], "BFLOAT4_B"), block.tensor([5, 1536, HIDDEN], "BFLOAT4_B"))
        made = block.op("experts", "MoECompute", (sent, *weights), block.tensor([8, USERS, HIDDEN], layout=ROW_MAJOR), 415, cores=72, fidelity="LoFi", num_links=4, topology="Topology::Ring")  # fmt: skip
        tiles = block.moved("combined_tiles", "TilizeWithValPadding", made, 89, layout="TILE", cores=64, fidelity="HiFi4")  # fmt: skip
        tiles = block.moved("combined_filled", "FillPad", tiles, 47, cores=64)
        scored = block.binary("scored", "MUL", tiles, chosen, 45, cores=64)
        added_up = block.op("experts_sum", "Reduce", (scored,), block.tensor([1, 1, USERS, HIDDEN]), 58, cores=64, fidelity="HiFi4", dim="ReduceOpDim::H", math_op="ReduceOpMath::SUM")  # fmt: skip
        slow = 1.2 if how.links == 1 else 1
        out = summed(block, "experts_", added_up, (110 * slow, 52 * slow), (how.links, how.links))
        gate, up = (block.linear(f"shared_{role}", flat, EXPERT, 47, dtype="BFLOAT8_B", packer=False) for role in ("gate", "up"))  # fmt: skip
        wide = block.binary("shared_gated", "MUL", gate, up, 4, cores=6, lhs="SILU")
        shared = block.linear("shared_down", wide, HIDDEN, 38, dtype="BFLOAT8_B", packer=False)
        shared = summed(block, "shared_", shared, (110, 72))
        shared = block.moved("shared_shaped", "ReshapeView", shared, 20, shape=[1, 1, USERS, HIDDEN], cores=64)
        out = block.binary("both", "ADD", out, shared, 6, cores=64)
        out = block.moved("exit_shaped", "ReshapeView", out, 20, shape=[USERS, HIDDEN], cores=64)
        block.binary("added", "ADD", block.tensor([USERS, HIDDEN]), out, 6, cores=64)
        return block

    return build


def grouped(block: Block, x: Tensor) -> Tensor:
    """Scores among the chosen groups, of which there is one."""
    best = [block.tensor([USERS, n], "FLOAT32") for n in (2, 1)]
    block.op("group_best", "TopK", (x,), (best[0], block.tensor([USERS, 2], "UINT16")), 102, cores=1, fidelity="HiFi4", dim=1, k=2, largest=True, sorted=True)  # fmt: skip
    block.op("group_chosen", "TopK", (best[0],), (best[1], block.tensor([USERS, 1], "UINT16")), 80, cores=1, fidelity="HiFi4", dim=1, k=1, largest=True, sorted=True)  # fmt: skip
    all_groups = block.collective("group_gather", "AllGather", best[1], 32, 100, links=1, cores=5, ring=4, topology="Linear")  # fmt: skip
    rows = block.moved("group_rows", "Untilize", all_groups, 12, layout=ROW_MAJOR, cores=1, fidelity="HiFi4")
    mask = block.op("group_scatter", "Scatter", (rows,), block.tensor(rows.shape, "FLOAT32", layout=ROW_MAJOR), 62, cores=1, dim=1)  # fmt: skip
    mask = block.moved("group_tiles", "TilizeWithValPadding", mask, 14, layout="TILE", cores=1, fidelity="HiFi4")
    mask = block.moved("group_part", "MeshPartition", mask, 30, shape=[USERS, 1], cores=1)
    wide = block.moved("group_repeated", "Repeat", mask, 120, shape=[USERS, EXPERTS], cores=5, repetition_vector="Shape([1, 160])")  # fmt: skip
    wide = block.unary("group_mask", "NEZ", wide, 20, cores=5)
    return block.op("group_where", "Ternary", (wide, x, x), block.tensor(x.shape, "FLOAT32"), 20, cores=5, fidelity="HiFi4", ternary_op_type="TernaryOpType::WHERE", memory_config=DRAM, output_dtype="DataType::FLOAT32")  # fmt: skip


LINKS = r"num_links"
ALL_REDUCE = r"all_reduce"
FLAT_HEADS = r"heads.{0,60}(row|dim|axis|tile)|decode.{0,20}layout|is_decode|rotary_embedding_(hf|llama)|pad.{0,40}(row|tile|token)"
NO_SLICE = r"slice|re-?slice"
NO_RESHAPE = r"reshape|view"
UNREAD = r"dead|unused|nobody|never read|not (used|read)|drop|remove"
NO_GROUPS = r"group|drop|remove|no-op|needless|always"
NORM_SHARDS = rf"{SHARDED}|{CORES}|LayerNormSharded"
ONE_REDUCE = r"(add|sum).{0,60}(before|first|ahead).{0,60}(reduce|collective|gather)|(one|single|same|merge).{0,60}(reduce.scatter|all.?reduce|collective)|linear"  # fmt: skip
IN_ROWS = r"row.?major|tilize|ROW_MAJOR"
LATER = "as a later version of this log says, whose commit is not known here"
ATTENTION_MADE_UP = "how slices, concats, reshapes and cache updates share their sums; formats; workers; gaps"
MIXED_MADE_UP = "how kinds of ops share their sums; times of elementwise ops; formats; workers; gaps"
PART = "of attention"

GLM_47 = (
    laid(
        "glm47-attention-first", ATTENTION_LOG, "attention of a layer as the compiler wrote it: 25 ops, 621 us",
        attention(How(banks=False)),
        (
            gain("qkv", "a DRAM-sharded QKV matmul", 53, "qkv", DRAM_SHARDED, f"107 -> 47 us, with the moves and its bias 613 -> 560 us {PART}"),
            gain("out", "a DRAM-sharded output projection", 8, "out", DRAM_SHARDED, f"47 -> 40 us; 621 -> 613 us {PART}"),
            dead("all-reduce", "all_reduce instead of reduce-scatter and all-gather", "scatter gather", ALL_REDUCE, f"621 -> 645 us {PART}"),
            dead("cut", "no slice after the turning", "turn_*_cut", NO_SLICE, "refused: it strips the padding of the rotary op"),
            dead("shaped", "no reshape before the split of the heads", "qkv_shaped", NO_RESHAPE, "refused: the op asks for three dimensions"),
        ),
        ATTENTION_MADE_UP, 621,
    ),
    laid(
        "glm47-attention-banks", BLOCKERS, "attention of a layer, its matmuls over the banks: 560 us",
        attention(How()),
        (
            gain("links", "three links for the all-gather", 22, "gather", LINKS, f"80 -> about 55 us; 560 -> 538 us {PART}, {LATER}"),
            dead("scatter-links", "three links for the reduce-scatter", "scatter", LINKS, "78 -> 78 to 99 us"),
            dead("scatter-lofi", "LoFi for the reduce-scatter's sums", "scatter", LOFI, f"78 -> 78 to 100 us, {LATER}", ATTENTION_LOG),
        ),
        ATTENTION_MADE_UP, 560,
    ),
    laid(
        "glm47-attention-links", ATTENTION_LOG, "attention of a layer, the gather over three links: 538 us",
        attention(How(links=3, gather=55)),
        (gain("heads", "rotary embedding with the heads in the rows of a tile, not one token", 91, "turn_* q_shaped k_shaped", FLAT_HEADS, f"58 -> 9 us for the queries and two reshapes gone; 538 -> 447 us {PART}, {LATER}"),),
        ATTENTION_MADE_UP, 538,
    ),
    laid(
        "glm47-attention-norm", LOG, "attention of a layer and the norm before it, in the branch with fused experts: 799 us",
        attention(How(banks=False, norm=191, gather=49, scatter=85, heads=(39, 38), rotary=54)),
        (
            gain("norm", "the norm in shards of eight cores", 170, "norm_in", NORM_SHARDS, "799 -> 629 us; 191 -> about 20 us for the norm itself"),
            dead("norm-hifi2", "HiFi2 for the norms", "norm_in norm_q norm_k", HIFI2, "192 -> 192 us: it waits for one core"),
            dead("links", "three links for the collectives", "scatter gather", LINKS, "within the noise, and 0.247 -> 0.251 s of a token where all such collectives had it"),
            dead("all-reduce", "all_reduce_async instead of reduce-scatter and all-gather", "scatter gather", ALL_REDUCE, "refused: it asks for semaphores that nobody could supply", REFUSED),
        ),
        f"that its matmuls are as the compiler wrote them: so say their 158 us, a remark calls them DRAM-sharded; {ATTENTION_MADE_UP}", 799,
    ),
    laid(
        "glm47-dense", LOG, "a dense feed-forward and its norm: 602 us",
        dense,
        (
            gain("norm", "the norm in shards of eight cores", 173, "norm", NORM_SHARDS, "602 -> 429 us"),
            dead("norm-hifi2", "HiFi2 for the norm", "norm", HIFI2, "192 -> 192 us: it waits for one core"),
            dead("links", "three links for the collectives", "scatter gather", LINKS, "within the noise, and 0.247 -> 0.251 s of a token where all such collectives had it"),
        ),
        "times of all ops but the norm; their formats; gaps", 602,
    ),
    laid(
        "glm47-mixed-first", LOG, "a mixed feed-forward and its norm, the experts fused: 2,810 us",
        mixed(Mixed(dead_chain=True, groups=True, links=1, doubled=True)),
        (gain("unread", "no places of the experts that nobody reads", 350, "index_*", UNREAD, "2,810 -> 2,460 us: a gather, a matmul and an embedding gone"),),
        MIXED_MADE_UP, 2810,
    ),
    laid(
        "glm47-mixed-groups", LOG, "a mixed feed-forward and its norm, with its mask of groups: 2,460 us",
        mixed(Mixed(groups=True, links=1, doubled=True)),
        (gain("groups", "no mask of groups, as there is one", 560, "group_*", NO_GROUPS, "2,460 -> 1,900 us: two choices, a gather, a scatter and a repeat gone"),),
        MIXED_MADE_UP, 2460,
    ),
    laid(
        "glm47-mixed-link", LOG, "a mixed feed-forward and its norm, one link: 1,900 us",
        mixed(Mixed(links=1, doubled=True)),
        (
            gain("links", "three links for the collectives after the experts", 31, "experts_scatter experts_gather", LINKS, "1,900 -> 1,869 us"),
            dead("norm-hifi2", "HiFi2 for the norm", "norm", HIFI2, "192 -> 192 us: it waits for one core"),
        ),
        MIXED_MADE_UP, 1900,
    ),
    laid(
        "glm47-mixed-links", LOG, "a mixed feed-forward and its norm, three links after the experts: 1,869 us, 1,901 in a later profile",
        mixed(Mixed(doubled=True)),
        (
            gain("norm", "the norm in shards of eight cores", 34, "norm", NORM_SHARDS, "1,901 -> 1,867 us; more reshapes eat most of it"),
            gain("one-reduce", "the shared expert added before one reduction instead of two", None, "experts_scatter experts_gather shared_scatter shared_gather both", ONE_REDUCE, "a reduce-scatter and a gather gone, no time told", ADVICE),
            dead("shared-links", "three links for the shared expert's collectives too", "shared_scatter shared_gather", LINKS, "1,869 -> 1,906 us"),
            dead("reshapes", "no reshape that keeps its shape, one instead of two in a row", "same_shape again_shaped chosen_shaped", NO_RESHAPE, "1,869 -> 1,866 us: within the noise"),
            dead("rows", "scores and sum over rows that are not tiled", "combined_tiles combined_filled scored experts_sum", IN_ROWS, f"a tie: the ops make tiles themselves, {LATER}", ADVICE),
            dead("all-reduce", "all_reduce_async instead of reduce-scatter and all-gather", "experts_scatter experts_gather shared_scatter shared_gather", ALL_REDUCE, "refused: it asks for semaphores that nobody could supply", REFUSED),
        ),
        MIXED_MADE_UP, 1869,
    ),
)  # fmt: skip
