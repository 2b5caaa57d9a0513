"""Experts on eight chips: a grouped gate, tokens sent to their experts and back, sums, and fused and plain collectives."""

import torch
import ttnn

KIND = "t3000"
MESH = (1, 8)
FABRIC = "FABRIC_1D"
CHIPS, TOKENS, WIDTH, EXPERTS, CHOICES = 8, 16, 1024, 256, 8
OF_CHIP, EVERY = EXPERTS // CHIPS, CHIPS * TOKENS
L1 = ttnn.L1_MEMORY_CONFIG


def tensor(device, *shape, dtype=ttnn.bfloat16, layout=ttnn.TILE_LAYOUT):
    kind = torch.int32 if dtype == ttnn.uint16 else torch.float32
    everywhere = ttnn.ReplicateTensorToMesh(device)
    zeros = torch.zeros(*shape, dtype=kind)
    return ttnn.from_torch(zeros, dtype=dtype, layout=layout, device=device, mesh_mapper=everywhere)


def weights(device):
    rows = ttnn.ROW_MAJOR_LAYOUT
    return {
        "x": tensor(device, TOKENS, 1, 1, WIDTH),
        "router": tensor(device, WIDTH, EXPERTS, dtype=ttnn.bfloat8_b),
        "bias": tensor(device, 1, 1, TOKENS, EXPERTS),
        "places": tensor(device, 1, 1, EXPERTS, CHIPS, dtype=ttnn.uint16, layout=rows),
        "choices": tensor(device, TOKENS, 1, 1, CHOICES, dtype=ttnn.uint16, layout=rows),
        "scores": tensor(device, 1, EVERY, 1, EXPERTS, layout=rows),
        "up": tensor(device, 1, OF_CHIP, WIDTH, 256, dtype=ttnn.bfloat8_b),
        "down": tensor(device, 1, OF_CHIP, 256, WIDTH, dtype=ttnn.bfloat8_b),
        "dense": tensor(device, 1, 1, WIDTH, WIDTH, dtype=ttnn.bfloat8_b),
    }


def run(device, kept):
    x = ttnn.to_memory_config(kept["x"], L1)
    flat = ttnn.reshape(x, (1, 1, TOKENS, WIDTH))
    logits = ttnn.linear(flat, kept["router"], memory_config=L1)
    shares, _ = ttnn.experimental.deepseek_grouped_gate(
        logits, kept["bias"], route_scale=2.5, n_groups=8, summed_experts_per_group=2, topk_groups=4,
        n_activated_experts=CHOICES,
    )  # fmt: skip
    tokens = ttnn.to_layout(x, ttnn.ROW_MAJOR_LAYOUT, memory_config=L1)
    ways = {"cluster_axis": 1, "topology": ttnn.Topology.Linear, "num_links": 1}
    sent, chosen = ttnn.all_to_all_dispatch(tokens, kept["choices"], kept["places"], memory_config=L1, **ways)
    ttnn.deallocate(tokens)
    ttnn.moe_expert_token_remap(kept["scores"], kept["places"], chosen, reduction_size=32)
    work = ttnn.to_layout(ttnn.reshape(sent, (1, 1, EVERY, WIDTH)), ttnn.TILE_LAYOUT)
    work = ttnn.repeat(work, (1, OF_CHIP, 1, 1))
    h = ttnn.silu(ttnn.matmul(work, kept["up"]))
    h = ttnn.matmul(h, kept["down"])
    back = ttnn.reshape(ttnn.to_layout(h, ttnn.ROW_MAJOR_LAYOUT), (OF_CHIP, EVERY, 1, WIDTH))
    ttnn.deallocate(h)
    whole = ttnn.all_to_all_combine(back, chosen, kept["places"], **ways)
    whole = ttnn.to_layout(ttnn.reshape(whole, (CHOICES, 1, TOKENS, WIDTH)), ttnn.TILE_LAYOUT)
    weighted = ttnn.mul(whole, ttnn.permute(shares, (3, 0, 2, 1)), memory_config=L1)
    parts = ttnn.experimental.deepseek_moe_fast_reduce_nc(
        weighted, dim=0, split_size=WIDTH // CHIPS, output_memory_config=L1
    )
    y = ttnn.concat(list(parts), dim=3, memory_config=L1)
    y = ttnn.linear(y, kept["dense"], memory_config=L1)
    y = ttnn.all_reduce(y, topology=ttnn.Topology.Linear, num_links=1, memory_config=L1)
    mine = ttnn.reduce_scatter(y, dim=3, memory_config=L1)
    whole = ttnn.all_gather(mine, dim=3)
    wide = ttnn.pad(whole, [(0, 0), (0, 0), (0, EVERY * 2 - TOKENS), (0, 0)], 0.0)
    return ttnn.experimental.all_to_all_async_generic(wide, in_dim=2, out_dim=3, **ways)
