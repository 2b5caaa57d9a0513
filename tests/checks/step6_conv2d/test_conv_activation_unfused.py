"""conv-activation-unfused: one function that a conv can apply, on a tensor that nobody else reads."""

from tests.checks.asking import real_case
from tests.checks.conv_programs import TUNED, put_conv, relu, with_conv, without_convs
from tests.checks.rows import put
from tests.for_all import for_all
from tests.profiles import L1, Program
from tests.profiles.conv import move
from tests.profiles.model import DeviceOp
from tests.profiles.ops import binary, sharded_to_interleaved
from tests.shared_reports import OFT, SEGFORMER


def activated(program, kind="SILU", dtype=None, **conv):
    """A conv of 100 us, then a function of 20 us."""
    return relu(program, put_conv(program, **TUNED, **conv), kind=kind, dtype=dtype)


def with_activation(**how):
    program = Program("wormhole_b0")
    activated(program, **how)
    return program


def copied(program, x, placement):
    return put(program, move(x, program.tensor(x.shape, x.dtype, placement=placement), 5_000))


def test_an_activation_behind_a_conv_belongs_into_it(check):
    claim = check.assert_sound(with_activation())
    assert claim.rows.tolist() == [1]
    assert claim.at_most_ns.tolist() == [20_000]
    assert "SILU at line 5 on 16384x64, behind the conv at line 4" in claim.claim
    assert "ttnn.UnaryOpType.SILU)" in claim.fix
    assert 'activation="silu"; drop the op at line 5' in claim.fix
    cells = {one.column: one.value for one in claim.evidence}
    assert cells["ATTRIBUTES.op_chain"] == "UnaryOpType::SILU"
    assert cells["DEVICE KERNEL DURATION [ns]"] == 20_000


def test_half_a_percent_of_the_window_is_the_line(check):
    check.share_pair(activated, 0.005, of="time")


@for_all(
    "kind",
    [
        "RELU", "RELU6", "GELU", "SILU", "SIGMOID", "LEAKY_RELU", "ELU", "TANH", "MISH", "HARDSWISH",
        "HARDSIGMOID",
    ],
)  # fmt: skip
def test_what_the_convs_packer_can_apply(check, kind):
    parameter = {"LEAKY_RELU": ", slope", "ELU": ", alpha", "MISH": ", 0.0"}.get(kind, "")
    assert f"UnaryOpType.{kind}{parameter})" in check.ask(with_activation(kind=kind)).claim.fix


@for_all(
    "change",
    [{"activation": "RELU"}, {"kind": "LOG"}, {"kind": "RELU_MAX"}, {"dtype": "BFLOAT16"}],
    ids=["the conv has one", "not fusable", "throws in a conv", "changes the type"],
)
def test_what_a_conv_cannot_apply_stays(check, change):
    assert check.ask(with_activation(**change)).status == "clean"


@for_all(
    ("groups", "window", "bias", "fires"),
    [
        (64, "input_hw=(1,16387),window_hw=(1,4)", False, False),
        (64, "input_hw=(16387,1),window_hw=(4,1)", False, False),
        (64, None, False, False),  # a row that tells no window
        (64, "input_hw=(130,130),window_hw=(3,3)", False, True),  # a matmul on weights that are mostly zeros
        (64, "input_hw=(1,16387),window_hw=(1,4)", True, True),
        (32, "input_hw=(1,16387),window_hw=(1,4)", False, True),
        (1, "input_hw=(1,16387),window_hw=(1,4)", False, True),
    ],
)
def test_a_depthwise_conv_over_one_dimension_applies_nothing(check, groups, window, bias, fires):
    """Its kernel in TTNN 0.81.1 has no place for a function: Kimi Linear's SILU was lost."""
    still = "stride_hw=(1,1),dilation_hw=(1,1),padding=((0,0),(0,0))"
    told = f"SlidingWindowConfig(batch_size=1,{window},{still})" if window else None
    more = {"groups": groups, "has_bias": bias, "sliding_window_config": told}
    assert check.ask(with_activation(more=more.items())).fires is fires


@for_all(("groups", "fires"), [(40, False), (20, True)])
def test_of_padded_channels_the_attributes_tell_how_many_there_are(check, groups, fires):
    shape = {"input_tensor_shape": "{1, 1, 16387, 40}", "output_channels": 40, "groups": groups}
    window = "input_hw=(1,16387),window_hw=(1,4),stride_hw=(1,1),dilation_hw=(1,1),padding=((0,0),(0,0))"
    more = {**shape, "has_bias": False, "sliding_window_config": f"SlidingWindowConfig(batch_size=1,{window})"}
    assert check.ask(with_activation(more=more.items())).fires is fires


def test_several_functions_in_one_op_stay(check):
    program = with_activation()
    op = program.device_ops[-1]
    op.attributes = {**op.attributes, "op_chain": "{a(op_type=UnaryOpType::SILU), b(op_type=UnaryOpType::RELU)}"}
    assert check.ask(program).status == "clean"
    op.attributes = {}
    assert check.ask(program).status == "clean"


def test_up_to_two_copies_between_conv_and_activation_do_not_hide_it(check):
    def behind(copies):
        program = Program("wormhole_b0")
        x = put_conv(program, **TUNED)
        home = x.placement
        for n in range(copies):
            x = copied(program, x, L1 if n % 2 == 0 else home)
        relu(program, x)
        return program

    assert check.ask(behind(0)).fires
    check.pair(behind, silent=3, fires=2)


def test_copies_out_of_shards_and_slice_writes_are_passed_through(check):
    program = Program("wormhole_b0")
    y = put_conv(program, **TUNED)
    relu(program, put(program, sharded_to_interleaved(y, program.tensor(y.shape, y.dtype), 5_000)))
    assert check.ask(program).claim.rows.tolist() == [2]
    program = Program("wormhole_b0")
    y = put_conv(program, **TUNED)
    filled = program.tensor([1, 1, 2 * y.shape[2], 64], y.dtype)
    relu(program, put(program, DeviceOp("SliceWriteDeviceOperation", (y, filled), (filled,), 5_000)))
    assert check.ask(program).claim.rows.tolist() == [2]


@for_all("copies", [0, 1])
def test_a_conv_output_that_others_read_keeps_its_own_op(check, copies):
    program = Program("wormhole_b0")
    y = put_conv(program, **TUNED)
    for _ in range(copies):
        y = put(program, sharded_to_interleaved(y, program.tensor(y.shape, y.dtype), 5_000))
    z = relu(program, y)
    put(program, binary("ADD", y, z, program.tensor(y.shape, "BFLOAT16"), 20_000))
    assert check.ask(program).status == "clean"


@for_all("copies", [0, 1])
def test_a_conv_output_that_was_read_before_keeps_its_own_op(check, copies):
    program = Program("wormhole_b0")
    y = put_conv(program, **TUNED)
    for _ in range(copies):
        y = put(program, sharded_to_interleaved(y, program.tensor(y.shape, y.dtype), 5_000))
    put(program, DeviceOp("Pool2D", (y,), (program.tensor([1, 1, 32, 64]),), 30_000, fidelity="HiFi4"))
    relu(program, y)
    assert check.ask(program).status == "clean"


def test_an_op_that_seems_to_read_the_activation_twice_may_read_the_conv(check):
    program = Program("wormhole_b0")
    z = activated(program)
    put(program, binary("ADD", z, z, program.tensor(z.shape, "BFLOAT16"), 20_000))
    assert check.ask(program).status == "clean"
    assert check.ask(program, without="INPUT_2").status == "clean"
    assert check.ask(program, without="INPUT_[12]").fires  # nothing tells


def test_without_operands_it_cannot_tell_who_reads_what(check):
    lost = check.ask(with_activation(), without="PUT_")
    assert lost.status == "cannot_tell"
    assert "no INPUT_n" in lost.why


def test_an_op_that_reads_the_activation_second_reads_it_once(check):
    program = Program("wormhole_b0")
    z = activated(program)
    put(program, binary("ADD", program.tensor(z.shape), z, program.tensor(z.shape), 20_000))
    assert check.ask(program).fires


def test_a_move_names_its_operand_twice_and_reads_it_once(check):
    program = Program("wormhole_b0")
    copied(program, activated(program), L1)
    assert check.ask(program).fires


def test_a_function_of_the_models_input_is_no_convs(check):
    program = Program("wormhole_b0")
    relu(program, program.tensor([1, 1, 96, 64]))
    put_conv(program, **TUNED)  # the last op
    assert check.ask(program).status == "clean"


def test_an_activation_behind_a_group_norm_is_not_the_convs(check):
    program = Program("wormhole_b0")
    y = put_conv(program, **TUNED)
    normed = program.tensor(y.shape, y.dtype, placement=y.placement)
    relu(program, put(program, DeviceOp("GroupNorm", (y,), (normed,), 30_000, fidelity="HiFi4")))
    assert check.ask(program).status == "clean"


def test_the_heaviest_activation_is_the_example(check):
    program = with_activation()
    relu(program, put_conv(program, **TUNED, grid=(8, 4)), 30_000, kind="GELU")
    claim = check.ask(program).claim
    assert claim.rows.tolist() == [1, 3]
    assert "(2x, 50 us" in claim.claim
    assert "GELU at line 9 on 8192x64, behind the conv at line 8" in claim.claim


def test_a_compilers_user_is_told_the_compilers_option(check):
    claim = check.ask(with_activation(), generation="tt-torch").claim
    assert "optimization_level" in claim.fix
    assert "Conv2dConfig" not in claim.fix


def test_nothing_to_judge(check):
    none = check.ask(without_convs())
    assert none.status == "not_applicable"
    assert "Conv2d" in none.why
    assert check.ask(with_conv(**TUNED)).status == "clean"


def test_segformer_applies_gelu_behind_8_convs(check):
    assert len(check.ask(real_case(SEGFORMER)).claim.rows) == 8


def test_oft_has_group_norms_in_between(check):
    assert check.ask(real_case(OFT)).status == "clean"
