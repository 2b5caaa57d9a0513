"""Laws of norms, element-wise ops, collectives and moves."""

from dataclasses import replace

import pytest

from tests.analyses.laws.asked import DRAM, addition, holds, move, norm, us
from tests.for_all import for_all
from ttnn_mcp.analyses.laws import others
from ttnn_mcp.analyses.laws.catalogue import expected
from ttnn_mcp.analyses.laws.law import fitted_laws
from ttnn_mcp.analyses.laws.others import CollectiveDescription


@for_all(
    ("block", "measured_us"), [((3, 4), 19.03), ((3, 8), 22.5), ((6, 4), 29.68), ((9, 4), 39.7), ((18, 4), 68.64)]
)
def test_sharded_norms_take_what_was_measured(block, measured_us):
    assert holds(norm(block_h=block[0], block_w=block[1]), measured_us)


def test_nine_microseconds_of_a_sharded_norm_stay_whatever_the_cores():
    coefficients = fitted_laws()["norm, sharded"]["wormhole_b0"].coefficients
    assert 8 < coefficients[0] < 10


@for_all("how", [{"block_h": None}, {"block_w": None}, {"residual": True}, {"in_place": DRAM}])
def test_a_norm_without_its_block_has_no_answer(how):
    assert expected(replace(norm(), **how)) is None


def test_interleaved_norms_divide_rows_of_tiles():
    op = replace(norm("blackhole"), block_h=None, dtype="BFLOAT8_B", in_place=DRAM, out_place=DRAM)
    op = replace(op, rows=16384, width=2560, cores=110)
    assert holds(op, 259.7)
    assert us(op) > us(replace(op, rows=8192))
    assert expected(replace(op, cores=None)) is None
    assert expected(replace(op, in_place="L1_INTERLEAVED")) is None


def test_additions_move_their_bytes():
    assert holds(addition(), 76.4)
    assert us(addition(dtype="BFLOAT16")) > 1.5 * us(addition())
    for how in ({"kind": "pow"}, {"inputs": 1}, {"fused": "SILU"}, {"cores": None}, {"cores": 20}):
        assert expected(replace(addition(), **how)) is None


def test_exponentials_are_the_vector_units():
    op = addition("wormhole_b0", kind="exp", inputs=1, dtype="BFLOAT16", tiles=1375, cores=64)
    assert holds(op, 43.15)
    assert us(replace(op, tiles=1408)) == us(op) < us(replace(op, tiles=1409))
    for how in ({"kind": "erf"}, {"inputs": 2}, {"cores": None}):
        assert expected(replace(op, **how)) is None


def gather(**how):
    asked = {"devices": 4, "size": 24_686_592.0, "links": 4, "topology": "ring", **how}
    return CollectiveDescription("wormhole_b0", kind="all_gather", **asked)


def test_a_gather_takes_its_bytes_over_its_links():
    assert holds(gather(), 1281)
    assert us(gather(size=36_728_832.0)) == pytest.approx(1.5 * us(gather()), rel=0.02)
    for how in ({"links": None}, {"topology": ""}, {"topology": "linear"}, {"devices": 8}):
        assert expected(replace(gather(), **how)) is None
    assert expected(replace(gather(), kind="reduce_scatter")) is None


def test_what_a_law_counts_by_hand():
    """On a Blackhole of 1.35 GHz: 1000 cycles take 0.74 us."""
    interleaved = replace(norm("blackhole", in_place=DRAM), out_place=DRAM, cores=5, residual=True)
    assert others.sharded_norm(norm("blackhole")) == pytest.approx((1, 3 / 1.35, 3 * 4 / 1.35))
    assert others.interleaved_norm(interleaved) == pytest.approx((1, 4 * 32 / 1.35, 3 * 18 * 32 * 2048 / 512e3))
    assert others.exponential(addition(kind="exp", inputs=1)) == pytest.approx((1, 94 / 1.35))
    assert others.gather(gather())[:2] == (1, 3)


@for_all(
    ("op", "measured_us"),
    [
        (move("tilize", rows=4096, width=768), 74),
        (move("untilize", rows=128, width=256), 7.577),
        (move("untilize", rows=1440, width=192, ragged=True, to_place="L1_INTERLEAVED"), 16.727),
        (move("untilize", "blackhole", rows=96, width=64, ragged=True, cores=110), 9.756),
        (move("clone", "blackhole", rows=16384, width=2560, dtype="BFLOAT16"), 413.2),
        (move("to_shards", rows=2048, width=4608, dtype="BFLOAT16", to_place="L1"), 72.22),
    ],
)
def test_moves_take_what_was_measured(op, measured_us):
    assert holds(op, measured_us)


def test_padding_that_is_left_away_costs_time():
    op = move("untilize", rows=256, width=192)
    assert us(replace(op, ragged=True)) > us(op) + 5


def test_moves_that_are_divided_need_their_cores():
    op = move("to_shards", rows=2048, width=4608, dtype="BFLOAT16", to_place="L1")
    assert us(replace(op, cores=52)) > us(op)
    for each in (op, move("untilize", rows=128, width=256)):
        assert expected(replace(each, cores=None)) is None
