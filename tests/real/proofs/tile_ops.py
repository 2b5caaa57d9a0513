"""Ops that work tile by tile or row by row: elementwise, layouts, reductions, images, places."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from tests.real.rig.proof_calls import Operands

KINDS = ("n150", "p100")


def calls(on: Operands) -> Iterator[Callable[[], object]]:
    """Each of them as often as its program differs; each is made before the next is asked for."""
    yield from _elementwise(on)
    yield from _layouts(on)
    yield from _reductions(on)
    yield from _reductions_in_shards(on)
    yield from _images(on)
    yield from _places(on)


def _elementwise(on: Operands) -> Iterator[Callable[[], object]]:
    ttnn = on.ttnn
    height, width = on.shards("HEIGHT", (32, 512), (8, 1)), on.shards("WIDTH", (256, 64), (8, 1))
    for dtype in ("bf", "f32", "b8"):
        x, column, row = (
            on.tiles(*shape, dtype=dtype) for shape in ((1, 8, 256, 512), (1, 8, 256, 1), (1, 1, 1, 512))
        )
        held, other = (on.tiles(1, 1, 256, 512, dtype=dtype, memory=place) for place in (height, width))
        uneven = on.tiles(1, 1, 224, 512, dtype=dtype, memory=height)
        for function in (ttnn.add, ttnn.multiply, ttnn.divide, ttnn.rsub, ttnn.logical_and, ttnn.hypot):
            for other_one in (x, column, row, 2.0):
                yield lambda: function(x, other_one)
            for a, b in ((held, held), (held, other), (uneven, uneven)):
                yield lambda: function(a, b)
        activation = [ttnn.UnaryWithParam(ttnn.UnaryOpType.SILU)]
        for a in (x, held):
            for function in (ttnn.add, ttnn.multiply):
                yield lambda: function(a, a, input_tensor_a_activations=activation)
                yield lambda: function(a, a, activations=activation)
        for function in (ttnn.relu, ttnn.gelu, ttnn.logit, ttnn.cbrt, ttnn.exp):
            yield lambda: function(x)
            yield lambda: function(held)
        for goes in (ttnn.bfloat16, ttnn.bfloat8_b, ttnn.float32):
            yield lambda: ttnn.typecast(x, goes)
            yield lambda: ttnn.typecast(held, goes)
        yield lambda: ttnn.where(x, x, x)
        yield lambda: ttnn.where(x, x, row)
        yield lambda: ttnn.where(held, held, held)
        yield lambda: ttnn.addcmul(x, x, x)
        yield lambda: ttnn.experimental.dropout(x, probability=0.5, scale=2.0, seed=1)
        yield lambda: ttnn.cumsum(x, dim=2)
        yield lambda: ttnn.cumsum(x, dim=1)
        yield lambda: ttnn.cumprod(x, dim=1)


def _layouts(on: Operands) -> Iterator[Callable[[], object]]:
    ttnn = on.ttnn
    for dtype in ("bf", "f32"):
        for shape in ((1, 1, 256, 512), (1, 1, 64, 8192), (1, 1, 32, 50_304), (1, 1, 1024, 96), (1, 12, 32, 512), (1, 1, 32, 32_768),
                      (1, 8, 256, 512), (2, 4, 40, 100), (1, 1, 2048, 2048)):  # fmt: skip
            x, tiles = on.rows(*shape, dtype=dtype), on.tiles(*shape, dtype=dtype)
            yield lambda: ttnn.to_layout(x, ttnn.TILE_LAYOUT)
            yield lambda: ttnn.to_layout(x, ttnn.TILE_LAYOUT, dtype=ttnn.bfloat8_b)
            yield lambda: ttnn.to_layout(tiles, ttnn.ROW_MAJOR_LAYOUT)
        for layout, shape, shard, cores in (("HEIGHT", (256, 512), (32, 512), (8, 1)), ("HEIGHT", (512, 512), (64, 512), (8, 1)),
                                            ("BLOCK", (1024, 512), (128, 64), (8, 8)), ("WIDTH", (256, 512), (256, 64), (8, 1))):  # fmt: skip
            place = on.shards(layout, shard, cores)
            tiles, rows = (make(1, 1, *shape, dtype=dtype, memory=place) for make in (on.tiles, on.rows))
            for goes in (None, ttnn.DRAM_MEMORY_CONFIG):
                yield lambda: ttnn.untilize(tiles, memory_config=goes)
                yield lambda: ttnn.tilize(rows, memory_config=goes)
                ends = [0, 0, shape[0] - 1, shape[1] - 1]
                yield lambda: ttnn.untilize_with_unpadding(tiles, ends, memory_config=goes)
    for shape in ((1, 1, 512, 1272), (1, 1, 500, 1792)):
        ragged = on.tiles(*shape, memory=ttnn.L1_MEMORY_CONFIG)
        yield lambda: ttnn.untilize(ragged)
    for shape, shard in (((1, 1, 250, 256), (250, 32)), ((2, 2, 60, 256), (240, 64)), ((1, 1, 20, 256), (20, 32))):
        uneven = on.rows(*shape, memory=on.shards("WIDTH", shard, (256 // shard[1], 1)))
        yield lambda: ttnn.tilize_with_zero_padding(uneven)
    for words, width in ((1024, 512), (32_000, 8192)):
        table = on.rows(words, width)
        for count in (32, 256):
            indices = on.rows(1, count, dtype="u32")
            yield lambda: ttnn.embedding(indices, table)
            yield lambda: ttnn.embedding(indices, table, layout=ttnn.TILE_LAYOUT)
    place = on.shards("HEIGHT", (32, 512), (8, 1))
    few, small = on.rows(1, 256, dtype="u32"), on.rows(1024, 512)
    yield lambda: ttnn.embedding(few, small, layout=ttnn.TILE_LAYOUT, memory_config=place)


def _reductions(on: Operands) -> Iterator[Callable[[], object]]:
    ttnn = on.ttnn
    for dtype in ("bf", "f32", "b8"):
        for shape in ((1, 8, 256, 512), (1, 1, 64, 64), (1, 1, 8192, 64), (1, 1, 1024, 512), (2, 3, 96, 160), (1, 1, 32, 64),
                      (1, 1, 128, 6400), (1, 1, 256, 8192), (5, 1, 64, 2048), (1, 1, 4096, 32), (1, 1, 50, 70)):  # fmt: skip
            x = on.tiles(*shape, dtype=dtype)
            for function in (ttnn.sum, ttnn.mean, ttnn.max, ttnn.min):
                for dim in (2, 3, (2, 3)):
                    yield lambda: function(x, dim=dim, keepdim=True)
        x = on.tiles(2, 8, 256, 512, dtype=dtype)
        for dim in (0, 1):
            for function in (ttnn.sum, ttnn.mean, ttnn.max, ttnn.prod):
                yield lambda: function(x, dim=dim, keepdim=True)
        yield lambda: ttnn.prod(x)
    for dtype in ("bf", "f32"):
        for shape in ((2, 2, 512, 1280), (2, 1, 1024, 128), (1, 1, 256, 320)):
            x = on.tiles(*shape, dtype=dtype)
            for dim in (2, 3, (2, 3)):
                yield lambda: ttnn.std(x, dim=dim)
                yield lambda: ttnn.var(x, dim=dim)
        for shape in ((1, 1, 784, 64), (1, 1, 196, 512)):
            rows = on.rows(*shape, dtype=dtype)
            for dim in (2, 3):
                yield lambda: ttnn.mean(rows, dim=dim, keepdim=True)
    wide = on.tiles(1, 1, 256, 1024, memory=on.shards("WIDTH", (256, 128), (8, 1)))
    yield lambda: ttnn.sum(wide, dim=2, keepdim=True)
    images, one = on.tiles(2, 64, 32, 32), on.tiles(1, 64, 1, 1)
    yield lambda: ttnn.batch_norm(images, running_mean=one, running_var=one, training=False)
    yield lambda: ttnn.batch_norm(images, running_mean=one, running_var=one, training=True)
    yield lambda: ttnn.experimental.fast_reduce_nc(images, dims=[1], output=None)
    yield lambda: ttnn.moreh_sum(images, dim=1)
    yield lambda: ttnn.bcast(images, on.tiles(2, 64, 1, 1), ttnn.BcastOpMath.MUL, ttnn.BcastOpDim.HW)


def _reductions_in_shards(on: Operands) -> Iterator[Callable[[], object]]:
    ttnn = on.ttnn
    three = on.tiles(1, 1, 64, 96, memory=ttnn.L1_MEMORY_CONFIG)
    yield lambda: ttnn.max(three, dim=3, keepdim=True)
    for layout, shape, shard in (
        ("HEIGHT", (64 * 32, 256), (32, 256)),
        ("WIDTH", (32, 64 * 512), (32, 512)),
        ("BLOCK", (512, 2048), (64, 256)),
    ):
        for dtype in ("bf", "b8", "f32"):
            place = on.shards(layout, shard, (8, 8))
            held = on.tiles(1, 1, *shape, dtype=dtype, memory=place)
            for goes in (None, ttnn.DRAM_MEMORY_CONFIG):
                for dim in (2, 3):
                    yield lambda: ttnn.sum(held, dim=dim, keepdim=True, memory_config=goes)
                yield lambda: ttnn.min(held, dim=3, keepdim=True, memory_config=goes)


def _images(on: Operands) -> Iterator[Callable[[], object]]:
    ttnn = on.ttnn
    for channels in (64, 96, 320):
        image, tiles = on.rows(1, 32, 32, channels), on.tiles(1, 32, 32, channels)
        points = on.rows(1, 32, 32, 2)
        yield lambda: ttnn.upsample(image, 2)
        yield lambda: ttnn.upsample(tiles, 2)
        yield lambda: ttnn.upsample(image, 2, mode="bilinear")
        yield lambda: ttnn.grid_sample(image, points)
        for dtype in ("bf", "f32"):
            turned = on.rows(1, 32, 32, channels, dtype=dtype)
            yield lambda: ttnn.rotate(turned, 30.0, interpolation_mode="bilinear")
    held = on.rows(1, 32, 32, 64, memory=on.shards("HEIGHT", (16, 64), (8, 8)))
    yield lambda: ttnn.upsample(held, 2)
    for width, dtype, count in ((256, "bf", 4), (1000, "f32", 4), (100, "bf", 100)):
        x, places = on.rows(1, 1, 64, width, dtype=dtype), on.rows(count, dtype="u32")
        yield lambda: ttnn.index_fill(x, 2, places, 1.0)


def _places(on: Operands) -> Iterator[Callable[[], object]]:
    ttnn, l1 = on.ttnn, on.ttnn.L1_MEMORY_CONFIG
    for width in (64, 160, 1024, 2048, 4096, 8192, 16_384, 32_768, 65_536):
        for dtype in ("bf", "u16"):
            x = on.tiles(1, 1, 32, width, dtype=dtype)
            yield lambda: ttnn.sort(x)
    for shape in ((32, 4096), (32, 32_000), (384, 320), (32, 300), (32, 32_768)):
        for place in (None, l1):
            x = on.rows(1, 1, *shape, memory=place)
            for keeps in (True, False):
                yield lambda: ttnn.argmax(x, dim=-1, keepdim=keeps)
    tiles = on.tiles(1, 1, 384, 1536)
    yield lambda: ttnn.argmax(tiles, dim=-1)
    for width, few in ((1024, 32), (64, 32), (8192, 4096), (32_000, 4096), (100_000, 4096)):
        for dtype in ("bf", "f32"):
            x, places, what = (
                on.rows(1, 1, 32, width, dtype=dtype),
                on.rows(1, 1, 32, few, dtype="i32"),
                on.rows(1, 1, 32, few, dtype=dtype),
            )
            yield lambda: ttnn.scatter(x, 3, places, what)
            yield lambda: ttnn.scatter(x, 3, places, what, reduce="add")
    for width in (1024, 1280, 24_000, 32_000, 50_257, 128_256, 151_936):
        for dtype in ("bf", "f32"):
            x = on.tiles(1, 1, 32, width, dtype=dtype)
            for kind in ("u16", "u32"):
                places = on.tiles(1, 1, 32, 64, dtype=kind)
                yield lambda: ttnn.gather(x, 3, index=places)
