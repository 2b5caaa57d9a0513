"""Kimi K3's full attention (MLA with an output gate) on eight Blackhole chips: two share the rows, four the heads.

640 rows a chip, 7168 channels (1792 on each chip), 24 of 96 heads a chip, latents of 1536 and 512 + 64, weights in BFLOAT8_B.
The ledger tells the sum of three chunks by kinds of op (matmuls, exchanges, attention, others), and the gate's ops, one
narrow matmul and the attention alone. A chunk here takes a third of the sums.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from tests.frozen.build import DRAM, L1, Block, chunks, one_d, two_d
from tests.frozen.layer import TT_METAL, dead, gain, laid
from tests.frozen.names import CONFIG, IN_L1

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.profiles import Tensor

SOURCE = f"{TT_METAL}/050a6cc64b91c031332760ea1ad17c9424df1cde/models/demos/deepseek_v3_d_p/docs/KIMI_K3_MLA.md"
CHIPS, ACROSS, GRID, CORES, ROWS = 8, 4, (11, 10), 110, 640
HIDDEN, EACH, HEADS, NOPE, ROPE, QUERY, LATENT = 7168, 1792, 24, 128, 64, 1536, 512
BOTH, GATE = LATENT + ROPE, HEADS * NOPE
BFP = "BFLOAT8_B"


@dataclass(frozen=True)
class How:
    """What a state of the gate takes; `tuned`: its matmul has a config; `fused`: SIGMOID in it."""

    wide: bool = False
    gather_us: float = 173.9
    scatter_us: float = 465.5
    tuned: bool = True
    fused: bool = True


def exchange(block: Block, role: str, x: Tensor, columns: int, us: float) -> Tensor:
    kind = "ReduceScatterMinimalAsync" if columns < x.shape[-1] else "AllGatherAsync"
    return block.collective(role, kind, x, columns, us, ring=ACROSS, links=2, cores=12, topology="Linear")


def gate(block: Block, x: Tensor, how: How) -> Tensor:
    if how.wide:
        y = block.linear("gate", x, ACROSS * GATE, 221.2, dtype=BFP, cores=CORES)
        y = exchange(block, "gate_sums", y, GATE, how.scatter_us)
        return block.unary("sigmoid", "SIGMOID", y, 18.4, cores=CORES)
    whole = exchange(block, "gathered", x, HIDDEN, how.gather_us)
    act = "SIGMOID" if how.fused else None
    config = two_d(GRID, 8, (2, 9), subblock=(2, 3), act=act) if how.tuned else None
    us = (132.5 if how.fused else 119.0) if how.tuned else 236.5
    y = block.linear("gate", whole, GATE, us, dtype=BFP, config=config, cores=CORES)
    return y if how.fused else block.unary("sigmoid", "SIGMOID", y, 18.4, cores=CORES)


def queries(block: Block, x: Tensor) -> Tensor:
    q = block.linear("q_a", x, QUERY, 36, dtype=BFP, config=two_d(GRID, 8, (2, 5), subblock=(2, 1)), cores=100)
    q = exchange(block, "q_shared", exchange(block, "q_sums", q, QUERY // ACROSS, 75), QUERY, 55)
    q = block.norm("q_norm", q, 20, cores=20)
    q = block.linear("q_b", q, HEADS * (NOPE + ROPE), 62, dtype=BFP, config=two_d(GRID, 8, (2, 14), subblock=(1, 7)), cores=CORES)  # fmt: skip
    made = block.tensor([1, HEADS, ROWS, NOPE + ROPE])
    q = block.op("q_heads", "NlpCreateHeads", (q,), made, 34, cores=20, head_dim=NOPE + ROPE, num_kv_heads=0, num_q_heads=HEADS, output_mem_config=DRAM, transpose_k_heads=False)  # fmt: skip
    plain = block.slice("q_plain", q, (0, 0, 0, 0), (1, HEADS, ROWS, NOPE), 26)
    rest = block.slice("q_rest", q, (0, 0, 0, NOPE), (1, HEADS, ROWS, NOPE + ROPE), 18)
    q = head_by_head(block, "absorbed", plain, LATENT, 42)
    return block.concat("q_both", (q, rest), [1, HEADS, ROWS, BOTH], 3, 38)


def head_by_head(block: Block, role: str, x: Tensor, n: int, us: float) -> Tensor:
    config = f"MatmulMultiCoreReuseProgramConfig(compute_with_storage_grid_size=(x=11,y=10),in0_block_w=4,out_subblock_h=1,out_subblock_w={min(8, n // 32)},per_core_M=5,per_core_N={n // 32})"  # fmt: skip
    return block.product(role, x, block.tensor([1, HEADS, x.shape[-1], n], BFP), us, cores=96, fidelity="HiFi2", fp32=False, config=config)  # fmt: skip


def keys(block: Block, x: Tensor, known: int) -> Tensor:
    kv = block.linear(
        "kv_a", x, BOTH, 44.7, dtype=BFP, config=one_d(GRID, 1, (1, 4), subblock=(1, 2), in0=False), cores=90
    )
    many = block.op(
        "kv_shared", "AllGatherAsync", (kv,), block.tensor([1, ACROSS, ROWS, BOTH]), 95.6, cores=12, cluster_axis=1, dim=1,
        num_links=2, num_workers_per_link=None, output_mem_config=DRAM, ring_size=ACROSS, topology="Topology::Linear",
    )  # fmt: skip
    kv = block.op("kv_sum", "FastReduceNC", (many,), block.tensor([1, 1, ROWS, BOTH]), 17, cores=CORES, fidelity="HiFi4", dim=1, compute_kernel_config=block.kernel("HiFi4"))  # fmt: skip
    latent = block.slice("kv_latent", kv, (0, 0, 0, 0), (1, 1, ROWS, LATENT), 7)
    rest = block.slice("kv_rest", kv, (0, 0, 0, LATENT), (1, 1, ROWS, BOTH), 5)
    latent = block.norm("kv_norm", latent, 12, cores=20)
    kv = block.concat("kv_both", (latent, rest), [1, 1, ROWS, BOTH], 3, 9)
    cache = block.tensor([1, 1, known + ROWS, BOTH])
    block.op("cached", "UpdatePaddedKvCache", (cache, kv), cache, 11, cores=20, batch_idx=0, update_idx=known)
    return cache


def attend(block: Block, q: Tensor, cache: Tensor, us: float, k_chunk: int) -> Tensor:
    known = 2 * cache.shape[-2]
    gathered = block.tensor([1, 1, known, BOTH])
    return block.op(
        "sdpa", "RingJointSDPA", (q, cache, cache, gathered), block.tensor([1, HEADS, ROWS, LATENT]), us, cores=100,
        fidelity="HiFi2", compute_kernel_config=block.kernel("HiFi2", packer=False), dim=2, is_causal=True, head_dim_v=LATENT,
        joint_strategy="rear", logical_n=known, num_links=2, output_mem_config=q.placement, program_config=chunks(32, k_chunk, (10, 10)),
        ring_size=2, scale="0.07216878365", topology="Topology::Linear", use_mla=True,
    )  # fmt: skip


def ended(block: Block, y: Tensor, x: Tensor, how: How) -> None:
    y = head_by_head(block, "back", y, NOPE, 44.8)
    y = block.join_heads("joined", y, 22, cores=20)
    y = block.binary("gated", "MUL", y, gate(block, x, how), 26, cores=CORES)
    y = block.linear("out", y, HIDDEN, 119.0, dtype=BFP, config=two_d(GRID, 8, (2, 21), subblock=(1, 7)), cores=CORES, place=L1)  # fmt: skip
    exchange(block, "out_sums", y, EACH, 271.5)


def chunk(how: How) -> Callable[[], Block]:
    """The middle one of three chunks of 1280 rows."""

    def build() -> Block:
        block = Block("blackhole", devices=CHIPS, grid=GRID, gap_us=3.0)
        x = block.tensor([1, 1, ROWS, EACH])
        q, cache = queries(block, x), keys(block, x, ROWS)
        ended(block, attend(block, q, cache, 569.7, 640), x, how)
        return block

    return build


def gate_alone(how: How) -> Callable[[], Block]:
    def build() -> Block:
        block = Block("blackhole", devices=CHIPS, grid=GRID, gap_us=3.0)
        ended(block, block.tensor([1, HEADS, ROWS, LATENT]), block.tensor([1, 1, ROWS, EACH]), how)
        return block

    return build


def sweep(us: float, k_chunk: int) -> Callable[[], Block]:
    """The attention over 30,720 keys, as eleven chunks of 5120 up to 56,320 take it on average."""

    def build() -> Block:
        block = Block("blackhole", devices=CHIPS, grid=GRID, gap_us=3.0)
        attend(block, block.tensor([1, HEADS, ROWS, BOTH]), block.tensor([1, 1, 15360, BOTH]), us, k_chunk)
        return block

    return build


MADE_UP = "how the sums of a kind are shared among its ops; the cache's format; blocks of the matmuls besides those told; gaps"
GATE_MADE_UP = "the ops around the gate; blocks of the matmuls; gaps"
SWEEP_MADE_UP = "the depth: an average of eleven; the cache's format; gaps"
ON_SWEEP = "of eleven chunks; the accuracy grows with the chunk"
KIMI_K3 = (
    laid(
        "kimik3-keys-32", SOURCE, "the attention alone, 141.4 ms of eleven chunks", sweep(12854.5, 32),
        (gain("chunks", "chunks of 640 keys", 7400.0, "sdpa", r"chunk", f"141.4 -> 60.0 ms {ON_SWEEP}"),),
        SWEEP_MADE_UP, pass_us=12854.5,
    ),
    laid(
        "kimik3-keys-128", SOURCE, "the attention alone, 77.6 ms of eleven chunks", sweep(7054.5, 128),
        (gain("chunks", "chunks of 640 keys", 1600.0, "sdpa", r"chunk", f"77.6 -> 60.0 ms {ON_SWEEP}"),),
        SWEEP_MADE_UP, pass_us=7054.5,
    ),
    laid(
        "kimik3-keys-256", SOURCE, "the attention alone, 67.7 ms of eleven chunks", sweep(6154.5, 256),
        (gain("chunks", "chunks of 640 keys", 700.0, "sdpa", r"chunk", f"67.7 -> 60.0 ms {ON_SWEEP}"),),
        SWEEP_MADE_UP, pass_us=6154.5,
    ),
    laid(
        "kimik3-keys-512", SOURCE, "the attention alone, 63.9 ms of eleven chunks", sweep(5809.1, 512),
        (gain("chunks", "chunks of 640 keys", 354.6, "sdpa", r"chunk", f"63.9 -> 60.0 ms {ON_SWEEP}"),),
        SWEEP_MADE_UP, pass_us=5809.1,
    ),
    laid(
        "kimik3-keys-640", SOURCE, "the attention alone, 60.0 ms of eleven chunks", sweep(5454.5, 640),
        (dead("chunks", "chunks of 32 to 512 keys", "sdpa", r"k_chunk\w*\W{0,4}(32|64|128|256|512)\b|\b(32|64|128|256|512) keys", "60.0 -> 63.9 ms for 512, up to 141.4 for 32"),),
        SWEEP_MADE_UP, pass_us=5454.5,
    ),
    laid(
        "kimik3-gate-sums", SOURCE, "the gate from shares of the channels, its sums exchanged; not shipped", gate_alone(How(wide=True, fused=False)),
        (
            gain("gather", "the rows exchanged before the gate's matmul, whose columns the chips share", 281.2, "gate gate_sums sigmoid", r"all.?gather", "465.5 + 221.2 + 18.4 -> 173.9 + 236.5 + 13.5 us: about 280 us"),
            dead("fused", "SIGMOID in the gate's matmul", "gate sigmoid", r"fused_activation|activation=", "refused: the matmul leaves partial sums"),
        ),
        GATE_MADE_UP,
    ),
    laid(
        "kimik3-gate-sums-line", SOURCE, "the same on a fabric of one dimension", gate_alone(How(wide=True, fused=False, scatter_us=305.4)),
        (gain("gather", "the rows exchanged before the gate's matmul, whose columns the chips share", 117.2, "gate gate_sums sigmoid", r"all.?gather", "305.4 + 221.2 + 18.4 -> 177.8 + 236.5 + 13.5 us"),),
        GATE_MADE_UP,
    ),
    laid(
        "kimik3-gate-untuned", SOURCE, "the gate with TTNN's own config", gate_alone(How(tuned=False, fused=False)),
        (
            gain("config", "a config for the gate's matmul", 117.5, "gate", CONFIG, "236.5 -> 119.0 us: nine tiles of columns on a core, subblocks of 2 x 3"),
            dead("argument", "activation= without a config", "gate sigmoid", r"(?s)^(?!.*(program_config|fused_activation)).*activation\s*=\s*['\"]", "not fused: TTNN runs an op of its own"),
        ),
        GATE_MADE_UP,
    ),
    laid(
        "kimik3-gate-apart", SOURCE, "the gate with its config, SIGMOID apart", gate_alone(How(fused=False)),
        (gain("fused", "SIGMOID in the gate's matmul", 4.9, "gate sigmoid", r"fused_activation|activation", "119.0 + 18.4 -> 132.5 us"),),
        GATE_MADE_UP,
    ),
    laid(
        "kimik3-chunk", SOURCE, "a chunk with all but one config: 5977 us of three", chunk(How()),
        (
            gain("kv-l1", "the narrow matmul's output in L1", 1.1, "kv_a", IN_L1, "told of this op; with the gate's and the ops that read them 5977 -> 5928 us of three chunks"),
            gain("gate-l1", "the gate's output in L1", 13.5, "gate gated", IN_L1, "4.2 us of the matmul; 27.9 us of three chunks of the ops that read both, most of it the multiply"),
            dead("kv-2", "two tiles of K a block for the narrow matmul", "kv_a", r"in0_block_w\D{0,6}2\b", "44.7 -> 28.7 us, and refused: the cache's accuracy fails after 20,480 rows", faster=True),
            dead("kv-4", "four tiles of K a block for the narrow matmul", "kv_a", r"in0_block_w\D{0,6}4\b", "44.7 -> 21.6 us, and refused: the cache's accuracy fails after 7680 rows", faster=True),
            dead("kv-8", "eight or fourteen tiles of K a block for the narrow matmul", "kv_a", r"in0_block_w\D{0,6}(8|14)\b", "44.7 -> 16.5 and 17.9 us, and refused: the cache's accuracy fails after 5120 and 3840 rows", faster=True),
            dead("gate-14", "14 or 16 tiles of K a block for the gate's matmul", "gate", r"in0_block_w\D{0,6}(14|16)\b", "118.5 -> 118.0 and 117.6 us: it waits for data"),
            dead("gate-28", "28 tiles of K a block for the gate's matmul", "gate", r"in0_block_w\D{0,6}28\b", "118.5 -> 122.4 us"),
            dead("gate-56", "56 tiles of K a block for the gate's matmul", "gate", r"in0_block_w\D{0,6}56\b", "refused: 1.70 MB of 1.57"),
            dead("heads-4", "four tiles of rows on a core for the matmuls of each head", "absorbed back", r"per_core_M\D{0,6}4\b", "refused: 120 blocks for 110 cores"),
        ),
        MADE_UP, pass_us=1992.3,
    ),
)  # fmt: skip
