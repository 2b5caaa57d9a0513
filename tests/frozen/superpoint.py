"""SuperPoint (points of interest in a picture) on one Blackhole chip: the whole net, and the search of peaks in its map.

A picture of 480 x 640: eight convolutions in four blocks of 64, 64, 128 and 128 channels with pools between them, the first two
blocks in slices of rows from DRAM; two heads of 256, one of 65 classes of a cell, one of 256 numbers of it. BFLOAT16, HiFi2, sums
in FLOAT32. The table tells pictures in a second per change, from a trace what the device alone takes: 355 of them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from tests.frozen.build import DRAM, ROW_MAJOR, Block
from tests.frozen.layer import dead, gain, laid
from tests.frozen.names import BFP8, LOFI
from tests.profiles.conv import Window, conv2d, halo

if TYPE_CHECKING:
    from tests.profiles import Tensor

HOME = "https://github.com/changh95/tt-superpoint/blob"
TABLE = f"{HOME}/ce0f018103a7be75012a6e8092abde1c82d6f1c6/results.tsv"
README = f"{HOME}/3f6aec55228915475f9d2b2ac02be9dc11dee2b1/README.md"
LOG = f"{HOME}/88e7d73cb0d44b909d5ae1842b7385709e272d5b/DEVICE_VALIDATION.md"
KERNEL = f"{HOME}/da62f384739880240ef0caa09efa6243d846c9c7/kernels/sp_eq_mul_mask/README.md"
GRID, ALL = (13, 10), 130
CELLS = (60, 80)


def sliced(block: Block, role: str, hw: tuple[int, int], channels: tuple[int, int], us: float, *, slices: int = 1, kernel: int = 3, act: str | None = "RELU") -> Tensor:  # fmt: skip
    """A convolution, in `slices` of rows; a tenth of the time goes into halos, and three in slices into reading and writing them."""
    (height, width), (inside, outside) = hw, channels
    rows = height // slices
    window = Window((rows, width), (kernel, kernel), 1, kernel // 2)
    cores = min(ALL, -(-rows * width // 32))
    deep = 32 * -(-rows * width // 32 // cores)
    whole = block.tensor([1, 1, height * width, inside])
    out = block.tensor([1, 1, height * width, outside])
    each = us / slices
    for number in range(slices):
        name = f"{role}_{number}" if slices > 1 else role
        x = block.tensor([1, 1, rows * width, inside], place=block.along(deep, max(32, inside), cores))
        if slices > 1:
            block.op(f"{name}_read", "PaddedSlice", (whole,), x, 0.18 * each, cores=cores)
        if kernel > 1:
            spread = block.tensor(x.shape, place=block.along(deep + 2 * width, max(32, inside), cores), layout=ROW_MAJOR)  # fmt: skip
            block.put(f"{name}_halo", halo(x, spread, window, round(100 * each)))
            x = spread
        weight = block.tensor([1, 1, kernel**2 * max(8, inside), outside])
        made = block.tensor([1, 1, rows * width, outside], place=block.along(deep, 32 * -(-outside // 32), cores))
        conv = conv2d(x, weight, block.tensor([1, 1, 32, outside]), made, window=window, kernel_ns=round((580 if slices > 1 else 900) * each), in_channels=inside, act_block_h=1, fidelity="HiFi2", activation=act)  # fmt: skip
        conv.attributes = {**conv.attributes, "compute_kernel_config": block.kernel("HiFi2", fp32=True)}
        block.put(name, conv)
        if slices > 1:
            block.op(f"{name}_write", "SliceWrite", (made,), out, 0.14 * each, cores=cores)
        else:
            out = made
    return out


def pooled(block: Block, role: str, x: Tensor, us: float) -> Tensor:
    return block.moved(role, "Pool2D", x, us, shape=[1, 1, x.shape[2] // 4, x.shape[3]], place=DRAM, layout=ROW_MAJOR, cores=ALL, fidelity="HiFi4")  # fmt: skip


def net() -> Block:
    block = Block("blackhole", grid=GRID, gap_us=1.0)
    sliced(block, "block0_a", (480, 640), (1, 64), 470, slices=4)
    pooled(block, "block0_pool", sliced(block, "block0_b", (480, 640), (64, 64), 860, slices=4), 130)
    sliced(block, "block1_a", (240, 320), (64, 64), 250, slices=2)
    pooled(block, "block1_pool", sliced(block, "block1_b", (240, 320), (64, 64), 250, slices=2), 50)
    sliced(block, "block2_a", (120, 160), (64, 128), 92)
    pooled(block, "block2_pool", sliced(block, "block2_b", (120, 160), (128, 128), 150), 26)
    sliced(block, "block3_a", CELLS, (128, 128), 62)
    sliced(block, "block3_b", CELLS, (128, 128), 62)
    sliced(block, "score_a", CELLS, (128, 256), 96)
    y = sliced(block, "score_b", CELLS, (256, 65), 36, kernel=1, act=None)
    block.softmax("score_softmax", block.from_shards("score_whole", y, 8), 24, cores=ALL, fp32=False)
    sliced(block, "words_a", CELLS, (128, 256), 96)
    y = sliced(block, "words_b", CELLS, (256, 256), 54, kernel=1, act=None)
    square = block.binary("words_square", "MUL", y, y, 12, cores=ALL)
    total = block.op("words_sum", "Reduce", (square,), block.tensor([1, 1, 4800, 1]), 26, cores=ALL, fidelity="HiFi4", dim="ReduceOpDim::W", math_op="ReduceOpMath::SUM")  # fmt: skip
    root = block.unary("words_root", "RSQRT", total, 8, cores=ALL)
    block.binary("words_times", "MUL", y, root, 14, cores=ALL)
    return block


def peaks() -> Block:
    """Cells back to a map of one channel, which tiles pad to 32, its maxima of 9 x 9, and where they are the map itself."""
    block = Block("blackhole", grid=GRID, gap_us=1.0)
    y = block.slice("cells", block.tensor([1, 1, 4800, 65]), (0, 0, 0, 0), (1, 1, 4800, 64), 12)
    y = block.moved("cells_rows", "UntilizeWithUnpadding", y, 20, layout=ROW_MAJOR, cores=ALL, use_multicore=True)
    y = block.moved("folded", "ReshapeView", y, 160, shape=[60, 80, 8, 8], cores=ALL)
    y = block.permute("folded_turn", y, (0, 2, 1, 3), 380)
    y = block.moved("map", "ReshapeView", y, 1450, shape=[1, 1, 307200, 1], cores=ALL)
    y = block.moved("map_pad", "Pad", y, 1120, shape=[1, 1, 307200, 32], cores=ALL)
    most = block.moved("pool", "Pool2D", y, 4620, cores=ALL, fidelity="HiFi4")
    most = block.moved(
        "pool_tiles", "TilizeWithValPadding", most, 330, layout="TILE", cores=ALL, use_multicore=True
    )
    y = block.moved("map_tiles", "TilizeWithValPadding", y, 330, layout="TILE", cores=ALL, use_multicore=True)
    same = block.binary("same", "EQ", y, most, 138, cores=ALL)
    y = block.binary("kept", "MUL", y, same, 138, cores=ALL)
    y = block.slice("kept_first", y, (0, 0, 0, 0), (1, 1, 307200, 1), 262)
    return block


CONVS = "block0_a_? block0_b_? block1_a_? block1_b_? block2_a block2_b block3_a block3_b score_a score_b words_a words_b"
FIRST = "block0_a_? block0_b_?"
TRACED = "pictures in a second from a trace, upload and all"
EAGER = "pictures in a second, without a trace"
SUPERPOINT = (
    laid(
        "superpoint-net", TABLE, "the whole net on the device: 355.39 pictures in a second", net,
        (
            dead("bfp8", "the encoder's weights in BFLOAT8_B", CONVS, BFP8, f"6.41 -> 6.46 {EAGER}: noise; 0.91 to the reference"),
            dead("bfp8-first", "the first block's weights in BFLOAT8_B", FIRST, BFP8, f"72.04 -> 71.90 {TRACED}; 0.91 to the reference"),
            dead("lofi", "LoFi for the encoder", CONVS, LOFI, f"72.04 -> 70.81 {TRACED}; 0.91 to the reference"),
            dead("act-block", "act_block_h_override of 32 in the first block", FIRST, r"act_block_h", f"72.04 -> 71.41 {TRACED}"),
            dead("act-buffers", "two buffers of activations", CONVS, r"enable_act_double_buffer|act.{0,20}double.?buffer", f"72.04 -> 71.78 {TRACED}: noise"),
            dead("weight-buffers", "two buffers of weights", CONVS, r"enable_weights_double_buffer|weights?.{0,20}double.?buffer", f"6.40 -> 6.22 {EAGER}: less is left for the rest"),
            dead("halo", "the halo's output moved together", "*_halo", r"reallocate_halo_output", f"72.04 -> 72.08 {TRACED}: noise"),
            dead("block-shards", "shards by block in the last block", "block3_a block3_b", r"block.?shard", f"72.04 -> 71.53 {TRACED}"),
            dead("inner", "full_inner_dim", CONVS, r"full_inner_dim", f"72.04 -> 71.62 {TRACED}: noise"),
            dead("deallocate", "deallocate_activation", CONVS, r"deallocate_activation", f"6.40 -> 6.36 {EAGER}"),
            dead("second-whole", "the second block not in slices", "block1_a_* block1_b_*", r"slice|L1Full", f"6.40 -> 6.26 {EAGER}"),
            dead("fewer-slices", "the first block in two slices", "block0_a_* block0_b_*", r"slice", "does not fit: 1.58 MB of 1.57"),
            dead("rms", "rms_norm instead of four ops", "words_square words_sum words_root words_times", r"rms_norm", "3.97 -> 3.98 ms with the search of peaks, upload and all", LOG),
        ),
        "how the ops share the time (by work, with a floor); shards and cores; gaps",
        pass_us=2814,
    ),
    laid(
        "superpoint-peaks", TABLE, "the search of peaks on the device: 355.39 -> 85.59 pictures in a second with one kernel for two ops", peaks,
        (
            gain("apart", "maxima of nine rows, then of nine columns, 32 pixels of the other axis as channels", 8460, "*", r"separab|(9|9,) ?x? ?1\b|(two|1-?D|one.dimensional).{0,30}(pool|max)|transpose", "11.68 ms with the net -> 0.50 ms more than it", LOG),
            gain("kernel", "one kernel for the comparison and the product", 92, "same kept", r"fus|one (op|kernel)|sp_eq_mul|generic_op|where\(", "0.276 -> 0.184 ms alone", KERNEL),
        ),
        "how the ops share the time; their order; shapes between; core counts; gaps",
        pass_us=8960,
    ),
)  # fmt: skip
