"""Tensor parallel layers on eight chips: gather, scatter, norms, matmuls with replicated and split weights."""

import torch
import ttnn

KIND = "t3000"
MESH = (1, 8)
FABRIC = "FABRIC_1D"
TOKENS, WIDTH, HIDDEN = 128, 2048, 8192
L1 = ttnn.L1_MEMORY_CONFIG


def split(device, *shape, dim):
    return ttnn.from_torch(
        torch.randn(*shape),
        dtype=ttnn.bfloat8_b,
        layout=ttnn.TILE_LAYOUT,
        device=device,
        mesh_mapper=ttnn.ShardTensorToMesh(device, dim=dim),
    )


def weights(device):
    x = ttnn.from_torch(
        torch.randn(1, 1, TOKENS, WIDTH),
        dtype=ttnn.bfloat16,
        layout=ttnn.TILE_LAYOUT,
        device=device,
        mesh_mapper=ttnn.ReplicateTensorToMesh(device),
    )
    return x, split(device, 1, 1, WIDTH, HIDDEN, dim=3), split(device, 1, 1, HIDDEN, WIDTH, dim=2)


def run(device, kept):
    x, up, down = kept
    x = ttnn.to_memory_config(x, L1)
    for _ in range(2):
        normed = ttnn.layer_norm(x, memory_config=L1)
        h = ttnn.linear(normed, up, activation="relu", memory_config=L1)
        ttnn.deallocate(normed)
        part = ttnn.linear(h, down, memory_config=L1)
        ttnn.deallocate(h)
        mine = ttnn.reduce_scatter(part, dim=3, memory_config=L1)
        ttnn.deallocate(part)
        whole = ttnn.all_gather(mine, dim=3, memory_config=L1)
        ttnn.deallocate(mine)
        x = ttnn.add(x, whole, memory_config=L1)
    return x
