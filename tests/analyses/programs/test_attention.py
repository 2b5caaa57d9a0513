"""Buffers of prefill attention against what TTNN 0.81.1 allocates on a Blackhole mock device, to the byte."""

from __future__ import annotations

from tests.for_all import for_all
from ttnn_mcp.analyses.programs.attention import Attention
from ttnn_mcp.hardware import TILE_BYTES


def attention(
    grid=(13, 10), *, rows=1024, keys="BFLOAT16", head=128, fp32=False, chunks=(128, 128), mask_bytes=0.0
):
    """Four causal heads."""
    tile, narrow = TILE_BYTES["BFLOAT16"], TILE_BYTES[keys]
    return Attention(
        heads=4,
        rows=rows,
        keys=rows,
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
        mask_bytes=mask_bytes,
        chains=True,
    )


def buffers_of(grid, **how):
    """Bytes per core."""
    return sum(attention(grid, **how).buffers.values())


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


@for_all(("rows", "chunks", "tiles"), [(768, (96, 96), 3), (1024, (128, 256), 8)])
def test_a_third_chunk_is_for_queries_of_three_tiles_and_keys_of_eight(rows, chunks, tiles):
    """No chunk is where pairs read other numbers of keys; rows of values that fill DST together are written at once."""
    assert attention(rows=768, chunks=(96, 256)).buffers["CHAIN"] == 0
    assert attention(rows=rows, chunks=chunks).buffers["K"] == 3 * tiles * 4 * 2048

    assert attention(head=256).buffers["OUT"] == 4 * 8 * 2048


def test_older_builds_take_a_mask_of_all_scores_and_the_whole_output():
    """The mask is of 8 x 4 tiles in four bits, twice, now of two tiles; of the output 4 rows are held now."""
    assert attention(chunks=(256, 128)).older_bytes == (2 * 8 * 4 * 576 - 2 * 2048) + (8 - 4) * 4 * 2048


def test_a_mask_beside_a_causal_one_and_a_grid_of_no_cores_are_refused():
    def broken(plan):
        return [rule for rule, holds in plan.rules().items() if not holds]

    assert broken(attention(mask_bytes=2048)) == ["causal: no mask beside it"]
    assert broken(attention((0, 8))) == ["at most the 130 cores of the chip"]
    assert broken(attention()) == []


def test_keys_of_eight_bits_are_not_passed_on_where_sums_are_float32():
    assert buffers_of((13, 10), keys="BFLOAT8_B", fp32=True) == 364_544


@for_all(
    ("head", "chunks", "size"),
    [(160, (128, 128), 432_128), (160, (96, 32), 231_424), (288, (96, 32), 415_744)],
    ids=["five tiles do not halve", "nor in an odd chunk", "nine tiles in threes, two rows at a time"],
)
def test_the_output_is_written_in_sub_blocks_that_cut_it_evenly(head, chunks, size):
    assert buffers_of((4, 4), head=head, chunks=chunks) == size
