"""The `buffers` table as stretches: what the allocator sets aside for what it shows."""

import numpy as np

from ttnn_mcp.analyses.memory.snapshots import snapshots_of
from ttnn_mcp.readers.memory.spaces import DRAM, L1
from ttnn_mcp.readers.memory.stream import SnapshotRows

OPERATIONS = np.array([1])
NOT_EMPTY = np.zeros(1, dtype=np.bool_)


def shown(*buffers, **step):
    columns = np.array([(1, 0, 4096 * (at + 1), size, code) for at, (size, code) in enumerate(buffers)]).T
    found = snapshots_of(SnapshotRows(*columns), OPERATIONS, NOT_EMPTY, **step)
    return found[0].came.sizes


def test_what_fills_a_page_in_part_takes_all_of_it():
    assert shown((16, DRAM), (4, L1), (2048, DRAM)) == [16, 16, 2048]
    assert shown((16, DRAM), (4, L1), (2048, DRAM), dram_step=64) == [64, 16, 2048]
