"""A decoder of images on Blackhole, in shards: skips joined in shards, data types changed on the way, pads, moves."""

import torch
import ttnn

KIND = "p100"
ROWS, WIDE = 4096, 64
L1, DRAM = ttnn.L1_MEMORY_CONFIG, ttnn.DRAM_MEMORY_CONFIG


def high(rows, columns):
    return ttnn.create_sharded_memory_config(
        (1, 1, rows, columns), core_grid=ttnn.CoreGrid(y=8, x=8), strategy=ttnn.ShardStrategy.HEIGHT
    )


def weights(device):
    kept = [
        ttnn.from_torch(torch.randn(1, 1, ROWS, columns), dtype=ttnn.bfloat16, layout=layout, device=device)
        for columns, layout in (
            (WIDE, ttnn.TILE_LAYOUT),
            (2 * WIDE, ttnn.TILE_LAYOUT),
            (WIDE, ttnn.ROW_MAJOR_LAYOUT),
        )
    ]
    kept.append(
        ttnn.from_torch(torch.randn(1, 1, 33, 40), dtype=ttnn.bfloat16, layout=ttnn.TILE_LAYOUT, device=device)
    )
    return kept


def run(device, kept):
    small, large, rows, odd = kept
    x = ttnn.interleaved_to_sharded(small, high(ROWS, WIDE))
    skip = ttnn.interleaved_to_sharded(large, high(ROWS, 2 * WIDE))
    for _ in range(2):
        joined = ttnn.concat([x, skip], dim=3, memory_config=high(ROWS, 3 * WIDE))
        joined = ttnn.silu(joined, memory_config=high(ROWS, 3 * WIDE))
        twice = ttnn.mul(joined, joined, input_tensor_a_activations=[ttnn.UnaryOpType.SILU])
        ttnn.deallocate(joined)
        flat = ttnn.sharded_to_interleaved(twice, L1, output_dtype=ttnn.bfloat8_b)
        ttnn.deallocate(twice)
        back = ttnn.interleaved_to_sharded(flat, high(ROWS, 3 * WIDE), output_dtype=ttnn.bfloat16)
        ttnn.deallocate(flat)
        line = ttnn.untilize_with_unpadding(back, [0, 0, ROWS - 1, 3 * WIDE - 1], memory_config=DRAM)
        ttnn.deallocate(back)
        ttnn.deallocate(line)
    laid = ttnn.interleaved_to_sharded(rows, high(ROWS, WIDE))
    tiled = ttnn.tilize(laid, memory_config=high(ROWS, WIDE))
    ttnn.deallocate(laid)
    ends = ttnn.concat([odd, odd], dim=-1)
    return ttnn.add(tiled, x), ttnn.untilize(ends)
