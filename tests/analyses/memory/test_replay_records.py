"""The events of an operation by address, and the buffers of its fullest moment."""

from tests.analyses.memory.small_tables import event
from ttnn_mcp.analyses.memory.core_load import Circular
from ttnn_mcp.analyses.memory.replay_records import Fullest, Levels, Step
from ttnn_mcp.readers.memory.spaces import DRAM, L1, L1_SMALL, TRACE, key_of

A, B = key_of(4096, L1), key_of(8192, L1)


def test_a_step_knows_the_first_and_last_event_of_each_address():
    events = [
        event("allocate", 4096, 16),
        event("allocate", 8192, 16),
        event("free", 4096),
        event("circular", 8192),
    ]
    step = Step(events)
    assert (step.first, step.last, step.nameless) == ({A: 0, B: 1}, {A: 2, B: 1}, False)


def test_events_without_an_address_are_in_neither():
    step = Step([event("allocate", key=-1), event("free", 4096), event("end"), event("clear")])
    assert (step.first, step.last, step.nameless) == ({A: 1}, {A: 1}, False)


def test_a_free_that_names_nothing_is_nameless():
    assert Step([event("free")]).nameless
    assert Step([event("allocate", 4096), event("free")]).nameless
    assert not Step([event("free", 4096)]).nameless
    assert not Step([event("circular"), event("allocate")]).nameless
    assert not Step([]).nameless


def test_the_fullest_moment_keeps_the_buffers_that_were_there_then():
    first, second, late = (Circular(0, at, 16, ()) for at in range(3))
    assert Fullest((), (([first, late], 1), ([second], 1)), 0).circular == (first, second)


def test_what_was_there_all_the_time_counts_in_every_operation_so_far():
    levels = Levels()
    levels.add((100, 60, 2, True), 5, 7, 90)
    levels.add((50, 50, -1, False), 0, 0, 50)
    for buffer, size in ((L1, 10), (L1_SMALL, 20), (DRAM, 40), (TRACE, 80)):
        levels.add_to_all(buffer, size)
    assert (levels.l1, levels.tensors, levels.recorded) == ([110, 60], [70, 60], [100, 60])
    assert (levels.small, levels.dram) == ([25, 20], [127, 120])


def test_levels_keep_what_the_report_holds_beside_what_is_known():
    levels = Levels()
    levels.add((100, 60, 2, True), 5, 7, 90)
    assert (levels.l1, levels.tensors, levels.small, levels.dram) == ([100], [60], [5], [7])
    assert (levels.recorded, levels.filled_by, levels.by_model) == ([90], [2], [True])
