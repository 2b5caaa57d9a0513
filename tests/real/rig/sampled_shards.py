"""Matmuls between shards: a sharded first operand, output or both, under each kind of program config."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tests.real.rig.bench import TILE
from tests.real.rig.sampled_matmuls import FIELDS, asked_matmul

if TYPE_CHECKING:
    from tests.real.rig.bench import Bench

GRIDS = ([8, 7], [8, 4], [4, 4], [7, 5], [8, 1], [1, 7], [2, 3], [1, 1])
LAYOUTS = ("HEIGHT", "BLOCK", "WIDTH")
OWN = {"2D": "BLOCK", "rows": "WIDTH", "columns": "HEIGHT", "Reuse": "HEIGHT"}


def between_shards(bench: Bench) -> dict[str, Any]:
    """One value of one setting of such a matmul."""
    case = between_shards_case(bench)
    return tried(bench, case, changed(bench, case))


def between_shards_case(bench: Bench) -> dict[str, Any]:
    """Blocks that cover the grid, or not quite; shards as the program wants them, or of another layout or grid."""
    one_of, kind = bench.one_of, bench.one_of("2D", "rows", "columns", "Reuse", "Reuse")
    x, y = grid = one_of(*GRIDS)
    high, deep, wide, batch = one_of(1, 2, 3, 4), one_of(1, 2, 4, 6), one_of(1, 2, 4), 1
    own = OWN[kind]
    m, k, n = {
        "2D": (high * y, deep * x, wide * x),
        "rows": (high, deep * x * y, wide * x * y),
        "columns": (high * x * y, deep, wide),
        "Reuse": (high * x * y, deep, wide),
    }[kind]
    if kind == "Reuse" and x * y > 1 and one_of(True, False):
        batch = one_of(*(size for size in range(2, m + 1) if m % size == 0))
        m //= batch
    uneven = one_of(0, 0, 0, 1)
    m, k, n = max(m - uneven * (kind != "Reuse"), 1), max(k - uneven * one_of(0, 1), 1), max(n - uneven, 1)
    placed = one_of(own, own, own, "DRAM", *LAYOUTS)
    case: dict[str, Any] = {
        "m": TILE * m, "k": TILE * k, "n": TILE * n, "kind": kind if kind in ("2D", "Reuse") else "1D", "grid": grid,
        "in0_block_w": deep, "out_subblock_h": 1, "out_subblock_w": one_of(1, wide), "per_core_M": high,
        "per_core_N": n if kind in ("columns", "Reuse") else wide, "a": "bfloat16", "b": one_of("bfloat16", "bfloat8_b"), "out": "bfloat16",
        "fp32": one_of(False, False, True), "packer": one_of(True, False), "a_memory": placed,
        "out_memory": one_of("DRAM", own if placed == "DRAM" else placed, own, *LAYOUTS),
    }  # fmt: skip
    if placed != "DRAM":
        case["a_grid"] = one_of(grid, grid, grid, [1, y], *GRIDS)
    if case["out_memory"] != "DRAM" and one_of(True, False):
        case["out_grid"] = one_of(grid, grid, *GRIDS)
    if kind in ("rows", "columns"):
        case["mcast_in0"] = kind == "rows"
    return case | ({"batch": batch} if batch > 1 else {})


def changed(bench: Bench, case: dict[str, Any]) -> tuple[str, Any]:
    """Another value of one of its fields."""
    one_of = bench.one_of
    setting = one_of(*FIELDS, "per_core_M", "per_core_N", "in0_block_w")
    most = {"in0_block_w": case["k"], "per_core_M": case["m"] * case.get("batch", 1), "per_core_N": case["n"]}
    sizes = [1, 2, 3, 4, 6, 8, 12, most.get(setting, TILE) // TILE, 2 * case[setting], max(case[setting] // 2, 1)]
    return setting, one_of(*sizes)


def tried(bench: Bench, case: dict[str, Any], asked: tuple[str, Any]) -> dict[str, Any]:
    """A trial, its tensors sharded as the case says."""
    rows, batch = case["m"] // TILE, case.get("batch", 1)
    a = out = None
    if "a_grid" in case:
        a = _memory(bench, case["a_memory"], case["a_grid"], shard(case, rows * batch, case["k"] // TILE))
    if "out_grid" in case:
        out = _memory(bench, case["out_memory"], case["out_grid"], (case["per_core_M"], case["per_core_N"]))
    return asked_matmul(bench, case, asked, a, out)


def shard(case: dict[str, Any], rows: int, columns: int) -> tuple[int, int]:
    """Rows and columns of a shard of the first operand, in tiles."""
    x, y = case["a_grid"]
    down, across = {"BLOCK": (y, x), "WIDTH": (1, x * y), "HEIGHT": (x * y, 1)}[case["a_memory"]]
    return -(-rows // down), -(-columns // across)


def _memory(bench: Bench, layout: str, grid: list[int], shape: tuple[int, int]) -> Any:
    ttnn, (x, y) = bench.ttnn, grid
    cores = ttnn.CoreRangeSet({ttnn.CoreRange(ttnn.CoreCoord(0, 0), ttnn.CoreCoord(x - 1, y - 1))})
    spec = ttnn.ShardSpec(cores, [size * TILE for size in shape], ttnn.ShardOrientation.ROW_MAJOR)
    return ttnn.MemoryConfig(getattr(ttnn.TensorMemoryLayout, f"{layout}_SHARDED"), ttnn.BufferType.L1, spec)
