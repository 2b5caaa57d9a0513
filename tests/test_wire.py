"""Numbers are short, tables name their columns and fit where they are sent, and no table has others."""

from typing import Annotated

import pytest
from pydantic import ValidationError

from tests.for_all import for_all
from ttnn_mcp.wire import Columns, Saving, Table, Us, Wire, bytes_of, rounded

LINES = Columns("op", "kernel_us", "share", "note", maybe=("share", "note"))
EXACT = Columns("op", "pcc")


class Answer(Wire):
    lines: Annotated[Table, LINES] | None = None
    exact: Annotated[Table, EXACT] | None = None


@for_all(
    ("value", "sent"),
    [
        (1.23456, 1.23),
        (2.0, 2),
        (1.999, 2),
        (float("nan"), None),
        (float("inf"), None),
        (-float("inf"), None),
        (9.9e14, 990000000000000),
        (1e15, None),
        (-3e28, None),
    ],
)
def test_numbers_are_sent_short_and_what_was_not_measured_as_null(value, sent):
    told = [rounded(value, 2), Saving(at_least=0, at_most=value).spoken()["at_most"]]
    assert told == [sent, sent]
    assert [type(each) for each in told] == [type(sent)] * 2


def test_a_number_that_is_none_is_left_out_where_a_field_may_be():
    """Its schema has no null; a field that must be there, or whose silence says something else, keeps it."""

    class Measured(Wire):
        must_us: Us
        may_us: Us | None = None
        one_us: Us | None = 1.0

    nothing = float("nan")
    assert Measured(must_us=nothing, may_us=nothing, one_us=nothing).spoken() == {"must_us": None, "one_us": None}
    assert Measured(must_us=1, may_us=2, one_us=3).spoken() == {"must_us": 1, "may_us": 2, "one_us": 3}


@for_all(
    ("column", "sent"),
    [
        *((name, 0.1235) for name in ("share", "noise_share", "busy", "efficiency", "imbalance", "waste")),
        ("kernel_ms", 0.123),
        ("kernel_us", 0.12),
        ("share_us", 0.12),
    ],
)
def test_the_name_of_a_column_tells_its_decimals(column, sent):
    assert Table.of(column, rows=[(0.123456,)]).rows == ((sent,),)


@for_all(("room", "count"), [(0, 1), (9, 1), (10, 2), (14, 2), (15, 3), (99, 3)])
def test_as_many_rows_are_sent_as_there_is_room_for_and_always_one(room, count):
    """A row takes five bytes: its comma too."""
    table = Table(columns=("op",), rows=((10,), (11,), (12,)))
    assert [bytes_of(row) for row in table.rows] == [4, 4, 4]
    assert table.within(room).rows == table.rows[:count]


def test_floats_are_rounded_by_the_unit_in_their_columns_name():
    assert LINES.table([(7, 1.2345, 0.123456, "x")]).rows == ((7, 1.23, 0.1235, "x"),)
    assert EXACT.exact([(7, 0.999123)]).rows == ((7, 0.999123),)


@for_all("without", [(), ("share",), ("note",), ("share", "note")])
def test_only_columns_that_may_be_missing_are_left_out(without):
    row = tuple(cell for name, cell in zip(LINES.names, (7, 1.0, 0.5, "x"), strict=True) if name not in without)
    table = LINES.table([row], without=without)
    assert Answer(lines=table).lines == table


@for_all(
    "columns",
    [("op",), ("kernel_us", "op"), ("op", "kernel_us", "note", "share"), ("op", "kernel_us", "cores"), ()],
)
def test_a_table_of_other_columns_fails(columns):
    with pytest.raises(ValidationError, match="declares the columns"):
        Answer(lines=Table(columns=columns, rows=()))
    with pytest.raises(ValidationError, match="declares the columns"):
        Answer(exact=Table(columns=columns, rows=()))


def test_a_row_has_a_cell_for_every_column():
    with pytest.raises(ValueError, match="zip"):
        LINES.table([(7, 1.0)])


def test_the_schema_names_the_columns_that_quote_the_profile():
    class Quotes(Wire):
        ops: Annotated[Table, Columns("op", "name", "note", quoted=("note", "name"))]

    table = Quotes.model_json_schema(mode="serialization")["properties"]["ops"]
    assert table["properties"]["rows"]["description"] == "quoted: name, note"


def test_the_schema_names_the_columns_and_no_others_pass():
    fields = Answer.model_json_schema(mode="serialization")["properties"]
    named = {name: field["anyOf"][0]["properties"]["columns"] for name, field in fields.items()}
    assert named == {
        "lines": {"items": {"enum": ["op", "kernel_us", "share", "note"]}},
        "exact": {"const": ["op", "pcc"]},
    }
