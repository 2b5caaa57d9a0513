"""Rows of shards that move, against dry captures of TTNN 0.81.1 on mock devices of Wormhole and Blackhole."""

from dataclasses import replace

import pytest

from tests.analyses.from_graph.programs import modelled, sharded, tensor


def rows_on(count, width, shard, cores, *, layout="HEIGHT", **more):
    return sharded(1, 1, count, width, layout=layout, shard=shard, cores=cores, rows=True, **more)


@pytest.mark.parametrize(
    ("x", "out", "measured"),
    [
        (rows_on(256, 20, (64, 20), (4, 1)), rows_on(256, 20, (32, 20), (8, 1)), 6144),
        (rows_on(256, 20, (32, 20), (8, 1)), rows_on(256, 20, (128, 20), (2, 1)), 3072),
        (rows_on(96, 33, (24, 33), (4, 1), dtype="f32"), rows_on(96, 33, (16, 33), (6, 1), dtype="f32"), 6912),
        (rows_on(256, 40, (32, 40), (8, 1)), rows_on(256, 40, (64, 40), (4, 1)), 0),  # whole steps of 16 bytes
        (rows_on(256, 20, (64, 20), (4, 1), buffer="DRAM"), rows_on(256, 20, (32, 20), (8, 1)), 8192),
        (rows_on(256, 24, (64, 24), (4, 1), buffer="DRAM"), rows_on(256, 24, (32, 24), (8, 1)), 8192),  # 48 bytes
        (rows_on(256, 32, (64, 32), (4, 1), buffer="DRAM"), rows_on(256, 32, (32, 32), (8, 1)), 0),
        (tensor(1, 1, 256, 20, rows=True), rows_on(256, 20, (32, 20), (8, 1)), None),
    ],
)
def test_rows_of_a_reshard_that_are_not_aligned_pass_through_those_of_a_shard(x, out, measured):
    reads = modelled("ReshardDeviceOperation", [x], out, factory="ReshardSameWidthFactory<true>")
    assert reads == measured
    assert modelled("ReshardDeviceOperation", [x], out, factory="ReshardSameHeightFactory<true>") == 0


SHORT = rows_on(256, 20, (32, 20), (8, 1))


@pytest.mark.parametrize(
    "inputs",
    [[], [replace(SHORT, placement=None)], [rows_on(256, 20, (1, 32, 20), (8, 1))]],
    ids=["no", "place", "3D"],
)
def test_a_reshard_of_what_no_graph_prints_is_not_guessed(inputs):
    assert modelled("ReshardDeviceOperation", inputs, SHORT, factory="ReshardSameWidthFactory<true>") is None


def test_tiles_are_aligned_and_shards_in_dram_are_written_in_another_way():
    tiles = sharded(1, 1, 256, 32, layout="HEIGHT", shard=(32, 32), cores=(8, 1), dtype="b8")
    assert modelled("ReshardDeviceOperation", [tiles], tiles, factory="ReshardSameWidthFactory<true>") == 0
    out = rows_on(256, 20, (64, 20), (4, 1), buffer="DRAM")
    assert modelled("ReshardDeviceOperation", [SHORT], out, factory="ReshardSameWidthFactory<false>") is None


@pytest.mark.parametrize(
    ("widths", "dtype", "measured"),
    [
        ((20, 40), "bf", 200),
        ((20, 80), "bf", 360),
        ((80, 20), "bf", 256),
        ((12, 18), "bf", 120),
        ((9, 18), "f32", 196),
    ],
)
def test_rows_of_shards_are_copied_by_one_in_and_two_aligned_out(widths, dtype, measured):
    x, out = (rows_on(64, 720, (64, width), (720 // width, 1), layout="WIDTH", dtype=dtype) for width in widths)
    assert modelled("CopyDeviceOperation", [x], out, factory="DefaultRowMajor") == measured


@pytest.mark.parametrize("sides", [(tensor(64, 40, rows=True), SHORT), (SHORT, tensor(64, 40, rows=True))])
def test_rows_to_or_from_pages_are_copied_by_three(sides):
    assert modelled("CopyDeviceOperation", sides[:1], sides[1], factory="DefaultRowMajor") == 3 * 80


def test_tiles_of_shards_are_copied_by_two():
    x = sharded(1, 1, 256, 32, layout="HEIGHT", shard=(32, 32), cores=(8, 1))
    assert modelled("CopyDeviceOperation", [x], x, factory="DefaultTilized") == 4096
