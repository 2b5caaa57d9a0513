"""conv-cores-idle: idle cores count where the busiest core would do with fewer tiles, down to the roofline."""

import pytest

from tests.checks.asking import real_case
from tests.checks.conv_programs import (
    TUNED,
    put_conv,
    put_silent_conv,
    relu,
    with_conv,
    with_silent_conv,
    without_convs,
)
from tests.for_all import for_all
from tests.profiles import Iteration, Program, header_of, performance_rows, write_rows
from tests.shared_reports import DEEPLAB

# 64 x 8 tiles of output: 8 per core of an 8 x 8 grid, 6 of Blackhole's 11 x 10
ON_8_BY_8 = {"layout": "BLOCK", "grid": (8, 8), "channel_cores": 8, "per_core": (8, 1), "block": (8, 6)}


def fixed_grid(program):
    put_conv(program, **ON_8_BY_8)


def test_a_conv_on_a_fixed_grid_is_told_what_the_whole_grid_would_leave_its_busiest_core(check):
    claim = check.assert_sound(with_conv("blackhole", **ON_8_BY_8))
    assert "at line 3 uses 64 of 110; its busiest core would have 75% of its tiles" in claim.claim
    assert claim.at_most_ns.tolist() == [25_000]
    assert "shard_layout=ttnn.TensorMemoryLayout.BLOCK_SHARDED" in claim.fix
    assert "ttnn.CoreRange((0, 0), (10, 9))}), transpose_shards=True, act_block_h_override=192" in claim.fix
    assert {one.column: one.value for one in claim.evidence}["CORE COUNT"] == 64
    assert claim.caveat == "not with reshard_if_not_optimal; ttnn may round the grid to what channels divide into"
    assert "op_detail(op=3)" in claim.verify


@for_all(
    ("how", "transposed"),
    [
        ({"layout": "BLOCK", "per_core": (8, 1), "block": (8, 6), "channel_cores": 8}, True),  # 6 of 11, 7 of 10
        ({"layout": "BLOCK", "per_core": (5, 2), "block": (5, 6), "channel_cores": 8}, False),  # 4 either way
        ({"layout": "HEIGHT", "per_core": (8, 1), "block": (2, 6)}, False),
    ],
)
def test_rows_lie_along_the_columns_where_that_leaves_less(check, how, transposed):
    claims = check.ask(with_conv("blackhole", grid=(8, 8), **how)).claims
    assert ["transpose_shards" in claim.fix for claim in claims] == [transposed]


def test_cores_that_would_take_more_blocks_than_larger_ones_here_are_left_idle(check):
    """13 rows of tiles on a core are one block or thirteen: where the whole does not fit, 22 in two blocks are better."""
    rows = {"layout": "HEIGHT", "grid": (8, 8), "per_core": (22, 2), "allocated": 10_000}
    assert check.ask(with_conv("blackhole", **rows, inner=96, block=(11, 32))).status == "clean"
    assert check.ask(with_conv("blackhole", **rows, block=(11, 6))).fires


def test_one_percent_of_the_window_is_the_line(check):
    check.share_pair(fixed_grid, 0.01, of="saving", arch="blackhole")


def test_a_fifth_fewer_tiles_on_the_busiest_core_is_the_line(check):
    # 88 of 110 cores: 15 rows of tiles become 12 (0.80), 16 become 13 (0.81)
    check.pair(
        lambda down: with_conv("blackhole", grid=(11, 8), per_core=(down, 2), block=(down, 6)), silent=16, fires=15
    )


@for_all(
    "change",
    [{"grid": (8, 8), "per_core": (1, 2), "block": (1, 6)}, {"grid": (11, 9), "per_core": (8, 2), "block": (8, 6)}],
    ids=["64 tiles of rows cannot be cut further", "8 tiles stay 8 on 110 cores"],
)
def test_idle_cores_that_nothing_could_be_dealt_to_are_not_counted(check, change):
    assert check.ask(with_conv("blackhole", **change)).status == "clean"


def test_a_conv_on_all_cores_is_left_alone_even_if_its_tiles_are_more_than_it_needs(check):
    # 110 cores with 8 tiles each, of which the output's padding fills half
    whole = {"grid": (11, 10), "per_core": (8, 2), "block": (8, 6)}
    assert check.ask(with_conv("blackhole", **whole)).status == "clean"


def test_time_the_arithmetic_needs_is_not_promised(check):
    # 2048 x 256 outputs of 18432 products at HiFi4: on 110 cores at 1.35 GHz
    needed = 2 * 2048 * 256 * 18_432 * 4 / (110 * 4096 * 1.35)
    kernel_ns = round(needed / 0.9)
    outcome = check.ask(with_conv("blackhole", **ON_8_BY_8, inner=576, fidelity="HiFi4", kernel_ns=kernel_ns))
    assert outcome.claim.at_most_ns.tolist() == [pytest.approx(kernel_ns - needed, rel=1e-4)]


def test_the_heaviest_conv_is_the_example(check):
    program = with_conv("blackhole", **{**ON_8_BY_8, "kernel_ns": 50_000})
    put_conv(program, layout="HEIGHT", grid=(8, 8), per_core=(5, 2), block=(5, 6), kernel_ns=200_000)
    put_conv(program, grid=(11, 10), **TUNED)
    claim = check.ask(program).claim
    assert claim.rows.tolist() == [0, 1]
    assert "2 convs (250 us" in claim.claim
    assert "at line 6 uses 64 of 110; its busiest core would have 60% of its tiles" in claim.claim
    assert "HEIGHT_SHARDED" in claim.fix
    assert claim.at_most_ns.tolist() == [12_500, 80_000]


def test_a_conv_without_attributes_does_not_stand_in_the_way_of_others(check):
    program = with_conv("blackhole", **ON_8_BY_8)
    put_silent_conv(program)
    assert check.ask(program).claim.rows.tolist() == [0]


def test_without_a_stated_grid_the_most_cores_used_stand_for_it(check):
    program = Program("wormhole_b0")
    put_conv(program, grid=(4, 4), per_core=(8, 2), block=(8, 6))
    relu(program, program.tensor([1, 1, 2048, 64]))
    claim = check.ask(program, generation="C4").claim
    assert "uses 16 of 64" in claim.claim
    assert "most cores any op used" in claim.caveat


def test_without_core_counts_it_cannot_tell(check):
    outcome = check.ask(with_conv("blackhole", **ON_8_BY_8), without="CORE COUNT")
    assert outcome.status == "cannot_tell"
    assert "no CORE COUNT" in outcome.why


def test_a_conv_whose_own_core_count_is_missing_is_not_called_idle(check, tmp_path):
    program = with_conv("blackhole", **ON_8_BY_8)
    put_conv(program, grid=(11, 10), **TUNED)
    rows = performance_rows(program, [Iteration()])
    del rows[0]["CORE COUNT"]
    outcome = check.ask(write_rows(tmp_path / "ops_perf_results_1.csv", rows, header_of(rows, "C7")))
    assert outcome.status == "clean"


def test_a_compilers_user_is_told_the_compilers_option(check):
    program = with_conv("blackhole", **ON_8_BY_8)
    relu(program, program.tensor([1, 1, 4096, 64]))  # on all cores
    claim = check.ask(program, generation="tt-torch").claim
    assert "optimization_level" in claim.fix
    assert "Conv2dConfig" not in claim.fix


def test_nothing_to_judge(check):
    none = check.ask(without_convs())
    assert none.status == "not_applicable"
    assert "Conv2d" in none.why
    silent = check.ask(with_silent_conv())
    assert silent.status == "cannot_tell"
    assert "ATTRIBUTES" in silent.why
    assert check.ask(with_conv(**TUNED)).status == "clean"


def test_deeplabs_fixed_8_by_8_grid_leaves_46_cores_idle(check):
    assert "64 of 110" in check.ask(real_case(DEEPLAB)).claim.claim


def test_a_window_without_any_kernel_time_breaks_nothing(check):
    assert check.ask(with_conv(**TUNED, kernel_ns=0)).status == "clean"
