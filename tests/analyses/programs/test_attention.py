"""Buffers of prefill attention against what TTNN 0.81.1 allocates on a Blackhole mock device, to the byte."""

from __future__ import annotations

from tests.for_all import for_all
from ttnn_mcp.analyses.programs.attention import Attention
from ttnn_mcp.hardware import TILE_BYTES


def buffers_of(grid, *, keys="BFLOAT16", head=128, fp32=False, chunks=(128, 128)):
    """Bytes per core of four causal heads of 1024 rows."""
    tile, narrow = TILE_BYTES["BFLOAT16"], TILE_BYTES[keys]
    plan = Attention(
        heads=4,
        rows=1024,
        keys=1024,
        head=head,
        value_head=head,
        q_bytes=tile,
        k_bytes=narrow,
        v_bytes=narrow,
        out_bytes=tile,
        grid=grid,
        device_grid=(13, 10),
        q_chunk=chunks[0],
        k_chunk=chunks[1],
        fp32=fp32,
        chains=True,
    )
    return sum(plan.buffers.values())


@for_all(
    ("how", "without", "with_chain"),
    [
        ({}, ((10, 3), 378_880), ((8, 4), 444_544)),
        ({"head": 96}, ((9, 7), 305_152), ((8, 8), 354_432)),
        ({"keys": "BFLOAT8_B"}, ((9, 7), 317_440), ((8, 8), 352_384)),
        ({"fp32": True}, ((9, 7), 425_984), ((8, 8), 491_648)),
    ],
    ids=["wide heads", "narrow heads", "keys of eight bits", "sums in FLOAT32"],
)
def test_cores_that_pass_keys_on_hold_a_third_chunk(how, without, with_chain):
    assert [buffers_of(grid, **how) for grid, _ in (without, with_chain)] == [without[1], with_chain[1]]


def test_keys_of_eight_bits_are_not_passed_on_where_sums_are_float32():
    assert buffers_of((13, 10), keys="BFLOAT8_B", fp32=True) == 364_544


@for_all(
    ("head", "chunks", "size"),
    [(160, (128, 128), 432_128), (160, (96, 32), 231_424), (288, (96, 32), 415_744)],
    ids=["five tiles do not halve", "nor in an odd chunk", "nine tiles in threes, two rows at a time"],
)
def test_the_output_is_written_in_sub_blocks_that_cut_it_evenly(head, chunks, size):
    assert buffers_of((4, 4), head=head, chunks=chunks) == size
