"""Ops around attention, attention, top-k and sampling."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from tests.real.rig.proof_calls import Operands

KINDS = ("n150", "p100")


def calls(on: Operands) -> Iterator[Callable[[], object]]:
    """Each of them as often as its program differs; each is made before the next is asked for."""
    yield from _splits(on)
    yield from _rotary(on)
    yield from _caches(on)
    yield from _attention(on)
    yield from _tokens(on)
    yield from _best(on)


def _splits(on: Operands) -> Iterator[Callable[[], object]]:
    ttnn = on.ttnn
    experimental = ttnn.experimental
    for head in (64, 96, 128, 256):
        for dtype in ("bf", "b8"):
            x = on.tiles(1, 1, 256, 12 * head, dtype=dtype)
            for turned in (True, False):
                yield lambda: experimental.nlp_create_qkv_heads(
                    x, num_heads=8, num_kv_heads=2, transpose_k_heads=turned
                )
            joined = on.tiles(1, 8, 256, head, dtype=dtype)
            yield lambda: experimental.nlp_concat_heads(joined)
    three = on.tiles(1, 1, 256, 12 * 96, dtype="f32")
    yield lambda: experimental.nlp_create_qkv_heads(three, num_heads=8, num_kv_heads=2, transpose_k_heads=False)
    held = on.tiles(1, 8, 32, 64, memory=on.shards("HEIGHT", (32, 64), (8, 1)))
    width = on.shards("WIDTH", (32, 64), (8, 1))
    for goes in (None, width):
        yield lambda: experimental.nlp_concat_heads(held, memory_config=goes)
    yield lambda: experimental.nlp_create_qkv_heads_vit(on.tiles(1, 1, 224, 2304))
    yield lambda: experimental.nlp_create_qkv_heads_segformer(on.tiles(1, 1, 224, 128))
    yield lambda: experimental.nlp_create_qkv_heads_falcon7b(on.tiles(1, 1, 224, 4672))
    block = on.tiles(2, 1, 256, 3 * 512, memory=on.shards("BLOCK", (256, 192), (8, 2)))
    yield lambda: experimental.create_qkv_heads(
        block, num_heads=8, num_kv_heads=8, transpose_k_heads=True,
        memory_config=ttnn.MemoryConfig(ttnn.TensorMemoryLayout.HEIGHT_SHARDED, ttnn.BufferType.L1),
    )  # fmt: skip
    yield lambda: experimental.rotate_half(on.tiles(1, 1, 256, 512))
    kept = on.shards("HEIGHT", (512, 64), 32)
    yield lambda: experimental.nlp_kv_cache_load_slice(on.tiles(32, 1, 1024, 64), seq_len_start=0, seq_len_end=512)
    yield lambda: ttnn.to_memory_config(on.tiles(32, 1, 512, 64), kept)


def _rotary(on: Operands) -> Iterator[Callable[[], object]]:
    ttnn = on.ttnn
    experimental = ttnn.experimental
    for head in (64, 128):
        x, turns, matrix = on.tiles(1, 8, 128, head), on.tiles(1, 1, 128, head), on.tiles(1, 1, 32, 32)
        place = on.shards("HEIGHT", (32, head), (8, 1))
        token = on.tiles(1, 8, 32, head, memory=place)
        squares = on.tiles(1, 1, 32 * 8, 32, memory=on.shards("HEIGHT", (32, 32), (8, 1)))
        yield lambda: experimental.rotary_embedding(x, turns, turns)
        yield lambda: experimental.rotary_embedding(on.tiles(1, 8, 32, head), turns, turns, 5)
        yield lambda: experimental.rotary_embedding_hf(x, turns, turns, is_decode_mode=False)
        yield lambda: experimental.rotary_embedding_hf(token, token, token, is_decode_mode=True)
        yield lambda: experimental.rotary_embedding_llama(x, turns, turns, matrix)
        yield lambda: experimental.rotary_embedding_llama(token, token, token, squares, is_decode_mode=True)
        few = [on.tiles(1, 8, 32, head, memory=_row(on, row, head)) for row in (0, 1)]
        both = on.tiles(1, 16, 32, head, memory=on.shards("HEIGHT", (32, head), (8, 2)))
        all_squares = on.tiles(1, 1, 32 * 16, 32, memory=on.shards("HEIGHT", (32, 32), (8, 2)))
        yield lambda: experimental.rotary_embedding_llama_fused_qk(few[0], few[1], both, both, all_squares)

    for head in (32, 64):
        x, turns, place = (
            on.tiles(1, 1, 256, head),
            on.tiles(1, 1, 256, head),
            on.shards("HEIGHT", (32, head), (8, 1)),
        )
        held = on.tiles(1, 1, 256, head, memory=place)
        for one in (x, held):
            for goes in (ttnn.DRAM_MEMORY_CONFIG, place):
                yield lambda: experimental.rotary_embedding_hf(
                    one, turns, turns, is_decode_mode=False, memory_config=goes
                )
    narrow = on.tiles(1, 8, 32, 32, memory=on.shards("HEIGHT", (32, 32), (8, 1)))
    yield lambda: experimental.rotary_embedding_hf(narrow, narrow, narrow, is_decode_mode=True)


def _row(on: Operands, row: int, head: int):
    ttnn = on.ttnn
    cores = ttnn.CoreRangeSet({ttnn.CoreRange(ttnn.CoreCoord(0, row), ttnn.CoreCoord(7, row))})
    spec = ttnn.ShardSpec(cores, [32, head], ttnn.ShardOrientation.ROW_MAJOR)
    return ttnn.MemoryConfig(ttnn.TensorMemoryLayout.HEIGHT_SHARDED, ttnn.BufferType.L1, spec)


def _caches(on: Operands) -> Iterator[Callable[[], object]]:
    ttnn = on.ttnn
    experimental = ttnn.experimental
    for head, dtype in ((64, "bf"), (128, "b8")):
        cache, pages = on.tiles(8, 1, 1024, head, dtype=dtype), on.tiles(64, 1, 32, head, dtype=dtype)
        new = [on.tiles(1, 8, 32, head, memory=_row(on, row, head)) for row in (0, 1)]
        positions, table = on.rows(8, dtype="i32"), on.rows(8, 8, dtype="i32")
        yield lambda: experimental.paged_update_cache(cache, new[0], update_idxs=list(range(8)))
        for some, keys in ((cache, {}), (pages, {"page_table": table})):
            yield lambda: experimental.paged_update_cache(some, new[0], update_idxs_tensor=positions, **keys)
            yield lambda: experimental.paged_fused_update_cache(
                some, new[0], some, new[1], update_idxs_tensor=positions, **keys
            )
        rows = on.tiles(1, 1, 128, head, dtype=dtype)
        yield lambda: experimental.paged_fill_cache(pages, rows, table, batch_idx=0)
        whole = on.tiles(8, 1, 1024, head, dtype=dtype)
        yield lambda: ttnn.fill_cache(whole, rows, 0)
        token = on.tiles(1, 1, 32, head)
        yield lambda: ttnn.update_cache(whole, token, 5)


def _attention(on: Operands) -> Iterator[Callable[[], object]]:
    ttnn = on.ttnn
    transformer, grid = ttnn.transformer, on.device.compute_with_storage_grid_size()

    def config(q: int, k: int):
        return ttnn.SDPAProgramConfig(compute_with_storage_grid_size=grid, q_chunk_size=q, k_chunk_size=k)

    for heads, rows, keys, head in ((8, 512, 512, 64), (16, 1024, 1024, 128), (4, 77, 77, 64), (8, 4096, 77, 40)):
        for dtype in ("bf", "b8"):
            q, k = on.tiles(1, heads, rows, head, dtype=dtype), on.tiles(1, heads, keys, head, dtype=dtype)
            for asked in (None, config(64, 128), config(128, 256)):
                for causal in (True, False):
                    yield lambda: transformer.scaled_dot_product_attention(
                        q, k, k, is_causal=causal, program_config=asked
                    )
                mask = on.tiles(1, 1, rows, keys)
                yield lambda: transformer.scaled_dot_product_attention(
                    q, k, k, attn_mask=mask, is_causal=False, program_config=asked
                )
    x, sink = on.tiles(1, 8, 512, 64), on.tiles(1, 8, 1, 1)
    yield lambda: transformer.scaled_dot_product_attention(x, x, x, is_causal=True, sliding_window_size=128)
    yield lambda: transformer.scaled_dot_product_attention(x, x, x, is_causal=True, attention_sink=sink)
    long = on.tiles(1, 8, 2048, 128)
    for q, k in ((32, 32), (64, 128), (128, 128), (256, 256)):
        asked = config(q, k)
        yield lambda: transformer.scaled_dot_product_attention(
            long, long, long, is_causal=True, sliding_window_size=128, program_config=asked
        )
        yield lambda: transformer.scaled_dot_product_attention(
            long, long, long, is_causal=True, attention_sink=sink, program_config=asked
        )
    queries, latent = on.tiles(1, 16, 256, 576), on.tiles(1, 1, 256, 576)
    yield lambda: transformer.flash_mla_prefill(queries, latent, head_dim_v=512, is_causal=True)
    words = on.tiles(1, 8, 96, 64)
    for wide in (64, 128):
        yield lambda: transformer.joint_scaled_dot_product_attention(
            x, x, x, words, words, words, joint_strategy="rear", program_config=config(wide, wide)
        )
    pages, table = on.tiles(64, 2, 32, 64, dtype="b8"), on.rows(1, 64, dtype="i32")
    yield lambda: transformer.chunked_scaled_dot_product_attention(
        on.tiles(1, 8, 128, 64), pages, pages, table, chunk_start_idx=128, program_config=config(64, 64)
    )
    for heads in (8, 12, 18, 32):
        for dtype in ("bf", "b8"):
            q, cache = on.tiles(1, 8, heads, 128, dtype=dtype), on.tiles(8, 1, 1024, 128)
            position, sinks = on.rows(8, dtype="i32"), on.tiles(heads, 32)
            for more in ({}, {"attention_sink": sinks}, {"sliding_window_size": 256}):
                yield lambda: transformer.scaled_dot_product_attention_decode(
                    q, cache, cache, cur_pos_tensor=position, program_config=config(32, 128), **more
                )
            mask = on.tiles(8, 1, heads, 1024)
            yield lambda: transformer.scaled_dot_product_attention_decode(
                q, cache, cache, is_causal=False, attn_mask=mask
            )
    for users, heads in ((8, 16), (4, 32), (1, 8)):
        cache, q = on.tiles(users, 2, 1024, 64), on.tiles(1, users, heads, 64)
        position = on.rows(users, dtype="i32")
        for asked in (None, config(0, 0), config(32, 128)):
            yield (
                lambda: transformer.scaled_dot_product_attention_decode(
                    q, cache, cache, cur_pos_tensor=position, program_config=asked
                )
            )
        tables = on.rows(users, 32, dtype="i32")
        blocks = on.tiles(32 * users, 2, 32, 64, dtype="b8")
        yield (
            lambda: transformer.paged_scaled_dot_product_attention_decode(
                q, blocks, blocks, page_table_tensor=tables, cur_pos_tensor=position
            )
        )


def _tokens(on: Operands) -> Iterator[Callable[[], object]]:
    """Attention of a token with 16 heads, the most that take half a tile; and latent."""
    ttnn, transformer, grid = on.ttnn, on.ttnn.transformer, on.device.compute_with_storage_grid_size()
    config = ttnn.SDPAProgramConfig(compute_with_storage_grid_size=grid, q_chunk_size=32, k_chunk_size=128)
    q, cache, position = on.tiles(1, 8, 16, 96), on.tiles(8, 1, 1024, 96), on.rows(8, dtype="i32")
    for more in ({"attention_sink": on.tiles(16, 32)}, {"sliding_window_size": 256}):
        yield lambda: transformer.scaled_dot_product_attention_decode(
            q, cache, cache, cur_pos_tensor=position, program_config=config, **more
        )
    front, latents, values = on.tiles(1, 8, 16, 576), on.tiles(8, 1, 1024, 576), on.tiles(8, 1, 1024, 512)
    for others in ((), (values,)):
        yield lambda: transformer.flash_multi_latent_attention_decode(
            front, latents, *others, head_dim_v=512, cur_pos_tensor=position, program_config=config
        )
    if on.device.arch() == ttnn.Arch.BLACKHOLE:  # where whole sequences pass keys on, and these do not
        chunks = ttnn.SDPAProgramConfig(compute_with_storage_grid_size=grid, q_chunk_size=32, k_chunk_size=32)
        narrow = on.tiles(1, 8, 2048, 96)
        yield lambda: transformer.scaled_dot_product_attention(
            narrow, narrow, narrow, is_causal=True, sliding_window_size=128, program_config=chunks
        )


def _best(on: Operands) -> Iterator[Callable[[], object]]:
    ttnn = on.ttnn
    for width in (64, 1024, 8192, 16_384, 32_768, 65_536, 128_256, 96, 1056):
        for dtype in ("bf", "b8"):
            x = on.tiles(1, 1, 32, width, dtype=dtype)
            for kept in (32, 64):
                yield lambda: ttnn.topk(x, kept)
    for words in (32, 256, 1024):
        values, places = on.tiles(1, 1, 32, words), on.rows(1, 1, 32, words, dtype="i32")
        k, p = on.rows(32, dtype="u32"), on.rows(32)
        yield lambda: ttnn.sampling(values, places, k=k, p=p, temp=p)
