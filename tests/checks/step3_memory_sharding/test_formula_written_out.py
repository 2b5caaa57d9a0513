"""formula-written-out: norms, softmax and the rotary embedding as single ops."""

from __future__ import annotations

import numpy as np

from tests.checks.rows import put
from tests.checks.step3_programs import assert_cannot_tell, no_such_ops, without
from tests.for_all import for_all
from tests.profiles import Program
from tests.profiles.model import DeviceOp

ROWS, ONE = [1, 1, 64, 512], [1, 1, 64, 1]


def run(program, name, inputs, shape, said="", /, **attributes):
    attributes = attributes or {"binary_op_type": f"BinaryOpType::{said}"} if name == "BinaryNg" else {"op_chain": f"op_type=UnaryOpType::{said},param={{}}"}  # fmt: skip
    out = program.tensor(shape)
    return put(program, DeviceOp(f"{name}DeviceOperation", inputs, (out,), 20_000, attributes=attributes))


def norm(
    program,
    *,
    centred=False,
    mean_by="Reduce",
    root="RSQRT",
    square="MUL",
    last="MUL",
    also_read="",
    plus=True,
    sum_by="Reduce",
):
    """x * rsqrt(mean(x * x) + eps), with the mean subtracted first if `centred`."""
    x = run(program, "Unary", (program.tensor(ROWS),), ROWS, "RELU")
    if centred:
        mean = run(program, mean_by, (x,), ONE, "RELU" if mean_by == "Unary" else "")
        x = run(program, "BinaryNg", (x, mean), ROWS, centred)
    by = "Unary" if square in ("SQUARE", "POWER", "RELU") else "BinaryNg"
    squared = run(program, by, (x, x), ROWS, square)
    scale = run(program, sum_by, (squared,), ONE)
    if plus:
        scale = run(program, "BinaryNg", (scale,), ONE, "ADD")
    scale = run(program, "Unary", (scale,), ONE, root)
    if also_read:
        run(program, "BinaryNg", (program.tensor(ROWS, "FLOAT32"), scale), [1, 1, 64, 480], also_read)
    run(program, "BinaryNg", (x, scale), ROWS, last)


def test_only_rotary_embeddings_ask_for_the_width_of_a_head(check, monkeypatch):
    monkeypatch.setitem(globals(), "ROWS", [1, 1, 64, 96])
    program = Program("wormhole_b0")
    norm(program)
    assert check.ask(program).claim.fix.startswith("ttnn.rms_norm(x, epsilon=1e-5, weight=gamma) in place of")


def softmax(program, *, stable=True, last="DIV", inverse=False, also_summed=False, also_read=False):
    x = run(program, "Typecast", (program.tensor(ROWS, "FLOAT32"),), ROWS)
    if stable:
        most = run(program, "Reduce", (x,), ONE)
        x = run(program, "BinaryNg", (x, most), ROWS, "SUB")
    power = run(program, "Unary", (x,), ROWS, "EXP")
    total = run(program, "Reduce", (power,), ONE)
    if also_summed:
        run(program, "Reduce", (power,), [1, 1, 64, 1])
    if inverse:
        total = run(program, "Unary", (total,), ONE, "RECIP")
    run(program, "BinaryNg", (power, total), ROWS, last)
    if also_read:
        run(program, "BinaryNg", (program.tensor([1, 1, 64, 480]), total), [1, 1, 64, 480], "DIV")


def rotary(program, *, sliced="Slice", negated="NEG", joined="Concat", product="MUL", last="ADD"):
    half = [1, 1, 64, 256]
    x = run(program, "Unary", (program.tensor(ROWS),), ROWS, "RELU")
    by_cos = run(program, "BinaryNg", (x, program.tensor([1, 1, 1, 512])), ROWS, "MUL")
    second = run(program, sliced, (x,), half)
    minus = run(program, "Unary", (second,), [1, 1, 64, 257], negated)
    first = run(program, "Slice", (x,), [1, 1, 64, 255])
    both = run(program, joined, (minus, first), [1, 1, 64, 513], "MUL" if joined == "BinaryNg" else "")
    by_sin = run(program, "BinaryNg", (both, program.tensor([1, 1, 1, 512])), [1, 1, 64, 514], product)
    run(program, "BinaryNg", (by_cos, by_sin), ROWS, last)


def partial_rotary(program, *, cos_behind="Concat", other="", times=2, total="ADD"):
    """The first 384 of 512 columns, as the port of a video model had it: halves that are no whole tiles, cut as rows."""
    part, half = [1, 1, 64, 384], [1, 1, 64, 192]
    x = run(program, "Unary", (program.tensor(ROWS),), ROWS, "RELU")
    front = run(program, "Slice", (x,), part)
    rest = run(program, "Slice", (x,), [1, 1, 64, 128])
    rows = run(program, "Untilize", (front,), part)
    second = run(program, "Slice", (rows,), half)
    first = run(program, "Slice", (rows,), [1, 1, 64, 191])
    minus = run(program, "Unary", (run(program, "Tilize", (second,), half),), [1, 1, 64, 193], "NEG")
    if other:
        run(program, "Unary", (program.tensor(part, "FLOAT32"),), [1, 1, 64, 390], other)
    both = run(program, "Concat", (run(program, "Untilize", (minus,), [1, 1, 64, 194]), first), [1, 1, 64, 385])
    turned = run(program, "Tilize", (both,), [1, 1, 64, 386])
    for place in range(times):
        turned = run(program, "BinaryNg", (turned, program.tensor([1, 1, 1, 384])), [1, 1, 64, 387 + place], "MUL")
    by = "Concat" if total == "Concat" else "BinaryNg"
    total = run(program, by, (turned, program.tensor(part, "FLOAT32")), [1, 1, 64, 395], total)
    said = cos_behind if cos_behind in ("MUL", "ADD") else ""
    run(program, "BinaryNg" if said else cos_behind, (total, rest), [1, 1, 64, 513], said)


@for_all("how", [{}, {"times": 1}])
def test_a_rotation_of_a_part_between_conversions_goes_whole(check, how):
    claim = check.assert_sound(of(partial_rotary, **how))
    ops = 12 + how.get("times", 2)
    assert claim.claim.startswith(f"rotary embedding runs as its formula (1x, {ops} ops, ")
    assert claim.rows.tolist() == list(range(1, 1 + ops))
    assert "cos=1 and sin=0 for the channels it leaves, in place of the ops from line" in claim.fix


@for_all("behind", ["Pad", "MUL", "ADD"])
def test_a_rotation_that_nothing_is_joined_to_ends_with_its_sum(check, behind):
    """Also where what is made of it is a product, as queries are often scaled."""
    claim = check.ask(of(partial_rotary, cos_behind=behind)).claim
    assert claim.rows.tolist() == list(range(1, 14))
    assert "cos=1" not in claim.fix


def test_what_runs_between_and_is_no_part_of_it_stays(check):
    assert check.ask(of(partial_rotary, other="RELU")).claim.rows.tolist() == [1, 3, 4, 5, 6, 7, *range(9, 16)]


@for_all("how", [{"times": 0}, {"times": 3}, {"total": "Concat"}])
def test_a_rotation_has_one_or_two_products_and_a_sum_behind_its_halves(check, how):
    check.pair(lambda one: of(partial_rotary, **one), silent=how, fires={})


def swish(program, *, scaled="MUL", by="BinaryNg", squashed="SIGMOID", last="MUL", other=ROWS, also_read="", up=0):
    """x * sigmoid(1.702 * x); with `up`, as many tensors of its shape are made before x."""
    for read in range(up):
        y = run(program, "Unary", (program.tensor(ROWS, "FLOAT32"),), ROWS, "RELU")
        if read:
            run(program, "Unary", (y,), [1, 1, 64, 500], "RELU")
    x = run(program, "Unary", (program.tensor(ROWS, "FLOAT32"),), ROWS, "RELU")
    y = program.tensor(other)
    multiple = run(program, "BinaryNg" if by == 2 else by, (x, y) if by == 2 else (x,), ROWS, scaled)
    bent = run(program, "Unary", (multiple,), ROWS, squashed)
    if also_read == "before":
        run(program, "Unary", (bent,), [1, 1, 64, 480], "RELU")
    run(program, "BinaryNg", (y, bent), ROWS if also_read != "behind" else [1, 1, 64, 490], last)
    if also_read == "behind":
        run(program, "Unary", (bent,), [1, 1, 64, 480], "RELU")


def of(build, **how):
    program = Program("wormhole_b0")
    build(program, **how)
    return program


@for_all(
    ("build", "how", "name", "rows"),
    [
        (norm, {}, "RMSNorm", [1, 2, 3, 4, 5]),
        (norm, {"plus": False, "square": "SQUARE", "root": "SQRT", "last": "DIV"}, "RMSNorm", [1, 2, 3, 4]),
        (norm, {"square": "POWER"}, "RMSNorm", [1, 2, 3, 4, 5]),
        (norm, {"centred": "ADD"}, "RMSNorm", [3, 4, 5, 6, 7]),
        (norm, {"centred": "SUB", "mean_by": "Unary"}, "RMSNorm", [3, 4, 5, 6, 7]),
        (norm, {"centred": "SUB"}, "LayerNorm", [1, 2, 3, 4, 5, 6, 7]),
        (softmax, {}, "softmax", [1, 2, 3, 4, 5]),
        (softmax, {"stable": False, "inverse": True, "last": "MUL"}, "softmax", [1, 2, 3, 4]),
        (rotary, {}, "rotary embedding", [1, 2, 3, 4, 5, 6, 7]),
        (rotary, {"sliced": "Typecast"}, "rotary embedding", [1, 3, 4, 5, 6, 7]),
    ],
)
def test_a_formula_is_named_with_all_its_ops(check, build, how, name, rows):
    claim = check.assert_sound(of(build, **how))
    assert claim.claim.startswith(f"{name} runs as its formula (1x, {len(rows)} ops, {20 * len(rows)} us, ")
    assert claim.rows.tolist() == rows
    assert claim.at_most_ns[:-1].tolist() == [20_000] * (len(rows) - 1)
    assert 0 < claim.at_most_ns[-1] < 20_000
    assert f"in place of the ops from line {claim.evidence[0].row} to {claim.evidence[1].row}" in claim.fix


@for_all(
    "how",
    [
        {"root": "RECIP"},
        {"square": "ADD"},
        {"last": "ADD"},
        {"also_read": "MUL"},
        {"sum_by": "Slice"},
    ],
)
def test_a_norm_with_another_step_is_none(check, how):
    check.pair(lambda one: of(norm, **one), silent=how, fires={})


@for_all("how", [{"last": "ADD"}, {"also_summed": True}, {"also_read": True}])
def test_a_softmax_with_another_step_is_none(check, how):
    check.pair(lambda one: of(softmax, **one), silent=how, fires={})


@for_all(
    "how", [{"negated": "RELU"}, {"joined": "Pad"}, {"joined": "BinaryNg"}, {"product": "ADD"}, {"last": "MUL"}]
)
def test_a_rotation_with_another_step_is_none(check, how):
    check.pair(lambda one: of(rotary, **one), silent=how, fires={})


def norm_of(program, x, shape):
    squared = run(program, "BinaryNg", (x, x), shape, "MUL")
    scale = run(program, "Unary", (run(program, "Reduce", (squared,), ONE),), ONE, "RSQRT")
    run(program, "BinaryNg", (x, scale), shape, "MUL")


def test_a_norm_of_what_no_op_made_subtracts_nothing(check):
    program, other = Program("wormhole_b0"), [1, 1, 64, 480]
    norm_of(program, program.tensor(other), other)
    x = run(program, "Unary", (program.tensor(ROWS),), ROWS, "RELU")
    run(program, "BinaryNg", (x, run(program, "Reduce", (x,), ONE)), ROWS, "SUB")  # the last op
    assert check.ask(program).claim.claim.startswith("RMSNorm")


def test_what_no_op_made_is_no_mean(check):
    program, other = Program("wormhole_b0"), [1, 1, 64, 480]
    x = run(program, "Unary", (program.tensor(ROWS),), ROWS, "RELU")
    norm_of(program, run(program, "BinaryNg", (x, program.tensor([1, 1, 1, 512])), ROWS, "SUB"), ROWS)
    run(program, "Reduce", (run(program, "Unary", (program.tensor(other),), other, "RELU"),), ONE)  # the last op
    assert check.ask(program).claim.claim.startswith("RMSNorm")


def test_an_exponent_that_nobody_sums_is_no_softmax(check):
    program = of(softmax)
    run(program, "Unary", (program.tensor([1, 1, 64, 480]),), [1, 1, 64, 480], "EXP")
    assert check.ask(program).claim.rows.tolist() == [1, 2, 3, 4, 5]


def test_a_product_at_the_end_is_no_step_of_a_rotation(check):
    program = of(rotary)
    other = program.tensor([1, 1, 64, 480])
    run(program, "BinaryNg", (other, other), [1, 1, 64, 480], "MUL")
    assert check.ask(program).claim.rows.tolist() == [1, 2, 3, 4, 5, 6, 7]


def test_a_sum_of_products_over_rows_is_no_norm(check):
    program = of(norm)
    for op in program.device_ops:
        if op.op_code == "ReduceDeviceOperation":
            op.outputs[0].shape = (1, 1, 1, 512)
    assert check.ask(program).status == "clean"


def test_the_heaviest_is_told_with_its_own_first_op(check):
    program = of(norm)
    norm(program, plus=False)
    program.device_ops[-1].kernel_ns = 90_000
    outcome = check.ask(program)
    lines = [outcome.case.line(row) for row in (7, 10)]
    assert [cell.row for cell in outcome.claim.evidence] == lines


@for_all(
    ("build", "how", "function", "place"),
    [
        (softmax, {}, "EXP", 3),
        (rotary, {}, "NEG", 3),
        (norm, {}, "RSQRT", 4),
        (swish, {}, "SIGMOID", 2),
        (swish, {"by": "Unary", "scaled": "MUL_UNARY_SFPU"}, "MUL_UNARY_SFPU", 1),
    ],
)
def test_a_function_that_another_op_applies_is_no_step(check, build, how, function, place):
    program = of(build, **how)
    assert function in str(program.device_ops[place].attributes)
    program.device_ops[place].op_code = "BinaryNgDeviceOperation"
    assert check.ask(program).status == "clean"


def test_a_sum_of_what_no_op_made_has_no_square(check):
    """Nobody's place is that of the last op, here a product."""
    program = Program("wormhole_b0")
    scale = run(program, "Unary", (run(program, "Reduce", (program.tensor(ROWS, "FLOAT32"),), ONE),), ONE, "RSQRT")
    run(program, "BinaryNg", (program.tensor(ROWS), scale), ROWS, "MUL")
    assert check.ask(program).status == "clean"


def test_a_power_by_a_tensor_is_a_square(check):
    program = of(norm, square="SUB")
    program.device_ops[1].attributes = {"binary_op_type": "BinaryOpType::POWER"}
    assert check.ask(program).claim.rows.tolist() == [1, 2, 3, 4, 5]


def test_each_function_is_a_claim(check):
    program = of(norm)
    softmax(program)
    norm(program, centred="SUB")
    norm(program)
    claims = check.ask(program).claims
    assert [claim.claim.split(", ")[0] for claim in claims] == [
        f"{name} runs as its formula ({count}x"
        for name, count in (("RMSNorm", 2), ("LayerNorm", 1), ("softmax", 1))
    ]


def test_half_a_percent_of_the_window_is_the_line(check):
    check.share_pair(softmax, 0.005, of="time")


def test_a_run_without_element_wise_ops_is_not_applicable(check):
    assert check.ask(no_such_ops()).status == "not_applicable"


def test_what_it_cannot_see_it_cannot_tell(check, tmp_path):
    assert_cannot_tell(check.ask(without(tmp_path, ("ATTRIBUTES",), of(norm))), "ATTRIBUTES")
    assert_cannot_tell(check.ask(without(tmp_path, ("PUT_",), of(norm))), "INPUT_n")
    assert_cannot_tell(check.ask(without(tmp_path, ("INPUT_1", "INPUT_2"), of(norm))), "INPUT_n")
    assert_cannot_tell(check.ask(of(norm), generation="C3"), "padded shapes only")


@for_all("how", [{}, {"scaled": "DIV"}, {"by": "Unary", "scaled": "MUL_UNARY_SFPU"}, {"up": 2}])
def test_gelu_by_a_sigmoid_is_silu_of_a_multiple(check, how):
    claim = check.assert_sound(of(swish, **how))
    assert claim.claim.startswith("SiLU of a multiple runs as its formula (1x, 3 ops, 60 us, ")
    assert (np.diff(claim.rows) == 1).all()
    assert claim.at_most_ns.tolist()[:2] == [20_000] * 2
    assert claim.at_most_ns[2] < 20_000
    assert "ttnn.multiply(x, 1.702, activations=[ttnn.UnaryOpType.SILU])" in claim.fix


@for_all(
    "how",
    [
        *({"scaled": "ADD"}, {"by": 2}, {"by": "Unary", "scaled": "RELU"}, {"squashed": "TANH"}, {"last": "ADD"}),
        *({"other": [1, 1, 64, 1]}, {"also_read": "before"}, {"also_read": "behind"}, {"up": 1}),
    ],
)
def test_a_sigmoid_of_something_else_is_none(check, how):
    check.pair(lambda one: of(swish, **one), silent=how, fires={})


def test_a_sigmoid_of_what_no_op_of_the_window_made_may_be_of_another_tensor(check):
    program = Program("wormhole_b0")
    multiple = run(program, "BinaryNg", (program.tensor(ROWS),), ROWS, "MUL")
    bent = run(program, "Unary", (multiple,), ROWS, "SIGMOID")
    run(program, "BinaryNg", (program.tensor(ROWS), bent), ROWS, "MUL")
    assert not check.ask(program).fires


def test_nor_is_one_of_what_no_op_made_at_all(check):
    """Nobody's place is that of the last op, here a multiple."""
    program = Program("wormhole_b0")
    bent = run(program, "Unary", (program.tensor(ROWS),), ROWS, "SIGMOID")
    run(program, "BinaryNg", (program.tensor(ROWS), bent), [1, 1, 64, 490], "MUL")
    x = run(program, "Unary", (program.tensor(ROWS, "FLOAT32"),), ROWS, "RELU")
    run(program, "BinaryNg", (x,), ROWS, "MUL")
    assert not check.ask(program).fires


def test_a_sigmoid_that_nobody_reads_is_none(check):
    program = Program("wormhole_b0")
    x = run(program, "Unary", (program.tensor(ROWS, "FLOAT32"),), ROWS, "RELU")
    run(program, "Unary", (run(program, "BinaryNg", (x,), ROWS, "MUL"),), ROWS, "SIGMOID")
    assert not check.ask(program).fires


@for_all(
    ("rows", "wide", "call"),
    [
        (64, 128, "rotary_embedding(x, cos, sin) in"),
        (64, 32, "rotary_embedding(x, cos, sin) in"),
        (100, 128, "rotary_embedding_hf(x, cos, sin) in"),
        (64, 96, "rotary_embedding_llama(x, cos, sin, trans_mat), weights' columns in pairs side by side, in"),
        (100, 80, "rotary_embedding_llama(x, cos, sin, trans_mat), weights' columns in pairs side by side, in"),
    ],
)
def test_the_rotary_op_takes_the_heads_and_gives_as_many_rows(check, rows, wide, call):
    """Real TTNN: 32 columns or a multiple of 64; of 100 rows `rotary_embedding` gives 128."""
    program, half = of(rotary), wide // 2
    columns = {512: wide, 256: half, 257: half + 1, 255: half - 1, 513: wide + 1, 514: wide + 2}
    tensors = {id(one): one for op in program.device_ops for one in (*op.inputs, *op.outputs)}
    for tensor in tensors.values():
        *outer, high, across = tensor.shape
        tensor.shape = [*outer, rows if high > 1 else 1, columns[across]]
    assert f"ttnn.experimental.{call} place" in check.ask(program).claim.fix


def test_a_part_of_heads_that_are_no_whole_halves_turns_side_by_side(check):
    program = of(partial_rotary)
    program.device_ops[-1].outputs[0].shape = [1, 1, 64, 480]
    assert (
        "pairs side by side, cos=1 and sin=0 for the channels it leaves, in place" in check.ask(program).claim.fix
    )
