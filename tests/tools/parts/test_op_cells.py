"""Operands and attributes of one op, as far as they are shown."""

from __future__ import annotations

from tests.analyses.tables import ops_of, put
from tests.profiles import Program
from tests.profiles.model import DeviceOp
from ttnn_mcp.tools.parts.ttnn_call import attributes_of_op, operands_of_op


def op_of(folder, inputs=1, **attributes):
    program = Program("wormhole_b0")
    x = [program.tensor([1, 1, 32, 32 * (place + 1)]) for place in range(inputs)]
    put(program, DeviceOp("ConcatDeviceOperation", x, (program.tensor([1, 1, 32, 32]),), attributes=attributes))
    return ops_of(folder, program)


def test_five_operands_are_shown_the_output_among_them_and_the_others_counted(tmp_path):
    for inputs, shown, left in [
        (4, ["INPUT_0", "INPUT_1", "INPUT_2", "INPUT_3", "OUTPUT_0"], 0),
        (7, ["INPUT_0", "INPUT_1", "INPUT_2", "INPUT_3", "OUTPUT_0"], 3),
    ]:
        placed, more = operands_of_op(op_of(tmp_path, inputs))
        assert ([one.name for one in placed], more) == (shown, left)


def test_attributes_without_a_value_are_left_out_and_telling_ones_come_first(tmp_path):
    op = op_of(tmp_path, scalar=2, bias="std::nullopt", dtype="DataType::BFLOAT16", note="")
    assert list(attributes_of_op(op).items()) == [("dtype", "DataType::BFLOAT16"), ("scalar", "2")]


def test_a_value_of_more_than_180_characters_is_cut_and_one_of_8000_shown_where_asked_for(tmp_path):
    op = op_of(tmp_path, fits="f" * 180, long="l" * 181, longest="m" * 8_000, beyond="b" * 8_001)
    shown = attributes_of_op(op)
    assert shown["fits"] == "f" * 180
    assert shown["long"] == "l" * 177 + "..."
    assert attributes_of_op(op, "longest")["longest"] == "m" * 8_000
    assert next(iter(attributes_of_op(op, "longest"))) == "longest"
    assert attributes_of_op(op, "beyond")["beyond"] == "b" * 7_997 + "..."
