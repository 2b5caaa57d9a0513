"""Step 3 on real reports: what must be found, and what must not be claimed."""

from __future__ import annotations

from functools import cache

import pytest

from tests.checks.asking import asker, real_case
from tests.checks.step3_programs import assert_short
from tests.for_all import for_all
from tests.shared_reports import CLIP, DEEPLAB, DEEPSEEK, OFT, SEGFORMER

REAL = (CLIP, DEEPLAB, DEEPSEEK, OFT, SEGFORMER)
CHECKS = (
    "decode-matmul-bandwidth",
    "hot-operands-in-dram",
    "low-core-count",
    "matmul-in-many-steps",
    "matmul-multicast-one-way",
    "matmul-operands-in-l1-interleaved",
    "matmul-small-blocks",
    "matmul-without-config",
    "minimal-matmul-on-few-rows",
    "norm-on-few-cores",
    "placement-round-trip",
    "reshard-chain",
    "sdpa-small-chunks",
    "shards-left-for-eltwise",
    "unfused-attention",
)
case = cache(real_case)


@pytest.fixture
def ask(tmp_path):
    """What a check, by its id, says of a real report."""
    return lambda check, name: asker(check, tmp_path).ask(case(name))


@for_all("name", REAL)
@for_all("check", CHECKS)
def test_every_claim_fits_its_answer_and_its_ops(ask, check, name):
    outcome = ask(check, name)
    for claim in outcome.claims:
        assert_short(claim)
        assert (claim.at_most_ns <= outcome.case.kernel_ns[claim.rows]).all()
        assert (claim.at_most_ns >= 0).all()
        assert len(set(claim.rows.tolist())) == len(claim.rows)


def lines(outcome, claim):
    return [outcome.case.line(int(row)) for row in claim.rows]


def test_deeplab_has_one_round_trip_and_its_copy_stays_for_a_matmul(ask):
    outcome = ask("placement-round-trip", DEEPLAB)
    claim = outcome.claim
    assert lines(outcome, claim) == [111, 112]
    assert outcome.took_ns / 1e3 == pytest.approx(33.6, abs=0.1)
    assert claim.at_most_ns.tolist() == [0, pytest.approx(17_138 - 2_000)]  # the detour, not both ops
    assert "also read at line 117" in claim.claim
    assert [one.row for one in claim.evidence] == [111, 112, 112, 117]


def test_deeplab_has_two_matmuls_in_the_l1_trap(ask):
    outcome = ask("matmul-operands-in-l1-interleaved", DEEPLAB)
    claim = outcome.claim
    assert sorted(lines(outcome, claim)) == [387, 388]
    assert sorted(outcome.case.kernel_ns[claim.rows] / 1e3) == pytest.approx([141.6, 191.2], abs=0.1)
    assert "32 of 110 cores" in claim.claim
    # a grid brings one of them 110 cores; the one with batches on both sides gets 88 from operands in DRAM
    assert claim.at_most_ns.sum() == pytest.approx(141_585 * (1 - 32 / 110) + 191_201 * (1 - 32 / 88), abs=10)


def test_segformer_leaves_shards_for_24_adds(ask):
    """Most of the adds are written with the shapes of the first: the copies are told all the same."""
    outcome = ask("shards-left-for-eltwise", SEGFORMER)
    assert len(outcome.claim.rows) == 24
    assert outcome.case.us(outcome.claim.rows) == pytest.approx(245.7, abs=0.1)


def test_clip_norms_run_on_one_core(ask):
    outcome = ask("norm-on-few-cores", CLIP)
    assert len(outcome.claim.rows) == 65
    assert outcome.case.share(outcome.claim.rows) == pytest.approx(0.11, abs=0.001)
    assert "on 1 of 64 cores" in outcome.claim.claim


def test_clip_attention_is_written_out_on_one_and_two_cores(ask):
    outcome = ask("unfused-attention", CLIP)
    claim, at = outcome.claim, outcome.case
    by_op = {name: at.us(claim.rows[at.named(name)[claim.rows]]) for name in ("Matmul", "Softmax")}
    assert by_op["Matmul"] == pytest.approx((3531 + 2095) / 2, abs=2)  # both iterations of the report: 3531 + 2095
    assert by_op["Softmax"] == pytest.approx(1286 / 2, abs=1)
    assert "32 attentions" in claim.claim
    assert "matmuls on 1 to 2 of 64 cores" in claim.claim


def test_clip_uses_minimal_matmul_on_19_rows(ask):
    outcome = ask("minimal-matmul-on-few-rows", CLIP)
    assert outcome.case.share(outcome.claim.rows) == pytest.approx(0.616, abs=0.001)
    left_ms = (outcome.took_ns - outcome.at_most_ns) / 1e6
    assert left_ms == pytest.approx(6.52, abs=0.01)  # K of 1280 at the 190 GB/s measured, K of 5120 at 240


def test_oft_normalises_on_eight_of_twenty_cores(ask):
    outcome = ask("norm-on-few-cores", OFT)
    assert lines(outcome, outcome.claim) == [14]
    assert "on 8 of 20 cores" in outcome.claim.claim


@for_all(
    ("check", "names"),
    [
        ("matmul-operands-in-l1-interleaved", (CLIP, DEEPSEEK, OFT, SEGFORMER)),
        ("minimal-matmul-on-few-rows", (DEEPLAB, DEEPSEEK, OFT, SEGFORMER)),
        ("placement-round-trip", (CLIP, DEEPSEEK)),
        ("shards-left-for-eltwise", (CLIP, DEEPSEEK)),
        ("reshard-chain", REAL),
        ("sdpa-small-chunks", REAL),  # DeepSeek's ring attention works in chunks of 160
        ("unfused-attention", (DEEPLAB, DEEPSEEK, OFT)),
        ("norm-on-few-cores", (DEEPLAB, DEEPSEEK)),
        ("matmul-in-many-steps", (CLIP, DEEPSEEK, OFT, SEGFORMER)),
        ("matmul-multicast-one-way", (CLIP, DEEPSEEK, OFT, SEGFORMER)),
        ("matmul-small-blocks", (CLIP, DEEPSEEK, OFT, SEGFORMER)),
        ("matmul-without-config", (CLIP, DEEPSEEK, OFT, SEGFORMER)),
        ("hot-operands-in-dram", (DEEPSEEK, OFT, SEGFORMER)),
        ("low-core-count", (CLIP, DEEPSEEK, OFT)),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_nothing_is_claimed_where_there_is_nothing(ask, check, names):
    assert [name for name in names if ask(check, name).claims] == []
