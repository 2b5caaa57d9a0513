"""Narrow rows in a bank: what TTNN 0.81.1's allocator counted of them, and what its report says."""

import asyncio
from types import SimpleNamespace

import numpy as np

from tests.analyses.memory.small_tables import asked, real, tensor, tensors
from tests.for_all import for_all
from ttnn_mcp.analyses.memory.dram_banks import banks_of, with_aligned_rows
from ttnn_mcp.readers.memory.report import read_memory_report
from ttnn_mcp.readers.memory.spaces import DRAM, L1, L1_SMALL
from ttnn_mcp.readers.memory.stream import SnapshotRows, read_snapshots
from ttnn_mcp.readers.printed.memory_config import Placement
from ttnn_mcp.readers.printed.shapes import Shape

WORMHOLE, BLACKHOLE = ({DRAM: 12, L1: 64}, 32), ({DRAM: 8, L1: 120}, 64)
AT = 4096


def counted(
    shape, shown, chip=WORMHOLE, *, space=DRAM, dtype="UINT16", layout="ROW_MAJOR", at=AT, placement="INTERLEAVED"
):
    rows_of_one = SimpleNamespace(
        shapes=[None if shape is None else Shape(shape)],
        dtypes=[dtype],
        layouts=[layout],
        placements=[None if placement is None else Placement(placement, "DRAM" if space == DRAM else "L1")],
        addresses=np.array([at]),
        buffers=np.array([space]),
    )
    rows = [(1, 0, AT, shown, space), (2, 0, AT, shown, space), (2, 0, 2 * AT, 7, space)]
    table = with_aligned_rows(SnapshotRows(*np.array(rows).T), rows_of_one, *chip)
    first, again, other = table.bytes_per_bank.tolist()
    assert first == again
    assert other == 7
    return first


@for_all(
    "case",
    [
        ((1, 32, 32, 2), "BFLOAT16", 512, BLACKHOLE, DRAM, 8_192),  # a grid of points
        ((1, 1, 256, 8), "UINT16", 352, WORMHOLE, DRAM, 704),  # a map of experts
        ((16, 1, 1, 8), "UINT16", 32, WORMHOLE, DRAM, 64),
        ((1, 1, 64, 5), "UINT16", 10, WORMHOLE, L1, 16),
        ((1, 1, 64, 100), "BFLOAT16", 1_200, WORMHOLE, DRAM, 1_344),
    ],
)
def test_each_row_takes_whole_pages(case):
    shape, dtype, shown, chip, space, allocated = case
    assert counted(shape, shown, chip, space=space, dtype=dtype) == allocated


def test_full_pages_are_left_alone():
    assert counted((1, 1, 256, 16), 704) == 704
    assert counted((1, 1, 64, 8), 16, space=L1) == 16


def test_a_buffer_of_another_size_at_the_address_is_another_one():
    assert counted((1, 1, 256, 8), 400) == 400
    assert counted((1, 1, 256, 8), 352, at=3 * AT) == 352


@for_all(
    "odd",
    [{"layout": "TILE"}, {"dtype": "BFLOAT8_B"}, {"dtype": None}, {"placement": "HEIGHT_SHARDED"}, {"placement": None},
     {"chip": ({L1: 64}, 32)}, {"chip": (WORMHOLE[0], 16)}, {"at": -1}],
)  # fmt: skip
def test_tiles_shards_and_what_nobody_tells_stay_as_they_are(odd):
    assert counted((1, 1, 256, 8), 352, **odd) == 352


@for_all("shape", [None, (), (1, 1, 256, 0)])
def test_a_shape_without_rows_tells_nothing(shape):
    assert counted(shape, 352) == 352


def table(*rows):
    """(address, bytes per bank, buffer) after one operation."""
    return SnapshotRows(*np.array([(1, 0, *row) for row in rows]).T)


def narrow(*rows):
    """(address, buffer) of tensors of 64 rows of 10 bytes."""
    return tensors(
        *(tensor(at, *row, shape=(1, 1, 64, 5), dtype="UINT16", layout="ROW_MAJOR") for at, row in enumerate(rows))
    )


def test_a_table_without_narrow_rows_is_not_even_copied():
    shown, (banks, step) = table((AT, 16, L1)), WORMHOLE
    assert with_aligned_rows(shown, tensors(tensor(1)), banks, step) is shown
    wide = tensor(1, AT, L1, shape=(1, 1, 64, 8), dtype="UINT16", layout="ROW_MAJOR")
    assert with_aligned_rows(shown, tensors(wide), banks, step) is shown
    assert with_aligned_rows(shown, narrow((AT, L1)), banks, step) is not shown


def test_buffers_without_a_place_stay_as_they_are():
    shown, (banks, step) = table((-1, 10, L1), (AT, 10, L1)), WORMHOLE
    found = with_aligned_rows(shown, narrow((-1, L1), (AT, L1)), banks, step)
    assert found.bytes_per_bank.tolist() == [10, 16]


def test_a_region_whose_pages_nobody_aligns_stays_as_it_is():
    shown, (banks, step) = table((AT, 10, L1_SMALL)), WORMHOLE
    assert with_aligned_rows(shown, narrow((AT, L1_SMALL)), {**banks, L1_SMALL: 64}, step) is shown


def test_elements_of_less_than_a_byte_in_all_take_no_page():
    shown, (banks, step) = table((AT, 10, L1)), WORMHOLE
    half = tensor(1, AT, L1, shape=(1, 1, 64, 1), dtype="BFLOAT4_B", layout="ROW_MAJOR")
    assert with_aligned_rows(shown, tensors(half), banks, step) is shown


@for_all("name", ["views", "mobilenet"])
def test_real_tensors_of_whole_pages_leave_the_table_alone(name):
    """Real: rows of the table that change belong to tensors in ROW_MAJOR layout."""
    folder = real(name)

    async def read():
        report = await read_memory_report(folder)
        return report, await read_snapshots(report)

    report, shown = asyncio.run(read())
    banks = banks_of(report, shown)
    step = {"wormhole_b0": 32, "blackhole": 64}[report.arch]
    found = with_aligned_rows(shown, report.tensors, banks, step)
    changed = {int(at) for at in shown.addresses[found.bytes_per_bank != shown.bytes_per_bank]}
    rows = asked(folder, "SELECT address FROM tensors WHERE layout LIKE '%ROW_MAJOR%' AND address IS NOT NULL")
    assert changed <= {at for (at,) in rows}
    assert (found.bytes_per_bank >= shown.bytes_per_bank).all()
