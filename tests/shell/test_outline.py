"""What of an answer is a line, and what a table; and the same as Markdown."""

from tests.for_all import for_all
from ttnn_mcp.shell.markdown import page
from ttnn_mcp.shell.outline import Outline, Section, outline_of, written

WINDOW = {"kind": "iteration", "rows": 80, "first_row": 2, "last_row": 81, "warm": True, "why": "signposts",
          "iteration": 3, "of_iterations": 3}  # fmt: skip


@for_all(
    ("value", "line"),
    [
        (None, "-"),
        ("two\nlines", "two lines"),
        (0.1, "0.1"),
        (12345678, "12345678"),
        (True, "yes"),
        (False, "no"),
        ([], "none"),
        ([1, "a", None], "1, a, -"),
        ([[2, 32], []], "(2, 32), (none)"),
        ({"kind": "a"}, "kind a"),  # no window
        ({"first_row": 2}, "first row 2"),
        ({"before_ms": 1.5, "after": {"at_least": 2}}, "before [ms] 1.5, after (at least 2)"),
        (["x" * 40, 3], f"{'x' * 40}, 3"),
    ],
)
def test_what_fits_a_line_is_one(value, line):
    assert outline_of({"some_field": value}) == Outline([("some field", line)])


def test_a_window_is_a_sentence():
    (fact,) = outline_of({"window": WINDOW}).facts
    assert fact == ("window", "iteration 3 of 3, warm, 80 ops (lines 2 to 81): signposts")
    assert outline_of({"window_us": 12.5, "window": {"rows": 3}}).facts == [
        ("window [us]", "12.5"),
        ("window", "rows 3"),
    ]


@for_all(
    ("value", "section"),
    [
        ({"columns": ["op_code", "ops"], "rows": [["Matmul", 2]]}, Section("a b", ("op code", "ops"), [("Matmul", 2)])),
        ([{"x": 1}, {"x": 2, "y_us": 3}], Section("a b", ("x", "y [us]"), [(1, None), (2, 3)])),
        ([{"x": {"y": 1}}], Section("a b", ("x",), [({"y": 1},)])),
        (["x" * 41, 3], Section("a b", ("",), [("x" * 41,), (3,)])),
    ],
    ids=["table", "records", "objects in records", "sentences"],
)  # fmt: skip
def test_what_has_rows_is_a_table(value, section):
    assert outline_of({"a_b": value}) == Outline(sections=[section])


def test_shares_are_percents_and_headings_have_units():
    table = {"columns": ["key", "share", "kernel_us"], "rows": [["Matmul", 0.6161, 1.5], ["Conv", None, 2]]}
    (section,) = outline_of({"groups": table}).sections
    assert section.columns == ("key", "share", "kernel [us]")
    assert [tuple(map(written, row)) for row in section.rows] == [("Matmul", "61.61%", "1.5"), ("Conv", "-", "2.0")]
    assert outline_of({"change_share": -0.05, "both": {"busy_share": 1}}).facts == [
        ("change share", "-5%"),
        ("both", "busy share 100%"),
    ]


def test_an_object_with_more_than_three_values_is_a_table_of_its_own():
    few, many = {"a": 1, "b": 2, "c_us": 3}, {"a": 1, "b": 2, "c_us": 3, "d": [4, 5]}
    assert outline_of({"peak": few}) == Outline([("peak", "a 1, b 2, c [us] 3")])
    assert outline_of({"peak": many}) == Outline(
        [("peak: d", "4, 5")], [Section("peak", ("", ""), [("a", 1), ("b", 2), ("c [us]", 3)])]
    )


def test_an_object_that_holds_a_table_is_told_in_parts_however_few_they_are():
    table = {"columns": ["id", "host_ms"], "rows": [[31, 2.25], [32, 3]]}
    outline = outline_of({"host": {"operations": 5, "groups": table}})
    assert [(one.title, one.columns) for one in outline.sections] == [
        ("host", ("", "")),
        ("host: groups", ("id", "host [ms]")),
    ]
    assert [tuple(map(written, row)) for row in outline.sections[1].rows] == [("31", "2.25"), ("32", "3.00")]


def test_objects_that_hold_tables_are_told_one_after_the_other():
    table = {"columns": ["tensor"], "rows": [[31]]}
    assert outline_of({"errors": [{"operation": 5, "holders": table}, {"holders": table}]}) == Outline(
        sections=[
            Section("errors 1", ("", ""), [("operation", 5)]),
            Section("errors 1: holders", ("tensor",), [(31,)]),
            Section("errors 2: holders", ("tensor",), [(31,)]),
        ]
    )


def test_a_table_without_rows_is_none_and_what_comes_next_stands_elsewhere():
    empty = {"columns": ["op_code"], "rows": []}
    assert outline_of({"ops": empty, "next": [{"tool": "x"}], "next_cursor": 5}) == Outline([("ops", "none")])


def test_amounts_have_their_digits_in_threes_and_other_numbers_do_not():
    peak = {"bytes_per_bank": 1132864, "operation": 12345, "kernel_us": 1000.5, "bytes_share": 0.5}
    (section,) = outline_of({"peak": peak}).sections
    assert [written(value) for _, value in section.rows] == ["1,132,864", "12345", "1,000.5", "50%"]
    assert outline_of({"table_bytes": True, "flops": 4096, "address": 475808}).facts == [
        ("table [B]", "yes"),
        ("flops", "4,096"),
        ("address", "475808"),
    ]
    assert outline_of({"fix": None}).facts == [("fix", "-")]


def test_in_markdown_single_values_are_a_list_and_marked_code_is_code():
    remedies = [{"how": "`ttnn.a(b|c)` after *x*", "bytes": 4096, "name": "`d`", "enough": True}]
    lines = page("memory", outline_of({"peak": {"a": 1, "b": 2, "c": 3, "d": "*"}, "remedies": remedies}))
    assert lines[2:] == [
        *("", "**peak**", "", "- **a**: 1", "- **b**: 2", "- **c**: 3", "- **d**: \\*"),
        *("", "**remedies**", "", "| how | bytes | name | enough |", "| --- | ---: | --- | --- |"),
        "| `ttnn.a(b\\|c)` after \\*x\\* | 4,096 | \\`d\\` | yes |",
    ]
    assert page("x", outline_of({"a": ["y" * 41]}))[2:] == ["", "**a**", "", f"- {'y' * 41}"]


def test_markdown_has_tables_and_lists_what_no_cell_can_hold():
    outline = Outline(
        [("run", "demo")],
        [Section("flat", ("x", "y"), [(1, None)]), Section("deep", ("op", "why", "at"), [(1, None, [2, 3])])],
    )
    assert page("list ops: demo", outline) == [
        *("### list ops: demo", "", "- **run**: demo"),
        *("", "**flat**", "", "| x | y |", "| ---: | --- |", "| 1 | - |"),
        *("", "**deep**", "", "1. **op**: 1", "   - **at**: 2, 3"),
    ]
