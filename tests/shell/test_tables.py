"""Tables as wide as the terminal: nothing is lost, whatever the width."""

import pytest

from ttnn_mcp.shell.outline import Outline, Section
from ttnn_mcp.shell.tables import drawn

COLUMNS = ("op code", *(f"median time of part {number}" for number in range(12)))
ROWS = [(f"Some{kind}DeviceOperation", *(kind * 1000.25 + part for part in range(12))) for kind in range(10, 16)]
WIDE = Section("groups", COLUMNS, ROWS)


def lines(monkeypatch, width, section):
    monkeypatch.setenv("COLUMNS", str(width))
    monkeypatch.setenv("NO_COLOR", "1")
    return drawn("title", Outline(sections=[section])).splitlines()


@pytest.mark.parametrize("width", [30, 40, 60, 80, 100, 130, 200, 400])
def test_every_number_is_there_and_no_line_is_too_long(monkeypatch, width):
    shown = lines(monkeypatch, width, WIDE)
    assert max(map(len, shown)) <= width
    words = " ".join(shown).split()
    for row in ROWS:
        assert {str(value) for value in row[1:]} <= set(words)


@pytest.mark.parametrize(("width", "tables"), [(400, 1), (150, 1), (100, 2), (80, 3)])
def test_a_table_that_is_too_wide_becomes_several_that_begin_alike(monkeypatch, width, tables):
    text = "\n".join(lines(monkeypatch, width, WIDE))
    assert text.count("Some10Device") == tables


def test_where_too_few_columns_fit_each_row_is_a_block(monkeypatch):
    shown = lines(monkeypatch, 40, WIDE)
    assert sum("Some10Device" in line for line in shown) == 1
    assert len(shown) > len(ROWS) * len(COLUMNS)


def test_a_heading_of_several_words_does_not_widen_a_column(monkeypatch):
    section = Section("few", ("op", "number of them all"), [(1, 2), (3, 4)])
    assert "op  number of them all" in lines(monkeypatch, 80, section)
    narrow = lines(monkeypatch, 20, Section("few", ("op", "some", "number of them"), [(1, 22222, 2), (3, 4, 5)]))
    assert max(map(len, narrow)) <= 20
    assert any("22222" in line and line.endswith("2") for line in narrow)
