"""How often a pattern occurs, which copies are moves, and which moves serve one op only."""

from types import SimpleNamespace

import numpy as np

from tests.analyses.roofline.arithmetic import table
from tests.for_all import for_all
from ttnn_mcp.analyses.moves.move_patterns import KINDS, NONE, PATTERNS
from ttnn_mcp.analyses.moves.moves import Moves, _kinds
from ttnn_mcp.checks.step3_memory_sharding.shard_for_one_matmul import moves_for_one_op

INTO, OUT, RESHARD = (KINDS.index(kind) for kind in ("interleaved-to-sharded", "sharded-to-interleaved", "reshard"))


def moves(*told):
    """(row, kind, maker, pattern) per move."""
    rows, kinds, makers, patterns = (np.array(column) for column in zip(*told, strict=True))
    nothing = np.zeros(len(rows))
    codes = np.array([PATTERNS.index(pattern) for pattern in patterns])
    return Moves(None, rows, kinds, makers, codes, nothing, nothing, nothing, nothing)


def test_a_round_trip_counts_once_per_way_back():
    trip = "round-trip"
    found = moves(
        (1, OUT, 0, trip), (2, INTO, 1, trip), (3, INTO, 1, trip), (7, OUT, 0, "other"), (9, INTO, 7, "chain")
    )
    assert found.occurrences(trip) == 2


def test_a_chain_counts_once_however_long():
    found = moves(*((row, RESHARD, row - 1, "chain") for row in (1, 2, 3, 6, 7)))
    assert found.occurrences("chain") == 2


def test_a_detour_counts_once_per_way_out_and_anything_else_by_its_moves():
    detour, other = "eltwise-detour", "conv-input"
    found = moves(
        (1, OUT, 0, detour), (3, INTO, 2, detour), (5, INTO, 2, detour), (8, INTO, 7, other), (9, OUT, 7, other)
    )
    assert (found.occurrences(detour), found.occurrences(other), found.occurrences("chain")) == (1, 2, 0)


TILE = [1, 1, 32, 32]


@for_all("blank", ["", "INPUT_0_MEMORY", "OUTPUT_0_MEMORY"])
def test_a_copy_whose_placement_one_side_does_not_say_is_no_move(tmp_path, blank):
    found = _kinds(table(tmp_path, ("Copy", [TILE], [TILE]), ("Unary", [TILE], [TILE]), blank=blank))
    assert found.tolist() == [NONE, NONE]


@for_all(
    ("change", "pairs"),
    [
        ({}, [[2, 3]]),
        ({"kind": RESHARD}, []),
        ({"in_dram": False}, []),
        ({"readers": (3, 4)}, []),
        ({"readers": ()}, []),
        ({"able": False}, []),
        ({"made": 1}, []),  # it is no first operand of that op
    ],
)
def test_a_move_for_one_op_comes_from_dram_and_is_the_first_operand_of_one_that_could_read_it_there(change, pairs):
    told = {"kind": INTO, "in_dram": True, "readers": (3,), "able": True, "made": 2, **change}
    made = np.array([-1, -1, -1, told["made"], -1])
    found = SimpleNamespace(
        joins=SimpleNamespace(
            ops=SimpleNamespace(
                inputs=[SimpleNamespace(in_dram=np.array([False, False, told["in_dram"], False, False]))]
            ),
            flow=SimpleNamespace(producers=[made]),
        ),
        kinds=np.array([told["kind"]]),
        rows=np.array([2]),
        readers=lambda _: told["readers"],
    )
    able = np.arange(5) == 3 if told["able"] else np.arange(5) == 4
    assert np.stack(moves_for_one_op(found, able), axis=1).tolist() == pairs
