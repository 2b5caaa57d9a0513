"""rows-not-read: rows that a slice drops, and logits of a whole prompt."""

from __future__ import annotations

import pytest

from tests.checks.rows import put
from tests.checks.step3_programs import assert_cannot_tell, no_such_ops, without
from tests.for_all import for_all
from tests.profiles import Program
from tests.profiles.model import DeviceOp


def run(program, name, inputs, shape, ns=400_000, **how):
    return put(program, DeviceOp(f"{name}DeviceOperation", inputs, (program.tensor(shape),), ns, fidelity="HiFi2", **how))  # fmt: skip


def dropped(
    program,
    kept=512,
    *,
    name="Matmul",
    columns=2048,
    first="LayerNorm",
    also_read=False,
    made=False,
    cut="Slice",
    ns=400_000,
):
    """A norm and a matmul over 1024 rows, of which some are kept."""
    x = run(program, first, (program.tensor([1, 1, 1024, 1024]),), [1, 1, 1024, 1024], 100_000)
    w = program.tensor([1, 1, 1024, 2048], "BFLOAT8_B")
    if made:
        put(program, DeviceOp("MadeUp", (program.tensor([1, 1, 32, 32], "UINT16"),), (w,), 1_000))
    y = run(program, name, (x, w), [1, 1, 1024, 2048], ns)
    if also_read:
        put(program, DeviceOp("MadeUp", (y,), (program.tensor([1, 1, 32, 32], "UINT16"),), 1_000))
    run(program, cut, (y,), [1, 1, kept, columns], 20_000)


def head(
    program, rows=128, *, wide=8192, deep=1024, attention="ScaledDotProductAttention", then="", prompt=0, made=False
):
    """A prompt's attention, then the LM head."""
    if attention:
        q = program.tensor([1, 16, prompt or rows, 64])
        run(program, attention, (q, q, q), [1, 16, prompt or rows, 64], 50_000)
    x, w = program.tensor([1, 1, rows, deep]), program.tensor([1, 1, deep, wide], "BFLOAT8_B")
    if made:
        put(program, DeviceOp("MadeUp", (program.tensor([1, 1, 32, 32], "UINT16"),), (w,), 1_000))
    logits = run(program, "Matmul", (x, w), [1, 1, rows, wide])
    if then:
        run(program, then, (logits, program.tensor([1, 1, wide, 64], "BFLOAT8_B")), [1, 1, rows, 64], 5_000)


def of(build, *args, **how):
    program = Program("blackhole")
    build(program, *args, **how)
    return program


def test_what_a_slice_drops_need_not_be_computed(check):
    claim = check.assert_sound(of(dropped, 256))
    assert claim.claim.startswith(
        "Rows are computed that a slice drops (2x, 500 us, 95.6%): 1024x1024 * 1024x2048 -> "
    )
    assert claim.claim.endswith("of whose rows 25.0% are needed")
    assert claim.rows.tolist() == [0, 1]
    assert claim.at_most_ns.tolist() == [75_000, 300_000]
    assert claim.fix.startswith("ttnn.slice the input first, before the op at line ")


def test_the_bytes_of_the_weights_stay(check):
    saved = check.ask(of(dropped, 1, columns=2048)).claim.at_most_ns
    assert saved[0] == pytest.approx(100_000 * 1023 / 1024)
    assert 300_000 < saved[1] < 400_000 - 4_000


def test_a_time_below_the_roofline_promises_nothing(check):
    assert check.ask(of(dropped, ns=1_000)).claim.at_most_ns.tolist() == [50_000, 0]


def test_half_of_the_rows_are_the_line(check):
    check.pair(lambda kept: of(dropped, kept), silent=513, fires=512)


@for_all(
    "how",
    [
        {"columns": 1024},
        {"also_read": True},
        {"name": "Softmax"},
        {"name": "SparseMatmul"},
        {"made": True},
        {"cut": "Reduce"},
    ],
)
def test_other_slices_and_other_ops_stay(check, how):
    check.pair(lambda one: of(dropped, **one), silent=how, fires={})


@for_all("name", ["Linear", "MinimalMatmul"])
def test_every_dense_matmul_counts(check, name):
    assert check.ask(of(dropped, name=name)).claim.rows.tolist() == [0, 1]


@for_all(("first", "rows"), [("RMSNorm", [0, 1]), ("Unary", [0, 1]), ("BinaryNg", [1]), ("Softmax", [1])])
def test_row_wise_ops_before_it_count(check, first, rows):
    assert check.ask(of(dropped, first=first)).claim.rows.tolist() == rows


def test_a_prompts_logits_are_told(check):
    claim = check.assert_sound(of(head))
    assert claim.claim.startswith("Logits are computed for all rows (1x, 400 us, 88.6%): ")
    assert claim.claim.endswith("of whose rows 25.0% are needed")
    assert claim.at_most_ns.tolist() == [300_000]
    assert claim.fix.startswith("x = x[:, :, -32:, :], the last rows, first, before the op at line ")


def test_the_lines_of_an_lm_head(check):
    check.pair(lambda rows: of(head, rows), silent=96, fires=128)
    check.pair(lambda wide: of(head, wide=wide), silent=8160, fires=8192)
    check.pair(lambda deep: of(head, deep=deep), silent=4128, fires=4096)
    check.pair(lambda prompt: of(head, 256, prompt=prompt), silent=192, fires=64)


@for_all("how", [{"attention": ""}, {"attention": "SdpaDecode"}, {"then": "Matmul"}, {"made": True}])
def test_a_head_of_decode_or_in_the_middle_stays(check, how):
    check.pair(lambda one: of(head, **one), silent=how, fires={"then": "Softmax"})


@for_all("name", ["SparseMatmul", "AllGatherMatmulAsync"])
def test_a_matmul_of_another_kind_is_no_head(check, name):
    program = of(head)
    program.device_ops[-1].op_code = f"{name}DeviceOperation"
    assert check.ask(program).status == "clean"


def test_a_head_whose_rows_a_slice_drops_is_told_once(check):
    program = of(head, 1024)
    run(program, "Slice", (program.device_ops[-1].outputs[0],), [1, 1, 32, 8192], 5_000)
    assert len(check.ask(program).claims) == 1


def test_a_window_of_attention_alone_has_no_head(check):
    program = of(head)
    program.device_ops[-1].op_code = "LayerNormDeviceOperation"
    assert check.ask(program).status == "clean"


def test_one_percent_of_the_window_is_the_line(check):
    check.share_pair(dropped, 0.01, of="saving", arch="blackhole")


def test_a_run_without_matmuls_is_not_applicable(check):
    assert check.ask(no_such_ops()).status == "not_applicable"


def test_what_it_cannot_see_it_cannot_tell(check, tmp_path):
    assert_cannot_tell(check.ask(without(tmp_path, ("PUT_",), of(dropped))), "INPUT_n")
    assert_cannot_tell(check.ask(of(dropped), generation="C3"), "padded shapes only")
