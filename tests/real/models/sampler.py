"""The end of a decode step on a chip of 8x7 cores: split norms, fused rotary embedding, a head, top-k, sampling, logits."""

import torch
import ttnn

KIND = "n300"
USERS, WIDTH, WORDS = 32, 2048, 16384
L1 = ttnn.L1_MEMORY_CONFIG


def tensor(device, *shape, dtype=ttnn.bfloat16, layout=ttnn.TILE_LAYOUT, memory=None):
    return ttnn.from_torch(torch.zeros(*shape), dtype=dtype, layout=layout, device=device, memory_config=memory)


def along(device, first, rows):
    cores = [ttnn.CoreRange(ttnn.CoreCoord(0, y), ttnn.CoreCoord(7, y)) for y in range(first, first + rows)]
    spec = ttnn.ShardSpec(ttnn.CoreRangeSet(set(cores)), [32, 128], ttnn.ShardOrientation.ROW_MAJOR)
    return ttnn.MemoryConfig(ttnn.TensorMemoryLayout.HEIGHT_SHARDED, ttnn.BufferType.L1, spec)


def weights(device):
    rows = ttnn.ROW_MAJOR_LAYOUT
    return {
        "x": tensor(device, 1, 1, USERS, WIDTH),
        "gamma": tensor(device, 1, 1, WIDTH // 32, 32, layout=rows),
        "stats": tensor(device, 1, 1, USERS, 4 * 32),
        "head": tensor(device, WIDTH, WORDS, dtype=ttnn.bfloat8_b),
        "q": tensor(device, 1, 8, 32, 128, memory=along(device, 0, 1)),
        "places": ttnn.from_torch(torch.zeros(1, 1, USERS, 64), dtype=ttnn.uint32, layout=rows, device=device),
        "k": ttnn.from_torch(torch.full((USERS,), 8), dtype=ttnn.uint32, layout=rows, device=device),
        "p": tensor(device, USERS, layout=rows),
        "experts": tensor(device, 1, 4, WIDTH, 512, dtype=ttnn.bfloat8_b),
        "batches": tensor(device, 1, 2, 32, 64),
        "few": tensor(device, 64, 512),
    }


def run(device, kept):
    x = ttnn.to_memory_config(kept["x"], L1)
    ttnn.rms_norm_pre_all_gather(x)
    x = ttnn.rms_norm_post_all_gather(x, kept["stats"], weight=kept["gamma"])
    ttnn.matmul(x, kept["experts"])
    ttnn.linear(kept["batches"], kept["few"], memory_config=L1)
    ttnn.logit(kept["q"], eps=1e-3)
    words = ttnn.linear(x, kept["head"], memory_config=L1)
    values, places = ttnn.topk(words, 64, dim=-1)
    ttnn.gather(values, -1, index=ttnn.typecast(places, ttnn.uint32))
    return ttnn.sampling(values, kept["places"], k=kept["k"], p=kept["p"], temp=kept["p"], seed=1)
