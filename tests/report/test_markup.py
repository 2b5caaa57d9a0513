"""HTML from parts: what is escaped, and how the values of answers are written."""

import re

from tests.for_all import for_all
from ttnn_mcp.report.markup import (
    Markup,
    decimals,
    element,
    heading,
    joined,
    number,
    percent,
    rows_told,
    table,
    worded,
)


def test_only_what_is_finished_is_taken_as_it_is():
    assert joined("<b>", Markup("<i>")) == "&lt;b&gt;<i>"
    assert (
        element("p", "a & b", class_="quiet", data_line=7, id=None)
        == '<p class="quiet" data-line="7">a &amp; b</p>'
    )
    assert element("meta", charset='"utf-8"') == '<meta charset="&quot;utf-8&quot;">'


@for_all(
    ("value", "written"),
    [(None, "-"), (True, "yes"), (False, "no"), ("dram", "dram"), (1234567, "1,234,567"), (1234.25, "1,234.25")],
)
def test_a_value_is_written_with_all_its_digits(value, written):
    assert number(value) == written


@for_all(
    ("column", "cells", "digits"),
    [
        ("kernel_us", [2, 1.5, None, 0.25], 2),
        ("kernel_us", [2, 3], 0),
        ("value", [0.25], 0),
        ("a_us", [1e-7, 1.5e-7, "1.2345"], 0),
    ],
)
def test_the_amounts_of_a_column_have_the_decimals_of_the_longest(column, cells, digits):
    assert decimals(column, cells) == digits
    made = table("", (column,), [[cell] for cell in cells])
    wanted = [number(cell, digits) for cell in cells]
    assert re.findall(r"<td[^>]*>([^<]*)<", made) == wanted
    assert (number(2, 2), number(None, 2), number("a", 2)) == ("2.00", "-", "a")


@for_all(
    ("share", "written"),
    [(None, "-"), (0.0, "0%"), (0.07, "7%"), (1.0, "100%"), (-0.1234, "-12.34%"), (1e-7, "0.00001%")],
)
def test_a_share_is_written_in_percent(share, written):
    assert percent(share) == written


@for_all(
    ("column", "words"),
    [("kernel_us", "kernel [us]"), ("peak_bytes", "peak [B]"), ("us", "us"), ("op_code", "op code"), ("op", "op")],
)
def test_a_column_tells_its_unit(column, words):
    assert heading(column) == words


def test_a_column_with_a_number_is_set_as_numbers_and_truth_is_none():
    made = table("Ops", ("op", "kernel_us", "share", "warm"), [["a", None, 0.5, True], ["b", 2.5, None, False]])
    assert re.findall(r"<th scope=\"col\"( class=\"number\")?>", made) == [
        "",
        ' class="number"',
        ' class="number"',
        "",
    ]
    assert re.findall(r"<td(?: class=\"number\")?>([^<]*)<", made) == [
        "a",
        "-",
        "50%",
        "yes",
        "b",
        "2.5",
        "-",
        "no",
    ]


def test_how_something_is_done_shows_its_code_as_code():
    assert "<td><code>ttnn.a(x)</code>, or &lt;b&gt;</td>" in table("Helps", ("how",), [["`ttnn.a(x)`, or <b>"]])
    assert "<td>-</td>" in table("Helps", ("how",), [[None]])


def test_a_word_in_a_column_of_shares_stays_a_word():
    assert "<td>-</td>" in table("Shares", ("share",), [["-"]])


def test_an_answer_without_rows_has_no_table():
    assert rows_told("Ops", {"columns": ["op"], "rows": [["a"]]}) == table("Ops", ["op"], [["a"]])
    assert rows_told("Ops", {"columns": ["op"], "rows": []}) == rows_told("Ops", None) == ""


def test_a_word_that_the_glossary_has_explains_itself():
    assert worded("gap [us]").startswith('<abbr title="Idle time before an op')
    assert worded("bound") == "bound"  # of two kinds
    assert worded("<b>") == "&lt;b&gt;"
    made = table("Floors", ("what", "name", "how"), [["as_it_is", "as_it_is", "`a` <b>"]])
    assert re.search(
        r"<td><abbr [^>]*>as it is</abbr></td><td>as_it_is</td><td><code>a</code> &lt;b&gt;</td>", made
    )
