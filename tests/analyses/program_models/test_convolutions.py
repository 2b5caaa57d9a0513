"""Convolutions, halos, pools and group norms against what dry captures of TTNN 0.81.1 showed on mock devices."""

import pytest

from tests.analyses.program_models.programs import KERNEL, modelled, sharded, tensor

WINDOW = "SlidingWindowConfig(1, 0, {{32, 32}}, {{{}, {}}}, {{1, 1}}, array(1, 1, 1, 1), PaddingMode::Zeros)"
FLAGS = "array(1, 32, 32, 64), {}, {}, 0, 39168, std::nullopt)"


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


@pytest.mark.parametrize(("inputs", "out", "printed", "measured"), CONVS)
def test_a_convolution_from_the_cache_takes_what_its_blocks_say(inputs, out, printed, measured):
    assert modelled("Conv2dDeviceOperation", inputs, out, attributes=printed) == measured


@pytest.mark.parametrize("printed", [conv("8, 7, 7, 4, 3", "1, 9", flags="1, 0, 0, 1, 0"), "Conv2dParams()"])
def test_a_convolution_that_reuses_activations_is_not_guessed(printed):
    assert modelled("Conv2dDeviceOperation", [BLOCK, W_BLOCK], OUT, attributes=printed) is None
    assert modelled("Conv2dDeviceOperation", [BLOCK, W_BLOCK], tensor(1, 1, 1024, 640), attributes=printed) is None


@pytest.mark.parametrize(
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


@pytest.mark.parametrize("case", POOLS)
def test_a_pool_takes_its_window(case):
    kind, window, columns, layout, places, measured = case
    out = sharded(1, 1, 256, 32 * columns, layout="HEIGHT", shard=(4, 32 * columns), cores=(8, 8), rows=True)
    told = f"operation_attributes_t({WINDOW.format(window, window)}, Pool2DType::{kind}_POOL2D, "
    told += f"DataType::BFLOAT16, Layout::{layout}, std::nullopt, 1, std::nullopt, {places}, 43904, 0)"
    size = modelled("Pool2D", [tensor(1, 1, 256, 32, rows=True)], out, attributes=told)
    edges = 4096 if kind == "AVG" else 0  # averages may need scalars of their own at the edges
    assert size == measured + edges
    assert modelled("Pool2D", [BLOCK], out, attributes="operation_attributes_t()") is None
