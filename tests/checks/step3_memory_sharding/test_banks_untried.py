"""banks-untried: interleaved weights of decode matmuls over the banks, and back, as a trial."""

from __future__ import annotations

import pytest

from tests.checks.matmul_programs import decoding, of_decoding
from tests.checks.step3_memory_sharding.test_decode_matmul_bandwidth import on_blackhole
from tests.profiles import DRAM

PEAK_GB_S = 288


def test_what_no_rule_tells_of_may_be_tried_over_the_banks(check):
    """Within noise of what the law expects of sharded weights; 17.8 MB take 62 us at peak."""
    check.pair(lambda ns: of_decoding(kernel_ns=ns), silent=85_399, fires=85_398)
    outcome = check.ask(of_decoding(kernel_ns=85_390))
    claim, moved = outcome.claim, 4096 * 4096 * 1.0625
    assert claim.claim.startswith(
        "1 matmul reads interleaved weights, DRAM-sharded ones were not tried (85 us, 100.0%)"
    )
    assert "MatmulMultiCoreReuseMultiCastDRAMShardedProgramConfig" in claim.fix
    assert claim.expected is None  # the law expects 5 % less: moves may eat that
    assert claim.at_most_ns.tolist() == [pytest.approx(85_390 - moved / PEAK_GB_S, rel=0.01)]


def test_where_the_banks_are_expected_to_be_slower_they_are_no_try(check):
    """The law expects 81.1 us of them."""
    check.pair(lambda ns: of_decoding(kernel_ns=ns), silent=81_000, fires=82_000)


def test_weights_in_the_banks_may_be_tried_interleaved(check):
    """At LoFi they stream: decode-matmul-bandwidth is silent."""
    claim = check.ask(on_blackhole(fidelity="LoFi", kernel_ns=43_000)).claim
    assert "reads DRAM-sharded weights, interleaved ones were not tried" in claim.claim
    assert claim.expected is None
    assert claim.fix.startswith("w interleaved, ttnn.MatmulMultiCoreReuseMultiCast1DProgramConfig")


def test_a_short_k_has_no_config_over_the_banks(check):
    assert check.ask(of_decoding(k=1024, n=8192, kernel_ns=60_000)).status == "clean"


def test_texts_are_short_and_cells_its_own(check):
    check.assert_sound(of_decoding(kernel_ns=85_390))
    check.assert_sound(on_blackhole(where=DRAM, kernel_ns=63_000))


def test_one_percent_of_the_window_is_worth_telling(check):
    check.share_pair(lambda program: decoding(program, kernel_ns=85_000), 0.01, of="saving")
