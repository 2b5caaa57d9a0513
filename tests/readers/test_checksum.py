"""The checksum of a file is made of those of its pieces, and another one after any change."""

import os

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.for_all import for_all
from tests.readers.plain_checksum import plain_checksum
from ttnn_mcp.readers import checksum as module
from ttnn_mcp.readers.checksum import checksum

PIECE = 1 << 20


def of(contents, tmp_path, size=None):
    path = tmp_path / "file"
    path.write_bytes(contents)
    with path.open("rb") as file:
        return checksum(file.fileno(), len(contents) if size is None else size)


@for_all("size", [0, 1, 63, 64, 65, 1000, 12345])
def test_the_pieces_make_the_checksum_of_the_whole(tmp_path, monkeypatch, size):
    monkeypatch.setattr(module, "PIECE_BYTES", 64)
    contents = os.urandom(size)
    assert of(contents, tmp_path) == plain_checksum(contents, 64)
    assert of(contents, tmp_path, size // 2) == plain_checksum(contents[: size // 2], 64)


def test_a_piece_has_a_mebibyte(tmp_path):
    contents = os.urandom(2 * PIECE + 3)
    assert of(contents, tmp_path) == plain_checksum(contents)


def test_a_file_that_became_shorter_has_another_checksum(tmp_path):
    contents = os.urandom(1000)
    assert of(contents, tmp_path, 1001) != of(contents, tmp_path)


@given(st.binary(min_size=1, max_size=200), st.data())
def test_any_changed_byte_is_seen(contents, draw):
    place = draw.draw(st.integers(0, len(contents) - 1))
    changed = bytearray(contents)
    changed[place] ^= draw.draw(st.integers(1, 255))
    assert plain_checksum(contents, 64) != plain_checksum(bytes(changed), 64)


def test_a_file_that_cannot_be_read_is_said_so(tmp_path):
    descriptor = os.open(tmp_path, os.O_RDONLY)
    try:
        with pytest.raises(OSError, match="directory"):
            checksum(descriptor, 10)
    finally:
        os.close(descriptor)
