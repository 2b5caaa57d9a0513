"""faster-elsewhere: the run's own evidence that another config is quicker for the same work."""

from __future__ import annotations

from tests.checks.matmul_programs import config, decoding, linear
from tests.checks.rows import put
from tests.checks.step3_programs import assert_cannot_tell, cells, no_such_ops, timeless, without
from tests.for_all import for_all
from tests.profiles import Iteration, Program
from tests.profiles.model import DeviceOp

TIME, CONFIG = "DEVICE KERNEL DURATION [ns]", "ATTRIBUTES.program_config"


def twins(*ops, arch="wormhole_b0"):
    """Matmuls of equal shapes: (block, microseconds) each, between ops that are no part of it."""
    program = Program(arch)
    for at, (block, us, *more) in enumerate(ops):
        how = more[0] if more else {}
        linear(program, kernel_ns=round(us * 1e3), **{"program_config": config(block=block), **how})
        x = program.tensor([1, 1, 32, 32 * (at + 1)])
        put(program, DeviceOp("MadeUpOfNoFamily", (x,), (x,), 1_000))
    return program


def test_the_quicker_config_of_the_same_run_is_named(check):
    outcome = check.ask(twins((1, 100), (8, 41), (8, 43), (1, 110)))
    claim, lines = outcome.claim, [outcome.case.line(row) for row in range(8)]
    assert claim.rows.tolist() == [0, 6]
    assert claim.at_least_ns is not None
    assert claim.at_least_ns.tolist() == [57_000, 67_000]  # the slowest of the quicker config
    assert claim.at_most_ns.tolist() == [59_000, 69_000]  # the fastest
    assert claim.claim == (
        "2 ops take longer (210 us, 68.1%) than with another config in this run: 1024x1024 * 1024x1024 -> 1024x1024 "
        f"at line {lines[6]} 110 us, at line {lines[2]} 41 us with in0_block_w=8"
    )
    assert f"op_detail(op={lines[2]}) prints" in claim.fix
    assert cells(outcome) == [(lines[6], TIME), (lines[6], CONFIG), (lines[2], TIME), (lines[2], CONFIG)]


def test_a_config_that_applies_another_function_does_other_work(check):
    """Copied, it would apply it here too."""

    def with_function(function):
        applied = f"{config(block=8)[:-1]},fused_activation=Any(op_type=UnaryOpType::{function},param={{}}))"
        return twins((1, 100), (8, 41, {"program_config": applied if function else config(block=8)}))

    check.pair(with_function, silent="SILU", fires="")


def test_the_middle_one_of_the_quicker_config_is_expected(check):
    claim = check.ask(twins((1, 100), (8, 41), (8, 50), (8, 55))).claim
    assert (claim.at_least_ns.tolist(), claim.at_most_ns.tolist()) == ([45_000], [59_000])
    assert claim.expected.saved_ns.tolist() == [50_000]


def test_texts_are_short(check):
    claim = check.ask(twins((1, 100), (8, 41))).claim
    assert (len(claim.claim) <= 200, len(claim.fix) <= 260, len(claim.verify) <= 120) == (True,) * 3


def test_a_tenth_is_more_than_noise(check):
    check.pair(lambda us: twins((1, 100), (8, us)), silent=90, fires=89.9)


def test_a_config_that_is_not_always_quicker_is_not(check):
    check.pair(lambda us: twins((1, 100), (8, 41), (8, us)), silent=95, fires=80)
    check.pair(lambda us: twins((1, us), (1, 100), (8, 41)), silent=42, fires=60)


def test_the_same_config_is_no_other(check):
    check.pair(lambda block: twins((1, 100), (block, 41)), silent=1, fires=8)


def test_cores_are_part_of_how_it_ran(check):
    check.pair(lambda cores: twins((8, 100, {"cores": cores}), (8, 41)), silent=64, fires=32)


@for_all("other", [{"n": 2048}, {"fidelity": "LoFi"}])
def test_other_work_is_no_twin(check, other):
    check.pair(lambda how: twins((1, 100), (8, 41, how)), silent=other, fires={})


def test_other_attributes_are_other_work(check):
    def program(turned):
        program = twins((1, 100), (8, 41))
        program.device_ops[2].attributes["transpose_b"] = turned
        return program

    check.pair(program, silent=True, fires=False)


def test_a_time_that_cannot_be_proves_nothing(check):
    """6.3 MB take 21.8 us at peak."""
    check.pair(lambda us: twins((1, 100), (8, us)), silent=15, fires=41)


def test_below_five_microseconds_an_op_is_about_its_launch(check):
    tiny = {"m": 32, "k": 128, "n": 128}
    check.pair(lambda us: twins((1, 10, tiny), (8, us, tiny)), silent=4.999, fires=5)


def test_attention_has_twins_too(check):
    def program(rows):
        program = Program("wormhole_b0")
        for at, (chunk, us) in enumerate(((32, 4000), (256, 1000))):
            shape = [1, 8, 4096 if at == 0 else rows, 64]
            q, k, v, y = (program.tensor(shape) for _ in range(4))
            op = DeviceOp("ScaledDotProductAttentionDeviceOperation", (q, k, v), (y,), us * 1000, fidelity="HiFi2")
            op.attributes = {"program_config": f"SDPAProgramConfig(q_chunk_size={chunk},k_chunk_size={chunk})"}
            put(program, op)
            x = program.tensor([1, 1, 32, 32 * (at + 1)])
            put(program, DeviceOp("MadeUpOfNoFamily", (x,), (x,), 1_000))
        return program

    outcome = check.pair(program, silent=2048, fires=4096)
    assert "with q_chunk_size=256" in outcome.claim.claim
    assert outcome.at_most_ns == 3_000_000


@for_all(
    ("name", "setting"),
    [("LayerNorm", "program_config"), ("OptimizedConvNew", "block_config"), ("Conv2d", "enable_act_double_buffer")],
)
def test_norms_and_convs_have_twins_too(check, name, setting):
    claim = check.ask(configured(name, {setting: "slow"}, {setting: "quick"})).claim
    assert claim.rows.tolist() == [0]
    assert (claim.at_least_ns.tolist(), claim.at_most_ns.tolist()) == ([60_000], [60_000])
    assert claim.fix == f"the {setting} that op_detail(op=8) prints"
    assert [one.value for one in claim.evidence] == [90_000, "slow", 30_000, "quick"]


def configured(name, *attributes, cores=(64, 64)):
    """An op of one input that took 90 us, and one that took 30."""
    program = Program("wormhole_b0")
    for at, (given, us) in enumerate(zip(attributes, (90, 30), strict=True)):
        x, y = program.tensor([1, 1, 1024, 1024]), program.tensor([1, 1, 1024, 1024])
        put(program, DeviceOp(f"{name}DeviceOperation", (x,), (y,), us * 1000, cores=cores[at], attributes=given))
        other = program.tensor([1, 1, 64, 32 * (at + 1)])
        put(program, DeviceOp("MadeUpOfNoFamily", (other,), (other,), 1_000))
    return program


def test_where_only_the_cores_differ_the_grid_is_the_setting(check):
    claim = check.ask(configured("LayerNorm", *({"program_config": "one"},) * 2, cores=(8, 64))).claim
    assert claim.fix == "the core grid that op_detail(op=8) prints"
    assert [one.value for one in claim.evidence] == [90_000, 8, 30_000, 64]


def test_other_ops_have_no_config_to_take_over(check):
    program = twins((1, 100), (8, 41))
    for attributes, ns in (({"program_config": "slow"}, 90_000), ({"program_config": "quick"}, 30_000)):
        x, y = program.tensor([1, 1, 1024, 1024]), program.tensor([1, 1, 1024, 1024])
        put(program, DeviceOp("MadeUpOfNoFamily", (x,), (y,), ns, attributes=attributes))
    assert check.ask(program).claim.rows.tolist() == [0]


def test_the_times_of_another_pass_prove_nothing(check):
    """It may have run at another clock: only this window's ops are asked."""
    quick = twins((8, 41))
    slow = [Iteration(cold=True, kernel_scale=0.1), Iteration()]
    assert check.ask(quick, slow).status == "clean"
    assert check.ask(twins((1, 100), (8, 41)), slow).claim.at_least_ns.tolist() == [59_000]


def test_what_ops_without_attributes_were_told_is_not_known(check):
    program = twins((1, 100), (8, 41), (8, 90, {"n": 512, "cores": 64}), (8, 30, {"n": 512, "cores": 32}))
    for op in program.device_ops[4::2]:
        op.attributes = {}
    assert check.ask(program).claim.rows.tolist() == [0]


def test_half_a_percent_of_the_window_is_worth_telling(check):
    def build(program):
        linear(program, kernel_ns=100_000, program_config=config(block=1))
        decoding(program)
        linear(program, kernel_ns=41_000, program_config=config(block=8))

    check.share_pair(build, 0.005, of="saving")


def test_a_window_without_kernel_time_is_clean(check):
    assert check.ask(timeless(twins((1, 100), (8, 41)))).status == "clean"


def test_other_ops_are_not_applicable(check):
    assert check.ask(no_such_ops()).why == "no matmuls, fused attention, norms or convs"


@for_all(("lost", "word"), [("PUT_", "INPUT_n"), ("ATTRIBUTES", "ATTRIBUTES")])
def test_what_it_cannot_see_it_cannot_tell(check, tmp_path, lost, word):
    assert_cannot_tell(check.ask(without(tmp_path, (lost,))), word)
