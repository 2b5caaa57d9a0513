"""Laws of matmuls: what more work costs, and measurements that intervals hold."""

from dataclasses import replace

import pytest

from tests.analyses.laws.asked import DRAM, banked, experts, holds, many_rows, spread, us
from tests.for_all import for_all
from ttnn_mcp.analyses.laws.catalogue import expected
from ttnn_mcp.analyses.laws.matmuls import MATMULS, as_chosen, busiest, evenly

L1 = "L1_INTERLEAVED"
CHIPS = for_all("chip", ["wormhole_b0", "blackhole"])


@CHIPS
def test_weights_are_padded_to_the_banks(chip):
    """64 tiles of N are 6 columns on each of 12 banks, as 72 are; on 8 banks they are 8 and 9."""
    padded = us(banked(chip, n=2048)), us(banked(chip, n=2304))
    assert (padded[0] == padded[1]) == (chip == "wormhole_b0")


@CHIPS
@for_all("kind", [banked, spread])
def test_smaller_k_blocks_cost_time(chip, kind):
    blocks = [us(kind(chip, k=3584, n=3584, block_w=width)) for width in (14, 7, 2)]
    assert blocks == sorted(blocks)
    assert blocks[-1] > blocks[0]


@CHIPS
@for_all("kind", [banked, spread])
def test_more_of_anything_never_takes_less(chip, kind):
    for side in ("k", "n"):
        times = [us(kind(chip, block_w=8, **{side: size})) for size in (2048, 3072, 4096, 8192)]
        assert times == sorted(times)


def test_passes_cost_time_where_one_core_per_bank_multiplies():
    assert us(banked("blackhole", fidelity="HiFi2")) > 1.3 * us(banked("blackhole", fidelity="LoFi"))
    assert us(banked(fidelity="HiFi2")) < 1.1 * us(banked(fidelity="LoFi"))


@for_all(
    ("op", "measured_us"),
    [
        (banked(k=14336, n=4096, block_w=14), 252.721),
        (banked(k=18944, n=3584, block_w=2), 538.695),
        (banked("blackhole", k=11008, n=2048, block_w=1), 235.4),
        (banked("blackhole", k=14336, n=4096, block_w=14, fidelity="LoFi"), 127.8),
        (spread(k=8960, n=1536, block_w=2, per_core_n=1), 173.687),  # TTNN's choice: 140 K blocks
        (spread(k=8192, n=2048, per_core_n=1), 83.427),
        (spread("blackhole", k=4096, n=14336, block_w=8, cores=90), 160.5),
        (spread("blackhole", k=2560, n=32768, block_w=2, cores=110, fidelity="HiFi2"), 236.7),
        (spread("blackhole", k=2048, n=2048, per_core_n=1), 12.8),
        (experts(), 62.0),
        (experts(128), 1042.0),
        (
            experts(8, 128, k=160, n=4096, in1_dtype="BFLOAT8_B", block_w=5, per_core_n=4, subblock_w=4, cores=32),
            106.0,
        ),
        (
            experts(8, 128, k=160, n=4096, in1_dtype="BFLOAT8_B", block_w=5, per_core_n=4, subblock_w=1, cores=32),
            133.2,
        ),
    ],
)
def test_decode_matmuls_take_what_was_measured(op, measured_us):
    assert holds(op, measured_us)


def test_experts_run_one_after_the_other_and_slots_are_looked_at_where_nobody_tells_which():
    one, few, most = us(experts(1)), us(experts(4)), us(experts(64))
    assert (few, most) == pytest.approx((4 * one, 64 * one))
    assert us(experts(4, 64)) > few + 30
    assert us(experts(4, 64, cores=12)) - us(experts(4, cores=12)) < us(experts(4, 64)) - few
    assert us(experts(4, 64)) < most


def test_subblocks_of_experts_cost_time_and_an_unknown_one_or_number_of_experts_silences_the_law():
    times = [us(experts(per_core_n=4, cores=12, subblock_w=wide)) for wide in (1, 2, 4)]
    assert times == sorted(times, reverse=True)
    assert expected(experts(per_core_n=4, cores=12)) is None
    assert expected(experts(None, 64)) is None
    assert expected(experts(per_core_n=None)) is None
    assert expected(experts(8, cores=None)) is None


CHOSEN = {"in0_place": DRAM, "out_place": DRAM}


@for_all(
    ("how", "chosen"),
    [
        ({"k": 4096, "n": 2048, "cores": 64, **CHOSEN}, (2, 1, 1)),
        ({"k": 4096, "n": 12288, "cores": 96, **CHOSEN}, (2, 1, 4)),
        ({"k": 2240, "n": 256, "cores": 8, **CHOSEN}, (2, 1, 1)),
        ({"k": 224, "n": 256, "cores": 8, **CHOSEN}, (1, 1, 1)),  # an odd number of tiles
        ({"n": 2048, "cores": None, "grid": (11, 10), **CHOSEN}, (2, 1, 1)),
        ({"n": 288, "cores": 9, **CHOSEN, "in0_place": L1}, (2, 1, 1)),
        ({"n": 64 * 8 * 32, "cores": 64, **CHOSEN, "out_place": L1}, (2, 1, 8)),
    ],
)
def test_of_one_row_left_to_ttnn_the_blocks_are_known(how, chosen):
    """As captured on mock devices of TTNN 0.81.1."""
    op = as_chosen(replace(spread(), program="AUTO", block_w=None, **how))
    assert (op.program, (op.block_w, op.per_core_m, op.per_core_n)) == ("1D", chosen)


@for_all(
    "how",
    [
        {"rows": 33},
        {"batch": 2},
        {"cores": None},
        {"in0_place": "L1_WIDTH_SHARDED"},
        {"out_place": "L1_WIDTH_SHARDED"},
        {"n": 256, "cores": 8, "in0_place": L1},  # tile by tile
        {"n": 64 * 8 * 32 + 32, "cores": 64, "out_place": L1},
        {"program": "2D"},
    ],
)
def test_of_others_left_to_ttnn_they_are_not(how):
    op = replace(spread(), **{"program": "AUTO", "block_w": None, **CHOSEN, **how})
    assert as_chosen(op) is op


def test_a_core_requests_its_tiles_one_by_one():
    """56 columns of 128 tiles on each of 8 cores took 245 us; none of it is reading."""
    assert us(spread("blackhole", n=14336, block_w=4, cores=8)) == pytest.approx(245, rel=0.15)


def test_a_block_of_k_costs_more_the_more_cores_get_it():
    """Of one column of tiles each: 64 blocks, 0.005 us for each of 32 cores more."""
    few, many = (us(spread("blackhole", n=32 * cores, block_w=2, cores=cores)) for cores in (64, 96))
    assert 5 < many - few < 15


def test_weights_in_four_bits_are_read_as_800_bytes_a_tile_and_float32_inputs_are_not_told():
    """1088 bytes are read in 1.36 times as long; dots.ocr's FLOAT32 took up to four times as long."""
    wide, narrow = (
        us(spread("blackhole", n=32768, cores=110, in1_dtype=dtype)) for dtype in ("BFLOAT8_B", "BFLOAT4_B")
    )
    assert 1.25 < wide / narrow < 1.36
    assert expected(spread("blackhole", in0_dtype="FLOAT32")) is None


def test_a_decode_matmul_has_one_row_of_tiles():
    for kind in (banked, spread):
        assert expected(kind(rows=33)) is None
    assert expected(spread(cores=None)) is None
    assert expected(replace(spread(), in1_place="L1_INTERLEAVED")) is None


@CHIPS
def test_more_rows_and_fewer_cores_cost_time(chip):
    times = [us(many_rows(chip, rows=rows)) for rows in (1024, 2048, 4096)]
    assert times == sorted(times)
    blocks = {"per_core_m": 8, "per_core_n": 16}
    assert us(many_rows(chip, **blocks)) > us(many_rows(chip))
    assert us(many_rows(chip, fidelity="HiFi4")) > us(many_rows(chip))


def test_a_program_of_many_rows_needs_its_cores():
    assert expected(many_rows(grid=None)) is None
    assert us(many_rows("wormhole_b0", grid=None, per_core_m=8, per_core_n=8)) == us(many_rows("wormhole_b0"))
    assert expected(many_rows(in0_place="L1_HEIGHT_SHARDED")) is None
    assert expected(many_rows(rows=32)) is None


@for_all("known", [{"per_core_m": 2}, {"per_core_n": 2}, {}])
def test_rows_and_columns_of_a_core_follow_from_the_grid_unless_both_are_told(known):
    assert busiest(many_rows(**known)) == (8, 8)
    assert busiest(many_rows(per_core_m=2, per_core_n=16)) == (2, 16)


@for_all("grid", [(0, 8), (8, 0), None])
def test_a_grid_without_cores_divides_nothing(grid):
    assert evenly(many_rows(program="AUTO", grid=grid)) is None
    assert evenly(many_rows(program="AUTO", rows=160, n=224, cores=7)) == (5, 1)  # all in one row


def test_results_in_dram_are_written_last():
    kept = us(many_rows("wormhole_b0", out_place="L1_BLOCK_SHARDED"))
    assert us(many_rows("wormhole_b0")) > kept + 2048 * 2048 * 2 / 288e3


def test_what_ttnn_chose_is_known_only_where_cores_divide_the_tiles():
    """DeepLab's 2048 x 1024 x 2048 on 110 cores of a P100 took 108 us, on a grid that divides it 41 are expected."""
    formats = dict.fromkeys(("in0_dtype", "in1_dtype", "out_dtype"), "BFLOAT8_B")
    chosen = {"program": "AUTO", "k": 1024, "fidelity": "LoFi", "cores": 110, "grid": None, **formats}
    assert expected(many_rows(rows=2048, n=2048, **chosen)) is None
    assert us(many_rows(rows=2080, n=2112, **chosen)) == pytest.approx(
        43, rel=0.05
    )  # 65 x 66 tiles over 5 x 22 or 10 x 11
    assert expected(many_rows(program="AUTO", cores=None, grid=None)) is None
    assert us(many_rows("wormhole_b0", program="AUTO")) == us(many_rows("wormhole_b0", program="AUTO", cores=64))


@for_all(("k", "n", "measured_us"), [(1280, 1280, 61.1), (1280, 5120, 186.8), (5120, 1280, 175.8)])
def test_minimal_matmuls_of_a_report_that_no_fit_saw_take_what_it_shows(k, n, measured_us):
    """tt-perf-report's wh_clip_encoder_2: HiFi4, one row of tiles."""
    op = many_rows("wormhole_b0", program="MINIMAL", rows=32, k=k, n=n, fidelity="HiFi4")
    assert holds(op, measured_us)
    assert expected(replace(op, grid=None)) is None


def test_the_longer_side_of_a_minimal_matmul_is_divided_over_columns():
    wide, tall = {"rows": 1024, "n": 4096}, {"rows": 4096, "n": 1024}
    assert us(many_rows(program="MINIMAL", grid=(12, 9), **wide)) == pytest.approx(
        us(many_rows(program="MINIMAL", grid=(12, 9), **tall)), rel=0.01
    )


def height_sharded(**how):
    asked = {"rows": 1280, "k": 288, "n": 288, "cores": 10, "in0_place": "L1_HEIGHT_SHARDED", "in1_place": DRAM}
    return many_rows("wormhole_b0", program="1D", **{**asked, "fidelity": "", **how})


PRODUCT_US = 16 / 1e3 / 1.35  # of two tiles in one pass, on a Blackhole
SIDE = 64  # tiles of 2048
READ_US = 2 * SIDE**2 * 2048 / 512e3  # both operands in DRAM


@for_all(
    ("law", "op", "factors"),
    [
        (
            "matmul of many rows, 2D",
            many_rows(per_core_m=4, per_core_n=8),
            (1, 2 * 64 * 32 * PRODUCT_US, 2 * 64 * 32 * PRODUCT_US, READ_US / 2, 64 * (4 + 8), 64 * 4 * 8 / 1e3),
        ),
        (
            "decode matmul, interleaved weights (1D)",
            spread("blackhole", n=2048, per_core_n=2),
            # 16 K blocks for 32 cores, and 128 x 2 requests of 46 cycles
            (1, 16 * (0.75 + 32 * 0.005) + 256 * 46 / 1350, 128 * 64 * 1088 / 512e3 / 0.85, 256 * PRODUCT_US),
        ),
        (
            "minimal matmul",
            many_rows(program="MINIMAL", rows=1024, grid=(12, 9)),  # 64 columns over 12 cores, 32 rows over 9
            (1, 2 * 64 * 24 * PRODUCT_US, READ_US, 64 * (6 + 4), 24),
        ),
        ("matmul of a height-sharded input", height_sharded(), (1, 4 * 9 * 9, 4 * 9, 9 * 9, 4 * 9)),
    ],
    ids=lambda each: each if isinstance(each, str) else "",
)
def test_what_a_law_counts_by_hand(law, op, factors):
    assert next(one for one in MATMULS if one.name == law).factors(op) == pytest.approx(factors)
    assert many_rows().dram_bytes == 3 * SIDE**2 * 2048


def test_height_sharded_rows_are_computed_where_they_lie():
    times = [us(height_sharded(cores=cores)) for cores in (40, 20, 10, 5)]
    assert times == sorted(times)
    assert expected(height_sharded(cores=None)) is None
    assert expected(height_sharded(in0_place=DRAM)) is None
