"""residual-before-norm: a sum that only a norm reads."""

from __future__ import annotations

from tests.checks.rows import ONE_PASS, pass_time, put
from tests.checks.step3_programs import assert_cannot_tell, no_such_ops, without
from tests.for_all import for_all
from tests.profiles import DRAM, Program, width_sharded
from tests.profiles.model import DeviceOp

SHAPE = [1, 1, 512, 1024]
SHARDS = width_sharded(512, 32, (8, 4))


def summed(
    program,
    *,
    norm="LayerNorm",
    kind="ADD",
    second=SHAPE,
    residual=False,
    read_again=False,
    places=(DRAM, DRAM),
    said="LAYERNORM",
):
    """An addition and a norm; perhaps the sum is carried on, perhaps the norm adds something already."""
    a, b = program.tensor(SHAPE, placement=places[0]), program.tensor(second, placement=places[1])
    total = program.tensor(SHAPE, placement=places[0])
    put(program, DeviceOp("BinaryNgDeviceOperation", (a, b), (total,), 20_000, attributes={"binary_op_type": f"BinaryOpType::{kind}"}))  # fmt: skip
    others = [program.tensor(SHAPE)] if residual else []
    normed = put(program, DeviceOp(f"{norm}DeviceOperation", (total, *others, program.tensor([1, 1, 1, 1024])), (program.tensor(SHAPE),), 30_000, attributes={"norm_type": f"LayerNormType::{said}"}))  # fmt: skip
    put(program, DeviceOp("MadeUp", (total if read_again else normed,), (program.tensor([1, 1, 32, 32], "UINT16"),), 5_000))  # fmt: skip


def of(**how):
    program = Program("wormhole_b0")
    summed(program, **how)
    return program


def test_a_sum_for_a_norm_alone_is_named(check):
    claim = check.assert_sound(of(), memory="3.3", above=0)
    assert claim.claim.startswith("1 sum that only a norm reads (20 us, 34.5%): ")
    assert claim.at_most_ns.tolist() == [20_000]
    assert claim.fix.startswith("ttnn.layer_norm(a, residual_input_tensor=b, ...) at line ")


@for_all(("norm", "said"), [("RMSNorm", "RMSNORM"), ("LayerNorm", "RMSNORM")])
def test_an_rms_norm_adds_too(check, norm, said):
    assert check.ask(of(norm=norm, said=said), memory="3.3").claim.fix.startswith("ttnn.rms_norm(a, residual")


def test_a_sum_that_is_carried_on_stays(check):
    check.pair(lambda one: of(read_again=one), silent=True, fires=False, memory="3.3")


@for_all(
    "how",
    [{"kind": "MUL"}, {"second": [1, 1, 1, 1024]}, {"residual": True}, {"places": (SHARDS, DRAM)}],
)
def test_what_a_norm_cannot_add_stays(check, how):
    check.pair(lambda one: of(**one), silent=how, fires={}, memory="3.3")


def test_shards_beside_shards_are_added_too(check):
    assert check.ask(of(places=(SHARDS, SHARDS)), memory="3.3").fires


def test_another_norm_takes_no_residual(check):
    assert check.ask(of(norm="GroupNorm"), memory="3.3").status == "not_applicable"


def test_shapes_alone_do_not_tell(check):
    assert_cannot_tell(check.ask(of()), "memory report")


def test_norms_of_no_sums_are_clean_without_a_memory_report(check):
    assert check.ask(of(kind="MUL")).status == "clean"


def test_a_norm_of_what_no_op_made_is_no_sum(check):
    """Nobody's place is that of the last op, here an addition."""
    program = Program("wormhole_b0")
    x, y = (program.tensor(SHAPE, "FLOAT32") for _ in range(2))
    put(program, DeviceOp("LayerNormDeviceOperation", (x, program.tensor([1, 1, 1, 1024])), (program.tensor([1, 1, 32, 64]),), 30_000, attributes={"norm_type": "LAYERNORM"}))  # fmt: skip
    put(program, DeviceOp("BinaryNgDeviceOperation", (x, y), (program.tensor([1, 1, 64, 64]),), 20_000, attributes={"binary_op_type": "BinaryOpType::ADD"}))  # fmt: skip
    assert check.ask(program).status == "clean"


def test_several_are_several(check):
    program = of()
    summed(program)
    claim = check.ask(program, ONE_PASS, memory="3.3", chosen="all").claim
    assert claim.claim.startswith("2 sums that only a norm reads (40 us")
    assert claim.rows.tolist() == [0, 3]


def test_half_a_percent_of_the_window_is_the_line(check):
    def at(ns):
        program = of()
        pass_time(program, ns)
        return program

    check.pair(at, silent=20_000 / 0.005 - 54_000, fires=20_000 / 0.005 - 56_000, memory="3.3")


def test_a_run_without_norms_is_not_applicable(check):
    assert check.ask(no_such_ops()).status == "not_applicable"


def test_what_it_cannot_see_it_cannot_tell(check, tmp_path):
    assert_cannot_tell(check.ask(without(tmp_path, ("ATTRIBUTES",), of())), "ATTRIBUTES")
    assert_cannot_tell(check.ask(without(tmp_path, ("PUT_",), of())), "INPUT_n")


def test_a_sum_before_another_norm_stays(check):
    program = of(kind="MUL")
    summed(program, norm="GroupNorm")
    assert check.ask(program, ONE_PASS, chosen="all").status == "clean"


def test_a_sum_that_applies_a_function_stays(check):
    def applying(function):
        made = of()
        op = made.device_ops[0]
        op.attributes = {
            **op.attributes,
            "post_activations": function and f"[Any(op_type=UnaryOpType::{function})]",
        }
        return made

    check.pair(applying, silent="RELU", fires="", memory="3.3")


def test_a_norm_makes_no_difference(check):
    check.pair(lambda kind: of(kind=kind), silent="SUB", fires="ADD", memory="3.3")
