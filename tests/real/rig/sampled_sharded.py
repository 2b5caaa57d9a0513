"""Settings of ops whose operands lie in shards already, as in the middle of a model; attention with a mask."""

from __future__ import annotations

from contextlib import suppress
from typing import Any

from tests.real.rig.bench import TILE, Bench, Question
from tests.real.rig.sampled_convs import BLOCKS, FLAGS, SIZES, conv_call
from tests.real.rig.sampled_matmuls import FIELDS, asked_matmul
from tests.real.rig.sampled_others import CHUNKS

GRIDS = ([8, 8], [8, 4], [4, 4], [7, 5], [8, 1])


def conv_behind_conv(bench: Bench) -> dict[str, Any]:
    """A convolution of stride 1 on what one of its own layout wrote."""
    one_of = bench.one_of
    layout = one_of("HEIGHT", "HEIGHT", "BLOCK", "WIDTH")
    sizes, channels = SIZES[layout]
    wide = one_of(*channels)
    case: dict[str, Any] = {
        "b": one_of(1, 1, 2), "h": one_of(*sizes), "cin": wide, "cout": wide, "k": one_of(3, 3, 5), "s": 1,
        "layout": layout, "act_block_h_override": 0, "act_block_w_div": 1, "input": "sharded",
        "enable_act_double_buffer": one_of(False, True), "enable_weights_double_buffer": one_of(False, True),
        "weights_dtype": one_of("bfloat8_b", "bfloat16"), "fp32_dest_acc_en": False, "packer_l1_acc": True,
        "output_dtype": "bfloat16", "bias": True, "output_layout": "TILE",
    }  # fmt: skip
    setting, value = one_of(
        *[("act_block_h_override", size) for size in BLOCKS] * 2, *((flag, not case[flag]) for flag in FLAGS[2:])
    )
    now = {**case, setting: value}
    rows = now["b"] * now["h"] ** 2

    def written() -> list[Any]:
        image = bench.tensor(1, 1, rows, wide, layout="ROW_MAJOR_LAYOUT", memory=bench.ttnn.L1_MEMORY_CONFIG)
        first = {**case, "enable_act_double_buffer": False, "enable_weights_double_buffer": False}
        return [conv_call(bench, first)(image)]

    with suppress(RuntimeError):  # of the convolution before, if it does not fit L1: another one is tried
        return bench.trial(Question("conv2d", case, setting, value, written, conv_call(bench, now), "Conv2d"))
    return conv_behind_conv(bench)


def matmul_on_shards(bench: Bench) -> dict[str, Any]:
    """A matmul whose first operand is sharded as its config wants it, or not quite."""
    one_of = bench.one_of
    layout = one_of("BLOCK", "WIDTH", "HEIGHT")
    x, y = grid = one_of(*(grid for grid in GRIDS if grid[0] <= bench.grid[0] and grid[1] <= bench.grid[1]))
    high, deep, wide = one_of(1, 2, 4), one_of(1, 2, 4, 8), one_of(1, 2, 4)
    m, k, n = {
        "BLOCK": (high * y, deep * x, wide * x),
        "WIDTH": (high, deep * x * y, wide * x * y),
        "HEIGHT": (high * x * y, deep, wide),
    }[layout]
    case: dict[str, Any] = {
        "m": TILE * m, "k": TILE * k, "n": TILE * n, "kind": "2D" if layout == "BLOCK" else "1D", "grid": grid,
        "in0_block_w": deep, "out_subblock_h": 1, "out_subblock_w": 1, "per_core_M": high, "per_core_N": wide,
        "a": "bfloat16", "b": one_of("bfloat16", "bfloat8_b"), "out": "bfloat16", "fp32": one_of(False, True),
        "packer": one_of(True, False), "a_memory": layout, "a_grid": grid, "out_memory": one_of("DRAM", layout),
    }  # fmt: skip
    if layout != "BLOCK":
        case["mcast_in0"] = layout == "WIDTH"
    setting, value = one_of(
        *((one_of(*FIELDS[:3]), one_of(1, 2, 3, 4, 6, 8)) for _ in range(6)),
        ("per_core_M", high + 1), ("per_core_N", wide + 1), ("per_core_N", 2 * wide), ("fp32", not case["fp32"]),
        ("out", "bfloat8_b"),
    )  # fmt: skip
    memory = bench.sharded(case["m"], case["k"], (x, y), layout)
    return asked_matmul(bench, case, (setting, value), memory)


def masked(bench: Bench) -> dict[str, Any]:
    """Attention with a mask, or with fewer heads of keys than of queries."""
    one_of, ttnn, (x, y) = bench.one_of, bench.ttnn, bench.grid
    heads, rows, is_masked = one_of(4, 8, 16), one_of(256, 320, 512, 1024), one_of(True, True, False)
    case: dict[str, Any] = {
        "heads": heads, "batch": one_of(1, 2), "rows": rows, "head": one_of(64, 128, 160), "causal": not is_masked,
        "dtype": one_of("bfloat16", "bfloat8_b"), "q_chunk_size": 128, "k_chunk_size": 128,
        "fp32": one_of(False, False, True), "grid": one_of([8, 8], [x, y]), "kv_heads": one_of(heads, 1, 2),
        "mask": one_of("bfloat16", "bfloat8_b", "bfloat4_b") if is_masked else None,
    }  # fmt: skip
    case["keys"] = one_of(rows, 512) if is_masked else rows
    setting, value = one_of(("q_chunk_size", one_of(*CHUNKS)), ("k_chunk_size", one_of(*CHUNKS)))
    now = {**case, setting: value}

    def call(q: Any, k: Any, v: Any, mask: Any = None) -> Any:
        config = ttnn.SDPAProgramConfig(
            compute_with_storage_grid_size=tuple(now["grid"]),
            q_chunk_size=now["q_chunk_size"],
            k_chunk_size=now["k_chunk_size"],
            exp_approx_mode=False,
        )
        named = {"program_config": config, "compute_kernel_config": bench.kernel(fp32=now["fp32"], packer=True)}
        attend = ttnn.transformer.scaled_dot_product_attention
        return attend(q, k, v, is_causal=now["causal"], attn_mask=mask, **named)

    def operands() -> list[Any]:
        of = [(now["heads"], now["rows"]), *[(now["kv_heads"], now["keys"])] * 2]
        qkv = [bench.tensor(now["batch"], *size, now["head"], dtype=now["dtype"]) for size in of]
        shape = (now["batch"], 1, now["rows"], now["keys"])
        return [*qkv, *([bench.tensor(*shape, dtype=now["mask"])] if now["mask"] else [])]

    return bench.trial(Question("sdpa", case, setting, value, operands, call, "SDPA"))
