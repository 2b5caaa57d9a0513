"""Matmuls at random: multicast in one and two dimensions, batches, DRAM-sharded weights, MinimalMatmul."""

from __future__ import annotations

from typing import Any

from tests.real.rig.bench import TILE, Bench, Question

WORDS = {"bfloat16": "bfloat16", "bfloat8_b": "bfloat8_b", "bfloat4_b": "bfloat4_b", "float32": "float32"}
FIELDS = ("in0_block_w", "out_subblock_h", "out_subblock_w", "per_core_M", "per_core_N")
SIDES = (4, 7, 8, 12, 16, 24, 32, 48, 64)
BANKS = {"n150": 12, "p100": 7}
MINIMAL = ("M_block_size", "K_block_size", "N_block_size", "subblock_h", "subblock_w")


def multicast(bench: Bench) -> dict[str, Any]:
    """1D (either operand sent around) and 2D; operands and output may be sharded."""
    one_of, (x, y) = bench.one_of, bench.grid
    kind = one_of("2D", "2D", "1D", "1D", "Reuse")
    m, k, n = (TILE * one_of(*SIDES) for _ in range(3))
    case: dict[str, Any] = {
        "m": m, "k": k, "n": n, "kind": kind, "grid": bench.grid, "in0_block_w": one_of(1, 2, 4),
        "out_subblock_h": 1, "out_subblock_w": 1, "a": one_of("bfloat16", "bfloat16", "bfloat8_b"),
        "b": one_of("bfloat16", "bfloat8_b", "bfloat4_b"), "out": one_of("bfloat16", "bfloat16", "bfloat8_b"),
        "fp32": one_of(False, False, True), "packer": one_of(True, False), "bias": one_of(False, False, True),
        "activation": one_of(None, None, "gelu"), "out_memory": one_of("DRAM", "L1"),
        "a_memory": one_of("DRAM", "L1"),
    }  # fmt: skip
    if kind == "1D":
        case["mcast_in0"] = one_of(True, False)
        most = (1, x * y) if case["mcast_in0"] else (x * y, 1)
        case["out_memory"] = one_of("DRAM", "WIDTH" if case["mcast_in0"] else "HEIGHT")
    elif kind == "2D":
        most = (y, x)
        case["out_memory"] = one_of("DRAM", "L1", "BLOCK")
    else:
        most = (1, 1)
        case |= {"batch": one_of(8, 16), "bias": False, "activation": None, "out_memory": "DRAM"}
    case["per_core_M"], case["per_core_N"] = -(-m // TILE // most[0]), -(-n // TILE // most[1])
    settings: list[tuple[str, Any]] = [(one_of(*FIELDS[:3]), one_of(1, 2, 3, 4, 6, 8, 12, 16)) for _ in range(4)]
    settings += [
        ("per_core_M", max(1, case["per_core_M"] + one_of(-1, 1, 2))),
        ("per_core_N", max(1, case["per_core_N"] + one_of(-1, 1, 2))),
        ("fp32", not case["fp32"]), ("b", "bfloat16"), ("out", "float32"), ("grid", [one_of(4, 8), one_of(4, 8)]),
    ]  # fmt: skip
    setting, value = one_of(*settings)
    return asked_matmul(bench, case, (setting, value))


def asked_matmul(
    bench: Bench, case: dict[str, Any], changed: tuple[str, Any], shards: Any = None, written: Any = None
) -> dict[str, Any]:
    """One trial of a multicast matmul; `shards` for a first operand that lies in them, `written` for the output."""
    setting, value = changed
    ttnn, now = bench.ttnn, {**case, setting: value}
    given = {name: now[name] for name in FIELDS} | {"compute_with_storage_grid_size": tuple(now["grid"])}
    fused = ttnn.UnaryWithParam(ttnn.UnaryOpType.GELU, 1.0) if now.get("activation") else None
    batch, memories = now.get("batch", 1), _memories(ttnn)

    def config() -> Any:
        if now["kind"] == "Reuse":
            return ttnn.MatmulMultiCoreReuseProgramConfig(**given)
        if now["kind"] == "2D":
            make = ttnn.MatmulMultiCoreReuseMultiCastProgramConfig
            return make(**given, transpose_mcast=False, fused_activation=fused)
        make = ttnn.MatmulMultiCoreReuseMultiCast1DProgramConfig
        return make(**given, fuse_batch=True, fused_activation=fused, mcast_in0=now["mcast_in0"])

    def call(a: Any, b: Any, bias: Any = None) -> Any:
        kernel = bench.kernel(fp32=now["fp32"], packer=now["packer"])
        named = {"program_config": config(), "compute_kernel_config": kernel, "dtype": getattr(ttnn, now["out"])}
        named["memory_config"] = written or memories[now["out_memory"]]
        return ttnn.matmul(a, b, **named) if batch > 1 else ttnn.linear(a, b, bias=bias, **named)

    def operands() -> list[Any]:
        a = bench.tensor(1, batch, now["m"], now["k"], dtype=now["a"], memory=shards or memories[now["a_memory"]])
        b = bench.tensor(1, batch, now["k"], now["n"], dtype=now["b"])
        return [a, b, *([bench.tensor(1, 1, 1, now["n"])] if now.get("bias") else [])]

    return bench.trial(Question("matmul", case, setting, value, operands, call, "Matmul"))


def _memories(ttnn: Any) -> dict[str, Any]:
    sharded = {name: getattr(ttnn, f"L1_{name}_SHARDED_MEMORY_CONFIG") for name in ("BLOCK", "WIDTH", "HEIGHT")}
    return {"DRAM": ttnn.DRAM_MEMORY_CONFIG, "L1": ttnn.L1_MEMORY_CONFIG, **sharded}


def banked(bench: Bench) -> dict[str, Any]:
    """Weights sharded over the banks of DRAM."""
    one_of, ttnn, banks = bench.one_of, bench.ttnn, bench.device.dram_grid_size().x
    cores, k, n = one_of(8, 16, 32), TILE * one_of(32, 64, 96, 128), TILE * one_of(48, 64, 96, 128, 224)
    case = {
        "m": TILE, "k": k, "n": n, "b": one_of("bfloat8_b", "bfloat4_b", "bfloat16"), "cores": cores, "banks": banks,
        "in0_block_w": k // TILE // cores, "per_core_N": -(-n // TILE // cores), "fp32": one_of(False, False, True),
        "packer": one_of(True, False),
    }  # fmt: skip
    setting, value = one_of(
        *(("in0_block_w", size) for size in (1, 2, 3, 4, 6, 8)), *(("per_core_N", size) for size in (1, 2, 3, 4, 7, 8)),
        ("out_memory", "DRAM"), ("fp32", not case["fp32"]),
    )  # fmt: skip
    now = {**case, setting: value}
    per_bank = -(-n // (TILE * banks)) * TILE
    ranges = ttnn.CoreRangeSet({ttnn.CoreRange(ttnn.CoreCoord(0, 0), ttnn.CoreCoord(banks - 1, 0))})
    spec = ttnn.ShardSpec(ranges, [k, per_bank], ttnn.ShardOrientation.ROW_MAJOR)
    in_banks = ttnn.MemoryConfig(ttnn.TensorMemoryLayout.WIDTH_SHARDED, ttnn.BufferType.DRAM, spec)
    along = bench.sharded(TILE, k, (8, cores // 8), "WIDTH")

    def call(a: Any, b: Any) -> Any:
        config = ttnn.MatmulMultiCoreReuseMultiCastDRAMShardedProgramConfig(
            in0_block_w=now["in0_block_w"], per_core_M=1, per_core_N=now["per_core_N"], fused_activation=None
        )
        kernel = bench.kernel(fp32=now["fp32"], packer=now["packer"])
        memory = _memories(ttnn)[now.get("out_memory", "WIDTH")]
        named = {"program_config": config, "compute_kernel_config": kernel, "memory_config": memory}
        return ttnn.linear(a, b, dtype=ttnn.bfloat16, **named)

    def operands() -> list[Any]:
        return [
            bench.tensor(1, 1, TILE, k, memory=along),
            bench.tensor(1, 1, k, n, dtype=case["b"], memory=in_banks),
        ]

    return bench.trial(Question("matmul DRAM-sharded", case, setting, value, operands, call, "Matmul"))


def minimal(bench: Bench) -> dict[str, Any]:
    """ttnn.experimental.minimal_matmul."""
    one_of, ttnn, (x, y) = bench.one_of, bench.ttnn, bench.grid
    dtype = one_of("bfloat16", "bfloat8_b")
    case: dict[str, Any] = {
        "m": TILE * one_of(8, 32, 64, 100), "k": TILE * one_of(8, 16, 40), "n": TILE * one_of(8, 32, 72), "a": dtype,
        "b": dtype, "out": one_of("bfloat16", "bfloat8_b"), "M_block_size": one_of(4, 8), "K_block_size": one_of(4, 8),
        "N_block_size": one_of(4, 8), "subblock_h": 2, "subblock_w": 2, "grid": one_of([x, y], [8, 8], [4, 6]),
        "fp32": one_of(True, False), "bias": one_of(False, True),
    }  # fmt: skip
    setting, value = one_of(
        *((name, one_of(1, 2, 3, 4, 8, 16, 32)) for name in MINIMAL), ("grid", one_of([1, 8], [2, 2], [x + 1, y])),
        ("fp32", not case["fp32"]),
    )  # fmt: skip
    now = {**case, setting: value}

    def call(a: Any, b: Any, bias: Any = None) -> Any:
        config = ttnn.MinimalMatmulConfig(
            **{name: now[name] for name in MINIMAL}, compute_with_storage_grid_size=ttnn.CoreCoord(*now["grid"])
        )
        kernel = bench.kernel(fp32=now["fp32"], packer=True)
        named = {"config": config, "compute_kernel_config": kernel, "dtype": getattr(ttnn, now["out"])}
        return ttnn.experimental.minimal_matmul(a, b, bias_tensor=bias, **named)

    def operands() -> list[Any]:
        a, b = (
            bench.tensor(1, 1, now["m"], now["k"], dtype=now["a"]),
            bench.tensor(now["k"], now["n"], dtype=now["b"]),
        )
        return [a, b, *([bench.tensor(1, now["n"])] if now.get("bias") else [])]

    return bench.trial(Question("minimal_matmul", case, setting, value, operands, call, "MinimalMatmul"))
