"""activation-beside-binary: a function beside an element-wise op that could apply it."""

from __future__ import annotations

from tests.checks.rows import pass_time, put
from tests.checks.step3_programs import assert_cannot_tell, no_such_ops, without
from tests.for_all import for_all
from tests.profiles import Program
from tests.profiles.model import DeviceOp
from tests.profiles.ops import binary, unary
from tests.shared_reports import DEEPLAB, OFT, shared

SIDE = [1, 1, 512, 4096]


def gated(
    program,
    function="SILU",
    *,
    kind="MUL",
    into="BFLOAT16",
    layout="TILE",
    also_read=False,
    second=False,
    ns=9_000,
):
    """SwiGLU: the function of one tensor, times another."""
    gate, up = program.tensor(SIDE, into, layout=layout), program.tensor(SIDE, "BFLOAT8_B")
    gated = program.tensor(SIDE, layout=layout)
    put(program, unary(function, gate, gated, ns))
    if also_read:
        put(program, DeviceOp("MadeUp", (gated,), (program.tensor([1, 1, 32, 32], "UINT16"),), 1_000))
    operands = (up, gated) if second else (gated, up)
    put(program, binary(kind, *operands, program.tensor(SIDE, "BFLOAT8_B"), 12_000))


def summed(program, function="RELU", *, kind="ADD", also_read=False, ns=9_000):
    """A residual path: the function of a sum."""
    x, y = program.tensor(SIDE), program.tensor(SIDE)
    total = put(program, binary(kind, x, y, program.tensor(SIDE), 12_000))
    if also_read:
        put(program, DeviceOp("MadeUp", (total,), (program.tensor([1, 1, 32, 32], "UINT16"),), 1_000))
    put(program, unary(function, total, program.tensor(SIDE), ns))


def of(build, *args, **how):
    program = Program("wormhole_b0")
    build(program, *args, **how)
    return program


def test_the_function_of_an_operand_goes_into_the_multiply(check):
    claim = check.assert_sound(of(gated))
    start = (
        "Activations run beside element-wise ops that could apply them (1x, 9 us, 40.0%): SILU 512x4096 -> 512x4096"
    )
    assert claim.claim == f"{start} at line 4, MUL at line 5"
    assert claim.fix == (
        "ttnn.multiply(a, b, input_tensor_a_activations=[ttnn.UnaryOpType.SILU], ...), without the op at line 4"
    )
    assert claim.at_most_ns.tolist() == [9_000]
    assert {one.value for one in claim.evidence} == {"UnaryOpType::SILU", 9_000}


def test_the_second_operand_has_a_list_of_its_own(check):
    assert "input_tensor_b_activations=[" in check.ask(of(gated, second=True)).claim.fix


def test_the_function_of_a_result_goes_into_the_sum(check):
    claim = check.assert_sound(of(summed), above=1)
    assert claim.claim.endswith("at line 5, ADD at line 4")
    assert claim.fix == "ttnn.add(a, b, activations=[ttnn.UnaryOpType.RELU], ...), without the op at line 5"


@for_all(
    ("build", "key", "written"),
    [
        (summed, "post_activations", "activations=[..., ttnn.UnaryOpType.SQRT]"),
        (gated, "lhs_activations", "input_tensor_a_activations=[ttnn.UnaryOpType.SQRT, ...]"),
        (summed, "lhs_activations", "activations=[ttnn.UnaryOpType.SQRT]"),
    ],
)
def test_what_the_op_applies_already_stays_in_the_list(check, build, key, written):
    """Real TTNN applies a list in its order: an operand's before the op, a result's behind it."""
    made = of(build, "SQRT")
    op = next(op for op in made.device_ops if op.op_code.startswith("Binary"))
    op.attributes = {
        **op.attributes,
        key: "SmallVector([BasicUnaryWithParam<float>(op_type=UnaryOpType::EXP,param={})])",
    }
    assert f"(a, b, {written}, ...), without" in check.assert_sound(made, above=1).fix


@for_all(("kind", "call"), [("SUB", "subtract"), ("DIV", "divide")])
def test_four_calls_apply_functions(check, kind, call):
    assert check.ask(of(summed, kind=kind)).claim.fix.startswith(f"ttnn.{call}(")


@for_all("build", [gated, summed])
def test_a_maximum_applies_none(check, build):
    assert check.ask(of(build, kind="MAXIMUM")).status == "clean"


@for_all("build", [gated, summed])
def test_only_the_two_may_know_the_tensor_between(check, build):
    check.pair(lambda one: of(build, also_read=one), silent=True, fires=False)


@for_all("build", [gated, summed])
@for_all("function", ["MISH", "SOFTPLUS"])
def test_what_ttnn_refuses_there_stays(check, build, function):
    check.pair(lambda name: of(build, name), silent=function, fires="HARDSWISH")


def test_a_function_that_narrows_is_two_things(check):
    check.pair(lambda into: of(gated, into=into), silent="FLOAT32", fires="BFLOAT16")


def test_rows_are_not_tried(check):
    check.pair(lambda layout: of(gated, layout=layout), silent="ROW_MAJOR", fires="TILE")


def test_half_a_percent_of_the_window_is_the_line(check):
    check.share_pair(gated, 0.005, of="time")


def test_other_ops_first_change_nothing(check):
    program = Program("wormhole_b0")
    pass_time(program, 5_000)
    summed(program)
    assert check.ask(program).claim.rows.tolist() == [2]


def test_a_compilers_user_has_an_option(check):
    assert "enable_create_d2m_subgraphs" in check.ask(of(gated), generation="tt-torch").claim.fix


def test_a_run_without_unary_ops_is_not_applicable(check):
    assert check.ask(no_such_ops()).status == "not_applicable"


@for_all(("lost", "word"), [("PUT_", "INPUT_n"), ("ATTRIBUTES", "ATTRIBUTES")])
def test_what_it_cannot_see_it_cannot_tell(check, tmp_path, lost, word):
    assert_cannot_tell(check.ask(without(tmp_path, (lost,), of(gated))), word)


@for_all("report", [DEEPLAB, OFT])
def test_on_real_reports_too_little_time_lies_there(check, report):
    assert check.ask(shared(report)).status == "clean"


def test_of_two_alike_operands_the_list_is_that_of_what_the_function_makes(check):
    """Gate and up of one shape and type: the report does not tell which is the first."""
    program = Program("wormhole_b0")
    x = program.tensor([1, 1, 512, 1024])
    gate, up = (put(program, DeviceOp("MadeUp", (x,), (program.tensor(SIDE),), 9_000)) for _ in range(2))
    made = put(program, unary("SILU", gate, program.tensor(SIDE), 9_000))
    put(program, binary("MUL", made, up, program.tensor(SIDE), 12_000))
    claim = check.ask(program).claim
    assert claim.fix.endswith(", without the op at line 8, the list of the operand that it makes now")
    assert not check.ask(of(gated)).claim.fix.endswith("makes now")
