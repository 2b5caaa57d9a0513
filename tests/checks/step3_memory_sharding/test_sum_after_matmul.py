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
    gate=(1, 1, 1, 1024),
    gate_kind="MUL",
    gate_read=False,
    also_read=False,
    kind="ADD",
    of_residual=None,
    weights="BFLOAT16",
    made="BFLOAT16",
    pairs=1,
    where=DRAM,
    stored=DRAM,
    into=DRAM,
    ns=22_000,
    function=False,
    first=True,
):
    """MASt3R's projection back and the sum with the stream: 208 us less of ten such pairs (tt-metal)."""
    x = program.tensor([batch, 1, rows // batch, 1024], placement=where)
    w = program.tensor([pairs, 1, 1024, 1024], weights, placement=stored)
    whole = [batch, 1, rows // batch, 1024]
    y, residual = program.tensor(whole, placement=into), program.tensor(of_residual or whole)
    put(program, matmul(x, w, y, 200_000))
    if function:
        program.device_ops[-1].attributes["user_fused_activation"] = "(op_type=UnaryOpType::SILU,param={})"
    if also_read:
        put(program, DeviceOp("MadeUp", (y,), (program.tensor([1, 1, 32, 32], "UINT16"),), 1_000))
    if gated:
        z = program.tensor(whole)
        put(program, binary(gate_kind, y, program.weight(list(gate)), z, 20_000))
        if gate_read:
            put(program, DeviceOp("MadeUp", (z,), (program.tensor([1, 1, 32, 32], "UINT16"),), 1_000))
        y = z
    pair = (y, residual) if first else (residual, y)
    put(program, binary(kind, *pair, program.tensor(whole, made), ns))


SHARDS = block_sharded(128, 128, (8, 8))


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
    assert check.ask(of(first=False)).fires, "the product may be either operand"


def test_a_gate_goes_with_the_sum(check):
    claim = check.ask(of(gated=True)).claim
    assert claim.at_most_ns.tolist()[1:] == [20_000, 22_000]
    assert "at line 5, no op at lines 6 and 7; gate [1, 1, 1, 1024]" in claim.fix


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
        {"where": SHARDS},
        {"stored": SHARDS},
        {"into": SHARDS},
        {"gated": True, "gate": (1, 1, 1024, 1024)},
        {"gated": True, "gate": (1, 1, 1, 1)},
        {"gated": True, "gate_kind": "SUB"},
        {"gated": True, "gate_read": True},
    ],
)
def test_others_it_does_not_add(check, change):
    assert check.ask(of(**change)).status == "clean"


def test_what_does_more_adds_no_residual(check):
    """A split of the result, another kind of matmul, a function of the sum."""
    split, apart, applying = of(), of(gated=True), of()
    apart.device_ops[0].op_code = "SparseMatmulDeviceOperation"
    split.device_ops[0].op_code = "MinimalMatmulDeviceOperation"
    assert check.ask(split).fires
    split.device_ops[0].attributes["chunks"] = 2
    assert check.ask(split).status == "clean"
    other = apart.tensor([1, 1, 1024, 1024])
    apart.device_ops[1].inputs = (
        put(apart, DeviceOp("MadeUp", (), (other,), 1_000)),
        *apart.device_ops[1].inputs[1:],
    )
    assert check.ask(apart).status == "clean"
    applying.device_ops[1].attributes["activations"] = "[UnaryWithParam(op_type=UnaryOpType::RELU;param={})]"
    assert check.ask(applying).status == "clean"


def test_rows_that_may_be_of_another_call_tell_nothing(check):
    """Two sums of one description, of which one takes much longer."""

    def at(ns):
        program = Program("wormhole_b0")
        pass_time(program, 50_000)
        added(program)
        added(program, ns=ns)
        return program

    check.pair(at, silent=90_000, fires=24_000)


def test_rows_of_all_batches_count(check):
    check.pair(lambda rows: of(rows=rows, batch=2), silent=192, fires=194)  # 97 each are padded to 128


def test_sums_of_little_time_are_not_worth_a_try(check):
    def at(ns):
        program = of(ns=ns)
        pass_time(program, 1_000_000 - 200_000 - ns)
        return program

    check.pair(at, silent=9_000, fires=10_000)


@for_all(
    ("lost", "word"),
    [
        (("PUT_",), "INPUT_n"),
        (("INPUT_1", "INPUT_2"), "INPUT_n"),
        (("_MEMORY",), "_MEMORY"),
        (("ATTRIBUTES",), "ATTRIBUTES"),
    ],
)
def test_without_its_cells_or_ops_it_cannot_tell(check, tmp_path, lost, word):
    assert_cannot_tell(check.ask(without(tmp_path, lost, of())), word)
    assert check.ask(no_such_ops()).why == "no matmuls"
