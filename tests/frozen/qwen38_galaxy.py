"""Qwen3.8 27B over four chips of a Blackhole Galaxy: decode of 16 users at 32,768 tokens, BFLOAT8_B and HiFi2.

Hidden 5120, 48 layers of 64 with linear attention, 24 heads over four of keys and values of 256 with a gate elsewhere,
SwiGLU of 17408. A chip has 12 heads of linear attention's values and four of its keys, six heads with one of keys and
values, and 4352 columns of the feed-forward. Weights lie in shards over the banks, some with two or three readers a bank.
The ledger tells kernel times by kind of op and part of a layer, on each chip, of one layer of either kind: those of the
first chip stand here, a sum of several ops split evenly or by their sizes. Changes were measured on the op or on a
projection with what moves its input and sums its parts, as wall time of replayed traces.
Left out: linear attention's kernels, which the engineers wrote themselves and rewrote (67.2 -> 60.4 -> 49.9 ms a step),
and what was read of keys and values between barriers, which is a kernel's too.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from tests.frozen.build import L1, ROW_MAJOR, Block, banked, chunks, norm_shards
from tests.frozen.layer import TT_METAL, dead, gain, laid
from tests.frozen.names import BFP4, BLOCK_W

if TYPE_CHECKING:
    from tests.profiles import Tensor

FOLDER = "models/demos/qwen38_27b_qb2"
EVIDENCE = f"{FOLDER}/galaxy-evidence"
PROFILE = f"{TT_METAL}/fab35e060a581789c95072fd6120e8edfbc6dcb6/{EVIDENCE}/gdn-fusion-progress-v3/gdn-fusion-full-v2/profile-s32768-b16-native/analysis/operations.csv"  # fmt: skip
SWEEP = f"{TT_METAL}/f9b51d00c7bfcf79d0c1d94efd099fce03165158/{EVIDENCE}/projection-l1-results-v1/receipts/projection-sweep-v7/queue.json"  # fmt: skip
LOG = f"{TT_METAL}/09f5c9437d5c318970bd5fa656220d99999c5966/{FOLDER}/experiments/LOGBOOK.md"
PLACES = f"{TT_METAL}/98b54d533428e8daef89dbcae9cc2c9896e0fcb3/{EVIDENCE}/attention-placement-v2/summary.csv"
LONG = f"{TT_METAL}/fba818e6acc6fe1250dd71bf4cb2ea73c9c3b62e/{EVIDENCE}/optimization-followup-v1/README.md"
ROADMAP = f"{TT_METAL}/99c115f39636a3f7bc56cd01c066aa2ccd113f20/{FOLDER}/experiments/OPERATOR-ROADMAP.md"
CHIPS, GRID, ALL_CORES, USERS = 4, (12, 10), 120, 16
HIDDEN, WIDE, PACKED, VALUES, QKVG = 5120, 4352, 4608, 1536, 3584
KEYS, HEADS, SIZE, QKV, QUERIES, WIDTH, CONTEXT = 4, 12, 128, 2560, 6, 256, 32_768
FP8, FP32 = "BFLOAT8_B", "FLOAT32"
CONFIGS = {"packed": (10, 16, 15, 2), "qkvg": (10, 16, 12, 2), "out": (8, 6, 20, 2), "down": (8, 17, 20, 2), "gate_up": (40, 4, 8, 3)}  # fmt: skip


def read(block: Block, role: str, x: Tensor, n: int, us: float) -> Tensor:
    """A matmul over the banks: cores, in0_block_w, tiles of columns a core, readers a bank."""
    cores, width, columns, readers = CONFIGS[role]
    config = banked(width, columns)[:-1] + f",num_workers_per_dram_bank={readers})"
    return block.linear(role, x, n, us, dtype=FP8, config=config, cores=8 * readers, place=block.across(32, n, cores), banks=True, fp32=True)  # fmt: skip


def reduced(block: Block, role: str, x: Tensor, spread: float, us: float) -> Tensor:
    place = block.across(32, HIDDEN, 40)
    part = block.reshard(f"{role}_spread", x, place, spread)
    return block.collective(f"{role}_reduce", "AllReduceAsync", part, HIDDEN, us, ring=CHIPS, links=2, cores=40, topology="Linear", place=place)  # fmt: skip


def normed(block: Block, role: str, x: Tensor) -> Tensor:
    return block.norm(role, x, 6.3, cores=40, config=norm_shards((10, 4), 4))


def feed(block: Block, x: Tensor, gate_up: float, reduce: float) -> None:
    y = normed(block, "feed_norm", x)
    both = read(block, "gate_up", y, 2 * WIDE, gate_up)
    gate = block.slice("gate_part", block.from_shards("gate_up_flat", both, 1.3, L1), (0, 0, 0, 0), (1, 1, USERS, WIDE), 1.4)  # fmt: skip
    up = block.slice("up_part", both, (0, 0, 0, WIDE), (1, 1, USERS, 2 * WIDE), 1.4, L1)
    y = block.binary("gated", "MUL", gate, up, 3, cores=ALL_CORES, lhs="SILU", place=L1)
    y = block.to_shards("down_placed", y, block.across(32, WIDE, 8), 1)
    part = reduced(block, "down", read(block, "down", y, HIDDEN, 66.3), 2.9, reduce)
    block.binary("layer_sum", "ADD", x, part, 1.6, cores=40)


def linear() -> Block:
    block = Block("blackhole", devices=CHIPS, grid=GRID)
    tensor, tiles = block.tensor, [USERS, 1]
    x = block.to_shards("in_placed", tensor([1, 1, USERS, HIDDEN], place=L1), block.across(32, HIDDEN, 40), 1.3)
    y = block.reshard("packed_placed", normed(block, "in_norm", x), block.across(32, HIDDEN, 10), 1.8)
    y = block.from_shards("packed_flat", read(block, "packed", y, PACKED, 68.4), 1.4)
    y = block.moved("packed_users", "ReshapeView", y, 29.1, shape=[USERS, 1, PACKED], cores=ALL_CORES)
    qkv = block.slice("packed_qkv", y, (0, 0, 0), (USERS, 1, QKV), 23.1)
    z, ab = (block.slice(f"packed_{name}", y, (0, 0, start), (USERS, 1, end), 6) for name, start, end in (("z", QKV, QKV + VALUES), ("ab", 4096, 4128)))  # fmt: skip
    a, b = (block.slice(f"gates_{name}", ab, (0, 0, n * HEADS), (USERS, 1, (n + 1) * HEADS), 7) for n, name in enumerate("ab"))  # fmt: skip
    row = block.moved("conv_rows", "UntilizeCodegen", qkv, 2.5, layout=ROW_MAJOR, cores=ALL_CORES)
    history = tensor([USERS, 3, QKV], layout=ROW_MAJOR)
    whole = block.concat("conv_history", [history, row], [USERS, 4, QKV], 1, 2.4)
    kept = block.slice("conv_kept", whole, (0, 1, 0), (USERS, 4, QKV), 1.2)
    block.moved("conv_state", "Copy", kept, 1.8)
    widths = {"q": KEYS, "k": KEYS, "v": HEADS}
    outs = [tensor([USERS, 32, n * SIZE], layout=ROW_MAJOR) for n in widths.values()]
    block.op("conv", "QkvCausalConv1dSiluOperation", (row, whole, *(tensor([1, 1, QKV]) for _ in range(4))), outs, 22.2, cores=ALL_CORES)  # fmt: skip
    heads: list[Tensor] = []
    for (name, n), one in zip(widths.items(), outs, strict=True):
        part = block.slice(f"conv_{name}_row", one, (0, 0, 0), (USERS, 1, n * SIZE), 1.2)
        part = block.moved(f"conv_{name}", "TilizeWithValPadding", part, 24.2, layout="TILE", cores=ALL_CORES)
        part = block.moved(
            f"delta_{name}_rows", "UntilizeWithUnpadding", part, 5.4, layout=ROW_MAJOR, cores=ALL_CORES
        )
        part = block.moved(f"delta_{name}_heads", "ReshapeView", part, 2.5, shape=[USERS, n, 1, SIZE])
        part = block.moved(f"delta_{name}_tiles", "TilizeWithValPadding", part, 9.4, layout="TILE", cores=ALL_CORES)
        heads.append(block.typecast(f"delta_{name}_fp32", part, FP32, 1.9))
    beta = block.unary("beta", "SIGMOID", b, 2)
    decay = block.binary("decay_bias", "ADD", a, tensor([1, 1, HEADS]), 7.3)
    decay = block.unary("decay", "EXP", block.binary("decay_scale", "MUL", decay, tensor([1, 1, HEADS]), 7.3), 2.4)
    gates = [block.moved(f"{name}_pad", "FillPad", one, 15.7, fidelity="HiFi4") for name, one in (("beta", beta), ("decay", decay))]  # fmt: skip
    gates = [block.moved(f"{name}_rows", "UntilizeWithUnpadding", one, 5.4, layout=ROW_MAJOR) for name, one in (("beta", gates[0]), ("decay", gates[1]))]  # fmt: skip
    gates = [block.moved(f"{name}_tiles", "TilizeWithValPadding", one, 9.4, layout="TILE") for name, one in (("beta", gates[0]), ("decay", gates[1]))]  # fmt: skip
    state = tensor([USERS, HEADS, SIZE, SIZE], FP32)
    ready = tensor([USERS, HEADS, 32, SIZE], FP32)
    block.op("prepare", "GenericOp", (*heads, *gates), ready, 36, cores=ALL_CORES)
    y = block.op("recurrence", "GenericOp", (ready, state), tensor([USERS, HEADS, 1, SIZE], FP32), 73, cores=96)
    y = block.moved("y_rows", "UntilizeWithUnpadding", y, 31, layout=ROW_MAJOR, cores=ALL_CORES)
    y = block.slice("y_cut", y, (0, 0, 0, 0), (USERS, HEADS, 1, SIZE), 18)
    y = block.moved("y_pad", "Pad", block.view(y, [*tiles, VALUES]), 1.6, shape=[USERS, 1, VALUES], layout="TILE")
    y = block.op("gated_norm", "SigmoidGatedRmsNormOperation", (y, z, tensor([1, 1, SIZE])), tensor([*tiles, VALUES]), 32.4, cores=ALL_CORES)  # fmt: skip
    y = block.binary("y_gated", "MUL", y, z, 7.3, cores=ALL_CORES)
    y = block.moved("out_users", "ReshapeView", y, 10.4, shape=[1, 1, USERS, VALUES], cores=ALL_CORES)
    y = block.to_shards("out_placed", y, block.across(32, VALUES, 8), 0.8)
    part = reduced(block, "out", read(block, "out", y, HIDDEN, 29.9), 3, 13.9)
    feed(block, block.binary("attended_sum", "ADD", x, part, 1.6, cores=40), 118.3, 17.5)
    return block


def full() -> Block:
    block = Block("blackhole", devices=CHIPS, grid=GRID)
    tensor = block.tensor
    x = tensor([1, 1, USERS, HIDDEN], place=block.across(32, HIDDEN, 40))
    y = block.reshard("qkvg_placed", normed(block, "in_norm", x), block.across(32, HIDDEN, 10), 1.8)
    both = block.from_shards("qkvg_flat", read(block, "qkvg", y, QKVG, 53.8), 1.3, L1)
    qkv = block.slice("qkv", both, (0, 0, 0, 0), (1, 1, USERS, 2048), 1, L1)
    gate = block.slice("gate", both, (0, 0, 0, 2048), (1, 1, USERS, QKVG), 1, L1)
    q, k, v = block.heads_of_decode("heads", qkv, 3.9, heads=QUERIES, kv=1, size=WIDTH, users=USERS)
    q, k = (block.from_shards(f"{name}_flat", one, 1.3, L1) for name, one in (("q", q), ("k", k)))
    q, k = (block.norm(f"{name}_norm", one, 5.8, cores=USERS) for name, one in (("q", q), ("k", k)))
    whole: list[Tensor] = []
    for name, one in (("q", q), ("k", k)):
        y = block.turned(f"{name}_turn", one, 1.8, dims="CH")
        part = block.slice(f"{name}_turned", y, (0, 0, 0, 0), [*y.shape[:-1], 64], 1.4)
        rest = block.slice(f"{name}_rest", y, (0, 0, 0, 64), y.shape, 1.4)
        part = block.moved(f"{name}_rows", "ReshapeView", part, 9.6, shape=[1, 1, USERS * y.shape[1], 64])
        part = block.op(f"{name}_rotary", "RotaryEmbedding", (part, tensor([1, 1, 32, 64]), tensor([1, 1, 32, 64])), tensor(part.shape), 4, cores=USERS, fidelity="HiFi4", compute_kernel_config=block.kernel("HiFi4", fp32=True))  # fmt: skip
        part = block.moved(f"{name}_back", "ReshapeView", part, 9.6, shape=[*y.shape[:-1], 64])
        y = block.concat(f"{name}_whole", [part, rest], [*y.shape[:-1], WIDTH], 3, 2)
        whole.append(block.turned(f"{name}_return", y, 1.8, dims="CH"))
    cache = tensor([USERS * CONTEXT // 64, 1, 64, WIDTH], FP8)
    k = block.to_shards("k_placed", whole[1], block.along(32, WIDTH, USERS), 1.2)
    ids, table = (
        tensor([USERS], "INT32", layout=ROW_MAJOR),
        tensor([USERS, CONTEXT // 64], "INT32", layout=ROW_MAJOR),
    )
    block.op("cache", "PagedFusedUpdateCache", (cache, k, cache, v, ids, table), (cache, cache), 3.9, cores=2 * USERS, batch_offset=0, compute_kernel_config=block.kernel("HiFi4"), op_type="PagedUpdateCacheOpType::FUSED_UPDATE", share_cache=False)  # fmt: skip
    q = block.moved("q_pad", "FillPad", whole[0], 4.9, shape=[1, USERS, 32, WIDTH], fidelity="HiFi4")
    y = block.attend_decode("attend", q, cache, 789, config=chunks(0, 256, GRID), cores=ALL_CORES - 8, k_chunk=256)
    y = block.slice("attended", y, (0, 0, 0, 0), (1, USERS, QUERIES, WIDTH), 2)
    y = block.moved("joined", "ReshapeView", y, 10.8, shape=[1, 1, USERS, VALUES], place=L1)
    y = block.binary("y_gated", "MUL", y, gate, 3.7, cores=ALL_CORES, rhs="SIGMOID")
    y = block.to_shards("out_placed", y, block.across(32, VALUES, 8), 1.3)
    part = reduced(block, "out", read(block, "out", y, HIDDEN, 30.5), 2.9, 19.6)
    feed(block, block.binary("attended_sum", "ADD", x, part, 1.6, cores=40), 117.7, 19.7)
    return block


PROJECTIONS = "packed qkvg gate_up down out"
READERS = r"num_workers_per_dram_bank|(readers?|workers?).{0,20}(per|each|a).{0,10}bank"
SPREAD = r"more cores|\b(16|17|24|34) cores|core_grid|shard.{0,40}cores|cores.{0,40}shard"
AGREED = "with what moves its input and sums over the chips"
MADE_UP = "how the told sum of several ops splits over them, their order and shapes between linear attention's kernels; gaps"

QWEN38_GALAXY = (
    laid(
        "qwen38-galaxy-linear", PROFILE, "a layer with linear attention: 0.90 ms of kernels, of 67.2 ms a step",
        linear,
        (
            dead("out-one-reader", "one reader a bank for the output's weights, for two", "out", READERS, f"68.9 -> 75.1 us {AGREED}", SWEEP),
            dead("out-three-readers", "three readers a bank for the output's weights, for two", "out", READERS, f"68.9 -> 77.2 us {AGREED}", SWEEP),
            dead("out-narrow", "in0_block_w of 1 for the output, for 6", "out", BLOCK_W, f"68.9 -> 82.5 us {AGREED}", SWEEP),
            dead("out-wide", "in0_block_w of 12 and 24 for the output, for 6", "out", BLOCK_W, f"68.9 -> 70.4 and 73.4 us {AGREED}", SWEEP),
            dead("out-cores", "the output's input on 16 and 24 cores, for 8", "out out_placed", SPREAD, f"68.9 -> 72.6 and 72.8 us {AGREED}", SWEEP),
            dead("bfp4", "BFLOAT4_B for the projections' weights", "packed gate_up down out", BFP4, "8.6 to 9.3 % more words a second, but not shown to answer as well", ROADMAP, faster=True),
        ),
        MADE_UP, 899,
    ),
    laid(
        "qwen38-galaxy-full", PROFILE, "a layer with full attention: 1.24 ms of kernels, of 67.2 ms a step",
        full,
        (
            gain("attention-cores", "64 cores in eight groups at either side for attention, for the whole grid", 35.4, "attend", r"sub_core_grids|\b64 cores|fewer cores|compute_with_storage_grid_size|max_cores_per_head_batch|core_grid", "810.1 -> 774.8 us a call, its output brought back too; 786.1 in plain rows. Not tried in the model; wrong at other lengths", PLACES),
            dead("attention-rows", "80 cores in plain rows for attention, for the whole grid", "attend", r"\b80 cores|sub_core_grids", "810.1 -> 821.3 us a call", PLACES),
            dead("down-one-reader", "one reader a bank for down's weights, for two", "down", READERS, f"101.9 -> 113.8 us {AGREED}", SWEEP),
            dead("down-three-readers", "three readers a bank for down's weights, for two", "down", READERS, f"101.9 -> 120.9 us {AGREED}", SWEEP),
            dead("down-narrow", "in0_block_w of 1 for down, for 17", "down", BLOCK_W, f"101.9 -> 140.6 us {AGREED}", SWEEP),
            dead("down-wide", "in0_block_w of 34 for down, for 17", "down", BLOCK_W, "refused: its buffers meet what lies in L1", LOG),
            dead("down-cores", "down's input on 17 and 34 cores, for 8", "down down_placed", SPREAD, f"101.9 -> 113.9 and 116.2 us {AGREED}", SWEEP),
        ),
        f"attention's cores (what 16 users leave of 120) and its chunk of keys; {MADE_UP}", 1_243,
    ),
)  # fmt: skip
