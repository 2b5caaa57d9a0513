"""Bytes on their way to the parser: what no report can hold is refused before all of it is read."""

import os

import pytest

from ttnn_mcp.errors import ReportBroken, ReportMissing
from ttnn_mcp.readers.performance.csv_bytes import CsvBytes

BLOCK = 2**18


@pytest.fixture
def opened(tmp_path):
    """A file of these bytes."""
    path = tmp_path / "x.csv"
    files = []

    def of(content):
        path.write_bytes(content)
        files.append(CsvBytes(path, 2))
        return files[-1]

    yield of
    for file in files:
        file.close()


def read(file):
    """All of it, block by block."""
    content = b""
    while block := file.read(BLOCK):
        content += block
    return content


def test_all_bytes_arrive_and_the_rest_behind_the_last_line_is_known(opened):
    file = opened(b"a,b\nc,d\ne")
    assert (file.read(5), file.tail) == (b"a,b\nc", b"c")
    assert (file.read(), file.tail, file.read()) == (b",d\ne", b"e", b"")
    assert file.caveats == []
    file = opened(b"abc\ndef")
    assert (file.read(3), file.read(4), file.tail) == (b"abc", b"\ndef", b"def")
    file.close()
    with pytest.raises(ValueError, match="closed"):
        file.read()
    assert [*opened(b"a\nb")] == [b"a\nb"]


def test_a_line_of_a_megabyte_is_read(opened):
    whole = b"x" * 2**20 + b"\ny\n"
    assert read(opened(whole)) == whole
    for longer in (b"x" + whole, b"a\nx" + whole[:-3], b"x" + whole[:-3]):
        with pytest.raises(ReportBroken, match="has a line of more than 1048576 bytes"):
            read(opened(longer))


def lines(blocks, line):
    return line * (blocks * BLOCK // len(line))


def test_a_quote_that_stays_open_for_a_megabyte_is_never_closed(opened):
    begin = lines(1, b"1234567\n")[:-8] + b'12345,"\n'
    assert len(read(opened(begin + lines(4, b"1234567\n")))) == 5 * BLOCK
    with pytest.raises(ReportBroken, match="a quote is never closed"):
        read(opened(begin + lines(5, b"1234567\n")))


def test_lines_without_quotes_or_with_closed_ones_are_read_on(opened):
    assert len(read(opened(lines(6, b"1234567\n")))) == 6 * BLOCK
    begin = lines(1, b"1234567\n")[:-8] + b'12345,"\n'
    assert len(read(opened(begin + lines(6, b'1234""7\n')))) == 7 * BLOCK


def test_nulls_are_refused(opened):
    with pytest.raises(ReportBroken, match="holds NUL bytes"):
        read(opened(b"a,b\n\0"))


def test_a_file_that_changes_while_it_is_read_is_told(opened, tmp_path):
    shorter = "the file became shorter while it was read: rows are missing, read it again"
    partly = opened(b"x" * 10)
    partly.read(4)
    assert partly.caveats == [shorter]
    cut = opened(b"x" * 10)
    cut.read()
    os.truncate(tmp_path / "x.csv", 9)
    assert cut.caveats == [shorter]
    grown = opened(b"x" * 10)
    os.truncate(tmp_path / "x.csv", 11)
    assert b"".join(iter(lambda: grown.read(4), b"")) == b"x" * 10
    assert grown.caveats == ["the file grew while it was read: what was added is left out"]


def test_no_file_is_missing(tmp_path):
    with pytest.raises(ReportMissing, match="cannot be opened"):
        CsvBytes(tmp_path / "no.csv", 2)
