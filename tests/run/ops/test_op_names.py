"""What an op is, across the names that versions gave it."""

from tests.for_all import for_all
from ttnn_mcp.run.ops.op_names import canonical, exchanges, family, names_of


@for_all(
    ("names", "meant"),
    [
        ("LayerNormPreAllGather LayerNormPostAllGatherDeviceOperation RMSNorm BatchNormOperation", "norm"),
        (
            "AllGatherAsync ReduceScatterMinimalAsyncDeviceOperation Dispatch Combine LlamaReduceScatter",
            "collective",
        ),
        ("AllGatherMatmul MinimalMatmulOp SparseMatmul MatmulReduceScatterAsync", "matmul"),
        (
            "EltwiseBinary EltwiseUnary BinaryNgDeviceOperation RotaryEmbeddingLlamaFusedQK PagedFillCache",
            "eltwise",
        ),
        (
            "ScaledDotProductAttentionDecode FlashMultiLatentAttentionDecode RingJointSDPA SDPAOperation",
            "attention",
        ),
        ("NlpCreateHeads NLPConcatHeadsDecodeDeviceOperation CreateQKVHeadsDeviceOperation", "shape"),
        ("OptimizedConvNew OptimizedConv Conv2dDeviceOperation Conv3d", "conv"),
        ("MaxPool Pool2D AvgPool2D UpSample GridSampleOperation", "pool"),
        ("UntilizeWithHaloV2 Halo Move ReshardDeviceOperation", "movement"),
        ("UntilizeCodegenDeviceOperation", "layout"),
        ("RepeatCodegenDeviceOperation RepeatInterleaveCodegenDeviceOperation", "shape"),
        ("DitFusedDistributedRmsnorm DitFusedDistributedGroupnormDeviceOperation", "norm"),
        ("CombineFabric2d DispatchFabric2dDeviceOperation NpHaloDeviceOperation", "collective"),
        ("PlusOneDeviceOperation PowInt", "eltwise"),
        ("ArgMaxNCDeviceOperation ProdAll ProdNc MorehSumOperation MorehMeanOperation", "reduction"),
        ("SomethingNobodyKnows Codegen", "other"),
    ],
)
def test_families_hold_across_names(names, meant):
    assert {name: family(name) for name in names.split()} == dict.fromkeys(names.split(), meant)


@for_all(
    ("name", "sends"),
    [
        ("Matmul_RS", True),
        ("MatmulReduceScatterAsync", True),
        ("MatmulRSomething", False),
        ("LayerNormPreAllGather", False),
    ],
)
def test_a_matmul_that_is_fused_with_an_exchange_is_one_of_both(name, sends):
    assert exchanges(name) == sends


def test_renamed_ops_are_one():
    assert canonical("UntilizeCodegenDeviceOperation") == "Untilize"  # TTNN 0.81.1, of whole tiles
    assert canonical("TransposeRmDeviceOperation") == "Transpose"
    assert canonical("OptimizedConvNew") == canonical("Conv2dDeviceOperation") == "Conv2d"
    assert names_of("Conv2dDeviceOperation") == ("Conv2d", "OptimizedConvNew", "OptimizedConv")
    assert canonical("EltwiseBinary") == canonical("BinaryNgDeviceOperation") == "Binary"


def test_a_name_is_never_stripped_to_nothing():
    assert [canonical(name) for name in (" Operation ", "DeviceOperation", "xOpOperation", "")] == [
        "Operation",
        "DeviceOperation",
        "x",
        "",
    ]
