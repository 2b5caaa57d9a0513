"""matmuls-on-one-input: Q, K and V, or gate and up, as matmuls of their own."""

from __future__ import annotations

import pytest

from tests.checks.asking import real_case
from tests.checks.rows import pass_time, put
from tests.checks.step3_programs import assert_cannot_tell, cells, no_such_ops, rewritten, without
from tests.for_all import for_all
from tests.profiles import Placement, Program
from tests.profiles.model import DeviceOp
from tests.shared_reports import CLIP, DEEPLAB, DEEPSEEK

FUSED = "UnaryWithParam(op_type=UnaryOpType::GELU,param={})"


def projection(
    program, x, n, kernel_ns=60_000, *, weights="BFLOAT8_B", place=None, fidelity="HiFi2", name="Matmul", fused=None
):
    w = program.tensor([1, 1, x.shape[3], n], weights, **({"placement": place} if place else {}))
    y = program.tensor([1, 1, x.shape[2], n])
    return put(
        program,
        DeviceOp(
            f"{name}DeviceOperation",
            (x, w),
            (y,),
            kernel_ns,
            fidelity=fidelity,
            attributes={"fused_activation": fused},
        ),
    )


def put_group(
    program, *, widths=(1280, 1280, 1280), apart=0, made=True, changed=None, fused=None, kernel_ns=60_000, rows=32,
    **how,
):  # fmt: skip
    """A norm, then matmuls on its output with `apart` other ops between; the last one `changed`."""
    given = program.tensor([1, 1, rows, 1280])
    x = (
        put(program, DeviceOp("LayerNormDeviceOperation", (given,), (program.tensor([1, 1, rows, 1280]),), 9_000))
        if made
        else given
    )
    for place, n in enumerate(widths):
        more = (changed or {}) if place == len(widths) - 1 else {}
        projection(program, x, n, **{"kernel_ns": kernel_ns, "fused": fused, **how, **more})
        for _ in range(apart):
            pass_time(program, 100)


def group(**how):
    program = Program("wormhole_b0")
    put_group(program, **how)
    return program


def test_three_matmuls_on_one_activation_are_told(check):
    """CLIP's Q, K and V: square, so that each seems to read the one before."""
    outcome = check.ask(group())
    claim, case = outcome.claim, outcome.case
    assert claim.rows.tolist() == [1, 2, 3]
    assert claim.at_most_ns.tolist() == [pytest.approx(40_000)] * 3  # 60 of 180 us stay
    assert claim.claim == (
        f"3 matmuls read 1 activation (180 us, 93.0%): 3 from line {case.line(1)} on, "
        f"32x1280 * 1280x1280 -> 32x1280 at line {case.line(1)}"
    )
    assert "ttnn.concat([w1, w2, w3], dim=-1)" in claim.fix
    assert [line for line, _ in cells(outcome)] == [case.line(row) for row in (1, 2, 3)]


def test_weights_that_the_op_turns_are_joined_by_their_rows(check):
    turned = group()
    for op in turned.device_ops:
        op.attributes = {**(op.attributes or {}), "transpose_b": True}
    assert "ttnn.concat([w1, w2, w3], dim=-2)" in check.ask(turned).claim.fix


def test_the_weights_of_two_and_of_many_are_told_too(check):
    for count, weights in ((2, "[w1, w2]"), (4, "[w1, w2, w3, ...]"), (5, "[w1, w2, w3, ...]")):
        claim = check.assert_sound(group(widths=(2560,) * count, rows=512))
        assert len(claim.rows) == count
        assert f"ttnn.concat({weights}, dim=-1)" in claim.fix


def test_functions_that_differ_go_onto_the_parts(check):
    """One matmul would apply the function of the first to all columns."""
    apart = "made for that N, functions on the parts; Q"
    assert apart in check.assert_sound(group(widths=(2560, 2560), rows=512, changed={"fused": FUSED})).fix
    assert apart not in check.ask(group(widths=(2560, 2560), rows=512, fused=FUSED)).claim.fix


def test_texts_are_short_and_cells_its_own(check):
    check.assert_sound(group())


def test_together_they_take_their_bytes_at_least(check):
    """Two of 13 MB each: 58 us at 240 GB/s."""
    outcome = check.ask(group(widths=(5120, 5120), kernel_ns=55_000))
    moved = sum(outcome.case.roofline.dram_achievable_ns[1:])
    assert moved > 55_000
    assert outcome.at_most_ns == pytest.approx(110_000 - moved)


@for_all("name", ["Matmul", "Linear", "MinimalMatmul"])
def test_gate_and_up_are_told(check, name):
    assert check.ask(group(widths=(1920, 1920), name=name)).claim.rows.tolist() == [1, 2]


def test_gate_and_up_of_one_token_stay_two(check):
    """They meet in a product, with SiLU on one of them or without; 25 of 27 tries at one matmul brought nothing."""

    def met(rows, function=False, third=False):
        program = Program("wormhole_b0")
        x = program.tensor([1, 1, rows, 1280])
        put(program, DeviceOp("LayerNormDeviceOperation", (program.tensor([1, 1, rows, 1280]),), (x,), 9_000))
        gate = projection(program, x, 1920)
        if function:
            gate = put(
                program, DeviceOp("UnaryDeviceOperation", (gate,), (program.tensor([1, 1, rows, 1920]),), 3_000)
            )
        up = projection(program, x, 1920)
        if third:
            projection(program, x, 640)
        put(program, DeviceOp("BinaryNgDeviceOperation", (gate, up), (program.tensor([1, 1, rows, 1920]),), 3_000))
        return program

    for function in (False, True):
        check.pair(lambda rows, function=function: met(rows, function), silent=32, fires=33)
    assert check.ask(met(32, third=True)).fires


def test_widths_may_differ(check):
    """Q, K and V with fewer heads for K and V."""
    assert check.ask(group(widths=(2048, 256, 256))).claim.rows.tolist() == [1, 2, 3]


@for_all(
    "changed", [{"weights": "BFLOAT4_B"}, {"fidelity": "LoFi"}, {"name": "SparseMatmul"}, {"kernel_ns": 4_999}, {"kernel_ns": 5_100}], ids=str
)  # fmt: skip
def test_one_that_differs_stays_alone(check, changed):
    """5.1 us are too few for 1.7 MB: that row shows what cannot be."""
    assert check.ask(group(changed=changed)).claim.rows.tolist() == [1, 2]
    assert check.ask(group(widths=(1920, 1920), changed=changed)).status == "clean"


def test_five_microseconds_are_worth_a_word(check):
    check.pair(lambda ns: group(widths=(96, 96), kernel_ns=ns, rows=64), silent=4_999, fires=5_000)


def test_for_one_token_the_split_costs_what_short_matmuls_save(check):
    """CosyVoice's three of 30 us took as long packed; over many rows they gain."""
    check.pair(lambda ns: group(kernel_ns=ns, widths=(1280, 1280)), silent=49_999, fires=50_000)
    check.pair(lambda rows: group(kernel_ns=30_000, rows=rows), silent=32, fires=33)


def test_sixty_percent_of_the_roofline_is_well_used(check):
    """2 x 2.8 MB and the activations take 24 us."""
    case = check.case(group(widths=(1920, 1920), rows=64))
    needed = float(case.roofline.dram_achievable_ns[1])
    check.pair(
        lambda share: group(widths=(1920, 1920), rows=64, kernel_ns=round(needed / share)),
        silent=0.603,
        fires=0.597,
    )


def test_dram_sharded_weights_have_their_cores(check):
    assert check.ask(group(place=Placement("DRAM", "WIDTH_SHARDED"))).status == "clean"


def test_what_another_op_made_is_no_weight(check):
    """Queries times keys: each has a tensor of its own."""
    program = Program("wormhole_b0")
    keys = [put(program, DeviceOp("UnaryDeviceOperation", (program.tensor([1, 1, 1280, n]),), (program.tensor([1, 1, 1280, n]),), 9_000)) for n in (96, 192)]  # fmt: skip
    x = put(program, DeviceOp("LayerNormDeviceOperation", (program.tensor([1, 1, 32, 1280]),), (program.tensor([1, 1, 32, 1280]),), 9_000))  # fmt: skip
    for key in keys:
        put(
            program,
            DeviceOp(
                "MatmulDeviceOperation",
                (x, key),
                (program.tensor([1, 1, 32, key.shape[3]]),),
                60_000,
                fidelity="HiFi2",
            ),
        )
    assert check.ask(program).status == "clean"


def test_the_models_input_is_not_known_to_be_one(check):
    program = Program("wormhole_b0")
    pass_time(program, 1_000)
    put_group(program, made=False)
    assert check.ask(program).status == "clean"


def test_a_chain_through_a_narrow_middle_is_no_group(check):
    """1280 -> 96 -> 1280 -> 96: the last one reads what the second wrote."""
    program = Program("wormhole_b0")
    x = put(program, DeviceOp("LayerNormDeviceOperation", (program.tensor([1, 1, 32, 1280]),), (program.tensor([1, 1, 32, 1280]),), 9_000))  # fmt: skip
    for n in (96, 1280, 96):
        x = projection(program, x, n)
    assert check.ask(program).status == "clean"


def test_a_window_without_matmuls_of_weights_is_clean(check):
    assert check.ask(group(kernel_ns=4_000)).status == "clean"


def test_a_square_matmul_with_an_activation_feeds_the_next(check):
    assert check.ask(group(fused=FUSED)).status == "clean"
    assert check.ask(group(widths=(1920, 1920), fused=FUSED)).fires


def test_eight_rows_are_near(check):
    check.pair(lambda apart: group(widths=(1920, 1920), apart=apart), silent=8, fires=7)


def test_slices_of_one_shape_have_a_reader_each(check):
    """Kimi Linear's two: shapes alone would let both matmuls read the second."""

    def program(slices):
        program = Program("wormhole_b0")
        whole = put(program, DeviceOp("LayerNormDeviceOperation", (program.tensor([1, 1, 32, 3840]),),
                                      (program.tensor([1, 1, 32, 3840]),), 9_000))  # fmt: skip
        for _ in range(slices):
            part = put(
                program, DeviceOp("SliceDeviceOperation", (whole,), (program.tensor([1, 1, 32, 1280]),), 5_000)
            )
        for n in (1280, 2560):
            projection(program, part, n, 120_000)
        return program

    check.pair(program, silent=2, fires=1)


def test_weights_in_batches_cannot_be_joined(check):
    def program(heads):
        made = group(rows=64, kernel_ns=120_000)
        for op in made.device_ops[-3:]:
            op.inputs[1].shape = (1, heads, *op.inputs[1].shape[2:])
        return made

    check.pair(program, silent=4, fires=1)


def test_two_activations_are_two_groups(check):
    program = group(widths=(1920, 1920), rows=64)
    pass_time(program, 1_000)
    put_group(program, widths=(1920, 1920, 1920), kernel_ns=63_000)
    outcome = check.ask(program)
    line = outcome.case.line(5)
    assert outcome.claim.claim.startswith(f"5 matmuls read 2 activations (309 us, 91.3%): 3 from line {line} on")
    assert outcome.claim.at_most_ns.tolist() == [pytest.approx(30_000)] * 2 + [pytest.approx(42_000)] * 3


def test_the_norms_of_two_matmuls_give_them_two_inputs(check):
    """Each norm writes what looks like what it read."""
    program = Program("wormhole_b0")
    for n in (1920, 2560, 640):
        put_group(program, widths=(n,))
    assert check.ask(program).status == "clean"


def test_one_percent_is_worth_telling(check):
    def longer(share):
        program = group()
        pass_time(program, 120_000 / share - 189_000)
        return program

    check.pair(longer, silent=0.00995, fires=0.01005)


def test_other_ops_are_not_applicable(check):
    assert check.ask(no_such_ops()).why == "no dense matmuls"


def test_without_its_cells_it_cannot_tell(check, tmp_path):
    assert_cannot_tell(check.ask(without(tmp_path, ("INPUT_",), group())), "INPUT_n")
    assert_cannot_tell(check.ask(rewritten(tmp_path / "arch", group(), DEVICE_ARCH="later_chip")), "architecture")


def test_a_real_encoder_has_q_k_and_v_in_each_of_32_layers(check):
    outcome = check.ask(real_case(CLIP))
    assert outcome.claim.claim.startswith("96 matmuls read 32 activations (5.9 ms, 17.2%): 3 from line ")


@for_all("name", [DEEPLAB, DEEPSEEK])
def test_other_real_models_have_none(check, name):
    assert check.ask(real_case(name)).status == "clean"
