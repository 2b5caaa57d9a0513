"""Stories about convs, the host, traces and collectives."""

from __future__ import annotations

from dataclasses import replace

from tests.checks.conv_programs import Conv, put_conv, put_halo, row_major
from tests.profiles import DRAM, Iteration, Program, height_sharded
from tests.stories.story import SHAPE, Story, run_op

COLD_THEN_TWO = (Iteration(cold=True), Iteration(), Iteration())


def untraced(ops: int, kernel_us: float, gap_us: float):
    """Ops that each wait for the host."""

    def build():
        program = Program()
        for place in range(ops):
            x, out = (program.tensor([1, 1, 32, 1024 + 32 * (place % 7)], "UINT16") for _ in range(2))
            run_op(program, "MadeUpOfNoFamily", (x,), out, kernel_us, gap_ns=round(gap_us * 1e3))
        return program

    return build


def slices_of_a_conv():
    """Four slices on 20 of 110 cores, as they were tuned for another chip."""
    program = Program("blackhole", grid=(11, 10))
    conv = Conv(grid=(5, 4), block=(8, 6), per_core=(16, 2), kernel_ns=400_000)
    whole = program.tensor([1, 1, 4 * conv.rows + 256, 64], layout="ROW_MAJOR", placement=DRAM)
    filled = program.tensor([1, 1, 4 * conv.rows, conv.columns], "BFLOAT8_B")
    for _ in range(4):
        part = row_major(program, conv.placed(512, 64), conv.rows)
        run_op(program, "PaddedSlice", (whole,), part, 90)
        y = put_conv(program, conv, put_halo(program, part, conv))
        run_op(program, "SliceWrite", (y, filled), filled, 110)
    return program


def upsample_on_one_core():
    """All of what 326 images per second do not need: 45.5 - 3.1 ms over four levels of the UNet."""
    program = Program()
    for rows, us in ((1320, 1_000), (5280, 3_000), (21_120, 9_000), (84_480, 29_400)):
        shape = [1, rows // 44, 44, 32]
        x = program.tensor(shape, layout="ROW_MAJOR", placement=DRAM)
        out = program.tensor([1, 2 * shape[1], 88, 32], layout="ROW_MAJOR", placement=DRAM)
        run_op(program, "UpSample", (x,), out, us, cores=1, attributes={"scale_factor_h": 2, "scale_factor_w": 2})
    other, out = (program.tensor([1, 1, 32, 64], "UINT16") for _ in range(2))
    run_op(program, "MadeUpOfNoFamily", (other,), out, 3_054)
    return program


def conv_by_width():
    program = Program()
    conv = Conv(
        layout="WIDTH", grid=(8, 5), channel_cores=40, per_core=(32, 1), block=(32, 9), inner=360, kernel_ns=900_000
    )
    put_conv(program, conv)
    return program


def detour_after_a_conv():
    program = Program()
    where = height_sharded(256, 64, (8, 8))
    y = put_conv(program, replace(Conv(), kernel_ns=200_000))
    flat = run_op(program, "ShardedToInterleaved", (y,), program.tensor(y.shape, y.dtype, placement=DRAM), 45)
    back = run_op(program, "InterleavedToSharded", (flat,), program.tensor(y.shape, y.dtype, placement=where), 40)
    run_op(program, "Unary", (back,), program.tensor(y.shape, y.dtype, placement=where), 20, fidelity="HiFi4")
    return program


def yolo_on_few_cores():
    program = Program()
    put_conv(program, Conv(grid=(5, 2), block=(2, 6), fidelity="HiFi4", weights="BFLOAT16", out="BFLOAT16", kernel_ns=300_000))  # fmt: skip
    put_conv(program, Conv(grid=(8, 6), block=(2, 6), fidelity="HiFi4", weights="BFLOAT16", kernel_ns=200_000))
    return program


def all_reduce_in_parts():
    """gpt-oss, batch 1: 2880 columns, padded for the scatter."""
    program = Program(devices=8)
    x = run_op(program, "Matmul", (program.tensor([1, 1, 32, 512]), program.tensor([1, 1, 512, 2880], "BFLOAT8_B")), program.tensor([1, 1, 32, 2880]), 20, fidelity="HiFi2")  # fmt: skip
    wide = run_op(program, "Pad", (x,), program.tensor([1, 1, 32, 3072]), 30)
    ring = {"dim": 3, "num_links": 1, "ring_size": 8, "topology": "Topology::Linear"}
    part = run_op(program, "ReduceScatterMinimalAsync", (wide,), program.tensor([1, 1, 32, 384]), 90, cores=8, attributes=ring)  # fmt: skip
    whole = run_op(
        program, "AllGatherAsync", (part,), program.tensor([1, 1, 32, 3072]), 80, cores=8, attributes=ring
    )
    run_op(program, "Slice", (whole,), program.tensor([1, 1, 32, 2880]), 25)
    return program


def logits_to_the_host():
    """A step of 76.7 ms, of which 42.7 go when ArgMax runs on the device."""
    program = Program("blackhole", grid=(11, 10))
    for _ in range(10):
        x, out = (program.tensor([1, 1, 32, 2880], "UINT16") for _ in range(2))
        run_op(program, "MadeUpOfNoFamily", (x,), out, 3_000)
    weights = program.tensor([1, 1, 2880, 201_088], "BFLOAT8_B")
    logits = run_op(program, "Matmul", (program.tensor([1, 1, 32, 2880]), weights), program.tensor([1, 1, 32, 201_088]), 1_900, fidelity="HiFi2")  # fmt: skip
    run_op(program, "Untilize", (logits,), program.tensor(logits.shape, layout="ROW_MAJOR"), 90)
    return program


def small_steps():
    program = Program()
    for width in range(12):
        x, out = program.tensor([1, 1, 32, 1024 + 32 * width]), program.tensor([1, 1, 32, 1024])
        run_op(program, "Unary", (x,), out, 60)
    return program


SYSTEMS = (
    Story(
        "S22", "tt-metal PR#38174", "pi0 untraced: 2.57 fps", "trace and 2 queues (3.06 fps)",
        untraced(300, 1_000, 290), "named", "named", None, "trace", iterations=COLD_THEN_TWO,
    ),
    Story(
        "S31934", "tt-metal PR#31934", "Llama-70B prefill untraced: 186.5 ms", "prefill trace (153.6 ms)",
        untraced(300, 500, 121), "named", "named", None, "trace", iterations=COLD_THEN_TWO,
    ),
    Story(
        "S23", "tt-metal PR#36287", "Panoptic DeepLab, convs in DRAM slices tuned for 20 of 110 cores: 12.5 ms",
        "convs in L1, shards for 110 cores (6.9 ms)", slices_of_a_conv, "named", "named", None, "L1|cores",
        made_up=f"{SHAPE}, the times",
    ),
    Story(
        "S27", "tt-metal PR#12235", "UNet Shallow, Upsample interleaved on one core: 22 fps",
        "shard its input (326 fps)", upsample_on_one_core, "right", "right", 42_386, "[Ss]hard",
    ),
    Story(
        "S28", "tt-metal PR#23256", "SDXL conv WIDTH_SHARDED", "BLOCK_SHARDED (more than 2x)", conv_by_width, "other change", "named",
        None, "BLOCK_SHARDED", made_up=f"{SHAPE}, the time",
    ),
    Story(
        "Y2", "tt-metal adb6686d52", "UNet Shallow: sharded_to_interleaved as a workaround", "dropped (+50 fps)",
        detour_after_a_conv, "named", "named", None, "drop|keep|remove|[Ss]hard", made_up=f"{SHAPE}, the times",
    ),
    Story(
        "Y3", "tt-metal #27250 and six more", "YOLO convs on 10 to 48 cores, HiFi4, BFLOAT16",
        "cores, BFLOAT8_B, LoFi, double buffers", yolo_on_few_cores, "named", "named", None,
        "LoFi|HiFi2|bfloat8_b|double_buffer|cores", made_up=f"{SHAPE}, the times",
    ),
    Story(
        "S29", "tt-metal PR#38225", "gpt-oss all-reduce as padded reduce-scatter and all-gather: 10.72 t/s/u",
        "ttnn.all_reduce (14.73 t/s/u)", all_reduce_in_parts, "other change", "named", None, "all_reduce",
        made_up=f"{SHAPE}, the times",
    ),
    Story(
        "S39", "tt-metal PR#52255", "gpt-oss: full logits read to the host: 13.03 t/s/u",
        "ArgMax on the device (29.34 t/s/u)", logits_to_the_host, "silent", "named", 42_660, "argmax|ArgMax",
        iterations=(Iteration(cold=True), Iteration(before_ns=42_660_000), Iteration(before_ns=42_660_000)),
        unknown="the wait before a pass holds all that the host does: no report tells how much of it the choice of a token takes",
    ),
    Story(
        "S41", "tt-metal #20777, PR#23889", "YOLOv4: padded on the host before the upload: 30 % of the time",
        "pad and convert on the device", small_steps, "silent", "other change", None, "pad.*device|device.*pad|on the device",
        made_up=f"{SHAPE}, the times",
        iterations=(Iteration(cold=True), *(Iteration(before_ns=309_000, host_rows=("ttnn.pad",)) for _ in "ab")),
        unknown="host ops carry no tensors in the CSV: a memory report names what is uploaded",
    ),
    Story(
        "M3", "tt-metal #6882, PR#6886", "Mistral: slice falls back to the host: 0.27 s instead of 0.16 s",
        "slice on the device", small_steps, "silent", "other change", None, "fall.?back|on the device",
        made_up=f"{SHAPE}, the times",
        iterations=(Iteration(cold=True), *(Iteration(before_ns=500_000, host_rows=("ttnn.slice",)) for _ in "ab")),
        unknown="host ops carry no tensors in the CSV: a memory report names what falls back",
    ),
)  # fmt: skip
