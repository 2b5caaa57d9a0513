"""Hints: what is known of kinds of op that no check explains."""

from tests.for_all import for_all
from ttnn_mcp.checks.hints import HINTS, hint_of
from ttnn_mcp.run.ops.op_names import canonical


@for_all("name", HINTS)
def test_a_hint_is_short_and_stands_under_the_name_that_ops_have(name):
    op = name.removesuffix(" in shards")
    assert canonical(f"{op}DeviceOperation") == op
    assert 40 <= len(hint_of(name)) <= 200


def test_in_shards_an_op_may_need_another_hint():
    assert "BLOCK shards" in hint_of("GroupNorm", sharded=True)
    assert "num_out_blocks" in hint_of("GroupNorm")
    assert hint_of("Halo", sharded=True) == hint_of("Halo")


def test_of_other_ops_nothing_is_said():
    assert hint_of("Embeddings") is None
