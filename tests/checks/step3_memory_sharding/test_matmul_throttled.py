"""matmul-throttled: a throttle level in a compute config, on as many cores as TTNN heeds it."""

from __future__ import annotations

import pytest

from tests.checks.conv_programs import put_conv
from tests.checks.rows import pass_time, put
from tests.for_all import for_all
from tests.profiles import Program
from tests.profiles.ops import kernel_config, matmul


def held_back(program, level="LEVEL_2", *, kernel_ns=200_000, cores=64):
    x, w, y = (program.tensor([1, 1, 1024, 1024]) for _ in range(3))
    op = matmul(x, w, y, kernel_ns, cores=cores)
    printed = str(op.attributes["compute_kernel_config"]).replace("NO_THROTTLE", level)
    op.attributes = {**op.attributes, "compute_kernel_config": printed}
    put(program, op)


def program(level="LEVEL_2", *, arch="wormhole_b0", **how):
    made = Program(arch, **({"grid": (11, 10)} if arch == "blackhole" else {}))
    held_back(made, level, **how)
    return made


LEVELS = {"LEVEL_1": 0.73, "LEVEL_2": 0.67, "LEVEL_3": 0.5, "LEVEL_4": 0.4, "LEVEL_5": 0.33}


@for_all(("level", "rate"), LEVELS.items())
def test_a_level_leaves_a_share_of_the_rate(check, level, rate):
    claim = check.ask(program(level)).claim
    assert claim.at_most_ns.tolist() == [pytest.approx(200_000 * (1 - rate))]
    assert f"1 matmul (200 us, 100.0%) held back by throttle_level, the heaviest at {rate:.0%}" in claim.claim


def test_the_claim_is_sound_and_keeps_every_other_setting(check):
    claim = check.assert_sound(program())
    assert "packer_l1_acc=" in claim.fix
    assert "throttle_level=ttnn.ThrottleLevel.NO_THROTTLE)" in claim.fix
    assert claim.evidence[0].value == "ThrottleLevel::LEVEL_2"


def test_without_a_level_nothing_is_held_back(check):
    assert check.ask(program("NO_THROTTLE")).status == "clean"


def test_a_matmul_without_a_compute_config_is_not_held_back(check):
    made = program()
    pass_time(made, 1_000)
    held_back(made)
    op = made.calls[-1].ops[0]
    op.attributes = {**op.attributes, "compute_kernel_config": None}
    assert check.ask(made).claim.rows.tolist() == [0]


def test_a_wormhole_heeds_it_on_more_than_48_cores(check):
    check.pair(lambda cores: program(cores=cores), silent=48, fires=49)
    assert check.ask(program(cores=8, arch="blackhole")).fires


def test_the_roofline_bounds_what_is_given_back(check):
    least = 3 * 2 * 1024**2 / 288  # BFLOAT16 operands past a Wormhole's DRAM; the arithmetic takes less
    assert check.ask(program("LEVEL_5", kernel_ns=50_000)).at_most_ns == pytest.approx(50_000 - least, rel=0.01)


def test_one_percent_of_the_window_is_the_line(check):
    check.share_pair(held_back, 0.01, of="saving")


def test_the_heaviest_is_the_example_and_convs_are_held_back_too(check):
    made = program("LEVEL_1")
    held_back(made, "LEVEL_5", kernel_ns=300_000)
    held_back(made, "NO_THROTTLE")
    put_conv(made, kernel_ns=100_000)
    conv = made.calls[-1].ops[-1]
    printed = kernel_config("HiFi4").replace("NO_THROTTLE", "LEVEL_3")
    conv.attributes = {**conv.attributes, "compute_kernel_config": printed}
    claim = check.ask(made).claim
    assert "1 conv and 2 matmuls" in claim.claim
    assert "the heaviest at 33% of the rate" in claim.claim


def test_a_compilers_user_is_told_that_there_is_no_option(check):
    assert "no option for its throttle_level" in check.ask(program(), generation="tt-torch").claim.fix


def test_nothing_to_judge(check):
    made = Program("wormhole_b0")
    pass_time(made, 1_000)
    assert check.ask(made).status == "not_applicable"
    assert check.ask(program(), without="CORE COUNT").status == "cannot_tell"
