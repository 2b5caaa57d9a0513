"""The text encoder of a speech model (Kokoro 82M) on one Blackhole chip (p150): convolutions, then an LSTM both ways.

An embedding of 512, three convolutions over five tokens with a norm and a leaky ReLU after each, and an LSTM of 256 each
way, whose steps the host sends one after the other. Two texts of 48 tokens, or one of 512 (then the convolutions alone).
Another part of this model, its ALBERT, stands in a file of its own; the vocoder's largest gain is among what a check was
made from, so that none of its changes is here.
The ledger tells times of each convolution in a sweep of its settings, of the norms, of an LSTM's matmuls, and the sum of
the first pass.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from tests.frozen.build import DRAM, L1, ROW_MAJOR, Block, norm_shards, one_d
from tests.frozen.layer import TT_METAL, dead, gain, laid
from tests.frozen.names import BFP8, BLOCK_W, CONFIG, HIFI2, LOFI, PACKER
from tests.profiles.conv import Window, conv2d, halo
from tests.profiles.model import block_sharded, width_sharded

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.profiles import Placement, Tensor

FOLDER = f"{TT_METAL}/42212a1cc215b35eb613b834c23e781c005ed059/models/experimental/kokoro"
ENCODER = f"{FOLDER}/Kokoro_Architecture_and_TextEncoder_Optimizations.md"
SWEEP, IN_L1_SWEEP, LONG = (f"{FOLDER}/perf/conv_sweep_{name}.md" for name in ("results", "l1_results", "results_T512"))  # fmt: skip
GRID, ALL_CORES, COLUMNS = (13, 10), 130, 8
CHANNELS, TAPS, STATE, STEPS = 512, 5, 512, 48  # of a convolution; of both directions' states; tokens of a text


@dataclass(frozen=True)
class Line(Window):
    """A window over a row of tokens, of texts one after the other."""

    texts: int = 1

    @property
    def output_hw(self) -> tuple[int, int]:
        return 1, self.texts * self.input_hw[1]

    def text(self, placement: Placement) -> str:
        (_, columns), rows = self.input_hw, len(placement.cores) // COLUMNS
        return (
            f"SlidingWindowConfig(batch_size={self.texts}, input_hw=(1,{columns}), window_hw=(1,{TAPS}), "
            "stride_hw=(1,1), padding=((0, 0), (2, 2)), output_padding = (0, 0), dilation_hw=(1,1), "
            f"num_cores_nhw={rows}, num_cores_c={COLUMNS}, core_range_set_="
            f"{{[(x=0,y=0) - (x={COLUMNS - 1},y={rows - 1})]}}, is_transpose=false)"
        )


@dataclass(frozen=True)
class How:
    """The convolutions; times in us."""

    us: float  # of each
    texts: int = 2
    tokens: int = STEPS
    weights: bool = True  # double-buffered
    activations: bool = True
    fidelity: str = "HiFi3"
    dtype: str = "BFLOAT16"
    chained: bool = False  # norms and activations stay in the convolutions' shards
    apart: bool = False  # each text by itself

    @property
    def rows(self) -> int:
        """Of cores."""
        tiles = -(-self.texts * self.tokens // 32)
        return next(count for count in range(8, 0, -1) if tiles % count == 0) if tiles > 8 else tiles


def convolved(block: Block, role: str, x: Tensor, how: How, texts: int, *, near: bool) -> Tensor:
    """A convolution with its halo; from and to where the rest lies unless it is `near`."""
    tokens, rows = texts * how.tokens, how.rows if texts == how.texts else 2
    window = Line((1, how.tokens), (1, TAPS), texts=texts)
    high = 32 * -(-tokens // 32 // rows)
    where = block_sharded(high, CHANNELS // COLUMNS, (COLUMNS, rows))
    short = how.tokens == STEPS
    if not near:
        if short:
            x = block.moved(f"{role}_rows", "Untilize", x, 2.6, layout=ROW_MAJOR, cores=3, fidelity="HiFi4")
        x = block.to_shards(f"{role}_placed", x, block_sharded(high, CHANNELS // COLUMNS, (COLUMNS, rows)), 1.6)
    wide = block_sharded(high + 4, CHANNELS // COLUMNS, (COLUMNS, rows))
    spread = block.tensor([1, 1, tokens + 4 * rows, CHANNELS], place=wide, layout=ROW_MAJOR)
    made = halo(x, spread, window, 2_500 if near or not short else 3_600)
    made.attributes = {
        **made.attributes, "config_tensors_in_dram": True, "in_nsticks_per_core": high,
        "parallel_config": str(made.attributes["parallel_config"]).replace("HEIGHT_SHARDED", "BLOCK_SHARDED"),
    }  # fmt: skip
    block.put(f"{role}_halo", made)
    weight = block.tensor([1, 1, TAPS * CHANNELS, CHANNELS], how.dtype)
    bias, result = block.tensor([1, 1, 32, CHANNELS]), block.tensor([1, 1, tokens, CHANNELS], place=where)
    high_tiles, wide_tiles = high // 32, CHANNELS // COLUMNS // 32
    made = conv2d(
        spread, weight, bias, result, window=window, kernel_ns=round(how.us * 1e3), in_channels=CHANNELS,
        act_block_h=high_tiles, fidelity=how.fidelity, act_double_buffer=how.activations,
        weights_double_buffer=how.weights,
    )  # fmt: skip
    made.attributes = {
        **made.attributes,
        "block_config": (
            f"Conv2dBlockConfig(act_block_h_ntiles={high_tiles},act_block_w_ntiles={TAPS * wide_tiles},"
            f"out_subblock_h_ntiles=1,out_subblock_w_ntiles={wide_tiles})"
        ),
        "compute_kernel_config": block.kernel(how.fidelity, fp32=True, packer=False),
        "config_tensors_in_dram": True,
        "force_split_reader": True,
        "input_tensor_shape": f"{{{texts}, 1, {how.tokens}, {CHANNELS}}}",
        "parallelization_config": (
            f"Conv2dParallelizationConfig(grid_size=(x={COLUMNS},y={rows}),num_cores_nhw={rows},"
            f"num_cores_c_in={COLUMNS},num_cores_c_out={COLUMNS},per_core_out_matrix_height_ntile={high_tiles},"
            f"per_core_out_matrix_width_ntile={wide_tiles})"
        ),
    }  # fmt: skip
    out = block.put(role, made)
    if near:
        return out
    out = block.from_shards(f"{role}_back", out, 1.6)
    if short:
        out = block.moved(
            f"{role}_shaped", "ReshapeView", out, 4.8, shape=[1, 1, tokens, CHANNELS], cores=ALL_CORES
        )
    return out


def convolutions(block: Block, how: How) -> Tensor:
    """Embedding, and three times a convolution, a norm, a leaky ReLU."""
    tokens = how.texts * how.tokens
    ids = block.tensor([1, 1, 1, tokens], "UINT32", layout=ROW_MAJOR)
    table = block.tensor([1, 1, 178, CHANNELS], layout="TILE" if how.apart else ROW_MAJOR)
    if how.apart:
        table = block.moved("table_rows", "UntilizeWithUnpadding", table, 17.5, layout=ROW_MAJOR, cores=6, fidelity="HiFi4")  # fmt: skip
    x = block.op("embedding", "Embeddings", (ids, table), block.tensor([1, 1, tokens, CHANNELS]), 6, cores=tokens // 32)  # fmt: skip
    where = block_sharded(32 * -(-tokens // 32 // how.rows), CHANNELS // COLUMNS, (COLUMNS, how.rows))
    if how.chained:
        x = block.to_shards("entry", x, where, 2)
    for step in range(3):
        if how.apart:
            parts = [convolved(block, f"conv_{step}_{text}", block.slice(f"text_{step}_{text}", x, (0, 0, text * STEPS, 0), (1, 1, (text + 1) * STEPS, CHANNELS), 4), how, 1, near=False) for text in range(how.texts)]  # fmt: skip
            x = block.concat(f"texts_{step}", parts, [1, 1, tokens, CHANNELS], 2, 4)
        else:
            x = convolved(block, f"conv_{step}", x, how, how.texts, near=how.chained)
        if how.chained:
            x = block.norm(f"norm_{step}", x, 7.7, cores=COLUMNS * how.rows, config=norm_shards((COLUMNS, how.rows), 2, block_h=1), kind="LAYERNORM")  # fmt: skip
        else:
            x = block.norm(f"norm_{step}", x, 12.4, cores=tokens // 32, kind="LAYERNORM")
        x = block.unary(f"leaky_{step}", "LEAKY_RELU", x, 2.5, cores=COLUMNS * how.rows if how.chained else ALL_CORES, parameter="0.2")  # fmt: skip
    return block.from_shards("exit", x, 2) if how.chained else x


def alone(how: How) -> Callable[[], Block]:
    def build() -> Block:
        block = Block("blackhole", grid=GRID, gap_us=100)
        convolutions(block, how)
        return block

    return build


def encoder(how: How, step_us: float, k_block: int | None, gates_us: float) -> Callable[[], Block]:
    """With the LSTM: both directions go through one matmul a step."""

    def build() -> Block:
        block = Block("blackhole", grid=GRID, gap_us=100)
        near = L1 if k_block else DRAM
        x = block.moved("texts", "ReshapeView", convolutions(block, how), 5, shape=[2, 1, STEPS, CHANNELS], cores=ALL_CORES)  # fmt: skip
        turn = block.tensor([1, 1, STEPS, STEPS])
        back = block.product("turned", turn, x, 6, cores=32)
        gates = [block.linear(f"gates_{side}", one, 2 * STATE, gates_us, fidelity="HiFi3", fp32=True, cores=64, bias=True) for side, one in (("there", x), ("back", back))]  # fmt: skip
        both = block.concat("gates", gates, [2, 1, STEPS, 4 * STATE], 3, 8)
        h, c = (block.tensor([1, 1, 2, STATE], place=near) for _ in range(2))
        weight = block.tensor([1, 1, STATE, 4 * STATE])
        config = one_d((8, 8), k_block, (1, 1)) if k_block else None
        place = width_sharded(32, 32, (8, 8)) if k_block else DRAM
        outs: list[Tensor] = []
        for _ in range(STEPS):
            row = block.slice("step_row", both, (0, 0, 0, 0), (2, 1, 1, 4 * STATE), 1.9, DRAM)
            row = block.view(row, [1, 1, 2, 4 * STATE])
            out = block.linear("step", h, 4 * STATE, step_us, fidelity="HiFi3", fp32=True, config=config, cores=64, place=place, weight=weight)  # fmt: skip
            out = block.binary("step_added", "ADD", out, row, 2, cores=64, place=near)
            spread = block.unary("step_sigmoid", "SIGMOID", out, 2.2, cores=64)
            i, f, g, o = (block.slice(f"step_{name}", spread if name != "g" else out, (0, 0, 0, at * STATE), (1, 1, 2, (at + 1) * STATE), 1.5) for at, name in enumerate("ifgo"))  # fmt: skip
            kept = block.binary("step_kept", "MUL", f, c, 1.6, cores=16)
            fresh = block.binary("step_fresh", "MUL", i, g, 1.8, cores=16, rhs="TANH")
            c = block.binary("step_cell", "ADD", kept, fresh, 1.6, cores=16)
            h = block.binary("step_out", "MUL", o, c, 1.8, cores=16, rhs="TANH")
            outs.append(h)
        total = block.concat("steps", outs, [1, STEPS, 2, STATE], 1, 30)
        total = block.permute("steps_turned", total, (2, 0, 3, 1), 14)
        block.product("turned_back", block.tensor([2, 1, STATE, STEPS]), turn, 6, cores=32)
        block.moved("exit_shape", "ReshapeView", total, 6, shape=[2, STATE, STEPS], cores=ALL_CORES)
        return block

    return build


CONVS = "conv_0 conv_1 conv_2"
WEIGHTS = r"enable_weights_double_buffer|weights.{0,30}double.?buffer|double.?buffer.{0,30}weights"
ACTIVATIONS = r"enable_act_double_buffer|activations.{0,30}double.?buffer|double.?buffer.{0,30}activations"
HEIGHT = r"act_block_h"
BY_WIDTH, BY_HEIGHT = r"WIDTH_SHARDED|width.?shard", r"HEIGHT_SHARDED|height.?shard"
SPLIT = r"split_reader"
MORE, FEWER = r"more cores|all (the |of the )?cores|core_grid|override_sharding_config", r"fewer cores"
ALONE = "alone, each of the three"
MADE_UP = "times of all ops but the convolutions and the norms; which ops move the convolutions' operands; gaps"
SINGLE = How(32.44, weights=False, activations=False)
BOTH = How(21.68)
KEPT = How(16.15, fidelity="LoFi", chained=True)
LONG_SINGLE = How(50.9, texts=1, tokens=512, weights=False, activations=False)
LONG_BOTH = How(40.9, texts=1, tokens=512)

KOKORO = (
    laid(
        "kokoro-text-first", ENCODER, "the text encoder for two texts of 48 tokens as it was first: 651 ops, 1,932 us in kernels",
        encoder(How(38.2, weights=False, activations=False, apart=True), 10, None, 17.3),
        (
            gain("batch", "one convolution for both texts", 132, "conv_0_? conv_1_? conv_2_?", r"batch|both (texts|images|items)|one conv", "convolutions 229 -> 97 us"),
            gain("norms", "the norms in the convolutions' block shards", 14, "norm_0 norm_1 norm_2", r"shard", "the three norms 37 -> 23 us; reshards, 12 -> 2 of them, come on top"),
            gain("table", "the embedding's table in rows", 17, "table_rows", r"ROW_MAJOR|row.?major|in rows|once|load", "17 us, and one op less"),
            gain("steps", "a 1D config of 8 x 8 cores, in0_block_w 8, for a step's matmul", 301, "step", CONFIG, "10 -> 3.73 us, 48 times"),
            gain("gates", "a 2D config with a row of tiles per core, in0_block_w 8 and subblocks of 4, for the gates' matmuls", 18.6, "gates_there gates_back", CONFIG, "17.3 -> 8.0 us, twice"),
        ),
        f"times of the LSTM's ops but its matmuls, the ops of its steps, which of its matmuls there are two of; {MADE_UP}", 1932,
    ),
    laid(
        "kokoro-text-steps", ENCODER, "the text encoder for two texts of 48 tokens, a 1D config with in0_block_w 4 for a step's matmul: 5.52 us a step",
        encoder(How(32.4, weights=False, activations=False), 5.52, 4, 8),
        (gain("block", "in0_block_w 8 for a step's matmul", 85.9, "step", BLOCK_W, "5.52 -> 3.73 us, 48 times"),),
        f"times of the LSTM's ops but its matmuls, the ops of its steps; {MADE_UP}",
    ),
    laid(
        "kokoro-conv-single", SWEEP, "the convolutions for two texts of 48 tokens in block shards, HiFi3, nothing double-buffered: 32.44 us each", alone(SINGLE),
        (
            gain("weights", "weights double-buffered", 20.1, CONVS, WEIGHTS, f"32.44 -> 25.73 us {ALONE}; where TTNN chose the shards, it then took width shards: 53.85 us"),
            dead("activations", "activations double-buffered, weights not", CONVS, ACTIVATIONS, f"32.44 -> 32.45 us {ALONE}"),
            dead("height", "act_block_h 64", CONVS, HEIGHT, f"32.44 -> 50.93 us {ALONE}"),
            dead("width", "width shards", CONVS, BY_WIDTH, f"32.44 -> 53.88 us {ALONE}"),
            dead("by-height", "height shards", CONVS, BY_HEIGHT, "refused by the halo, with all other settings"),
            dead("reader", "no split reader", CONVS, SPLIT, f"32.44 -> 32.47 us {ALONE}"),
        ),
        MADE_UP,
    ),
    laid(
        "kokoro-conv-weights", SWEEP, "the convolutions for two texts of 48 tokens in block shards, HiFi3, weights double-buffered: 25.73 us each",
        alone(replace(SINGLE, us=25.73, weights=True)),
        (
            gain("activations", "activations double-buffered as well", 12.1, CONVS, ACTIVATIONS, f"25.73 -> 21.68 us {ALONE}"),
            dead("height", "act_block_h 64", CONVS, HEIGHT, f"25.73 -> 46.44 us {ALONE}"),
            dead("width", "width shards", CONVS, BY_WIDTH, f"25.73 -> 53.79 us {ALONE}"),
            dead("reader", "no split reader", CONVS, SPLIT, f"25.73 -> 25.64 us {ALONE}: a tie"),
        ),
        MADE_UP,
    ),
    laid(
        "kokoro-conv-both", SWEEP, "the convolutions for two texts of 48 tokens in block shards, HiFi3, all double-buffered: 21.68 us each", alone(BOTH),
        (
            gain("lofi", "LoFi", 15.5, CONVS, LOFI, f"21.68 -> 16.51 us {ALONE}"),
            gain("hifi2", "HiFi2", 13.9, CONVS, HIFI2, f"21.68 -> 17.06 us {ALONE}"),
            dead("hifi4", "HiFi4", CONVS, r"HiFi4", f"21.68 -> 27.36 us {ALONE}"),
            dead("narrow-sums", "sums in 16 bits", CONVS, r"fp32_dest_acc_en", f"21.68 -> 21.67 us {ALONE}"),
            dead("height", "act_block_h 64", CONVS, HEIGHT, f"21.68 -> 40.90 us {ALONE}"),
            dead("width", "width shards", CONVS, BY_WIDTH, f"21.68 -> 41.81 us {ALONE}"),
            dead("by-height", "height shards", CONVS, BY_HEIGHT, "refused by the halo, with all other settings"),
            dead("reader", "no split reader", CONVS, SPLIT, f"21.68 -> 21.67 us {ALONE}"),
            dead("more-cores", "27, 30, 33, 36 or 39 cores for the 24", CONVS, MORE, f"21.68 -> 24.27, 26.67, 28.95, 31.45 and 33.83 us {ALONE}"),
            dead("fewer-cores", "15 or 21 cores for the 24", CONVS, FEWER, f"21.68 -> 26.84 and 27.64 us {ALONE}"),
        ),
        MADE_UP,
    ),
    laid(
        "kokoro-conv-kept", IN_L1_SWEEP, "the convolutions for two texts of 48 tokens in block shards, LoFi, all double-buffered: 16.15 us each", alone(KEPT),
        (
            gain("weights", "BFLOAT8_B weights", 13.9, CONVS, BFP8, f"16.15 -> 11.51 us {ALONE}"),
            dead("tables", "the halo's and the convolution's tables in L1", f"{CONVS} conv_0_halo conv_1_halo conv_2_halo", r"config_tensors_in_dram", f"16.15 -> 16.36 us {ALONE}"),
            dead("reuse", "activations that are used again", CONVS, r"activation_reuse", "refused in block shards"),
            dead("packer", "sums that the packer adds in L1", CONVS, PACKER, f"16.36 -> 16.09 us {ALONE}: within noise"),
            dead("inner", "the whole inner dimension at once", CONVS, r"full_inner_dim", f"16.36 -> 16.50 us {ALONE}"),
            dead("block-width", "act_block_w_div 2 or 4", CONVS, r"act_block_w", f"16.36 -> 16.16 and 16.14 us {ALONE}: within noise"),
            dead("reshard", "reshard_if_not_optimal", CONVS, r"reshard_if_not_optimal", f"16.36 -> 16.16 us {ALONE}: within noise"),
            dead("transposed", "shards in columns first", CONVS, r"transpose_shards", f"16.36 -> 26.71 us {ALONE}"),
            dead("width", "width shards", CONVS, BY_WIDTH, f"16.36 -> 29.37 us {ALONE}; with BFLOAT8_B weights 29.16 us"),
            dead("by-height", "height shards", CONVS, BY_HEIGHT, "refused by the halo, with all other settings"),
        ),
        MADE_UP,
    ),
    laid(
        "kokoro-long-single", LONG, "the convolutions for a text of 512 tokens in block shards, HiFi3, nothing double-buffered: 50.90 us each", alone(LONG_SINGLE),
        (
            gain("weights", "weights double-buffered", 13.4, CONVS, WEIGHTS, f"50.90 -> 46.43 us {ALONE}"),
            dead("activations", "activations double-buffered, weights not", CONVS, ACTIVATIONS, f"50.90 -> 50.91 us {ALONE}"),
            dead("height", "act_block_h 32", CONVS, HEIGHT, f"50.90 -> 63.00 us {ALONE}"),
            dead("width", "width shards", CONVS, BY_WIDTH, f"50.90 -> 242.01 us {ALONE}"),
        ),
        "times of all ops but the convolutions; which ops move the convolutions' operands; gaps",
    ),
    laid(
        "kokoro-long-weights", LONG, "the convolutions for a text of 512 tokens in block shards, HiFi3, weights double-buffered: 46.43 us each",
        alone(replace(LONG_SINGLE, us=46.43, weights=True)),
        (
            gain("activations", "activations double-buffered as well", 16.7, CONVS, ACTIVATIONS, f"46.43 -> 40.87 us {ALONE}"),
            dead("height", "act_block_h 32", CONVS, HEIGHT, f"46.43 -> 50.33 us {ALONE}"),
            dead("width", "width shards", CONVS, BY_WIDTH, f"46.43 -> 245.14 us {ALONE}"),
        ),
        "times of all ops but the convolutions; which ops move the convolutions' operands; gaps",
    ),
    laid(
        "kokoro-long-both", LONG, "the convolutions for a text of 512 tokens in block shards, HiFi3, all double-buffered: 40.87 us each", alone(LONG_BOTH),
        (
            dead("height", "act_block_h 32", CONVS, HEIGHT, f"40.87 -> 42.01 us {ALONE}"),
            dead("width", "width shards", CONVS, BY_WIDTH, f"40.87 -> 201.56 us {ALONE}"),
            dead("reader", "no split reader", CONVS, SPLIT, f"40.87 -> 40.53 us {ALONE}: a tie"),
            dead("more-cores", "72 or 80 cores for the 64, from grids of 81 to 130", CONVS, MORE, f"40.87 -> 45.71, 50.32, 54.91, 59.62 and 64.34 us {ALONE} with grids of 9 x 9 and of 10 to 13 x 10"),
            dead("fewer-cores", "56 or 32 cores for the 64", CONVS, FEWER, f"40.87 -> 58.35 and 75.98 us {ALONE}"),
        ),
        "times of all ops but the convolutions; which ops move the convolutions' operands; gaps",
    ),
)  # fmt: skip
