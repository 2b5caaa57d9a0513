"""Narrow rows in a bank: what TTNN 0.81.1's allocator counted of them, and what its report says."""

from types import SimpleNamespace

import numpy as np
import pytest

from ttnn_mcp.analyses.memory.aligned_rows import with_aligned_rows
from ttnn_mcp.readers.memory.spaces import DRAM, L1
from ttnn_mcp.readers.memory.stream import SnapshotRows
from ttnn_mcp.readers.printed.memory_config import Placement
from ttnn_mcp.readers.printed.shapes import Shape

WORMHOLE, BLACKHOLE = ({DRAM: 12, L1: 64}, 32), ({DRAM: 8, L1: 120}, 64)
AT = 4096


def counted(
    shape, shown, chip=WORMHOLE, *, space=DRAM, dtype="UINT16", layout="ROW_MAJOR", at=AT, placement="INTERLEAVED"
):
    tensors = SimpleNamespace(
        shapes=[None if shape is None else Shape(shape)],
        dtypes=[dtype],
        layouts=[layout],
        placements=[None if placement is None else Placement(placement, "DRAM" if space == DRAM else "L1")],
        addresses=np.array([at]),
        buffers=np.array([space]),
    )
    rows = [(1, 0, AT, shown, space), (2, 0, AT, shown, space), (2, 0, 2 * AT, 7, space)]
    table = with_aligned_rows(SnapshotRows(*np.array(rows).T), tensors, *chip)
    first, again, other = table.bytes_per_bank.tolist()
    assert first == again
    assert other == 7
    return first


@pytest.mark.parametrize(
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


@pytest.mark.parametrize(
    "odd",
    [{"layout": "TILE"}, {"dtype": "BFLOAT8_B"}, {"dtype": None}, {"placement": "HEIGHT_SHARDED"}, {"placement": None},
     {"chip": ({L1: 64}, 32)}, {"chip": (WORMHOLE[0], 16)}, {"at": -1}],
)  # fmt: skip
def test_tiles_shards_and_what_nobody_tells_stay_as_they_are(odd):
    assert counted((1, 1, 256, 8), 352, **odd) == 352


@pytest.mark.parametrize("shape", [None, (), (1, 1, 256, 0)])
def test_a_shape_without_rows_tells_nothing(shape):
    assert counted(shape, 352) == 352
