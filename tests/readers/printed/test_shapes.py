from hypothesis import given
from hypothesis import strategies as st

from tests.for_all import for_all
from ttnn_mcp.readers.printed.shapes import Shape, parse_cell, parse_database_shape

DIMENSIONS = st.lists(st.tuples(st.integers(0, 10**6), st.integers(0, 10**6)), max_size=6)


def test_a_2024_shape_says_logical_then_padded():
    assert parse_database_shape("ttnn.Shape([1, 64[96], 32])") == Shape((1, 64, 32), (1, 96, 32))


def test_a_2025_shape_says_logical_only():
    shape = parse_database_shape("Shape([1, 1, 3136, 64])")
    assert shape == Shape((1, 1, 3136, 64))
    assert shape.elements == 3136 * 64
    assert str(shape) == "1x1x3136x64"


def test_the_stored_dimensions_are_the_padded_ones_where_known():
    assert Shape((19, 64), (32, 64)).stored == (32, 64)
    assert Shape((19, 64)).stored == (19, 64)


@for_all(("text", "logical"), [("torch.Size([2, 3])", (2, 3)), ("Shape([4767; 8])", (4767, 8)), ("Shape([])", ())])
def test_other_spellings_of_a_shape_are_read(text, logical):
    assert parse_database_shape(text) == Shape(logical)


@for_all("text", ["", "Shape", "Shape([1, ?])", "[[]]", "Shape([1,,2])", "Shape([" + "9" * 30 + "])"])
def test_text_that_is_no_shape_has_none(text):
    assert parse_database_shape(text) is None


@given(DIMENSIONS)
def test_a_rendered_padded_shape_reads_back(pairs):
    text = ", ".join(f"{size}[{padded}]" for size, padded in pairs)
    expected = Shape(tuple(p[0] for p in pairs), tuple(p[1] for p in pairs) if pairs else None)
    assert parse_database_shape(f"ttnn.Shape([{text}])") == expected


@given(st.text(alphabet="[]0123456789, ;x.-", max_size=30))
def test_no_text_breaks_the_shape_readers(text):
    parse_database_shape(text)
    parse_cell(text)


def test_a_csv_dimension_says_padded_then_logical():
    assert parse_cell("32[19]") == (32, 19)
    assert parse_cell("1[1]") == (1, 1)


@for_all("cell", ["32", "32.0", 32, 32.0])
def test_an_older_csv_dimension_is_both(cell):
    assert parse_cell(cell) == (32, 32)


@for_all("cell", ["", "-", "nan", float("nan"), "32[", "[19]", "32.5", "-3"])
def test_a_cell_that_is_no_dimension_has_none(cell):
    assert parse_cell(cell) is None
