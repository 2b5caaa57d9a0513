"""One name per op, whatever TTNN called it over time: `OptimizedConvNew` and `Conv2dDeviceOperation` are one op.

First the suffix `DeviceOperation`, `Operation` or `Op` is dropped, which versions add and remove, and `Codegen`: TTNN
0.81.1 runs aligned untilizes, repeats and gathers under such names. Then the few true renames apply. A family says what
the op does to the data, because that decides what can limit its speed. Sources: the category lists of tt-perf-report
1.4.1, and op codes of real reports from 2024-10 to 2026-09.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Literal, get_args

Family = Literal[
    "matmul",
    "conv",
    "attention",
    "norm",
    "softmax",
    "eltwise",
    "reduction",
    "pool",
    "embedding",
    "layout",
    "movement",
    "shape",
    "collective",
    "other",
]
FAMILIES: tuple[str, ...] = get_args(Family)

_SUFFIX = re.compile(r"(DeviceOperation|Operation|(?<=[a-z])Op|(?<=[a-z])Codegen)$")
_RENAMED = {
    "OptimizedConvNew": "Conv2d",
    "OptimizedConv": "Conv2d",
    "EltwiseUnary": "Unary",
    "EltwiseBinary": "Binary",
    "EltwiseBinaryBroadcast": "Binary",
    "UntilizeWithHalo": "Halo",
    "UntilizeWithHaloV2": "Halo",
    "SDPA": "ScaledDotProductAttention",
    "SdpaDecode": "ScaledDotProductAttentionDecode",
    "BinaryNg": "Binary",
    "UntilizeCodegen": "Untilize",  # 0.81
    "UpSample": "Upsample",
    "ReshapeView": "Reshape",
    "TransposeRm": "Transpose",  # 0.81, of rows
    "NLPCreateHeads": "NlpCreateHeads",
    "RingDistributedSDPA": "RingJointSDPA",
}

_BY_NAME: dict[str, Family] = {
    **dict.fromkeys(("InterleavedToSharded", "InterleavedToShardedPartial", "ShardedToInterleaved"), "movement"),
    **dict.fromkeys(("ShardedToInterleavedPartial", "Reshard", "Move", "Halo", "Copy", "Clone"), "movement"),
    **dict.fromkeys(("Tilize", "TilizeWithValPadding", "Untilize", "UntilizeWithUnpadding", "Typecast"), "layout"),
    **dict.fromkeys(("ConvertToHWC", "ConvertToCHW", "Pad", "FillPad", "Fold"), "layout"),
    **dict.fromkeys(("Reshape", "Permute", "Transpose", "Slice", "SliceWrite", "PaddedSlice", "Concat"), "shape"),
    **dict.fromkeys(("Repeat", "RepeatInterleave", "Split", "ConcatenateHeads", "NlpCreateHeads"), "shape"),
    **dict.fromkeys(("Binary", "Unary", "Ternary", "Where", "Accumulation", "RotaryEmbedding"), "eltwise"),
    **dict.fromkeys(("RotaryEmbeddingLlama", "UpdateKVCache", "PagedUpdateCache"), "eltwise"),
    **dict.fromkeys(("Bcast", "RotateHalf", "PlusOne", "PowInt"), "eltwise"),
    **dict.fromkeys(("LayerNorm", "RMSNorm", "GroupNorm", "BatchNorm", "RMSAllGather"), "norm"),
    **dict.fromkeys(("Pool2D", "Upsample", "GridSample"), "pool"),
    **dict.fromkeys(("Reduce", "FastReduceNC", "ArgMax", "Argmax", "TopK", "Sum", "Prod", "IntImg"), "reduction"),
    **dict.fromkeys(("ArgMaxNC", "ProdAll", "ProdNc", "MorehSum", "MorehMean"), "reduction"),
    **dict.fromkeys(("Embeddings", "Embedding"), "embedding"),
    "MeshPartition": "shape",  # each device cuts out its own part
    "Softmax": "softmax",
    "Conv2d": "conv",
}

WRITES_CACHE = r"(Update|Fill)\w*Cache$"  # UpdateKVCache, FillCache, PagedUpdateCache, PagedFillCache
_EXCHANGE = re.compile(
    r"(?<!Pre)(?<!Post)AllGather|AllReduce|ReduceScatter|AllToAll|AllBroadcast|PointToPoint"
    r"|SendAsync|RecvAsync|SendDirect|RecvDirect|ReduceToRoot|ReduceToOne|^(Broadcast|Dispatch|Combine)(Fabric2d)?$|SelectiveReduceCombine"
    r"|SliceReshardAsync|NeighborPad|^NpHalo|^Matmul_?RS$"
)
_BY_PATTERN: tuple[tuple[re.Pattern[str], Family], ...] = (  # the first that fits
    (re.compile(r"ScaledDotProductAttention|SDPA|FlashMLA|FlashMultiLatentAttention", re.IGNORECASE), "attention"),
    (re.compile(r"Matmul|^Linear$"), "matmul"),
    (re.compile(r"(Layer|RMS|Group|Batch)norm", re.IGNORECASE), "norm"),  # the stages around an all-gather too
    (_EXCHANGE, "collective"),
    (re.compile(r"^Conv"), "conv"),
    (re.compile(r"(Create|Concat|Split).*Heads", re.IGNORECASE), "shape"),
    (re.compile(rf"^RotaryEmbedding|{WRITES_CACHE}"), "eltwise"),
    (re.compile(r"Pool"), "pool"),
)


@lru_cache(maxsize=1024)  # a window has some dozen names  # unmoved: what is forgotten is told again
def canonical(op_code: str) -> str:
    """The op's one name: `LayerNorm` for `LayerNormDeviceOperation`."""
    name = op_code.strip()
    stripped = _SUFFIX.sub("", name)
    while stripped != name and stripped:
        name, stripped = stripped, _SUFFIX.sub("", stripped)
    return _RENAMED.get(name, name)


def names_of(op_code: str) -> tuple[str, ...]:
    """All names of the op without their suffix, its one name first."""
    name = canonical(op_code)
    return (name, *(one for one, renamed in _RENAMED.items() if renamed == name))


def is_rotary(op_code: str) -> bool:
    """Whether it is a rotary embedding, in any of its forms."""
    return canonical(op_code).startswith("RotaryEmbedding")


def exchanges(op_code: str) -> bool:
    """Whether the op sends to other chips or waits for them: collectives, and ops that a collective is fused with.

    The stages of a norm before and after a gather do not.
    """
    return _EXCHANGE.search(canonical(op_code)) is not None


def family(op_code: str) -> Family:
    """What kind of work the op does; "other" for a name we do not know."""
    name = canonical(op_code)
    if name in _BY_NAME:
        return _BY_NAME[name]
    for pattern, matched in _BY_PATTERN:
        if pattern.search(name):
            return matched
    return "other"
