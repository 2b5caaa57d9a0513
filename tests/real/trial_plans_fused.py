"""What each trial of attention, a norm or a softmax asks TTNN for, in the terms of our rules."""

from __future__ import annotations

from math import ceil

from tests.real.planned import BFLOAT16, Planned, Row, changed, tile_of
from ttnn_mcp.analyses.programs.attention import Attention
from ttnn_mcp.analyses.programs.decode_attention import DecodeAttention
from ttnn_mcp.analyses.programs.group_norms import GroupNorm
from ttnn_mcp.analyses.programs.norms import ShardedNorm, ShardedSoftmax
from ttnn_mcp.hardware import TILE_SIDE


def attention(row: Row, arch: str) -> Planned:
    now = changed(row)
    tile, grid, start = tile_of(now["dtype"]), now.get("grid", (8, 8)), now.get("start")
    cached = tile_of(now.get("cache", now["dtype"]))
    plan = Attention(
        heads=now["heads"] * now.get("batch", 1),
        rows=now["rows"],
        keys=now["keys"] if start is None else now["rows"] + start,
        head=now["head"],
        value_head=now["head"],
        q_bytes=tile,
        k_bytes=cached,
        v_bytes=cached,
        out_bytes=tile,
        grid=(grid[0], grid[1]),
        device_grid=(row["grid"][0], row["grid"][1]),
        q_chunk=now["q_chunk_size"],
        k_chunk=now["k_chunk_size"],
        causal=now["causal"],
        fp32=now.get("fp32", False),
        mask_bytes=tile_of(now["mask"]) if now.get("mask") else 0.0,
        chains=arch == "blackhole",
        start=start,
        page_bytes=_words(now["pages"], arch) if start is not None else 0,
    )
    return Planned(plan.rules(), lambda: plan.buffers, lambda: 0)


def _words(count: int, arch: str) -> int:
    """Bytes of so many positions or pages, aligned as rows in DRAM are."""
    aligned = 64 if arch == "blackhole" else 32
    return ceil(count * 4 / aligned) * aligned


def decode(row: Row, arch: str) -> Planned:
    now = changed(row)
    tile, pages, grid = tile_of(now["dtype"]), now.get("pages", 0), now.get("grid", (8, 8))
    plan = DecodeAttention(
        batch=now["batch"],
        heads=now["heads"],
        key_heads=now["kv_heads"],
        keys=pages * now["block"] if pages else now["keys"],
        head=now["head"],
        value_head=now["head"],
        k_chunk=now["k_chunk_size"],
        grid=(grid[0], grid[1]),
        device_grid=(row["grid"][0], row["grid"][1]),
        q_bytes=tile,
        k_bytes=tile_of(now.get("cache", now["dtype"])),
        v_bytes=tile_of(now.get("cache", now["dtype"])),
        out_bytes=tile,
        cores_per_head=16,  # of ttnn.SDPAProgramConfig: the rig names no other
        half_tiles=now["dtype"] == "bfloat16",
        paged=pages > 0,
        words_bytes=_words(pages, arch) + 2 * _words(now["batch"], arch) if pages else 0,
    )
    return Planned(plan.rules(), lambda: plan.buffers, lambda: 0)


def norm(row: Row, _arch: str) -> Planned:
    now, case = changed(row), row["case"]
    (x, y), rows, columns = case["grid"], now["rows"] // TILE_SIDE, now["width"] // TILE_SIDE
    plan = ShardedNorm(
        rows=rows,
        columns=columns,
        shards=(x, y),
        grid=(now["grid"][0], now["grid"][1]),
        block_h=now["block_h"],
        block_w=now["block_w"],
        subblock_w=now["subblock_w"],
        device_grid=(row["grid"][0], row["grid"][1]),
        root_mean_square=row["op"] == "rms_norm",
        fp32=now.get("fp32", False),
        bias_bytes=BFLOAT16 if now.get("beta") else 0,
    )
    shard = ceil(rows * columns / (x * y)) * BFLOAT16
    held = 2 + bool(now.get("residual")) - bool(now["inplace"])
    return Planned(plan.rules(), lambda: plan.buffers, lambda: shard * held)


def group_norm(row: Row, _arch: str) -> Planned:
    now = changed(row)
    plan = GroupNorm(
        batches=now["batch"],
        rows=now["batch"] * now["rows"] // TILE_SIDE,
        channels=now["channels"],
        groups=now["groups"],
        grid=(now["grid"][0], now["grid"][1]),
        out_blocks=now["num_out_blocks"],
        weights=2 if now["weights"] else 0,
        device_grid=(row["grid"][0], row["grid"][1]),
    )
    return Planned(plan.rules(), lambda: plan.buffers, lambda: 0)


def softmax(row: Row, _arch: str) -> Planned:
    now, (x, y) = changed(row), row["case"]["grid"]
    high = now["batch"] * now["heads"] * now["rows"] // TILE_SIDE // (x * y)
    wide = now["width"] // TILE_SIDE
    plan = ShardedSoftmax(
        shard=(high, wide),
        shards=(x, y),
        grid=(now["grid"][0], now["grid"][1]),
        block_h=now["block_h"],
        block_w=now["block_w"],
        subblock_w=now["subblock_w"],
        fp32=now.get("fp32", False),
        stable=now.get("stable", True),
        device_grid=(row["grid"][0], row["grid"][1]),
    )
    return Planned(plan.rules(), lambda: plan.buffers, lambda: high * wide * BFLOAT16)
