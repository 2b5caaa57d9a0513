"""Calls whose device ops a captured graph prints in full, each once, as a user writes them.

`ttnn-mcp capture` runs this in the part `replays`, which then replays each of them from its graph alone.
"""

from __future__ import annotations

import torch
import ttnn


def tensor(*shape: int, **how: object) -> ttnn.Tensor:
    kind = {"layout": ttnn.TILE_LAYOUT, "dtype": ttnn.bfloat16, **how}
    return ttnn.from_torch(torch.rand(*shape), device=device, **kind)


def shards(layout: str, cores: int, shape: list[int]) -> ttnn.MemoryConfig:
    grid = ttnn.CoreRangeSet({ttnn.CoreRange(ttnn.CoreCoord(0, 0), ttnn.CoreCoord(cores - 1, 0))})
    spec = ttnn.ShardSpec(grid, shape, ttnn.ShardOrientation.ROW_MAJOR)
    return ttnn.MemoryConfig(getattr(ttnn.TensorMemoryLayout, f"{layout}_SHARDED"), ttnn.BufferType.L1, spec)


device = ttnn.open_device(device_id=0, l1_small_size=32768)
x, heads = tensor(1, 1, 64, 256), tensor(1, 8, 64, 64)
ttnn.typecast(x, ttnn.bfloat8_b)
ttnn.slice(x, [0, 0, 0, 32], [1, 1, 32, 224], [1, 1, 1, 1])
ttnn.concat([x, x], 3)
ttnn.concat([x, x], 2)
ttnn.sum(x, dim=-1, keepdim=True)
ttnn.max(x, dim=-2, keepdim=True)
ttnn.permute(heads, [0, 2, 1, 3])
ttnn.transpose(heads, -2, -1)
ttnn.reshape(x, [1, 1, 128, 128])
ttnn.clone(x)
ttnn.untilize(x)
ttnn.to_layout(tensor(1, 1, 64, 256, layout=ttnn.ROW_MAJOR_LAYOUT), ttnn.TILE_LAYOUT)
ttnn.sharded_to_interleaved(ttnn.to_memory_config(x, shards("WIDTH", 8, [64, 32])))
ttnn.experimental.rotary_embedding_llama(
    heads, tensor(1, 1, 64, 64), tensor(1, 1, 64, 64), tensor(1, 1, 32, 32), is_decode_mode=False
)
ttnn.experimental.nlp_create_qkv_heads(tensor(1, 1, 64, 768), num_heads=8, num_kv_heads=2, transpose_k_heads=False)
ttnn.experimental.nlp_concat_heads(heads)
token = ttnn.to_memory_config(tensor(1, 8, 32, 64), shards("HEIGHT", 8, [32, 64]))
ttnn.experimental.nlp_concat_heads_decode(token, num_heads=8)
ttnn.add(x, x)
ttnn.close_device(device)
