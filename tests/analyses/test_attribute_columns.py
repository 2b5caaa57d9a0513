"""ATTRIBUTES of many ops: equal texts are one."""

import numpy as np

from tests.analyses.tables import ops_of
from tests.profiles import Program
from ttnn_mcp.analyses.attribute_columns import attributes_of


def test_each_distinct_text_is_parsed_once(tmp_path):
    program = Program("wormhole_b0")
    for depth in ("2", "4", "2"):
        program.op("UnaryDeviceOperation", [program.tensor([1, 1, 32, 32])], attributes={"depth": depth})
    columns = attributes_of(ops_of(tmp_path, program))
    assert columns.row(0) is columns.row(2)
    assert columns.numbers(np.arange(3), lambda each: each.number("depth")).tolist() == [2, 4, 2]
