"""batch-norm-unfolded: constants per channel behind a conv fold into its weights; a bias or a residual is none."""

from tests.checks.asking import real_case
from tests.checks.conv_programs import TUNED, put_conv, relu, with_conv, without_convs
from tests.checks.rows import put
from tests.for_all import for_all
from tests.profiles import Program
from tests.profiles.model import DeviceOp
from tests.profiles.ops import binary
from tests.shared_reports import DEEPLAB, OFT


def normed(program, x, op_code="BatchNormOperation", kernel_ns=30_000):
    out = program.tensor(x.shape, x.dtype, placement=x.placement)
    return put(program, DeviceOp(op_code, (x,), (out,), kernel_ns, fidelity="HiFi4"))


def folded(program):
    """A conv of 100 us, then a batch norm of 30 us."""
    return normed(program, put_conv(program, **TUNED))


def element_wise(program, x, *kinds, shape=(1, 1, 1, 64)):
    for kind in kinds:
        other = program.weight(list(shape))
        x = put(program, binary(kind, x, other, program.tensor(x.shape, x.dtype, placement=x.placement), 30_000))
    return x


def behind_conv(*kinds, **how):
    program = Program("wormhole_b0")
    element_wise(program, put_conv(program, **TUNED), *kinds, **how)
    return program


def test_a_batch_norm_behind_a_conv_folds_into_it(check):
    program = Program("wormhole_b0")
    folded(program)
    claim = check.assert_sound(program)
    assert claim.rows.tolist() == [1]
    assert claim.at_most_ns.tolist() == [30_000]
    assert "runs as 1 ops (30 us" in claim.claim
    assert "behind 1 conv: " in claim.claim
    assert "at line 5 behind the conv at line 4" in claim.claim
    assert "scale = norm.weight / torch.sqrt(norm.running_var + norm.eps)" in claim.fix
    assert [one.value for one in claim.evidence] == [30_000]


def test_a_function_of_the_conv_comes_between(check):
    """Scaled weights give relu(s (x W)), and not s relu(x W)."""

    def behind(activation):
        program = Program("wormhole_b0")
        put_conv(program, **{**TUNED, "activation": activation})
        normed(program, program.device_ops[-1].outputs[0])
        return program

    check.pair(behind, silent="RELU", fires=None)


def test_an_op_that_applies_a_function_is_no_part_of_a_batch_norm(check):
    def ending(function):
        program = behind_conv("MUL", "ADD")
        op = program.device_ops[-1]
        op.attributes = {
            **op.attributes,
            "post_activations": function and f"[Any(op_type=UnaryOpType::{function})]",
        }
        return program

    check.pair(ending, silent="RELU", fires="")


def test_half_a_percent_of_the_window_is_the_line(check):
    check.share_pair(folded, 0.005, of="time")


def test_two_ops_per_channel_are_a_batch_norm_and_one_may_be_a_bias(check):
    found = check.pair(lambda count: behind_conv(*("MUL", "ADD")[2 - count :]), silent=1, fires=2)
    assert found.claim.rows.tolist() == [1, 2]
    assert found.at_most_ns == 60_000
    four = check.ask(behind_conv("SUB", "MUL", "MUL", "ADD")).claim
    assert four.rows.tolist() == [1, 2, 3, 4]


@for_all(
    ("shape", "why"),
    [
        ((1, 1, 16_384, 64), "a residual"),
        ((1, 1, 1, 1), "a scalar"),
        ((1, 1, 16_384, 1), "one value per pixel"),
        ((1, 1, 1, 32), "another width"),
        ((1, 1, 32, 64), "several rows"),
    ],
)
def test_operands_of_other_shapes_are_no_batch_norm(check, shape, why):
    assert check.ask(behind_conv("MUL", "ADD", shape=shape)).status == "clean", why


def test_one_pixel_is_not_told_from_its_channels(check):
    program = Program("wormhole_b0")
    y = put_conv(program, grid=(1, 1), per_core=(1, 2), block=(1, 6))
    y.shape = (1, 1, 1, 64)
    y.padded_shape = (1, 1, 32, 64)
    element_wise(program, y, "MUL", "ADD")
    assert check.ask(program).status == "clean"


def test_a_tensor_of_one_channel_has_no_value_per_channel(check):
    def of(channels):
        program = Program("wormhole_b0")
        y = put_conv(program, **TUNED)
        y.shape, y.padded_shape = (1, 1, 16_384, channels), (1, 1, 16_384, 64)
        for kind in ("MUL", "ADD"):
            out = program.tensor(y.shape, y.dtype, placement=y.placement, padded=y.padded)
            y = put(program, binary(kind, y, program.weight([1, 1, 1, channels]), out, 30_000))
        return program

    check.pair(of, silent=1, fires=2)


def test_ops_with_two_inputs_that_are_not_element_wise_are_no_batch_norm(check):
    program = Program("wormhole_b0")
    x = put_conv(program, **TUNED)
    for _ in range(2):
        out = program.tensor(x.shape, x.dtype, placement=x.placement)
        x = put(
            program, DeviceOp("GroupNorm", (x, program.weight([1, 1, 1, 64])), (out,), 30_000, fidelity="HiFi4")
        )
    assert check.ask(program).status == "clean"


def test_a_chain_ends_where_another_op_reads_or_computes(check):
    program = Program("wormhole_b0")
    first = element_wise(program, put_conv(program, **TUNED), "MUL")
    out = program.tensor([1, 1, 16_384, 64], placement=first.placement)
    put(program, binary("ADD", first, program.weight([1, 1, 1, 64]), out, 30_000))
    put(
        program,
        binary("ADD", first, program.weight([1, 1, 16_384, 64], "FLOAT32"), program.tensor([1, 1, 8, 8]), 9),
    )
    assert check.ask(program).status == "clean"  # the first is read twice
    program = behind_conv("MUL")
    relu(program, program.device_ops[-1].outputs[0])
    assert check.ask(program).status == "clean"  # what follows is no op per channel


def test_batch_norms_and_ops_per_channel_elsewhere_are_not_the_convs(check):
    program = Program("wormhole_b0")
    put_conv(program, **TUNED)
    x = program.tensor([1, 1, 96, 64])
    normed(program, element_wise(program, x, "MUL", "ADD"))
    assert check.ask(program).status == "clean"


def test_group_norm_cannot_be_folded(check):
    program = Program("wormhole_b0")
    normed(program, put_conv(program, **TUNED), "GroupNorm")
    assert check.ask(program).status == "clean"


def test_the_heaviest_is_the_example_and_its_conv_is_named(check):
    program = Program("wormhole_b0")
    folded(program)
    normed(program, put_conv(program, **TUNED, grid=(8, 4)), kernel_ns=50_000)
    claim = check.ask(program).claim
    assert claim.rows.tolist() == [1, 3]
    assert "runs as 2 ops (80 us" in claim.claim
    assert "behind 2 convs" in claim.claim
    assert "at line 9 behind the conv at line 8" in claim.claim


def test_a_compilers_user_is_told_what_folds_it(check):
    program = Program("wormhole_b0")
    folded(program)
    assert "model.eval() before compiling" in check.ask(program, generation="tt-torch").claim.fix


def test_without_second_operands_it_cannot_tell(check):
    assert check.ask(behind_conv("MUL", "ADD"), without="INPUT_2").fires
    lost = check.ask(behind_conv("MUL", "ADD"), without="INPUT_[12]")
    assert lost.status == "cannot_tell"
    assert "no INPUT_n" in lost.why


def test_nothing_to_judge(check):
    none = check.ask(without_convs())
    assert none.status == "not_applicable"
    assert "Conv2d" in none.why
    assert check.ask(with_conv(**TUNED)).status == "clean"


def test_deeplab_has_folded_and_oft_normalises_groups_which_nothing_can_fold(check):
    assert check.ask(real_case(DEEPLAB)).status == "clean"
    assert check.ask(real_case(OFT)).status == "clean"
