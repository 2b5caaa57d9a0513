"""Hints: what is known of kinds of op that no check explains."""

from tests.for_all import for_all
from ttnn_mcp.checks.hints import HINTS, hint_of
from ttnn_mcp.run.ops.op_names import canonical


@for_all("name", HINTS)
def test_a_hint_is_short_and_stands_under_the_name_that_ops_have(name):
    assert canonical(f"{name}DeviceOperation") == name
    assert 40 <= len(hint_of(name)) <= 200


def test_of_other_ops_nothing_is_said():
    assert hint_of("Embeddings") is None
