"""MiniMax-H3 (it makes videos with sound) on a Wormhole Galaxy: one of its 50 blocks for clips of 15, 10 and 5 seconds.

5376 wide, 56 heads of 128, an MLP of 14336 with SwiGLU, all in BFLOAT16; 4 chips of a ring share the columns, 8 the rows of
the packed clip. The ledger tells a profile of the block, sweeps of each projection at three lengths with the blocks that
lost, and what was tried on attention, the reduce-scatter and the tables of the modulation.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from tests.frozen.build import ROW_MAJOR, Block, chunks, minimal
from tests.frozen.layer import TT_METAL, dead, gain, laid
from tests.frozen.names import COLLECTIVE, CORES, LOFI, MINIMAL_BLOCKS, SDPA_CHUNKS

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.profiles import Tensor

FOLDER = "models/tt_dit/models/minimax_h3_wormhole"
README = f"{TT_METAL}/08005674b9fcfa098c6cec5ce301ca235c719b98/{FOLDER}/README.md"
FF1 = f"{TT_METAL}/33bc8645953c8d79044fec8dfc2e726db9c2d91e/{FOLDER}/ff1.md"
FF2 = f"{TT_METAL}/33bc8645953c8d79044fec8dfc2e726db9c2d91e/{FOLDER}/ff2.md"
QKV = f"{TT_METAL}/42cb06c5698d97e500c8eab8a82b76096abf78ed/{FOLDER}/to_qkv.md"
OUT = f"{TT_METAL}/597da0bea815e1abdd853c610a1b3cddf368f278/{FOLDER}/to_out.md"
ATTENTION = f"{TT_METAL}/08d13a463f418b92c89be9e5139ec3dff67ffa8c/{FOLDER}/sdpa.md"
APART = f"{TT_METAL}/b2da8ae697cc413b31a4a4db0961a300f6b8a524/{FOLDER}/agmm_fused_vs_unfused.md"
EARLIER = f"{TT_METAL}/10bdcbccefd75e14ca210f5635ccf6960019b3e0/models/tt_dit/models/MiniMaxH3_wormhole_perf.md"
GRID, RING_GRID, FUSED_GRID, ATTENTION_GRID = (8, 9), (8, 8), (8, 7), (7, 9)
CHIPS, COLUMNS, PART, HEADS, SIZE, HIDDEN, INNER, FED = 32, 4, 1344, 14, 128, 5376, 1792, 3584
Blocks = tuple[int, int, int]


@dataclass(frozen=True)
class How:
    """One block; times in us, blocks in tiles of rows, depth and columns."""

    rows: int
    ff1: tuple[float, Blocks]
    ff2: tuple[float, Blocks]
    qkv: tuple[float, Blocks]
    out: tuple[float, Blocks]
    sdpa: tuple[float, int, int]
    scatter: float = 2780  # 0: in ff2
    scatter_chunks: tuple[int, int] = (2, 2)  # workers a link, chunks a sync
    gate: float = 629
    gathers: tuple[float, float, float, float] = (1220, 410, 1630, 700)
    tables: float = 1735  # each of six
    others: float = 1.0  # factor of norms, adds, heads


def projected(block: Block, role: str, x: Tensor, n: int, tuned: tuple[float, Blocks], weight: Tensor, more: tuple[Tensor, ...] = (), swiglu: bool = False) -> Tensor:  # noqa: PLR0917  # fmt: skip
    """The gather over the ring of columns and the matmul as one op."""
    us, blocks = tuned
    wide = block.tensor([*x.shape[:-1], n])
    return block.op(
        role, "AllGatherMinimalMatmulAsync", (x, weight, *more), wide, us, cores=64, fidelity="HiFi2", cluster_axis=0,
        compute_kernel_config=block.kernel("HiFi2", fp32=True, approximate=True), config=minimal(blocks, (2, 2), RING_GRID),
        force_transpose=True, fuse_swiglu=swiglu, fused_activation=None, num_buffers_per_channel=48, num_links=4,
        num_workers_per_link=2, output_dtype=None, output_mem_config=wide.placement, ring_size=COLUMNS,
        scalar="1" if more else None, topology="Topology::Ring",
    )  # fmt: skip


def gathered(block: Block, role: str, k: int, n: int, us: float) -> Tensor:
    """A weight that eight chips hold in parts."""
    return block.collective(
        role, "AllGatherAsync", block.tensor([1, 1, k, n // 8]), n, us, ring=8, links=4, workers=3
    )


def modulated(block: Block, how: How) -> list[Tensor]:
    """The six tables of scales, shifts and gates, one row for each row of the clip."""
    steps = block.tensor([1, 1, 32, 2688])
    weight = block.op("adaln_weight", "AllBroadcast", (block.tensor([1, 1, 2688, 3024]),), block.tensor([1, 1, 2688, 24192]), 3990, cores=8, num_links=4, topology="Topology::Ring")  # fmt: skip
    for n in range(8):
        part = block.moved(f"adaln_part_{n}", "UntilizeWithUnpadding", block.tensor([1, 1, 2688, 3024]), 214, layout=ROW_MAJOR, cores=72, fidelity="HiFi4")  # fmt: skip
    weight = block.concat("adaln_parts", [part] * 8, [1, 1, 2688, 24192], 3, 1511)
    weight = block.moved(
        "adaln_tiles", "TilizeWithValPadding", weight, 1355, layout="TILE", cores=72, fidelity="HiFi4"
    )
    all_rows = block.op("adaln", "MinimalMatmul", (steps, weight), block.tensor([1, 1, 32, 24192]), 1672, cores=72, fidelity="HiFi2", compute_kernel_config=block.kernel("HiFi2", fp32=True, approximate=True), config=minimal((8, 8, 8), (2, 2), GRID), fused_activation=None, output_dtype=None, output_mem_config=weight.placement)  # fmt: skip
    tables: list[Tensor] = []
    for n in range(6):
        part = block.slice(f"table_part_{n}", all_rows, (0, 0, 0, n * PART), (1, 1, 32, (n + 1) * PART), 5)
        part = block.moved(f"table_rows_{n}", "UntilizeWithUnpadding", part, 8, layout=ROW_MAJOR, cores=1, fidelity="HiFi4")  # fmt: skip
        index = block.tensor([1, 1, 1, how.rows], "UINT32", layout=ROW_MAJOR)
        tables.append(block.op(f"table_{n}", "Embeddings", (index, part), block.tensor([1, 1, how.rows, PART]), how.tables, cores=72, embeddings_type="EmbeddingsType::GENERIC", output_dtype="DataType::BFLOAT16", output_mem_config=weight.placement, pad_token=None, tilized=True))  # fmt: skip
    return tables


def layer(how: How) -> Callable[[], Block]:
    def build() -> Block:
        block = Block("wormhole_b0", devices=CHIPS, grid=GRID, gap_us=45)
        scale_1, shift_1, gate_1, scale_2, shift_2, gate_2 = modulated(block, how)
        many = how.others

        def normed(role: str, x: Tensor, us: float) -> Tensor:
            """Over the columns of the ring."""
            gamma = block.tensor([1, 1, x.shape[-1] // 32, 32], layout=ROW_MAJOR)
            return block.op(role, "DitFusedDistributedRmsnorm", (x, gamma), block.tensor(x.shape), us * many, cores=72, fidelity="HiFi4", cluster_axis=0, compute_kernel_config=block.kernel("HiFi4", fp32=True), eps="1e-06", num_links=4, ring_size=COLUMNS, topology="Topology::Ring")  # fmt: skip

        def shifted(role: str, x: Tensor, scale: Tensor, shift: Tensor) -> Tensor:
            x = block.binary(f"{role}_scaled", "MUL", x, scale, 249 * many, cores=72)
            return block.binary(f"{role}_shifted", "ADD", x, shift, 249 * many, cores=72)

        x = block.tensor([1, 1, how.rows, PART])
        fed = shifted("first", normed("norm_first", x, 640), scale_1, shift_1)
        qkv = projected(block, "qkv", fed, 3 * INNER, how.qkv, gathered(block, "weights_qkv", HIDDEN, 3 * INNER, how.gathers[0]))  # fmt: skip
        q, k, v = block.split_heads(
            "heads", qkv, 568 * many, heads=HEADS, kv=HEADS, size=SIZE, rows=how.rows, cores=72
        )
        q, k = (normed(f"norm_{name}", one, 850) for name, one in (("q", q), ("k", k)))
        us, q_chunk, k_chunk = how.sdpa
        made = block.op(
            "sdpa", "RingJointSDPA", (q, k, v), block.tensor([1, HEADS, how.rows, SIZE]), us, cores=71, fidelity="HiFi2",
            compute_kernel_config=block.kernel("HiFi2"), is_causal=False, joint_strategy="rear", logical_n=8 * how.rows,
            num_links=4, program_config=chunks(q_chunk, k_chunk, ATTENTION_GRID), ring_size=8, scale="0.08838834764",
            topology="Topology::Ring",
        )  # fmt: skip
        flat = block.join_heads("joined", made, 573 * many, cores=72)
        x = projected(block, "out", flat, PART, how.out, gathered(block, "weights_out", 4 * INNER, PART, how.gathers[1]), (x, gate_1))  # fmt: skip
        fed = shifted("second", normed("norm_second", x, 650), scale_2, shift_2)
        weight = gathered(block, "weights_ff1", HIDDEN, 2 * FED, how.gathers[2])
        wide = block.view(projected(block, "ff1", fed, FED, how.ff1, weight, swiglu=True), [1, 1, how.rows, FED])
        weight = gathered(block, "weights_ff2", FED, HIDDEN, how.gathers[3])
        us, blocks = how.ff2
        kernel = block.kernel("HiFi2", fp32=True, approximate=True)
        if not how.scatter:
            block.op("ff2", "MinimalMatmulStridedReduceScatterAsync", (wide, weight, x, gate_2), block.tensor([1, 1, how.rows, PART]), us, cores=72, fidelity="HiFi2", chunk_width_in_mm_blocks=1, compute_kernel_config=kernel, config=minimal(blocks, (2, 2), FUSED_GRID), num_buffers_per_channel=None, num_links=4, num_workers_per_link=1, ring_size=COLUMNS, scalar="1", topology="Topology::Ring")  # fmt: skip
            return block
        down = block.op("ff2", "MinimalMatmul", (wide, weight), block.tensor([1, 1, how.rows, HIDDEN]), us, cores=72, fidelity="HiFi2", compute_kernel_config=kernel, config=minimal(blocks, (2, 2), GRID), fused_activation=None, output_dtype=None, output_mem_config=wide.placement)  # fmt: skip
        workers, per_sync = how.scatter_chunks
        part = block.op("scatter", "ReduceScatterMinimalAsync", (down,), block.tensor([1, 1, how.rows, PART]), how.scatter, cores=24, fidelity="HiFi4", chunks_per_sync=per_sync, cluster_axis=0, dim=3, num_buffers_per_channel=2, num_links=4, num_workers_per_link=workers, output_mem_config=down.placement, ring_size=COLUMNS, sub_device_id=None, topology="Topology::Ring")  # fmt: skip
        block.op("gate", "Ternary", (x, part, gate_2), block.tensor(x.shape), how.gate, cores=72, fidelity="HiFi4", dtype="DataType::BFLOAT16", memory_config=x.placement, scalar="1", ternary_op_type="TernaryOpType::ADDCMUL", ternary_variant="TernaryVariant::TTT")  # fmt: skip
        return block

    return build


PROFILED = How(
    13664, (15700, (8, 7, 10)), (6860, (8, 7, 10)), (10260, (8, 7, 12)), (6290, (8, 8, 6)), (174_560, 256, 512)
)
UNTUNED = replace(
    PROFILED, ff1=(16718, (8, 3, 14)), ff2=(7013, (8, 8, 8)), qkv=(10402, (8, 7, 12)), out=(5290, (8, 8, 6))
)
FUSED = replace(
    PROFILED, ff1=(15290, (8, 7, 10)), ff2=(8610, (6, 7, 8)), sdpa=(172_160, 256, 512), scatter=0, tables=1742
)
TEN = replace(PROFILED, rows=9184, ff1=(10542, (8, 7, 10)), ff2=(4800, (8, 7, 10)), qkv=(7173, (8, 7, 12)), out=(3559, (8, 8, 6)), sdpa=(79_000, 256, 512), scatter=1870, gate=430, tables=1170, others=0.67)  # fmt: skip
FIVE = replace(PROFILED, rows=4736, ff1=(6175, (8, 7, 10)), ff2=(2798, (8, 8, 8)), qkv=(4186, (8, 7, 12)), out=(2025, (8, 8, 6)), sdpa=(22_500, 320, 512), scatter=970, gate=220, tables=605, others=0.35)  # fmt: skip
SUMS_IN_32 = r"fp32_dest_acc_en|fp32 dest|sums? in 32|FLOAT32.{0,30}(sum|accum)|accumulat.{0,30}(fp32|FLOAT32)"
FUSED_SCATTER = r"minimal_matmul_strided_reduce_scatter|(fus|one op|join).{0,60}(reduce.?scatter)|reduce.?scatter.{0,60}(fus|one op|in the matmul)"
LARGER = r"q_chunk\w*\W{0,4}(320|384|448|512|640|768|1024)|k_chunk\w*\W{0,4}(640|768|1024)"
SMALLER = r"q_chunk\w*\W{0,4}(32|64|96|128|160|192|224)\b|k_chunk\w*\W{0,4}(64|128|256|384)\b"
UNFUSED = r"(?<!matmul_)all_gather_async|gather.{0,60}(apart|separate|of its own|first)"
COPIES = r"cop(y|ies)|replicat|duplicat|repeat"
MADE_UP = "order, shapes and single times of the ops that gather weights, turn layouts and make the tables, of which the source tells sums; gaps"
SCALED = f"all times but those of the four projections; attention's chunks; {MADE_UP}"
CLIP = "1344 x 768 pixels, 13664 rows on a chip"

MINIMAX_H3 = (
    laid(
        "h3-15s-untuned", README, f"a block for 15 s, {CLIP}: blocks of the projections as carried over from Blackhole",
        layer(UNTUNED),
        (
            gain("ff1", "blocks of 8x7x10 tiles for ff1", 1008.1, "ff1", MINIMAL_BLOCKS, "16718.0 -> 15709.9 us, the best of 320"),
            gain("ff2", "blocks of 8x7x10 tiles for ff2", 242.4, "ff2", MINIMAL_BLOCKS, "7013.1 -> 6770.7 us; 6668.2 with 12x7x8, whose results nobody checked"),
            gain("out", "blocks of 12x8x6 tiles for out", 149, "out", MINIMAL_BLOCKS, "5214 -> 5065 us with its epilogue; without it an earlier sweep found 0.5 % with 14x8x6", APART),
            dead("qkv", "other blocks for QKV", "qkv", MINIMAL_BLOCKS, "10401.8 -> 10351.4 us with 8x6x12, as much as runs differ; by a later sweep of 425 the first is the best"),
        ),
        f"{MADE_UP}; which of these states all stood in one run",
    ),
    laid(
        "h3-15s", README, f"a block for 15 s, {CLIP}, as profiled: 246.9 ms", layer(PROFILED),
        (
            gain("scatter-in-ff2", "ff2, its reduce-scatter and the gated sum as one op on 8 x 7 cores", 1720, "ff2 scatter gate", FUSED_SCATTER, "6.90 + 2.79 + 0.64 -> 8.61 ms in the block", FF2),
            gain("workers", "four workers and 32 chunks a sync for the reduce-scatter", 470, "scatter", rf"{COLLECTIVE}|chunks_per_sync", "10.64 -> 10.17 ms for ff2, scatter and sum, timed by the host", FF2),
            gain("ff1-sums", "sums in 16 bits for ff1", 563, "ff1", SUMS_IN_32, "15725 -> 15162 us; error 0.0087 -> 0.0169 for a bar of 0.02", FF1),
            gain("out-sums", "sums in 16 bits for out", 190, "out", SUMS_IN_32, "5.43 -> 5.24 ms, timed by the host", OUT),
            gain("qkv-sums", "sums in 16 bits for QKV", None, "qkv", SUMS_IN_32, "11.22 -> 10.67 ms on one chip without the gather; with subblocks of 4x2 11.30 -> 10.32 on the ring", QKV),
            gain("ff1-lofi", "LoFi for ff1", None, "ff1", LOFI, "16.08 -> 14.52 ms, timed by the host, to find what binds; nobody judged its pictures", FF1),
            gain("out", "blocks of 12x8x6 tiles for out", 149, "out", MINIMAL_BLOCKS, "5214 -> 5065 us", APART),
            gain("ff2", "blocks of 12x7x8 tiles for ff2", 102.5, "ff2", MINIMAL_BLOCKS, "6770.7 -> 6668.2 us; nobody checked its results"),
            dead("ff1-blocks", "other blocks for ff1", "ff1", MINIMAL_BLOCKS, "15164 -> 15156 us with 8x6x10, the best of 320", APART),
            dead("qkv-blocks", "other blocks for QKV", "qkv", MINIMAL_BLOCKS, "these are the best of 425: 10261 us", APART),
            dead("ff1-deep", "K blocks of 14 or 21 tiles for ff1", "ff1", r"K_block\w*\W{0,4}(14|21|28|42)", "15725 -> 16227 us and more", FF1),
            dead("ff1-subblock", "subblocks of 4x1 for ff1", "ff1", r"subblock", "16.06 -> 18.28 ms", FF1),
            dead("ff1-low", "M blocks of 4 tiles for ff1", "ff1", r"M_block\w*\W{0,4}[1-6]\b", "16.06 -> 23.68 ms", FF1),
            dead("qkv-deep", "K blocks of 14 tiles for QKV", "qkv", r"K_block\w*\W{0,4}(14|21|28|42)", "refused: beyond L1", QKV),
            dead("out-deep", "K blocks of 14 tiles for out", "out", r"K_block\w*\W{0,4}(14|28|56)", "4333 -> 4568 us in the sweep without its epilogue", OUT),
            dead("qkv-apart", "QKV's gather and its matmul apart, on 72 cores, each at its best", "qkv", UNFUSED, "10261 -> 11511 us", APART),
            dead("ff1-apart", "ff1's gather and its matmul apart, on 72 cores, each at its best", "ff1", UNFUSED, "15164 -> 16201 us", APART),
            dead("out-apart", "out's gather and its matmul apart, on 72 cores, each at its best", "out", UNFUSED, "5214 -> 6606 us", APART),
            dead("larger-chunks", "larger chunks for attention", "sdpa", LARGER, "refused: beyond L1 with queries of 384 and 512, or keys of 640 and more with queries of 256", ATTENTION),
            dead("smaller-chunks", "smaller chunks for attention", "sdpa", SMALLER, "171.7 -> 190.6 ms with queries of 192, 195.0 with keys of 256", EARLIER),
            dead("long-keys", "192 queries with 640 keys", "sdpa", SDPA_CHUNKS, "175.3 -> 184.9 ms, and 171.7 -> 194.0 in another run", ATTENTION),
            dead("other-op", "exp_ring_joint_scaled_dot_product_attention", "sdpa", r"exp_ring_joint", "192.9 -> 206.7 ms on 56 cores and 196.2 on 64, rows padded for it; 191.6 and 193.7 after a change of TTNN", ATTENTION),
            dead("whole-weights", "weights whole on each chip, not gathered", "weights_* adaln_weight adaln_part_* adaln_parts adaln_tiles", r"FSDP|whole|shard.{0,40}weights|weights.{0,40}(replicat|resident)", "refused: out of memory; 13.5 ms less in a profile of one block", README),
            dead("sync", "4, 8 or 16 chunks a sync for the reduce-scatter, two workers", "scatter", r"chunks_per_sync", "10.64 -> 10.71, 10.62 and 10.67 ms", FF2),
            dead("buffers", "four buffers a channel for the reduce-scatter", "scatter", r"num_buffers_per_channel|buffers", "noise", FF2),
        ),
        MADE_UP, 246_920,
    ),
    laid(
        "h3-15s-fused", FF2, f"a block for 15 s, {CLIP}, ff2 with its reduce-scatter as one op: 242.6 ms",
        layer(FUSED),
        (
            gain("tables", "16 copies of each row of the modulation's tables, rows spread over them", 8060, "table_?", COPIES, "10.45 -> 2.39 ms: all cores had read three rows, each in one bank; the block 238.5 -> 230.8 ms", README),
            dead("blocks", "blocks of 6x8x8 tiles for ff2", "ff2", MINIMAL_BLOCKS, "8.539 -> 8.508 ms alone, refused in the block: L1 is taken", FF2),
            dead("blocks-in-dram", "larger blocks for ff2, its result through DRAM", "ff2", r"M_block\w*\W{0,4}(8|10|12|14|16)\b|N_block\w*\W{0,4}(10|12|14|16)\b", "8.539 -> 8.948 ms with 8x7x12, 9.414 with 8x14x7", FF2),
            dead("wide-grid", "ff2 on 8 x 8 cores, two links for the scatter", "ff2", CORES, "12.33 ms with its result through DRAM, 10.86 with a window in L1; 10.61 and 10.34 on 8 x 7 with the same blocks", FF2),
            dead("narrow-grid", "ff2 on 8 x 6 cores", "ff2", r"8 ?x ?6|\b48 cores|fewer cores", "10.61 -> 11.40 ms", FF2),
            dead("links", "two links with three workers each for ff2's scatter", "ff2", r"num_links|workers", "8.539 -> 8.445 ms in the sweep, 8.88 -> 8.89 on the bench: a tie", FF2),
            dead("channel-buffers", "one or four buffers a channel for ff2's scatter", "ff2", r"num_buffers_per_channel|buffers", "10.26 and 10.30 ms", FF2),
            dead("chunk-width", "a whole block at once for ff2's scatter", "ff2", r"chunk_width", "10.26 -> 10.49 ms", FF2),
        ),
        MADE_UP, 242_570,
    ),
    laid(
        "h3-10s", APART, "a block for 10 s, 9184 rows on a chip, blocks as tuned for 15 s", layer(TEN),
        (
            gain("ff1", "blocks of 12x7x8 tiles for ff1", 529, "ff1", MINIMAL_BLOCKS, "10542 -> 10013 us"),
            gain("qkv", "blocks of 12x7x8 tiles for QKV", 117, "qkv", MINIMAL_BLOCKS, "7173 -> 7056 us"),
            gain("out", "blocks of 12x8x6 tiles for out", 183, "out", MINIMAL_BLOCKS, "3559 -> 3376 us"),
            gain("ff2", "blocks of 10x8x4 tiles for ff2", None, "ff2", MINIMAL_BLOCKS, "6.8 % less than the first blocks took", EARLIER),
            gain("workers", "four workers, 16 chunks a sync and four buffers for the reduce-scatter", 380, "scatter", rf"{COLLECTIVE}|chunks_per_sync", "7.38 -> 7.00 ms for ff2, scatter and sum, timed by the host", FF2),
            dead("qkv-apart", "QKV's gather and its matmul apart, each at its best", "qkv", UNFUSED, "7173 -> 7600 us"),
            dead("ff1-apart", "ff1's gather and its matmul apart, each at its best", "ff1", UNFUSED, "10542 -> 10858 us"),
            dead("out-apart", "out's gather and its matmul apart, each at its best", "out", UNFUSED, "3559 -> 4391 us"),
        ),
        SCALED,
    ),
    laid(
        "h3-5s", APART, "a block for 5 s, 4736 rows on a chip, blocks as tuned for 15 s", layer(FIVE),
        (
            gain("ff1", "blocks of 10x7x10 tiles for ff1", 734, "ff1", MINIMAL_BLOCKS, "6175 -> 5441 us"),
            gain("qkv", "blocks of 10x7x8 tiles for QKV", 358, "qkv", MINIMAL_BLOCKS, "4186 -> 3828 us"),
            gain("out", "blocks of 10x8x6 tiles for out", 211, "out", MINIMAL_BLOCKS, "2025 -> 1814 us"),
            gain("ff2", "blocks of 6x8x12 tiles for ff2", 425, "ff2", MINIMAL_BLOCKS, "15.2 % less: 2373.0 us after", EARLIER),
            gain("workers", "four workers, 16 chunks a sync and four buffers for the reduce-scatter", 160, "scatter", rf"{COLLECTIVE}|chunks_per_sync", "4.33 -> 4.17 ms for ff2, scatter and sum, timed by the host", FF2),
            dead("out-apart", "out's gather and its matmul apart, each at its best", "out", UNFUSED, "2025 -> 2385 us"),
        ),
        SCALED,
    ),
)  # fmt: skip
