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
    ("AccumulationDeviceOperation", "AccumulationProgramFactory", "", [F32], F32, 40_960),
    ("CopyDeviceOperation", "DefaultTilized", "", [X], X, 4096),
    ("CopyDeviceOperation", "DefaultRowMajor", "", [LONG], LONG, 49_152),
    ("PadDeviceOperation", "PadTileMulticore", "", [X], X, 6144),
    ("FillPadDeviceOperation", "FillPadProgramFactory", "", [X], X, 10_240),
    ("FillPadDeviceOperation", "FillPadProgramFactory", "", [tensor(8, 77, 27)], tensor(8, 77, 27), 12_288),
    ("BinaryNgDeviceOperation", "ProgramFactory", "", [B8], B8, 6400),
    ("BinaryNgDeviceOperation", "ProgramFactory", "(BinaryOpType::LOGICAL_AND, ", [X, X], X, 16_384),
    ("BinaryNgDeviceOperation", "ProgramFactory", "(BinaryOpType::RSUB, ", [X, X], X, 14_336),
    ("UpsampleOperation", "UpsampleBilinearProgramFactory", "", [tensor(1, 64, rows=True)], ROWS, 10_240),
    ("UpsampleOperation", "UpsampleBilinearProgramFactory", "", [tensor(1, 1280, rows=True)], ROWS, 32_768),
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
    ("UntilizeCodegenDeviceOperation", "UntilizeCodegenProgramFactory", "", [tensor(1024, 96)], X, 24_576),
    ("UntilizeCodegenDeviceOperation", "UntilizeCodegenProgramFactory", "", [tensor(1, 12, 32, 512)], X, 32_768),
    ("EmbeddingsDeviceOperation", "EmbeddingsFusedProgramFactory", "", [LONG], tensor(1, 256, 8192), 1_048_704),
    ("EmbeddingsDeviceOperation", "EmbeddingsFusedProgramFactory", "", [ROWS], tensor(1, 256, 512), 131_200),
    ("EmbeddingsDeviceOperation", "EmbeddingsRMProgramFactory", "", [LONG], LONG, 33_024),
    ("NLPConcatHeadsDeviceOperation", "NLPConcatHeadsProgramFactory", "", [X], tensor(1, 1, 256, 4096), 524_288),
    ("NlpCreateHeadsDeviceOperation", "Interleaved", "operation_attributes_t(16, 16, 64, 1, 0, ", [X], X, 24_576),
    ("NlpCreateHeadsDeviceOperation", "Interleaved", "operation_attributes_t(16, 4, 128, 0, 0, ", [X], X, 16_384),
    ("AllGatherDeviceOperation", "AllGatherMulticastFactory", "", [B8], B8, 39_168),
    ("AllGatherDeviceOperation", "AllGatherUnicastFactory", "", [B8], B8, 52_224),
    ("ReduceScatterDeviceOperation", "ReduceScatterProgram", "", [B8], B8, 104_448),
    ("ReduceScatterDeviceOperation", "ReduceScatterProgram", "", [F32], F32, 196_608),
]
AT_LEAST = [
    ("AccumulationDeviceOperation", "AccumulationProgramFactory", "", [X], X, 16_384),
    ("PadDeviceOperation", "PadRm", "", [ROWS], tensor(1, 1, 259, 544, rows=True), 35_904),
    ("TilizeDeviceOperation", "TilizeMultiCoreBlockProgramFactory", "", [LONG], tensor(1, 1, 256, 8192), 33_344),
    ("AccumulationDeviceOperation", "AccumulationProgramFactory", "", [X], X, 20_480),
    ("PadDeviceOperation", "PadRm", "", [ROWS], tensor(1, 1, 128, 35, rows=True), 33_536),
    ("PadDeviceOperation", "PadRm", "", [ROWS], tensor(1, 4, 1056, 192, rows=True), 37_248),
    (
        "ReshapeViewDeviceOperation",
        "ReshapeViewRM",
        "",
        [tensor(100, 100, rows=True)],
        tensor(50, 200, rows=True),
        8704,
    ),
    ("ReshapeViewDeviceOperation", "ReshapeViewTiledProgramFactory", "", [tensor(100, 100)], tensor(50, 200), 7168),
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


def test_operands_in_like_shards_take_nothing_but_their_activations():
    x = sharded(1, 1, 256, 512, layout="HEIGHT", shard=(32, 512), cores=(8, 1))
    other = sharded(1, 1, 256, 512, layout="WIDTH", shard=(256, 64), cores=(8, 1))
    uneven = sharded(1, 1, 224, 512, layout="HEIGHT", shard=(32, 512), cores=(8, 1))
    found = [modelled("BinaryNgDeviceOperation", [a, b], a) for a, b in ((x, x), (x, other), (uneven, uneven))]
    assert found == [0, 12_288, 12_288]
    assert modelled("BinaryNgDeviceOperation", [x, x], x, attributes="UnaryOpType::SILU") == 2048
    assert modelled("UntilizeDeviceOperation", [x], x, factory="UntilizeShardSpecIdenticalProgramFactory") == 0


def test_what_has_no_model_is_not_guessed():
    assert modelled("HaloDeviceOperation", [X], X) is None
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
