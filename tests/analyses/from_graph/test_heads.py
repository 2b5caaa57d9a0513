"""Ops around attention against what dry captures of TTNN 0.81.1 showed on a mock Wormhole."""

from dataclasses import replace

import pytest

from tests.analyses.from_graph.programs import WORMHOLE, modelled, sharded, tensor

BLACKHOLE = replace(WORMHOLE, grid=(13, 10), arch="blackhole")
CREATE, JOIN, HF = (
    "NlpCreateHeadsDeviceOperation",
    "NLPConcatHeadsDeviceOperation",
    "RotaryEmbeddingHfDeviceOperation",
)
FUSED, PAGED = "PagedFusedUpdateCacheDeviceOperation", "PagedUpdateCacheDeviceOperation"
SPLIT = "operation_attributes_t(8, 2, {}, {}, 0, "


def held(users, head, cores, dtype="bf"):
    return sharded(1, users, 32, head, layout="HEIGHT", shard=(32, head), cores=cores, dtype=dtype)


def words(*shape):
    return tensor(*shape, dtype="f32", rows=True)


@pytest.mark.parametrize(("width", "turned", "measured"), [(256, 0, 32_768), (64, 0, 8192), (96, 1, 24_576)])
def test_a_head_is_read_whole_unless_keys_are_turned(width, turned, measured):
    x, out = tensor(1, 1, 256, 12 * width), tensor(1, 8, 256, width)
    assert modelled(CREATE, [x], out, factory="Interleaved", attributes=SPLIT.format(width, turned)) == measured


def test_before_factories_were_printed_turned_keys_took_a_head_three_times():
    x, queries, keys = tensor(1, 1, 256, 2304), tensor(1, 8, 256, 192), tensor(1, 2, 192, 256)
    told = [SPLIT.format(192, turned) for turned in (1, 0)]
    once, thrice = 2 * 6 * 2048, 3 * 2 * 6 * 2048
    assert [modelled(CREATE, [x], (queries, keys), attributes=text) for text in told] == [thrice, once]
    assert modelled(CREATE, [x], (queries, keys)) == thrice  # nobody prints whether: the most


def test_heads_in_shards_are_joined_where_they_lie():
    x = sharded(1, 8, 32, 64, layout="HEIGHT", shard=(32, 64), cores=(8, 1))
    shards = sharded(1, 1, 32, 512, layout="WIDTH", shard=(32, 64), cores=(8, 1))
    plain, out = tensor(1, 8, 32, 64), tensor(1, 1, 32, 512)
    found = [modelled(JOIN, [one], gives) for one, gives in ((x, shards), (x, out), (plain, shards), (plain, out))]
    assert found == [0, 65_536, 65_536, 65_536]
    assert modelled(JOIN, [tensor(256, 64)], tensor(256, 64)) == 8192  # a single head


@pytest.mark.parametrize(("head", "token", "prompt", "out_of_shards"), [(64, 14_336, 32_768, 40_960)])
def test_rotary_embeddings_of_a_token_work_on_shards(head, token, prompt, out_of_shards):
    x, turn = held(32, head, (8, 4)), tensor(1, 1, 32, head)
    assert modelled(HF, [x, x, x], x, factory="RotaryEmbeddingHfMultiCoreSharded") == token
    many = "RotaryEmbeddingHfMultiCore"
    assert modelled(HF, [x, turn, turn], x, factory=many) == prompt
    assert modelled(HF, [x, turn, turn], tensor(1, 32, 32, head), factory=many) == out_of_shards
    assert modelled(HF, [x, x, x], x) == token
    assert modelled(HF, [turn] * 3, turn) == modelled(HF, [turn] * 3, turn, factory=many) == 49_152


@pytest.mark.parametrize(
    ("users", "head", "dtype", "more", "measured"),
    [
        (8, 64, "bf", [words(1, 8)], 57_376),
        (8, 128, "b8", [words(1, 8), words(8, 4)], 76_352),
        (16, 64, "bf", [words(1, 16), words(16, 4)], 90_208),
        (32, 64, "bf", [words(1, 32)], 155_776),
    ],
)
def test_two_caches_are_updated_at_once(users, head, dtype, more, measured):
    cache, new = tensor(users, 1, 1024, head, dtype=dtype), held(users, head, (8, users // 8))
    assert modelled(FUSED, [cache, new, cache, new, *more], ()) == measured
    assert modelled(FUSED, [cache, new, cache], ()) is None
    wide = modelled(FUSED, [cache, new, cache, new, *more], (), machine=BLACKHOLE)
    assert wide == measured + sum(-(-one.row_bytes // 64) * 64 - -(-one.row_bytes // 32) * 32 for one in more)


def test_an_update_needs_what_is_new():
    cache = tensor(8, 1, 1024, 64)
    assert modelled(PAGED, [cache], cache) is None
    assert modelled("UpdateKVCacheOperation", [cache], cache, factory="FillCacheMultiCoreProgramFactory") is None
    new, positions = held(8, 64, (8, 1)), words(1, 8)
    assert 61_440 <= modelled(PAGED, [cache, new, positions], cache) <= 61_440 + 64
