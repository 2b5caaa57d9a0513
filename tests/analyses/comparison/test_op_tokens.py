"""Which ops are the same across two reports: by name, by shapes, by their whole record."""

import pytest

from tests.analyses.tables import ops_of
from tests.for_all import for_all
from tests.profiles import L1, Program
from ttnn_mcp.analyses.comparison.op_tokens import tokens_of

SHAPE = [1, 1, 64, 64]


def table(folder, inputs, output=SHAPE, name="ConcatDeviceOperation", without="", **more):
    program = Program()
    operands = [program.tensor(shape, **more) for shape in inputs]
    program.op(name, operands, shape=output)
    return ops_of(folder, program, without=without)


@pytest.fixture
def equal(tmp_path):
    """Whether name, shapes and record are the same."""

    def compared(before, after):
        left, right = tokens_of(*(table(tmp_path, **each) for each in (before, after)))
        return tuple(getattr(left, level)[0] == getattr(right, level)[0] for level in ("name", "shape", "record"))

    return compared


PLAIN = {"inputs": [SHAPE] * 3}
OTHER = [1, 1, 64, 128]


@for_all(
    ("after", "same"),
    [
        ({"inputs": [SHAPE] * 3}, (True, True, True)),
        ({"inputs": [SHAPE] * 3, "name": "PadDeviceOperation"}, (False, False, False)),
        ({"inputs": [OTHER, SHAPE, SHAPE]}, (True, False, False)),
        ({"inputs": [SHAPE, OTHER, SHAPE]}, (True, False, False)),
        ({"inputs": [SHAPE, SHAPE, OTHER]}, (True, True, True)),  # a bias, a scale, an index table
        ({"inputs": [SHAPE] * 3, "output": OTHER}, (True, False, False)),
        ({"inputs": [SHAPE] * 3, "dtype": "BFLOAT8_B"}, (True, True, False)),
        ({"inputs": [SHAPE] * 3, "placement": L1}, (True, True, False)),
        ({"inputs": [SHAPE] * 2}, (True, True, False)),
        ({"inputs": [SHAPE]}, (True, False, False)),
        ({"inputs": [SHAPE] * 3, "without": "OUTPUT_0"}, (True, False, False)),
    ],
)
def test_shapes_are_those_of_two_inputs_and_the_output_and_the_record_has_all_formats(equal, after, same):
    assert equal(PLAIN, after) == same
    assert equal(after, PLAIN) == same
