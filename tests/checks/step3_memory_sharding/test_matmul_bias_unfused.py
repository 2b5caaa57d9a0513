"""matmul-bias-unfused: a row added behind a matmul that could add it."""

from __future__ import annotations

from tests.checks.rows import pass_time, put
from tests.checks.step3_programs import assert_cannot_tell, no_such_ops, without
from tests.for_all import for_all
from tests.profiles import Program, block_sharded
from tests.profiles.model import DeviceOp
from tests.profiles.ops import binary, matmul
from tests.shared_reports import OFT, shared


def biased(
    program,
    *,
    added=(1, 1, 1, 256),
    into="BFLOAT16",
    also_read=False,
    has_bias=False,
    batch=1,
    kind="ADD",
    name=None,
    rows=512,
    ns=5_940,
):
    """Matmul and bias of tt-metal's guide: 5.05 us in one op, 10.99 in two."""
    x, w = program.tensor([batch, 1, rows, 1024]), program.weight([batch, 1, 1024, 256])
    y = program.tensor([batch, 1, rows, 256])
    op = matmul(x, w, y, 5_050)
    if name:
        op.op_code = name
    if has_bias:
        op.inputs = (*op.inputs, program.weight([1, 1, 1, 256]))
    put(program, op)
    if also_read:
        put(program, DeviceOp("MadeUp", (y,), (program.tensor([1, 1, 32, 32], "UINT16"),), 1_000))
    op = binary(kind, y, program.weight(list(added)), program.tensor([batch, 1, rows, 256], into), ns)
    how = "ROW_B" if added[2] == 1 else "NONE"
    op.attributes = {**op.attributes, "subtile_broadcast_type": f"SubtileBroadcastType::{how}"}
    put(program, op)


def of_biased(**how):
    program = Program("wormhole_b0")
    biased(program, **how)
    return program


def test_the_row_goes_into_the_matmul(check):
    claim = check.assert_sound(of_biased())
    assert claim.claim.startswith(
        "Additions of one row run behind matmuls (1x, 6 us, 47.6%): heaviest 512x256 * 1[32]"
    )
    assert claim.claim.endswith("at line 5, behind line 4")
    assert claim.fix.startswith("ttnn.linear(x, w, bias=row, ...) at line 4")
    assert "[1, 1, 1, 256]" in claim.fix
    assert claim.at_most_ns.tolist() == [5_940]
    assert [one.value for one in claim.evidence] == ["BinaryOpType::ADD", 5_940, "BFLOAT16"]


@for_all("name", ["LinearDeviceOperation", "MinimalMatmulDeviceOperation"])
def test_what_takes_a_bias_can_add_it(check, name):
    assert check.ask(of_biased(name=name)).fires


def test_others_cannot(check):
    assert check.ask(of_biased(name="SparseMatmulDeviceOperation")).status == "clean"


@for_all("change", ["also_read", "has_bias"])
def test_the_sum_alone_may_read_a_matmul_without_a_bias(check, change):
    check.pair(lambda one: of_biased(**{change: one}), silent=True, fires=False)


def test_a_residual_path_is_no_bias(check):
    check.pair(lambda added: of_biased(added=added), silent=(1, 1, 512, 256), fires=(1, 1, 1, 256))


def test_a_column_is_no_bias(check):
    check.pair(lambda added: of_biased(added=added), silent=(1, 1, 512, 1), fires=(1, 1, 1, 256))


def test_one_row_of_output_may_be_a_residual_path(check):
    check.pair(lambda rows: of_biased(rows=rows), silent=1, fires=2)


@for_all(
    ("of", "key"),
    [(0, "user_fused_activation"), (0, "program_config"), (1, "post_activations"), (1, "lhs_activations")],
)
def test_a_function_of_the_matmul_or_of_the_sum_comes_between(check, of, key):
    """f(x W) + b is not f(x W + b); and TTNN has no sum left to apply it."""

    def applying(function):
        made = of_biased()
        made.device_ops[of].attributes[key] = function and f"Any(op_type=UnaryOpType::{function},param={{}})"
        return made

    check.pair(applying, silent="RELU", fires="")


def test_a_matmul_on_shards_adds_it_where_a_config_is_set(check):
    """Without one real TTNN runs the sum as an op of its own there."""

    def on_shards(config):
        made = of_biased()
        op = made.device_ops[0]
        op.inputs[0].placement = block_sharded(64, 128, (8, 8))
        op.attributes["program_config"] = config
        return made

    check.pair(
        on_shards, silent=None, fires="MatmulMultiCoreReuseMultiCastProgramConfig(in0_block_w=4,per_core_M=2)"
    )


def test_weights_with_a_batch_take_none(check):
    check.pair(lambda batch: of_biased(batch=batch), silent=2, fires=1)


def test_other_functions_of_a_row_stay(check):
    check.pair(lambda kind: of_biased(kind=kind), silent="MUL", fires="ADD")


def test_a_sum_that_narrows_is_two_things(check):
    check.pair(lambda into: of_biased(into=into), silent="BFLOAT8_B", fires="BFLOAT16")


def test_half_a_percent_of_the_window_is_the_line(check):
    check.share_pair(biased, 0.005, of="time")


def test_other_ops_first_change_nothing(check):
    program = Program("wormhole_b0")
    pass_time(program, 5_000)
    biased(program)
    assert check.ask(program).claim.rows.tolist() == [2]


def test_a_compilers_user_writes_one_linear(check):
    assert "torch.nn.Linear" in check.ask(of_biased(), generation="tt-torch").claim.fix


def test_without_logical_shapes_the_op_says_that_it_adds_a_row(check):
    """32 rows and one row look alike there."""
    check.pair(lambda added: of_biased(added=added), silent=(1, 1, 32, 256), fires=(1, 1, 1, 256), generation="C3")
    check.pair(lambda rows: of_biased(rows=rows), silent=32, fires=33, generation="C3")


def test_a_run_without_matmuls_is_not_applicable(check):
    assert check.ask(no_such_ops()).status == "not_applicable"


@for_all(("lost", "word"), [("PUT_", "INPUT_n"), ("ATTRIBUTES", "ATTRIBUTES")])
def test_what_it_cannot_see_it_cannot_tell(check, tmp_path, lost, word):
    assert_cannot_tell(check.ask(without(tmp_path, (lost,), of_biased())), word)


def test_a_real_report_s_six_biases_are_too_short_to_tell(check):
    assert check.ask(shared(OFT)).status == "clean"
