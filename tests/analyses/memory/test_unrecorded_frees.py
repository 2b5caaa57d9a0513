"""Buffers that Python dropped before an operation ran out of memory: TTNN's message tells how many bytes they had."""

import asyncio
import re
from types import SimpleNamespace

from tests.analyses.memory.replays import opened
from tests.analyses.memory.small_tables import (
    asked,
    error,
    event,
    links,
    memory,
    numbers,
    operations,
    real,
    tensor,
    tensors,
)
from tests.for_all import for_all
from ttnn_mcp.analyses.memory.buffer_spans import SpanLog
from ttnn_mcp.analyses.memory.replay import replay_of
from ttnn_mcp.analyses.memory.unrecorded_frees import UnrecordedFrees
from ttnn_mcp.readers.memory.columns import DeviceTensors
from ttnn_mcp.readers.memory.spaces import DRAM, L1, key_of

DIED = 3  # place of operation 40


def out_of(allocated, buffer="L1"):
    tail = f" (allocated: {allocated} B, free: 1 B, largest free block: 1 B)" if allocated is not None else ""
    return (
        f"Out of Memory: Not enough space to allocate 64 B {buffer} buffer across 64 banks, where each bank needs to "
        f"store 1 B, but bank size is 9 B{tail}"
    )


def frees(allocated, reads=(), buffer="L1", operation=40, *, placed=range(1, 40), views=()):
    """Operations 10, 20, 30, 40 and 50; tensor n lies at 4096 n; `reads` are (operation, tensor).

    `views` are (tensor, n): it lies there too, by its copy on a chip alone.
    """
    copies = [numbers(*column) for column in zip(*((at, 9, 4096 * number) for at, number in views), strict=True)]
    report = memory(
        operations=operations(*"abcde", ids=(10, 20, 30, 40, 50)),
        tensors=tensors(
            *(tensor(at, 4096 * at) for at in placed), *(tensor(at, -1, -1, device=-1) for at, _ in views)
        ),
        inputs=links(*sorted(reads)),
        errors=(error(operation, "ttnn.d", out_of(allocated, buffer)),),
        **({"device_tensors": DeviceTensors(*copies)} if copies else {}),
    )
    return UnrecordedFrees(report, report.operations.ids, 0)


def lane(*sizes, buffers=()):
    """Live buffers: the first at 4096, the next at 8192, ..."""
    log, live = SpanLog(), {}
    for at, size in enumerate(sizes, 1):
        code = dict(buffers).get(at, L1)
        live[key_of(4096 * at, code)] = log.open(key_of(4096 * at, code), code, size, size, 0, recorded=True)
    return SimpleNamespace(live=live, log=log)


def dropped(allocated, reads, live, events=(), **more):
    """The numbers of the tensors whose buffers were dropped."""
    keys = frees(allocated, reads, **more).before(DIED, live, events)
    return [key // 2 // 4096 for key in keys]


def test_only_messages_that_tell_the_l1_allocated_are_of_use():
    assert DIED in frees(100)
    assert 2 not in frees(100)
    assert DIED not in frees(None)
    assert DIED not in frees(100, buffer="DRAM")
    assert DIED not in frees(100, operation=None)
    assert DIED not in frees(100, operation=99)
    fine = memory(operations=operations("ttnn.a"), errors=(error(1, "ttnn.a", "other words"),))
    assert 0 not in UnrecordedFrees(fine, fine.operations.ids, 0)


def test_the_buffer_whose_size_is_missing_was_dropped():
    assert dropped(700, [(10, 1), (10, 2), (20, 3)], lane(100, 300, 600)) == [2]
    assert dropped(600, [(10, 1), (10, 2), (20, 3)], lane(100, 300, 600)) == [1, 2]
    assert dropped(650, [(10, 1), (10, 2), (20, 3)], lane(100, 300, 600)) == []  # no sum fits
    assert dropped(0, [(10, 1), (10, 2), (20, 3)], lane(100, 300, 600)) == [1, 2, 3]


def test_a_buffer_whose_view_is_read_later_was_not_dropped():
    reads = [(10, 1), (10, 2), (20, 3)]
    assert dropped(800, reads, lane(100, 200, 200)) == []
    assert dropped(300, reads, lane(100, 200, 200)) == [2]
    assert dropped(300, [*reads, (50, 70)], lane(100, 200, 200), views=[(70, 2)]) == [3]


@for_all("allocated", [100, 150])
def test_where_nothing_is_missing_nothing_was_dropped(allocated):
    assert dropped(allocated, [(10, 1), (10, 2)], lane(100, 0)) == []


def test_of_equal_ones_the_longest_unread_goes_then_the_oldest():
    assert dropped(100, [(20, 1), (10, 2)], lane(100, 100)) == [2]
    assert dropped(100, [(10, 1), (30, 1), (20, 2)], lane(100, 100)) == [2]
    assert dropped(100, [(10, 1), (10, 2)], lane(100, 100)) == [1]


@for_all("reads", [[(40, 1), (20, 2)], [(50, 1), (20, 2)], [(20, 2)]])
def test_what_is_read_now_or_later_or_never_was_not_dropped(reads):
    assert dropped(200, reads, lane(100, 200)) == []
    assert dropped(100, reads, lane(100, 200)) == [2]


def test_buffers_that_the_operation_itself_touched_were_not_dropped():
    reads = [(10, 1), (10, 2)]
    assert dropped(100, reads, lane(100, 100), [event("clear"), event("circular", 4096, 50)]) == [2]


def test_what_the_operation_allocated_before_it_failed_counts():
    events = [event("allocate", 40_960, 500), event("allocate", 45_056, 70), event("free", 45_056, 70)]
    assert dropped(700, [(10, 1), (10, 2)], lane(100, 200, 0), events) == [1]
    assert dropped(200, [(10, 1), (10, 2)], lane(100, 200), [event("allocate", 40_960, -1)]) == [1]
    assert dropped(200, [(10, 1), (10, 2)], lane(100, 200), [event("circular", 40_960, 500)]) == [1]
    others = [event("allocate", 40_960, 500, buffer=DRAM), event("end", -1, 500)]
    assert dropped(200, [(10, 1), (10, 2)], lane(100, 200), others) == [1]
    assert dropped(200, [(10, 1), (10, 2)], lane(100, 200), [event("clear", 40_960, 500)]) == [1]


def test_buffers_in_dram_do_not_count():
    assert dropped(100, [(10, 1), (10, 2)], lane(100, 100, buffers=[(1, DRAM)])) == []
    assert dropped(100, [(10, 1), (10, 2), (10, 3)], lane(100, 100, 100, buffers=[(1, DRAM)])) == [2]


def test_links_of_unknown_operations_or_tensors_tell_nothing():
    assert dropped(0, [(10, 3)], lane(0, 0, 0, 100), placed=(1, 4)) == []
    assert dropped(200, [(15, 1)], lane(100, 200)) == []
    assert dropped(100, [(10, 2), (45, 2)], lane(0, 100)) == []
    assert dropped(0, [(10, 2), (45, 2)], lane(0, 100)) == [2]


def many(*wanted, count=30):
    """`count` buffers of 2, 4, 8, ... bytes, read in turn; those at `wanted` are missing."""
    sizes = [2**at for at in range(1, count + 1)]
    reads = [(10, at) for at in range(1, count + 1)]
    return dropped(sum(sizes) - sum(2**at for at in wanted), reads, lane(*sizes))


def test_the_twenty_four_longest_unread_are_tried_three_at_a_time():
    assert many(24) == [24]
    assert many(25) == []
    assert many(1, 9, 24) == [1, 9, 24]
    assert many(1, 2, 3, 4) == []


def test_the_real_run_out_of_l1_held_what_its_message_says():
    """Real: nothing was dropped, so the replay holds just what TTNN's allocator had."""
    folder = real("out_of_l1")
    ((message,),) = asked(folder, "SELECT error_message FROM errors")
    allocated = int(re.search(r"allocated: (\d+) B", message).group(1))
    replay = asyncio.run(replay_of(asyncio.run(opened(folder / "db.sqlite"))))
    assert int(replay.fullest.tensors[-1]) == allocated
    assert len(replay.operations) - 1 in UnrecordedFrees(replay.memory, replay.operations, replay.fullest.device)
