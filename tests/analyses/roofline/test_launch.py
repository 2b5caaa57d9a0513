"""The least any op takes."""

from ttnn_mcp.analyses.roofline.launch import LAUNCH_FLOOR_NS

SHORTEST_SEEN_NS = 373  # a Move of shards on Blackhole, of some 4,000 ops in six real reports


def test_the_floor_is_just_below_the_shortest_op_that_was_measured():
    assert 0.95 * SHORTEST_SEEN_NS < LAUNCH_FLOOR_NS < SHORTEST_SEEN_NS
