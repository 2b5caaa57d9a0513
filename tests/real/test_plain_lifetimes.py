"""The plain counting that real reports are held to: what it must not miss, and that the replay says the same."""

import sqlite3
from contextlib import closing

from tests.analyses.memory.replays import opened
from tests.profiles import Program, Replay, height_sharded, write_memory_report
from tests.real.plain_lifetimes import held_operations
from ttnn_mcp.analyses.memory.replay import replay_of

SHARD = height_sharded(256, 32, (8, 8))
SHAPE = [1, 1, 16384, 32]
NEVER_FREED = [(2, None, 3), (3, None, 2)]


def written(folder, program, dropped):
    """Its report as TTNN 0.81.1 writes it: a Python name that goes leaves no operation, no graph and no snapshot."""
    path = write_memory_report(folder, program, "3.3")
    with closing(sqlite3.connect(path)) as connection:
        for table in ("operations", "captured_graph", "buffers"):
            connection.executemany(f"DELETE FROM {table} WHERE operation_id = ?", [[one.id] for one in dropped])
        connection.commit()
    return path


async def replayed(path):
    found = await replay_of(await opened(path))
    listed = found.lifetimes.late_frees(found.fullest.peak)
    return sorted(((one.last_use, one.freed, one.held) for one in listed if one.held > 1), key=str)


def counted(path):
    return [one for one in held_operations(path) if one[2] > 1]


def waiting(*, in_place):
    """Its first result waits for three operations, then it is dropped, and the next result takes its address.

    The other results are never freed; two of them are late, too.
    """
    program = Program()
    x = program.tensor(SHAPE, placement=SHARD)
    y = program.op("UnaryDeviceOperation", [x])
    z = program.op("UnaryDeviceOperation", [y])
    results = [z]
    for _ in range(3):
        results.append(program.op("UnaryDeviceOperation", [results[-1]]))
    if in_place:
        again = program.tensor(SHAPE, placement=SHARD, alias_of=y)
        program.call("ttnn.add_", [results[-1]], [again])
    gone = program.drop(y)
    over = program.op("UnaryDeviceOperation", [results[-1]])
    assert Replay(program).addresses[over] == Replay(program).addresses[y]
    return program, gone


async def test_a_result_at_the_address_of_a_dropped_tensor_is_no_use_of_it(tmp_path):
    """The fault of the first count: it took that result for a use, and the dropped tensor for freed in time."""
    program, gone = waiting(in_place=False)
    path = written(tmp_path, program, [gone])
    assert await replayed(path) == counted(path) == [(1, 5, 3), *NEVER_FREED]


async def test_a_result_in_place_is_a_use(tmp_path):
    program, gone = waiting(in_place=True)
    path = written(tmp_path, program, [gone])
    assert (5, 6, 0) in held_operations(path)
    assert await replayed(path) == counted(path) == NEVER_FREED
