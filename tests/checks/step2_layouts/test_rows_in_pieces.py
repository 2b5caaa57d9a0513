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
        on_each = [moved(program, name, part, part, WORK_NS) for name in work]
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


def test_without_slices_there_are_no_pieces(check):
    program = Program("wormhole_b0")
    pass_time(program, 1_000)
    assert check.ask(program).status == "not_applicable"
    half = program.tensor([1, 1, 32, 64])
    put(program, DeviceOp("ConcatDeviceOperation", (half, half), (program.tensor([1, 1, 64, 64]),), CONCAT_NS))
    assert check.ask(program).status == "clean"


def test_without_shapes_nothing_is_known(check):
    assert check.ask(pieces(), without="OUTPUT_").status == "cannot_tell"
