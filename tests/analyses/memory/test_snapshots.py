"""The `buffers` table as stretches: what the allocator sets aside for what it shows, when it came and when it went."""

import asyncio
from itertools import groupby

import numpy as np

from tests.analyses.memory.small_tables import asked, numbers, real
from tests.for_all import for_all
from ttnn_mcp.analyses.memory.snapshots import Changes, Seen, same_snapshots, snapshots_of
from ttnn_mcp.readers.memory.report import read_memory_report
from ttnn_mcp.readers.memory.spaces import DRAM, L1, L1_SMALL, TRACE, key_of
from ttnn_mcp.readers.memory.stream import SnapshotRows, read_snapshots

OPERATIONS = np.array([1])
NOT_EMPTY = np.zeros(1, dtype=np.bool_)
A, B = key_of(4096, L1), key_of(8192, L1)


def shown(*buffers, **step):
    columns = np.array([(1, 0, 4096 * (at + 1), size, code) for at, (size, code) in enumerate(buffers)]).T
    found = snapshots_of(SnapshotRows(*columns), OPERATIONS, NOT_EMPTY, **step)
    return found[0].came.sizes


def taken(*rows, operations=4, empty=(), device=0):
    """(operation, address, size[, buffer, device]) rows as the snapshots of a device."""
    full = [(op, *(more[1:] or [0]), at, size, *(more[:1] or [L1])) for op, at, size, *more in rows]
    still = np.isin(np.arange(1, operations + 1), empty)
    table = SnapshotRows(*(numbers(*column) for column in zip(*full, strict=True)))
    return snapshots_of(table, np.arange(1, operations + 1), still)[device]


def changes(*rows, operations=4, **more):
    found = taken(*rows, operations=operations, **more)
    return [found.at(place) for place in range(operations)]


NOTHING = Seen([], [])


def test_what_fills_a_page_in_part_takes_all_of_it():
    assert shown((16, DRAM), (4, L1), (2048, DRAM)) == [16, 16, 2048]
    assert shown((16, DRAM), (4, L1), (2048, DRAM), dram_step=64) == [64, 16, 2048]
    assert shown((4, L1), (4, L1_SMALL), (4, DRAM), (4, TRACE), (33, L1), dram_step=32) == [16, 16, 32, 4, 48]


def test_absurd_sizes_are_cut_to_what_sums_bear():
    assert shown((-5, L1), (2**62, L1), (2**40, DRAM), (2**39 + 16, L1)) == [0, 2**40, 2**40, 2**39 + 16]


def test_a_buffer_comes_once_and_goes_with_the_first_snapshot_that_lacks_it():
    assert changes((1, 4096, 16), (2, 4096, 16), (3, 8192, 32)) == [
        Seen([(A, 16, L1)], []),
        NOTHING,
        Seen([(B, 32, L1)], [A]),
        NOTHING,  # without a snapshot nothing is known of it
    ]


def test_a_buffer_elsewhere_is_another_one_however_alike():
    assert changes((1, 4096, 16), (2, 8192, 16)) == [
        Seen([(A, 16, L1)], []),
        Seen([(B, 16, L1)], [A]),
        NOTHING,
        NOTHING,
    ]


def test_an_operation_without_a_snapshot_ends_nothing():
    assert changes((1, 4096, 16), (3, 4096, 16)) == [Seen([(A, 16, L1)], []), NOTHING, NOTHING, NOTHING]


def test_a_snapshot_without_rows_ends_everything():
    found = changes((1, 4096, 16), (3, 4096, 16), empty=(2, 4))
    assert found == [Seen([(A, 16, L1)], []), Seen([], [A]), Seen([(A, 16, L1)], []), Seen([], [A])]
    assert taken((1, 4096, 16), empty=(2,)).taken == [True, True, False, False]


@for_all("other", [(4096, 32, L1), (4096, 16, L1_SMALL), (4096, 32, L1_SMALL)])
def test_another_size_or_type_at_the_address_is_another_buffer(other):
    address, size, code = other
    found = changes((1, 4096, 16, L1), (2, address, size, code))
    assert found[1] == Seen([(A, size, code)], [A])


def test_dram_and_l1_have_addresses_of_their_own():
    assert changes((1, 4096, 16, L1), (1, 4096, 16, DRAM))[0].came == [
        (key_of(4096, DRAM), 16, DRAM),
        (A, 16, L1),
    ]


def test_a_buffer_listed_twice_counts_once():
    found = taken((1, 4096, 16), (1, 4096, 16), (2, 4096, 16))
    assert found.at(0) == Seen([(A, 16, L1)], [])
    assert found.at(1) == NOTHING
    assert found.l1_bytes.tolist() == [16, 16, 0, 0]


def test_the_level_is_of_l1_alone():
    found = taken((1, 4096, 16), (1, 8192, 32), (1, 4096, 64, DRAM), (1, 0, 128, L1_SMALL), (2, 8192, 32))
    assert found.l1_bytes.tolist() == [48, 32, 0, 0]


def test_rows_without_a_place_or_an_operation_are_left_out():
    found = taken((1, 4096, 16), (1, -1, 32), (1, 8192, 32, -1), (9, 8192, 32))
    assert found.at(0) == Seen([(A, 16, L1)], [])
    assert found.l1_bytes.tolist() == [16, 0, 0, 0]


def test_devices_are_told_apart():
    rows = ((1, 4096, 16, L1, 0), (1, 8192, 32, L1, 5), (2, 8192, 32, L1, 5))
    assert taken(*rows, device=5).at(0) == Seen([(B, 32, L1)], [])
    assert taken(*rows).at(1) == Seen([], [A])  # a snapshot is of all devices


def test_the_same_snapshots_come_and_go_alike():
    first, same, late, stays = (
        taken((1, 4096, 16), (2, 8192, 16)),
        taken((1, 4096, 16), (2, 8192, 16)),
        taken((1, 4096, 16), (2, 4096, 16), (2, 8192, 16)),
        taken((1, 4096, 16), (1, 8192, 16), (2, 8192, 16)),
    )
    assert same_snapshots(first, same)
    assert not same_snapshots(first, late)  # goes later
    assert not same_snapshots(first, stays)  # comes earlier
    assert same_snapshots(None, None)
    assert not same_snapshots(first, None)
    assert not same_snapshots(None, first)


def test_changes_are_found_by_operation():
    assert Changes([], [], [], [0, 2, 2, 5]).at(2) == slice(2, 5)


@for_all("name", ["views", "late_frees"])
def test_played_in_turn_the_stretches_of_a_real_report_are_its_table(name):
    folder = real(name)

    async def read():
        report = await read_memory_report(folder)
        return report.operations.ids, await read_snapshots(report)

    operations, table = asyncio.run(read())
    device = int(table.devices[0])
    found = snapshots_of(table, operations, np.zeros(len(operations), dtype=np.bool_))[device]
    sql = f"SELECT operation_id, address, buffer_type FROM buffers WHERE device_id = {device} ORDER BY 1"
    wanted = {
        operation: {key_of(address, code) for _, address, code in rows}
        for operation, rows in groupby(asked(folder, sql), key=lambda row: row[0])
    }
    live = set()
    for place, operation in enumerate(operations.tolist()):
        came, went = found.at(place)
        live = (live - set(went)) | {key for key, _, _ in came}
        assert live == wanted.get(operation, live)
    assert len(wanted) > 10
