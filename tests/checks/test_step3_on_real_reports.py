"""Step 3 on real reports: what must be found, and what must not be claimed."""

from __future__ import annotations

from functools import cache

import pytest

from tests.checks.rows import claims, real_case, the_claim
from tests.shared_reports import CLIP, DEEPLAB, DEEPSEEK, OFT, SEGFORMER
from ttnn_mcp.checks.step3_memory_sharding import (
    hot_operands_in_dram,
    low_core_count,
    matmul_operands_in_l1_interleaved,
    matmul_program_config,
    minimal_matmul_on_few_rows,
    norm_on_few_cores,
    placement_round_trip,
    reshard_chain,
    sdpa_small_chunks,
    unfused_attention,
)

REAL = (CLIP, DEEPLAB, DEEPSEEK, OFT, SEGFORMER)
CHECKS = [
    module.CHECK
    for module in (
        hot_operands_in_dram,
        low_core_count,
        matmul_operands_in_l1_interleaved,
        matmul_program_config,
        minimal_matmul_on_few_rows,
        norm_on_few_cores,
        placement_round_trip,
        reshard_chain,
        sdpa_small_chunks,
        unfused_attention,
    )
]
case = cache(real_case)


@pytest.mark.parametrize("name", REAL)
@pytest.mark.parametrize("check", CHECKS, ids=lambda check: check.id)
def test_every_claim_fits_its_answer_and_its_ops(check, name):
    at = case(name)
    for claim in claims(check, at):
        sizes = [len(text or "") for text in (claim.claim, claim.assumption, claim.fix, claim.verify, claim.caveat)]
        assert all(size <= most for size, most in zip(sizes, (200, 120, 260, 120, 160), strict=True)), sizes
        assert (claim.at_most_ns <= at.kernel_ns[claim.rows]).all()
        assert (claim.at_most_ns >= 0).all()
        assert len(set(claim.rows.tolist())) == len(claim.rows)


def lines(at, claim):
    return [at.line(int(row)) for row in claim.rows]


def test_deeplab_has_one_round_trip_and_its_copy_stays_for_a_matmul():
    at = case(DEEPLAB)
    claim = the_claim(placement_round_trip.CHECK, at)
    assert lines(at, claim) == [111, 112]
    assert at.us(claim.rows) == pytest.approx(33.6, abs=0.1)
    assert claim.at_most_ns.tolist() == [0, pytest.approx(17_138 - 2_000)]  # the detour, not both ops
    assert "also read at line 117" in claim.claim
    assert [one.row for one in claim.evidence] == [111, 112, 112, 117]


def test_deeplab_has_two_matmuls_in_the_l1_trap():
    at = case(DEEPLAB)
    claim = the_claim(matmul_operands_in_l1_interleaved.CHECK, at)
    assert sorted(lines(at, claim)) == [387, 388]
    assert sorted(at.kernel_ns[claim.rows] / 1e3) == pytest.approx([141.6, 191.2], abs=0.1)
    assert "32 of 110 cores" in claim.claim
    assert claim.at_most_ns.sum() == pytest.approx((141_585 + 191_201) * (1 - 32 / 110), abs=10)


def test_segformer_leaves_shards_for_24_adds():
    """Most of the adds are written with the shapes of the first: the copies are told all the same."""
    at = case(SEGFORMER)
    detours = claims(placement_round_trip.CHECK, at)[1]
    assert len(detours.rows) == 24
    assert at.us(detours.rows) == pytest.approx(245.7, abs=0.1)


def test_clip_norms_run_on_one_core():
    at = case(CLIP)
    claim = the_claim(norm_on_few_cores.CHECK, at)
    assert len(claim.rows) == 65
    assert at.share(claim.rows) == pytest.approx(0.11, abs=0.001)
    assert "on 1 of 64 cores" in claim.claim


def test_clip_attention_is_written_out_on_one_and_two_cores():
    at = case(CLIP)
    claim = the_claim(unfused_attention.CHECK, at)
    by_op = {name: at.us(claim.rows[at.named(name)[claim.rows]]) for name in ("Matmul", "Softmax")}
    assert by_op["Matmul"] == pytest.approx((3531 + 2095) / 2, abs=2)  # both iterations of the report: 3531 + 2095
    assert by_op["Softmax"] == pytest.approx(1286 / 2, abs=1)
    assert "32 attentions" in claim.claim
    assert "matmuls on 1 to 2 of 64 cores" in claim.claim


def test_clip_uses_minimal_matmul_on_19_rows():
    at = case(CLIP)
    claim = the_claim(minimal_matmul_on_few_rows.CHECK, at)
    assert at.share(claim.rows) == pytest.approx(0.616, abs=0.001)
    left_ms = (at.kernel_ns[claim.rows].sum() - claim.at_most_ns.sum()) / 1e6
    assert left_ms == pytest.approx(10.5 / 2, rel=0.07)  # weights alone at 240 GB/s, two iterations


def test_oft_normalises_on_eight_of_twenty_cores():
    at = case(OFT)
    claim = the_claim(norm_on_few_cores.CHECK, at)
    assert lines(at, claim) == [14]
    assert "on 8 of 20 cores" in claim.claim


@pytest.mark.parametrize(
    ("check", "names"),
    [
        (matmul_operands_in_l1_interleaved.CHECK, (CLIP, DEEPSEEK, OFT, SEGFORMER)),
        (minimal_matmul_on_few_rows.CHECK, (DEEPLAB, DEEPSEEK, OFT, SEGFORMER)),
        (placement_round_trip.CHECK, (CLIP, DEEPSEEK)),
        (reshard_chain.CHECK, REAL),
        (sdpa_small_chunks.CHECK, REAL),  # DeepSeek's ring attention works in chunks of 160
        (unfused_attention.CHECK, (DEEPLAB, DEEPSEEK, OFT)),
        (norm_on_few_cores.CHECK, (DEEPLAB, DEEPSEEK)),
        (matmul_program_config.CHECK, (CLIP, DEEPSEEK, OFT, SEGFORMER)),
        (hot_operands_in_dram.CHECK, (DEEPSEEK, OFT, SEGFORMER)),
        (low_core_count.CHECK, (CLIP, DEEPSEEK, OFT)),
    ],
    ids=lambda value: getattr(value, "id", ""),
)
def test_nothing_is_claimed_where_there_is_nothing(check, names):
    assert [name for name in names if claims(check, case(name))] == []
