"""wide-activations: narrower activations save bytes where an op waits for DRAM, and nothing elsewhere."""

import pytest

from tests.checks.programs import NARROW, WIDE, linear, scaled
from tests.checks.rows import pass_time, put
from tests.for_all import for_all
from tests.profiles import L1, Program
from tests.profiles.model import DeviceOp
from tests.profiles.ops import binary
from ttnn_mcp.analyses.roofline.launch import LAUNCH_FLOOR_NS

SPARED = 1 - 1.0625 / 2


@pytest.fixture
def program() -> Program:
    return Program("wormhole_b0")  # 240 GB/s of DRAM are achievable


def mapped(program, kernel_ns, *, side=2048, source=None, target=None, name="UnaryDeviceOperation"):
    """An op that reads and writes 8.4 MB each: 70 us."""
    x, y = (program.tensor([1, 1, side, side], **(how or {})) for how in (source, target))
    put(program, DeviceOp(name, (x,), (y,), kernel_ns))
    return program


def test_one_percent_of_the_window_is_the_line(check):
    check.share_pair(scaled, 0.01, of="saving")


def test_bytes_that_explain_thirty_percent_of_the_time_are_the_line(check):
    needs = 2 * 2048 * 2048 * 2 / 240
    check.pair(lambda share: mapped(Program("wormhole_b0"), round(needs / share)), silent=0.299, fires=0.301)


def test_where_half_of_the_bytes_are_padding_the_shape_comes_first(check):
    def program(height):
        made = Program("wormhole_b0")
        x, y = (made.tensor([64, 1, height, 2048]) for _ in range(2))
        put(made, DeviceOp("UnaryDeviceOperation", (x,), (y,), 120_000))
        return made

    check.pair(program, silent=16, fires=17)


def test_the_claim_is_sound(check, program):
    scaled(program)
    check.assert_sound(program)


def test_a_run_without_element_wise_and_shape_ops_is_not_applicable(check, program):
    pass_time(program, 1000)
    mapped(program, 100_000, name="SoftmaxDeviceOperation")  # it stays wide, as norms do
    assert check.ask(program).status == "not_applicable"


def test_time_falls_in_step_with_the_bytes(check, program):
    mapped(program, 100_000)
    assert check.ask(program).at_most_ns == pytest.approx(SPARED * 100_000)


def test_the_bytes_that_stay_take_their_time(check, program):
    mapped(program, 65_000)  # 70 us at achievable bandwidth
    assert check.ask(program).at_most_ns == pytest.approx(65_000 - (1 - SPARED) * 2 * 2048 * 2048 * 2 / 240)


def test_a_short_op_keeps_its_launch(check, program):
    mapped(program, 600, side=128)
    assert check.ask(program).at_most_ns == 600 - LAUNCH_FLOOR_NS


@for_all(
    "change",
    [{"dtype": NARROW}, {"layout": "ROW_MAJOR"}, {"kernel_ns": 2_000_000}, {"kind": "ADD"}],
    ids=["narrow already", "rows cannot be block float", "not bound by DRAM", "may be the residual path"],
)
def test_activations_stay_as_they_are_where_narrower_ones_would_not_help(check, program, change):
    scaled(program, **change)
    assert not check.ask(program).fires


@for_all(
    ("source", "target"),
    [
        ({"dtype": NARROW}, {"dtype": WIDE}),
        ({"dtype": WIDE}, {"dtype": NARROW}),
        ({"layout": "ROW_MAJOR"}, {}),
        ({}, {"layout": "ROW_MAJOR"}),
        ({"placement": L1}, {}),
        ({}, {"placement": L1}),
    ],
    ids=["reads narrow", "writes narrow", "reads rows", "writes rows", "reads L1", "writes L1"],
)
def test_both_sides_must_be_wide_tiles_in_dram(check, program, source, target):
    mapped(program, 70_000, source=source, target=target)
    assert check.ask(program).status == "clean"


def test_an_add_of_a_row_is_no_residual(check, program):
    x, row, y = (
        program.tensor([1, 1, 2048, 2048]),
        program.tensor([1, 1, 1, 2048]),
        program.tensor([1, 1, 2048, 2048]),
    )
    put(program, binary("ADD", x, row, y, 100_000))
    assert check.ask(program).fires


@for_all(("kind", "fires"), [("ADD", False), ("SUB", False), ("MUL", True)])
def test_a_sum_or_difference_of_two_full_tensors_may_be_the_residual_path(check, program, kind, fires):
    x, other, y = (program.tensor([1, 1, 2048, 2048]) for _ in range(3))
    put(program, binary(kind, x, other, y, 110_000))
    assert check.ask(program).fires is fires


def test_only_a_binary_op_can_be_the_residual_path(check, program):
    x, other, y = (program.tensor([1, 1, 2048, 2048]) for _ in range(3))
    op = binary("ADD", x, other, y, 110_000)
    op.op_code = "TernaryDeviceOperation"
    put(program, op)
    assert check.ask(program).fires


@for_all(("dtype", "size"), [(NARROW, 1.0625), ("FLOAT32", 4)])
def test_only_bfloat16_operands_are_narrowed(check, program, dtype, size):
    x, other, y = (program.tensor([1, 1, 2048, 2048], dtype) for dtype in (WIDE, dtype, WIDE))
    put(program, binary("MUL", x, other, y, 150_000))
    assert check.ask(program).at_most_ns == pytest.approx(150_000 * SPARED * 2 * 2 / (2 * 2 + size))


def test_an_operand_in_rows_stays_wide(check, program):
    x, y = program.tensor([1, 1, 2048, 2048]), program.tensor([1, 1, 2048, 2048])
    rows = program.tensor([1, 1, 2048, 2048], layout="ROW_MAJOR")
    put(program, binary("MUL", x, rows, y, 200_000))
    assert check.ask(program).at_most_ns == pytest.approx(200_000 * SPARED * 2 / 3)


def test_a_slice_is_spared_the_bytes_it_touches_not_those_of_its_whole_input(check, program):
    x, out = program.tensor([1, 1, 4096, 16384]), program.tensor([1, 1, 4096, 4096])
    put(program, DeviceOp("SliceDeviceOperation", (x,), (out,), 300_000))
    assert check.ask(program).at_most_ns <= (1 - 0.53125) * 300_000 * 1.0001


@for_all("name", ["ConcatDeviceOperation", "TernaryDeviceOperation", "CopyDeviceOperation"])
def test_shape_ops_and_copies_move_bytes_too(check, program, name):
    mapped(program, 100_000, name=name)
    assert check.ask(program).fires


@for_all(
    ("reader", "rest", "end", "rows"),
    [
        ("RotaryEmbeddingLlama", "Unary", "Concat", []),  # it takes BFLOAT16 only, and both slices cut one source
        ("RotaryEmbeddingHf", "Unary", "Concat", []),
        ("Typecast", "Unary", "Concat", [0, 1, 2, 4, 5]),
        (
            "Typecast",
            "LayerNorm",
            "Concat",
            [0, 1, 2],
        ),  # a norm stays in BFLOAT16, and so does what is joined with it
        ("Typecast", "Binary", "Concat", [0, 1, 2]),  # and a sum that may be the residual path
        ("Typecast", "LayerNorm", "Ternary", [0, 1, 2, 5]),  # only a concat wants one data type
    ],
)
def test_what_goes_where_bfloat8_b_is_refused_stays(check, reader, rest, end, rows):
    """DeepSeek's queries: cut in two, one part turned; real TTNN: "All Tensors should have same dtypes"."""
    program = Program("wormhole_b0")
    whole = put(program, binary("MUL", *(program.tensor([1, 1, 2048, 6144]) for _ in "xyz"), 400_000))
    parts = [program.tensor([1, 1, 2048, width]) for width in (2048, 4096)]
    for part in parts:
        put(program, DeviceOp("SliceDeviceOperation", (whole,), (part,), 200_000))
    for name, part, kernel_ns in ((reader, parts[0], 9_000), (rest, parts[1], 200_000)):
        out = program.tensor(part.shape)
        op = DeviceOp(f"{name}DeviceOperation", (part,), (out,), kernel_ns)
        put(program, binary("ADD", part, program.tensor(part.shape), out, kernel_ns) if name == "Binary" else op)
    turned, other = (op.outputs[0] for op in program.device_ops[-2:])
    joined = program.tensor([1, 1, 2048, 6144])
    put(program, DeviceOp(f"{end}DeviceOperation", (other, turned), (joined,), 200_000))
    outcome = check.ask(program)
    assert (outcome.claim.rows.tolist() if outcome.fires else []) == rows


def test_what_reads_a_tensor_beside_a_rotary_embedding_reads_it_wide(check, program):
    source, made, y = (program.tensor([1, 1, 2048, 2048]) for _ in range(3))
    turned = program.tensor([1, 1, 2048, 1024])  # not as long as x: no reader takes it for that
    x = put(program, DeviceOp("UnaryDeviceOperation", (source,), (made,), 100_000))
    for name, out, kernel_ns in (("RotaryEmbedding", turned, 9_000), ("Unary", y, 100_000)):
        put(program, DeviceOp(f"{name}DeviceOperation", (x,), (out,), kernel_ns))
    assert check.ask(program).status == "clean"


def test_records_copied_from_an_earlier_call_are_not_counted(check, program):
    for number, kernel_ns in enumerate((100_000, 70_000, 100_000)):  # equal records of unequal work
        mapped(program, kernel_ns)
        x, y = (program.tensor([1, 1, 32, 32 * (number + 1)], "UINT16", placement=L1) for _ in range(2))
        put(program, DeviceOp(f"MadeUp{'ABC'[number]}", (x,), (y,), 1_000))
    assert check.ask(program).status == "clean"


def test_a_front_end_is_told_its_own_option(check, program):
    scaled(program)
    assert "no option of tt-xla" in check.ask(program, generation="tt-torch").claim.fix
    assert check.ask(program).claim.fix.startswith("write it narrow where it is made")


def test_a_matmul_on_bfloat16_is_not_claimed_with_others(check):
    program = Program("wormhole_b0")
    scaled(program)
    linear(program, 32, 4096, 4096, 150_000)
    assert check.ask(program).claim.rows.tolist() == [0]


@for_all("lost", ["INPUT_", "OUTPUT_"])
def test_a_report_without_operands_is_no_evidence(check, program, lost):
    scaled(program)
    assert check.ask(program, without=lost).status in ("not_applicable", "cannot_tell")


def test_ops_of_one_input_add_nothing(check, program):
    mapped(program, 100_000)
    assert check.ask(program, without="INPUT_[12]").fires


def test_a_window_that_took_no_time_has_nothing_to_save(check, program):
    mapped(program, 0, source={"dtype": NARROW})
    assert check.ask(program).status == "clean"
