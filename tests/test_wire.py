"""Tables name their columns, and no table has others."""

from typing import Annotated

import pytest
from pydantic import ValidationError

from ttnn_mcp.wire import Columns, Table, Wire

LINES = Columns("op", "kernel_us", "share", "note", maybe=("share", "note"))
EXACT = Columns("op", "pcc")


class Answer(Wire):
    lines: Annotated[Table, LINES] | None = None
    exact: Annotated[Table, EXACT] | None = None


def test_floats_are_rounded_by_the_unit_in_their_columns_name():
    assert LINES.table([(7, 1.2345, 0.123456, "x")]).rows == ((7, 1.23, 0.1235, "x"),)
    assert EXACT.exact([(7, 0.999123)]).rows == ((7, 0.999123),)


@pytest.mark.parametrize("without", [(), ("share",), ("note",), ("share", "note")])
def test_only_columns_that_may_be_missing_are_left_out(without):
    row = tuple(cell for name, cell in zip(LINES.names, (7, 1.0, 0.5, "x"), strict=True) if name not in without)
    table = LINES.table([row], without=without)
    assert Answer(lines=table).lines == table


@pytest.mark.parametrize(
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


def test_the_schema_names_the_columns_and_no_others_pass():
    fields = Answer.model_json_schema(mode="serialization")["properties"]
    named = {name: field["anyOf"][0]["properties"]["columns"] for name, field in fields.items()}
    assert named == {
        "lines": {"items": {"enum": ["op", "kernel_us", "share", "note"]}},
        "exact": {"const": ["op", "pcc"]},
    }
