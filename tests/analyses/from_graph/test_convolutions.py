"""Convolutions, halos, pools and group norms against what dry captures of TTNN 0.81.1 showed on mock devices."""

from dataclasses import replace

from tests.analyses.from_graph.programs import KERNEL, modelled, sharded, tensor
from tests.for_all import for_all

WINDOW = (
    "SlidingWindowConfig(1, 0, {{32, 32}}, {{{}, {}}}, {{1, 1}}, array(1, 1, 1, 1), {{0, 0}}, PaddingMode::Zeros)"
)
POOLED = (
    "SlidingWindowConfig(1, 64, {{{size}}}, {{{window}, {window}}}, {{{stride}, {stride}}}, array({padding}), {{0, 0}}, "
    "{{1, 1}}, std::nullopt, 1, 1, 8, 2, <CoreRangeSet>, 0, 0, 0, {ceil}, PaddingMode::Zeros)"
)
FLAGS = "array(1, 32, 32, 64), {}, {}, 0, 39168, std::nullopt)"


def pooled(window, *, size="32, 32", stride=1, padding=1, ceil=0):
    """What it prints of the window of a pool."""
    sides = ", ".join([str(padding)] * 4)
    return POOLED.format(size=size, window=window, stride=stride, padding=sides, ceil=ceil)


def conv(spread, blocks, *, flags="0, 0, 0, 0, 0", kernel=(0, 0), size=3, output="640, 1, 0, 1"):
    """What a graph prints of a convolution."""
    told = FLAGS.format(KERNEL.format(*kernel), flags)
    return (
        f"Conv2dParams({WINDOW.format(size, size)}, {output}, std::nullopt, "
        f"Conv2dParallelizationConfig(<xy_pair>, {spread}), Conv2dBlockConfig({blocks}, 1, 3), {told}"
    )


BLOCK = sharded(1, 1, 1632, 672, layout="BLOCK", shard=(204, 96), cores=(7, 8), rows=True)
OUT = sharded(1, 1, 1024, 640, layout="BLOCK", shard=(128, 96), cores=(7, 8))
TALL = sharded(1, 1, 7644, 128, layout="HEIGHT", shard=(156, 128), cores=(7, 7), rows=True)
TALL_OUT = sharded(1, 1, 1568, 128, layout="HEIGHT", shard=(32, 128), cores=(7, 7))
FLAT = sharded(1, 1, 100, 1280, layout="WIDTH", shard=(100, 32), cores=(8, 5), rows=True)
FLAT_OUT = sharded(1, 1, 64, 1280, layout="WIDTH", shard=(64, 32), cores=(8, 5))
W_BLOCK, W_TALL, W_FLAT = (tensor(1, 1, *shape, dtype="b8") for shape in ((5760, 640), (1152, 128), (11520, 1280)))
CONVS = [
    ([BLOCK, W_BLOCK], OUT, conv("8, 7, 7, 4, 3", "1, 9", flags="1, 0, 0, 0, 0"), 88_000),
    ([TALL, W_TALL], TALL_OUT, conv("49, 1, 1, 1, 4", "1, 12", flags="1, 1, 0, 0, 0"), 182_592),
    ([FLAT, W_FLAT], FLAT_OUT, conv("1, 40, 40, 2, 1", "2, 9"), 121_536),
]


@for_all(("inputs", "out", "printed", "measured"), CONVS)
def test_a_convolution_from_the_cache_takes_what_its_blocks_say(inputs, out, printed, measured):
    assert modelled("Conv2dDeviceOperation", inputs, out, attributes=printed) == measured


@for_all("printed", [conv("8, 7, 7, 4, 3", "1, 9", flags="1, 0, 0, 1, 0"), "Conv2dParams()"])
def test_a_convolution_that_reuses_activations_is_not_guessed(printed):
    assert modelled("Conv2dDeviceOperation", [BLOCK, W_BLOCK], OUT, attributes=printed) is None
    assert modelled("Conv2dDeviceOperation", [BLOCK, W_BLOCK], tensor(1, 1, 1024, 640), attributes=printed) is None


@for_all(
    ("x", "dtype", "measured"),
    [
        (sharded(1, 1, 784, 192, layout="HEIGHT", shard=(32, 192), cores=(5, 5), rows=True), "bf", 768),
        (sharded(1, 1, 1024, 640, layout="BLOCK", shard=(128, 96), cores=(7, 8)), "bf", 24_960),
        (sharded(1, 1, 1024, 128, layout="HEIGHT", shard=(32, 128), cores=(8, 4), dtype="b8"), "bf", 33_280),
    ],
)
def test_a_halo_untilizes_two_rows_of_tiles_at_a_time(x, dtype, measured):
    out = tensor(1, 1, 2400, 192, dtype=dtype, rows=True, place="L1")
    plain, tables = (f"HaloParams(1, {flag}, {KERNEL.format(0, 0)})" for flag in (0, 1))
    assert modelled("HaloDeviceOperation", [x], out, attributes=plain) == measured
    assert modelled("HaloDeviceOperation", [x], out, attributes=tables) is None


SMALL = sharded(1, 1, 324, 32, layout="WIDTH", shard=(324, 32), cores=(1, 1), rows=True)
SMALL_OUT = sharded(1, 1, 256, 64, layout="WIDTH", shard=(256, 32), cores=(2, 1), dtype="b8")
ALONE = sharded(1, 1, 576, 8, layout="BLOCK", shard=(72, 8), cores=(1, 8), rows=True)
ALONE_OUT = sharded(1, 1, 256, 64, layout="BLOCK", shard=(32, 32), cores=(2, 8), dtype="b8")


@for_all(
    ("x", "out", "printed", "measured"),
    [
        (SMALL, SMALL_OUT, ("1, 1, 2, 8, 1", "8, 9", "0, 0, 0, 0, 0"), 203_392),
        (
            ALONE,
            ALONE_OUT,
            ("8, 1, 2, 1, 1", "1, 3", "0, 0, 1, 0, 0"),
            16_000,
        ),  # the full inner dimension at a time
        (ALONE, ALONE_OUT, ("8, 1, 2, 1, 1", "1, 1", "0, 0, 0, 0, 0"), 7424),
    ],
)
def test_sums_are_kept_apart_where_there_is_something_to_sum_up(x, out, printed, measured):
    spread, blocks, flags = printed
    told = conv(spread, blocks, flags=flags, kernel=(0, 1), output="64, 1, 0, 0")
    inputs = [x, tensor(1, 1, 9 * x.shape[-1], 64, dtype="b8")]
    assert modelled("Conv2dDeviceOperation", inputs, out, attributes=told) == measured


def test_what_nobody_prints_of_a_convolution_is_not_guessed():
    inputs, out, printed, _ = CONVS[0]
    unplaced, unshaped = replace(out, placement=None), replace(out, placement=replace(out.placement, shard=None))
    name, halo = "Conv2dDeviceOperation", f"HaloParams(1, 0, {KERNEL.format(0, 0)})"
    assert modelled(name, inputs[:1], out, attributes=printed) is None
    assert modelled(name, inputs, unplaced, attributes=printed) is None
    assert modelled(name, inputs, tensor(1, 1, 1024, 640), attributes=printed) is None
    banked = replace(out, placement=replace(out.placement, buffer="DRAM"))
    for x in (unplaced, unshaped, banked):
        assert modelled("HaloDeviceOperation", [x], out, attributes=halo) is None
    flat = replace(out, placement=replace(out.placement, shard=replace(out.placement.shard, shape=(96,))))
    assert modelled("HaloDeviceOperation", [flat], out, attributes=halo) is None
    pool = (
        f"({pooled(2)}, Pool2DType::MAX_POOL2D, DataType::BFLOAT16, Layout::TILE, MC, 1, std::nullopt, 0, 43904, 0)"
    )
    assert modelled("Pool2D", [BLOCK], out, attributes=pool) > 0
    for lost in ("Pool2DType", "SlidingWindowConfig"):
        assert modelled("Pool2D", [BLOCK], out, attributes=pool.replace(lost, "Lost")) is None
    assert modelled("Pool2D", [BLOCK], tensor(1, 1, 256, 64), attributes=pool) is None


POOLS = [  # kind, window, columns of tiles, layout, with places, measured
    ("MAX", 2, 16, "ROW_MAJOR", 0, 14_336),
    ("MAX", 5, 4, "ROW_MAJOR", 0, 38_912),
    ("MAX", 9, 4, "ROW_MAJOR", 0, 38_912),
    ("MAX", 9, 8, "TILE", 0, 88_064),
    ("MAX", 2, 4, "TILE", 0, 22_528),
    ("MAX", 5, 4, "ROW_MAJOR", 1, 28_672),
    ("MAX", 9, 4, "ROW_MAJOR", 1, 32_768),
    ("AVG", 4, 4, "ROW_MAJOR", 0, 22_528),
    ("AVG", 5, 2, "ROW_MAJOR", 0, 22_528),
    ("AVG", 5, 16, "ROW_MAJOR", 0, 71_680),
    ("AVG", 6, 16, "ROW_MAJOR", 0, 38_912),
]


@for_all("case", POOLS)
def test_a_pool_takes_its_window(case):
    kind, window, columns, layout, places, measured = case
    out = sharded(1, 1, 256, 32 * columns, layout="HEIGHT", shard=(4, 32 * columns), cores=(8, 8), rows=True)
    told = f"operation_attributes_t({pooled(window)}, Pool2DType::{kind}_POOL2D, "
    told += f"DataType::BFLOAT16, Layout::{layout}, std::nullopt, 1, std::nullopt, {places}, 43904, 0)"
    size = modelled("Pool2D", [tensor(1, 1, 256, 32, rows=True)], out, attributes=told)
    assert size == measured
    edges = told.replace("nullopt, 1, std::nullopt", "nullopt, 0, std::nullopt")  # padding does not count
    apart = 4096 if kind == "AVG" else 0  # averages over fewer elements at the edges need scalars of their own
    assert modelled("Pool2D", [BLOCK], out, attributes=edges) == measured + apart
    divided = edges.replace("0, std::nullopt", "0, 9")  # by the same number everywhere
    assert modelled("Pool2D", [BLOCK], out, attributes=divided) == measured
    assert modelled("Pool2D", [BLOCK], out, attributes="operation_attributes_t()") is None


@for_all(
    ("size", "window", "stride", "padding", "reaches_out"),
    [
        ("32, 32", 3, 2, 0, True),
        ("31, 31", 3, 2, 0, False),
        ("32, 31", 3, 2, 0, True),
        ("31, 32", 3, 2, 0, True),
        ("32, 32", 3, 2, 1, True),
        ("33, 33", 3, 2, 1, False),
        ("31, 31", 2, 5, 1, False),  # the window that would is left out: it begins behind the image
        ("32, 32", 2, 5, 1, False),
    ],
)
def test_an_average_whose_last_window_reaches_out_divides_by_less(size, window, stride, padding, reaches_out):
    """As TTNN 0.81.1 allocates: two tiles of scalars more, with ceil_mode only."""
    out = sharded(1, 1, 256, 64, layout="HEIGHT", shard=(4, 64), cores=(8, 8), rows=True)
    sizes = []
    for ceil in (0, 1):
        shown = pooled(window, size=size, stride=stride, padding=padding, ceil=ceil)
        told = f"operation_attributes_t({shown}, Pool2DType::AVG_POOL2D, DataType::BFLOAT16, Layout::ROW_MAJOR, "
        told += "std::nullopt, 1, std::nullopt, 0, 43904, 0)"
        sizes.append(modelled("Pool2D", [BLOCK], out, attributes=told))
    assert sizes[1] - sizes[0] == (4096 if reaches_out else 0)


def wide_block(columns, shard, cores, *, rows, dtype="bf", tall=256):
    return sharded(1, 1, tall, columns, layout="BLOCK", shard=shard, cores=cores, rows=rows, dtype=dtype)


@for_all(
    ("inputs", "out", "printed", "measured"),
    [
        (  # 8 to 96 channels on 3 columns of cores: three sums, so that the packer adds up
            [wide_block(8, (324, 8), (1, 1), rows=True, tall=324), tensor(1, 1, 72, 96, dtype="b8")],
            wide_block(96, (256, 32), (3, 1), rows=False, dtype="b8"),
            conv("1, 1, 3, 8, 1", "1, 3", flags="0, 1, 1, 0, 0", kernel=(0, 1), output="96, 1, 0, 0"),
            21_312,
        ),
        (  # 64 to 32 on two and one: two sums
            [wide_block(64, (60, 32), (2, 2), rows=True, tall=120), tensor(1, 1, 576, 32)],
            wide_block(32, (32, 32), (1, 2), rows=False, dtype="b8", tall=64),
            conv("2, 2, 1, 1, 1", "1, 9", flags="0, 0, 1, 0, 0", kernel=(1, 1), output="32, 1, 0, 0"),
            56_512,
        ),
    ],
)
def test_sums_over_columns_of_cores_are_added_up_by_the_packer(inputs, out, printed, measured):
    assert modelled("Conv2dDeviceOperation", inputs, out, attributes=printed) == measured
