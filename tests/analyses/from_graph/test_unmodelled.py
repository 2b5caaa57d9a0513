"""Where a model says nothing, because nobody prints what decides, or no capture proves it."""

from dataclasses import replace

from tests.analyses.from_graph.programs import WORMHOLE, modelled, sharded, tensor
from tests.for_all import for_all

X, ROWS = tensor(1, 8, 256, 512), tensor(1, 1, 256, 512, rows=True)
B8 = tensor(1, 8, 256, 512, dtype="b8")
HELD = sharded(1, 1, 256, 512, layout="HEIGHT", shard=(32, 512), cores=(8, 1))
SHORT = sharded(1, 1, 256, 20, layout="HEIGHT", shard=(32, 20), cores=(8, 1), rows=True)
IMAGE, POINTS = tensor(1, 24, 24, 320, rows=True), tensor(1, 32, 32, 2, rows=True)
PLACES = replace(tensor(1, 1, 32, 64), dtype="UINT16")
SAME_WIDTH, BILINEAR = "ReshardSameWidthFactory<true>", "GridSampleBilinearProgramFactory"
FOLDED = {"factory": "MultiCoreDRAMFold", "attributes": "operation_attributes_t(2, 2, 0)"}
NEGATED = "ReduceParams(ReduceOpMath::MAX, ReduceOpDim::H, std::nullopt, 1, 1, ScalerMode::PostMul, 0)"
TOPK = {"attributes": "TopkParams(32, -1, 1, 1, 0, "}
MANY = {**TOPK, "factory": "TopKMultiCoreProgramFactory"}
WIDE = tensor(1, 1, 32, 8192)


def without(spec, **told):
    """A tensor whose shards are told in part."""
    return replace(spec, placement=replace(spec.placement, **told))


@for_all(
    ("name", "inputs", "out", "told"),
    [
        ("Unknown", [X], X, {}),
        ("Halo", [X], X, {}),
        ("Unary", [], X, {}),
        ("Unary", [X], (), {}),
        ("Reshard", [HELD], HELD, {"factory": "NdReshardCopyPages"}),
        ("Reshard", [HELD], X, {}),
        ("Reshard", [SHORT], SHORT, {"factory": "NdReshardCopyPages"}),
        ("Reshard", [SHORT], without(SHORT, shard=None), {"factory": SAME_WIDTH}),
        ("Reshard", [], SHORT, {"factory": SAME_WIDTH}),
        ("Reshard", [ROWS], SHORT, {"factory": SAME_WIDTH}),
        ("Reshard", [replace(SHORT, placement=None)], SHORT, {"factory": SAME_WIDTH}),
        ("Transpose", [X], X, {"factory": "TransposeHCShardedProgramFactory"}),
        ("Permute", [X], X, {"factory": "MultiCoreOther"}),
        ("PaddedSlice", [IMAGE], X, {}),
        ("SliceWrite", [X, X], X, {}),
        ("RotaryEmbeddingLlamaFusedQK", [X] * 5, (X, X), {}),
        ("Reduce", [B8], B8, {"factory": "ReduceMultiCoreHProgramFactory", "attributes": NEGATED}),
        ("Sort", [WIDE], (WIDE, PLACES), {"factory": "SortProgramFactoryOther"}),
        ("ArgMax", [X], ROWS, {"factory": "ArgMaxMultiCoreProgramFactory"}),
        ("ArgMax", [ROWS], ROWS, {"factory": "ArgMaxOtherProgramFactory"}),
        ("Scatter", [ROWS, ROWS], ROWS, {}),
        ("Scatter", [X, ROWS, ROWS], X, {}),
        ("GatherCodegen", [X], X, {}),
        ("Gather", [X], X, {"factory": "SingleRowMultiCore"}),
        ("Gather", [X, PLACES], X, {"factory": "SingleRowOther"}),
        ("TopK", [WIDE], (WIDE, PLACES), {"factory": "TopKSingleCoreProgramFactory"}),  # nobody prints what is kept
        ("TopK", [WIDE], (WIDE, PLACES), {**TOPK, "factory": "Other"}),
        ("TopK", [WIDE], (WIDE, PLACES), {**MANY, "machine": replace(WORMHOLE, grid=(2, 3))}),
        ("TopK", [WIDE], (WIDE, PLACES), {**MANY, "machine": replace(WORMHOLE, bank_bytes=100_000)}),
        ("TopK", [tensor(1, 1, 32, 96)], (WIDE, PLACES), MANY),  # three tiles: halves of one and two
        ("TopK", [tensor(1, 1, 32, 1056)], (WIDE, PLACES), MANY),  # 33 tiles
        ("Sampling", [tensor(1, 1, 64, 256), ROWS], ROWS, {}),
        ("Sampling", [tensor(1, 1, 32, 256, dtype="b8"), ROWS], ROWS, {}),
        ("PagedUpdateCache", [X], X, {}),
        ("PagedFusedUpdateCache", [X, HELD, X], (), {}),
        ("CreateQKVHeads", [X], (X, X), {}),
        ("AllGather", [X], X, {"factory": "AllGatherRing"}),
        ("AllGather", [tensor(1, 1, 32, 4000, rows=True)], ROWS, {"factory": "AllGatherUnicastFactory"}),
        ("AllGatherAsync", [X], X, {"factory": "RingFactory"}),
        ("ReduceScatter", [X], X, {"factory": "RingFactory"}),
        ("ReduceScatter", [ROWS], X, {"factory": "ReduceScatterProgram"}),
        ("Softmax", [X], X, {"factory": "SoftmaxProgramFactoryGeneralWSmall"}),
        ("TilizeWithValPadding", [HELD], X, {"factory": "TilizeWithValPaddingMultiCoreShardedFactory"}),
        ("ReshapeView", [tensor(1, 5000, 5000)], tensor(1, 2500, 10_000), {}),  # too much to count
        ("Softmax", [without(HELD, shard=None)], X, {"factory": "SoftmaxShardedProgramFactoryAttentionOptimized"}),
    ],
)
def test_what_decides_is_not_guessed(name, inputs, out, told):
    assert modelled(f"{name}DeviceOperation", inputs, out, **told) is None


@for_all(
    ("name", "inputs", "told"),
    [
        ("GridSampleOperation", [IMAGE, POINTS], {"factory": "GridSampleNearestProgramFactory"}),
        ("GridSampleOperation", [replace(IMAGE, tiled=True), POINTS], {"factory": BILINEAR}),
        ("Fold", [IMAGE], {"factory": "MultiCoreDRAMFold"}),
        ("Fold", [IMAGE], {**FOLDED, "factory": "Other"}),
        ("Fold", [IMAGE], {**FOLDED, "factory": "MultiCore"}),
        ("Fold", [replace(IMAGE, tiled=True)], FOLDED),
        ("Fold", [IMAGE], {**FOLDED, "attributes": "operation_attributes_t(2, 2, 1)"}),
        ("RotateDeviceOperation", [IMAGE], {"factory": "NearestProgramFactory"}),
        ("RotateDeviceOperation", [replace(IMAGE, tiled=True)], {"factory": "BilinearProgramFactory"}),
        ("IndexFillOperation", [ROWS], {}),
        ("IndexFillOperation", [X, ROWS], {}),
        ("MorehSumOperation", [X], {"factory": "MorehSumHFactory"}),
        ("MorehSumOperation", [X], {"factory": "MorehSumNCFactory", "attributes": "fp32_dest_acc_en=1"}),
        ("UpdateKVCacheOperation", [X], {"factory": "FillCacheMultiCoreProgramFactory"}),
        ("UpdateKVCacheOperation", [X, X], {"factory": "Other"}),
    ],
)
def test_images_and_places_are_not_guessed(name, inputs, told):
    assert modelled(name, inputs, IMAGE, **told) is None


def test_a_grid_sample_into_shards_is_not_guessed():
    held = sharded(1, 32, 32, 320, layout="HEIGHT", shard=(32, 320), cores=(8, 4), rows=True)
    assert modelled("GridSampleOperation", [IMAGE, POINTS], held, factory=BILINEAR) is None


def test_rows_of_three_dimensions_are_not_resharded():
    odd = sharded(1, 1, 256, 20, layout="HEIGHT", shard=(1, 32, 20), cores=(8, 1), rows=True)
    assert modelled("ReshardDeviceOperation", [odd], SHORT, factory=SAME_WIDTH) is None
