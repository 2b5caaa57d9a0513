"""Attention, norms and softmax at random."""

from __future__ import annotations

from typing import Any

from tests.real.rig.bench import TILE, Bench, Question

CHUNKS = (32, 48, 64, 96, 128, 160, 192, 256, 384, 512, 1024)


def attention(bench: Bench) -> dict[str, Any]:
    """Prefill: chunks, grids, grouped heads, lengths that are no multiple of a chunk."""
    one_of, ttnn, (x, y) = bench.one_of, bench.ttnn, bench.grid
    rows = one_of(96, 256, 320, 512, 1000, 1024, 2048, 4096)
    case: dict[str, Any] = {
        "heads": one_of(1, 4, 8, 10, 16), "batch": one_of(1, 1, 2), "rows": rows, "head": one_of(64, 96, 128, 256),
        "dtype": one_of("bfloat16", "bfloat8_b"), "causal": one_of(True, False), "q_chunk_size": one_of(64, 128, 256),
        "k_chunk_size": one_of(64, 128, 256), "fp32": one_of(False, False, True), "grid": one_of([8, 8], [x, y]),
    }  # fmt: skip
    case["keys"] = rows if case["causal"] else one_of(rows, 77, 512)
    settings = [("q_chunk_size", one_of(*CHUNKS)), ("k_chunk_size", one_of(*CHUNKS))] * 3
    setting, value = one_of(*settings, ("grid", one_of([4, 4], [8, 7], [x + 1, y])), ("fp32", not case["fp32"]))
    now = {**case, setting: value}

    def call(*qkv: Any) -> Any:
        config = ttnn.SDPAProgramConfig(
            compute_with_storage_grid_size=tuple(now["grid"]),
            q_chunk_size=now["q_chunk_size"],
            k_chunk_size=now["k_chunk_size"],
            exp_approx_mode=False,
        )
        kernel = bench.kernel(fp32=now["fp32"], packer=True)
        named = {"program_config": config, "compute_kernel_config": kernel}
        return ttnn.transformer.scaled_dot_product_attention(*qkv, is_causal=now["causal"], **named)

    def operands() -> list[Any]:
        shape = (now["batch"], now["heads"])
        lengths = (now["rows"], now["keys"], now["keys"])
        return [bench.tensor(*shape, length, now["head"], dtype=now["dtype"]) for length in lengths]

    return bench.trial(Question("sdpa", case, setting, value, operands, call, "SDPA"))


def decode(bench: Bench) -> dict[str, Any]:
    """One token at a time against a cache."""
    one_of, ttnn = bench.one_of, bench.ttnn
    case: dict[str, Any] = {
        "batch": one_of(1, 8, 32), "heads": one_of(8, 32), "kv_heads": one_of(1, 8), "keys": one_of(512, 1024, 2048),
        "head": one_of(64, 128), "dtype": "bfloat16", "q_chunk_size": 32, "k_chunk_size": one_of(64, 128),
    }  # fmt: skip
    setting, value = "k_chunk_size", one_of(*CHUNKS)
    now = {**case, setting: value}

    def call(q: Any, k: Any, v: Any) -> Any:
        config = ttnn.SDPAProgramConfig(
            compute_with_storage_grid_size=(8, 8), q_chunk_size=32, k_chunk_size=now["k_chunk_size"],
            exp_approx_mode=False,
        )  # fmt: skip
        positions = [now["keys"] - 1] * now["batch"]
        return ttnn.transformer.scaled_dot_product_attention_decode(
            q, k, v, cur_pos=positions, program_config=config
        )

    def operands() -> list[Any]:
        cache = (now["batch"], now["kv_heads"], now["keys"], now["head"])
        return [
            bench.tensor(1, now["batch"], now["heads"], now["head"]),
            bench.tensor(*cache),
            bench.tensor(*cache),
        ]

    return bench.trial(Question("sdpa_decode", case, setting, value, operands, call, "SdpaDecode"))


def norm(bench: Bench) -> dict[str, Any]:
    """Sharded layer norm and RMS norm, with and without bias, residual and FLOAT32 sums."""
    one_of, ttnn, flat = bench.one_of, bench.ttnn, bench.one_of(True, False)
    grids = [grid for grid in ((8, 4), (8, 2), (4, 4), (8, 8), (8, 1), (7, 5)) if grid[1] <= bench.grid[1]]
    op, (x, y) = one_of("layer_norm", "rms_norm"), one_of(*grids)
    block_h, block_w = (one_of(1, 2) if flat else one_of(1, 2, 4, 8)), one_of(1, 2, 3, 4, 6, 8)
    rows = TILE * block_h * (1 if flat else y)
    width = TILE * block_w * (x * y if flat else x)
    case: dict[str, Any] = {
        "rows": rows, "width": width, "grid": [x, y], "block_h": block_h, "block_w": block_w, "subblock_w": 1,
        "inplace": one_of(False, True), "fp32": one_of(False, False, True), "beta": one_of(False, True),
        "residual": one_of(False, False, True),
    }  # fmt: skip
    setting, value = one_of(
        *(("subblock_w", size) for size in (1, 2, 3, 4, 6, 8)), ("block_h", block_h + 1), ("block_h", 1),
        ("block_w", block_w + 1), ("block_w", 1), ("inplace", not case["inplace"]), ("fp32", not case["fp32"]),
        ("grid", [8, 8]), ("grid", [4, 4]),
    )  # fmt: skip
    now = {**case, setting: value}
    memory = bench.sharded(rows, width, (x, y), "WIDTH" if flat else "BLOCK")

    def call(tensor: Any, gamma: Any, *others: Any) -> Any:
        left = list(others)
        named: dict[str, Any] = {"bias": left.pop(0)} if now["beta"] else {}
        named |= {"residual_input_tensor": left.pop(0)} if now["residual"] else {}
        config = ttnn.LayerNormShardedMultiCoreProgramConfig(
            compute_with_storage_grid_size=tuple(now["grid"]), subblock_w=now["subblock_w"], block_h=now["block_h"],
            block_w=now["block_w"], inplace=now["inplace"],
        )  # fmt: skip
        kernel = bench.kernel(fp32=now["fp32"], packer=True)
        named |= {"program_config": config, "compute_kernel_config": kernel, "memory_config": memory}
        return getattr(ttnn, op)(tensor, weight=gamma, **named)

    def operands() -> list[Any]:
        def row() -> Any:
            return bench.tensor(1, 1, width // TILE, TILE, layout="ROW_MAJOR_LAYOUT")

        def block() -> Any:
            return bench.tensor(1, 1, rows, width, memory=memory)

        return [block(), row(), *([row()] if now["beta"] else []), *([block()] if now["residual"] else [])]

    return bench.trial(Question(op, case, setting, value, operands, call, "LayerNorm"))


def softmax(bench: Bench) -> dict[str, Any]:
    """Sharded softmax in place."""
    one_of, ttnn = bench.one_of, bench.ttnn
    x, y = one_of(*(grid for grid in ((8, 8), (8, 4), (4, 4)) if grid[1] <= bench.grid[1]))
    block_h, width, heads = one_of(1, 2, 4, 12), TILE * one_of(4, 8, 12, 24), one_of(4, 8)
    batch = one_of(1, 2)
    rows = block_h * TILE * x * y // (batch * heads)
    case: dict[str, Any] = {
        "batch": batch, "heads": heads, "rows": rows, "width": width, "grid": [x, y], "block_h": block_h,
        "block_w": width // TILE, "subblock_w": 4, "stable": one_of(True, False), "fp32": one_of(False, True),
    }  # fmt: skip
    setting, value = one_of(
        *(("subblock_w", size) for size in (1, 2, 3, 5, 6, 8, 12)), ("block_h", block_h + 1), ("block_h", 1),
        ("block_w", 1), ("grid", [4, 4]), ("grid", [8, 8]), ("stable", not case["stable"]), ("fp32", not case["fp32"]),
    )  # fmt: skip
    now = {**case, setting: value}
    memory = bench.sharded(batch * heads * rows, width, (x, y), "HEIGHT")

    def call(tensor: Any) -> Any:
        config = ttnn.SoftmaxShardedMultiCoreProgramConfig(
            compute_with_storage_grid_size=tuple(now["grid"]), subblock_w=now["subblock_w"], block_h=now["block_h"],
            block_w=now["block_w"],
        )  # fmt: skip
        kernel = bench.kernel(fp32=now["fp32"], packer=True)
        named = {"program_config": config, "compute_kernel_config": kernel, "numeric_stable": now["stable"]}
        return ttnn.softmax_in_place(tensor, **named)

    def operands() -> list[Any]:
        return [bench.tensor(batch, heads, rows, width, memory=memory)]

    return bench.trial(Question("softmax", case, setting, value, operands, call, "Softmax"))
