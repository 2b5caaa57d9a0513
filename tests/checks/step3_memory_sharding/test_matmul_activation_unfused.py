"""matmul-activation-unfused: a function behind a matmul that could apply it."""

from __future__ import annotations

from tests.checks.rows import pass_time, put
from tests.checks.step3_programs import assert_cannot_tell, no_such_ops, without
from tests.for_all import for_all
from tests.profiles import Program, block_sharded
from tests.profiles.model import DeviceOp
from tests.profiles.ops import binary, matmul, unary

SIDE = [1, 1, 512, 4096]


def config(kind="", fused="std::nullopt"):
    return f"MatmulMultiCoreReuseMultiCast{kind}ProgramConfig(in0_block_w=4,per_core_M=2,fused_activation={fused})"


def activated(
    program, kind="GELU", *, into="BFLOAT16", given=None, also_read=False, between=False, name=None, ns=7_600
):
    """Matmul and GELU of tt-metal's perf_automation guide: 48.5 and 7.6 us."""
    x, w = program.tensor([1, 1, 512, 1024]), program.weight([1, 1, 1024, 4096], "BFLOAT8_B")
    y = put(program, matmul(x, w, program.tensor(SIDE), 48_500, program_config=given))
    if name:
        program.device_ops[-1].op_code = name
    if between:
        y = put(program, DeviceOp("SoftmaxDeviceOperation", (y,), (program.tensor(SIDE),), 9_000))
    if also_read:
        put(program, DeviceOp("MadeUp", (y,), (program.tensor([1, 1, 32, 32], "UINT16"),), 1_000))
    put(program, unary(kind, y, program.tensor(SIDE, into), ns))


def of_activated(*args, **how):
    program = Program("wormhole_b0")
    activated(program, *args, **how)
    return program


def test_the_function_goes_into_the_matmul(check):
    claim = check.assert_sound(of_activated())
    assert claim.claim.startswith("Activations run as ops of their own behind matmuls (1x, 8 us, 13.2%)")
    assert "GELU at line 5" in claim.claim
    assert "behind the matmul at line 4" in claim.claim
    assert "activation=ttnn.UnaryOpType.GELU, core_grid=" in claim.fix
    assert "compute_kernel_config=<as now>, ...)" in claim.fix, "its bias and type too"
    assert claim.at_most_ns.sum() >= 56_100 - 49_300
    assert {one.value for one in claim.evidence} == {"UnaryOpType::GELU", 7_600}


@for_all("kind", ["RELU", "SILU", "SIGMOID", "TANH", "RELU6", "HARDSIGMOID", "GELU_TANH"])
def test_what_ttnn_applies_can_be_fused(check, kind):
    assert f"activation=ttnn.UnaryOpType.{kind}," in check.ask(of_activated(kind)).claim.fix


@for_all(
    ("numbers", "written"),
    [
        ("{1.0}", "ttnn.UnaryWithParam(ttnn.UnaryOpType.GELU, 1.0)"),
        ("{0}", "ttnn.UnaryWithParam(ttnn.UnaryOpType.GELU, 0)"),
        ("{x}", "ttnn.UnaryOpType.GELU"),
    ],
)
def test_a_function_keeps_its_numbers(check, numbers, written):
    """GELU with a 1 is its fast form, without one the exact."""
    made = of_activated()
    chain = made.device_ops[-1].attributes["op_chain"]
    made.device_ops[-1].attributes["op_chain"] = chain.replace("param={}", f"param={numbers}")
    assert f"activation={written}, core_grid=" in check.ask(made).claim.fix


@for_all("kind", ["MISH", "EXP"])
def test_what_ttnn_refuses_to_fuse_is_left_alone(check, kind):
    check.pair(of_activated, silent=kind, fires="GELU")


@for_all("change", ["also_read", "between"])
def test_only_the_function_may_read_the_matmul(check, change):
    check.pair(lambda one: of_activated(**{change: one}), silent=True, fires=False)


def test_a_function_that_narrows_is_two_things(check):
    check.pair(lambda into: of_activated(into=into), silent="BFLOAT8_B", fires="BFLOAT16")


@for_all("given", [config(fused="{RELU}"), config("DRAMSharded")], ids=["fused one", "DRAM-sharded"])
def test_configs_that_fuse_another_or_stream_weights_stay(check, given):
    check.pair(lambda one: of_activated(given=one), silent=given, fires=config())


def test_beside_a_config_and_on_shards_the_config_takes_it(check):
    """Real TTNN refuses a core grid beside a config, and `activation` of a matmul on shards."""
    applies = "fused_activation=ttnn.UnaryWithParam(ttnn.UnaryOpType.GELU)"
    configured = check.assert_sound(of_activated(given=config()))
    assert configured.fix == f"{applies} in the program_config of line 4, the rest as now"
    on_shards = of_activated()
    on_shards.device_ops[0].inputs[0].placement = block_sharded(64, 128, (8, 8))
    assert check.assert_sound(on_shards).fix == (
        f"a program_config for the shards of line 4, with {applies}; TTNN takes no activation="
    )


def test_a_matmul_applies_one_function(check):
    def applying(function):
        made = of_activated()
        made.device_ops[0].attributes["user_fused_activation"] = (
            function and f"Any(op_type=UnaryOpType::{function})"
        )
        return made

    check.pair(applying, silent="RELU", fires=None)


def test_what_the_call_wants_without_a_core_grid_is_printed_and_runs_apart(check):
    """DeepLab's 1x1 convs print RELU and no core grid, and a RELU stands behind each."""

    def wanting(core_grid):
        made = of_activated()
        wish = {"user_fused_activation": "Any(op_type=UnaryOpType::GELU)", "user_core_coord": core_grid}
        made.device_ops[0].attributes.update(wish)
        return made

    check.pair(wanting, silent="(x=8,y=8)", fires=None)


def test_weights_in_batches_let_it_apply_none(check):
    """Real TTNN refuses it: "Cannot use activation with batched input b"."""

    def of_heads(heads):
        made = of_activated()
        for tensor in (*made.device_ops[0].inputs, *made.device_ops[0].outputs, *made.device_ops[1].outputs):
            tensor.shape = [1, heads, *tensor.shape[2:]]
        return made

    check.pair(of_heads, silent=2, fires=1)


def test_only_matmuls_apply_functions(check):
    check.pair(lambda name: of_activated(name=name), silent="MadeUp", fires="LinearDeviceOperation")


def behind_minimal(fused=None, kind="GELU_TANH"):
    program = of_activated(kind, name="MinimalMatmulDeviceOperation")
    program.device_ops[-2].attributes = {"config": None, "fused_activation": fused}
    return program


def test_minimal_matmuls_apply_them_by_an_argument_of_their_own(check):
    claim = check.assert_sound(behind_minimal())
    assert "minimal_matmul(x, w, fused_activation=ttnn.UnaryWithParam(ttnn.UnaryOpType.GELU_TANH)" in claim.fix
    check.pair(behind_minimal, silent="UnaryWithParam(op_type=UnaryOpType::RELU,param={})", fires="std::nullopt")
    program = behind_minimal()
    activated(program)
    assert [claim.rows.tolist() for claim in check.ask(program).claims] == [[3], [1]]


def test_half_a_percent_of_the_window_is_the_line(check):
    check.share_pair(activated, 0.005, of="time")


def test_a_compilers_user_keeps_nothing_between(check):
    assert "keep nothing between" in check.ask(of_activated(), generation="tt-torch").claim.fix


def test_a_run_without_unary_ops_is_not_applicable(check):
    assert check.ask(no_such_ops()).status == "not_applicable"


@for_all(("lost", "word"), [("PUT_", "INPUT_n"), ("ATTRIBUTES", "ATTRIBUTES")])
def test_what_it_cannot_see_it_cannot_tell(check, tmp_path, lost, word):
    assert_cannot_tell(check.ask(without(tmp_path, (lost,), of_activated())), word)


def test_other_ops_first_change_nothing(check):
    program = Program("wormhole_b0")
    pass_time(program, 5_000)
    activated(program)
    assert check.ask(program).claim.rows.tolist() == [2]


def test_a_product_behind_it_applies_it_better(check):
    """SiLU in the product gained 1.9 ms of a prefill, in the matmul before it nothing."""
    program = Program("wormhole_b0")
    x, w = program.tensor([1, 1, 512, 1024]), program.weight([1, 1, 1024, 4096])
    gate, gated, up, out = (
        program.tensor([1, 1, 512, 4096], kind) for kind in ("BFLOAT16", "BFLOAT16", "BFLOAT8_B", "BFLOAT8_B")
    )
    put(program, matmul(x, w, gate, 50_000))
    put(program, unary("SILU", gate, gated, 9_000))
    assert check.ask(program).status == "found"
    put(program, binary("MUL", gated, up, out, 12_000))
    assert check.ask(program).status == "clean"
