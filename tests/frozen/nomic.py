"""Nomic Embed v2 (an encoder whose every other layer has experts) on one Blackhole chip (p300c): both kinds of a layer.

Hidden 768, 12 heads of 64, feed-forward of 3072, 8 experts that all tokens go through; sums in FLOAT32. Batches of 4096,
3072, 2048 and 128 tokens. The ledger is the comments of the port and its roofline: times of calls, and shares.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from tests.frozen.build import DRAM, L1, ROW_MAJOR, Block, chunks, minimal, one_d, two_d
from tests.frozen.layer import TT_METAL, dead, gain, laid
from tests.frozen.names import (
    ACTIVATION_IN_MATMUL,
    BFP4,
    BFP8,
    BLOCK_W,
    BLOCKS,
    CORES,
    HIFI2,
    IN_L1,
    INTERLEAVED_1D,
    LOFI,
    MINIMAL,
    MINIMAL_BLOCKS,
    PACKER,
    SDPA_CHUNKS,
)

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.profiles import Placement, Tensor

FOLDER = "models/experimental/nomic_embed_text_v2_moe"
# The settings' comments are of the state that this roofline measures; their own commit is not told.
SETTINGS = f"{TT_METAL}/0c58c6f05f11e9d6645cbaaa2fd3fa8b36376eb3/{FOLDER}/tt/model_config.py"
ROOFLINE = f"{TT_METAL}/0c58c6f05f11e9d6645cbaaa2fd3fa8b36376eb3/{FOLDER}/docs/ROOFLINE.md"
CONFIGS = f"{TT_METAL}/3db346936c14d433adc9f304ebfbb2718cba98aa/{FOLDER}/tt/matmul_config.py"
EXPERTS_AT = f"{TT_METAL}/1066996087c84e560607be5d1f90e455f43939ee/{FOLDER}/tt/experts.py"
COMMON = f"{TT_METAL}/00bd16ea73b46a4ccdb47b7758b4906b51526c5a/{FOLDER}/tt/common.py"
ATTENTION = f"{TT_METAL}/00bd16ea73b46a4ccdb47b7758b4906b51526c5a/{FOLDER}/tt/attention.py"
HIDDEN, WIDE, HEADS, SIZE, EXPERTS = 768, 3072, 12, 64, 8
GRID = (11, 10)


@dataclass(frozen=True)
class How:
    """A layer at a step of its tuning; times in us."""

    batch: int = 8
    rows: int = 512  # of a sequence
    qkv: float = 119.2
    out: float = 52.5
    sdpa: float = 114.2
    chunk: tuple[int, int] | None = (256, 256)
    attention: Placement = L1
    attention_fidelity: str = "HiFi3"
    attention_exact: bool = True  # sums in FLOAT32
    heads: tuple[float, float] = (36, 28)  # split and joined
    rope: float = 40.8
    tables: Placement = L1
    mask: str | None = None
    scaled: float = 0.0  # the mask multiplied before attention
    up: float = 260
    up_fidelity: str = "HiFi2"
    gelu: float = 0.0  # an op of its own where not 0
    gelu_kind: str = "GELU_TANH"
    down: float = 153.3
    norms: tuple[float, float] = (53, 53)
    packer: bool = True
    family: str = "minimal"  # or "2d", or "small"
    results: Placement = L1  # of the projections
    up_blocks: tuple[int, int, int] = (12, 6, 6)
    qkv_blocks: tuple[int, int, int] = (12, 4, 4)


def _projected(  # noqa: PLR0917
    block: Block, how: How, role: str, x: Tensor, n: int, us: float, fidelity: str, blocks: tuple[int, int, int],
    act: str | None = None,
) -> Tensor:  # fmt: skip
    tiles = how.batch * how.rows // 32
    if how.family == "minimal" and not act:
        weight = block.weight(x.shape[-1], n, "BFLOAT16")
        bias = block.tensor([1, 1, 32, n])
        return block.op(role, "MinimalMatmul", (x, weight, bias), block.tensor([*x.shape[:-1], n], place=how.results), us, cores=110, fidelity=fidelity, compute_kernel_config=block.kernel(fidelity, fp32=True), config=minimal(blocks, (1, 1), GRID), fused_activation=None, output_dtype=None, output_mem_config=how.results)  # fmt: skip
    if how.family == "small":
        config, cores = one_d(GRID, x.shape[-1] // 64, (tiles, 1)), n // 32
    else:
        config, cores = two_d(GRID, 4, (-(-tiles // 10), -(-n // 32 // 11)), act=act), 110
    return block.linear(role, x, n, us, fidelity=fidelity, config=config, cores=cores, place=how.results, packer=how.packer, fp32=True, bias=True)  # fmt: skip


def _attended(block: Block, how: How, x: Tensor) -> Tensor:
    qkv = _projected(block, how, "qkv", x, 3 * HIDDEN, how.qkv, "HiFi3", how.qkv_blocks)
    q, k, v = block.split_heads("heads", qkv, how.heads[0], heads=HEADS, kv=HEADS, size=SIZE, rows=how.rows, batch=how.batch, place=how.attention, cores=110)  # fmt: skip
    tables = [block.tensor([1, 1, how.rows, SIZE], place=how.tables) for _ in range(2)]
    turned = [block.rotary(f"rope_{name}", block.view(one, [1, how.batch * HEADS, how.rows, SIZE]), how.rope, decode=False, cores=110, tables=tables) for name, one in (("q", q), ("k", k))]  # fmt: skip
    given = [block.view(one, q.shape) for one in turned] + [v]
    if how.mask:
        mask = block.tensor([how.batch, 1, how.rows, how.rows], how.mask)
        if how.scaled:
            mask = block.unary("mask_scaled", "MUL_UNARY_SFPU", mask, how.scaled, cores=110, parameter="8")
        given.append(mask)
    config = chunks(*how.chunk, GRID) if how.chunk else None
    attended = block.op(
        "sdpa", "SDPAOperation", given, block.tensor(q.shape, place=how.attention), how.sdpa, cores=110,
        fidelity=how.attention_fidelity, compute_kernel_config=block.kernel(how.attention_fidelity, fp32=how.attention_exact),
        is_causal=False, output_mem_config=how.attention, program_config=config, scale="1", sliding_window_size=None, use_mla=False,
    )  # fmt: skip
    joined = block.join_heads("joined", attended, how.heads[1], place=how.attention, cores=110)
    return _projected(block, how, "out", joined, HIDDEN, how.out, "HiFi3", (12, 4, 3))


def _normed(block: Block, role: str, x: Tensor, residual: Tensor, us: float) -> Tensor:
    """The sum with the residual is in the norm."""
    scales = [block.tensor([1, 1, 1, HIDDEN]) for _ in range(2)]
    return block.op(
        role, "LayerNorm", (x, residual, *scales), block.tensor(residual.shape), us, cores=min(110, residual.shape[0] * residual.shape[-2] // 32),
        fidelity="HiFi4", compute_kernel_config=block.kernel("HiFi4", fp32=True), distributed_norm_stage="DistributedLayerNormStage::NOT_DISTRIBUTED",
        dtype=None, eps="1e-12", fused_activation=None, norm_type="LayerNormType::LAYERNORM", output_mem_config=DRAM,
        program_config="LayerNormDefaultProgramConfig(legacy_reduction=0,legacy_rsqrt=0,use_welford=0)",
    )  # fmt: skip


def dense(how: How) -> Callable[[], Block]:
    def build() -> Block:
        block = Block("blackhole", gap_us=1.0)
        x = block.tensor([how.batch, 1, how.rows, HIDDEN])
        x = _normed(block, "norm_attention", _attended(block, how, x), x, how.norms[0])
        wide = _projected(block, how, "up", x, WIDE, how.up, how.up_fidelity, how.up_blocks, None if how.gelu else how.gelu_kind)  # fmt: skip
        if how.gelu:
            wide = block.unary("gelu", how.gelu_kind, wide, how.gelu, cores=110, parameter="0")
        down = _projected(block, how, "down", wide, HIDDEN, how.down, "HiFi3", (6, 4, 3))
        _normed(block, "norm_feed", down, x, how.norms[1])
        return block

    return build


@dataclass(frozen=True)
class Bank:
    """The experts of 4096 tokens at a step of their tuning; times in us."""

    first: float = 1630
    first_blocks: tuple[int, int, int] | None = None  # None: a 2D config with GELU in it
    gelu: float = 0.0
    gelu_kind: str = "GELU_TANH"
    between: str = "BFLOAT8_B"
    second: float = 590
    second_fidelity: str = "LoFi"
    made: str = "BFLOAT8_B"
    product: float = 241
    gate: str = "BFLOAT8_B"
    total: float = 60


def _routed(block: Block, x: Tensor, tokens: int, part: float) -> Tensor:
    """Weights of the experts, zero but for two a token; FLOAT32 up to the choice. `part` of the times of 4096 tokens."""
    cores = min(64, tokens // 32)
    logits = block.linear("router", x, EXPERTS, 40 * part, dtype="FLOAT32", fidelity="HiFi4", fp32=True, config=one_d(GRID, 8, (max(1, tokens // 2048), 1), in0=False), cores=cores, out="FLOAT32")  # fmt: skip
    soft = block.op("softmax", "Softmax", (logits,), block.tensor(logits.shape, "FLOAT32"), 25 * part, cores=cores, fidelity="HiFi4", dim=3, is_causal_mask=False, numeric_stable=False, program_config="SoftmaxDefaultProgramConfig()", scale=None)  # fmt: skip
    best = (block.tensor([1, 1, tokens, 2], "FLOAT32"), block.tensor([1, 1, tokens, 2], "UINT32"))
    values = block.op("topk", "TopK", (soft,), best, 130 * part, cores=cores, fidelity="HiFi4", dim=3, k=2, largest=True, sorted=True)  # fmt: skip
    values = block.typecast("values_cast", values, "BFLOAT16", 12 * part, cores=cores)
    shape = [1, 1, tokens, EXPERTS]
    empty = block.op("zeros", "FullLike", (logits,), block.tensor(shape), 8 * part, cores=cores, fill_value=0)
    return block.op(
        "scatter", "Scatter", (empty, best[1], values), block.tensor(shape), 83 * part, cores=cores, dim=3
    )


def moe(bank: Bank) -> Callable[[], Block]:
    def build() -> Block:
        block = Block("blackhole", gap_us=1.0)
        how, tokens = How(), 4096
        x = block.tensor([how.batch, 1, how.rows, HIDDEN])
        x = _normed(block, "norm_attention", _attended(block, how, x), x, how.norms[0])
        flat = block.view(x, [1, 1, tokens, HIDDEN])
        weights = _routed(block, flat, tokens, 1.0)
        turned = block.moved("tokens_turned", "Transpose", flat, 45, shape=[1, 1, HIDDEN, tokens], cores=110, fidelity="HiFi4", dim="TransposeOpDim::WH", pad_value=0)  # fmt: skip
        stacked = block.tensor([1, 1, EXPERTS * WIDE, HIDDEN], "BFLOAT8_B")
        wide = block.tensor([1, 1, EXPERTS * WIDE, tokens], bank.between)
        kernel = block.kernel("HiFi2", fp32=True)
        if bank.first_blocks:
            hidden = block.op("first", "MinimalMatmul", (stacked, turned), wide, bank.first, cores=110, fidelity="HiFi2", compute_kernel_config=kernel, config=minimal(bank.first_blocks, (1, 2), GRID), fused_activation=None, output_dtype=f"DataType::{bank.between}", output_mem_config=DRAM)  # fmt: skip
        else:
            config = two_d(GRID, 24, (77, 12), subblock=(1, 4), act="GELU_TANH").replace("out_block_h=77,out_block_w=12", "out_block_h=11,out_block_w=4")  # fmt: skip
            hidden = block.op("first", "Matmul", (stacked, turned), wide, bank.first, cores=110, fidelity="HiFi2", bcast_batch=True, compute_kernel_config=kernel, output_dtype=f"DataType::{bank.between}", output_mem_config=DRAM, program_config=config, transpose_a=False, transpose_b=False, user_core_coord=None, user_fused_activation=None)  # fmt: skip
        if bank.gelu:
            hidden = block.unary("gelu", bank.gelu_kind, hidden, bank.gelu, cores=110, parameter="0")
        each = block.view(hidden, [1, EXPERTS, WIDE, tokens])
        second = block.tensor([1, EXPERTS, HIDDEN, WIDE], "BFLOAT8_B")
        made = block.op("second", "Matmul", (second, each), block.tensor([1, EXPERTS, HIDDEN, tokens], bank.made), bank.second, cores=88, fidelity=bank.second_fidelity, bcast_batch=False, compute_kernel_config=block.kernel(bank.second_fidelity, fp32=True), output_dtype=f"DataType::{bank.made}", output_mem_config=DRAM, program_config=two_d(GRID, 24, (3, 12), subblock=(1, 4), batch=False), transpose_a=False, transpose_b=False, user_core_coord=None, user_fused_activation=None)  # fmt: skip
        gate = block.permute("gate_turned", weights, (0, 3, 1, 2), 25)
        if bank.gate == "BFLOAT8_B" and bank.made == "BFLOAT8_B":
            gate = block.typecast("gate_cast", gate, "BFLOAT8_B", 6, cores=110)
        gated = block.binary("product", "MUL", made, gate, bank.product, cores=110, out=bank.made)
        summed = block.op("total", "FastReduceNC", (gated,), block.tensor([1, 1, HIDDEN, tokens]), bank.total, cores=110, fidelity="HiFi4", dim=1)  # fmt: skip
        summed = block.moved("total_turned", "Transpose", summed, 30, shape=[1, 1, tokens, HIDDEN], cores=110, fidelity="HiFi4", dim="TransposeOpDim::WH", pad_value=0)  # fmt: skip
        summed = block.binary("bias", "ADD", summed, block.tensor([1, 1, 1, HIDDEN]), 25, cores=110)
        _normed(block, "norm_feed", block.view(summed, x.shape), x, how.norms[1])
        return block

    return build


def small(
    first: tuple[float, str, str], second: tuple[float, str, str], *, spread: bool = True
) -> Callable[[], Block]:
    """128 tokens of one text: each matmul's time, weights and fidelity; `spread`: the second one by columns."""

    def build() -> Block:
        block = Block("blackhole", gap_us=6.0)
        how = How(batch=1, rows=128, qkv=16, out=9, sdpa=12, chunk=(32, 128), heads=(12, 9), rope=5, family="small", norms=(14, 14))  # fmt: skip
        tokens = 128
        x = block.tensor([1, 1, tokens, HIDDEN], place=L1)
        x = _normed(block, "norm_attention", _attended(block, how, x), x, how.norms[0])
        weights = _routed(block, x, tokens, 0.2)
        us, dtype, fidelity = first
        mask = block.tensor([1, 1, 1, EXPERTS], layout=ROW_MAJOR)
        bank = block.tensor([1, EXPERTS, HIDDEN, WIDE], dtype)
        wide = block.op("first", "SparseMatmul", (x, bank, mask), block.tensor([1, EXPERTS, tokens, WIDE], "BFLOAT8_B", L1), us, cores=48, fidelity=fidelity, compute_kernel_config=block.kernel(fidelity, fp32=True), is_input_a_sparse=False, is_input_b_sparse=True, nnz="8", output_dtype="DataType::BFLOAT8_B", output_mem_config=L1, program_config=one_d((8, 6), 24, (4, 2), subblock=(2, 2)), user_core_coord=None)  # fmt: skip
        wide = block.unary("gelu", "GELU_TANH", wide, 46, cores=110, place=L1, parameter="0")
        us, dtype, fidelity = second
        config = one_d(GRID, 96, (4, 1), subblock=(4, 1)) if spread else two_d(GRID, 24, (1, 3), subblock=(1, 3), batch=False)  # fmt: skip
        made = block.op("second", "Matmul", (wide, block.tensor([1, EXPERTS, HIDDEN, WIDE], dtype)), block.tensor([1, EXPERTS, tokens, HIDDEN], place=L1), us, cores=24 if spread else 32, fidelity=fidelity, bcast_batch=False, compute_kernel_config=block.kernel(fidelity, fp32=True), output_dtype="DataType::BFLOAT16", output_mem_config=L1, program_config=config, transpose_a=False, transpose_b=True, user_core_coord=None, user_fused_activation=None)  # fmt: skip
        gate = block.permute("gate_turned", weights, (0, 3, 2, 1), 6)
        gated = block.binary("product", "MUL", made, gate, 10, cores=110)
        summed = block.op("total", "FastReduceNC", (gated,), block.tensor([1, 1, tokens, HIDDEN], place=L1), 6, cores=96, fidelity="HiFi4", dim=1)  # fmt: skip
        summed = block.binary("bias", "ADD", summed, block.tensor([1, 1, 1, HIDDEN]), 3, cores=96)
        _normed(block, "norm_feed", summed, x, how.norms[1])
        return block

    return build


DENSE_MADE_UP = "how the times of heads split; norms; gaps; subblocks"
MOE_MADE_UP = "how the times of routing, of dispatch and of the combination split; norms; gaps"
NARROW_GATE = r"bfloat8_b|BFLOAT8_B|cast|same (dtype|format)|mixed|both"
ACCUMULATION = r"fp32_dest_acc"

NOMIC = (
    laid(
        "nomic-dense-first", SETTINGS, "a dense layer, 8 x 512 tokens: 2D configs, attention without one",
        dense(How(qkv=353, out=139, up=377, down=358, gelu=208, gelu_kind="GELU", sdpa=1098, chunk=None, attention=DRAM, attention_fidelity="HiFi4", heads=(50, 40), rope=53, tables=DRAM, packer=False, family="2d", results=DRAM, norms=(70, 78))),
        (
            gain("packer", "sums of K's blocks in L1", 613, "qkv out up down", PACKER, "it halves the dense matmuls by itself"),
            gain("sdpa", "chunks for attention, its tensors in L1, HiFi3", 983, "sdpa", rf"{SDPA_CHUNKS}|{IN_L1}", "1098 -> 115 us"),
        ),
        f"{DENSE_MADE_UP}; the matmuls' times: twice those of their 2D configs",
    ),
    laid(
        "nomic-dense-2d", CONFIGS, "a dense layer, 8 x 512 tokens: 2D configs",
        dense(How(qkv=176.6, out=69.7, up=188.4, down=179, gelu=208, gelu_kind="GELU", rope=53, tables=DRAM, family="2d", results=DRAM, norms=(70, 78))),
        (gain("minimal", "minimal_matmul for the four projections", 83, "qkv out up down", MINIMAL, "11 to 16 % of the best 2D config: 13.5 % here"),),
        f"{DENSE_MADE_UP}; the matmuls' times, by that share",
    ),
    laid(
        "nomic-dense-dram", CONFIGS, "a dense layer, 8 x 512 tokens: results in DRAM, a mask of nothing",
        dense(How(qkv=152.8, out=60.3, up=163, down=154.8, gelu=208, gelu_kind="GELU", sdpa=229, mask="BFLOAT16", rope=53, tables=DRAM, results=DRAM, norms=(72, 84))),
        (
            gain("qkv", "QKV's result in L1", 33.6, "qkv", IN_L1, "22 % of 152.8 us"),
            gain("out", "the output projection's result in L1", 7.8, "out", IN_L1, "13 % of 60.3 us"),
            gain("up", "the first matmul's result in L1", 31, "up", IN_L1, "19 % of 163 us"),
            gain("down", "the second matmul's result in L1, read by the norm", 13, "down norm_feed", IN_L1, "1 % of the matmul; the norms 0.78 -> 0.71 ms over six layers"),
            gain("tanh", "GELU by tanh", 37, "gelu", r"tanh|approx|fast_and_approximate", "208 -> 171 us", SETTINGS),
            gain("tables", "rotary tables in L1", 25, "rope_q rope_k", IN_L1, "1.27 -> 0.97 ms over twelve layers", COMMON),
            gain("norm-weights", "the norms' weights in rows, in L1", 38.4, "norm_attention norm_feed", r"row.major|ROW_MAJOR|(weight|gamma|bias).{0,60}L1", "0.48 of 1.94 ms over 25 norms", COMMON),
            gain("mask", "no mask where nothing is padded", 114.8, "sdpa", r"mask", "it doubled attention's time", SETTINGS),
        ),
        f"{DENSE_MADE_UP}; times before, by the shares",
    ),
    laid(
        "nomic-dense-masked", SETTINGS, "a dense layer, 8 x 512 tokens, padded: the mask in BFLOAT16, sums in BFLOAT16",
        dense(How(sdpa=203, mask="BFLOAT16", scaled=24, attention=DRAM, attention_exact=False, chunk=(512, 256))),
        (
            gain("narrow", "the mask in BFLOAT4_B", 72, "sdpa", rf"{BFP4}|mask", "203 -> 131 us"),
            gain("scale", "the scale in QKV's weights, so that the mask is not multiplied", 24, "mask_scaled", r"scale|fold|constant|every pass|once", "24 us a layer", ATTENTION),
        ),
        DENSE_MADE_UP,
    ),
    laid(
        "nomic-dense-hifi", SETTINGS, "a dense layer, 8 x 512 tokens: HiFi3 for the first matmul, HiFi4 for attention",
        dense(How(up=151.7, up_fidelity="HiFi3", gelu=171, sdpa=125.5, attention_fidelity="HiFi4")),
        (
            gain("up", "HiFi2 for the first matmul", 19.7, "up", HIFI2, "13 %"),
            gain("sdpa", "HiFi3 for attention", 11.3, "sdpa", r"HiFi3|HiFi2|fidelity", "9 %"),
        ),
        DENSE_MADE_UP,
    ),
    laid(
        "nomic-dense-unfused", CONFIGS, "a dense layer, 8 x 512 tokens: GELU apart",
        dense(How(up=132, gelu=171)),
        (gain("gelu", "GELU in the first matmul, as a 2D one", 43, "up gelu", ACTIVATION_IN_MATMUL, "132 + 171 -> 260 us"),),
        DENSE_MADE_UP,
    ),
    laid(
        "nomic-dense-tuned", ROOFLINE, "a dense layer, 8 x 512 tokens, tuned: about 0.95 ms",
        dense(How()),
        (
            dead("hifi2", "HiFi2 for QKV, output and second matmul", "qkv out down", HIFI2, "refused: the embeddings move", SETTINGS),
            dead("acc", "sums in BFLOAT16", "qkv out up down", ACCUMULATION, "2 to 9 % faster and wrong (0.9965 -> 0.9940)", SETTINGS),
            dead("sdpa-acc", "sums in BFLOAT16 in attention", "sdpa", ACCUMULATION, "30 % faster and refused for its error", SETTINGS),
            dead("lut", "GELU from a table", "up", r"fast_and_approximate|FastLut|table|approx", "refused: five tests of accuracy fail", SETTINGS),
            dead("chunks", "chunks of 512 and 512", "sdpa", SDPA_CHUNKS, "refused: does not fit in L1", ATTENTION),
            dead("blocks", "other blocks for the first matmul", "up", BLOCKS, "259.7 -> 274 to 317 us, or within 1 %"),
            dead("sync", "the whole destination register at once", "qkv out up down", r"dst_full_sync", "slower where it is right", SETTINGS),
            dead("norm-weights", "the norms' tiled weights in L1", "norm_attention norm_feed", r"(weight|gamma|bias).{0,60}L1", "refused: no room beside attention's buffers", COMMON),
        ),
        DENSE_MADE_UP, 950,
    ),
    laid(
        "nomic-dense-384", CONFIGS, "a dense layer, 8 x 384 tokens: attention's tensors in DRAM",
        dense(How(rows=384, qkv=90, out=40, up=190, up_blocks=(9, 6, 6), gelu=128, down=115, sdpa=96, chunk=(384, 384), attention=DRAM, heads=(47, 37), rope=54, norms=(41, 41))),
        (
            gain("attention-l1", "heads, rotary, attention and joining in L1", 96.7, "heads rope_q rope_k sdpa joined", IN_L1, "3.46 -> 2.30 ms over twelve layers", ATTENTION),
            gain("up-blocks", "the tokens on the grid's rows and half of them a block", 50, "up", MINIMAL_BLOCKS, "190 -> 140 us"),
        ),
        f"{DENSE_MADE_UP}; all other times, by the tokens",
    ),
    laid(
        "nomic-dense-384-tuned", ATTENTION, "a dense layer, 8 x 384 tokens, tuned",
        dense(How(rows=384, qkv=90, out=40, up=199.9, down=115, sdpa=72.7, chunk=(384, 192), heads=(24, 20), rope=36, norms=(41, 41))),
        (dead("chunks", "chunks of 128 and 384", "sdpa", SDPA_CHUNKS, "72.7 -> 63.5 us and wrong rows at ten texts and more"),),
        f"{DENSE_MADE_UP}; all other times, by the tokens",
    ),
    laid(
        "nomic-dense-2048", CONFIGS, "a dense layer, 4 x 512 tokens",
        dense(How(batch=4, qkv=99, qkv_blocks=(6, 4, 4), out=28, up=128, up_blocks=(6, 6, 6), gelu=86, down=78, sdpa=70, heads=(19, 15), rope=21, norms=(30, 30))),
        (
            gain("qkv-blocks", "the tokens on the grid's rows and half of them a block, for QKV", 19, "qkv", MINIMAL_BLOCKS, "99 -> 80 us"),
            gain("up-blocks", "the same for the first matmul", 29, "up", MINIMAL_BLOCKS, "128 -> 99 us"),
        ),
        f"{DENSE_MADE_UP}; all other times, by the tokens",
    ),
    laid(
        "nomic-moe-wide", SETTINGS, "a layer of experts, 4096 tokens: BFLOAT16 between their matmuls, exact GELU",
        moe(Bank(first=947, first_blocks=(14, 8, 4), gelu=1645, gelu_kind="GELU", between="BFLOAT16", second=1003, second_fidelity="HiFi3", made="BFLOAT16", product=420, total=105)),
        (
            gain("between", "BFLOAT8_B between the matmuls", 271, "first second", BFP8, "17 % of the first matmul and 11 % of the second"),
            gain("tanh", "GELU by tanh", 292, "gelu", r"tanh|approx|fast_and_approximate", "1645 -> 1353 us"),
        ),
        f"{MOE_MADE_UP}; times before, by the shares",
    ),
    laid(
        "nomic-moe-blocks", CONFIGS, "a layer of experts, 4096 tokens: each core's share of the first matmul in two blocks",
        moe(Bank(first=997, first_blocks=(14, 8, 7), gelu=1353, second=893, second_fidelity="HiFi3", made="BFLOAT16", product=420, total=105)),
        (
            gain("blocks", "blocks of two tiles of tokens for the first matmul", 174, "first", MINIMAL_BLOCKS, "997 -> 823 us"),
            gain("lofi", "LoFi for the second matmul", 223, "second", LOFI, "25 %", SETTINGS),
            gain("made", "the second matmul's result in BFLOAT8_B, and what reads it", 143, "second total", BFP8, "11 % of the matmul and 43 % of the sum", SETTINGS),
        ),
        MOE_MADE_UP,
    ),
    laid(
        "nomic-moe-mixed", EXPERTS_AT, "a layer of experts, 4096 tokens: BFLOAT8_B multiplied by BFLOAT16",
        moe(Bank(first=786, first_blocks=(14, 8, 2), gelu=1353, product=1338, gate="BFLOAT16")),
        (gain("gate", "the gate in BFLOAT8_B too", 1097, "product", NARROW_GATE, "1338 -> 241 us"),),
        MOE_MADE_UP,
    ),
    laid(
        "nomic-moe-unfused", CONFIGS, "a layer of experts, 4096 tokens: GELU apart",
        moe(Bank(first=786, first_blocks=(14, 8, 2), gelu=1353)),
        (
            gain("gelu", "GELU in the first matmul, as a 2D one", 509, "first gelu", ACTIVATION_IN_MATMUL, "786 + 1353 -> 1630 us"),
            dead("lofi", "LoFi for the first matmul", "first", LOFI, "827 -> 907 us", SETTINGS),
            dead("acc", "sums in BFLOAT16 for the first matmul", "first", ACCUMULATION, "no faster", SETTINGS),
            dead("gelu-format", "GELU in BFLOAT16", "gelu", r"bfloat16|BFLOAT16|dtype|format", "the same in either format", SETTINGS),
        ),
        MOE_MADE_UP,
    ),
    laid(
        "nomic-moe-tuned", ROOFLINE, "a layer of experts, 4096 tokens, tuned: about 3.5 ms",
        moe(Bank()),
        (
            dead("first-blocks", "other blocks for the first matmul", "first", BLOCKS, "1630 -> 1687 to 1963 us", CONFIGS),
            dead("second-block", "in0_block_w 32 for the second matmul", "second", BLOCK_W, "893 -> 920 us", CONFIGS),
            dead("subblock", "a subblock of three rows for the second matmul", "second", r"subblock", "1 to 4 % slower", CONFIGS),
            dead("lut", "GELU from a table", "first", r"fast_and_approximate|FastLut|table", "refused: five tests of accuracy fail", SETTINGS),
            dead("router", "a lower fidelity for the router", "router", r"fidelity|HiFi2|HiFi3|LoFi", "the same at each", SETTINGS),
        ),
        MOE_MADE_UP,
    ),
    laid(
        "nomic-small-wide", SETTINGS, "a layer of experts, 128 tokens: BFLOAT16 weights of the first matmul, a 2D second one",
        small((103.3, "BFLOAT16", "HiFi2"), (190, "BFLOAT8_B", "LoFi"), spread=False),
        (
            gain("first", "BFLOAT8_B weights of the first matmul", 25.8, "first", BFP8, "25 %"),
            gain("second", "the second matmul by columns, each core its own", 32, "second", INTERLEAVED_1D, "190 -> 158 us", CONFIGS),
        ),
        MOE_MADE_UP,
    ),
    laid(
        "nomic-small-hifi", SETTINGS, "a layer of experts, 128 tokens: HiFi3, BFLOAT16 weights of the second matmul",
        small((92.3, "BFLOAT8_B", "HiFi3"), (166.3, "BFLOAT16", "HiFi3")),
        (
            gain("first", "HiFi2 for the first matmul", 14.8, "first", HIFI2, "16 %"),
            gain("second", "BFLOAT8_B weights of the second matmul", 8.3, "second", BFP8, "5 %"),
            gain("lofi", "LoFi for the second matmul", 10, "second", LOFI, "5 to 7 %"),
        ),
        MOE_MADE_UP,
    ),
    laid(
        "nomic-small-tuned", CONFIGS, "a layer of experts, 128 tokens, tuned",
        small((77.5, "BFLOAT8_B", "HiFi2"), (158, "BFLOAT8_B", "LoFi")),
        (
            dead("first-block", "blocks of 12 or 2 for the first matmul", "first", BLOCK_W, "77.5 -> 83.1 and 141 us"),
            dead("first-cores", "96 cores, or 32 and 24, for the first matmul", "first", CORES, "refused: no rectangle; slower"),
            dead("first-bfp4", "BFLOAT4_B weights of the first matmul", "first", BFP4, "1.5 % faster and refused (0.992 -> 0.964)", SETTINGS),
            dead("second-block", "blocks of 24 for the second matmul", "second", BLOCK_W, "129 -> 136 us at three rows of tiles"),
            dead("dense-bfp8", "BFLOAT8_B weights of the projections", "qkv out", BFP8, "1.6 % faster and refused for its error", SETTINGS),
            dead("minimal", "minimal_matmul for the projections", "qkv out", MINIMAL, "1.1 to 2 times slower"),
            dead("gate", "the gate in BFLOAT8_B", "product", NARROW_GATE, "8 to 13 us of conversion to save 2", EXPERTS_AT),
        ),
        MOE_MADE_UP,
    ),
)  # fmt: skip
