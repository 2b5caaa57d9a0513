"""Address and space as one number: DRAM is even, L1 is odd, and nothing is said of the rest."""

import numpy as np

from ttnn_mcp.readers.memory.spaces import DRAM, HOST, L1, L1_SMALL, SPACES, TRACE, UNPLACED, key_of, keys_of
from ttnn_mcp.readers.printed.memory_config import BUFFER_TYPES

CODES = range(-1, len(BUFFER_TYPES))


def test_codes_are_those_of_the_names():
    assert [BUFFER_TYPES[code] for code in (DRAM, L1, HOST, L1_SMALL, TRACE)] == [
        "DRAM",
        "L1",
        "SYSTEM_MEMORY",
        "L1_SMALL",
        "TRACE",
    ]


def test_trace_lies_in_dram_and_l1_small_in_l1():
    assert SPACES == {DRAM: 0, TRACE: 0, L1: 1, L1_SMALL: 1}
    assert [key_of(64, code) for code in (DRAM, TRACE, L1, L1_SMALL)] == [128, 128, 129, 129]


def test_no_address_no_buffer_and_host_memory_have_no_key():
    assert [key_of(-1, code) for code in CODES] == [-1] * len(CODES)
    assert [key_of(64, code) for code in (-1, HOST, 17)] == [-1, -1, -1]
    assert key_of(0, DRAM) == 0


def test_a_column_has_the_keys_of_its_rows():
    addresses, codes = (grid.ravel() for grid in np.meshgrid([-1, 0, 64, 2**40 - 1], [*CODES]))
    pairs = zip(addresses.tolist(), codes.tolist(), strict=True)
    assert keys_of(addresses, codes).tolist() == [key_of(*pair) for pair in pairs]


def test_unplaced_buffers_have_keys_behind_all_addresses():
    assert key_of(2**40 - 1, L1) + 1 == UNPLACED
