"""weights-prepared-every-call: conversions of a conv's constant weights in a warm iteration."""

from tests.analyses.tables import ops_of
from tests.checks.asking import real_case
from tests.checks.conv_programs import TUNED, Conv, halo_output, relu, with_conv, without_convs
from tests.checks.rows import ONE_PASS, put
from tests.for_all import for_all
from tests.profiles import Program
from tests.profiles.model import DeviceOp
from tests.profiles.ops import matmul, tilize
from tests.shared_reports import DEEPLAB
from ttnn_mcp.checks.step6_conv2d.weights_prepared_every_call import preparations_of

ONE_CONV = Conv(block=(8, 6))
CONV = Conv(block=(8, 6))


def conv_of(program, weight, kernel_ns=100_000):
    x, out = halo_output(program, CONV), program.tensor([1, 1, CONV.rows, CONV.columns], CONV.out)
    how = {"cores": 64, "fidelity": "HiFi2", "attributes": CONV.attributes()}
    return put(program, DeviceOp("Conv2dDeviceOperation", (x, weight), (out,), kernel_ns, **how))


def prepared(program, kernel_ns=30_000, width=64):
    """Raw weights tilized, then the conv that takes them."""
    raw = program.weight([1, 1, 576, width], layout="ROW_MAJOR")
    conv_of(program, put(program, tilize(raw, program.tensor([1, 1, 576, width]), kernel_ns)))


def with_preparation(**how):
    program = Program("wormhole_b0")
    prepared(program, **how)
    return program


def converted(steps):
    """Weights that so many ops of layout and shape turn into what the conv takes."""
    program = Program("wormhole_b0")
    x = program.weight([1, 1, 576, 64], layout="ROW_MAJOR")
    for step in range(steps):
        rows, dtype = 576 * (1 + step % 2), ("BFLOAT16", "FLOAT32", "BFLOAT8_B")[step % 3]
        op_code = ("PermuteDeviceOperation", "PadDeviceOperation")[step % 2]
        x = put(program, DeviceOp(op_code, (x,), (program.tensor([1, 1, rows, 64], dtype),), 10_000))
    conv_of(program, x)
    return program


def test_weights_tilized_in_a_warm_iteration_are_prepared_once_too_often(check):
    claim = check.assert_sound(with_preparation())
    assert claim.rows.tolist() == [0]
    assert claim.at_most_ns.tolist() == [30_000]
    assert "Weights of 1 conv are prepared in a warm iteration (1x, 30 us" in claim.claim
    assert "576x64 -> 576x64 at line 4 for the conv at line 5" in claim.claim
    assert "prepare_conv_weights" in claim.fix
    assert "return_weights_and_bias=True" in claim.fix
    assert [one.value for one in claim.evidence] == [30_000]


def test_half_a_percent_of_the_window_is_the_line(check):
    check.share_pair(prepared, 0.005, of="time")


def test_six_ops_may_prepare_a_weight(check):
    assert check.ask(converted(1)).claim.rows.tolist() == [0]
    found = check.pair(converted, silent=7, fires=6)
    assert found.claim.rows.tolist() == [0, 1, 2, 3, 4, 5]


def test_weights_prepared_in_the_only_pass_may_be_right(check):
    outcome = check.ask(with_preparation(), ONE_PASS)
    assert outcome.status == "cannot_tell"
    assert "2 or more iterations" in outcome.why
    assert check.ask(with_conv(**TUNED), ONE_PASS).status == "clean"


def test_a_second_operand_that_ops_computed_is_no_weight(check):
    program = Program("wormhole_b0")
    a, b = program.tensor([1, 1, 576, 64]), program.weight([1, 1, 64, 64])
    made = put(program, matmul(a, b, program.tensor([1, 1, 576, 64]), 20_000))
    conv_of(program, put(program, tilize(made, program.tensor([1, 1, 576, 64], "BFLOAT8_B"), 30_000)))
    assert check.ask(program).status == "clean"


def test_weights_that_come_as_they_are_need_no_preparation_whatever_runs_last(check):
    program = with_conv(**TUNED)
    raw = program.tensor([1, 1, 96, 64], layout="ROW_MAJOR")
    put(program, tilize(raw, program.tensor([1, 1, 96, 64]), 50_000))
    assert check.ask(program).status == "clean"


def test_an_op_of_no_conversion_makes_no_weights(check):
    program = Program("wormhole_b0")
    conv_of(program, relu(program, program.weight([1, 1, 576, 64])))
    assert check.ask(program).status == "clean"


def test_the_heaviest_op_is_the_example_with_its_own_conv(check):
    program = with_preparation()
    prepared(program, 50_000, width=128)
    claim = check.ask(program).claim
    assert claim.rows.tolist() == [0, 2]
    assert "Weights of 2 convs" in claim.claim
    assert "(2x, 80 us" in claim.claim
    assert "576x128 -> 576x128 at line 8 for the conv at line 9" in claim.claim


def test_without_second_operands_it_cannot_tell(check):
    assert check.ask(with_preparation(), without="INPUT_2").fires
    lost = check.ask(with_preparation(), without="INPUT_[12]")
    assert lost.status == "cannot_tell"
    assert "no INPUT_n" in lost.why


def test_a_compilers_user_is_told_the_compilers_option(check):
    claim = check.ask(with_preparation(), generation="tt-torch").claim
    assert "optimization_level" in claim.fix
    assert "return_weights_and_bias" not in claim.fix


def test_nothing_to_judge(check):
    none = check.ask(without_convs())
    assert none.status == "not_applicable"
    assert "Conv2d" in none.why


def test_deeplab_prepared_its_weights_ahead(check):
    assert check.ask(real_case(DEEPLAB)).status == "clean"


def rows_prepared(*, computed=False):
    """Raw weights permuted and tilized for one conv, ready ones for another."""
    program = Program("wormhole_b0")
    raw = program.weight([1, 1, 64, 576], layout="ROW_MAJOR")
    if computed:
        raw = relu(program, raw)
    turned = program.tensor([1, 1, 576, 96], layout="ROW_MAJOR")
    put(program, DeviceOp("PermuteDeviceOperation", (raw,), (turned,), 10_000))
    weight = put(program, tilize(turned, program.tensor([1, 1, 576, 96]), 10_000))
    for second in (weight, program.weight([1, 1, 576, 64])):
        out = program.tensor([1, 1, ONE_CONV.rows, ONE_CONV.columns], ONE_CONV.out)
        op = DeviceOp("Conv2dDeviceOperation", (halo_output(program, ONE_CONV), second), (out,), 100_000, cores=64)
        op.attributes = ONE_CONV.attributes()
        put(program, op)
    put(program, tilize(raw, program.tensor([1, 1, 64, 576]), 10_000))  # the last op of all makes no weight either
    return program


@for_all(("most", "found"), [(2, {2: [1, 0]}), (1, {})])
def test_ops_that_turn_raw_weights_into_a_convs_are_its_preparation(tmp_path, most, found):
    assert preparations_of(ops_of(tmp_path, rows_prepared()), most) == found


def test_what_an_op_computed_is_no_weight(tmp_path):
    assert preparations_of(ops_of(tmp_path, rows_prepared(computed=True)), 6) == {}
