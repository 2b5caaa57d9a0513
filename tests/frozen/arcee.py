"""Arcee's Spark (of the Qwen2 family, 7B) and AFM 4.5B on Wormhole chips: a layer of their decode, for one user.

Spark: 3584 channels, 28 heads with 4 of keys, 18,944 channels of the feed-forward, 28 layers; on one chip, and on eight of which
four share a layer. AFM: 2560 channels, 20 heads with 4 of keys, a feed-forward of 18,432 channels with squared RELU, 36 layers;
on two chips. The ledgers tell tokens a second of a traced run; sizes are the models' published ones.
"""

from __future__ import annotations

from dataclasses import replace

from tests.frozen.allam import FROM, MADE_UP, Model, layer
from tests.frozen.build import DRAM, L1
from tests.frozen.layer import dead, laid
from tests.frozen.names import BFP8, IN_L1

SPARK_ONE = (
    f"{FROM}/a4e2e8649fcb378dae6eab3f2714211f0828276a/models/arcee-ai/Arcee-Spark/n150/optimized/MODEL_BRINGUP.md"
)
SPARK_EIGHT = (
    f"{FROM}/2d7893efea2c6fb0fcc8abcd93ab3ed0ca847ead/models/arcee-ai/Arcee-Spark/t3000/optimized/MODEL_BRINGUP.md"
)
AFM_TWO = (
    f"{FROM}/97900bf3de0b5d6f13a89e2f56e0bc806108d720/models/arcee-ai/AFM-4.5B/n300/optimized/MODEL_BRINGUP.md"
)
SPARK = Model(
    3584, 28, 4, 18944, {"qkv": 190, "out": 160, "gate": 530, "up": 530, "down": 535}, attention="BFLOAT16"
)
FOUR = replace(SPARK, heads=7, kv=1, wide=4736, us={"qkv": 105, "out": 100, "gate": 330, "up": 330, "down": 325}, feed="BFLOAT16", across=4, devices=8, exchange_us=210)  # fmt: skip
AFM = Model(2560, 10, 2, 9216, {"qkv": 70, "out": 62, "up": 205, "down": 205}, across=2, devices=2, gated=False, exchange_us=125, norm_us=45)  # fmt: skip
ARCEE = (
    laid(
        "arceespark-one", SPARK_ONE, "Spark on one chip: 14.5 tokens a second", layer(SPARK, L1, DRAM),
        (dead("joined", "the heads' join in L1", "joined", IN_L1, "a little slower; its figure is not told"),),
        MADE_UP,
    ),
    laid(
        "arceespark-eight", SPARK_EIGHT, "Spark on eight chips: 17.6 tokens a second", layer(FOUR, DRAM, DRAM),
        (
            dead("bfp8-out", "BFLOAT8_B weights of the attention's output", "out", BFP8, "17.6 -> 17.8 tokens a second, and refused: 88 of 100 words for 90", faster=True),
            dead("bfp8", "BFLOAT8_B weights of Q, K and V", "qkv", BFP8, "17.6 -> 18.0 tokens a second with the output's, and refused: 89 of 100 words for 90", faster=True),
        ),
        f"{MADE_UP}; formats of the feed-forward's weights",
    ),
    laid(
        "afm-two", AFM_TWO, "AFM on two chips: 23.7 tokens a second", layer(AFM, DRAM, DRAM),
        (
            dead("l1", "Q, K and V and the attention in L1", "qkv heads sdpa", IN_L1, "23.7 -> 23.6 tokens a second"),
            dead("joined", "the heads' join in L1", "joined", IN_L1, "23.6 -> 23.6 tokens a second of a run that can be repeated"),
        ),
        MADE_UP,
    ),
)  # fmt: skip
