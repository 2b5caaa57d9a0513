"""Nemotron 3 Nano 30B (Mamba, attention and experts) on one Blackhole chip (p300c), and on four: decode of one user.

Hidden 2688, the residual in FLOAT32, matmuls at HiFi4. The ledger tells times of whole tokens before and after each
change: a share for each of the layers that it touched. Times of single ops are made up, but of what was changed.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from tests.frozen.build import L1, ROW_MAJOR, Block
from tests.frozen.layer import dead, gain, laid

if TYPE_CHECKING:
    from tests.profiles import Tensor

README = "https://github.com/apande-TT/tt-metal/blob/2451622ddaf59c62f8a1373a4965afe9d69b8b5d/models/demos/nvidia_nemotron_3_nano_30b_a3b_bf16/README.md"
HIDDEN, INNER, HEADS, KV, SIZE, LENGTH = 2688, 4096, 32, 2, 128, 256
EXACT = {"fidelity": "HiFi4", "fp32": True, "out": "FLOAT32"}


def head() -> Block:
    """The last norm, the words' projection and the choice of one."""
    block = Block("blackhole", gap_us=2.0)
    x = block.norm("norm", block.tensor([1, 1, 32, HIDDEN], "FLOAT32"), 60, cores=1)
    logits = block.linear("words", x, 131072, 3100, cores=110, **EXACT)
    block.op("argmax", "ArgMax", (logits,), block.tensor([1, 1, 32, 1], "UINT32", layout=ROW_MAJOR), 17900, cores=1, dim=3, keepdim=True, output_dtype="DataType::UINT32", output_mem_config=logits.placement, sub_core_grids=None, use_multicore=False)  # fmt: skip
    return block


def attention() -> Block:
    """Two heads of keys and values, repeated for all 32 of queries."""
    block = Block("blackhole", gap_us=2.0)
    x = block.tensor([1, 1, 32, HIDDEN], "FLOAT32")
    normed = block.norm("norm", x, 60, cores=1)
    q = block.linear("q", normed, HEADS * SIZE, 95, cores=64, **EXACT)
    k, v = (block.linear(name, normed, KV * SIZE, 25, cores=8, **EXACT) for name in "kv")
    mask = block.tensor([1, 1, LENGTH, 1], "FLOAT32")

    def kept(name: str, new: Tensor) -> Tensor:
        """The cache with a row of it replaced: what was there by a mask, and the new row by its opposite."""
        cache = block.tensor([1, KV, LENGTH, SIZE], "FLOAT32")
        old = block.binary(f"{name}_old", "MUL", cache, mask, 9, cores=16)
        row = block.binary(f"{name}_new", "MUL", block.view(new, [1, KV, 1, SIZE]), mask, 9, cores=16)
        return block.binary(f"{name}_kept", "ADD", old, block.view(row, cache.shape), 9, cores=16)

    def repeated(name: str, one: Tensor) -> Tensor:
        shape = [1, HEADS, LENGTH, SIZE]
        rows = block.moved(f"{name}_rows", "Untilize", one, 22, layout=ROW_MAJOR, cores=16, fidelity="HiFi4")
        many = block.moved(f"{name}_repeated", "Repeat", rows, 190, shape=shape, cores=110)
        return block.moved(f"{name}_tiles", "Tilize", many, 58, layout="TILE", cores=110, fidelity="HiFi4")

    keys, values = (repeated(name, kept(name, one)) for name, one in (("k", k), ("v", v)))

    def product(role: str, a: Tensor, b: Tensor, us: float) -> Tensor:
        out = block.tensor([*a.shape[:-1], b.shape[-1]], "FLOAT32")
        return block.op(role, "Matmul", (a, b), out, us, cores=32, fidelity="HiFi4", bcast_batch=False, compute_kernel_config=block.kernel("HiFi4", fp32=True), output_dtype="DataType::FLOAT32", output_mem_config=out.placement, program_config=None, transpose_a=False, transpose_b=False, user_core_coord=None, user_fused_activation=None)  # fmt: skip

    turned = block.moved("k_turned", "Transpose", keys, 40, shape=[1, HEADS, SIZE, LENGTH], cores=110, fidelity="HiFi4", dim="TransposeOpDim::WH", pad_value=0)  # fmt: skip
    scores = product("scores", block.view(q, [1, HEADS, 32, SIZE]), turned, 34)
    scores = block.unary("scaled", "MUL_UNARY_SFPU", scores, 8, cores=110, parameter="0.0884")
    scores = block.binary("masked", "ADD", scores, block.tensor([1, 1, 32, LENGTH], "FLOAT32"), 12, cores=110)
    soft = block.op("softmax", "Softmax", (scores,), block.tensor(scores.shape, "FLOAT32"), 16, cores=110, fidelity="HiFi4", dim=3, is_causal_mask=False, numeric_stable=True, program_config="SoftmaxDefaultProgramConfig()", scale=None)  # fmt: skip
    context = product("context", soft, values, 34)
    out = block.linear("out", block.view(context, [1, 1, 32, HEADS * SIZE]), HIDDEN, 70, cores=84, **EXACT)
    block.binary("sum", "ADD", x, out, 6, cores=84)
    return block


def _mamba(block: Block, reduce_us: float) -> None:
    part = 4 if reduce_us else 1
    inner = INNER // part
    x = block.tensor([1, 1, 32, HIDDEN], "FLOAT32")
    normed = block.norm("norm", x, 60, cores=1)
    both = block.linear("in", normed, 10304 // part, 190 / part, cores=81, **EXACT)
    mixed = block.slice("slice_mixed", both, (0, 0, 0, 0), (1, 1, 32, 6144 // part), 6)
    gate = block.slice("slice_gate", both, (0, 0, 0, 6144 // part), (1, 1, 32, 6144 // part + inner), 6)
    for tap in range(3):
        mixed = block.binary(
            f"conv_{tap}", "MUL", mixed, block.tensor([1, 1, 1, 6144 // part], "FLOAT32"), 7, cores=96
        )
    mixed = block.unary("silu", "SILU", mixed, 8, cores=96, parameter="0")
    values = block.slice("slice_values", mixed, (0, 0, 0, 0), (1, 1, 32, inner), 6)
    state = block.tensor([1, 64 // part, 64, 128], "FLOAT32")
    state = block.binary(
        "state_decayed", "MUL", state, block.tensor([1, 64 // part, 1, 1], "FLOAT32"), 14, cores=110
    )
    state = block.binary("state", "ADD", state, block.tensor(state.shape, "FLOAT32"), 14, cores=110)
    read = block.op("read", "Matmul", (state, block.tensor([1, 64 // part, 128, 32], "FLOAT32")), block.tensor([1, 64 // part, 64, 32], "FLOAT32", L1), 20, cores=64, fidelity="HiFi4", bcast_batch=False, compute_kernel_config=block.kernel("HiFi4", fp32=True), output_dtype="DataType::FLOAT32", output_mem_config=L1, program_config=None, transpose_a=False, transpose_b=False, user_core_coord=None, user_fused_activation=None)  # fmt: skip
    flat = block.moved("read_flat", "ReshapeView", read, 16, shape=[1, 1, 32, inner], cores=64)
    summed = block.binary("skip", "ADD", flat, values, 6, cores=96)
    gated = block.binary("gated", "MUL", summed, gate, 6, cores=96, rhs="SILU")
    if part == 1:
        rows = block.moved("group_rows", "Untilize", gated, 39, layout=ROW_MAJOR, cores=1, fidelity="HiFi4")
        grouped = block.moved("group_tiles", "TilizeWithValPadding", block.view(rows, [1, 8, 32, inner // 8]), 37, layout="TILE", cores=8, fidelity="HiFi4")  # fmt: skip
        inner_normed = block.norm("norm_groups", grouped, 18, cores=8)
        rows = block.moved("back_rows", "Untilize", inner_normed, 39, layout=ROW_MAJOR, cores=8, fidelity="HiFi4")
        gated = block.moved("back_tiles", "TilizeWithValPadding", block.view(rows, [1, 1, 32, inner]), 37, layout="TILE", cores=1, fidelity="HiFi4")  # fmt: skip
    out = block.linear("out", gated, HIDDEN, 78 / part, cores=84, **EXACT)
    if reduce_us:
        out = block.collective("reduced", "AllReduceAsync", out, HIDDEN, reduce_us, topology="Linear", links=1)
    block.binary("sum", "ADD", x, out, 6, cores=84)


def mamba() -> Block:
    """A Mamba layer whose norm of eight groups takes its input to row major and back."""
    block = Block("blackhole", gap_us=2.0)
    _mamba(block, 0)
    return block


def mesh() -> Block:
    """A quarter of a Mamba layer's heads on each of four chips, summed in FLOAT32."""
    block = Block("blackhole", devices=4, gap_us=2.0)
    _mamba(block, 197)
    return block


MADE_UP = "all times but what the changed ops must have taken at least; cores; gaps"

NEMOTRON = (
    laid(
        "nemotron-head", README, "the choice of a word of 131,072 in tiles: 231.0 ms a token in all",
        head,
        (gain("argmax", "logits in row major, so that all cores choose", 17400, "argmax", r"untilize|ROW_MAJOR|row.major|multi.?core|more cores|use_multicore", "231.0 -> 213.6 ms of a token"),),
        MADE_UP,
    ),
    laid(
        "nemotron-attention", README, "one of six layers of attention: 126.35 ms a token in all",
        attention,
        (gain("repeat", "heads of queries in groups, no keys and values repeated", 483, "k_rows k_repeated k_tiles v_rows v_repeated v_tiles k_turned scores context", r"repeat|group|GQA|scaled_dot_product_attention", "126.35 -> 123.45 ms of a token; a sixth of it"),),
        MADE_UP,
    ),
    laid(
        "nemotron-mamba", README, "one of 23 Mamba layers: 123.19 ms a token in all",
        mamba,
        (gain("tiles", "the groups' shape changed in tiles", 139.6, "group_* back_*", r"reshape|untilize|tilize|row.major|ROW_MAJOR|layout|TILE", "123.19 -> 119.98 ms of a token; a 23rd of it"),),
        MADE_UP,
    ),
    laid(
        "nemotron-mesh", README, "four chips, a quarter of a Mamba layer on each",
        mesh,
        (dead("narrow", "the sum over the chips in BFLOAT16", "reduced", r"bfloat16|BFLOAT16|dtype|narrow|half the bytes", "0.197 -> 0.224 ms with the conversion"),),
        MADE_UP,
    ),
)  # fmt: skip
