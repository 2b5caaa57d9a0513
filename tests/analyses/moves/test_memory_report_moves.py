"""Moves that a memory report alone tells: each term with a pair."""

from types import SimpleNamespace

import numpy as np

from tests.for_all import for_all
from ttnn_mcp.analyses.moves.memory_report_moves import remembered_moves
from ttnn_mcp.readers.printed.memory_config import Placement, ShardSpec

DRAM, L1 = Placement("INTERLEAVED", "DRAM"), Placement("INTERLEAVED", "L1")
TALL, WIDE = (Placement(f"{kind}_SHARDED", "L1", ShardSpec(shape=(32, 64))) for kind in ("HEIGHT", "WIDTH"))
BANKS = Placement("WIDTH_SHARDED", "DRAM", ShardSpec(shape=(32, 64)))


def links(pairs):
    return SimpleNamespace(
        operations=np.array([operation for operation, _ in pairs]),
        tensors=np.array([tensor for _, tensor in pairs]),
        of=lambda operation: [tensor for each, tensor in pairs if each == operation],
    )


def remembered(*calls, places=None):
    """(name, tensors read, tensors made) per call; a tensor lies where `places` says, else in shards."""
    reads = [(number, tensor) for number, (_, read, _) in enumerate(calls) for tensor in read]
    makes = [(number, tensor) for number, (_, _, made) in enumerate(calls) for tensor in made]
    known = {tensor: (places or {}).get(tensor, TALL) for _, tensor in (*reads, *makes)}
    tensors = {
        tensor: SimpleNamespace(id=tensor, placement=place, size_bytes=100 * tensor)
        for tensor, place in known.items()
        if place != "gone"
    }
    memory = SimpleNamespace(
        operations=SimpleNamespace(ids=np.arange(len(calls)), names=[name for name, _, _ in calls]),
        inputs=links(reads),
        outputs=links(makes),
        tensors=tensors,
    )
    return remembered_moves(memory)


def patterns(*calls, places=None):
    return [(move.operation, move.pattern, move.avoidable) for move in remembered(*calls, places=places)]


MOVE = "ttnn.to_memory_config"
RELU = "ttnn.relu"


def between(*places):
    """A model that makes a tensor, moves it along these places, and reads it at the end."""
    count = len(places)
    calls = [(RELU, [], [1]), *((MOVE, [n], [n + 1]) for n in range(1, count)), (RELU, [count], [99])]
    return calls, dict(enumerate(places, start=1))


@for_all(
    ("before", "after", "kind"),
    [
        (TALL, WIDE, "reshard"),
        (TALL, DRAM, "sharded-to-interleaved"),
        (DRAM, TALL, "interleaved-to-sharded"),
        (DRAM, L1, "other-buffer"),
    ],
)
def test_a_call_that_changes_the_placement_is_a_move(before, after, kind):
    calls, places = between(before, after)
    [move] = remembered(*calls, places=places)
    assert (move.operation, move.name, move.kind, move.size_bytes) == (1, MOVE, kind, 200)
    assert (move.before, move.after, move.producer, move.consumers) == (before, after, 0, (2,))
    assert (move.pattern, move.avoidable) == ("other", "no")


@for_all(
    ("calls", "places"),
    [
        ([(RELU, [1], [2])], {1: DRAM}),
        ([(MOVE, [1], [2])], {}),
        ([(MOVE, [], [2])], {2: DRAM}),
        ([(MOVE, [1], [])], {1: DRAM}),
        ([(MOVE, [1], [2])], {1: DRAM, 2: None}),
        ([(MOVE, [1], [2])], {1: None, 2: DRAM}),
        ([(MOVE, [1], [2])], {1: DRAM, 2: "gone"}),
        ([(MOVE, [1], [2])], {1: "gone", 2: DRAM}),
    ],
)
def test_other_calls_and_what_is_not_known_to_move_are_none(calls, places):
    assert remembered(*calls, places=places) == []


@for_all("calls", [[(MOVE, [1], [2]), (RELU, [2], [3])], [(RELU, [], [1]), (MOVE, [1], [2])]])
def test_inputs_and_outputs_of_the_model_are_boundaries(calls):
    assert patterns(*calls, places={1: DRAM})[0][1:] == ("boundary", "no")


def test_freeing_a_tensor_is_no_reading(monkeypatch):
    calls = [(RELU, [], [1]), (MOVE, [1], [2]), ("ttnn.deallocate", [2], [])]
    assert patterns(*calls, places={1: DRAM}) == [(1, "boundary", "no")]
    calls = [(RELU, [], [1]), (MOVE, [1], [2]), ("ttnn.deallocate", [1], []), (MOVE, [2], [3]), (RELU, [3], [4])]
    assert patterns(*calls, places={2: WIDE, 3: L1}) == [(1, "chain", "certain"), (3, "chain", "partly")]


@for_all(
    ("places", "found"),
    [
        ((TALL, DRAM, TALL), ("round-trip", "certain")),
        ((TALL, DRAM, WIDE), ("round-trip", "partly")),
        ((DRAM, TALL, DRAM), ("round-trip", "certain")),
        ((DRAM, TALL, L1), ("round-trip", "partly")),
        ((TALL, WIDE, TALL), ("chain", "partly")),
        ((TALL, WIDE, DRAM), ("chain", "partly")),
        ((DRAM, L1, TALL), ("chain", "partly")),
        ((DRAM, L1, DRAM), ("chain", "partly")),
    ],
)
def test_a_move_behind_a_move_undoes_it_or_follows_it(places, found):
    calls, where = between(*places)
    assert patterns(*calls, places=where) == [(1, found[0], "certain"), (2, *found)]


def test_a_copy_that_others_read_stays():
    calls = [(RELU, [], [1]), (MOVE, [1], [2]), (RELU, [2], [8]), (MOVE, [2], [3]), (RELU, [3], [4])]
    assert patterns(*calls, places={2: DRAM}) == [(1, "round-trip", "no"), (3, "round-trip", "certain")]
    assert patterns(*calls, places={2: WIDE, 3: DRAM}) == [(1, "other", "no"), (3, "other", "no")]


def test_a_chain_stays_one_where_a_further_move_is_none_of_it():
    calls = [
        (RELU, [], [1]),
        (MOVE, [1], [2]),
        (MOVE, [2], [3]),
        (MOVE, [3], [4]),
        (RELU, [3], [5]),
        (RELU, [4], [6]),
    ]
    assert patterns(*calls, places={2: WIDE, 3: DRAM, 4: L1}) == [
        (1, "chain", "certain"),
        (2, "chain", "partly"),
        (3, "other", "no"),
    ]


@for_all(
    ("places", "waits", "pattern"),
    [
        ((TALL, DRAM, TALL), 3, "round-trip"),
        ((TALL, DRAM, TALL), 4, "other"),  # put aside: L1 may have had no room
        ((TALL, L1, TALL), 9, "round-trip"),
        ((BANKS, DRAM, BANKS), 9, "round-trip"),
        ((DRAM, TALL, DRAM), 9, "round-trip"),
    ],
)
def test_what_waits_in_dram_for_more_than_four_calls_was_put_aside(places, waits, pattern):
    (first, away, back, last), where = between(*places)
    between_them = [("ttnn.add", [], [50 + number]) for number in range(waits)]
    assert [each[1] for each in patterns(first, away, *between_them, back, last, places=where)] == [pattern] * 2
