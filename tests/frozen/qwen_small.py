"""Qwen3 0.6B on two Wormhole chips: a layer of its decode, for one user.

1024 channels, 16 heads with 8 of keys and 3072 channels of the feed-forward, shared by two chips, 28 layers. The ledger tells
tokens a second of a traced run, for each try twice.
"""

from __future__ import annotations

from tests.frozen.allam import FROM, MADE_UP, Model, layer
from tests.frozen.build import DRAM
from tests.frozen.layer import dead, laid
from tests.frozen.names import IN_L1

TWO = f"{FROM}/55ea362360a921e941ca4badf4eb7a0888d75e40/models/Qwen/Qwen3-0.6B/n300/optimized/MODEL_BRINGUP.md"
SMALL = Model(1024, 8, 4, 1536, {"qkv": 34, "out": 28, "gate": 27, "up": 27, "down": 27}, across=2, devices=2, attention="BFLOAT16", norm_us=20, exchange_us=75)  # fmt: skip
QWEN_SMALL = (
    laid(
        "qwen06b-two", TWO, "two chips: 54 to 55 tokens a second", layer(SMALL, DRAM, DRAM),
        (
            dead("sdpa", "a config for the attention", "sdpa", r"program_config|SDPAProgramConfig|chunk", "54.8 and 52.3 tokens a second"),
            dead("l1", "what stands between the attention's ops in L1", "qkv heads sdpa turned joined", IN_L1, "57.5 and 38.4 tokens a second: refused"),
            dead("tables", "one row of cosines and sines for all heads", "rotary_*", r"one row|single row|token_idx|token_index", "54 to 55 -> 53.3 tokens a second"),
        ),
        f"{MADE_UP}; the norms of each head",
    ),
)  # fmt: skip
