"""Ops that work page by page against what dry captures of TTNN 0.81.1 showed: never less, little more."""

import pytest

from tests.analyses.program_models.programs import modelled, sharded, tensor

X, B8, F32 = (tensor(1, 8, 256, 512, dtype=dtype) for dtype in ("bf", "b8", "f32"))
ROWS, LONG = tensor(1, 1, 256, 512, rows=True), tensor(1, 1, 256, 8192, rows=True)
SMALL = 9000  # bytes: what the most of a rule may be above one case of it

EXACT = [  # device op, factory, attributes, operands, output, measured
    ("UnaryDeviceOperation", "ProgramFactory", "", [X], X, 8192),
    ("UnaryDeviceOperation", "ProgramFactory", "UnaryOpType::LOGIT", [F32], F32, 24_576),
    ("TypecastDeviceOperation", "TypecastProgramFactory", "", [B8], X, 6272),
    ("BinaryNgDeviceOperation", "ProgramFactory", "", [X, X], X, 12_288),
    ("BinaryNgDeviceOperation", "ProgramFactory", "", [X], X, 10_240),
    ("BinaryNgDeviceOperation", "ProgramFactory", "", [X, tensor(1, 8, 256, 1)], X, 16_384),
    ("BinaryNgDeviceOperation", "ProgramFactory", "op_type=UnaryOpType::SILU", [X, X], X, 14_336),
    ("TernaryDeviceOperation", "TernaryProgramFactory", "", [F32, F32, F32], F32, 32_768),
    ("FastReduceNCDeviceOperation", "FastReduceNCProgramFactory", "", [X], tensor(1, 1, 256, 512), 38_912),
    ("ReduceDeviceOperation", "ReduceMultiCoreWProgramFactory", "", [X], tensor(1, 8, 256, 1), 22_528),
    ("ReduceDeviceOperation", "ReduceMultiCoreWProgramFactory", "", [tensor(1, 1, 64, 64)], tensor(64, 1), 10_240),
    (
        "ReduceDeviceOperation",
        "ReduceMultiCoreHProgramFactory",
        "",
        [tensor(1, 1, 1024, 512)],
        tensor(1, 512),
        26_624,
    ),
    ("AccumulationDeviceOperation", "AccumulationProgramFactory", "", [F32], F32, 40_960),
    ("AccumulationDeviceOperation", "AccumulationProgramFactory", "", [X], X, 16_384),
    ("TopKDeviceOperation", "TopKSingleCoreProgramFactory", "TopkParams(64, -1", [tensor(1, 1, 32, 64)], X, 49_152),
    ("TopKDeviceOperation", "TopKSingleCoreProgramFactory", "TopkParams(32, -1", [tensor(32, 128_256)], X, 55_296),
    ("CopyDeviceOperation", "DefaultTilized", "", [X], X, 4096),
    ("CopyDeviceOperation", "DefaultRowMajor", "", [LONG], LONG, 49_152),
    ("PadDeviceOperation", "PadTileMulticore", "", [X], X, 6144),
    ("PadDeviceOperation", "PadRm", "", [ROWS], tensor(1, 1, 259, 544, rows=True), 35_904),
    ("FillPadDeviceOperation", "FillPadProgramFactory", "", [X], X, 10_240),
    (
        "RepeatCodegenDeviceOperation",
        "RepeatCodegenProgramFactory",
        "",
        [ROWS],
        tensor(256, 1024, rows=True),
        16_384,
    ),
    ("PermuteDeviceOperation", "MultiCoreRowInvariant", "", [ROWS], ROWS, 2048),
    ("TilizeDeviceOperation", "TilizeMultiCoreDefaultProgramFactory", "", [ROWS], tensor(1, 1, 256, 512), 65_536),
    ("TilizeDeviceOperation", "TilizeMultiCoreBlockProgramFactory", "", [LONG], tensor(1, 1, 256, 8192), 33_344),
    ("UntilizeDeviceOperation", "UntilizeMultiCoreProgramFactory", "", [F32], F32, 131_072),
    ("UntilizeDeviceOperation", "UntilizeMultiCoreBlockProgramFactory", "", [tensor(1, 1, 64, 8192)], LONG, 20_480),
    (
        "UntilizeCodegenDeviceOperation",
        "UntilizeCodegenProgramFactory",
        "",
        [tensor(1, 1, 32, 32_768)],
        LONG,
        131_072,
    ),
    ("UntilizeCodegenDeviceOperation", "UntilizeCodegenProgramFactory", "", [X], X, 131_072),
    ("EmbeddingsDeviceOperation", "EmbeddingsFusedProgramFactory", "", [LONG], tensor(1, 256, 8192), 1_048_704),
    ("EmbeddingsDeviceOperation", "EmbeddingsFusedProgramFactory", "", [ROWS], tensor(1, 256, 512), 131_200),
    ("EmbeddingsDeviceOperation", "EmbeddingsRMProgramFactory", "", [LONG], LONG, 33_024),
    ("NLPConcatHeadsDeviceOperation", "NLPConcatHeadsProgramFactory", "", [X], tensor(1, 1, 256, 4096), 524_288),
    ("NlpCreateHeadsDeviceOperation", "Interleaved", "operation_attributes_t(16, 16, 64, 1, 0, ", [X], X, 24_576),
    ("NlpCreateHeadsDeviceOperation", "Interleaved", "operation_attributes_t(16, 4, 128, 0, 0, ", [X], X, 16_384),
    ("AllGatherDeviceOperation", "AllGatherMulticastFactory", "", [B8], B8, 39_168),
    ("ReduceScatterDeviceOperation", "ReduceScatterProgram", "", [B8], B8, 104_448),
]
AT_LEAST = [
    ("TransposeDeviceOperation", "TransposeWHProgramFactory", "", [X], X, 8192),
    ("SliceDeviceOperation", "SliceTile", "", [X], X, 4112),
    ("SliceDeviceOperation", "SliceRm", "", [LONG], tensor(1, 1, 200, 64, rows=True), 8208),
    ("SliceDeviceOperation", "SliceRm", "", [LONG], tensor(1, 1, 197, 10_000, rows=True), 40_016),
    ("ConcatDeviceOperation", "ConcatProgramFactory", "", [ROWS, ROWS], tensor(1, 1, 256, 1024, rows=True), 4096),
    ("SplitDeviceOperation", "SplitProgramFactory", "", [F32], F32, 8192),
    ("TransposeDeviceOperation", "TransposeHCTiledInterleaved", "", [F32], F32, 9216),
    ("PermuteDeviceOperation", "MultiCoreTiledGeneric", "", [X], X, 12_320),
    ("ReshapeViewDeviceOperation", "ReshapeViewTiledProgramFactory", "", [X], X, 5888),
    ("ReshapeViewDeviceOperation", "ReshapeViewRM", "", [ROWS], tensor(1, 2, 64, 1024, rows=True), 8480),
    ("InterleavedToShardedDeviceOperation", "I2S", "", [tensor(4096, 128, rows=True)], tensor(1, 128), 1152),
]


@pytest.mark.parametrize("case", EXACT)
def test_pages_are_counted(case):
    name, factory, attributes, inputs, out, measured = case
    assert modelled(name, inputs, out, factory=factory, attributes=attributes) == measured


@pytest.mark.parametrize("case", AT_LEAST)
def test_pages_are_never_too_few(case):
    name, factory, attributes, inputs, out, measured = case
    assert measured <= modelled(name, inputs, out, factory=factory, attributes=attributes) <= measured + SMALL


def test_an_embedding_reads_two_rows_of_tiles_where_they_fit():
    out = tensor(1, 256, 512)
    found = [
        modelled("EmbeddingsDeviceOperation", [ROWS], out, factory="EmbeddingsFusedProgramFactory", room=room)
        for room in (131_200, 131_199)
    ]
    assert found == [131_200, 65_664]


def test_shards_stay_where_they_lie():
    x = sharded(1, 1, 256, 512, layout="HEIGHT", shard=(32, 512), cores=(8, 1))
    assert modelled("ReshardDeviceOperation", [x], x, factory="ReshardSameWidthFactory<true>") == 0
    assert modelled("ReshardDeviceOperation", [x], x, factory="NdReshardCopyPages") is None
    assert modelled("ReshardDeviceOperation", [x], X) is None
    assert modelled("MoveDeviceOperation", [x], x) == 0
    assert modelled("MoveDeviceOperation", [X], X, factory="MoveProgramFactory") == 4096
    assert modelled("MoveDeviceOperation", [X], X, factory="MoveOverlapProgramFactory") is None
    assert modelled("ShardedToInterleavedDeviceOperation", [x], tensor(1, 1, 256, 512)) == 0
    assert modelled("ShardedToInterleavedDeviceOperation", [x], tensor(1, 1, 256, 512, dtype="f32")) == 8192


def test_what_has_no_model_is_not_guessed():
    assert modelled("SortDeviceOperation", [X], X) is None
    assert modelled("TopKDeviceOperation", [X], X, factory="TopKMultiCoreProgramFactory") is None
    assert (
        modelled(
            "AllGatherDeviceOperation", [tensor(1, 1, 8, 8192, rows=True)], X, factory="AllGatherMulticastFactory"
        )
        is None
    )
    assert modelled("AllGatherDeviceOperation", [X], X, factory="AllGatherRing") is None
    assert modelled("ReduceScatterDeviceOperation", [ROWS], X, factory="ReduceScatterProgram") is None
    assert modelled("UnaryDeviceOperation", [X], ()) is None
    assert modelled("UnaryDeviceOperation", [tensor(0, 32)], X) is None
