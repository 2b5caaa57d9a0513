"""packer-accumulation-off: a trial from the second or third block along K on."""

import pytest

from tests.checks.programs import configured, conv, prefill
from tests.checks.rows import pass_time, put
from tests.for_all import for_all
from tests.profiles import Program
from tests.profiles.ops import matmul


@pytest.fixture
def program() -> Program:
    return Program("wormhole_b0")


def not_in_l1(program, **change):
    configured(program, packer=0, **change)


def printed(program, key, config):
    """The last op says its block width in another struct than a matmul's program_config."""
    op = program.calls[-1].ops[0]
    op.attributes = {**op.attributes, "program_config": None, key: config}


def blocked(program, k, config="MatmulMultiCoreReuseMultiCastProgramConfig(in0_block_w=4)"):
    """A matmul of `k` rows of weights, without a bias, in blocks of 4 tiles."""
    x, w, y = program.tensor([1, 1, 1024, k]), program.weight([1, 1, k, 1024]), program.tensor([1, 1, 1024, 1024])
    op = matmul(x, w, y, 100_000, program_config=config)
    kernel = str(op.attributes["compute_kernel_config"]).replace("packer_l1_acc=1", "packer_l1_acc=0")
    op.attributes = {**op.attributes, "compute_kernel_config": kernel}
    put(program, op)
    return program


def test_one_percent_of_the_window_is_the_line(check):
    check.share_pair(not_in_l1, 0.01, of="time")


def test_the_claim_is_sound(check, program):
    not_in_l1(program)
    check.assert_sound(program)


def test_a_run_without_matmuls_and_convs_is_not_applicable(check, program):
    pass_time(program, 1000)
    assert check.ask(program).status == "not_applicable"


def test_a_report_without_weights_is_no_evidence(check, program):
    not_in_l1(program)
    assert check.ask(program, without="INPUT_").status in ("not_applicable", "cannot_tell")


def test_a_try_expects_nothing_and_keeps_every_other_setting_as_it_is(check, program):
    not_in_l1(program, fp32=1)
    outcome = check.ask(program)
    claim = outcome.claim
    assert claim.at_most_ns.tolist() == [outcome.took_ns / 2]
    assert claim.expected is None
    assert "fp32_dest_acc_en=True, packer_l1_acc=True" in claim.fix
    assert "heaviest, 32 blocks" in claim.claim


def test_more_than_two_blocks_along_k_are_the_line_without_a_bias(check):
    check.pair(lambda k: blocked(Program("wormhole_b0"), k), silent=256, fires=288)


@for_all(("blocks", "fires"), [(2, True), (1, False)])
def test_a_conv_with_a_bias_accumulates_from_the_second_block_on(check, program, blocks, fires):
    conv(program, blocks=blocks)
    outcome = check.ask(program)
    assert outcome.fires is fires
    if fires:  # MobileNetV2's convs took 9.3 % less
        assert outcome.claim.at_most_ns.tolist() == [pytest.approx(0.1 * outcome.took_ns)]


def test_a_conv_at_its_roofline_saves_what_is_above_it(check, program):
    op = conv(program)
    op.kernel_ns = 3_600
    (most,) = check.ask(program).claim.at_most_ns.tolist()
    assert 0 < most < 0.1 * 3_600


def test_an_op_that_accumulates_in_l1_is_not_claimed_with_others(check, program):
    not_in_l1(program)
    configured(program, n=2048)
    assert check.ask(program).claim.rows.tolist() == [0]


def test_without_a_kernel_config_accumulation_is_not_known(check, program):
    prefill(program)
    program.calls[-1].ops[0].attributes = {}
    outcome = check.ask(program)
    assert outcome.status == "cannot_tell"
    assert "no compute_kernel_config" in outcome.why


def test_one_op_without_a_config_hides_no_other(check, program):
    prefill(program)
    program.calls[-1].ops[0].attributes = {}
    not_in_l1(program, n=2048)
    assert check.ask(program).claim.rows.tolist() == [1]


def test_where_ttnn_chose_it_takes_no_more_than_eight_tiles_at_once(check):
    found = check.pair(lambda k: blocked(Program("wormhole_b0"), k, None), silent=512, fires=544)
    assert "heaviest, blocks that TTNN chose: " in found.claim.claim


def test_the_block_width_of_a_conv_that_is_not_written_is_not_guessed(check, program):
    op = conv(program)
    op.attributes = {**op.attributes, "block_config": None}
    assert check.ask(program).status == "clean"


def test_a_block_of_no_tiles_is_not_written(check):
    config = "MatmulMultiCoreReuseMultiCastProgramConfig(in0_block_w=0)"
    assert check.ask(blocked(Program("wormhole_b0"), 1024, config)).status == "clean"


@for_all(
    ("key", "config"),
    [
        ("config", "MinimalMatmulConfig(K_block_size=8)"),
        ("block_config", "Conv2dBlockConfig(act_block_w_ntiles=8)"),
    ],
)
def test_the_block_width_is_read_from_whichever_config_the_op_prints(check, program, key, config):
    not_in_l1(program)
    printed(program, key, config)
    assert "heaviest, 16 blocks" in check.ask(program).claim.claim


def test_a_compilers_config_is_the_compilers_business(check, program):
    not_in_l1(program)
    fix = check.ask(program, generation="tt-torch").claim.fix
    assert fix.startswith("the compiler writes the compute config")
    assert "ttnn." not in fix
