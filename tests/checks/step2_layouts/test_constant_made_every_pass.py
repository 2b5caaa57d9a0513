"""constant-made-every-pass: tensors filled anew although nothing about them changes."""

from tests.checks.rows import put
from tests.checks.step3_programs import assert_cannot_tell, without
from tests.for_all import for_all
from tests.profiles import Program
from tests.profiles.model import DeviceOp

SHAPE = [1, 8, 256, 128]


def put_constant(program: Program, *, name="Full", readers=("BinaryNg",), us=40, reads=0, shape=SHAPE) -> None:
    given = tuple(program.tensor([1, 1, 32, 32]) for _ in range(reads))
    made = put(program, DeviceOp(f"{name}DeviceOperation", given, (program.tensor(shape),), 1000 * us))
    for reader in readers:
        x = program.tensor(shape)
        put(program, DeviceOp(f"{reader}DeviceOperation", (x, made), (program.tensor([1, 8, 256, 64]),), 5_000))


def filling(**how) -> Program:
    program = Program("wormhole_b0")
    put_constant(program, **how)
    return program


def test_a_filled_tensor_that_is_only_read_is_made_once(check):
    outcome = check.ask(filling())
    claim, case = outcome.claim, outcome.case
    assert (claim.rows.tolist(), claim.at_most_ns.tolist()) == ([0], [40_000])
    assert claim.claim == (
        f"1 tensor of constants is made in this pass (40 us, 86.0%): Full of 8x256x128 at line {case.line(0)}"
    )
    assert claim.evidence[0].row == case.line(0)


def test_texts_are_short(check):
    check.assert_sound(filling())


def test_several_are_told_together(check):
    program = filling(us=20)
    put_constant(program, name="Arange", shape=[1, 4, 256, 128], us=30)
    claim = check.ask(program).claim
    assert claim.rows.tolist() == [0, 2]
    assert claim.claim.startswith("2 tensors of constants are made in this pass (50 us")
    assert "Arange of 4x256x128" in claim.claim


@for_all(
    "how",
    [{"readers": ()}, {"readers": ("PagedUpdateCache",)}, {"readers": ("BinaryNg", "Scatter")}, {"reads": 1},
     {"name": "Uniform"}],
    ids=str,
)  # fmt: skip
def test_others_are_none(check, how):
    assert not check.ask(filling(**how)).fires


def test_random_numbers_beside_them_are_no_constants(check):
    program = filling()
    put_constant(program, name="Uniform", shape=[1, 4, 256, 128])
    assert check.ask(program).claim.rows.tolist() == [0]


@for_all("reader", ["UnaryDeviceOperation", "Matmul", "Ternary", "LayerNorm", "Softmax", "Concat"])
def test_ops_that_write_a_tensor_of_their_own_only_read(check, reader):
    assert check.ask(filling(readers=(reader.removesuffix("DeviceOperation"),))).fires


def test_half_a_percent_is_worth_telling(check):
    check.share_pair(put_constant, 0.005, of="saving")


def test_without_constants_or_operands(check, tmp_path):
    assert check.ask(filling(name="Unary", reads=1)).why == "no Full or Arange ops"
    assert_cannot_tell(check.ask(without(tmp_path, ("INPUT_", "OUTPUT_"), filling())), "INPUT_n")
