"""Attention before a paged cache at random: of one token, and of a chunk of a prompt."""

from __future__ import annotations

from typing import Any

from tests.real.rig.bench import Bench, Question
from tests.real.rig.sampled_others import CHUNKS


def paged(bench: Bench) -> dict[str, Any]:
    """One token of each user."""
    one_of, ttnn = bench.one_of, bench.ttnn
    case: dict[str, Any] = {
        "batch": one_of(1, 8, 32), "heads": one_of(8, 32), "kv_heads": one_of(1, 8), "head": one_of(64, 128),
        "block": one_of(32, 64, 128), "pages": one_of(4, 7, 8, 16, 33), "dtype": "bfloat16",
        "cache": one_of("bfloat16", "bfloat8_b"), "k_chunk_size": one_of(64, 128),
    }  # fmt: skip
    setting, value = "k_chunk_size", one_of(*CHUNKS)
    now = {**case, setting: value}

    def call(q: Any, k: Any, v: Any, table: Any, positions: Any) -> Any:
        config = ttnn.SDPAProgramConfig(
            compute_with_storage_grid_size=tuple(now["grid"]), q_chunk_size=0, k_chunk_size=now["k_chunk_size"],
            exp_approx_mode=False,
        )  # fmt: skip
        return ttnn.transformer.paged_scaled_dot_product_attention_decode(
            q, k, v, table, cur_pos_tensor=positions, program_config=config
        )

    def operands() -> list[Any]:
        blocks = now["batch"] * now["pages"]
        cache = (blocks, now["kv_heads"], now["block"], now["head"])
        pages, positions = (now["batch"], now["pages"]), (now["batch"],)
        words = [bench.tensor(*shape, dtype="int32", layout="ROW_MAJOR_LAYOUT") for shape in (pages, positions)]
        caches = [bench.tensor(*cache, dtype=now["cache"]) for _ in range(2)]
        return [bench.tensor(1, now["batch"], now["heads"], now["head"]), *caches, *words]

    case["grid"] = now["grid"] = [8, min(8, bench.grid[1])]
    return bench.trial(Question("sdpa_decode", case, setting, value, operands, call, "SdpaDecode"))


def chunked(bench: Bench) -> dict[str, Any]:
    """A chunk of queries that follow others."""
    one_of, ttnn = bench.one_of, bench.ttnn
    case: dict[str, Any] = {
        "batch": 1, "heads": one_of(8, 32), "kv_heads": one_of(1, 8), "rows": one_of(128, 256, 512, 1024),
        "head": one_of(64, 128), "dtype": "bfloat16", "cache": one_of("bfloat16", "bfloat8_b"),
        "block": one_of(32, 64, 128), "start": one_of(0, 64, 128, 256, 512, 1024), "causal": True,
        "q_chunk_size": one_of(32, 64), "k_chunk_size": one_of(32, 64), "pages": 64,
        "grid": one_of([8, 7], [bench.grid[0], bench.grid[1]]),
    }  # fmt: skip
    setting, value = one_of("q_chunk_size", "k_chunk_size"), one_of(*CHUNKS)
    now = {**case, setting: value}

    def call(q: Any, k: Any, v: Any, table: Any) -> Any:
        config = ttnn.SDPAProgramConfig(
            compute_with_storage_grid_size=tuple(now["grid"]), q_chunk_size=now["q_chunk_size"],
            k_chunk_size=now["k_chunk_size"], exp_approx_mode=False,
        )  # fmt: skip
        return ttnn.transformer.chunked_scaled_dot_product_attention(
            q, k, v, table, now["start"], program_config=config
        )

    def operands() -> list[Any]:
        cache = (now["pages"], now["kv_heads"], now["block"], now["head"])
        table = bench.tensor(1, now["pages"], dtype="int32", layout="ROW_MAJOR_LAYOUT")
        caches = [bench.tensor(*cache, dtype=now["cache"]) for _ in range(2)]
        return [bench.tensor(1, now["heads"], now["rows"], now["head"]), *caches, table]

    return bench.trial(Question("sdpa", case, setting, value, operands, call, "SDPA"))
