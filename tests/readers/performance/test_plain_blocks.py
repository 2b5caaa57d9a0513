"""What a header line tells of a file that may be read byte by byte; None where it must be read with more care."""

import os

from tests.for_all import for_all
from ttnn_mcp.readers.performance.plain_blocks import RowShape, shape_of

HEADER = b"OP CODE,OP TYPE,X"


def shape(path, content):
    path.write_bytes(content)
    descriptor = os.open(path, os.O_RDONLY)
    try:
        return shape_of(descriptor, 3)
    finally:
        os.close(descriptor)


@for_all("end", [b"\n", b"\r\n"])
def test_rows_begin_behind_the_header(tmp_path, end):
    content = HEADER + end + b"a,b,c" + end
    assert shape(tmp_path / "x", content) == RowShape(len(HEADER + end), len(content), 3, end)


def test_rows_begin_where_a_number_can_be_loaded(tmp_path):
    assert shape(tmp_path / "x", b"x" * 15 + b"\n") is None
    assert shape(tmp_path / "x", b"x" * 16 + b"\n").begin == 17


def test_a_header_is_found_in_the_first_bytes(tmp_path):
    assert shape(tmp_path / "x", b"x" * (2**17 - 1) + b"\n").begin == 2**17
    assert shape(tmp_path / "x", b"x" * 2**17 + b"\n") is None


@for_all("odd", [b'"', b"\0", b"\r"])
def test_a_header_with_quotes_nulls_or_returns_is_not_plain(tmp_path, odd):
    for end in (b"\n", b"\r\n"):
        assert shape(tmp_path / "x", HEADER + odd + b",Y" + end) is None
    assert shape(tmp_path / "x", HEADER + b"\n" + odd).line_end == b"\n"
