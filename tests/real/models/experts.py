"""A mixture of experts: the router picks with topk, scatters its weights, and each expert runs as a sparse matmul."""

import torch
import ttnn

KIND = "n150"
TOKENS, WIDTH, HIDDEN, EXPERTS, PICKED = 32, 1024, 2048, 8, 4
L1 = ttnn.L1_MEMORY_CONFIG


def tensor(device, *shape, dtype=ttnn.bfloat16, layout=ttnn.TILE_LAYOUT):
    return ttnn.from_torch(torch.randn(*shape), dtype=dtype, layout=layout, device=device)


def weights(device):
    return {
        "x": tensor(device, 1, 1, TOKENS, WIDTH),
        "router": tensor(device, 1, 1, WIDTH, 64),
        "up": tensor(device, 1, EXPERTS, WIDTH, HIDDEN, dtype=ttnn.bfloat8_b),
        "down": tensor(device, 1, EXPERTS, HIDDEN, WIDTH, dtype=ttnn.bfloat8_b),
        "sparsity": tensor(device, 1, 1, 1, EXPERTS, layout=ttnn.ROW_MAJOR_LAYOUT),
        "zeros": ttnn.zeros((1, 1, TOKENS, 64), dtype=ttnn.bfloat16, layout=ttnn.TILE_LAYOUT, device=device),
    }


def config(n):
    return ttnn.MatmulMultiCoreReuseMultiCast1DProgramConfig(
        compute_with_storage_grid_size=ttnn.CoreCoord(8, 4),
        in0_block_w=4,
        out_subblock_h=1,
        out_subblock_w=1,
        out_block_h=1,
        out_block_w=1,
        per_core_M=1,
        per_core_N=n // 32 // 32,
        fuse_batch=False,
        fused_activation=None,
        mcast_in0=True,
    )


def run(device, kept):
    x = ttnn.to_memory_config(kept["x"], L1)
    logits = ttnn.linear(x, kept["router"], memory_config=L1)
    values, places = ttnn.topk(logits, PICKED, dim=-1)
    shares = ttnn.softmax(values, dim=-1, memory_config=L1)
    gates = ttnn.scatter(kept["zeros"], -1, places, shares)
    ttnn.deallocate(logits)
    for _ in range(2):
        h = ttnn.sparse_matmul(
            x,
            kept["up"],
            sparsity=kept["sparsity"],
            nnz=PICKED,
            memory_config=L1,
            program_config=config(HIDDEN),
        )
        h = ttnn.silu(ttnn.reshape(h, (1, EXPERTS, TOKENS, HIDDEN)), memory_config=L1)
        o = ttnn.matmul(h, kept["down"], memory_config=L1)
        ttnn.deallocate(h)
        o = ttnn.sum(o, dim=1, keepdim=True, memory_config=L1)
        x = ttnn.add(x, o, memory_config=L1)
        ttnn.deallocate(o)
    return ttnn.mul(x, ttnn.sum(gates, dim=-1, keepdim=True), memory_config=L1)
