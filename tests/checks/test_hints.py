"""Hints: what is known of kinds of op that no check explains."""

import pytest

from ttnn_mcp.checks.hints import HINTS, hint_of
from ttnn_mcp.run.ops.op_names import canonical


@pytest.mark.parametrize("name", HINTS)
def test_a_hint_is_short_and_stands_under_the_name_that_ops_have(name):
    assert canonical(f"{name}DeviceOperation") == name
    assert 40 <= len(hint_of(name)) <= 200


def test_of_other_ops_nothing_is_said():
    assert hint_of("Embeddings") is None
