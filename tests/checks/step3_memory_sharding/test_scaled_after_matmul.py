"""scaled-after-matmul: a factor behind a matmul that its weights could hold."""

from __future__ import annotations

from tests.checks.rows import pass_time, put
from tests.checks.step3_programs import assert_cannot_tell, no_such_ops, without
from tests.for_all import for_all
from tests.profiles import Program
from tests.profiles.model import DeviceOp
from tests.profiles.ops import binary, matmul

OUT = [1, 1, 512, 256]


def scaled(
    program,
    *,
    factor=None,
    scalar="0.125",
    kind="MUL",
    also_read=False,
    made="",
    batch=1,
    images=1,
    view=None,
    rows=512,
    name=None,
    ns=5_940,
):
    """By a number; by `factor`, a tensor of this shape, if there is one."""
    x = program.tensor([images, batch, rows, 1024])
    w = program.weight([1, batch, 1024, 256])
    y, z = (program.tensor([images, batch, rows, 256]) for _ in range(2))
    if made == "weights":
        w = put(program, DeviceOp("MadeUp", (x,), (w,), 1_000))
    product = matmul(x, w, y, 5_050)
    product.op_code = name or product.op_code
    put(program, product)
    if also_read:
        put(program, DeviceOp("MadeUp", (y,), (program.tensor([1, 1, 32, 32], "UINT16"),), 1_000))
    row = program.weight(list(factor)) if factor else None
    if made == "row":
        row = put(program, DeviceOp("MadeUp", (x,), (row,), 1_000))
    read = program.tensor(view) if view else y
    op = binary(kind, read, row or y, z, ns)
    if row is None:
        op.inputs = (read,)
        op.attributes = {**op.attributes, "scalar": scalar}
    put(program, op)


def of(**how):
    program = Program("wormhole_b0")
    scaled(program, **how)
    return program


def test_a_number_goes_into_the_weights(check):
    claim = check.assert_sound(of())
    assert claim.rows.tolist() == [1]
    assert claim.at_most_ns.tolist() == [5_940]
    assert claim.claim.startswith("1 matmul output scaled by an op of its own (6 us, 47.6%): by a number, 512x256")
    assert claim.claim.endswith("behind line 4")
    assert claim.fix.startswith(
        "before ttnn.from_torch: w = w * s; b = b * s (s per column of w [K, N]) at line 4;"
    )
    assert claim.evidence[0].value == "0.125"


def test_a_row_of_constants_goes_into_the_weights(check):
    claim = check.ask(of(factor=(1, 1, 1, 256))).claim
    assert ": by one row, 512x256 * 1[32]x256 -> 512x256 at line 5" in claim.claim
    assert claim.evidence[0].value == "BinaryOpType::MUL"


@for_all(
    "how",
    [
        {"kind": "ADD"},
        {"scalar": "1"},
        {"scalar": "1.0"},
        {"scalar": "std::nullopt"},
        {"also_read": True},
        {"made": "weights"},
        {"batch": 2},
        {"factor": (1, 1, 1, 256), "made": "row"},
        {"factor": (1, 1, 512, 1)},
        {"factor": (1, 1, 512, 256)},
        {"factor": (1, 1, 1, 1)},
        {"factor": (2, 1, 1, 256), "images": 2},
        {"view": [1, 2, 256, 256]},
        {"factor": (1, 1, 1, 256), "rows": 1},
        {"name": "SparseMatmulDeviceOperation"},
    ],
    ids=str,
)
def test_what_cannot_be_folded_is_left_alone(check, how):
    assert check.ask(of(**how)).status == "clean"


def test_several_are_one_claim(check):
    program = of()
    pass_time(program, 1_000)
    scaled(program, factor=(1, 1, 1, 256), rows=544, ns=4_000)
    claim = check.ask(program).claim
    assert claim.claim.startswith("2 matmul outputs scaled by an op of their own (10 us, ")
    assert claim.rows.tolist() == [1, 4]


def test_rows_whose_operands_may_be_those_of_another_call_are_left_alone(check):
    """Of equal rows the second takes ten times as long."""
    program = of()
    pass_time(program, 1_000)
    scaled(program, ns=60_000)
    assert check.ask(program).status == "clean"


def test_half_a_percent_is_the_line(check):
    def longer(share):
        program = of()
        pass_time(program, 5_940 / share - 10_990)
        return program

    check.pair(longer, silent=0.00495, fires=0.00505)


def test_other_ops_are_not_applicable(check):
    assert check.ask(no_such_ops()).status == "not_applicable"


@for_all(("lost", "word"), [("PUT_", "INPUT_n"), ("ATTRIBUTES", "ATTRIBUTES")])
def test_without_its_cells_it_cannot_tell(check, tmp_path, lost, word):
    assert_cannot_tell(check.ask(without(tmp_path, (lost,), of())), word)


@for_all(("row", "key"), [(0, "user_fused_activation"), (1, "post_activations"), (1, "lhs_activations")])
def test_a_function_comes_between(check, row, key):
    """s f(x W) is not f(x W s), and the function of a product is left without its op."""

    def applying(function):
        made = of()
        op = made.device_ops[row]
        op.attributes = {**op.attributes, key: function and f"[Any(op_type=UnaryOpType::{function})]"}
        return made

    check.pair(applying, silent="RELU", fires="")
