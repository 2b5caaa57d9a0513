"""CRC-32 of a file from its pieces is the CRC-32 of the file."""

import os
import zlib

import pytest

from ttnn_mcp.readers import checksum as module
from ttnn_mcp.readers import ordered_work
from ttnn_mcp.readers.checksum import checksum


@pytest.mark.parametrize("cores", [1, 2])
@pytest.mark.parametrize("piece", [64, 100, 1000])
@pytest.mark.parametrize("size", [0, 1, 63, 64, 65, 1000, 12345])
def test_the_pieces_make_the_checksum_of_the_whole(tmp_path, monkeypatch, cores, piece, size):
    monkeypatch.setattr(module, "BLOCK_BYTES", 100)
    monkeypatch.setattr(module, "PIECE_BYTES", piece)
    monkeypatch.setattr(ordered_work, "cores", lambda: cores)
    contents = os.urandom(size)
    path = tmp_path / "file"
    path.write_bytes(contents)
    with path.open("rb") as file:
        assert checksum(file.fileno(), size) == zlib.crc32(contents)
        assert checksum(file.fileno(), size // 2) == zlib.crc32(contents[: size // 2])
        assert checksum(file.fileno(), size + 5000) == zlib.crc32(contents)  # it became shorter


def test_a_file_that_cannot_be_read_is_said_so(tmp_path):
    descriptor = os.open(tmp_path, os.O_RDONLY)
    try:
        with pytest.raises(OSError, match="directory"):
            checksum(descriptor, 10)
    finally:
        os.close(descriptor)
