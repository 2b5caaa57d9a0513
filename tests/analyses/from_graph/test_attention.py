"""Attention and what stands around it against what dry captures of TTNN 0.81.1 showed on a mock Wormhole."""

import pytest

from tests.analyses.from_graph.programs import KERNEL, modelled, sharded, tensor

MEMORY = "MemoryConfig(memory_layout=TensorMemoryLayout::INTERLEAVED,buffer_type=BufferType::DRAM)"
SDPA = "SDPAParams(std::nullopt, {}, {}, {}, std::nullopt, std::nullopt, {}, 0)"
ASKED = "SDPAProgramConfig(<xy_pair>, std::nullopt, 128, 128, std::nullopt, 16, 1)"


def sdpa(config, causal, *, heads=8, rows=512, head=64, dtype="bf", **asked):
    q = tensor(1, heads, rows, head, dtype=dtype)
    printed = SDPA.format(MEMORY, config, causal, KERNEL.format(0, 0))
    return modelled("SDPAOperation", [q, q, q], q, attributes=printed, **asked)


@pytest.mark.parametrize(("causal", "measured"), [(0, 59_392), (1, 63_488)])
def test_attention_has_chunks_of_32_unless_asked(causal, measured):
    assert sdpa("std::nullopt", causal) == measured


def test_attention_follows_its_config():
    grid = "SDPAProgramConfig(compute_with_storage_grid_size=(x=8,y=8),q_chunk_size=128,k_chunk_size=128)"
    larger = sdpa(ASKED, 1, program_config=grid)
    assert larger > sdpa("std::nullopt", 1)
    assert sdpa(ASKED, 1) is None  # nobody prints its cores


def test_other_forms_of_attention_are_not_modelled():
    q = tensor(1, 8, 512, 64)
    windowed = SDPA.format(MEMORY, "std::nullopt", 1, "128, " + KERNEL.format(0, 0))
    assert modelled("SDPAOperation", [q, q, q], q, attributes=windowed) is None
    assert modelled("SDPAOperation", [q, q], q, attributes=SDPA.format(MEMORY, "std::nullopt", 1, "")) is None


@pytest.mark.parametrize(("head", "llama", "plain"), [(64, 51_200, 49_152), (128, 100_352, 90_112)])
def test_rotary_embeddings_count_heads(head, llama, plain):
    x, turn = tensor(1, 16, 512, head), tensor(1, 1, 512, head)
    assert modelled("RotaryEmbeddingLlamaDeviceOperation", [x, turn, turn], x) == llama
    assert modelled("RotaryEmbeddingDeviceOperation", [x, turn, turn], x) == plain
    held = sharded(1, 32, 32, head, layout="HEIGHT", shard=(32, head), cores=(8, 4))
    assert modelled("RotaryEmbeddingLlamaDeviceOperation", [held, held, held], held) == 3 * head // 32 * 2048


@pytest.mark.parametrize(
    ("head", "dtype", "users", "measured"),
    [(64, "b8", 32, 94_464), (128, "b8", 32, 184_832), (128, "bf", 32, 315_392), (128, "bf", 8, 118_784)],
)
def test_updating_a_cache_takes_a_row_of_every_user(head, dtype, users, measured):
    cache, new = tensor(users, 8, 512, head, dtype=dtype), tensor(1, users, 8, head)
    positions = tensor(1, users, dtype="f32", rows=True)
    found = modelled("PagedUpdateCacheDeviceOperation", [cache, new, positions], cache)
    assert measured <= found <= measured + 256


def test_filling_and_updating_whole_caches():
    cache, new, pages = (
        tensor(32, 8, 512, 128, dtype="b8"),
        tensor(1, 8, 256, 128, dtype="b8"),
        tensor(8, 8, rows=True),
    )
    assert 8704 <= modelled("PagedFillCacheDeviceOperation", [cache, new, pages], cache) <= 8704 + 64
    names = ("FillCacheMultiCoreProgramFactory", "UpdateCacheMultiCoreProgramFactory", "Other")
    found = [modelled("UpdateKVCacheOperation", [cache, new], cache, factory=name) for name in names]
    assert found == [2176, 230_912, None]
