"""sum-after-matmul: a residual added behind a matmul of many rows that could add it."""

from __future__ import annotations

from tests.checks.rows import pass_time, put
from tests.checks.step3_programs import assert_cannot_tell, no_such_ops, without
from tests.for_all import for_all
from tests.profiles import DRAM, L1, Program, block_sharded
from tests.profiles.model import DeviceOp
from tests.profiles.ops import binary, matmul


def added(
    program,
    *,
    rows=1024,
    batch=1,
    gated=False,
    gate_rows=1,
    also_read=False,
    kind="ADD",
    of_residual=None,
    weights="BFLOAT16",
    made="BFLOAT16",
    pairs=1,
    where=DRAM,
    ns=22_000,
    function=False,
    first=True,
):
    """MASt3R's projection back and the sum with the stream: 208 us less of ten such pairs (tt-metal)."""
    x = program.tensor([batch, 1, rows // batch, 1024], placement=where)
    w = program.weight([pairs, 1, 1024, 1024], weights)
    whole = [batch, 1, rows // batch, 1024]
    y, residual = program.tensor(whole), program.tensor(of_residual or whole)
    put(program, matmul(x, w, y, 200_000))
    if function:
        program.device_ops[-1].attributes["user_fused_activation"] = "(op_type=UnaryOpType::SILU,param={})"
    if also_read:
        put(program, DeviceOp("MadeUp", (y,), (program.tensor([1, 1, 32, 32], "UINT16"),), 1_000))
    if gated:
        z = program.tensor(whole)
        put(program, binary("MUL", y, program.weight([1, 1, gate_rows, 1024]), z, 20_000))
        y = z
    pair = (y, residual) if first else (residual, y)
    put(program, binary(kind, *pair, program.tensor(whole, made), ns))


def of(**how):
    program = Program("wormhole_b0")
    added(program, **how)
    return program


def test_the_matmul_adds_the_residual(check):
    claim = check.assert_sound(of())
    assert claim.claim == (
        "1 residual added behind matmuls of many rows (22 us, 9.8%): 1024x1024 * 1024x1024 -> 1024x1024 at line 5, "
        "behind line 4"
    )
    assert claim.fix == (
        "ttnn.experimental.dit_minimal_matmul_addcmul_fused(x, w, 1.0, residual, gate, "
        "compute_kernel_config=<as now>) at line 4, no op at line 5; gate [1, 1, 1, 1024], ones here"
    )
    assert [one.value for one in claim.evidence] == [22_000, "BFLOAT16"]
    matmuls, sums = claim.at_most_ns.tolist()
    assert (0 < matmuls < 200_000, sums) == (True, 22_000)
    assert claim.is_trial
    assert claim.gone.tolist() == [1]


def test_a_gate_goes_with_the_sum(check):
    claim = check.ask(of(gated=True)).claim
    assert claim.at_most_ns.tolist()[1:] == [20_000, 22_000]
    assert "at line 5, no op at lines 6 and 7; gate [1, 1, 1, 1024]" in claim.fix
    assert check.ask(of(gated=True, gate_rows=1024)).status == "clean"


def test_the_product_may_be_either_operand(check):
    assert check.ask(of(first=False)).fires


def test_an_addcmul_is_both(check):
    """`ttnn.addcmul(residual, product, gate)` is one Ternary op of TTNN 0.81.1."""
    program = of()
    op = program.device_ops[-1]
    product, residual = op.inputs
    op.op_code, op.inputs = "TernaryDeviceOperation", (residual, product, program.weight([1, 1, 1, 1024]))
    op.attributes = {"ternary_op_type": "TernaryOpType::ADDCMUL"}
    assert check.ask(program).claim.gone.tolist() == [1]
    op.attributes = {"ternary_op_type": "TernaryOpType::LERP"}
    assert check.ask(program).status == "clean"


def test_bias_type_and_place_are_those_of_the_two(check):
    program = of()
    product, total = program.device_ops
    product.inputs = (*product.inputs, program.weight([1, 1, 1, 1024]))
    product.inputs[0].dtype, total.outputs[0].placement = "BFLOAT8_B", L1
    claim = check.ask(program).claim
    assert "gate, bias_tensor=bias, dtype=ttnn.bfloat16, memory_config=<as now>, compute_kernel" in claim.fix


def test_weights_and_residual_have_one_format(check):
    """Real TTNN refuses others: "ternary_a_tile_size must be equal to in1_tile_size"."""
    check.pair(lambda made: of(weights="BFLOAT8_B", made=made), silent="BFLOAT16", fires="BFLOAT8_B")


def test_weights_lie_as_they_are_multiplied(check):
    turned = of()
    turned.device_ops[0].attributes["transpose_b"] = True
    assert check.ask(turned).claim.fix.endswith("; w stored as [K, N] (no transpose_b)")
    turned.device_ops[0].attributes["transpose_a"] = True
    assert check.ask(turned).status == "clean"


@for_all(
    "change",
    [
        {"also_read": True},
        {"function": True},
        {"kind": "SUB"},
        {"of_residual": [1, 1, 1, 1024]},
        {"batch": 2, "pairs": 2},
        {"where": block_sharded(L1, (128, 128), 64)},
    ],
)
def test_others_it_does_not_add(check, change):
    assert check.ask(of(**change)).status == "clean"


def test_rows_of_all_batches_count(check):
    check.pair(lambda rows: of(rows=rows, batch=2), silent=448, fires=512)


def test_sums_of_little_time_are_not_worth_a_try(check):
    def at(ns):
        program = of(ns=ns)
        pass_time(program, 1_000_000 - 200_000 - ns)
        return program

    check.pair(at, silent=9_000, fires=10_000)


def test_other_ops_are_not_applicable(check):
    assert check.ask(no_such_ops()).why == "no matmuls"


@for_all(("lost", "word"), [("PUT_", "INPUT_n"), ("_MEMORY", "_MEMORY"), ("ATTRIBUTES", "ATTRIBUTES")])
def test_without_its_cells_it_cannot_tell(check, tmp_path, lost, word):
    assert_cannot_tell(check.ask(without(tmp_path, (lost,), of())), word)
