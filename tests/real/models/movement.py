"""Ops that move, cut, join, turn, reduce and convert tensors, in L1, tiled and by rows."""

import torch
import ttnn

KIND = "n150"
L1 = ttnn.L1_MEMORY_CONFIG


def weights(device):
    tiles = ttnn.from_torch(
        torch.randn(2, 8, 256, 128), dtype=ttnn.bfloat16, layout=ttnn.TILE_LAYOUT, device=device
    )
    rows = ttnn.from_torch(torch.randn(2, 8, 256, 128), dtype=ttnn.bfloat16, device=device)
    wide = ttnn.from_torch(torch.randn(1, 1, 64, 8192), dtype=ttnn.float32, layout=ttnn.TILE_LAYOUT, device=device)
    return tiles, rows, wide


def run(device, kept):
    tiles, rows, wide = (ttnn.to_memory_config(one, L1) for one in kept)
    kept = []
    keep = lambda one: kept.append(one) or one  # noqa: E731
    turned = ttnn.permute(tiles, (0, 2, 1, 3), memory_config=L1)
    turned = ttnn.transpose(turned, 1, 2, memory_config=L1)
    other = ttnn.transpose(turned, 2, 3, memory_config=L1)
    ttnn.deallocate(turned)
    ttnn.deallocate(ttnn.permute(rows, (0, 1, 3, 2), memory_config=L1))
    for dim in (1, 2, 3):
        ttnn.deallocate(ttnn.concat([tiles, tiles], dim=dim, memory_config=L1))
    ttnn.deallocate(ttnn.concat([rows, rows], dim=3, memory_config=L1))
    ttnn.deallocate(other)
    ttnn.deallocate(ttnn.slice(tiles, [0, 0, 0, 0], [2, 4, 128, 64], memory_config=L1))
    ttnn.deallocate(ttnn.slice(rows, [0, 0, 3, 0], [2, 4, 130, 64], memory_config=L1))
    ttnn.deallocate(ttnn.pad(tiles, [(0, 0), (0, 0), (0, 32), (0, 64)], 0.0, memory_config=L1))
    ttnn.deallocate(ttnn.repeat(rows, (1, 2, 1, 1), memory_config=L1))
    for reduction in (ttnn.sum, ttnn.max):
        for dim in (2, 3):
            ttnn.deallocate(reduction(tiles, dim=dim, keepdim=True, memory_config=L1))
    ttnn.deallocate(ttnn.mean(wide, dim=3, keepdim=True, memory_config=L1))
    ttnn.deallocate(ttnn.tilize(rows, memory_config=L1))
    ttnn.deallocate(ttnn.untilize(wide, memory_config=L1))
    ttnn.deallocate(ttnn.typecast(wide, ttnn.bfloat16, memory_config=L1))
    ttnn.deallocate(ttnn.softmax(wide, dim=-1, memory_config=L1))
    ttnn.deallocate(ttnn.layer_norm(tiles, memory_config=L1))
    ttnn.deallocate(ttnn.reshape(tiles, (2, 8, 128, 256), memory_config=L1))
    ttnn.deallocate(ttnn.where(ttnn.gtz(tiles), tiles, 0.0, memory_config=L1))
    ttnn.deallocate(ttnn.exp(wide, memory_config=L1))
    ttnn.deallocate(ttnn.add(wide, 1.0, memory_config=L1))
    ttnn.deallocate(ttnn.cumsum(tiles, dim=2))
    for _ in range(2):
        keep(ttnn.multiply(tiles, ttnn.sum(tiles, dim=3, keepdim=True), memory_config=L1))
    return ttnn.argmax(ttnn.to_layout(keep(ttnn.clone(tiles)), ttnn.ROW_MAJOR_LAYOUT), dim=-1)
