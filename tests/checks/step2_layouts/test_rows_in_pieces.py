"""rows-in-pieces: slices of rows, the same ops on each part, and a concat."""

import pytest

from tests.checks.rows import pass_time, put
from tests.for_all import for_all
from tests.profiles import Program
from tests.profiles.model import DeviceOp

WHOLE, NORM, SCORES = [1, 1, 128, 64], "LayerNorm", "Matmul"
SLICE_NS, WORK_NS, CONCAT_NS = 1_000, 10_000, 4_000


def pieces(
    *,
    count=4,
    dim=2,
    work=(NORM,),
    work_ns=WORK_NS,
    lost=0,
    extra=(),
    wholes=(WHOLE,),
    cut=None,
    joined=None,
    grouped=False,
    other=None,
):
    """`count` slices along `dim`, `work` on each but on `lost` of them, `extra` once, and their concat."""
    program = Program("wormhole_b0")
    for whole in wholes:
        part = [size // (cut or count) if at == dim else size for at, size in enumerate(whole)]
        slices = [moved(program, "Slice", whole, part, SLICE_NS) for _ in range(count)]
        if other:
            slices[0] = moved(program, "Slice", other, part, SLICE_NS)
        on_each = [moved(program, name, part, part, work_ns) for name in work]
        if grouped:
            for op in (*slices, *(op for op in on_each for _ in range(count - lost))):
                put(program, op)
        else:
            for number, one in enumerate(slices):
                put(program, one)
                for op in on_each if number >= lost else ():
                    put(program, op)
        for name in extra:
            put(program, moved(program, name, part, part, WORK_NS))
        parts = (program.tensor(part),) * count
        put(program, DeviceOp("ConcatDeviceOperation", parts, (program.tensor(joined or whole),), CONCAT_NS))
    return program


def moved(program, name, before, after, kernel_ns):
    code = f"{name}DeviceOperation"
    return DeviceOp(code, (program.tensor(before),), (program.tensor(after),), kernel_ns)


@for_all("grouped", [False, True])
def test_all_rows_take_no_less_than_one_piece(check, grouped):
    outcome = check.ask(pieces(grouped=grouped))
    copies = 4 * SLICE_NS + CONCAT_NS
    assert outcome.at_most_ns == pytest.approx(copies + 4 * WORK_NS * 3 / 4)
    assert len(outcome.claim.gone) == 5
    assert "1 tensor is cut into pieces of rows" in outcome.claim.claim
    assert "heaviest 4 pieces from line" in outcome.claim.claim
    assert outcome.claim.claim.endswith("most of it LayerNormDeviceOperation")
    assert "in place of 4 pieces" in outcome.claim.fix


def test_of_what_is_quicker_than_its_bytes_nothing_is_left(check):
    wide = [1, 1, 8192, 4096]  # four parts of 16 MB: 100 us of DRAM and more, each
    assert check.ask(pieces(wholes=(wide,))).at_most_ns == 0
    assert check.ask(pieces(wholes=(wide,), work_ns=1_000_000)).at_most_ns == pytest.approx(3_000_000)


SEVERAL = ([1, 1, 64, 64], WHOLE, [1, 1, 256, 64])


def test_its_claim_is_sound(check):
    check.assert_sound(pieces(wholes=SEVERAL))


def test_several_are_told_together(check):
    claim = check.ask(pieces(wholes=SEVERAL)).claim
    assert "3 tensors are cut" in claim.claim
    assert len(claim.rows) == 3 * 9


def test_one_percent_of_the_window_is_the_line(check):
    def program(share):
        made = pieces()
        pass_time(made, 38_000 / share - 48_000)
        return made

    check.pair(program, silent=0.00995, fires=0.01005)


@for_all(
    ("how", "told"),
    [
        ({"dim": 1, "wholes": ([1, 8, 32, 64],)}, True),
        ({"dim": 0, "wholes": ([8, 1, 32, 64],)}, True),
        ({"dim": 3, "wholes": ([1, 1, 32, 256],)}, False),  # columns
        ({"count": 2}, True),
        ({"work": (NORM, "Unary", NORM)}, True),
        ({"work": ()}, False),  # a roll, or an order of its own
        ({"lost": 1}, False),  # one piece passes other ops
        ({"grouped": True, "lost": 1}, False),
        ({"extra": (SCORES,)}, False),  # once for all
        ({"extra": (SCORES,) * 4}, True),
        ({"work": ("Conv2d",)}, False),
        ({"work": ("Pool2D",)}, False),
        ({"work": ("AllGather",)}, False),
        ({"work": ("Reduce",)}, False),
        ({"work": ("GroupNorm",)}, False),  # statistics of all rows
        ({"work": ("Accumulation",)}, False),
        ({"work": ("GatedDeltaRule",)}, False),  # unknown
        ({"work": (NORM, "Pad")}, False),
        ({"work": (NORM, "Concat")}, False),
        ({"work": (NORM, "PagedUpdateCache")}, False),
        ({"cut": 8}, False),  # half of the rows
        ({"other": [1, 1, 256, 64]}, False),
        ({"count": 8, "joined": [1, 1, 64, 64]}, False),  # half of the pieces
        ({"joined": [1, 1, 256, 64]}, False),  # twice as many as were cut
        ({"joined": [1, 1, 128, 128]}, False),  # wider, too
        ({"joined": [1, 1, 120, 64]}, False),  # not whole parts
        ({"joined": [1, 1, 32, 64]}, False),  # no more than a part
        ({"work": (NORM,) * 23}, True),
        ({"work": (NORM,) * 24}, False),  # a layer
    ],
)
def test_what_is_a_piece(check, how, told):
    assert check.ask(pieces(**how)).fires is told


def loop(read, *, dim=2, count=4):
    """What `read` makes of each piece and of what it left for the next, between slices and a concat along `dim`."""
    program = Program("wormhole_b0")
    part = [1, 1, 64, 64]
    x = program.tensor([size * (count if at == dim else 1) for at, size in enumerate(part)])
    left = program.tensor([1, 1, 32, 64])
    outputs = []
    for _ in range(count):
        piece = call(program, "Slice", [x], part, SLICE_NS)
        output, left = read(program, piece, left)
        outputs.append(output)
    call(program, "Concat", outputs, x.shape, CONCAT_NS)
    return program


def call(program, name, inputs, shape, kernel_ns=WORK_NS, **attributes):
    op = DeviceOp(
        f"{name}DeviceOperation", tuple(inputs), (program.tensor(shape),), kernel_ns, attributes=attributes
    )
    return put(program, op)


def from_outside(program, piece, left):
    return call(program, "Binary", [piece, left], piece.shape), left


def state(program, piece, left):
    left = call(program, "Binary", [left, left], left.shape)
    return call(program, "Binary", [piece, left], piece.shape), left


def own(program, piece, left):
    return state(program, piece, call(program, "Unary", [piece], left.shape))


def window(program, piece, left):
    return call(program, "ScaledDotProductAttention", [piece, piece, piece], piece.shape), left


def queries(program, piece, left):
    keys = program.tensor([1, 1, 256, 64])
    return call(program, "ScaledDotProductAttention", [piece, keys, keys], piece.shape), left


def product(program, piece, left):
    turned = call(program, "Transpose", [piece], [1, 1, 64, 96])
    return call(program, "Matmul", [piece, turned], piece.shape), left


def weights(program, piece, left):
    return call(program, "Matmul", [piece, program.weight([1, 1, 64, 96])], piece.shape), left


@for_all(
    ("read", "dim", "told"),
    [
        (from_outside, 2, True),
        (state, 2, False),  # what an earlier piece left
        (own, 2, True),
        (window, 2, False),  # of a sequence
        (window, 1, True),  # of several
        (queries, 2, True),  # all keys
        (product, 2, False),
        (product, 1, True),
        (weights, 2, True),
    ],
)
def test_pieces_that_read_each_other_stay_apart(check, read, dim, told):
    outcome = check.ask(loop(read, dim=dim))
    assert outcome.fires is told


def test_each_piece_passes_the_same_arithmetic(check):
    def program(*kinds):
        made = Program("wormhole_b0")
        x, part = made.tensor(WHOLE), [1, 1, 64, 64]
        halves = [call(made, "Slice", [x], part, SLICE_NS) for _ in kinds]
        parts = [call(made, "Binary", halves, part, binary_op_type=f"BinaryOpType::{kind}") for kind in kinds]
        call(made, "Concat", parts, WHOLE, CONCAT_NS)
        return made

    assert check.ask(program("ADD", "ADD")).fires
    assert check.ask(program("SUB", "ADD")).status == "clean"  # the parts of a complex product


def test_without_slices_there_are_no_pieces(check):
    program = Program("wormhole_b0")
    pass_time(program, 1_000)
    assert check.ask(program).status == "not_applicable"
    half = program.tensor([1, 1, 32, 64])
    put(program, DeviceOp("ConcatDeviceOperation", (half, half), (program.tensor([1, 1, 64, 64]),), CONCAT_NS))
    assert check.ask(program).status == "clean"


def test_without_shapes_nothing_is_known(check):
    assert check.ask(pieces(), without="OUTPUT_").status == "cannot_tell"
    assert not check.ask(pieces(), without="INPUT_[1-9]").fires
