"""Stories about vision models: BEVFormer's layouts, a vision tower's matmuls, the convs and matmuls of UNets."""

from __future__ import annotations

from tests.checks.conv_programs import Conv, put_conv
from tests.profiles import DRAM, L1, Program
from tests.profiles.ops import kernel_config
from tests.stories.matmuls import both_sided, multiply
from tests.stories.ports import ADDED, MULTIPLIED, rest_of_layer
from tests.stories.story import SHAPE, SPLIT, TIMES, Story, run_op

BEV = "tt-metal BEVFormer perf report"
TOWER = "tt-metal Qwen3.5 vision tower perf notes"
UNET = "tt-mlir #7702"


def gather_of_rows():
    """One layer: 2496 of 10,000 queries for each of six cameras, the row's number once for each of eight columns."""
    program = Program()
    flat = [6, 1, 8, 10_000]
    x = run_op(program, "Transpose", (program.tensor([6, 1, 10_000, 8]),), program.tensor(flat), 45)
    picks = run_op(program, "Transpose", (program.tensor([6, 1, 2496, 8], "UINT32"),), program.tensor([6, 1, 8, 2496], "UINT32"), 25)  # fmt: skip
    rows = run_op(program, "Gather", (x, picks), program.tensor([6, 1, 8, 2496]), 97_500, attributes={"dim": 3})
    run_op(program, "Transpose", (rows,), program.tensor([6, 1, 2496, 8]), 20)
    rest_of_layer(program, 682_000)
    return program


def camera_axis_in_tiles(change_us: float):
    """Keys and values are one tensor; both are permuted, and only the values are read."""

    def build():
        program = Program()
        features = program.tensor([6, 30_125, 1, 256])
        turned = [
            run_op(program, "Permute", (features,), program.tensor([1, 6, 30_125, 256]), 19_320, attributes={"dims": "SmallVector([2, 0, 1, 3])"})
            for _ in range(2)
        ]  # fmt: skip
        w, out = program.tensor([1, 1, 256, 256]), program.tensor([1, 6, 30_125, 256])
        attributes = {"compute_kernel_config": kernel_config("HiFi4"), "program_config": None}
        run_op(program, "Matmul", (turned[1], w), out, 900, fidelity="HiFi4", attributes=attributes)
        rest_of_layer(program, change_us)
        return program

    return build


def offsets_in_tiny_tiles():
    """Offsets, reference points and the rescaling of both attentions, four points and two coordinates last."""
    program = Program()
    for rows, heads, levels, times in (
        (14_976, 8, 4, (16_880, 4_440, 14_980, 9_545, 9_545, 14_260)),
        (20_000, 8, 1, (8_434, 2_219, 7_485, 4_769, 4_769, 7_124)),
    ):
        flat, small, split = [1, 1, rows, heads * levels * 8], [rows * heads, levels, 4, 2], [rows * heads * levels, 1, 4, 2]  # fmt: skip
        offsets = multiply(program, rows, 256, flat[-1], 250)
        grid = run_op(program, "ReshapeView", (offsets,), program.tensor(small), times[0])
        grid = run_op(program, "ReshapeView", (grid,), program.tensor(split), times[1])
        grid = run_op(program, "BinaryNg", (grid, program.tensor([rows * heads * levels, 1, 4, 2])), program.tensor(split), times[2], attributes=ADDED)  # fmt: skip
        for us in times[3:5]:
            grid = run_op(program, "BinaryNg", (grid,), program.tensor(split), us, attributes=MULTIPLIED)
        run_op(program, "UntilizeWithUnpadding", (grid,), program.tensor(split, layout="ROW_MAJOR"), times[5])
    rest_of_layer(program, 333_500)
    return program


def tower_projection_on_24_cores():
    """Twelve chunks of 1024 patches; the config was made for 2048 rows."""
    program = Program(devices=2)
    x, w = program.tensor([1, 12, 1024, 768]), program.tensor([1, 1, 768, 1152], "BFLOAT8_B")
    attributes = {"compute_kernel_config": kernel_config("HiFi4", packer=True), "program_config": both_sided(11, 5, block=4).replace("out_subblock_w=4", "out_subblock_w=1")}  # fmt: skip
    run_op(program, "Matmul", (x, w), program.tensor([1, 12, 1024, 1152]), 2_725, fidelity="HiFi4", attributes=attributes, cores=24)  # fmt: skip
    return program


def tower_queries():
    program = Program(devices=2)
    x, w = program.tensor([1, 6, 2048, 1152]), program.tensor([1, 1, 1152, 2304], "BFLOAT8_B")
    config = both_sided(8, 9, block=1).replace("out_subblock_w=4", "out_subblock_w=1")
    attributes = {"compute_kernel_config": kernel_config("HiFi4", packer=True), "program_config": config}
    wide = program.tensor([1, 6, 2048, 2304])
    y = run_op(program, "Matmul", (x, w), wide, 3_281, fidelity="HiFi4", attributes=attributes)
    run_op(program, "BinaryNg", (y, program.tensor([1, 1, 1, 2304])), program.tensor(wide.shape), 937, attributes=ADDED)  # fmt: skip
    return program


def tower_merger():
    program = Program(devices=8)
    multiply(program, 2752, 4608, 576, 531)
    return program


def feed_forward(place, times):
    """A UNet's feed-forward part over 1024 rows: out of the attention, both halves of GEGLU, back."""

    def build():
        program = Program()
        x = multiply(program, 1024, 640, 640, times[0], into=place, weights="BFLOAT16")
        wide = multiply(program, 1024, 640, 5120, times[1], x=x, into=place, weights="BFLOAT16")
        halves = [
            run_op(program, "Slice", (wide,), program.tensor([1, 1, 1024, 2560]), 40, attributes={"slice_start": f"Shape([0, 0, 0, {start}])", "slice_end": f"Shape([1, 1, 1024, {start + 2560}])"})
            for start in (0, 2560)
        ]  # fmt: skip
        y = run_op(program, "BinaryNg", halves, program.tensor([1, 1, 1024, 2560]), 60, attributes=MULTIPLIED)
        multiply(program, 1024, 2560, 640, times[2], x=y, into=place, weights="BFLOAT16")
        return program

    return build


def matmul_into_l1():
    program = Program()
    multiply(program, 1024, 640, 5120, 2_027, "MatmulMultiCoreProgramConfig()", into=L1, weights="BFLOAT16", fidelity="HiFi4")  # fmt: skip
    return program


def conv_of_blocks():
    """256 channels of 128 x 128 pixels to 128, by blocks of 64 rows."""
    program = Program()
    conv = Conv(layout="BLOCK", channel_cores=8, per_core=(64, 1), block=(2, 9), inner=72, out="BFLOAT16", weights="BFLOAT16", kernel_ns=853_000)  # fmt: skip
    put_conv(program, conv)
    return program


def convs_of_a_head():
    """1 x 1 convs of 256 channels over the levels of a pyramid."""
    program = Program()
    for place in range(7):
        put_conv(program, Conv(kernel=1, per_core=(8 - place, 8), block=(4, 8), inner=8, weights="BFLOAT16", out="BFLOAT16", weights_double=True, kernel_ns=97_000 + 100 * place))  # fmt: skip
    return program


VISION = (
    Story(
        "bev-gather", f"{BEV}s, dead ends", "ttnn.gather of whole rows: 97.59 ms", "ttnn.embedding (0.12 ms)",
        gather_of_rows, "silent", "silent", 97_470, "embedding", made_up=f"cores, {SPLIT}",
        unknown="the report shows no indices, so not whether a row takes one in all its columns",
    ),
    Story(
        "bev-cameras", f"{BEV} 03", "features of six cameras permuted twice, one row to a tile: 487.4 ms",
        "untilized first, permuted once (450.6 ms)", camera_axis_in_tiles(447_860), "named", "right", 35_800, "ROW_MAJOR|row.major|[Uu]ntiliz",
        made_up="the matmul's time",
    ),
    Story(
        "bev-unread-keys", f"{BEV} 06", "the keys permuted beside the equal values, never read: 456.5 ms",
        "deleted (438.4 ms)", camera_axis_in_tiles(416_960), "other change", "other change", 18_100, "once|unused|drop|delete|not read|same",
        made_up="the matmul's time",
        unknown="a CSV has no tensors: equal permutes may have a reader each; with a memory report dead-result tells it",
    ),
    Story(
        "bev-offsets", f"{BEV} 07", "sampling offsets as tiles of 4 x 2: 438.4 ms", "the same arithmetic on rows of 256 (356.2 ms)",
        offsets_in_tiny_tiles, "bound wrong", "right", 82_200, "ROW_MAJOR|row.major|flat|fold", made_up="how the temporal attention's 34.8 ms are split", several=True,
    ),
    Story(
        "tower-wo", TOWER, "wo with a config for other rows, on 24 of 64 cores, HiFi4: 2725 us", "its own config, LoFi (294 us)",
        tower_projection_on_24_cores, "right", "right", 2_431, "per_core_M|grid|LoFi|HiFi2|core", made_up="in0_block_w", several=True,
    ),
    Story(
        "tower-qkv", TOWER, "QKV with in0_block_w 1, HiFi4, its bias added apart: 4218 us", "in0_block_w 18, HiFi2, the bias in the matmul (1411 us)",
        tower_queries, "bound wrong", "right", 2_807, "in0_block_w|HiFi2|bias", made_up="nothing", several=True,
    ),
    Story(
        "tower-merger", TOWER, "merger_fc1 without a config: 531 us", "none: a config for 8x8 cores took 559 us",
        tower_merger, "false promise", "right", denies="ProgramConfig", made_up="nothing",
    ),
    Story(
        "unet-matmul-l1", UNET, "UNet: a matmul's output in L1, interleaved: 2027 us", "in DRAM (264 us)",
        matmul_into_l1, "other change", "right", 1_763, r"DRAM|program_config=ttnn\.Matmul", made_up="formats, cores, the config as printed",
    ),
    Story(
        "unet-matmuls-dram", UNET, "UNet: matmuls with outputs in DRAM: 48, 264, 115 us", "none: outputs in L1 took 95, 2027, 351 us",
        feed_forward(DRAM, (48, 264, 115)), "right", "right", denies=r"L1_MEMORY_CONFIG|in L1|L1_INTERLEAVED", made_up=f"formats, {TIMES} between them",
    ),
    Story(
        "unet-conv-blocks", "tt-mlir #7701", "UNet: a conv after a concat, BLOCK_SHARDED: 853 us", "HEIGHT_SHARDED (220 us)",
        conv_of_blocks, "other change", "other change", 633, "HEIGHT", made_up="formats, blocks",
        unknown="which shards suit a conv differs from one to the next, and no second conv of the report shows it",
    ),
    Story(
        "atss-head", "tt-metal ATSS Swin-L optimization report", "1 x 1 convs of the head at HiFi2: 0.68 ms", "none: LoFi took the same",
        convs_of_a_head, "right", "right", denies="LoFi", made_up=SHAPE,
    ),
)  # fmt: skip
