"""Places in memory as single numbers: address and space together, the same for every table and graph."""

from __future__ import annotations

import numpy as np

from ttnn_mcp.arrays import Integers
from ttnn_mcp.readers.printed.memory_config import BUFFER_TYPES

DRAM, L1, HOST, L1_SMALL, TRACE = range(len(BUFFER_TYPES))  # codes of BUFFER_TYPES
SPACES = {
    DRAM: 0,
    TRACE: 0,
    L1: 1,
    L1_SMALL: 1,
}  # trace buffers lie in DRAM, L1_SMALL in L1: one address, one buffer
NUMBER_BITS = 40  # bytes and addresses of a chip need fewer; a million of them add up within 64 bits
UNPLACED = 2 ** (NUMBER_BITS + 1)  # keys from it on belong to buffers whose address nobody says
_SPACE_OF_CODE = np.array([SPACES.get(code, -1) for code in (*range(len(BUFFER_TYPES)), -1)])


def key_of(address: int, buffer: int) -> int:
    """One number for an address of a space; -1 where address or buffer is not told, or it is host memory."""
    space = SPACES.get(buffer, -1)
    return -1 if address < 0 or space < 0 else address * 2 + space


def keys_of(addresses: Integers, buffers: Integers) -> Integers:
    """`key_of` for columns: buffers as they are read, -1 or a code."""
    spaces = _SPACE_OF_CODE[buffers]
    return np.where((addresses >= 0) & (spaces >= 0), addresses * 2 + spaces, -1)
