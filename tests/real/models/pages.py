"""Prefill of a prompt into a paged cache, then two decode steps of eight users: a small Llama."""

import torch
import ttnn

KIND = "n150"
TOKENS, WIDTH, HEADS, GROUPS, HEAD, HIDDEN, WORDS, USERS, BLOCK = 1024, 2048, 32, 8, 64, 8192, 16384, 8, 32
L1, DRAM = ttnn.L1_MEMORY_CONFIG, ttnn.DRAM_MEMORY_CONFIG


def tensor(device, *shape, dtype=ttnn.bfloat8_b, layout=ttnn.TILE_LAYOUT, memory=None):
    return ttnn.from_torch(torch.randn(*shape), dtype=dtype, layout=layout, device=device, memory_config=memory)


def whole(device, values, dtype):
    return ttnn.from_torch(values, dtype=dtype, device=device)


def per_user(rows, columns):
    users = ttnn.num_cores_to_corerangeset(USERS, ttnn.CoreCoord(8, 8), row_wise=True)
    return ttnn.MemoryConfig(
        ttnn.TensorMemoryLayout.HEIGHT_SHARDED,
        ttnn.BufferType.L1,
        ttnn.ShardSpec(users, [rows, columns], ttnn.ShardOrientation.ROW_MAJOR),
    )


def weights(device):
    layers = [
        {
            "norm1": tensor(device, 1, 1, WIDTH // 32, 32, dtype=ttnn.bfloat16, layout=ttnn.ROW_MAJOR_LAYOUT),
            "norm2": tensor(device, 1, 1, WIDTH // 32, 32, dtype=ttnn.bfloat16, layout=ttnn.ROW_MAJOR_LAYOUT),
            "qkv": tensor(device, 1, 1, WIDTH, (HEADS + 2 * GROUPS) * HEAD),
            "out": tensor(device, 1, 1, WIDTH, WIDTH),
            "gate": tensor(device, 1, 1, WIDTH, HIDDEN, dtype=ttnn.bfloat4_b),
            "up": tensor(device, 1, 1, WIDTH, HIDDEN, dtype=ttnn.bfloat4_b),
            "down": tensor(device, 1, 1, HIDDEN, WIDTH),
            "keys": tensor(device, USERS * 64, GROUPS, BLOCK, HEAD),
            "values": tensor(device, USERS * 64, GROUPS, BLOCK, HEAD),
        }
        for _ in range(2)
    ]
    return {
        "layers": layers,
        "ids": whole(device, torch.randint(0, 500, (1, TOKENS)), ttnn.uint32),
        "next": whole(device, torch.randint(0, 500, (1, 32)), ttnn.uint32),
        "table": tensor(device, WORDS, WIDTH, dtype=ttnn.bfloat16, layout=ttnn.ROW_MAJOR_LAYOUT),
        "turns": [tensor(device, 1, 1, TOKENS, HEAD, dtype=ttnn.bfloat16) for _ in range(2)]
        + [tensor(device, 1, 1, 32, 32, dtype=ttnn.bfloat16)],
        "rope": [
            tensor(device, 1, USERS, 32, HEAD, dtype=ttnn.bfloat16, memory=per_user(32, HEAD)) for _ in range(2)
        ]
        + [tensor(device, 1, 1, 32 * USERS, 32, dtype=ttnn.bfloat16, memory=per_user(32, 32))],
        "pages": whole(device, torch.arange(USERS * 64, dtype=torch.int32).reshape(USERS, 64), ttnn.int32),
        "position": whole(device, torch.full((USERS,), 900, dtype=torch.int32), ttnn.int32),
        "norm": tensor(device, 1, 1, WIDTH // 32, 32, dtype=ttnn.bfloat16, layout=ttnn.ROW_MAJOR_LAYOUT),
        "head": [tensor(device, 1, 1, WIDTH, WORDS // 2) for _ in range(2)],
    }


def feed_forward(x, kept, memory):
    gate = ttnn.linear(x, kept["gate"], memory_config=memory)
    up = ttnn.linear(x, kept["up"], memory_config=memory)
    both = ttnn.mul(
        gate, up, input_tensor_a_activations=[ttnn.UnaryOpType.SILU], dtype=ttnn.bfloat8_b, memory_config=memory
    )
    ttnn.deallocate(gate)
    ttnn.deallocate(up)
    down = ttnn.linear(both, kept["down"], memory_config=memory, dtype=ttnn.bfloat16)
    ttnn.deallocate(both)
    return down


def prefill(x, kept, every):
    normed = ttnn.rms_norm(x, weight=kept["norm1"], epsilon=1e-5)
    qkv = ttnn.linear(
        normed,
        kept["qkv"],
        dtype=ttnn.bfloat16,
        program_config=ttnn.MatmulMultiCoreReuseMultiCastProgramConfig(
            compute_with_storage_grid_size=(8, 8),
            in0_block_w=1,
            out_subblock_h=1,
            out_subblock_w=4,
            per_core_M=TOKENS // 256,
            per_core_N=(HEADS + 2 * GROUPS) * HEAD // 256,
            transpose_mcast=False,
            fused_activation=None,
            fuse_batch=False,
        ),
        compute_kernel_config=ttnn.WormholeComputeKernelConfig(
            math_fidelity=ttnn.MathFidelity.HiFi2, math_approx_mode=False, fp32_dest_acc_en=True, packer_l1_acc=True
        ),
    )
    ttnn.deallocate(normed)
    q, k, v = ttnn.experimental.nlp_create_qkv_heads(
        qkv, num_heads=HEADS, num_kv_heads=GROUPS, transpose_k_heads=False
    )
    ttnn.deallocate(qkv)
    turned = ttnn.experimental.rotary_embedding_llama(q, *every["turns"], is_decode_mode=False)
    ttnn.deallocate(q)
    turned_k = ttnn.experimental.rotary_embedding_llama(k, *every["turns"], is_decode_mode=False)
    ttnn.deallocate(k)
    k8, v8 = ttnn.typecast(turned_k, ttnn.bfloat8_b), ttnn.typecast(v, ttnn.bfloat8_b)
    ttnn.experimental.paged_fill_cache(kept["keys"], k8, every["pages"], batch_idx=0)
    ttnn.experimental.paged_fill_cache(kept["values"], v8, every["pages"], batch_idx=0)
    q8 = ttnn.typecast(turned, ttnn.bfloat8_b)
    ttnn.deallocate(turned)
    o = ttnn.transformer.scaled_dot_product_attention(
        q8,
        k8,
        v8,
        is_causal=True,
        scale=HEAD**-0.5,
        program_config=ttnn.SDPAProgramConfig(
            compute_with_storage_grid_size=(8, 8), q_chunk_size=256, k_chunk_size=256, exp_approx_mode=False
        ),
    )
    for one in (q8, k8, v8):
        ttnn.deallocate(one)
    o = ttnn.experimental.nlp_concat_heads(o)
    x = ttnn.add(x, ttnn.linear(o, kept["out"], dtype=ttnn.bfloat16))
    normed = ttnn.rms_norm(x, weight=kept["norm2"], epsilon=1e-5)
    return ttnn.add(x, feed_forward(normed, kept, DRAM))


def decode(x, kept, every):
    normed = ttnn.rms_norm(x, weight=kept["norm1"], epsilon=1e-5, memory_config=L1)
    qkv = ttnn.linear(normed, kept["qkv"], dtype=ttnn.bfloat16, memory_config=L1)
    qkv = ttnn.reshape(qkv, (1, 1, USERS, (HEADS + 2 * GROUPS) * HEAD), (1, 1, 32, (HEADS + 2 * GROUPS) * HEAD))
    q, k, v = ttnn.experimental.nlp_create_qkv_heads_decode(
        qkv, num_heads=HEADS, num_kv_heads=GROUPS, memory_config=ttnn.L1_HEIGHT_SHARDED_MEMORY_CONFIG
    )
    ttnn.deallocate(qkv)
    q2 = ttnn.experimental.rotary_embedding_llama(q, *every["rope"], is_decode_mode=True)
    k2 = ttnn.experimental.rotary_embedding_llama(k, *every["rope"], is_decode_mode=True)
    ttnn.deallocate(q)
    ttnn.deallocate(k)
    ttnn.experimental.paged_update_cache(
        kept["keys"], k2, update_idxs_tensor=every["position"], page_table=every["pages"]
    )
    ttnn.experimental.paged_update_cache(
        kept["values"], v, update_idxs_tensor=every["position"], page_table=every["pages"]
    )
    ttnn.deallocate(k2)
    ttnn.deallocate(v)
    o = ttnn.transformer.paged_scaled_dot_product_attention_decode(
        q2,
        kept["keys"],
        kept["values"],
        cur_pos_tensor=every["position"],
        page_table_tensor=every["pages"],
        scale=HEAD**-0.5,
        memory_config=DRAM,
    )
    ttnn.deallocate(q2)
    o = ttnn.to_memory_config(o, per_user(32, HEAD))
    o = ttnn.experimental.nlp_concat_heads_decode(o, num_heads=HEADS)
    o = ttnn.to_memory_config(o, L1)
    x = ttnn.add(x, ttnn.linear(o, kept["out"], memory_config=L1, dtype=ttnn.bfloat16), memory_config=L1)
    normed = ttnn.rms_norm(x, weight=kept["norm2"], epsilon=1e-5, memory_config=L1)
    return ttnn.add(x, feed_forward(normed, kept, L1), memory_config=L1)


def run(device, kept):
    x = ttnn.embedding(kept["ids"], kept["table"], layout=ttnn.TILE_LAYOUT)
    x = ttnn.reshape(x, (1, 1, TOKENS, WIDTH))
    for layer in kept["layers"]:
        x = prefill(x, layer, kept)
    last = ttnn.slice(x, [0, 0, TOKENS - 32, 0], [1, 1, TOKENS, WIDTH])
    last = ttnn.rms_norm(last, weight=kept["norm"])
    ttnn.linear(last, kept["head"][0])
    ttnn.deallocate(x)
    for _ in range(2):
        x = ttnn.embedding(kept["next"], kept["table"], layout=ttnn.TILE_LAYOUT, memory_config=L1)
        x = ttnn.reshape(x, (1, 1, 32, WIDTH))
        for layer in kept["layers"]:
            x = decode(x, layer, kept)
        x = ttnn.rms_norm(x, weight=kept["norm"], memory_config=L1)
        words = ttnn.concat(
            [ttnn.linear(x, head, memory_config=L1, dtype=ttnn.bfloat16) for head in kept["head"]], dim=-1
        )
        rows = ttnn.untilize(words, use_multicore=True)
        ttnn.deallocate(words)
        ttnn.argmax(rows, dim=3, keepdim=True)
    return rows
