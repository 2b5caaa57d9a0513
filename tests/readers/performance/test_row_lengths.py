"""Rows with more fields than the header, seen in the bytes: however they come in blocks, and whatever is quoted."""

import csv
import io

from hypothesis import given
from hypothesis import strategies as st

from tests.for_all import for_all
from ttnn_mcp.readers.performance.csv_bytes import RowLengths

cell = st.text('a,"\n', max_size=4)
table = st.lists(st.lists(cell, min_size=1, max_size=5), min_size=1, max_size=6)


def judged(content, fields, size):
    lengths = RowLengths(fields)
    for begin in range(0, len(content), size):
        lengths.add(content[begin : begin + size])
    return lengths.may_be_long


@given(table=table, fields=st.integers(1, 5), size=st.integers(1, 40), ends=st.booleans())
def test_it_judges_as_the_csv_module_counts(table, fields, size, ends):
    text = io.StringIO()
    csv.writer(text, lineterminator="\n").writerows(table)
    content = text.getvalue() if ends else text.getvalue()[:-1]
    rows = csv.reader(io.StringIO(content, newline=""))
    assert judged(content.encode(), fields, size) == any(len(row) > fields for row in rows)


@for_all(
    ("content", "is_long"),
    [
        (b"a,b\nc,d\n", False),
        (b"a,b\nc,d,\n", True),
        (b"a,b\nc,d,e", True),
        (b'a,b\nc,"d,e"\n', False),
        (b"", False),
    ],
)
def test_a_field_beyond_the_header_is_seen_where_it_is_empty_too(content, is_long):
    assert judged(content, 2, 1_000) == is_long
