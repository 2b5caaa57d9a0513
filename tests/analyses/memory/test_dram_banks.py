"""The number of banks, from tensors whose bytes per bank a snapshot shows."""

import asyncio

from tests.analyses.memory.small_tables import (
    IN_DRAM,
    asked,
    device,
    memory,
    numbers,
    real,
    sharded,
    tensor,
    tensors,
)
from tests.for_all import for_all
from ttnn_mcp.analyses.memory.dram_banks import banks_of
from ttnn_mcp.readers.memory.report import read_memory_report
from ttnn_mcp.readers.memory.spaces import DRAM, L1, L1_SMALL
from ttnn_mcp.readers.memory.stream import SnapshotRows, read_snapshots

PAGE = 2048
PAGES = 56  # 7 pages in each of 8 banks, 8 in each of 7, 5 in each of 12


def counted(*sizes, arch="blackhole", devices=(), buffer=DRAM, **more):
    """The banks where DRAM tensors of PAGES pages take these bytes per bank."""
    told = {"size": PAGES * PAGE, "placement": IN_DRAM, **more}
    rows = [tensor(at, 4096 * at, DRAM, **told) for at in range(1, len(sizes) + 1)]
    shown = [(1, 0, 4096 * at, size, buffer) for at, size in enumerate(sizes, 1)]
    columns = zip(*shown, strict=True) if shown else [()] * 5
    found = banks_of(
        memory(tensors=tensors(*rows), arch=arch, devices=devices), SnapshotRows(*(numbers(*c) for c in columns))
    )
    return found if devices else found.get(DRAM)


@for_all(
    ("arch", "per_bank", "banks"),
    [
        ("blackhole", 7, 8),
        ("blackhole", 8, 7),  # a p100
        ("blackhole", 9, 8),  # fits none: the usual one
        ("wormhole_b0", 5, 12),
        ("wormhole_b0", 7, 12),
        (None, 5, 12),
        (None, 7, 8),
        (None, 8, 7),
        (None, 9, None),
        ("grayskull", 8, 7),
    ],
)
def test_the_number_that_fits_is_taken(arch, per_bank, banks):
    assert counted(per_bank * PAGE, arch=arch) == banks


@for_all(("arch", "banks"), [("blackhole", 8), ("wormhole_b0", 12), (None, None)])
def test_without_tensors_the_architecture_tells(arch, banks):
    assert counted(arch=arch) == banks


@for_all(
    "odd",
    [{"layout": "ROW_MAJOR"}, {"dtype": None}, {"dtype": "STRANGE"}, {"placement": None}, {"size": -1},
     {"placement": sharded()}, {"buffer": L1}],
)  # fmt: skip
def test_tensors_that_are_dealt_out_otherwise_tell_nothing(odd):
    assert counted(8 * PAGE, **odd) == 8


def test_tensors_outside_dram_tell_nothing():
    rows = tensors(tensor(1, 4096, L1, size=PAGES * PAGE))
    table = SnapshotRows(*(numbers(value) for value in (1, 0, 4096, 8 * PAGE, DRAM)))
    assert banks_of(memory(tensors=rows, arch="blackhole"), table) == {DRAM: 8}


def test_a_tensor_that_no_snapshot_shows_tells_nothing():
    rows = tensors(tensor(1, 4096, DRAM, size=PAGES * PAGE, placement=IN_DRAM))
    table = SnapshotRows(*(numbers(value) for value in (1, 0, 8192, 8 * PAGE, DRAM)))
    assert banks_of(memory(tensors=rows, arch="blackhole"), table) == {DRAM: 8}


@for_all(("eights", "sevens", "banks"), [(90, 110, 7), (100, 150, 8)])
def test_two_hundred_tensors_are_looked_at(eights, sevens, banks):
    assert counted(*[7 * PAGE] * eights, *[8 * PAGE] * sevens) == banks


def test_tensors_of_unknown_size_take_no_place_among_them():
    rows = [tensor(at, 4096 * at, DRAM, size=-1, placement=IN_DRAM) for at in range(1, 301)]
    rows += [tensor(301, 4096, DRAM, size=PAGES * PAGE, placement=IN_DRAM)]
    table = SnapshotRows(*(numbers(value) for value in (1, 0, 4096, 8 * PAGE, DRAM)))
    assert banks_of(memory(tensors=tensors(*rows), arch="blackhole"), table) == {DRAM: 7}


def test_tensors_in_l1_take_no_place_among_them():
    rows = [tensor(at, 4096 * at, L1, size=PAGES * PAGE) for at in range(1, 301)]
    rows += [tensor(301, 4096, DRAM, size=PAGES * PAGE, placement=IN_DRAM)]
    table = SnapshotRows(*(numbers(value) for value in (1, 0, 4096, 8 * PAGE, DRAM)))
    assert banks_of(memory(tensors=tensors(*rows), arch="blackhole"), table) == {DRAM: 7}


def test_the_banks_of_l1_are_those_of_the_first_device():
    assert counted(devices=(device(), device(1, l1_banks=7))) == {L1: 64, L1_SMALL: 64, DRAM: 8}
    assert counted(devices=(device(l1_banks=None),)) == {DRAM: 8}
    assert counted(devices=(device(),), arch=None) == {L1: 64, L1_SMALL: 64}


@for_all(("name", "banks"), [("views", 12), ("mobilenet", 8), ("bert_dram", 8)])
def test_real_reports_tell_their_banks(name, banks):
    """Real, of an n150, a p150 and a p300."""
    folder = real(name)

    async def read():
        report = await read_memory_report(folder)
        return banks_of(report, await read_snapshots(report))

    found = asyncio.run(read())
    assert found[DRAM] == banks
    assert found[L1] == asked(folder, "SELECT l1_num_banks FROM devices")[0][0]
