"""What each trial asks TTNN for, in the terms of our rules: shapes, config, and the tensors beside the op in L1."""

from __future__ import annotations

from dataclasses import replace
from math import ceil
from typing import TYPE_CHECKING, Any

from tests.analyses.settings.conv_asked import ConvAsked
from tests.real.planned import BFLOAT16, Planned, Row, changed, tile_of
from tests.real.trial_plans_fused import attention, decode, group_norm, norm, softmax
from ttnn_mcp.analyses.programs.conv_spread import ROW_MAJOR_ALIGNMENT, Channels
from ttnn_mcp.analyses.programs.conv_window import ConvWindow
from ttnn_mcp.analyses.programs.dram_sharded import DramSharded
from ttnn_mcp.analyses.programs.matmul import MatmulPlan
from ttnn_mcp.analyses.programs.matmul_config import Tiles
from ttnn_mcp.analyses.programs.matmul_shards import Shard
from ttnn_mcp.analyses.programs.minimal_matmul import MinimalMatmul
from ttnn_mcp.hardware import TILE_SIDE, canonical_architecture

if TYPE_CHECKING:
    from collections.abc import Callable


def conv(row: Row, arch: str) -> Planned:
    now, grid = changed(row), (row["grid"][0], row["grid"][1])
    asked = replace(conv_asked(now), arch=canonical_architecture(arch))

    def tensors() -> int:
        made = asked.on(grid)
        return made.buffers["OUT"] + (made.halo_bytes or 0) + (row.get("l1_tensors_before") or 0)

    def buffers() -> dict[str, int]:
        return {name: size for name, size in asked.on(grid).buffers.items() if name != "OUT"}

    return Planned(asked.rules(grid) | slices_rule(now), buffers, tensors)


def window_asked(now: dict[str, Any]) -> ConvWindow:
    """The window of the whole, or of the first slice of an input in DRAM, which is the largest.

    The columns of a slice's output are filled up to whole tiles by padding on the right (TTNN 0.81.1, mock devices).
    """
    pad, side, k, s = now["k"] // 2, now["h"], now["k"], now["s"]
    whole = ConvWindow(now["b"], (side, side), (k, k), (s, s), (pad,) * 4)
    if not now.get("slices"):
        return whole
    unit = slice_unit(now)
    down, units = whole.output[0], ceil(whole.output[1] / unit)
    if now["slice"] == "Height":
        down = ceil(down / now["slices"])
    else:
        units = ceil(units / now["slices"])
    sizes = (down, units * unit)
    read = [min((size - 1) * s + k - pad, side) for size in sizes]
    after = [max((size - 1) * s + k - pad - had, 0) for size, had in zip(sizes, read, strict=True)]
    return ConvWindow(now["b"], (read[0], read[1]), (k, k), (s, s), (pad, after[0], pad, after[1]))


def slice_unit(now: dict[str, Any]) -> int:
    """Columns of the output that stay together."""
    return 1 if now.get("output_layout") == "ROW_MAJOR" else TILE_SIDE


def slices_rule(now: dict[str, Any]) -> dict[str, bool]:
    """TTNN cuts the output's rows apart, or its columns tile by tile."""
    if not now.get("slices"):
        return {}
    side = ConvWindow(now["b"], (now["h"],) * 2, (now["k"],) * 2, (now["s"],) * 2, (now["k"] // 2,) * 4).output[0]
    most = side if now["slice"] == "Height" else ceil(side / slice_unit(now))
    return {f"at most {most} slices": now["slices"] <= most}


def conv_asked(now: dict[str, Any]) -> ConvAsked:
    in_tiles = now.get("input") == "sharded" or (now.get("input") == "TILE" and not now.get("slices"))
    return ConvAsked(
        layout=f"{now.get('shard_layout', now['layout'])}_SHARDED",
        window=window_asked(now),
        from_dram=bool(now.get("slices")) or now.get("input") == "sharded",
        channels=Channels(now["cin"], now["cout"], TILE_SIDE if in_tiles else ROW_MAJOR_ALIGNMENT),
        block_h=now["act_block_h_override"],
        width_divisor=now["act_block_w_div"],
        act_double=now["enable_act_double_buffer"],
        weights_double=now["enable_weights_double_buffer"],
        weights_dtype=now["weights_dtype"].upper(),
        output_dtype=now["output_dtype"].upper(),
        fp32_accumulation=now["fp32_dest_acc_en"],
        packer_l1=now["packer_l1_acc"],
        bias=now.get("bias", True),
        untilize=now.get("output_layout") == "ROW_MAJOR",
        tables_in_dram=now.get("config_tensors_in_dram", False),
    )


def matmul(row: Row, _arch: str) -> Planned:
    now, cores = changed(row), row["grid"][0] * row["grid"][1]
    tiles = _tiles(now, now["a"], now["out"])
    place, out = now.get("a_memory", "DRAM"), now.get("out_memory", "DRAM")
    shard = _shard(now, tiles) if place in ("BLOCK", "WIDTH", "HEIGHT") else None
    plan = MatmulPlan(
        kind=now["kind"],
        tiles=tiles,
        grid=(now["grid"][0], now["grid"][1]),
        device_grid=(row["grid"][0], row["grid"][1]),
        in0_block_w=now["in0_block_w"],
        out_subblock_h=now["out_subblock_h"],
        out_subblock_w=now["out_subblock_w"],
        per_core_m=now["per_core_M"],
        per_core_n=now["per_core_N"],
        mcast_in0=now.get("mcast_in0", False),
        batch=now.get("batch", 1),
        block_h=now.get("out_block_h"),
        block_w=now.get("out_block_w"),
        fp32=now["fp32"],
        packer_l1=now["packer"],
        output=f"{out}_SHARDED" if out in ("BLOCK", "WIDTH", "HEIGHT") else None,
        output_grid=tuple(now["out_grid"]) if "out_grid" in now else None,
        shard=shard,
        bias_bytes=BFLOAT16 if now.get("bias") else 0,
    )

    def tensors() -> int:
        a = ceil(plan.batch * tiles.m * tiles.k / cores) * tiles.a_bytes if place == "L1" else 0
        a = shard.rows * (shard.columns or 0) * tiles.a_bytes if shard else a
        y = (
            ceil(plan.batch * tiles.m * tiles.n / cores) * tiles.out_bytes
            if out == "L1"
            else plan.output_shard_bytes
        )
        return int(a + y)

    return Planned(plan.rules(), lambda: plan.buffers, tensors)


def banked(row: Row, _arch: str) -> Planned:
    now = changed(row)
    tiles = _tiles(now, "bfloat16", now.get("out", "bfloat16"))
    plan = DramSharded(
        tiles=tiles,
        banks=now["banks"],
        cores=row["grid"][0] * row["grid"][1],
        storage_cores=now["cores"],
        in0_block_w=now["in0_block_w"],
        per_core_m=tiles.m,
        per_core_n=now["per_core_N"],
        fp32=now.get("fp32", False),
        packer_l1=now.get("packer", True),
        sharded_output=now.get("out_memory", "WIDTH") == "WIDTH",
    )
    a = int(tiles.m * (tiles.k // now["cores"]) * tiles.a_bytes)
    return Planned(plan.rules(), lambda: plan.buffers, lambda: a + plan.output_shard_bytes)


def minimal(row: Row, _arch: str) -> Planned:
    now = changed(row)
    plan = MinimalMatmul(
        block=(now["M_block_size"], now["K_block_size"], now["N_block_size"]),
        subblock=(now["subblock_h"], now["subblock_w"]),
        grid=(now["grid"][0], now["grid"][1]),
        device_grid=(row["grid"][0], row["grid"][1]),
        a_bytes=tile_of(now["a"]),
        b_bytes=tile_of(now["b"]),
        out_bytes=tile_of(now["out"]),
        bias_bytes=BFLOAT16 if now.get("bias") else 0,
        fp32=now["fp32"],
    )
    return Planned(plan.rules(), lambda: plan.buffers, lambda: 0)


PLANS: dict[str, Callable[[Row, str], Planned]] = {
    "conv2d": conv,
    "matmul": matmul,
    "matmul DRAM-sharded": banked,
    "minimal_matmul": minimal,
    "sdpa": attention,
    "sdpa_decode": decode,
    "layer_norm": norm,
    "rms_norm": norm,
    "group_norm": group_norm,
    "softmax": softmax,
}


def _tiles(now: dict[str, Any], a: str, out: str) -> Tiles:
    m, k, n = (now[side] // TILE_SIDE for side in "mkn")
    return Tiles(m, k, n, tile_of(a), tile_of(now["b"]), tile_of(out))


def _shard(now: dict[str, Any], tiles: Tiles) -> Shard:
    x, y = now["a_grid"]
    layout = now["a_memory"]
    down, across = {"BLOCK": (y, x), "WIDTH": (1, x * y), "HEIGHT": (x * y, 1)}[layout]
    rows = ceil(tiles.m * now.get("batch", 1) / down)
    return Shard(f"{layout}_SHARDED", rows, ceil(tiles.k / across), (x, y))
