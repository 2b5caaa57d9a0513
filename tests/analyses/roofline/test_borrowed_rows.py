"""Borrowed rows: an add that fits neither neighbour and repeats another row shows that row's operands."""

from tests.analyses.tables import ops_of, put
from tests.for_all import for_all
from tests.profiles import Program
from tests.profiles.model import DeviceOp
from tests.profiles.ops import binary, unary
from ttnn_mcp.analyses.roofline.borrowed_rows import borrowed


def relu(program, before, after):
    put(program, unary("RELU", program.tensor([1, 1, 32, before]), program.tensor([1, 1, 32, after]), 1_000))


def add(program, width, kind="ADD"):
    x, y, z = (program.tensor([1, 1, 32, width]) for _ in range(3))
    put(program, binary(kind, x, y, z, 1_000))


def split(program, width):
    x, y, z = (program.tensor([1, 1, 32, each]) for each in (2 * width, width, width))
    program.call("ttnn.split", (x,), (y, z), (DeviceOp("SplitDeviceOperation", (x,), (y, z), 1_000),))


def rows(folder, *steps, devices=1, without="", splits=False):
    """An int is an add of that width, a pair a function from one width to another."""
    program = Program(devices=devices)
    for step in steps:
        if isinstance(step, int):
            add(program, step)
        else:
            relu(program, *step)
    if splits:
        split(program, 320)
    return borrowed(ops_of(folder, program, without=without)).tolist()


def test_an_add_that_fits_neither_neighbour_but_repeats_another_row_borrowed_it(tmp_path):
    fits = [(32, 64), 64, (64, 96)]
    assert rows(tmp_path, *fits, (96, 128), 64, (128, 160)) == [False] * 4 + [True, False]


@for_all(
    "steps",
    [
        [(32, 64), 64, (64, 96), (96, 128), 128, (128, 160)],  # fits
        [(32, 64), 64, (64, 96), (96, 128), 192, (128, 160)],  # fits nothing, and no other row says the same
        [(32, 64), 64, (64, 96), (96, 128), 64, (64, 160)],  # fits the op behind it
        [(32, 64), 64, (64, 96), (96, 64), 64, (128, 160)],  # fits the op before it
        [(32, 64), 64, (96, 128), (96, 128), 64, (64, 160)],  # fits the op before it, the first of all
        [64, 64],  # no neighbours that could tell
    ],
)
def test_other_adds_show_their_own(tmp_path, steps):
    assert not any(rows(tmp_path, *steps))


def test_neighbours_are_the_nearest_ops_that_cannot_have_borrowed(tmp_path):
    assert rows(tmp_path, (32, 64), 64, (64, 96), (96, 128), 128, 64, 128, (128, 160))[4:7] == [False, True, False]


def test_other_ops_have_shapes_in_their_hash(tmp_path):
    assert rows(tmp_path, (32, 64), (128, 160), (128, 160), (32, 64)) == [False] * 4


@for_all(
    "steps",
    [
        (64, (96, 128), (160, 192), 64, (96, 64)),  # the last op of a device writes what the first add reads
        ((64, 96), (96, 128), 64, (160, 192), 64),  # the first op of a device reads what the last add writes
    ],
)
def test_ops_of_another_device_and_the_add_itself_are_no_neighbours(tmp_path, steps):
    assert sum(rows(tmp_path, *steps)) == 2
    assert sum(rows(tmp_path, *steps, devices=2)) == 4


def test_operands_that_both_rows_lack_are_nothing_in_common(tmp_path):
    steps = (32, 64), 64, (64, 96), (96, 128), 64, (128, 160)
    assert rows(tmp_path, *steps, splits=True)[4]


def test_ops_that_repeat_beside_an_add_show_their_own(tmp_path):
    assert not any(rows(tmp_path, (32, 64), (128, 160), (128, 160), (32, 64), 64))


@for_all("without", ["INPUT", "OUTPUT"])
def test_without_operands_nothing_is_borrowed(tmp_path, without):
    assert not any(rows(tmp_path, (32, 64), 64, (128, 160), 64, without=without))
