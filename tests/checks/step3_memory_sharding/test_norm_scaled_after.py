"""norm-scaled-after: a norm without weight, and a product (and a sum) with one row behind it."""

from __future__ import annotations

from tests.checks.rows import pass_time, put
from tests.checks.step3_programs import assert_cannot_tell, no_such_ops, without
from tests.for_all import for_all
from tests.profiles import Program
from tests.profiles.model import DeviceOp
from tests.profiles.ops import binary

TALL, ROW = [1, 1, 512, 1024], [1, 1, 1, 1024]


def normed(
    program,
    *,
    residual=False,
    weight=False,
    scale=ROW,
    shift=ROW,
    kinds=("MUL", "ADD"),
    turned=False,
    also_read=(),
    narrow=(),
    of="LAYERNORM",
    name="LayerNorm",
):
    x = program.tensor(TALL)
    inputs = (x, *([program.tensor(TALL)] if residual else []), *([program.tensor(ROW)] if weight else []))
    attributes = {"norm_type": f"LayerNormType::{of}"}
    y = put(
        program, DeviceOp(f"{name}DeviceOperation", inputs, (program.tensor(TALL),), 9_000, attributes=attributes)
    )
    for kind, row, ns in zip(kinds, (scale, shift), (7_000, 6_000), strict=False):
        if row is None:
            continue
        if kind in also_read:
            put(program, DeviceOp("MadeUp", (y,), (program.tensor([1, 1, 32, 32], "UINT16"),), 1_000))
        other = y if row is TALL else program.tensor(row)
        operands = (other, y) if turned else (y, other)
        y = put(
            program,
            binary(kind, *operands, program.tensor(TALL, "BFLOAT8_B" if kind in narrow else "BFLOAT16"), ns),
        )


def of(**how):
    program = Program("wormhole_b0")
    normed(program, **how)
    return program


def test_weight_and_bias_go_into_the_norm(check):
    claim = check.assert_sound(of(), above=1)
    assert claim.rows.tolist() == [1, 2]
    assert claim.at_most_ns.tolist() == [7_000, 6_000]
    assert claim.claim.startswith(
        "1 norm without weight, scaled after by an op of its own, 1 of them shifted after (13 us, 52.0%): "
    )
    assert claim.fix.startswith(
        "ttnn.layer_norm(x, weight=scale, bias=shift, ...) at line 5, scale as [1, 1, 1, C]"
    )
    assert claim.fix.endswith("without the ops at lines 6 and 7")


def test_a_product_alone_is_a_weight(check):
    claim = check.ask(of(shift=None, of="RMSNORM")).claim
    assert claim.rows.tolist() == [1]
    assert claim.fix.startswith("ttnn.rms_norm(x, weight=scale, ...) at line 4")
    assert claim.fix.endswith("without the op at line 5")
    assert "shifted" not in claim.claim


@for_all("how", [{"turned": True}, {"residual": True}, {"name": "RMSNorm"}], ids=str)
def test_other_ways_are_the_same(check, how):
    assert check.ask(of(**how)).claim.rows.tolist() == [1, 2]


@for_all(
    "how",
    [
        {"weight": True},
        {"residual": True, "weight": True},
        {"scale": [1, 2, 1, 1024]},
        {"scale": [1, 1, 512, 1]},
        {"scale": [1, 1, 1, 1]},
        {"scale": TALL},
        {"kinds": ("ADD", "MUL")},
        {"kinds": ("SUB", "ADD")},
        {"also_read": ("MUL",)},
        {"narrow": ("MUL",)},
        {"name": "Softmax"},
    ],
    ids=str,
)
def test_what_is_no_weight_is_left_alone(check, how):
    assert check.ask(of(**how)).status in ("clean", "not_applicable")


@for_all("how", [{"also_read": ("ADD",)}, {"shift": [1, 1, 512, 1]}, {"narrow": ("ADD",)}], ids=str)
def test_what_is_no_bias_stays_behind_the_weight(check, how):
    assert check.ask(of(**how)).claim.rows.tolist()[:1] == check.ask(of(**how)).claim.rows.tolist()


def of_one_row(*, weight=False, squared=False):
    program = Program("wormhole_b0")
    inputs = (program.tensor(ROW), *([program.tensor(ROW, "BFLOAT8_B")] if weight else []))
    y = put(program, DeviceOp("LayerNormDeviceOperation", inputs, (program.tensor(ROW),), 9_000))
    other = y if squared else program.tensor(ROW, "BFLOAT8_B")
    put(program, binary("MUL", y, other, program.tensor(ROW), 7_000))
    return program


def test_of_one_row_a_weight_looks_like_a_residual(check):
    assert check.ask(of_one_row()).claim.rows.tolist() == [1]
    assert check.ask(of_one_row(weight=True)).status == "clean"


def test_a_square_is_no_weight(check):
    assert check.ask(of_one_row(squared=True)).status == "clean"


def test_several_are_one_claim(check):
    program = of()
    pass_time(program, 1_000)
    normed(program, shift=None)
    claim = check.ask(program).claim
    assert claim.claim.startswith("2 norms without weight, scaled after by an op of its own, 1 of them shifted")
    assert claim.rows.tolist() == [1, 2, 5]


def test_half_a_percent_is_the_line(check):
    def longer(share):
        program = of()
        pass_time(program, 13_000 / share - 22_000)
        return program

    check.pair(longer, silent=0.00495, fires=0.00505)


def test_other_ops_are_not_applicable(check):
    assert check.ask(no_such_ops()).status == "not_applicable"


@for_all(("lost", "word"), [("PUT_", "INPUT_n"), ("ATTRIBUTES", "ATTRIBUTES")])
def test_without_its_cells_it_cannot_tell(check, tmp_path, lost, word):
    assert_cannot_tell(check.ask(without(tmp_path, (lost,), of())), word)


@for_all("key", ["post_activations", "lhs_activations", "rhs_activations"])
def test_a_product_that_applies_a_function_stays(check, key):
    """A norm applies none: of a gate by silu(scale) real TTNN would take the scale as it is."""

    def applying(function):
        made = of(shift=None)
        op = made.device_ops[1]
        op.attributes = {**op.attributes, key: function and f"[Any(op_type=UnaryOpType::{function})]"}
        return made

    check.pair(applying, silent="SILU", fires="")
