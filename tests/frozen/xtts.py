"""XTTS v2, which speaks in another's voice, on one Blackhole chip (P150): its speaker encoder, vocoder and decoder.

The speaker encoder is a SE-ResNet-34 over the mel spectrum of some eight seconds (801 frames of 64 bands), whose rows
are pixels and whose columns are channels; then an attention over time and a linear. The vocoder is a HiFi-GAN: four
stages of three residual blocks each. The decoder is GPT-2: hidden 1024, 16 heads of 64, feed-forward 4096.
The ledger is the comments of the sources: times of single ops beside what was tried instead, times of whole passes.
Which state the other ops of a block were in at each try is not told; here they are as at the end. A pass of the whole
encoder is 16 blocks and a tail: what is told of a pass stands with the block of the first stage.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from math import ceil
from typing import TYPE_CHECKING

from tests.frozen.build import DRAM, L1, ROW_MAJOR, Block, norm_shards, one_d, two_d
from tests.frozen.layer import TT_METAL, dead, gain, laid
from tests.frozen.names import ACTIVATION_IN_MATMUL, BFP8, BLOCK_W, CONFIG, CORES, HIFI2, IN_L1, TWO_D
from tests.profiles import block_sharded, height_sharded
from tests.profiles.conv import Window, conv2d, halo

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.profiles import Placement, Tensor

FOLDER = f"{TT_METAL}/084e08767dfc18b161f7de3cd62a66038b45fbcb/models/experimental/xtts/tt"
ENCODER, VOCODER, DECODER = (f"{FOLDER}/xtts_{name}.py" for name in ("speaker_encoder", "hifigan", "gpt_block"))
GRID, ALL_CORES = (11, 10), 110
STAGES = {1: (801, 64, 32), 2: (401, 32, 64), 3: (201, 16, 128), 4: (101, 8, 256)}  # frames, bands, channels


@dataclass(frozen=True)
class Stage:
    """One block of a stage: two convolutions, squeeze and excitation; times in us."""

    number: int
    convs: tuple[float, float]  # a halo, a convolution
    affine: float  # of a diagonal matmul
    config: bool = True  # it has one
    broadcast: float = 0  # instead, of a multiplication and of an addition
    mean: tuple[float, ...] = ()  # of one reduction; or of two, after transpose and fill
    scaled: float = 12.7
    diagonal: bool = True  # the excitation as a diagonal matmul
    fused: bool = True  # bias and activation in the small linears
    tall: bool = True  # time is the height of the image
    corrected: float = 0  # a multiplication that corrects the mean
    near: bool = True  # sharded


def stage(how: Stage) -> Callable[[], Block]:
    def build() -> Block:
        block = Block("blackhole", grid=GRID, gap_us=0.4)
        time, bands, channels = STAGES[how.number]
        rows = time * bands
        shard = 32 * ceil(rows / ALL_CORES / 32)
        cores = ceil(rows / shard)
        place = height_sharded(shard, channels, cores, width=11)
        home = place if how.near else L1
        hw = (time, bands) if how.tall else (bands, time)
        window = Window(hw, (3, 3), 1, 1)

        def conv(number: int, x: Tensor) -> Tensor:
            if not how.near:  # the op brings its input into blocks, and its output back
                x = block.to_shards(f"conv_{number}_placed", x, block_sharded(96, 32, (8, 9)), 1.5)
            wide = (shard if how.near else 96) + 2 * (hw[1] + 1)
            around = (
                height_sharded(wide, channels, cores, width=11) if how.near else block_sharded(wide, 32, (8, 9))
            )
            haloed = block.tensor(
                [1, 1, wide * (cores if how.near else 9), channels], place=around, layout=ROW_MAJOR
            )
            x = block.put(f"halo_{number}", halo(x, haloed, window, round(how.convs[0] * 1e3)))
            weight, bias = block.tensor([1, 1, 9 * channels, channels]), block.tensor([1, 1, 32, channels])
            out = block.tensor([1, 1, rows, channels], place=place if how.near else block_sharded(96, 32, (8, 9)))
            made = conv2d(
                x, weight, bias, out, window=window, kernel_ns=round(how.convs[1] * 1e3),
                in_channels=channels, act_block_h=shard // 32 if how.near else 3, activation="RELU" if number == 1 else None,
            )  # fmt: skip
            made.attributes = {**made.attributes, "compute_kernel_config": block.kernel("HiFi4", fp32=True)}
            y = block.put(f"conv_{number}", made)
            return y if how.near else block.from_shards(f"conv_{number}_back", y, 1.5, L1)

        def scale(role: str, x: Tensor, us: float, *, config: bool, bias: bool) -> Tensor:
            tiles = channels // 32
            how_made = one_d(GRID, tiles, (shard // 32, tiles), subblock=(1, min(4, tiles)), in0=False)
            return block.linear(role, x, channels, us, fidelity="HiFi4", fp32=True, config=how_made if config else None, grid=None if config else GRID, cores=cores, place=home, bias=bias)  # fmt: skip

        def small(role: str, x: Tensor, n: int, kind: str | None) -> Tensor:
            if how.fused:
                return block.linear(role, x, n, 2.5, fidelity="HiFi4", fp32=True, cores=max(1, n // 32), place=L1, bias=True, grid=(max(1, n // 32), 1), act=kind)  # fmt: skip
            y = block.linear(role, x, n, 1.9, fidelity="LoFi", cores=max(1, n // 32), place=L1)
            y = block.binary(f"{role}_bias", "ADD", y, block.tensor([1, 1, 1, n]), 2.4, cores=ALL_CORES)
            return block.unary(f"{role}_{kind.lower()}", kind, y, 2.4, cores=ALL_CORES) if kind else y

        entry = block.tensor([1, 1, rows, channels], place=home)
        y = conv(1, entry)
        if how.broadcast:
            one = block.tensor([1, 1, 1, channels])
            y = block.binary("affine_scale", "MUL", y, one, how.broadcast, cores=cores)
            y = block.binary("affine_shift", "ADD", y, one, how.broadcast, cores=cores)
        else:
            y = scale("affine", y, how.affine, config=how.config, bias=True)
        y = conv(2, y)
        mean = means(block, how, block.from_shards("flat", y, 2.5, L1) if how.near else y, cores)
        mean = small("squeeze", mean, max(32, channels // 8), "RELU")
        mean = small("excite", mean, channels, None if how.diagonal else "SIGMOID")
        if how.diagonal:
            eye = block.tensor([1, 1, channels, channels])
            block.binary("eye", "MUL", eye, mean, 3.8, cores=ALL_CORES, place=L1, rhs="SIGMOID")
            y = scale("scaled", y, how.scaled, config=how.config, bias=False)
        else:
            y = block.binary("scaled", "MUL", y, mean, how.scaled, cores=cores)
        block.binary("added", "ADD", y, entry, 1.5, cores=cores)
        return block

    return build


def means(block: Block, how: Stage, x: Tensor, cores: int) -> Tensor:
    """The mean of each channel."""
    rows, channels = x.shape[-2:]

    def reduced(role: str, x: Tensor, shape: list[int], us: float, cores: int) -> Tensor:
        return block.op(role, "Reduce", (x,), block.tensor(shape, place=L1), us, cores=cores, fidelity="HiFi4", compute_kernel_config=block.kernel("HiFi4", fp32=True), dim="ReduceOpDim::H", math_op="ReduceOpMath::SUM")  # fmt: skip

    shape = [1, 1, 1, channels]
    if len(how.mean) == 1:
        return reduced("mean", x, shape, how.mean[0], channels // 32)
    tiles = ceil(rows / 32)
    if rows % 32:
        x = block.moved("mean_padded", "FillPad", x, 4.5, cores=cores)
    parts = {1602: 89, 401: 401, 101: 101, 26: 13}[tiles]
    first, turn, fill, last = how.mean
    x = reduced("mean_first", block.view(x, [1, parts, 32 * tiles // parts, channels]), [1, parts, 1, channels], first, min(parts, ALL_CORES))  # fmt: skip
    x = block.turned("mean_turned", x, turn, dims="CH", cores=min(parts, ALL_CORES))
    x = reduced("mean_last", block.moved("mean_filled", "FillPad", x, fill, cores=channels // 32), shape, last, channels // 32)  # fmt: skip
    return block.binary("mean_corrected", "MUL", x, x, how.corrected, cores=ALL_CORES) if how.corrected else x


@dataclass(frozen=True)
class Tail:
    """Attention over time and the last linear; times in us."""

    narrow: bool = True  # BFLOAT16
    folded: bool = True  # the norm between the linears
    relaid: bool = True  # by a reshape and a transpose
    near: Placement = L1
    us: tuple[float, float, float] = (14.3, 7.7, 29.1)  # of the three matmuls
    configs: bool = True
    last: str = "BFLOAT16"
    each: float = 3.0  # of an op of all 2048 x 101 numbers


def tail(how: Tail) -> Callable[[], Block]:
    def build() -> Block:
        block = Block("blackhole", grid=GRID, gap_us=0.4)
        dtype, wide, frames = ("BFLOAT16" if how.narrow else "FLOAT32"), 2048, 101

        def matmul(role: str, m: int, k: int, x: Tensor, us: float, *, config: str, weights: str) -> Tensor:
            weight = block.tensor([m, k], weights)
            return block.op(
                role, "Matmul", (weight, x), block.tensor([m, x.shape[-1]], dtype, how.near), us, fidelity="HiFi4", cores=16,
                bcast_batch=False, compute_kernel_config=block.kernel("HiFi4", fp32=True), output_dtype=f"DataType::{dtype}",
                output_mem_config=how.near, program_config=config if how.configs else None, transpose_a=False,
                transpose_b=False, user_core_coord=None, user_fused_activation=None,
            )  # fmt: skip

        x = block.tensor([1, 1, 808, 256], place=L1)
        if how.relaid:
            x = block.moved("relaid", "ReshapeView", x, 16, shape=[1, 1, frames, wide], cores=ALL_CORES)
            x = block.turned("relaid_turned", x, 13, cores=ALL_CORES)
        else:
            x = block.moved("relaid", "ReshapeView", x, 40, shape=[1, frames, 8, 256], cores=ALL_CORES)
            x = block.permute("relaid_turned", x, (0, 3, 2, 1), 46)
            x = block.moved("relaid_flat", "ReshapeView", x, 36, shape=[1, 1, wide, frames], cores=ALL_CORES)
        if not how.narrow:
            x = block.typecast("widened", x, "FLOAT32", 4, cores=ALL_CORES)
        x = block.view(x, [wide, frames])
        a = matmul("first", 128, wide, x, how.us[0], config=two_d((4, 4), 8, (1, 1)), weights=dtype)
        a = block.binary("first_bias", "ADD", a, block.tensor([128, 1], dtype), how.each, cores=16, place=how.near)
        if not how.folded:
            vectors = [block.tensor([128, 1], dtype) for _ in range(2)]
            a = block.op("norm", "Ternary", (vectors[0], a, vectors[1]), block.tensor(a.shape, dtype, how.near), 11, cores=ALL_CORES, fidelity="HiFi4", ternary_op_type="TernaryOpType::ADDCMUL", memory_config=how.near, output_dtype=f"DataType::{dtype}", scalar_input_a="1")  # fmt: skip
        a = matmul("second", wide, 128, a, how.us[1], config=one_d((8, 8), 4, (1, 4), subblock=(1, 4), in0=False), weights=dtype)  # fmt: skip
        a = block.binary("second_bias", "ADD", a, block.tensor([wide, 1], dtype), how.each, cores=ALL_CORES, place=how.near)  # fmt: skip
        weights = block.softmax("softmax", a, 3 * how.each, cores=64)
        weighted = block.binary("weighted", "MUL", x, weights, how.each, cores=ALL_CORES, place=how.near)
        square = block.binary("square", "MUL", x, weighted, how.each, cores=ALL_CORES, place=how.near)
        sums = [block.op(f"sum_{name}", "Reduce", (one,), block.tensor([wide, 1], dtype, how.near), 1.5 * how.each, cores=64, fidelity="HiFi4", dim="ReduceOpDim::W", math_op="ReduceOpMath::SUM") for name, one in (("mean", weighted), ("square", square))]  # fmt: skip
        mean = block.binary("mean_square", "MUL", sums[0], sums[0], how.each, cores=64, place=how.near)
        spread = block.binary("spread", "SUB", sums[1], mean, how.each, cores=64, place=how.near)
        both = block.concat("both", (sums[0], spread), [4096, 1], 0, 3)
        out = matmul("last", 512, 4096, both, how.us[2], config=two_d((1, 8), 8, (2, 1)), weights=how.last)
        block.binary("last_bias", "ADD", out, block.tensor([512, 1], dtype), 2, cores=16, place=how.near)
        return block

    return build


WIDTHS = {0: (1112, 256), 1: (8896, 128)}  # rows and channels of the vocoder's stages
KERNELS = (3, 7, 11)


@dataclass(frozen=True)
class Voice:
    """A stage of the vocoder: three blocks of six convolutions; times in us."""

    number: int
    convs: tuple[float, float, float]
    adds: tuple[float, float]  # of an addition; of the activation after it
    blocks: bool = False  # block-sharded
    apart: tuple[int, ...] = ()  # blocks that move each convolution's operands from and to DRAM
    double: bool = True


def voice(how: Voice) -> Callable[[], Block]:
    def build() -> Block:
        block = Block("blackhole", grid=GRID, gap_us=0.5)
        rows, channels = WIDTHS[how.number]
        dtype, fidelity = ("FLOAT32", "HiFi4") if how.number == 0 else ("BFLOAT16", "HiFi2")
        count = 35 if how.number == 0 else 93
        place = block_sharded(128, 32, (8, 10)) if how.blocks else height_sharded(32 * ceil(rows / 32 / count), channels, count, width=11)  # fmt: skip
        cores = 80 if how.blocks else count

        def conv(role: str, x: Tensor, *, kernel: int, us: float, out: Placement, act: str | None) -> Tensor:
            weight, bias = block.tensor([1, 1, kernel * channels, channels]), block.tensor([1, 1, 32, channels])
            return block.op(
                role, "Conv2d", (x, weight, bias), block.tensor([1, 1, rows, channels], dtype, out, ROW_MAJOR), us, cores=cores,
                fidelity=fidelity, activation=f"BasicUnaryWithParam<float>(op_type=UnaryOpType::{act},param={{0.1}})" if act else None,
                compute_kernel_config=block.kernel(fidelity, fp32=True), enable_act_double_buffer=how.double,
                enable_weights_double_buffer=how.double and how.number == 0, groups=1, has_bias=True,
                input_tensor_shape=f"{{1, 1, {rows}, {channels}}}", memory_config=out, output_channels=channels,
            )  # fmt: skip

        entry = block.tensor([1, 1, rows, channels], dtype, layout=ROW_MAJOR)
        outs: list[Tensor] = []
        for number, (kernel, us) in enumerate(zip(KERNELS, how.convs, strict=True)):
            far = number in how.apart
            x = entry if far else block.to_shards(f"block_{number}_placed", entry, place, 5)
            for step in range(3):
                role = f"block_{number}_{step}"
                y = x if step == 0 else block.unary(f"{role}_leaky", "LEAKY_RELU", x, how.adds[1] + 6 * far, cores=cores, parameter="0.1")  # fmt: skip
                for half in (0, 1):
                    if far:
                        y = block.to_shards(f"{role}_in_{half}", y, place, 5)
                        y = block.moved(f"{role}_move_{half}", "Move", y, 4, cores=cores)
                    y = conv(
                        f"{role}_conv_{half}",
                        y,
                        kernel=kernel,
                        us=us,
                        out=place,
                        act=None if half else "LEAKY_RELU",
                    )
                    if far:
                        y = block.from_shards(f"{role}_out_{half}", y, 5)
                x = block.binary(f"{role}_added", "ADD", y, x, 10 if far else how.adds[0], cores=cores)
            outs.append(x)
        total = outs[0] if not how.apart else block.from_shards("block_0_back", outs[0], 5)
        for number, one in enumerate(outs[1:]):
            total = block.binary(
                f"total_{number}", "ADD", total, one, 10 if how.apart else how.adds[0], cores=cores
            )
        return block

    return build


def ends() -> Block:
    """The first convolution, the speaker's five projections, the last convolution with its activation."""
    block = Block("blackhole", grid=GRID, gap_us=0.5)
    speaker = block.tensor([1, 1, 32, 512])
    for n, us, grid, per in (
        (512, 4.89, 8, 2),
        (256, 3.92, 8, 1),
        (128, 3.64, 4, 1),
        (64, 3.30, 2, 1),
        (32, 2.43, 1, 1),
    ):
        block.linear(f"speaker_{n}", speaker, n, us, fidelity="HiFi2", config=two_d((grid, 1), 16, (1, per), subblock=(1, per)), cores=grid, bias=True, out="FLOAT32")  # fmt: skip

    def conv(role: str, rows: int, inner: int, outer: int, us: float) -> Tensor:
        x = block.tensor([1, 1, rows, inner], "FLOAT32", layout=ROW_MAJOR)
        weight = block.tensor([1, 1, 7 * inner, outer])
        return block.op(
            role, "Conv2d", (x, weight), block.tensor([1, 1, rows, outer], "FLOAT32", layout=ROW_MAJOR), us, cores=93, fidelity="HiFi4",
            activation=None, compute_kernel_config=block.kernel("HiFi4", fp32=True), enable_act_double_buffer=True,
            enable_weights_double_buffer=True, groups=1, has_bias=False, memory_config=DRAM, output_channels=outer,
        )  # fmt: skip

    conv("conv_first", 139, 1024, 512, 60)
    block.unary("tanh", "TANH", conv("conv_last", 35_584, 32, 1, 45), 28, cores=ALL_CORES)
    return block


@dataclass(frozen=True)
class Token:
    """A decoder layer for one token; times in us."""

    wrapper: bool = False  # heads by the general op
    shards: bool = True  # of the norms
    spread: bool = False  # one tile of output for each core
    us: tuple[float, float, float, float] = (19.6, 17, 21, 21)


def token(how: Token) -> Callable[[], Block]:
    def build() -> Block:
        block = Block("blackhole", grid=GRID, gap_us=0.5)
        hidden, heads, size, longest = 1024, 16, 64, 384
        place = block.across(32, hidden, 8)

        def normed(role: str, x: Tensor) -> Tensor:
            if not how.shards:
                return block.norm(role, x, 14, cores=1, kind="LAYERNORM", place=L1)
            y = block.norm(role, block.to_shards(f"{role}_placed", x, place, 1.2), 5, cores=8, config=norm_shards((8, 1), 4), kind="LAYERNORM")  # fmt: skip
            return block.from_shards(f"{role}_flat", y, 1.2, L1)

        def linear(role: str, x: Tensor, n: int, us: float, per: int) -> Tensor:
            per = 1 if how.spread else per
            cores = ceil(n / 32 / per)
            config = one_d((min(11, cores), ceil(cores / 11)), 4, (1, per), subblock=(1, 2 - per % 2), act="GELU" if role == "wide" else None)  # fmt: skip
            return block.linear(role, x, n, us * (1.25 if how.spread else 1), dtype="BFLOAT8_B", config=config, cores=cores, place=L1, bias=True)  # fmt: skip

        x = block.tensor([1, 1, 32, hidden], place=L1)
        qkv = linear("qkv", normed("norm", x), 3 * hidden, how.us[0], 4)
        if how.wrapper:
            q, k, v = (block.tensor([1, heads, 1, size]) for _ in range(3))
            block.op("heads", "SplitFusedQKVAndSplitHeads", (qkv,), (q, k, v), 63, cores=16, head_dim=size, num_heads=heads, transpose_k_heads=False)  # fmt: skip
        else:
            q, k, v = block.split_heads("heads", qkv, 43, heads=heads, kv=heads, size=size, rows=1, cores=1)
        cache, chosen = block.tensor([1, heads, longest, size]), block.tensor([1, 1, longest, 1])
        for name, one in (("k", k), ("v", v)):
            block.op(f"cache_{name}", "Ternary", (chosen, one, cache), cache, 39.6, cores=ALL_CORES, fidelity="HiFi4", ternary_op_type="TernaryOpType::WHERE", memory_config=DRAM, output_dtype="DataType::BFLOAT16")  # fmt: skip
        out = block.attend("attend", q, cache, cache, 23, config=None, cores=16, causal=False, place=L1)
        out = block.join_heads("joined", out, 10.4, place=L1, cores=16)
        x = block.binary("attention_added", "ADD", x, linear("out", out, hidden, how.us[1], 3), 2, cores=32)
        wide = linear("wide", normed("norm_feed", x), 4 * hidden, how.us[2], 6)
        block.binary("feed_added", "ADD", x, linear("down", wide, hidden, how.us[3], 3), 2, cores=32)
        return block

    return build


MATMUL = r"matmul|linear\b|diag"
ROWS_SPLIT = r"reshape|split|blocks? of rows|batch|two (reduc|means|steps)|more cores"
FUSED = rf"{ACTIVATION_IN_MATMUL}|{CONFIG}|fus"
TURNED = r"transpos|swap|height and width|time.{0,30}(height|rows)"
MULTIPLY = r"ttnn\.(mul|multiply)\b|multipl|broadcast"
INTERLEAVED = r"interleaved|L1_MEMORY_CONFIG|reshard|fewer cores|other cores|\bshard"
REDUCE_NC = r"fast_reduce_nc"
POOL = r"avg_pool|global_avg_pool|pool"
ACCUMULATOR = r"fp32_dest_acc_en ?= ?False|without fp32|(no|16.bit|bf16|bfloat16) (dest|accumul)|fp32_dest_acc_en"
BF16 = r"bfloat16|\bBF16\b"
FOLDED = r"fold|addcmul|into the (weights|linear|matmul|convolution)|batch.?norm"
LAYOUT = r"permute|transpose|reshape|merge"
IN_FEWER = r"\bL1\b"
BLOCK_SHARDED = r"BLOCK_SHARDED|block.shard"
DOUBLE = r"double_buffer|double.buffer"
SECOND_ADD = r"activations=|post_activations|fus|second add|twice"
IN_CONV = r"activation=|fus|conv.{0,40}(tanh|activation)"
HEADS_OP = r"nlp_create_qkv_heads"
UPDATE = r"update_cache|in.place|one row"
WHOLE = "of a pass"
STAGE_MADE_UP = (
    "how a convolution's time splits into its halo's; times of the small ops; the workers of linears; gaps"
)
TAIL_MADE_UP = "times of all ops but the matmuls; the matmuls' grids as computed from the sources; gaps"
VOICE_MADE_UP = "how the convolutions' sum splits; times of moves; shards' shapes; gaps"
DECODER_MADE_UP = "times of all ops but the heads', as one read of the model's profile has them; gaps"

FIRST_1 = Stage(1, (9, 22.8), 0, broadcast=43, mean=(491,), fused=False, tall=False)
FIRST_2 = Stage(2, (8, 20.9), 6.64, config=False, mean=(6, 2.5, 4.5, 7.3), tall=False)
FIRST_3 = Stage(3, (31, 27.1), 9.24, config=False, mean=(33,), tall=False)
LAST_1 = Stage(1, (5.3, 22.8), 5.27, config=False, mean=(7.64, 2.1, 4.5, 2.06))
LAST_2 = Stage(2, (4, 18.9), 4.99, mean=(6, 2.5, 4.5, 7.32))
LAST_3 = Stage(3, (6, 21.1), 5.52, mean=(8.4, 2.1, 4.5, 3.88), diagonal=False, scaled=7)
DIAGONAL_3 = replace(LAST_3, diagonal=True, scaled=7.2, corrected=3.05)
FIRST_4 = Stage(4, (48.5, 45), 6, config=False, mean=(9.7,))
LAST_4 = Stage(4, (2.4, 26.6), 6, config=False, mean=(9.7,), diagonal=False, scaled=5.8, tall=False, near=False)

XTTS = (
    laid(
        "xtts-stage1-first", ENCODER, "a block of the encoder's first stage, 51,264 rows of 32 channels, each op as it was before what was tried on it",
        stage(FIRST_1),
        (
            gain("affine", "a norm's factor and offset as a diagonal matmul with its bias", 79.4, "affine_scale affine_shift", MATMUL, "43 us each -> 6.6 us for both"),
            gain("mean", "the mean in two steps, the first over blocks of rows", 474.7, "mean", ROWS_SPLIT, "491 us on one core -> 16.3 us"),
            gain("small", "bias and activation in the two small linears", 6.9, "squeeze* excite*", FUSED, f"110 us {WHOLE} of 16 blocks are gone (32 additions, 16 activations)"),
            gain("turned", "time as the image's height, so that a halo is short", 7.4, "halo_* conv_*", TURNED, "31.8 -> 28.1 us for each of two convolutions with its halo"),
        ),
        STAGE_MADE_UP,
    ),
    laid(
        "xtts-stage2-first", ENCODER, "a block of the encoder's second stage, 12,832 rows of 64 channels, as before",
        stage(FIRST_2),
        (
            gain("affine", "a 1D config for the diagonal matmul", 1.65, "affine", CONFIG, "6.64 -> 4.99 us"),
            gain("turned", "time as the image's height", 12, "halo_* conv_*", TURNED, "28.9 -> 22.9 us for each of two convolutions with its halo"),
        ),
        STAGE_MADE_UP,
    ),
    laid(
        "xtts-stage3-first", ENCODER, "a block of the encoder's third stage, 3,216 rows of 128 channels, as before",
        stage(FIRST_3),
        (
            gain("affine", "a 1D config for the diagonal matmul", 3.72, "affine", CONFIG, "9.24 -> 5.52 us"),
            gain("mean", "the mean in two steps, the first over blocks of rows", 14, "mean", ROWS_SPLIT, "32 to 34 -> about 19 us"),
            gain("turned", "time as the image's height", 62, "halo_* conv_*", TURNED, "58.1 -> 27.1 us for each of two convolutions with its halo"),
        ),
        STAGE_MADE_UP,
    ),
    laid(
        "xtts-stage3-diagonal", ENCODER, "a block of the encoder's third stage, its excitation as a diagonal matmul",
        stage(DIAGONAL_3),
        (
            gain("scaled", "the excitation as a multiplication", 4, "eye scaled", MULTIPLY, "4.0 us a block, one op less"),
            gain("corrected", "the factor that corrects the mean in the reduction", 3.05, "mean_corrected", r"scalar=|fold|\bscal(ar|er|e)\b|fus", f"3.05 us a block, 18.3 {WHOLE}"),
        ),
        STAGE_MADE_UP,
    ),
    laid(
        "xtts-stage4-first", ENCODER, "a block of the encoder's fourth stage, 808 rows of 256 channels, in the shards that came",
        stage(FIRST_4),
        (
            gain("interleaved", "the input interleaved, so that the convolution shards it itself", 123, "halo_* conv_*", INTERLEAVED, "48.5 + 45 -> 2.4 + 26.6 us for each of two convolutions, some 3 us for the moves"),
            gain("scaled", "the excitation as a multiplication", 6.4, "eye scaled", MULTIPLY, "6.4 us a block, one op less"),
        ),
        STAGE_MADE_UP,
    ),
    laid(
        "xtts-stage1-last", ENCODER, "a block of the encoder's first stage as chosen, but for its affine, whose config is still TTNN's; 2,035 us for all 16 blocks, their tail and what is around",
        stage(LAST_1),
        (
            dead("config", "a 1D config for the diagonal matmul, which is one tile wide", "affine", CONFIG, "5.27 -> 5.27 us"),
            dead("hifi3", "HiFi3 for convolutions and affines", "conv_* affine", r"HiFi3", f"2,035 -> 2,033.5 us {WHOLE}: within the noise"),
            dead("hifi2", "HiFi2 for convolutions and affines", "conv_* affine", HIFI2, f"2,035 -> 2,026 us {WHOLE}, and too far off (0.9736)"),
            dead("accumulator", "16-bit sums, so that subblocks may be larger", "conv_* affine", rf"{ACCUMULATOR}|subblock", f"2,035 -> 2,024.8 us {WHOLE}, and too far off (0.9796)"),
            dead("bfp8", "BFLOAT8_B between the convolutions", "conv_* affine added", BFP8, f"2,072 -> 2,478 us {WHOLE}"),
            dead("reduce-nc", "fast_reduce_nc for the second step of the mean", "mean_turned mean_filled mean_last", REDUCE_NC, "8.66 -> 27.03 us"),
            dead("pool", "avg_pool2d for the mean", "mean_first mean_turned mean_filled mean_last", POOL, f"1,781 -> 2,139 us {WHOLE}, 3,846 in its simple form"),
            dead("constants", "the affine's constants in L1", "affine", IN_L1, "no gain to measure, and 1.5 MB that others lack"),
        ),
        STAGE_MADE_UP,
    ),
    laid(
        "xtts-stage2-last", ENCODER, "a block of the encoder's second stage as chosen",
        stage(LAST_2),
        (dead("reduce-nc", "fast_reduce_nc for the second step of the mean", "mean_turned mean_filled mean_last", REDUCE_NC, "14.32 -> 119.80 us"),),
        STAGE_MADE_UP,
    ),
    laid(
        "xtts-stage3-last", ENCODER, "a block of the encoder's third stage as chosen",
        stage(LAST_3),
        (
            dead("reduce-nc", "fast_reduce_nc for the second step of the mean", "mean_turned mean_filled mean_last", REDUCE_NC, "10.48 -> 30.78 us"),
            dead("mean-matmul", "a matmul with a constant row for the second step of the mean", "mean_turned mean_filled mean_last", MATMUL, f"-3.6 to +6.3 % {WHOLE}, by the length: taken back"),
        ),
        STAGE_MADE_UP,
    ),
    laid(
        "xtts-stage4-last", ENCODER, "a block of the encoder's fourth stage as chosen, but for time, which is still the image's width",
        stage(LAST_4),
        (
            dead("mean", "the mean in two steps", "mean", ROWS_SPLIT, "9.3 to 10.2 -> 15.9 to 19.2 us"),
            dead("excite", "fewer cores for the linear that widens", "excite", r"fewer cores|core_grid|\b4 cores", "2.72 -> 2.94 us on four cores instead of eight"),
            dead("turned", "time as the image's height", "halo_* conv_*", TURNED, "46.0 -> 46.3 us for a convolution with its halo"),
        ),
        STAGE_MADE_UP,
    ),
    laid(
        "xtts-tail-first", ENCODER, "the encoder's tail in FLOAT32: attention over time, its statistics, a linear; matmuls by TTNN's choice",
        tail(Tail(narrow=False, folded=False, relaid=False, near=DRAM, us=(49.5, 13.8, 72.0), configs=False, last="FLOAT32", each=6)),
        (
            gain("relaid", "the bands merged into the channels, then one transpose", 93, "relaid*", LAYOUT, "122 -> 29 us"),
            gain("first", "a 2D config on 16 cores for the first matmul", 33.8, "first", rf"{CONFIG}|{TWO_D}", "49.5 -> 15.7 us"),
            gain("second", "a 1D config for the second matmul", 5.3, "second", CONFIG, "13.8 -> 8.5 us"),
            gain("last", "a 2D config on eight cores for the last matmul", 31.7, "last", rf"{CONFIG}|{TWO_D}", "72.0 -> 40.3 us"),
            gain("norm", "the norm between the two linears folded into the second's weights", 11, "norm", FOLDED, "an op of 11 us is gone"),
        ),
        TAIL_MADE_UP,
    ),
    laid(
        "xtts-tail-configs", ENCODER, "the encoder's tail in FLOAT32, its matmuls with configs: 64.5 us of the three",
        tail(Tail(narrow=False, near=DRAM, us=(15.7, 8.5, 40.3), last="FLOAT32", each=6)),
        (
            gain("last-bf16", "a BFLOAT16 weight for the last matmul", 14.4, "last", BF16, "40.3 -> 25.9 us"),
            gain("narrow", "BFLOAT16 for the whole tail but its last matmul", 55, "widened first* second* softmax weighted square sum_* mean_square spread both", BF16, f"55 us {WHOLE}"),
        ),
        TAIL_MADE_UP,
    ),
    laid(
        "xtts-tail-narrow", ENCODER, "the encoder's tail in BFLOAT16, all of it in DRAM",
        tail(Tail(near=DRAM, us=(17, 11.3, 31.9), each=3.8)),  # of 3.6 us of the second matmul the ledger knows
        (gain("l1", "what passes between the tail's ops in L1", 18.8, "relaid* first* second* softmax weighted square sum_* mean_square spread both last", IN_FEWER, f"18.8 us {WHOLE}"),),
        f"what the matmuls take in DRAM; {TAIL_MADE_UP}",
    ),
    laid(
        "xtts-tail-last", ENCODER, "the encoder's tail in BFLOAT16 and L1, its weights in DRAM",
        tail(Tail(us=(14.3, 7.7, 25.9))),
        (
            gain("weights", "the weights of its three matmuls in L1", 4.85, "first second last", IN_FEWER, f"1.42, 0.19 and 3.24 us; 0.2 % {WHOLE}"),
            dead("last-cores", "16 cores for the last matmul", "last", rf"more cores|16 cores|{CONFIG}", "25.9 -> 32.8 us"),
            dead("second-2d", "a 2D config for the second matmul", "second", TWO_D, "7.7 -> 13.3 us"),
            dead("bfp8", "BFLOAT8_B for the tail", "first second softmax weighted square", BFP8, "slower and less exact"),
        ),
        TAIL_MADE_UP,
    ),
    laid(
        "xtts-voice0-height", VOCODER, "the vocoder's first stage, 1,112 rows of 256 channels in FLOAT32: two of its blocks move from and to DRAM; its convolutions 489 us",
        voice(Voice(0, (20, 26, 35.5), (3.0, 2.6), apart=(1, 2))),
        (
            gain("blocks", "block shards on 80 cores for all of the stage", 285, "*", BLOCK_SHARDED, "2,512 -> 2,227 us of the whole vocoder: convolutions 489 -> 433, 36 moves and six additions in DRAM gone"),
            dead("second-add", "the activation in a second addition", "block_0_*_added block_0_*_leaky", SECOND_ADD, "3.0 + 2.6 -> 3.0 + 4.4 us; 2,512 -> 2,520 us of the whole vocoder"),
        ),
        VOICE_MADE_UP,
    ),
    laid(
        "xtts-voice0-single", VOCODER, "the vocoder's first stage in block shards, without double buffers",
        voice(Voice(0, (22, 33, 48), (3.0, 2.6), blocks=True, double=False)),
        (gain("double", "double buffers for activations and weights", 186, "block_1_*_conv_* block_2_*_conv_*", DOUBLE, "33 -> 21 and 48 -> 29 us, six of each; 98 of the 285 us without them"),),
        VOICE_MADE_UP,
    ),
    laid(
        "xtts-voice1", VOCODER, "the vocoder's second stage, 8,896 rows of 128 channels in BFLOAT16",
        voice(Voice(1, (18, 23, 29), (0.9, 5.1))),
        (gain("second-add", "the activation in a second addition of the same tensors", 13.8, "*_leaky block_*_added", SECOND_ADD, "0.9 + 5.1 -> 0.9 + 2.8 us, six of each"),),
        f"the convolutions' times; {VOICE_MADE_UP}",
    ),
    laid(
        "xtts-ends", VOCODER, "the vocoder's first and last convolution and the speaker's five projections",
        ends,
        (
            gain("speaker-l1", "the speaker's vector in L1 for its five projections", 4.0, "speaker_*", IN_FEWER, "18.2 -> 14.2 us of the five"),
            gain("tanh", "the last activation in the last convolution", 28, "tanh conv_last", IN_CONV, "an op of 28 us is gone"),
            dead("speaker-out", "the five projections' outputs in L1 shards", "speaker_*", r"(output|memory_config|result|write).{0,60}(L1|shard)|(L1|shard).{0,60}(output|result)", "2.6 us, which the move back takes again"),
        ),
        "the convolutions' times; grids of their outputs; gaps",
    ),
    laid(
        "xtts-token-first", DECODER, "a decoder layer for one token, each op as it was before what was tried on it",
        token(Token(wrapper=True, shards=False, spread=True)),
        (
            gain("heads", "nlp_create_qkv_heads", 20, "heads", HEADS_OP, "about 63 -> 43 us"),
            gain("norms", "the norms in shards of eight cores", None, "norm norm_feed", rf"shard|{CORES}", "some 48 % faster, no time told"),
            gain("cores", "several tiles of output on each of fewer cores", None, "qkv out wide down", r"fewer cores|per_core_N|program_config", "all cores take 20 to 35 % longer, no time told"),
            gain("cache", "update_cache of one row instead of a choice over the whole cache", None, "cache_*", UPDATE, "half the time, where no trace is replayed"),
        ),
        DECODER_MADE_UP,
    ),
    laid(
        "xtts-token-last", DECODER, "a decoder layer for one token as chosen",
        token(Token()),
        (dead("block", "in0_block_w 8", "qkv out wide down", BLOCK_W, "1 % faster, and six of 16 tokens differ"),),
        DECODER_MADE_UP,
    ),
)  # fmt: skip
