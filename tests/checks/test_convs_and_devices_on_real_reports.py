"""Steps 5 to 7 on real reports: what holds for every claim, and where nothing may be claimed."""

from __future__ import annotations

from functools import cache
from itertools import count

import pytest

from tests.checks.asking import Asker, real_case
from tests.for_all import for_all
from tests.shared_reports import CLIP, DEEPLAB, DEEPSEEK, OFT, SEGFORMER

REAL = (CLIP, DEEPLAB, DEEPSEEK, OFT, SEGFORMER)
STEP6 = (
    "act-block-h-below-maximum", "batch-norm-unfolded", "conv-activation-unfused", "conv-cores-idle",
    "conv-double-buffer-off", "conv-shard-layout-slow", "conv-sliced-in-dram", "copies-before-halo",
    "moves-behind-halo", "weights-prepared-every-call",
)  # fmt: skip
STEP7 = ("device-imbalance", "collective-share", "collective-bandwidth", "duplicate-gather", "collective-topology")
case = cache(real_case)


@pytest.fixture
def ask(tmp_path):
    return lambda check, name: Asker(check, tmp_path, count()).ask(case(name))


@for_all("name", REAL, sampled=4)
@for_all("check", [*STEP6, *STEP7])
def test_every_claim_fits_its_answer_and_its_ops(ask, check, name):
    outcome = ask(check, name)
    assert len(outcome.claims) <= 3
    for claim in outcome.claims:  # the longest fix is a Conv2dConfig on a grid, with all that the op has
        sizes = [len(text or "") for text in (claim.claim, claim.assumption, claim.fix, claim.verify, claim.caveat)]
        assert all(size <= most for size, most in zip(sizes, (200, 120, 365, 120, 160), strict=True)), sizes
        assert (claim.at_most_ns <= outcome.case.kernel_ns[claim.rows]).all()
        assert (claim.at_most_ns >= 0).all()
        assert len(set(claim.rows.tolist())) == len(claim.rows)


@for_all("name", [CLIP, DEEPSEEK])
@for_all("check", STEP6)
def test_transformers_have_no_convs(ask, check, name):
    assert ask(check, name).status == "not_applicable"


@for_all("name", [CLIP, DEEPLAB, OFT, SEGFORMER])
@for_all("check", STEP7)
def test_single_cards_have_nothing_to_balance(ask, check, name):
    outcome = ask(check, name)
    assert (outcome.status, outcome.why) == ("not_applicable", "one device")


@for_all("name", REAL)
def test_no_performance_report_shows_transfers(ask, name):
    assert ask("input-transfer-exposed", name).status == "cannot_tell"
