"""conv-double-buffer-off: a second block where there is one to fetch and room for it; half at best."""

import pytest

from tests.checks.asking import real_case
from tests.checks.conv_programs import (
    TUNED,
    of_unknown_chip,
    put_conv,
    put_silent_conv,
    with_conv,
    with_silent_conv,
    without_convs,
)
from tests.for_all import for_all
from tests.shared_reports import DEEPLAB, OFT

SAFE_L1 = int(0.95 * (1_499_136 - 105_824))  # of a Wormhole core, above what firmware keeps
SCRATCH = 64  # bytes of the reader, in every conv: tt-metal l1_scratchpad_CB_size
CHANNELS_CUT = {"layout": "BLOCK", "channel_cores": 8, "act_double": True}  # 8 x 3 blocks along the inner dimension


def test_a_conv_of_several_blocks_without_double_buffer_may_gain_half(check):
    claim = check.assert_sound(with_conv())
    assert "1 of 1 convs" in claim.claim
    assert "enable_act_double_buffer off" in claim.claim
    assert "line 3: HEIGHT_SHARDED, 4 x 3 blocks" in claim.claim
    assert claim.at_most_ns.tolist() == [50_000]
    assert "=True, act_block_h_override=64)  # line 3: 0.22 MB of 1.39 MB L1; other fields as now" in claim.fix
    assert {one.column: one.value for one in claim.evidence}["ATTRIBUTES.enable_act_double_buffer"] == "false"
    assert "op_detail(op=3)" in claim.verify
    assert "no memory report" in claim.caveat


def test_one_percent_of_the_window_is_the_line(check):
    check.share_pair(put_conv, 0.01, of="saving")


def test_the_second_block_of_activations_must_fit_l1(check):
    # Bh 2: output, weights of 3 window rows, the block twice, the same tilized
    needed = 8 * 2 * 1088 + 2 * 6 * 1088 * 3 + 2 * 2 * 6 * 2048 + 2 * 6 * 1088 + SCRATCH
    room = SAFE_L1 - needed
    check.pair(lambda allocated: with_conv(allocated=allocated), silent=room + 1, fires=room)


def test_the_second_block_of_weights_must_fit_l1(check):
    # BLOCK: output, two blocks of weights, the block twice and once tilized, its rows twice
    needed = 8 * 2 * 1088 + 2 * 2 * 6 * 1088 + 3 * 2 * 6 * 1088 + 2 * 2 * 6 * 2048 + SCRATCH
    room = SAFE_L1 - needed
    found = check.pair(
        lambda allocated: with_conv(**CHANNELS_CUT, allocated=allocated), silent=room + 1, fires=room
    )
    assert "enable_weights_double_buffer=True" in found.claim.fix


@for_all(
    "change",
    [
        TUNED,
        {"act_double": True},
        {"block": (8, 6)},
        {**CHANNELS_CUT, "weights_double": True},
        {"layout": "WIDTH", "channel_cores": 1, "act_double": True},
    ],
    ids=["tuned", "on", "a single block", "both on", "a single block of weights"],
)
def test_a_double_buffer_that_brings_nothing_is_not_advised(check, change):
    assert check.ask(with_conv(**change)).status == "clean"


@for_all("change", [CHANNELS_CUT, {"layout": "WIDTH", "channel_cores": 2, "act_double": True}])
def test_weights_are_double_buffered_where_channels_are_cut(check, change):
    claim = check.assert_sound(with_conv(**change))
    assert "enable_weights_double_buffer=True" in claim.fix
    assert "ATTRIBUTES.enable_weights_double_buffer" in {one.column for one in claim.evidence}


CUT_OFF = {**CHANNELS_CUT, "act_double": False}


def test_both_blocks_hide_behind_one_multiply(check):
    claim = check.assert_sound(with_conv(**CUT_OFF))
    assert "enable_act_double_buffer=True, enable_weights_double_buffer=True" in claim.fix
    assert claim.at_most_ns.tolist() == [50_000]
    cited = {one.column: one.value for one in claim.evidence}
    assert cited["ATTRIBUTES.enable_act_double_buffer"] == "false"
    assert cited["ATTRIBUTES.enable_weights_double_buffer"] == "false"


def test_where_only_one_second_block_fits_it_is_the_activations(check):
    # BLOCK: output, weights once, the block twice and once tilized, its rows twice; then the second weights
    needed = 8 * 2 * 1088 + 2 * 6 * 1088 + 3 * 2 * 6 * 1088 + 2 * 2 * 6 * 2048 + SCRATCH
    room = SAFE_L1 - needed - 2 * 6 * 1088
    both = check.ask(with_conv(**CUT_OFF, allocated=room)).claim
    one = check.ask(with_conv(**CUT_OFF, allocated=room + 1)).claim
    assert ["enable_weights_double_buffer" in claim.fix for claim in (both, one)] == [True, False]
    assert "enable_act_double_buffer=True" in one.fix


def test_where_only_the_second_weights_fit_they_are_doubled_alone(check):
    # a second block of weights takes less than a second one of activations and its rows
    needed = 8 * 2 * 1088 + 2 * 2 * 6 * 1088 + 2 * 2 * 6 * 1088 + 2 * 6 * 2048 + SCRATCH
    found = check.pair(
        lambda allocated: with_conv(**CUT_OFF, allocated=allocated),
        silent=SAFE_L1 - needed + 1,
        fires=SAFE_L1 - needed,
    )
    assert "Conv2dConfig(enable_weights_double_buffer=True, act_" in found.claim.fix


def test_no_conv_is_in_two_claims(check):
    program = with_conv(**CUT_OFF)
    put_conv(program, **CHANNELS_CUT)
    put_conv(program)
    claims = check.ask(program).claims
    assert [claim.rows.tolist() for claim in claims] == [[0], [2], [1]]


def test_what_the_arithmetic_needs_bounds_the_gain(check):
    needed = 2 * 16_384 * 64 * 18_432 * 4 / (64 * 4096)  # at HiFi4 on 64 cores: 590 us
    near = with_conv(inner=576, fidelity="HiFi4", kernel_ns=round(needed / 0.8))
    assert check.ask(near).claim.at_most_ns.tolist() == [pytest.approx(needed / 0.8 * 0.2, rel=1e-3)]
    assert check.ask(with_conv(inner=576, fidelity="HiFi4", kernel_ns=592_000)).status == "clean"


def test_the_heaviest_conv_is_the_example(check):
    program = with_conv(kernel_ns=50_000)
    put_conv(program, kernel_ns=200_000, per_core=(4, 2))
    put_conv(program, **TUNED)
    claim = check.ask(program).claim
    assert "2 of 3 convs" in claim.claim
    assert "heaviest at line 6: HEIGHT_SHARDED, 2 x 3 blocks" in claim.claim


def test_a_conv_without_attributes_does_not_stand_in_the_way_of_others(check):
    program = with_conv()
    put_silent_conv(program)
    assert "1 of 2 convs" in check.ask(program).claim.claim


def test_a_compilers_user_is_told_the_compilers_option(check):
    claim = check.ask(with_conv(), generation="tt-torch").claim
    assert "optimization_level" in claim.fix
    assert "Conv2dConfig" not in claim.fix


def test_nothing_to_judge(check):
    none = check.ask(without_convs())
    assert none.status == "not_applicable"
    assert "Conv2d" in none.why
    silent = check.ask(with_silent_conv())
    assert silent.status == "cannot_tell"
    assert "ATTRIBUTES" in silent.why
    unknown = check.ask(of_unknown_chip(), generation="C4")
    assert unknown.status == "cannot_tell"
    assert "unknown architecture" in unknown.why


def test_deeplabs_convs_have_what_they_need(check):
    assert check.ask(real_case(DEEPLAB)).status == "clean"


def test_oft_may_double_both(check):
    claim = check.ask(real_case(OFT)).claim  # 17 more may double activations: less than 1 % of the window
    assert len(claim.rows) == 34
    assert "act_double_buffer=True, enable_weights_double_buffer=True" in claim.fix


def test_a_window_without_any_kernel_time_breaks_nothing(check):
    assert check.ask(with_conv(**TUNED, kernel_ns=0)).status == "clean"
