"""Steps 5 to 7 on real reports: what must be found, and what must not be claimed."""

from __future__ import annotations

from functools import cache

import pytest

from tests.checks.rows import claims, real_case, the_claim
from tests.shared_reports import CLIP, DEEPLAB, DEEPSEEK, OFT, SEGFORMER
from ttnn_mcp.checks.check import CannotTell, NotApplicable
from ttnn_mcp.checks.step5_multi_cq import input_transfer_exposed
from ttnn_mcp.checks.step6_conv2d import (
    act_block_h_below_maximum,
    batch_norm_unfolded,
    conv_activation_unfused,
    conv_cores_idle,
    conv_data_movement,
    conv_double_buffer_off,
    conv_shard_layout_slow,
    conv_sliced_in_dram,
    weights_prepared_every_call,
)
from ttnn_mcp.checks.step7_multi_device import (
    collective_bandwidth,
    collective_share,
    collective_topology,
    device_imbalance,
    duplicate_gather,
)

REAL = (CLIP, DEEPLAB, DEEPSEEK, OFT, SEGFORMER)
STEP6 = (
    act_block_h_below_maximum,
    batch_norm_unfolded,
    conv_activation_unfused,
    conv_cores_idle,
    conv_data_movement,
    conv_double_buffer_off,
    conv_shard_layout_slow,
    conv_sliced_in_dram,
    weights_prepared_every_call,
)
STEP7 = (device_imbalance, collective_share, collective_bandwidth, duplicate_gather, collective_topology)
case = cache(real_case)


@pytest.mark.parametrize("name", REAL)
@pytest.mark.parametrize("module", [*STEP6, *STEP7], ids=lambda module: module.CHECK.id)
def test_every_claim_fits_its_answer_and_its_ops(module, name):
    at = case(name)
    found = claims(module.CHECK, at)
    assert len(found) <= 3
    for claim in found:
        sizes = [len(text or "") for text in (claim.claim, claim.assumption, claim.fix, claim.verify, claim.caveat)]
        assert all(size <= most for size, most in zip(sizes, (200, 120, 260, 120, 160), strict=True)), sizes
        assert (claim.at_most_ns <= at.kernel_ns[claim.rows]).all()
        assert (claim.at_most_ns >= 0).all()
        assert len(set(claim.rows.tolist())) == len(claim.rows)


@pytest.mark.parametrize("name", [CLIP, DEEPSEEK])
@pytest.mark.parametrize("module", STEP6, ids=lambda module: module.CHECK.id)
def test_transformers_have_no_convs(module, name):
    (said,) = module.CHECK.look(case(name))
    assert isinstance(said, NotApplicable)


@pytest.mark.parametrize("name", [CLIP, DEEPLAB, OFT, SEGFORMER])
@pytest.mark.parametrize("module", STEP7, ids=lambda module: module.CHECK.id)
def test_single_cards_have_nothing_to_balance(module, name):
    (said,) = module.CHECK.look(case(name))
    assert said == NotApplicable("one device")


@pytest.mark.parametrize("name", REAL)
def test_no_performance_report_shows_transfers(name):
    (said,) = input_transfer_exposed.CHECK.look(case(name))
    assert isinstance(said, CannotTell)


def test_deeplabs_convs_are_tuned_but_for_13_small_blocks():
    at = case(DEEPLAB)
    claim = the_claim(act_block_h_below_maximum.CHECK, at)
    assert len(claim.rows) == 13
    assert "33 are at the maximum" in claim.claim
    for module in (
        conv_double_buffer_off,
        conv_shard_layout_slow,
        batch_norm_unfolded,
        weights_prepared_every_call,
    ):
        assert not list(module.CHECK.look(at)), module.CHECK.id


def test_deeplabs_slices_cost_7_percent():
    claim = the_claim(conv_sliced_in_dram.CHECK, case(DEEPLAB))
    assert case(DEEPLAB).share(claim.rows) == pytest.approx(0.073, abs=0.0005)
    assert "10 of them would fit" in claim.claim


def test_deeplabs_fixed_8_by_8_grid_leaves_46_cores_idle():
    assert "64 of 110" in the_claim(conv_cores_idle.CHECK, case(DEEPLAB)).claim


def test_oft_is_the_strongest_case_for_larger_blocks_and_double_buffers():
    at = case(OFT)
    blocks = the_claim(act_block_h_below_maximum.CHECK, at)
    assert "Bh 1 of 100" in blocks.claim
    assert blocks.at_most_ns.sum() >= 0.05 * at.total_ns
    activations, weights = claims(conv_double_buffer_off.CHECK, at)
    assert len(activations.rows) == 51
    assert len(weights.rows) == 34
    assert not claims(conv_shard_layout_slow.CHECK, at)  # HEIGHT would be faster, but does not fit L1


def test_oft_normalises_groups_which_nothing_can_fold():
    assert not list(batch_norm_unfolded.CHECK.look(case(OFT)))
    assert not list(conv_activation_unfused.CHECK.look(case(OFT)))


def test_segformer_applies_gelu_behind_8_convs_and_copies_their_inputs():
    at = case(SEGFORMER)
    assert len(the_claim(conv_activation_unfused.CHECK, at).rows) == 8
    copies, moves = claims(conv_data_movement.CHECK, at)
    assert copies.at_most_ns.sum() / 1e3 == pytest.approx(414, abs=1)
    assert "reallocate_halo_output=False" in moves.fix


def test_deepseeks_later_devices_do_twice_the_attention():
    at = case(DEEPSEEK)
    claim = the_claim(device_imbalance.CHECK, at)
    assert "devices 4-7" in claim.claim
    assert "(1.96x)" in claim.claim
    assert "is_balanced=True" in claim.fix
    assert "zigzag" in claim.fix
    assert claim.at_most_ns.sum() / 1e6 == pytest.approx(1.67, abs=0.02)
    assert claim.at_most_ns.sum() / at.total_ns == pytest.approx(0.144, abs=0.002)


def test_deepseeks_collectives_run_in_a_line_without_persistent_buffers_and_are_fast_enough():
    at = case(DEEPSEEK)
    claim = the_claim(collective_topology.CHECK, at)
    assert "4 of them without persistent buffers" in claim.claim
    assert "15.3% over all" in claim.claim
    for module in (collective_share, collective_bandwidth, duplicate_gather):
        assert not list(module.CHECK.look(at)), module.CHECK.id
