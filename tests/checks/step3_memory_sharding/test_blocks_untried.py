"""blocks-untried: other blocks of minimal_matmul and of experts, as a trial."""

from __future__ import annotations

import pytest

from tests.checks.matmul_programs import of_sparse, sparse
from tests.checks.step3_memory_sharding.test_minimal_matmul_blocks import of as minimal


def test_experts_get_deeper_blocks_up_to_32_tiles(check):
    """Of 224 tiles of K; what the report does not tell of their bytes leaves half of the time."""
    outcome = check.ask(of_sparse(block=8))
    assert "program_config as now with in0_block_w=16 or 28 or 32" in outcome.claim.fix
    assert outcome.at_most_ns == pytest.approx(outcome.took_ns / 2)
    fix = check.ask(of_sparse(block=32)).claim.fix
    assert "as now with half or twice of per_core_N=2 on twice or half of the cores" in fix


def test_minimal_matmul_gets_other_blocks_in_every_form(check):
    for name in ("MinimalMatmul", "AllGatherMinimalMatmulAsync"):
        fix = check.ask(minimal(name=name, block=(8, 6))).claim.fix
        assert "M_block_size=4, then N_block_size=3 or K_block_size=16: half or twice of 8, 6 and 8 tiles" in fix


def test_experts_and_minimal_matmul_of_five_microseconds_under_60_percent_are_told(check):
    check.pair(lambda ns: minimal(rows=64, k=32, n=32, ns=ns), silent=4_900, fires=5_100)
    check.pair(lambda rows: minimal(rows=rows), silent=32, fires=33)
    engine = check.case(minimal()).roofline.compute_ns[0]
    check.pair(lambda used: minimal(ns=round(engine / used)), silent=0.61, fires=0.59)


def test_tries_elsewhere_let_expect_something(check):
    assert check.ask(of_sparse(block=8)).claim.expected.basis == "13 tries of blocks-untried"


def test_texts_are_short_and_cells_its_own(check):
    check.assert_sound(minimal())
    check.assert_sound(of_sparse(block=8))


def test_one_percent_of_the_window_is_worth_telling(check):
    check.share_pair(lambda program: sparse(program, block=8), 0.01, of="saving", arch="blackhole")
