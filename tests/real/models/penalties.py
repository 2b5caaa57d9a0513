"""The words of a language model: penalties by scatter, masks, gathers and sorts of the whole vocabulary, running sums."""

import torch
import ttnn

KIND = "n300"
USERS, WIDTH, WORDS, FEW = 32, 1024, 50304, 64


def tensor(device, *shape, dtype=ttnn.bfloat16, layout=ttnn.TILE_LAYOUT, kind=torch.float32):
    return ttnn.from_torch(torch.zeros(*shape, dtype=kind), dtype=dtype, layout=layout, device=device)


def weights(device):
    rows = ttnn.ROW_MAJOR_LAYOUT
    return {
        "x": tensor(device, 1, 1, USERS, WIDTH),
        "head": tensor(device, WIDTH, WORDS, dtype=ttnn.bfloat8_b),
        "told": tensor(device, 1, 1, USERS, FEW, dtype=ttnn.int32, layout=rows, kind=torch.int32),
        "minus": tensor(device, 1, 1, USERS, FEW, layout=rows),
        "places": tensor(device, 1, 1, USERS, FEW, dtype=ttnn.uint32, kind=torch.int32),
        "short": tensor(device, 1, 1, USERS, 2048, dtype=ttnn.uint16, kind=torch.int32),
        "ids": tensor(device, 8, dtype=ttnn.uint32, layout=rows, kind=torch.int32),
    }


def run(device, kept):
    words = ttnn.linear(kept["x"], kept["head"])
    rows = ttnn.to_layout(words, ttnn.ROW_MAJOR_LAYOUT)
    rows = ttnn.scatter_add(rows, -1, kept["told"], kept["minus"])
    filled = ttnn.index_fill(rows, 3, kept["ids"], -100.0)
    ttnn.deallocate(rows)
    words = ttnn.to_layout(filled, ttnn.TILE_LAYOUT)
    ttnn.deallocate(filled)
    some = ttnn.gather(words, -1, kept["places"])
    values, order = ttnn.sort(some, dim=-1, descending=True)
    ttnn.deallocate(order)
    shares = ttnn.softmax(values, dim=-1)
    below = ttnn.cumsum(shares, dim=-1)
    kept_ones = ttnn.lt(below, 0.9)
    ttnn.sort(kept["short"], dim=-1)
    best = ttnn.argmax(ttnn.to_layout(words, ttnn.ROW_MAJOR_LAYOUT), dim=-1, keepdim=True)
    return ttnn.mul(shares, kept_ones), best
