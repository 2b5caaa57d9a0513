"""Tables as wide as the terminal: nothing is lost, whatever the width."""

from tests.for_all import for_all
from ttnn_mcp.shell.outline import Outline, Section
from ttnn_mcp.shell.tables import drawn

COLUMNS = ("op code", *(f"median time of part {number}" for number in range(12)))
ROWS = [(f"Some{kind}DeviceOperation", *(kind * 1000.25 + part for part in range(12))) for kind in range(10, 16)]
WIDE = Section("groups", COLUMNS, ROWS)


def lines(monkeypatch, width, section):
    monkeypatch.setenv("COLUMNS", str(width))
    monkeypatch.setenv("NO_COLOR", "1")
    return drawn("title", Outline(sections=[section])).splitlines()


@for_all("width", [30, 40, 60, 80, 100, 130, 200, 400])
def test_every_number_is_there_and_no_line_is_too_long(monkeypatch, width):
    shown = lines(monkeypatch, width, WIDE)
    assert max(map(len, shown)) <= width
    words = " ".join(shown).split()
    for row in ROWS:
        assert {str(value) for value in row[1:]} <= set(words)


@for_all(("width", "tables"), [(400, 1), (150, 1), (100, 2), (80, 3)])
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


def test_numbers_stand_at_the_right_also_where_some_are_missing(monkeypatch):
    section = Section("times", ("op", "ms", "note"), [("a", 1, None), ("bbb", None, None), ("c", 22, None)])
    assert lines(monkeypatch, 80, section) == [
        *("title", "", "times"),
        "op   ms  note",
        "a     1  -",
        "bbb   -  -",
        "c    22  -",
    ]


LONG = "N" * 35


def test_beside_a_name_of_30_columns_a_sentence_has_16(monkeypatch):
    section = Section("few", ("op", "why"), [(LONG, "it is slow because its cores are few")])
    assert lines(monkeypatch, 30 + 2 + 16, section)[4:] == [
        f"{'N' * 30}  it is slow",
        f"{'N' * 5:<30}  because its",
        f"{'':<30}  cores are few",
    ]


@for_all(("width", "is_table"), [(4 * 12 + 3 * 2, True), (4 * 12 + 3 * 2 - 1, False)])
def test_names_are_folded_to_12_columns_before_a_table_becomes_blocks(monkeypatch, width, is_table):
    section = Section("names", ("a", "b", "c", "d"), [(LONG, LONG, LONG, LONG)])
    assert (f"{'N' * 12}  {'N' * 12}  " in "\n".join(lines(monkeypatch, width, section))) is is_table


@for_all(("columns", "tables"), [(4, 2), (3, 0)])
def test_a_table_becomes_several_of_four_columns_but_not_of_three(monkeypatch, columns, tables):
    numbers = [1_000_000_000 + place for place in range(7)]
    section = Section("wide", tuple("abcdefg"), [tuple(numbers)])
    shown = lines(monkeypatch, columns * 10 + (columns - 1) * 2, section)
    assert sum(line.startswith(f"{numbers[0]}  ") for line in shown) == tables
    assert (f"a  {numbers[0]}" in shown) is (tables == 0)


def test_a_heading_that_fits_beside_nothing_makes_blocks(monkeypatch):
    section = Section("odd", (*"abcdef", "x" * 60), [tuple(1_000_000_000 + place for place in range(7))])
    shown = lines(monkeypatch, 70, section)
    assert max(map(len, shown)) <= 70
    assert "b" in [line.split()[0] for line in shown if line]


def test_a_line_ends_between_names_and_never_inside_a_name_or_a_number_that_fits(monkeypatch):
    value = "Config(math_fidelity=HiFi2;fp32_dest_acc_en=0), /some/folder/report.csv, 37,8,144.369"
    shown = ["Config(", "math_fidelity=HiFi2;", "fp32_dest_acc_en=0), /", "some/folder/report.csv,", "37,8,144.369"]
    monkeypatch.setenv("COLUMNS", "28")
    monkeypatch.setenv("NO_COLOR", "1")
    facts = drawn("title", Outline([("set", value)])).splitlines()[1:]
    assert [line[5:] for line in facts] == shown
    cells = drawn("title", Outline(sections=[Section("", ("", ""), [("set", value)])])).splitlines()
    assert [line[5:] for line in cells if "report.csv" in line or "144" in line] == shown[3:]
