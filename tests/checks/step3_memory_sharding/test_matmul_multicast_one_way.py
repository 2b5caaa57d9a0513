"""matmul-multicast-one-way: 1D configs over many rows, each against its roofline."""

from __future__ import annotations

from tests.checks.matmul_programs import multicast, one_way
from tests.for_all import for_all
from tests.profiles import width_sharded


def test_a_1d_config_over_four_rows_of_tiles_is_told_to_try_2d(check):
    outcome = check.pair(lambda m: one_way(m=m), silent=96, fires=128)
    claim = outcome.claim
    assert claim.claim.startswith(
        "1 matmul multicasts one way (1D) over 4 rows of tiles and more and reaches 19% of"
    )
    assert claim.fix.startswith(
        "ttnn.MatmulMultiCoreReuseMultiCastProgramConfig(compute_with_storage_grid_size=(8, 8)"
    )
    assert 43_000 <= outcome.at_most_ns <= 5 * 43_000
    check.assert_sound(one_way())


def test_a_1d_config_is_well_used_from_35_percent_on(check):
    needed = float(check.case(one_way()).roofline.dram_achievable_ns[0])
    check.pair(lambda share: one_way(kernel_ns=round(needed / share)), silent=0.352, fires=0.348)


@for_all(
    "change",
    [{"mcast": "mcast_in0=0"}, {"ring": ",gather_in0=1"}, {"name": "MatmulMultiCoreReuseMultiCastProgramConfig"},
     {"into": width_sharded(128, 64, (8, 4))}],
    ids=str,
)  # fmt: skip
def test_a_config_that_multicasts_another_way_is_none(check, change):
    assert check.ask(one_way(**change)).status == "clean"


def test_one_percent_of_the_window_is_worth_telling(check):
    check.share_pair(multicast, 0.01, of="saving")
