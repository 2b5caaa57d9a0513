"""act-block-h-below-maximum: fewer blocks where they fit L1, and nothing promised that the roofline needs."""

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
from tests.profiles import Program
from tests.shared_reports import DEEPLAB, OFT

# The default conv: 16384 x 64 outputs of 576 products each, at HiFi2 on 64 cores of 1 GHz.
LEAST_NS = 2 * 16_384 * 64 * 576 * 2 / (64 * 4096)
SAFE_L1 = int(0.95 * (1_499_136 - 105_824))  # of a Wormhole core, above what firmware keeps
SCRATCH = 64  # bytes of the reader, in every conv: tt-metal l1_scratchpad_CB_size
# Its buffers with Bh 4 of 8: output, weights of 3 window rows, the block of activations, the same tilized
BLOCK_OF_FOUR = 8 * 2 * 1088 + 2 * 6 * 1088 * 3 + 4 * 6 * 2048 + 4 * 6 * 1088 + SCRATCH


def test_a_block_that_could_be_the_whole_height_is_named_with_its_override(check):
    claim = check.assert_sound(with_conv())  # 2 of 8 tiles
    assert "1 of 1 convs" in claim.claim
    assert "line 3 has Bh 2 of 8 tiles, 8 fits" in claim.claim
    assert "act_block_h_override=256)  # line 3: 0.28 MB of 1.39 MB L1" in claim.fix
    assert claim.at_most_ns.tolist() == [pytest.approx((100_000 - LEAST_NS) * 3 / 4)]  # 4 blocks become 1
    cells = {one.column: one.value for one in claim.evidence}
    assert cells["ATTRIBUTES.block_config.act_block_h_ntiles"] == "2"
    assert cells["ATTRIBUTES.parallelization_config.per_core_out_matrix_height_ntile"] == "8"
    assert cells["DEVICE KERNEL DURATION [ns]"] == 100_000
    assert "op_detail(op=3)" in claim.verify
    assert claim.caveat == "L1 modelled to about 5 %; limit of wormhole_b0 (no memory report)"


def test_a_memory_report_tells_the_limit(check):
    assert check.ask(with_conv(), memory="3.3").claim.caveat == "L1 modelled to about 5 %"


def test_one_percent_of_the_window_is_the_line(check):
    check.share_pair(put_conv, 0.01, of="saving")


def test_a_larger_block_must_fit_l1_with_five_percent_kept_free(check):
    room = SAFE_L1 - BLOCK_OF_FOUR
    found = check.pair(lambda allocated: with_conv(allocated=allocated), silent=room + 1, fires=room)
    assert "4 fits" in found.claim.claim
    assert "act_block_h_override=128)" in found.claim.fix
    assert found.at_most_ns == pytest.approx((100_000 - LEAST_NS) * (1 - 2 / 4))  # 4 blocks become 2


@for_all(
    "change",
    [{"block": (8, 6)}, {"layout": "WIDTH", "channel_cores": 64}, TUNED],
    ids=["already the whole height", "ignored there", "tuned"],
)
def test_a_block_that_cannot_grow_is_left_alone(check, change):
    assert check.ask(with_conv(**change)).status == "clean"


def test_time_the_arithmetic_needs_is_not_promised(check):
    # 18432 products per output at HiFi4: 590 us; a kernel of 592 us has 2 us to give, three quarters of them here
    needed = 2 * 16_384 * 64 * 18_432 * 4 / (64 * 4096)
    outcome = check.ask(with_conv(inner=576, fidelity="HiFi4", kernel_ns=round(needed / 0.98)))
    assert outcome.claim.at_most_ns.tolist() == [pytest.approx(needed / 0.98 * 0.02 * 3 / 4, rel=1e-3)]
    assert check.ask(with_conv(inner=576, fidelity="HiFi4", kernel_ns=round(needed / 0.99))).status == "clean"


def test_the_heaviest_conv_is_the_example(check):
    program = Program("wormhole_b0")
    for per_core, kernel_ns in (((2, 2), 50_000), ((8, 2), 300_000), ((6, 2), 100_000), ((4, 2), 80_000)):
        put_conv(program, per_core=per_core, block=(1, 6), kernel_ns=kernel_ns)
    put_conv(program, **TUNED)
    claim = check.ask(program).claim
    assert "4 of 5 convs" in claim.claim
    assert "(1 are at the maximum)" in claim.claim
    assert "act_block_h_override=256)  # line 8" in claim.fix


@for_all(("one_byte", "doubled"), [(0, True), (1, False)])
def test_a_block_is_doubled_where_the_second_one_fits_too(check, one_byte, doubled):
    # Bh 16 of 16 takes 348,928 bytes; Bh 8 as below, its activations twice
    block_of_eight = 16 * 2 * 1088 + 2 * 6 * 1088 * 3 + 2 * 8 * 6 * 2048 + 8 * 6 * 1088 + SCRATCH
    allocated = SAFE_L1 - block_of_eight + one_byte
    claim = check.ask(with_conv(per_core=(16, 2), block=(4, 6), allocated=allocated)).claim
    assert "act_block_h_override=256" in claim.fix
    assert ("enable_act_double_buffer=True" in claim.fix) is doubled


def test_a_compilers_user_is_told_the_compilers_option(check):
    claim = check.ask(with_conv(), generation="tt-torch").claim
    assert "optimization_level" in claim.fix
    assert "Conv2dConfig" not in claim.fix


def test_figures_of_an_older_report_say_what_they_leave_out(check):
    claim = check.ask(with_conv(legacy=True, allocated=None)).claim
    assert "only the conv's input" in claim.caveat
    assert "no memory report" in claim.caveat
    assert {one.column: one.value for one in claim.evidence}[
        "ATTRIBUTES.parallelization_config.per_core_out_matrix_height"
    ] == "256"


def test_a_conv_without_attributes_does_not_stand_in_the_way_of_others(check):
    program = with_conv()
    put_silent_conv(program)
    assert "1 of 2 convs" in check.ask(program).claim.claim


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


def test_deeplabs_convs_are_tuned_but_for_13_small_blocks(check):
    claim = check.ask(real_case(DEEPLAB)).claim
    assert len(claim.rows) == 13
    assert "33 are at the maximum" in claim.claim


def test_oft_is_the_strongest_case_for_larger_blocks(check):
    outcome = check.ask(real_case(OFT))
    assert "Bh 1 of 100" in outcome.claim.claim
    assert outcome.at_most_ns >= 0.05 * outcome.case.total_ns


def test_a_window_without_any_kernel_time_breaks_nothing(check):
    assert check.ask(with_conv(**TUNED, kernel_ns=0)).status == "clean"
