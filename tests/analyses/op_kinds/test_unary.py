"""Unary ops: the one function of a chain."""

import pytest

from ttnn_mcp.analyses.op_kinds.unary import function_of
from ttnn_mcp.readers.printed.attributes import parse_attributes


@pytest.mark.parametrize(
    ("chain", "function"),
    [
        ("'op_chain': '{UnaryWithParam(op_type=UnaryOpType::RELU,param={})}'", "RELU"),
        ("'op_chain': '{UnaryWithParam(op_type=UnaryOpType::EXP),UnaryWithParam(op_type=UnaryOpType::RELU)}'", ""),
        ("'op_chain': ''", ""),
        ("'memory_config': 'UnaryOpType::RELU'", ""),
    ],
    ids=["one", "two", "none", "elsewhere"],
)
def test_a_chain_of_one_function_is_that_function(chain, function):
    assert function_of(parse_attributes("{" + chain + "}")) == function
