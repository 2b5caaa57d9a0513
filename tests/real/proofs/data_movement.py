"""Ops that move, cut, join and turn tensors."""

from __future__ import annotations

from itertools import product
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from tests.real.rig.proof_calls import Operands

KINDS = ("n150", "p100")


def calls(on: Operands) -> Iterator[Callable[[], object]]:
    """Each of them as often as its program differs; each is made before the next is asked for."""
    ttnn = on.ttnn
    for dtype in ("bf", "f32", "b8"):
        x, whole = on.tiles(2, 8, 256, 128, dtype=dtype), on.tiles(2, 32, 64, 96, dtype=dtype)
        for sides in ((0, 1), (1, 2), (2, 3), (0, 2)):
            yield lambda: ttnn.transpose(x, *sides)
        yield lambda: ttnn.transpose(whole, 1, 2)
        yield lambda: ttnn.permute(x, (0, 3, 1, 2))
        yield lambda: ttnn.permute(x, (3, 0, 1, 2))
        yield lambda: ttnn.permute(x, (2, 1, 0, 3))
    for dtype in ("bf", "f32"):
        x, odd = on.rows(2, 8, 256, 128, dtype=dtype), on.rows(4, 2, 50, 70, dtype=dtype)
        for one in (x, odd):
            for order in ((0, 2, 1, 3), (0, 1, 3, 2), (3, 0, 1, 2), (1, 0, 2, 3)):
                yield lambda: ttnn.permute(one, order)
            yield lambda: ttnn.transpose(one, 1, 2)
            yield lambda: ttnn.transpose(one, 2, 3)
            yield lambda: ttnn.transpose(one, 0, 1)
    tall = on.shards("HEIGHT", (256, 64), (8, 2))
    held = on.tiles(2, 8, 256, 64, memory=tall)
    yield lambda: ttnn.transpose(held, 2, 3)
    yield lambda: ttnn.transpose(held, 1, 2)
    yield from _joins(on)
    yield from _cuts(on)
    yield from _reshapes(on)
    yield from _copies(on)
    yield lambda: ttnn.full((1, 1, 32, 1024), 1.0, dtype=ttnn.bfloat16, device=on.device)
    yield lambda: ttnn.full((1, 1, 32, 1024), 1.0, dtype=ttnn.float32, layout=ttnn.TILE_LAYOUT, device=on.device)
    words = on.rows(1, 32, dtype="i32")
    yield lambda: ttnn.plus_one(words)
    for shape, strides in (
        ((1, 224, 224, 3), 16),
        ((1, 32, 32, 12), 2),
        ((2, 64, 64, 32), 2),
        ((1, 32, 32, 16), 4),
    ):
        for dtype in ("bf", "f32"):
            image = on.rows(*shape, dtype=dtype)
            yield lambda: ttnn.fold(image, strides, strides)
            yield lambda: ttnn.fold(image, strides, 1)
    tiled = on.tiles(1, 32, 32, 64)
    yield lambda: ttnn.fold(tiled, 2, 2)
    shard = on.rows(1, 32, 32, 16, memory=on.shards("HEIGHT", (64, 16), (8, 2)))
    yield lambda: ttnn.fold(shard, 2, 2)
    column = on.rows(1, 32, 32, 16, memory=on.shards("WIDTH", (1024, 16), (1, 1)))
    yield lambda: ttnn.fold(column, 2, 2)
    yield from _sliced_convolutions(on)


def _sliced_convolutions(on: Operands) -> Iterator[Callable[[], object]]:
    """Convolutions on slices of DRAM: each is cut into shards, and written back."""
    ttnn = on.ttnn
    for channels, make in ((64, on.tiles), (24, on.rows), (16, on.rows), (20, on.rows)):
        x = make(1, 1, 64 * 64, channels)
        weight = ttnn.zeros((32, channels, 3, 3), dtype=ttnn.float32, layout=ttnn.ROW_MAJOR_LAYOUT)
        slices = ttnn.Conv2dSliceConfig(slice_type=ttnn.Conv2dDRAMSliceHeight, num_slices=2)
        yield lambda: ttnn.conv2d(
            input_tensor=x, weight_tensor=weight, device=on.device, in_channels=channels, out_channels=32, batch_size=1,
            input_height=64, input_width=64, kernel_size=(3, 3), stride=(1, 1), padding=(1, 1), slice_config=slices,
            conv_config=ttnn.Conv2dConfig(weights_dtype=ttnn.bfloat16),
        )  # fmt: skip


def _joins(on: Operands) -> Iterator[Callable[[], object]]:
    ttnn = on.ttnn
    for dtype in ("bf", "f32", "b8"):
        x, odd = on.tiles(1, 4, 64, 96, dtype=dtype), on.tiles(1, 4, 40, 50, dtype=dtype)
        for one in (x, odd):
            for side in (1, 2, 3):
                yield lambda: ttnn.concat([one, one], dim=side)
            yield lambda: ttnn.concat([one, one, one], dim=3)
        yield lambda: ttnn.split(x, 2, dim=1)
    for dtype in ("bf", "f32"):
        rows = on.rows(1, 4, 64, 96, dtype=dtype)
        for side in (1, 2, 3):
            yield lambda: ttnn.concat([rows, rows], dim=side)
    wide = on.tiles(1, 1, 64, 2048)
    yield lambda: ttnn.split(wide, 1024, dim=3)
    for layout, shard, cores in (("HEIGHT", (64, 64), (8, 1)), ("WIDTH", (512, 32), (2, 1))):
        placed = on.shards(layout, shard, cores)
        both = on.shards(layout, (shard[0], 2 * shard[1]), cores)
        for make in (on.tiles, on.rows):
            a, b = (make(1, 1, 512, 64, memory=placed) for _ in range(2))
            yield lambda: ttnn.concat([a, b], dim=3, memory_config=both)
    l1 = ttnn.L1_MEMORY_CONFIG
    for make, width in ((on.tiles, 96), (on.rows, 100)):
        x = make(1, 4, 64, width)
        for counts in ((1, 2, 1, 1), (1, 1, 2, 1), (1, 1, 1, 2)):
            yield lambda: ttnn.repeat(x, counts, memory_config=l1)
    for dtype in ("bf", "f32"):
        rows = on.rows(1, 4, 64, 96, dtype=dtype)
        yield lambda: ttnn.repeat(rows, (1, 2, 1, 1))
        yield lambda: ttnn.repeat(rows, (1, 1, 1, 3))
        tiles = on.tiles(1, 4, 64, 96, dtype=dtype)
        yield lambda: ttnn.repeat(tiles, (1, 2, 1, 1))
        yield lambda: ttnn.repeat(tiles, (1, 1, 1, 3))
        yield lambda: ttnn.repeat_interleave(tiles, 2, dim=1)
        yield lambda: ttnn.repeat_interleave(tiles, 2, dim=3)


def _cuts(on: Operands) -> Iterator[Callable[[], object]]:
    ttnn = on.ttnn
    tiles = on.tiles(1, 4, 256, 512)
    yield lambda: ttnn.slice(tiles, [0, 0, 0, 0], [1, 2, 128, 64])
    yield lambda: ttnn.slice(tiles, [0, 0, 3, 5], [1, 2, 128, 64])
    for shape in ((4, 256, 512), (256, 512)):
        few = on.tiles(*shape)
        yield lambda: ttnn.slice(few, [0] * len(shape), [*shape[:-2], 128, 64])
    for width in (64, 576, 1000, 2992, 4088, 10_000):
        rows = on.rows(1, 1, 128, width + 8)
        yield lambda: ttnn.slice(rows, [0, 0, 0, 0], [1, 1, 100, width])
        yield lambda: ttnn.slice(rows, [0, 0, 3, 5], [1, 1, 100, width])
    places = (ttnn.L1_MEMORY_CONFIG, ttnn.DRAM_MEMORY_CONFIG)
    for came, goes in product(places, places):
        rows = on.rows(1, 1, 64, 608, memory=came)
        yield lambda: ttnn.slice(rows, [0, 0, 0, 0], [1, 1, 64, 600], memory_config=goes)
    long = on.rows(1, 1, 64, 4096)
    yield lambda: ttnn.slice(long, [0, 0, 0, 0], [1, 1, 64, 4096], [1, 1, 1, 2])
    yield lambda: ttnn.slice(long, [0, 0, 0, 0], [1, 1, 64, 4096], [1, 1, 2, 1])
    for dtype in ("bf", "f32", "b8"):
        x = on.tiles(1, 4, 100, 60, dtype=dtype)
        yield lambda: ttnn.pad(x, [(0, 0), (0, 0), (0, 60), (0, 36)], 0.0)
        yield lambda: ttnn.pad(x, [(0, 0), (0, 4), (0, 0), (0, 0)], 0.0)
        yield lambda: ttnn.fill_implicit_tile_padding(x, 0.0)
    ragged = on.tiles(8, 77, 64)
    yield lambda: ttnn.fill_implicit_tile_padding(ragged, 0.0)
    for shape, wanted in (((256, 512), (259, 544)), ((128, 30), (128, 35)), ((1000, 192), (1056, 192)), ((64, 64), (64, 100)),
                          ((100, 1000), (100, 5000)), ((7, 7), (9, 9)), ((64, 20_000), (64, 20_032))):  # fmt: skip
        for dtype in ("bf", "f32"):
            x = on.rows(1, 2, *shape, dtype=dtype)
            more = [(0, side - have) for side, have in zip(wanted, shape, strict=True)]
            yield lambda: ttnn.pad(x, [(0, 0), (0, 0), *more], 0.0)
    channels = on.rows(1, 2, 64, 64)
    yield lambda: ttnn.pad(channels, [(0, 0), (0, 6), (0, 0), (0, 0)], 0.0)
    yield lambda: ttnn.pad(channels, [(0, 0), (0, 0), (2, 2), (0, 0)], 0.0)


def _reshapes(on: Operands) -> Iterator[Callable[[], object]]:
    ttnn = on.ttnn
    for make in (on.tiles, on.rows):
        for dtype in ("bf", "f32", "b8") if make == on.tiles else ("bf", "f32"):
            for shape, other in (((64, 64), (32, 128)), ((100, 100), (50, 200)), ((48, 16), (64, 12)), ((64, 12), (48, 16)),
                                 ((16, 256, 128), (16, 128, 256)), ((4, 96, 160), (1, 96, 640)), ((1, 256, 512), (2, 64, 1024)),
                                 ((1, 7, 4096), (7, 64, 64)), ((32, 1, 32), (1, 32, 32))):  # fmt: skip
                x = make(*shape, dtype=dtype)
                yield lambda: ttnn.reshape(x, other)
    for shape, other in (((4096, 5120), (5120, 4096)), ((32, 16_384, 64), (1, 16_384, 2048))):
        many = on.tiles(*shape)
        yield lambda: ttnn.reshape(many, other)
    for dtype in ("bf", "f32"):
        for shape, other in (
            ((64, 60), (128, 30)),
            ((64, 60), (60, 64)),
            ((100, 100), (50, 200)),
            ((64, 64), (32, 128)),
        ):
            x = on.rows(*shape, dtype=dtype, memory=on.ttnn.L1_MEMORY_CONFIG)
            for goes in (ttnn.DRAM_MEMORY_CONFIG, ttnn.L1_MEMORY_CONFIG):
                yield lambda: ttnn.reshape(x, other, memory_config=goes)


def _copies(on: Operands) -> Iterator[Callable[[], object]]:
    ttnn, l1 = on.ttnn, on.ttnn.L1_MEMORY_CONFIG
    tiles, rows = on.tiles(1, 1, 256, 512), on.rows(1, 1, 256, 512)
    yield lambda: ttnn.clone(tiles)
    yield lambda: ttnn.clone(tiles, dtype=ttnn.float32)
    yield lambda: ttnn.clone(rows)
    yield lambda: ttnn.to_memory_config(tiles, l1)
    yield lambda: ttnn.to_memory_config(rows, l1)
    height, block = on.shards("HEIGHT", (32, 512), (8, 1)), on.shards("BLOCK", (64, 128), (4, 4))
    four, eight = (on.shards("HEIGHT", (256 // cores, 20), (cores, 1)) for cores in (4, 8))
    for one in (tiles, rows):
        for place in (height, block):
            yield lambda: ttnn.to_memory_config(one, place)
            held = (on.tiles if one is tiles else on.rows)(1, 1, 256, 512, memory=place)
            yield lambda: ttnn.to_memory_config(held, l1)
            yield lambda: ttnn.to_memory_config(held, ttnn.DRAM_MEMORY_CONFIG)
            yield lambda: ttnn.clone(held)
            for other in (height, block):
                yield lambda: ttnn.reshard(held, other)
    yield lambda: ttnn.interleaved_to_sharded(tiles, height, ttnn.bfloat8_b)
    shards = on.tiles(1, 1, 256, 512, memory=height)
    yield lambda: ttnn.sharded_to_interleaved(shards, l1, ttnn.float32)
    few, many = (on.shards("HEIGHT", (256 // cores, 96), (cores, 1)) for cores in (4, 8))
    blocks = on.tiles(1, 1, 256, 96, dtype="b8", memory=few)
    yield lambda: ttnn.reshard(blocks, many)
    for dtype in ("bf", "f32"):
        for came, goes in ((four, eight), (eight, four)):
            x = on.rows(1, 1, 256, 20, dtype=dtype, memory=came)
            yield lambda: ttnn.reshard(x, goes)
        goes_out = on.rows(1, 1, 256, 20, dtype=dtype, memory=eight)
        banks = on.shards("HEIGHT", (64, 20), (4, 1), buffer="DRAM")
        yield lambda: ttnn.reshard(goes_out, banks)
        short = on.rows(1, 1, 256, 20, dtype=dtype)
        yield lambda: ttnn.to_memory_config(short, eight)
        banked = on.rows(1, 1, 256, 20, dtype=dtype, memory=on.shards("HEIGHT", (64, 20), (4, 1), buffer="DRAM"))
        yield lambda: ttnn.to_memory_config(banked, eight)
        for came, goes in ((20, 40), (60, 20), (9, 18)):
            x = on.rows(1, 1, 64, 360, dtype=dtype, memory=on.shards("WIDTH", (64, came), 360 // came))
            place = on.shards("WIDTH", (64, goes), 360 // goes)
            yield lambda: ttnn.reshard(x, place)
            yield lambda: ttnn.to_memory_config(x, place)
