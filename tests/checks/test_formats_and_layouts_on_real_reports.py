"""Steps 1 and 2 on real reports: what must be found, and what must not be claimed."""

from __future__ import annotations

from functools import cache

import pytest

from tests.checks.asking import outcome_of, real_case
from tests.for_all import for_all
from tests.shared_reports import CLIP, DEEPLAB, DEEPSEEK, OFT, SEGFORMER
from ttnn_mcp.checks import CATALOGUE

REAL = (CLIP, DEEPLAB, DEEPSEEK, OFT, SEGFORMER)
CHECKS = [check.id for check in CATALOGUE if check.step in (1, 2)]
case = cache(real_case)


def claims(check, at):
    return outcome_of(check, at).claims


def the_claim(check, at):
    return outcome_of(check, at).claim


@for_all("name", REAL)
@for_all("check", CHECKS)
def test_every_claim_fits_its_answer_and_its_ops(check, name):
    at = case(name)
    for claim in claims(check, at):
        sizes = [len(text or "") for text in (claim.claim, claim.assumption, claim.fix, claim.verify, claim.caveat)]
        assert all(size <= most for size, most in zip(sizes, (200, 120, 260, 120, 160), strict=True)), sizes
        assert (claim.at_most_ns <= at.kernel_ns[claim.rows]).all()
        assert (claim.at_most_ns >= 0).all()
        assert len(set(claim.rows.tolist())) == len(claim.rows)


def test_segformer_runs_at_lofi_so_there_is_no_fidelity_to_save():
    at = case(SEGFORMER)
    assert outcome_of("fidelity-above-operands", at).status == "clean"
    risk = the_claim("fidelity-below-operands", at)
    assert len(risk.rows) == 18
    assert risk.at_most_ns.sum() == 0


def test_padding_of_a_report_without_logical_shapes_is_not_guessed():
    assert outcome_of("tile-padding-waste", case(SEGFORMER)).status == "cannot_tell"


def test_oft_computes_54_convs_at_hifi4():
    at = case(OFT)
    claim = the_claim("fidelity-above-operands", at)
    assert int(at.of_family("conv")[claim.rows].sum()) == 54
    assert at.us(claim.rows) == pytest.approx(81_984, rel=0.001)
    assert claim.at_most_ns.sum() <= at.kernel_ns[claim.rows].sum() / 2


def test_oft_untilizes_and_tilizes_again_twelve_times():
    at = case(OFT)
    claim = the_claim("tilize-round-trip", at)
    untilizes = at.named("Untilize", "UntilizeWithUnpadding")[claim.rows]
    untilized, tilized = claim.rows[untilizes], claim.rows[~untilizes]
    assert (len(untilized), len(tilized)) == (12, 12)
    assert at.us(tilized) == pytest.approx(40_700, rel=0.002)
    assert at.us(untilized) == pytest.approx(32_200, rel=0.002)


def test_oft_spends_half_its_time_on_rows_of_seven():
    at = case(OFT)
    claim = the_claim("tiny-row-reshape", at)
    heaviest = [row for row in claim.rows if at.kernel_ns[row] > 100e6]
    assert [at.line(int(row)) for row in heaviest] == [253, 299, 345]
    assert at.kernel_ns[heaviest] == pytest.approx([146.8e6] * 3, rel=0.001)
    assert "7-wide rows" in claim.claim


def test_oft_ran_once_so_nothing_is_called_a_constant():
    assert outcome_of("constant-converted-repeatedly", case(OFT)).status == "cannot_tell"


def test_conversions_of_oft_are_not_promised_twice():
    at = case(OFT)
    trips = the_claim("tilize-round-trip", at)
    share = the_claim("layout-conversion-share", at)
    promised = {int(row) for row in share.rows[share.at_most_ns > 0]}
    assert not promised & {int(row) for row in trips.rows}


def test_clip_waits_for_bfloat16_weights():
    at = case(CLIP)
    claim = the_claim("wide-weights", at)
    assert len(claim.rows) == 192
    assert at.us(claim.rows) == pytest.approx(38_900 / 2, rel=0.01)
    weights = float(at.ops.inputs[1].bytes[claim.rows].sum())
    assert weights / 240 == pytest.approx(10.5e6 / 2, rel=0.01)
    assert weights * 0.53125 / 240 == pytest.approx(5.6e6 / 2, rel=0.01)
    assert claim.at_most_ns.sum() <= at.kernel_ns[claim.rows].sum() - weights * 0.53125 / 240
    assert "only 28%" in claim.caveat


def test_fidelity_is_not_blamed_for_what_clip_waits_for_bytes():
    assert outcome_of("fidelity-above-operands", case(CLIP)).status == "clean"


def test_reshapes_of_clip_copy_because_heads_are_split():
    at = case(CLIP)
    claim = the_claim("reshape-not-a-view", at)
    assert at.share(claim.rows) == pytest.approx(0.089, abs=0.0005)  # 128 reshapes, and the 64 transposes of heads
    assert "num_heads=20" in claim.fix


def test_deeplab_is_tuned_but_for_four_casts_behind_a_tilize():
    at = case(DEEPLAB)
    trials = {"fp32-accumulation", "packer-accumulation-off"}  # bounded, but nothing is expected of them
    saving = [
        check for check in CHECKS for claim in claims(check, at) if claim.at_most_ns.any() and check not in trials
    ]
    assert saving == ["output-wider-than-consumer"]
    claim = the_claim("output-wider-than-consumer", at)
    assert [at.line(int(row)) for row in claim.rows] == [306, 315, 334, 386]
