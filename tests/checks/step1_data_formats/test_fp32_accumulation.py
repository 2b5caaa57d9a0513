"""fp32-accumulation: a trial where the halved register holds subblocks back, silent where it does not."""

import pytest

from tests.checks.programs import configured, decode, prefill
from tests.checks.rows import pass_time, put
from tests.for_all import for_all
from tests.profiles import Program
from tests.profiles.model import DeviceOp


@pytest.fixture
def program() -> Program:
    return Program("wormhole_b0")


def in_float32(program, **change):
    configured(program, fp32=1, **change)


def test_one_percent_of_the_window_is_the_line(check):
    check.share_pair(in_float32, 0.01, of="time")


def test_the_claim_is_sound(check, program):
    in_float32(program)
    check.assert_sound(program)


def test_a_run_without_matmuls_and_convs_is_not_applicable(check, program):
    pass_time(program, 1000)
    assert check.ask(program).status == "not_applicable"


def test_a_try_keeps_every_other_setting_as_it_is(check, program):
    in_float32(program, packer=0)
    outcome = check.ask(program)
    claim = outcome.claim
    assert claim.at_most_ns.tolist() == [outcome.took_ns / 2]
    assert claim.expected is None
    assert "fp32_dest_acc_en=False, packer_l1_acc=False" in claim.fix
    assert "fill the 4 tiles it leaves" in claim.claim
    assert claim.assumption.startswith("a trial: 8 destination tiles, not 4")


@for_all("subblock", [(1, 2), (1, 3)])
def test_a_subblock_below_the_limit_would_not_grow_without_float32(check, program, subblock):
    in_float32(program, subblock=subblock)
    assert check.ask(program).status == "clean"


@for_all(
    ("per_core", "silent", "fires"),
    [((5, 18), (1, 2), (1, 3)), ((6, 1), (2, 1), (3, 1)), ((3, 3), (3, 1), (1, 4)), ((1, 7), (1, 7), (1, 1))],
)
def test_one_that_divides_its_block_no_better_would_grow_if_eight_tiles_allow_more(check, per_core, silent, fires):
    """Of 18 columns 3, or 6; of 6 rows 3, or 6; of 3 x 3 tiles 3, and nothing up to 8."""

    def of(subblock):
        program = Program("wormhole_b0")
        in_float32(program, subblock=subblock, per_core=per_core)
        return program

    check.pair(of, silent=silent, fires=fires)


def test_an_op_that_accumulates_in_16_bits_is_not_claimed_with_others(check, program):
    in_float32(program)
    configured(program, n=2048)
    assert check.ask(program).claim.rows.tolist() == [0]


@for_all("operand", [0, 1, 2], ids=["activations", "weights", "output"])
def test_float32_operands_are_meant_to_accumulate_in_float32(check, program, operand):
    in_float32(program)
    program.tensors[operand].dtype = "FLOAT32"
    assert check.ask(program).status == "clean"


def test_an_op_that_waits_for_bytes_is_left_alone(check, program):
    in_float32(program)
    config = program.calls[-1].ops[0].attributes
    decode(program)
    program.calls[-1].ops[0].attributes = config
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
    in_float32(program, n=2048)
    assert check.ask(program).claim.rows.tolist() == [1]


def test_a_subblock_that_is_not_written_is_not_guessed(check, program):
    in_float32(program)
    op = program.calls[-1].ops[0]
    op.attributes = {**op.attributes, "program_config": None}
    assert check.ask(program).status == "clean"


@for_all(
    ("key", "config"),
    [
        ("config", "MinimalMatmulConfig(M_block_size=8,K_block_size=8,N_block_size=8,subblock_h=2,subblock_w=2)"),
        ("block_config", "Conv2dBlockConfig(out_subblock_h_ntiles=2,out_subblock_w_ntiles=2)"),
    ],
)
def test_the_subblock_is_read_from_whichever_config_the_op_prints(check, program, key, config):
    in_float32(program)
    op = program.calls[-1].ops[0]
    op.attributes = {**op.attributes, "program_config": None, key: config}
    assert check.ask(program).fires


@for_all("lost", ["out_subblock_h=1,", "out_subblock_w=4,"])
def test_half_a_subblock_is_none(check, program, lost):
    in_float32(program)
    op = program.calls[-1].ops[0]
    op.attributes = {**op.attributes, "program_config": str(op.attributes["program_config"]).replace(lost, "")}
    assert check.ask(program).status == "clean"


def test_a_report_without_outputs_is_no_evidence(check, program):
    in_float32(program)
    assert not check.ask(program, without="OUTPUT_").fires


def test_a_compilers_config_is_the_compilers_business(check, program):
    in_float32(program)
    fix = check.ask(program, generation="tt-torch").claim.fix
    assert fix.startswith("the compiler writes the compute config")
    assert "ttnn." not in fix


def adding(program, name="LayerNorm", *, fp32=1, dtype="BFLOAT16", ns=200_000, rows=4096):
    """8 MB in and out take 58 us at 288 GB/s."""
    x, y = (program.tensor([1, 1, rows, 1024], each) for each in (dtype, "BFLOAT16"))
    config = f"WormholeComputeKernelConfig(math_fidelity=HiFi4,math_approx_mode=0,fp32_dest_acc_en={fp32},packer_l1_acc=1)"
    op = DeviceOp(f"{name}DeviceOperation", (x,), (y,), ns, attributes={"compute_kernel_config": config}, fidelity="HiFi4")  # fmt: skip
    put(program, op)


@for_all("name", ["LayerNorm", "RMSNorm", "Softmax"])
def test_norms_and_softmax_that_add_up_in_float32_are_a_trial(check, name):
    program = Program("wormhole_b0")
    adding(program, name)
    claim = check.ask(program).claim
    assert claim.at_most_ns.tolist() == [pytest.approx(120_000)]
    assert (claim.expected, claim.is_trial) == (None, True)
    assert claim.claim.startswith("1 norm or softmax op adds up 16 bits in float32 (200 us, 100.0%); heaviest ")
    assert "math_fidelity=ttnn.MathFidelity.HiFi4" in claim.fix
    assert "fp32_dest_acc_en=False" in claim.fix


@for_all("name", ["ScaledDotProductAttention", "WindowedScaledDotProductAttention"])
def test_attention_that_adds_up_in_float32_is_one_of_30_percent(check, name):
    """Janus-Pro's took 88 us and 67 without; of windows no report tells the arithmetic."""
    program = Program("wormhole_b0")
    q, k, v, y = (program.tensor([1, 8, 1024, 64]) for _ in range(4))
    config = (
        "WormholeComputeKernelConfig(math_fidelity=HiFi2,math_approx_mode=0,fp32_dest_acc_en=1,packer_l1_acc=1)"
    )
    op = DeviceOp(f"{name}DeviceOperation", (q, k, v), (y,), 200_000, attributes={"compute_kernel_config": config}, fidelity="HiFi2")  # fmt: skip
    put(program, op)
    claim = check.ask(program).claim
    assert claim.at_most_ns.tolist() == [pytest.approx(60_000)]
    assert (claim.expected, claim.is_trial) == (None, True)
    assert claim.claim.startswith("1 attention op adds up 16 bits in float32 (200 us, 100.0%); heaviest ")


def test_several_are_ops(check, program):
    adding(program)
    adding(program, "Softmax")
    assert check.ask(program).claim.claim.startswith("2 norm or softmax ops add up 16 bits in float32 (")


def test_the_claim_about_sums_is_sound(check, program):
    adding(program)
    check.assert_sound(program)


@for_all("how", [{"name": "Reduce"}, {"fp32": 0}, {"dtype": "FLOAT32"}], ids=str)
def test_other_ops_settings_and_formats_are_none(check, how):
    program = Program("wormhole_b0")
    configured(program)
    adding(program, **how)
    assert check.ask(program).status == "clean"


def test_bytes_stay(check, program):
    adding(program, ns=100_000)
    bytes_ns = 2 * 2 * 4096 * 1024 / 288
    assert check.ask(program).claim.at_most_ns.tolist() == [pytest.approx(100_000 - bytes_ns)]


def test_a_norm_that_waits_for_dram_and_a_short_one_promise_nothing(check):
    def of(ns, rows=4096):
        program = Program("wormhole_b0")
        adding(program, ns=ns, rows=rows)
        return program

    check.pair(of, silent=58_000, fires=59_000)
    check.pair(lambda ns: of(ns, rows=32), silent=4_900, fires=5_100)
