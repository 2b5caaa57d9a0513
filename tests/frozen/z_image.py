"""Z-Image Turbo (it paints) as a compiler wrote it: its block on one Blackhole chip, and shared by four.

30 blocks of 3840 columns (30 heads of 128, feed 10240), two like them before for the picture alone and two for the 32 words,
which take next to nothing: a pass is 32 blocks. One chip: 3648 places; four: 1056, 8 of 32 heads and 2560 of the feed on each.
Queries and keys are turned in pairs of FLOAT32 whose last axis of two is padded to a tile of 32.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from tests.frozen.build import ROW_MAJOR, Block
from tests.frozen.layer import dead, gain, laid
from tests.frozen.names import HIFI2, LOFI, MINIMAL, PACKED, PACKER

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.profiles import Tensor

HOME = "https://github.com/tenstorrent/tt-xla/blob"
SOURCE = f"{HOME}/7f65e8887dd08491032cbe50d76fa40a6931afb9/optimization_report.md"
SWEEP = f"{HOME}/3a2ad5d09e3fbde7a1d4d1f45ae947d8274b7447/matmul_config_sweep_report.md"
OPS = f"{HOME}/f5e55deafc778464c0e420af7f444325c2502970/tt_dit_ops_report.md"
MESH = f"{HOME}/c70987c107c445755277fbcefb50439f76534567/z_image_turbo/proper_tp/codegen_output/transformer/TT_DIT_OPT_REPORT.md"
GRID, CORES, BLOCKS = (13, 10), 130, 32
HIDDEN, SIZE, PAIRS = 3840, 128, 64


@dataclass(frozen=True)
class State:
    """How far the block of one chip had come; `pass_ms` of all 32."""

    pass_ms: float
    fidelity: str = "HiFi4"
    packer: bool = False
    heads: bool = False
    rope: str = "FLOAT32"


COMPILED = State(15_335.8)
HALF = State(15_190.1, fidelity="HiFi2")
PACKING = State(15_191.4, packer=True)
TUNED = State(14_869.0, fidelity="HiFi2", packer=True, heads=True)
SHORT = State(12_480.0, fidelity="HiFi2", packer=True, heads=True, rope="BFLOAT16")


def _multiplied(  # noqa: PLR0917
    block: Block, role: str, x: Tensor, n: int, us: float, state: State, act: str | None = None
) -> Tensor:
    """The weight lies turned: it is turned back before each matmul."""
    k = x.shape[-1]
    weight = block.turned(f"{role}_weight", block.tensor([1, 1, n, k]), 4.4e-6 * 2 * n * k + 20, cores=CORES)
    return block.linear(role, x, n, us, fidelity=state.fidelity, packer=state.packer, fp32=True, cores=CORES, weight=weight, act=act)  # fmt: skip


def _turned(block: Block, role: str, x: Tensor, us: float) -> Tensor:
    """Pairs times cosine and sine; the shares of `us` are guessed."""
    rows, heads, _ = x.shape[-3:]
    wide, one, low = [rows, heads, PAIRS, 2], [rows, heads, PAIRS, 1], [0, 0, 0, 0]
    pairs = block.moved(f"{role}_pairs", "ReshapeView", x, 0.21 * us, shape=wide, cores=CORES)
    real = block.slice(f"{role}_real", pairs, low, one, 0.085 * us)
    other = block.slice(f"{role}_other", pairs, [0, 0, 0, 1], wide, 0.085 * us)
    cos, sin = (block.tensor([rows, 1, PAIRS, 1], x.dtype) for _ in range(2))
    products = [
        block.binary(f"{role}_{name}", "MUL", half, table, 0.0235 * us, cores=CORES)
        for name, half, table in (("rc", real, cos), ("is", other, sin), ("rs", real, sin), ("ic", other, cos))
    ]
    first = block.binary(f"{role}_minus", "SUB", *products[:2], 0.033 * us, cores=CORES)
    second = block.binary(f"{role}_plus", "ADD", *products[2:], 0.033 * us, cores=CORES)
    both = block.concat(f"{role}_both", (first, second), wide, 3, 0.25 * us)
    return block.moved(f"{role}_joined", "ReshapeView", both, 0.21 * us, shape=x.shape, cores=CORES)


def single(state: State, rope_us: float = 0.0) -> Block:
    rows, heads, feed = 3648, 30, 10_240
    short, fast = state.rope == "BFLOAT16", state.fidelity == "HiFi2"
    part = (0.65 if fast else 1.0) - (0.24 if state.packer else 0.0)
    block = Block("blackhole", grid=GRID, gap_us=4.0)
    x = block.tensor([1, 1, rows, HIDDEN])
    mod = block.linear("modulation", block.tensor([1, 1, 32, 256], "FLOAT32"), 4 * HIDDEN, 62, dtype="FLOAT32", out="FLOAT32", fidelity=state.fidelity, packer=state.packer, fp32=True, cores=120, bias=True)  # fmt: skip
    mod = block.typecast("modulation_cast", mod, "BFLOAT16", 9, cores=120)
    parts = [block.slice(f"modulation_{n}", mod, [0, 0, 0, n * HIDDEN], [1, 1, 32, (n + 1) * HIDDEN], 6) for n in range(4)]  # fmt: skip
    scales = [
        block.binary(f"scale_{n}", "ADD", parts[n], block.tensor([1, 1, 32, 32]), 5, cores=120) for n in (0, 2)
    ]
    gates = [block.unary(f"gate_{n}", "TANH", parts[n], 6, cores=120) for n in (1, 3)]

    y = block.binary("scaled_attention", "MUL", block.norm("norm_before", x, 352, cores=114), scales[0], 148, cores=CORES)  # fmt: skip
    given = {}
    for name in "qkv":
        made = _multiplied(block, name, y, HIDDEN, 1_130 * part, state)
        if name == "v":
            if state.heads:
                given["v"] = block.op("v_heads", "NlpCreateHeads", (made,), block.tensor([1, heads, rows, SIZE]), 640, cores=114, head_dim=SIZE, num_kv_heads=0, num_q_heads=heads, transpose_k_heads=False)  # fmt: skip
                continue
            made = block.typecast("v_long", made, "FLOAT32", 310, cores=CORES)
        made = block.moved(f"{name}_shape", "ReshapeView", made, 4_150, shape=[1, rows, heads, SIZE], cores=CORES)
        if name != "v":
            made = block.norm(f"{name}_norm", made, 910, cores=CORES)
            if not short:
                made = block.typecast(f"{name}_long", made, "FLOAT32", 330, cores=CORES)
            made = _turned(block, f"rope_{name}", made, rope_us or 1_000.0)
        made = block.permute(f"{name}_heads", made, (0, 2, 1, 3), 2_620)
        if state.rope == "FLOAT32" or name == "v":
            made = block.typecast(f"{name}_short", made, "BFLOAT16", 350, cores=CORES)
        given[name] = made
    y = block.attend("sdpa", given["q"], given["k"], given["v"], 7_900, config=None, cores=CORES, causal=False, fidelity="HiFi2")  # fmt: skip
    y = _multiplied(block, "out", block.join_heads("joined", y, 210, cores=CORES), HIDDEN, 1_130 * part, state)
    x = _gated(block, "attention", x, y, gates[0], fused=state.heads)
    y = block.binary("scaled_feed", "MUL", block.norm("norm_feed", x, 352, cores=114), scales[1], 148, cores=CORES)
    up = _multiplied(block, "w1", y, feed, 2_960 * part, state, act="SILU")
    wide = block.binary(
        "product", "MUL", up, _multiplied(block, "w3", y, feed, 2_930 * part, state), 530, cores=CORES
    )
    _gated(
        block, "feed", x, _multiplied(block, "w2", wide, HIDDEN, 2_900 * part, state), gates[1], fused=state.heads
    )
    if rope_us:
        return block
    rest = sum(op.kernel_ns for op in block.program.device_ops) / 1e3 - 2_000.0
    return single(state, (state.pass_ms * 1e3 / BLOCKS - rest) / 2)


def _gated(block: Block, role: str, x: Tensor, y: Tensor, gate: Tensor, *, fused: bool) -> Tensor:
    y = block.norm(f"norm_{role}_after", y, 352, cores=114)
    if fused:
        return block.op(f"sum_{role}", "Ternary", (x, y, gate), x, 225, cores=CORES, fidelity="HiFi4", memory_config=x.placement, ternary_op_type="TernaryOpType::ADDCMUL", ternary_variant="TernaryVariant::TTT")  # fmt: skip
    return block.binary(f"sum_{role}", "ADD", x, block.binary(f"gated_{role}", "MUL", y, gate, 148, cores=CORES), 202, cores=CORES)  # fmt: skip


# Four chips.
ROWS, HEADS, FEED, CHIPS = 1056, 8, 2560, 4


@dataclass(frozen=True)
class Step:
    """How far the block of four chips had come."""

    norms: bool = False
    minimal: bool = False
    packed: bool = False


def _root(block: Block, role: str, x: Tensor) -> Tensor:
    """FLOAT32, op by op: the root of the mean of the squares."""
    short = 24 if x.shape[-1] == SIZE else 11
    thin = [*x.shape[:-1], 32]
    square = block.unary(f"{role}_square", "POWER", x, 86, cores=CORES, parameter="2")
    total = block.moved(f"{role}_sum", "Reduce", square, 95, shape=thin, cores=33, fidelity="HiFi4", math_op="ReduceOpMath::SUM", reduce_dim="ReduceOpDim::W")  # fmt: skip
    mean = block.binary(f"{role}_mean", "MUL", total, block.tensor([1, 1, 32, 32], "FLOAT32"), short, cores=33)
    return block.unary(f"{role}_root", "RSQRT", block.binary(f"{role}_eps", "ADD", mean, block.tensor([1, 1, 32, 32], "FLOAT32"), short, cores=33), short, cores=33)  # fmt: skip


def _hidden_norm(block: Block, role: str, x: Tensor, step: Step) -> Tensor:
    if step.norms:
        x = block.typecast(f"{role}_short", x, "BFLOAT16", 60, cores=CORES) if x.dtype == "FLOAT32" else x
        return block.norm(role, x, 112, cores=33)
    x = block.typecast(f"{role}_long", x, "FLOAT32", 60, cores=CORES) if x.dtype != "FLOAT32" else x
    made = block.binary(f"{role}_norm", "MUL", x, _root(block, role, x), 112, cores=CORES)
    made = block.typecast(f"{role}_short", made, "BFLOAT16", 60, cores=CORES)
    return block.binary(f"{role}_weighted", "MUL", made, block.tensor([1, 1, 32, HIDDEN]), 55, cores=CORES)


def _apart(block: Block, role: str, x: Tensor, shape: list[int]) -> Tensor:
    """Another shape by way of rows."""
    flat = block.moved(f"{role}_rows", "UntilizeWithUnpadding", x, 1_380, layout=ROW_MAJOR, cores=18)
    flat = block.moved(f"{role}_shape", "ReshapeView", flat, 86, shape=shape, cores=14)
    return block.moved(
        f"{role}_tiles", "TilizeWithValPadding", flat, 185, layout="TILE", cores=77, fidelity="HiFi4"
    )


def _head_norm(block: Block, role: str, x: Tensor, step: Step) -> Tensor:
    if step.norms:
        x = block.typecast(f"{role}_short", x, "BFLOAT16", 55, cores=CORES) if x.dtype == "FLOAT32" else x
        return block.typecast(f"{role}_long", block.norm(role, x, 96, cores=CORES), "FLOAT32", 55, cores=CORES)
    x = block.typecast(f"{role}_long", x, "FLOAT32", 55, cores=CORES) if x.dtype != "FLOAT32" else x
    root, wide = _root(block, role, x), [ROWS, HEADS, PAIRS, 2]
    root = block.moved(f"{role}_rooted", "ReshapeView", root, 86, shape=[ROWS, HEADS, 1, 1], cores=14)
    pairs = block.binary(f"{role}_norm", "MUL", _apart(block, f"{role}_pairs", x, wide), root, 365, cores=CORES)
    weight = block.typecast(f"{role}_weight", block.tensor([1, 1, PAIRS, 2]), "FLOAT32", 6, cores=2)
    pairs = block.binary(f"{role}_weighted", "MUL", pairs, weight, 345, cores=CORES)
    return _apart(block, f"{role}_whole", pairs, x.shape)


def _mesh_rope(block: Block, role: str, x: Tensor) -> Tensor:
    one, wide, low = [ROWS, HEADS, PAIRS, 1], [ROWS, HEADS, PAIRS, 2], [0, 0, 0, 0]
    index = block.tensor([1, 1, 1, 1024], "UINT32", layout=ROW_MAJOR)
    axes = []
    for axis, count, columns in (("f", 1536, 32), ("h", 512, 48), ("w", 512, 48)):
        table = block.tensor([1, 1, count, columns], layout=ROW_MAJOR)
        axes.append(block.op(f"{role}_{axis}", "Embeddings", (index, table), block.tensor([1024, 1, columns // 2, 2], layout=ROW_MAJOR), 8, cores=30, embeddings_type="EmbeddingsType::GENERIC", pad_token=None, tilized=False))  # fmt: skip
    picture = block.concat(f"{role}_axes", axes, [1024, 1, PAIRS, 2], 2, 104)
    table = block.concat(f"{role}_all", (picture, block.tensor([32, 1, PAIRS, 2], layout=ROW_MAJOR)), [ROWS, 1, PAIRS, 2], 0, 104)  # fmt: skip
    table = block.moved(
        f"{role}_table", "TilizeWithValPadding", table, 66, layout="TILE", cores=77, fidelity="HiFi4"
    )
    cos = block.slice(f"{role}_cos", table, low, [ROWS, 1, PAIRS, 1], 210)
    sin = block.slice(f"{role}_sin", table, [0, 0, 0, 1], [ROWS, 1, PAIRS, 2], 210)

    pairs = _apart(block, f"{role}_pairs", x, wide)
    real, other = block.slice(f"{role}_real", pairs, low, one, 890), block.slice(f"{role}_other", pairs, [0, 0, 0, 1], wide, 890)  # fmt: skip
    products = [
        block.binary(f"{role}_{name}", "MUL", half, given, 345, cores=CORES)
        for name, half, given in (("rc", real, cos), ("is", other, sin), ("rs", real, sin), ("ic", other, cos))
    ]
    halves = [block.binary(f"{role}_minus", "SUB", *products[:2], 465, cores=CORES), block.binary(f"{role}_plus", "ADD", *products[2:], 465, cores=CORES)]  # fmt: skip
    flat = [block.moved(f"{role}_rows_{n}", "UntilizeWithUnpadding", half, 1_380, layout=ROW_MAJOR, cores=18) for n, half in enumerate(halves)]  # fmt: skip
    both = block.concat(f"{role}_both", flat, wide, 3, 104)
    made = block.moved(f"{role}_joined", "ReshapeView", both, 86, shape=x.shape, cores=14)
    made = block.moved(f"{role}_tiles", "Tilize", made, 92, layout="TILE", cores=121, fidelity="HiFi4")
    return block.typecast(f"{role}_short", block.turned(f"{role}_heads", made, 66, dims="CH", cores=126), "BFLOAT16", 37, cores=85)  # fmt: skip


def _projected(block: Block, role: str, x: Tensor, n: int, us: float, step: Step, out: str = "BFLOAT16", act: str | None = None) -> Tensor:  # noqa: PLR0917 # fmt: skip
    if step.minimal:
        made = block.minimal(role, x, n, 0.62 * us, fidelity="HiFi4", cores=CORES)
        return block.unary(f"{role}_act", act, made, 38, cores=CORES) if act else made
    weight = block.turned(f"{role}_weight", block.tensor([1, 1, n, x.shape[-1]]), 4.6e-6 * 2 * n * x.shape[-1] + 20, cores=126)  # fmt: skip
    return block.linear(
        role, x, n, us, fidelity="HiFi2", packer=False, cores=CORES, weight=weight, act=act, out=out
    )


def _reduced(block: Block, role: str, x: Tensor) -> Tensor:
    mine = block.collective(
        f"{role}_scatter", "ReduceScatter", x, HIDDEN // CHIPS, 430, ring=CHIPS, links=2, cores=12
    )
    return block.typecast(f"{role}_long", block.collective(f"{role}_gather", "AllGather", mine, HIDDEN, 300, ring=CHIPS, links=2, cores=12), "FLOAT32", 60, cores=CORES)  # fmt: skip


def mesh(step: Step) -> Block:
    block = Block("blackhole", devices=CHIPS, grid=GRID, gap_us=180.0)
    x = block.tensor([1, 1, ROWS, HIDDEN], "FLOAT32")
    mod = block.linear("modulation", block.tensor([1, 1, 32, 256]), 4 * HIDDEN, 62, dtype="FLOAT32", out="FLOAT32", fidelity="HiFi2", packer=False, cores=120)  # fmt: skip
    mod = block.binary(
        "modulation_bias", "ADD", mod, block.tensor([1, 1, 32, 4 * HIDDEN], "FLOAT32"), 14, cores=120
    )
    mod = block.typecast("modulation_cast", mod, "BFLOAT16", 9, cores=120)
    parts = [block.slice(f"modulation_{n}", mod, [0, 0, 0, n * HIDDEN], [1, 1, 32, (n + 1) * HIDDEN], 6) for n in range(4)]  # fmt: skip
    scales = [
        block.binary(f"scale_{n}", "ADD", parts[n], block.tensor([1, 1, 32, 32]), 5, cores=120) for n in (0, 2)
    ]
    gates = [block.unary(f"gate_{n}", "TANH", parts[n], 6, cores=120) for n in (1, 3)]

    y = block.binary(
        "scaled_attention", "MUL", _hidden_norm(block, "norm_before", x, step), scales[0], 55, cores=CORES
    )
    columns = HEADS * SIZE
    if step.packed:
        weight = block.weight(HIDDEN, 3 * columns, "BFLOAT16")
        made = [block.tensor([1, 1, ROWS, columns]) for _ in range(3)]
        block.op("qkv", "MinimalMatmulSplit", (y, weight), made, 330, cores=CORES, fidelity="HiFi4", chunks=3, compute_kernel_config=block.kernel("HiFi4", fp32=True, packer=False), config=None, dim=-1, fused_activation=None)  # fmt: skip
    else:
        made = [_projected(block, name, y, columns, 320, step, out="BFLOAT16" if name == "v" else "FLOAT32") for name in "qkv"]  # fmt: skip
    given = []
    for name, one in zip("qkv", made, strict=True):
        if name == "v" and step.packed:
            given.append(
                block.split_heads("v_heads", one, 58, heads=HEADS, kv=0, size=SIZE, rows=ROWS, cores=33)[0]
            )
            continue
        one = block.moved(f"{name}_shape", "ReshapeView", one, 240, shape=[1, ROWS, HEADS, SIZE], cores=CORES)  # noqa: PLW2901
        if name == "v":
            given.append(block.permute("v_heads", one, (0, 2, 1, 3), 407))
        else:
            given.append(_mesh_rope(block, f"rope_{name}", _head_norm(block, f"norm_{name}", one, step)))
    y = block.join_heads("joined", block.attend("sdpa", *given, 410, config=None, cores=CORES, causal=False, fidelity="HiFi2"), 52, cores=33)  # fmt: skip
    y = _reduced(block, "attention", _projected(block, "out", y, HIDDEN, 330, step))
    y = block.binary("gated_attention", "MUL", _hidden_norm(block, "norm_attention_after", y, step), gates[0], 55, cores=CORES)  # fmt: skip
    x = block.binary("sum_attention", "ADD", block.typecast("residual", x, "BFLOAT16", 60, cores=CORES), y, 72, cores=CORES)  # fmt: skip
    y = block.binary("scaled_feed", "MUL", _hidden_norm(block, "norm_feed", x, step), scales[1], 55, cores=CORES)
    up = _projected(block, "w1", y, FEED, 660, step, act="SILU")
    y = block.binary("product", "MUL", up, _projected(block, "w3", y, FEED, 640, step), 48, cores=CORES)
    y = _reduced(block, "feed", _projected(block, "w2", y, HIDDEN, 650, step))
    y = block.binary(
        "gated_feed", "MUL", _hidden_norm(block, "norm_feed_after", y, step), gates[1], 55, cores=CORES
    )
    block.binary("sum_feed", "ADD", x, y, 72, cores=CORES)
    return block


def last() -> Block:
    """What follows the blocks, for the picture's 1024 places: a layer norm op by op, a scale, 64 values each."""
    block = Block("blackhole", devices=CHIPS, grid=GRID, gap_us=180.0)
    x = block.tensor([1, 1, 1024, HIDDEN], "FLOAT32")
    scale = block.linear("modulation", block.unary("modulation_act", "SILU", block.tensor([1, 1, 32, 256]), 5, cores=8), HIDDEN, 30, dtype="FLOAT32", out="BFLOAT16", fidelity="HiFi2", packer=False, cores=120)  # fmt: skip
    mean = block.moved("norm_mean", "Reduce", x, 95, shape=[1, 1, 1024, 32], cores=32, fidelity="HiFi4", math_op="ReduceOpMath::AVG", reduce_dim="ReduceOpDim::W")  # fmt: skip
    y = block.binary("norm_centred", "SUB", x, mean, 110, cores=CORES)
    made = block.binary("norm_scaled", "MUL", y, _root(block, "norm", y), 110, cores=CORES)
    made = block.typecast("norm_short", made, "BFLOAT16", 60, cores=CORES)
    made = block.binary("scaled", "MUL", made, scale, 55, cores=CORES)
    made = block.linear("values", made, 64, 60, fidelity="HiFi2", packer=False, cores=64)
    block.binary("values_bias", "ADD", made, block.tensor([1, 1, 32, 64]), 12, cores=64)
    return block


MATMULS = "q k v out w1 w3 w2 modulation"
FOUR = "q k v out w1 w3 w2 *_weight"
HIFI3, FP32 = r"HiFi3", r"fp32_dest_acc_en"
ROPE = r"typecast|bfloat16|\bBF16\b"
HEADS_OP = r"nlp_create_qkv_heads|create_qkv|split_query_key_value"
NORM_OP = r"rms_norm|one (fused )?(norm|op|kernel)|fus.{0,40}norm|norm.{0,40}fus"
MADE_UP = "all times of ops: they fill a 32nd of a pass (the report tells passes only), most of it the turning of the pairs, as their padded sizes demand; that a turned weight is an op of its own; cores; gaps"
MESH_MADE_UP = "times of most ops: the profile of a later state tells averages of each kind over sizes, which the larger ops here exceed; collectives; that a turned weight is an op of its own; gaps, so that a block takes about a 32nd of a pass"


def _at(state: State) -> Callable[[], Block]:
    return lambda: single(state)


def _on(step: Step) -> Callable[[], Block]:
    return lambda: mesh(step)


def _ms(before: float, after: float) -> float:
    """A block's share of what a pass saves, in us."""
    return round((before - after) * 1e3 / BLOCKS, 1)


Z_IMAGE = (
    laid(
        "zimage-compiled", SOURCE, "a block of a pass of 15,336 ms on a p150, HiFi4", _at(COMPILED),
        (
            gain("hifi2", "HiFi2 for the matmuls", _ms(15_335.8, 15_190.1), MATMULS, HIFI2, "15,335.8 -> 15,190.1 ms of a pass, a 32nd of it; PCC 0.9986", SWEEP),
            gain("packer", "packer_l1_acc for the matmuls", _ms(15_335.8, 15_191.4), MATMULS, PACKER, "15,335.8 -> 15,191.4 ms of a pass, a 32nd of it; PCC better", SWEEP),
            gain("heads", "the values' heads by one op, without FLOAT32 between", _ms(15_338, 15_122), "v_long v_shape v_heads v_short", HEADS_OP, "15,338 -> 15,122 ms of a pass, a 32nd of it", OPS),
            gain("addcmul", "gate and residual as one op", _ms(15_122, 15_114), "gated_* sum_*", r"addcmul|mac\b|one op|fus", "15,122 -> 15,114 ms of a pass with the values' heads by one op", OPS),
            dead("minimal", "minimal_matmul with its default blocks", MATMULS, MINIMAL, "15,338 -> 15,405 ms of a pass: SiLU left the matmul", OPS),
            dead("hifi3", "HiFi3 for the matmuls", MATMULS, HIFI3, "15,335.8 -> 15,271.4 ms, almost nothing beside HiFi2; not taken", SWEEP, faster=True),
            dead("lofi", "LoFi for the matmuls", MATMULS, LOFI, "15,335.8 -> 15,160.6 ms, 0.2 % less than HiFi2, and PCC 0.9956; refused", SWEEP, faster=True),
            dead("fp32", "sums of 16 bits, in matmuls and norms", f"{MATMULS} *norm*", FP32, "15,335.8 -> 15,245.9 ms, and PCC 0.9957; refused", SWEEP, faster=True),
        ),
        MADE_UP,
    ),
    laid(
        "zimage-hifi2", SWEEP, "the same block with HiFi2 matmuls, of a pass of 15,190 ms", _at(HALF),
        (
            gain("packer", "packer_l1_acc for the matmuls", _ms(15_190.1, 15_092.1), MATMULS, PACKER, "15,190.1 -> 15,092.1 ms of a pass, a 32nd of it; PCC better"),
            dead("norms", "HiFi2 for the norms, too", "*norm*", HIFI2, "15,190.1 -> 15,190.5 ms, and PCC 0.9986 -> 0.9976"),
            dead("lofi", "LoFi for the matmuls", MATMULS, LOFI, "15,190.1 -> 15,160.6 ms, and PCC 0.9956; refused", faster=True),
            dead("fp32", "sums of 16 bits in the matmuls", MATMULS, FP32, "15,190.1 -> 15,099.6 ms, and PCC 0.9961; refused", faster=True),
        ),
        MADE_UP,
    ),
    laid(
        "zimage-packer", SWEEP, "the same block with packer_l1_acc, of a pass of 15,191 ms", _at(PACKING),
        (gain("hifi2", "HiFi2 for the matmuls", _ms(15_191.4, 15_092.1), MATMULS, HIFI2, "15,191.4 -> 15,092.1 ms of a pass, a 32nd of it; PCC 0.9993"),),
        MADE_UP,
    ),
    laid(
        "zimage-tuned", SOURCE, "the same block with all of these, of a pass of 14,869 ms", _at(TUNED),
        (
            gain("rope", "queries and keys turned in BFLOAT16", _ms(14_864, 12_480), "rope_* q_long k_long q_short k_short q_heads k_heads", ROPE, "14,864 -> 12,480 ms of a pass, a 32nd of it, after the attention's config"),
            dead("sdpa", "the matmuls' kernel config for the attention", "sdpa", r"compute_kernel_config|HiFi2|packer_l1_acc", "14,869 -> 14,864 ms: called neutral"),
        ),
        MADE_UP,
    ),
    laid(
        "zimage-short", SOURCE, "the same block turned in BFLOAT16, of a pass of 12,480 ms", _at(SHORT),
        (dead("packed", "queries, keys and values from one matmul, and three slices", "q k v", PACKED, "12,480 -> 12,493 ms: reverted"),),
        MADE_UP,
    ),
    laid(
        "zimage-mesh-compiled", MESH, "a block of a pass of 2580 ms on four p150, no trace", _on(Step()),
        (
            gain("norms", "rms_norm in place of nine ops each", None, "norm_*", NORM_OP, "2580 -> 1808 ms of a pass; how much of it the host took is not told"),
            gain("minimal", "minimal_matmul with weights turned once", None, FOUR, MINIMAL, "2580 -> 2410 ms of a pass; how much of it the host took is not told"),
        ),
        MESH_MADE_UP,
    ),
    laid(
        "zimage-mesh-normed", MESH, "the same block with rms_norm, of a pass of 1813 ms", _on(Step(norms=True)),
        (
            gain("minimal", "minimal_matmul with weights turned once", None, FOUR, MINIMAL, "1813 -> 1703 ms of a pass; how much of it the host took is not told"),
            dead("dit", "dit_rms_norm_unary_fused in place of rms_norm", "norm_*", r"dit_rms_norm|unary_fused", "1813 -> 1809 ms: called the same"),
        ),
        MESH_MADE_UP,
    ),
    laid(
        "zimage-mesh-minimal", MESH, "the same block with minimal_matmul, of a pass of 1703 ms", _on(Step(norms=True, minimal=True)),
        (gain("packed", "queries, keys and values from one minimal_matmul_split, the values' heads by one op", None, "q k v v_shape v_heads", PACKED, "1703 -> 1672 ms of a pass; how much of it the host took is not told"),),
        MESH_MADE_UP,
    ),
    laid(
        "zimage-mesh-packed", MESH, "the same block with one matmul for queries, keys and values, of a pass of 1672 ms", _on(Step(norms=True, minimal=True, packed=True)),
        (dead("async", "reduce_scatter_minimal_async and all_gather_async with buffers kept", "*_scatter *_gather", r"async|persistent", "1672 -> 1674 ms; in a run of its own 1699 -> 1674, called noise"),),
        MESH_MADE_UP,
    ),
    laid(
        "zimage-mesh-last", MESH, "what follows the blocks in a pass of 1808 ms", last,
        (dead("norm", "layer_norm in place of seven ops", "norm_*", r"layer_?norm|one (fused )?(norm|op|kernel)|fus.{0,40}norm", "1808 -> 1813 ms: within the noise; it wants BFLOAT16 and tiles first"),),
        MESH_MADE_UP,
    ),
)  # fmt: skip
