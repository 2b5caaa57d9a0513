"""Laws of attention: chunks, the cache, and measurements that intervals hold."""

from dataclasses import replace

import pytest

from tests.analyses.laws.asked import decode, holds, prefill, us
from tests.for_all import for_all
from ttnn_mcp.analyses.laws import attention
from ttnn_mcp.analyses.laws.attention import steps
from ttnn_mcp.analyses.laws.catalogue import expected
from ttnn_mcp.hardware import ARCHITECTURES


def test_causal_chunks_are_dealt_in_pairs_that_see_as_many_keys():
    """tt-metal #55766: the wall of S = 4096 has 165 steps at chunks of 128 on 110 cores."""
    assert steps(prefill(), 128, 128, 110) == (165, 32 * 528)
    assert steps(replace(prefill(), causal=False), 128, 128, 110) == (10 * 32, 32 * 32 * 32)


@for_all(("chunk", "measured_us"), [((128, 128), 1835), ((256, 256), 1284)])
def test_larger_chunks_of_queries_fetch_keys_fewer_times(chunk, measured_us):
    op = prefill(q_chunk=chunk[0], k_chunk=chunk[1])
    assert holds(op, measured_us)
    assert us(prefill(q_chunk=64)) > us(prefill()) > us(prefill(q_chunk=256))


def test_causal_attention_takes_less_and_more_keys_take_more():
    assert us(prefill()) < us(prefill(causal=False))
    assert us(prefill(queries=2048, keys=2048)) < us(prefill())


@for_all(
    "how",
    [{"q_chunk": None}, {"k_chunk": None}, {"cores": None}, {"fidelity": ""}],
    ids=lambda how: next(iter(how)),
)
def test_prefill_without_its_chunks_cores_or_fidelity_has_no_answer(how):
    assert expected(replace(prefill(), **how)) is None


@for_all(
    ("op", "measured_us"),
    [
        (decode(kv_dtype="BFLOAT16"), 748),
        (decode(), 416),
        (decode(kv_dtype="BFLOAT4_B"), 327),
        (decode(batch=32, keys=1024, cores=64), 268.3),
        (decode(batch=1, heads=16, kv_heads=2, keys=8184, head_size=256, cores=64), 59.1),  # of them 32 at work
    ],
)
def test_decode_takes_what_was_measured(op, measured_us):
    assert holds(op, measured_us)


def test_of_a_decode_sixteen_cores_work_for_a_group_of_heads():
    few = [us(decode(batch=1, kv_heads=2, cores=cores)) for cores in (16, 32, 64)]
    assert few[0] > few[1] == few[2]


def test_decode_reads_its_cache_once_and_starts_once_per_user_of_a_core():
    assert us(decode(keys=16384)) == pytest.approx(2 * us(decode()), rel=0.05)
    short = {"keys": 128, "cores": 64}
    assert us(decode(batch=32, **short)) > 3 * us(decode(**short))


@for_all("how", [{"kv_dtype": ""}, {"cores": None}], ids=lambda how: next(iter(how)))
def test_decode_without_its_cache_or_cores_has_no_answer(how):
    assert expected(replace(decode(), **how)) is None


def test_what_a_chunk_of_one_tile_multiplies_and_fetches():
    """One core: two products of 16 cycles, a tile of scores, a tile of keys and one of values."""
    op = prefill("wormhole_b0", heads=1, kv_heads=1, queries=32, keys=32, head_size=32, cores=1, causal=False)
    op = replace(op, q_chunk=32, k_chunk=32, fidelity="LoFi")
    fetched = 2 * 1088 / 1e3 / 288 / ARCHITECTURES["wormhole_b0"].dram_achievable_share
    assert attention.prefill(op) == pytest.approx((1.0, 0.032, 0.001, fetched))


def test_a_tile_of_the_cache_costs_two_hundred_and_fifty_cycles_and_pairs_are_multiplied_twice():
    op = decode("wormhole_b0", batch=1, heads=1, kv_heads=1, keys=32, head_size=32, cores=1)
    assert attention.decode(op) == pytest.approx((1.0, 2 * 0.25))
    assert attention.decode(replace(op, heads=33)) == pytest.approx((1.0, 2 * 2 * 0.25))  # two tiles of heads
    # eight users, eight heads of keys and values, 256 tiles of 8192 positions by 4 of 128 columns, from DRAM
    assert attention.decode(decode()) == pytest.approx((1.0, 8 * 8 * 2 * 256 * 4 * 1088 / 512e3 / 0.85))
    assert prefill().products == 2 * replace(prefill(), queries=2048).products == 32 * 128 * 128 / 2 * (4 + 4)
    assert replace(prefill(), causal=False).products == 2 * prefill().products
    assert decode().products == 0
