"""Conv peers: the fastest similar conv of another shard layout."""

import numpy as np

from tests.analyses.tables import ops_of
from tests.checks.conv_programs import put_conv
from tests.for_all import for_all
from tests.profiles import Program
from ttnn_mcp.analyses.op_kinds.conv_peers import NO_PEER, peers_of

HEIGHT = {"layout": "HEIGHT", "per_core": (1, 16), "block": (1, 24)}  # 2048 x 512 outputs on 64 cores, either way
BLOCK = {"layout": "BLOCK", "channel_cores": 8, "per_core": (8, 2), "block": (8, 3)}


def peers(folder, *convs, within=2.0):
    program = Program("wormhole_b0")
    for conv in convs:
        put_conv(program, **{"inner": 72, **conv})
    ops = ops_of(folder, program)
    return peers_of(ops, np.ones(len(ops)), within=within).tolist()


def test_a_peer_is_similar_of_another_layout_and_the_fastest_such(tmp_path):
    slow, quick, mid = (
        {**BLOCK, "kernel_ns": 9_000},
        {**HEIGHT, "kernel_ns": 2_000},
        {**HEIGHT, "kernel_ns": 4_000},
    )
    assert peers(tmp_path, slow, mid, quick) == [2, 0, 0]
    assert peers(tmp_path / "alike", quick, mid) == [NO_PEER, NO_PEER]


@for_all(("within", "found"), [(2.0, [1, 0]), (1.9, [NO_PEER, NO_PEER])])
def test_sizes_may_differ_by_the_factor_that_is_asked_for(tmp_path, within, found):
    assert peers(tmp_path, HEIGHT, {**BLOCK, "per_core": (16, 2)}, within=within) == found


def test_a_conv_whose_time_was_lost_is_no_peer_but_has_one(tmp_path):
    assert peers(tmp_path, {**HEIGHT, "kernel_ns": 0}, {**BLOCK, "kernel_ns": 5_000}) == [NO_PEER, NO_PEER]
    assert peers(tmp_path / "two", {**HEIGHT, "kernel_ns": 0}, HEIGHT, BLOCK) == [2, 2, 1]
