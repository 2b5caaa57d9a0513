"""What turns rows into tiles, tiles into rows, and both into shards, as dry captures of TTNN 0.81.1 showed."""

from dataclasses import replace

import pytest

from tests.analyses.from_graph.programs import WORMHOLE, modelled, sharded, tensor

X, ROWS = tensor(1, 8, 256, 512), tensor(1, 1, 256, 512, rows=True)


def test_an_embedding_reads_two_rows_of_tiles_where_they_fit():
    out = tensor(1, 256, 512)
    found = [
        modelled("EmbeddingsDeviceOperation", [ROWS], out, factory="EmbeddingsFusedProgramFactory", room=room)
        for room in (131_200, 131_199)
    ]
    assert found == [131_200, 65_664]


@pytest.mark.parametrize(
    ("width", "columns", "measured"),
    [(24, 24, 192), (24, 32, 64), (32, 32, 0), (32, 64, 128), (20, 24, 240), (40, 48, 96), (64, 64, 0)],
)
def test_rows_that_are_cut_into_shards_are_filled_up_and_aligned(width, columns, measured):
    image = tensor(1, 16, 16, width, rows=True)
    out = sharded(1, 1, 128, columns, layout="HEIGHT", shard=(16, columns), cores=(8, 1), rows=True)
    assert modelled("PaddedSliceDeviceOperation", [image], out) == measured


@pytest.mark.parametrize(
    ("layout", "shape", "shard", "cores", "measured"),
    [
        ("HEIGHT", (512, 512), (64, 512), (8, 1), (65_536, 131_072)),
        ("BLOCK", (1024, 512), (128, 64), (8, 8), (8192, 32_768)),
        ("WIDTH", (256, 512), (256, 64), (8, 1), (8192, 65_536)),
    ],
)
def test_shards_become_rows_whole_where_the_rows_stay_in_shards(layout, shape, shard, cores, measured):
    x = sharded(1, 1, *shape, layout=layout, shard=shard, cores=cores)
    name, factory = "UntilizeWithUnpaddingDeviceOperation", "UntilizeWithUnpaddingMultiCoreShardedProgramFactory"
    outs = [tensor(1, 1, *shape, rows=True), replace(x, tiled=False)]
    assert tuple(modelled(name, [x], out, factory=factory) for out in outs) == measured
    unshaped = replace(x, placement=replace(x.placement, shard=None))
    assert modelled(name, [unshaped], outs[0], factory=factory) == 65_536  # a row of tiles, in and out


@pytest.mark.parametrize(
    ("layout", "shape", "shard", "cores", "measured"),
    [
        ("HEIGHT", (256, 512), (32, 512), (8, 1), 32_768),
        ("HEIGHT", (512, 512), (64, 512), (8, 1), 65_536),
        ("BLOCK", (256, 512), (32, 64), (8, 8), 4096),
        ("WIDTH", (256, 512), (256, 64), (8, 1), 8192),
    ],
)
def test_shards_become_rows_a_row_of_tiles_at_a_time(layout, shape, shard, cores, measured):
    x = sharded(1, 1, *shape, layout=layout, shard=shard, cores=cores)
    rows = tensor(1, 1, *shape, rows=True)
    assert modelled("UntilizeDeviceOperation", [x], rows, factory="UntilizeMultiCoreProgramFactory") == measured


def test_slices_of_convolutions_are_read_and_written_where_they_lie():
    x = sharded(1, 1, 4096, 64, layout="HEIGHT", shard=(64, 64), cores=(8, 8))
    rows = sharded(1, 1, 1152, 64, layout="HEIGHT", shard=(64, 64), cores=(8, 4), rows=True)
    odd = sharded(1, 1, 1152, 24, layout="HEIGHT", shard=(64, 24), cores=(8, 4), rows=True)
    name, image = "PaddedSliceDeviceOperation", tensor(1, 64, 64, 64)
    assert modelled("SliceWriteDeviceOperation", [x, X], X) == 0
    assert modelled(name, [image], rows) == 32_896
    assert modelled(name, [tensor(1, 64, 64, 64, dtype="b8")], rows) == 4 * 2 * (1088 + 2048) + 128
    assert modelled(name, [replace(image, tiled=False)], rows) == 0
    assert 240 <= modelled(name, [tensor(1, 64, 64, 20, rows=True)], odd) <= 384
    assert modelled(name, [image], X) is None
    assert modelled("SliceWriteDeviceOperation", [X, X], X) is None
    assert modelled("UpsampleOperation", [x], x, factory="UpsampleMultiCoreShardedProgramFactory") == 0
    fused = sharded(1, 8, 32, 128, layout="HEIGHT", shard=(32, 128), cores=(8, 1))
    assert modelled("RotaryEmbeddingLlamaFusedQKDeviceOperation", [fused] * 5, (fused, fused)) == 24_576
    assert modelled("RotaryEmbeddingLlamaFusedQKDeviceOperation", [X] * 5, (X, X)) is None


def test_rows_that_become_shards_pass_through_four_aligned_ones():
    shards = sharded(1, 1, 1024, 512, layout="BLOCK", shard=(128, 64), cores=(8, 8), rows=True)
    found = [
        modelled(
            "InterleavedToShardedDeviceOperation", [tensor(1, 1, 1024, 512, rows=True)], shards, machine=machine
        )
        for machine in (WORMHOLE, replace(WORMHOLE, arch="blackhole"))
    ]
    assert found == [640, 768]
    assert modelled("ShardedToInterleavedDeviceOperation", [shards], tensor(1, 1, 1024, 512, rows=True)) == 0


@pytest.mark.parametrize(
    ("shape", "measured"),
    [
        ((1, 1024), 262_144),
        ((100, 1024), 262_144),
        ((32, 128_256), 516_096),
        ((31, 64), 16_384),
        ((256, 500), 131_072),
    ],
)
def test_rows_of_tiles_that_are_not_full_stay_whole(shape, measured):
    x, out = tensor(1, 1, *shape), tensor(1, 1, *shape, rows=True)
    assert modelled("UntilizeCodegenDeviceOperation", [x], out, factory="UntilizeCodegenProgramFactory") == measured


def test_shards_change_their_layout_where_they_lie():
    x = sharded(1, 1, 1024, 512, layout="BLOCK", shard=(128, 64), cores=(8, 8))
    rows = tensor(1, 1, 1024, 512, rows=True)
    unpadded = "UntilizeWithUnpaddingMultiCoreShardedProgramFactory"
    assert modelled("UntilizeWithUnpaddingDeviceOperation", [x], rows, factory=unpadded) == 8192
    assert modelled("TilizeDeviceOperation", [x], x, factory="TilizeMultiCoreShardedProgramFactory") == 0
    assert modelled("TransposeDeviceOperation", [x], x, factory="TransposeWHShardedProgramFactory") == 0
    assert modelled("UnaryDeviceOperation", [x], x, attributes="UnaryOpType::LOGIT") == 4096
    assert modelled("UnaryDeviceOperation", [x], x) == 0
    assert modelled("TypecastDeviceOperation", [x], replace(x, dtype="BFLOAT8_B")) == 6272
    assert modelled("TernaryDeviceOperation", [x, x, x], x) == 0
    words, table = tensor(1, 32, rows=True, dtype="f32"), tensor(32_000, 4096, rows=True)
    out = sharded(1, 1, 32, 4096, layout="WIDTH", shard=(32, 128), cores=(8, 4))
    assert modelled("EmbeddingsDeviceOperation", [words, table], out) == 16_512
