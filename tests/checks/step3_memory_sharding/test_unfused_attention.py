"""unfused-attention: matmul, scale, mask, softmax, matmul as single ops, where one fused op would do."""

from __future__ import annotations

from dataclasses import replace

import pytest

from tests.checks.rows import put
from tests.checks.step3_programs import assert_cannot_tell, cells, no_such_ops, rewritten, timeless, without
from tests.for_all import for_all
from tests.profiles import Program
from tests.profiles.model import DeviceOp
from tests.profiles.ops import binary, matmul, unary

HEADS = [1, 20, 64, 64]  # 20 heads of 64 rows and 64 columns: 164 kB
CORES, TIME = "CORE COUNT", "DEVICE KERNEL DURATION [ns]"


def attention(
    program,
    *,
    heads=HEADS,
    gates=(),
    before=1,
    kind="ADD",
    scalar=None,
    after=0,
    weights=False,
    values_are_weights=False,
    other_scores=False,
    keys=None,
    times=(30_000, 4_000, 20_000, 50_000),
    cores=(1, 2),
):
    """q @ k, `before` masks, softmax, `after` scalings, @ v; `times` of matmul, mask, softmax, matmul.

    With a `scalar` what stands before is of this `kind`, and reads no second tensor.
    """
    q, k, v = (put(program, unary("RELU", program.tensor(heads), program.tensor(heads), 4_000)) for _ in range(3))
    if keys:
        name, shape, turned = keys
        k = put(program, DeviceOp(name, (program.tensor(shape),), (program.tensor(turned),), 7_000))
    if weights:
        k = program.weight([1, 1, *heads[2:]])
    if values_are_weights:
        v = program.weight([1, 1, *heads[2:]])
    scores = put(program, matmul(q, k, program.tensor(heads), times[0], cores=cores[0]))
    for _ in range(before):
        between = binary(kind, scores, program.tensor(heads), program.tensor(heads), times[1])
        if scalar is not None:
            between = replace(between, inputs=(scores,), attributes={**between.attributes, "scalar": scalar})
        scores = put(program, between)
    softmax = DeviceOp("SoftmaxDeviceOperation", (scores,), (program.tensor(heads),), times[2], fidelity="HiFi4")
    scores = put(program, softmax)
    for name in gates:
        scores = put(program, DeviceOp(name, (scores,), (program.tensor(heads),), times[1]))
    for _ in range(after):
        scores = put(program, binary("MUL", scores, program.tensor(heads), program.tensor(heads), times[1]))
    if other_scores:
        scores = program.tensor([1, 20, 64, 128])
    put(program, matmul(scores, v, program.tensor(heads), times[3], cores=cores[1]))


def written_out(**how):
    program = Program("wormhole_b0")
    attention(program, **how)
    return program


def test_attention_written_out_is_told(check):
    outcome = check.ask(written_out())
    claim, lines = outcome.claim, [outcome.case.line(row) for row in range(7)]
    assert claim.at_most_ns.tolist() == [
        pytest.approx(ns * (1 - 5 / 104)) for ns in (30_000, 4_000, 20_000, 50_000)
    ]
    assert claim.claim == (
        "1 attention is written out as 4 ops (104 us, 83.2%), matmuls on 1 to 2 of 64 cores: "
        f"heaviest from 20x64x64 * 20x64x64 -> 20x64x64 at line {lines[3]} to line {lines[6]}"
    )
    assert claim.fix.startswith(
        "ttnn.transformer.scaled_dot_product_attention(q, k, v, attn_mask=mask, is_causal=False, scale=..."
    )
    assert cells(outcome) == [
        (lines[3], TIME),
        (lines[3], CORES),
        (lines[6], TIME),
        (lines[6], CORES),
    ]


def test_texts_are_short_and_cells_its_own(check):
    check.assert_sound(written_out())


def test_heads_fill_whole_tiles_and_masks_all_rows(check):
    """Real TTNN: "Padding is not supported on the head_dim dimension", "Mask sequence length must match Q"."""
    claim = check.assert_sound(written_out(heads=[1, 20, 72, 72]))
    assert "not transposed, d=72 padded to 96 (zeros, scale as now); heads by" in claim.fix
    assert "a BFLOAT16 mask of all rows, " in claim.caveat
    whole = check.ask(written_out(before=0)).claim.fix
    assert whole.endswith(
        "with k not transposed; heads by ttnn.experimental.nlp_create_qkv_heads, back by nlp_concat_heads"
    )


def test_heads_of_other_rows_than_the_queries_stay_as_they_are(check):
    """Real TTNN's nlp_create_qkv_heads: "KV tensor seq_len dim must be same as Q tensor seq_len!" """
    program = Program("wormhole_b0")
    q, k, v = ([1, 1, 16384, 32], [1, 1, 32, 256], [1, 1, 256, 32])
    q, k, v = (put(program, unary("RELU", program.tensor(one), program.tensor(one), 4_000)) for one in (q, k, v))
    scores = put(program, matmul(q, k, program.tensor([1, 1, 16384, 256]), 300_000, cores=8))
    softmax = DeviceOp("SoftmaxDeviceOperation", (scores,), (program.tensor([1, 1, 16384, 256]),), 90_000)
    put(program, matmul(put(program, softmax), v, program.tensor([1, 1, 16384, 32]), 300_000, cores=8))
    fix = check.assert_sound(program).fix
    assert fix.endswith("with k not transposed; heads of q, k and v as they are now, back by nlp_concat_heads")


def test_without_a_second_tensor_there_is_no_mask_and_a_single_number_is_the_scale(check):
    outcome = check.ask(written_out(before=0))
    assert outcome.at_most_ns == pytest.approx(95_000)
    assert "(q, k, v, is_causal=False, scale=..., " in outcome.claim.fix
    scaled = check.ask(written_out(kind="MUL", scalar=0.125)).claim
    assert "(q, k, v, is_causal=False, scale=0.125, compute_kernel" in scaled.fix
    assert "BFLOAT16 mask" not in scaled.caveat
    assert "scale=0.125, compute" in check.ask(written_out(kind="MUL", scalar=0.125, after=1)).claim.fix
    assert "is_causal=False, scale=1 / 8, compute" in check.ask(written_out(kind="DIV", scalar=8)).claim.fix
    for how in ({"kind": "MUL"}, {"before": 2, "kind": "MUL", "scalar": 0.5}, {"kind": "ADD", "scalar": 1}):
        assert "(q, k, v, is_causal=False, scale=..., " in check.ask(written_out(**how)).claim.fix, how
    program = written_out(kind="MUL", scalar=0.125)
    softmax = next(op for op in program.device_ops if "Softmax" in op.op_code)
    softmax.attributes = {"scale": 0.125}
    assert "scale=..., " in check.ask(program).claim.fix


ROWS_OF_KEYS, TURNED = [1, 20, 32, 128], [1, 20, 128, 32]


@for_all(
    ("keys", "goes"),
    [
        (("TransposeDeviceOperation", ROWS_OF_KEYS, TURNED), True),
        (("PermuteDeviceOperation", ROWS_OF_KEYS, TURNED), True),
        (("TransposeDeviceOperation", [20, 1, 32, 128], TURNED), False),  # heads, too
        (("PermuteDeviceOperation", [1, 32, 20, 128], [1, 20, 32, 128]), False),  # of a cast of heads
        (("ReshapeDeviceOperation", ROWS_OF_KEYS, TURNED), False),
    ],
)
def test_the_op_that_turns_keys_goes_whole(check, keys, goes):
    outcome = check.ask(written_out(keys=keys))
    assert len(outcome.claim.rows) == (5 if goes else 4)
    assert outcome.at_most_ns == pytest.approx(99_000 + (7_000 if goes else 0))
    assert ("5 us at least; K is not turned" in outcome.claim.assumption) is goes


@for_all(("reader", "goes"), [(TURNED, False), (ROWS_OF_KEYS, True), (HEADS, True)])
def test_turned_keys_that_others_read_stay(check, reader, goes):
    def reads(program):
        put(program, unary("RELU", program.tensor(reader), program.tensor([1, 1, 32, 96]), 4_000))

    program = Program("wormhole_b0")
    reads(program)  # what nobody made
    attention(program, keys=("TransposeDeviceOperation", ROWS_OF_KEYS, TURNED))
    assert len(check.ask(program).claim.rows) == 5
    reads(program)
    assert len(check.ask(program).claim.rows) == (5 if goes else 4)


@for_all("side", ["before", "after"])
def test_five_ops_may_lie_between(check, side):
    check.pair(lambda count: written_out(**{side: count}), silent=6, fires=5)


@for_all(
    "change",
    [
        {"gates": ["TopKDeviceOperation"]},
        {"weights": True},
        {"values_are_weights": True},
        {"other_scores": True},
    ],
    ids=["a router", "a weight", "weights as values", "other scores"],
)
def test_a_softmax_elsewhere_is_no_attention(check, change):
    assert check.ask(written_out(**change)).status == "clean"


@for_all("name", ["TypecastDeviceOperation", "ReshardDeviceOperation", "UnaryDeviceOperation"])
def test_typecasts_and_moves_belong_to_it(check, name):
    assert check.ask(written_out(gates=[name])).fires


def test_five_microseconds_are_the_least_a_fused_op_takes(check):
    assert check.ask(written_out(before=0, times=(2_000, 0, 2_000, 2_000))).at_most_ns == pytest.approx(1_000)
    assert check.ask(written_out(before=0, times=(2_000, 0, 1_000, 2_000))).status == "clean"


def test_an_attention_quicker_than_a_fused_one_takes_nothing_from_another(check):
    program = written_out(before=0)
    attention(program, heads=[1, 10, 64, 64], before=0, times=(1_000, 0, 1_000, 1_000))
    outcome = check.ask(program)
    assert len(outcome.claim.rows) == 3
    assert "1 attention is written out as 3 ops" in outcome.claim.claim


def test_q_k_v_and_the_result_pass_dram_all_the_same(check):
    """Four tensors of 4.2 MB: 70 us at 240 GB/s; the scores between would be 134 MB."""
    heads = [1, 16, 64, 2048]
    program = Program("wormhole_b0")
    q, v = (put(program, unary("RELU", program.tensor(heads), program.tensor(heads), 4_000)) for _ in range(2))
    k = put(program, unary("RELU", program.tensor([1, 16, 2048, 64]), program.tensor([1, 16, 2048, 64]), 4_000))
    square = [1, 16, 64, 64]
    scores = put(program, matmul(q, k, program.tensor(square), 90_000, fidelity="LoFi"))
    scores = put(program, DeviceOp("SoftmaxDeviceOperation", (scores,), (program.tensor(square),), 20_000))
    put(program, matmul(scores, v, program.tensor(heads), 90_000, fidelity="LoFi"))
    assert check.ask(program).at_most_ns == pytest.approx(200_000 - 4 * q.bytes / 240)


def test_the_arithmetic_of_both_matmuls_stays(check):
    """2 x 4.3 GFLOP: at HiFi2 2 x 32.8 us on 64 cores; 1 MB each of Q, K, V."""
    heads = [1, 8, 1024, 64]
    square = [1, 8, 1024, 1024]
    program = Program("wormhole_b0")
    q, v = (put(program, unary("RELU", program.tensor(heads), program.tensor(heads), 4_000)) for _ in range(2))
    k = put(program, unary("RELU", program.tensor([1, 8, 64, 1024]), program.tensor([1, 8, 64, 1024]), 4_000))
    scores = put(program, matmul(q, k, program.tensor(square), 300_000, fidelity="HiFi4"))
    scores = put(program, DeviceOp("SoftmaxDeviceOperation", (scores,), (program.tensor(square),), 300_000))
    put(program, matmul(scores, v, program.tensor(heads), 300_000, fidelity="HiFi4"))
    arithmetic = 2 * (2 * 8 * 1024 * 1024 * 64) * 4 / (4096 * 64)
    assert check.ask(program).at_most_ns == pytest.approx(900_000 - arithmetic)


def test_one_percent_of_the_window_is_worth_telling(check):
    check.share_pair(attention, 0.01, of="saving")


def test_the_heaviest_attention_is_shown(check):
    program = written_out(cores=(4, 8))
    attention(program, heads=[1, 20, 32, 32], times=(60_000, 4_000, 20_000, 50_000), cores=(3, 16))
    attention(program, heads=[1, 10, 64, 64])
    outcome = check.ask(program)
    assert "3 attentions are written out as 12 ops" in outcome.claim.claim
    assert "matmuls on 1 to 16 of 64 cores" in outcome.claim.claim
    lines = outcome.case.line(10), outcome.case.line(13)
    assert outcome.claim.claim.endswith(f"at line {lines[0]} to line {lines[1]}")


def test_decode_has_one_row_of_q(check):
    program = Program("wormhole_b0")
    one, keys, scored = [1, 20, 1, 64], [1, 20, 64, 128], [1, 20, 1, 128]
    q = put(program, unary("RELU", program.tensor(one), program.tensor(one), 4_000))
    k = put(program, unary("RELU", program.tensor(keys), program.tensor(keys), 4_000))
    v = put(program, unary("RELU", program.tensor([1, 20, 128, 64]), program.tensor([1, 20, 128, 64]), 4_000))
    scores = put(program, matmul(q, k, program.tensor(scored), 30_000))
    scores = put(program, DeviceOp("SoftmaxDeviceOperation", (scores,), (program.tensor(scored),), 20_000))
    put(program, matmul(scores, v, program.tensor(one), 30_000))
    assert "scaled_dot_product_attention_decode(q, k, v" in check.ask(program).claim.fix


def test_a_chip_nobody_knows_leaves_the_five_microseconds(check, tmp_path):
    claim = check.ask(rewritten(tmp_path, written_out(before=0), DEVICE_ARCH="quasar")).claim
    assert claim.at_most_ns.sum() == pytest.approx(95_000)


@for_all("lost", [("CORE COUNT",), ("=CORE COUNT=",)], ids=["no grid either", "cores alone"])
def test_cores_are_told_only_where_the_report_has_them(check, tmp_path, lost):
    claim = check.ask(without(tmp_path, lost, written_out())).claim
    assert "(104 us, 83.2%): heaviest" in claim.claim


def test_a_window_without_kernel_time_is_clean(check):
    assert check.ask(timeless(written_out())).status == "clean"


def test_a_run_without_softmax_is_not_applicable(check):
    outcome = check.ask(no_such_ops())
    assert (outcome.status, outcome.why) == ("not_applicable", "no softmax ops: no attention, or a fused one")


@for_all("lost", [("PUT_",), ("INPUT_1", "INPUT_2")])
def test_without_operands_it_cannot_tell(check, tmp_path, lost):
    assert_cannot_tell(check.ask(without(tmp_path, lost)), "INPUT_n")


def test_an_op_quicker_than_its_bytes_has_nothing_to_give(check):
    """A scaling of 0.3 MB in 0.1 us: the time or the operands are those of another op."""
    outcome = check.ask(written_out(times=(30_000, 100, 20_000, 50_000)))
    least = outcome.claim.at_most_ns.min()
    assert least == 0 < check.ask(written_out()).claim.at_most_ns.min()
