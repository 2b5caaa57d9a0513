"""Where the model calls an op: by a stack trace, by a compiler's LOC, and the text of that line."""

from tests.for_all import for_all
from ttnn_mcp.readers.source_lines import SourceLine, parse_loc, parse_stack_trace, text_of_line

LONG = "y" * 301


def test_the_innermost_frame_is_it():
    trace = 'File "/m/a.py", line 20, in forward \n    x = y\n  File "/m/b.py", line 8, in run\n    model(x)\n'
    assert parse_stack_trace(trace) == SourceLine("/m/a.py", 20, "forward", "x = y")
    assert parse_stack_trace('File "a.py", line 3\n  File "b.py", line 4') == SourceLine("a.py", 3)
    assert str(SourceLine("a.py", 3)) == "a.py:3"


def test_the_text_of_a_line_is_cut():
    assert len(parse_stack_trace(f'File "a.py", line 3, in f\n  {LONG}\n').text) == 300
    assert len(text_of_line(LONG, 1)) == 300


@for_all("text", ["", " --- main\n", "loc(unknown)", "File a.py, line 3"])
def test_what_names_no_line_has_none(text):
    assert parse_stack_trace(text) is None
    assert parse_loc(text) is None


def test_a_compiler_names_file_line_and_op():
    assert parse_loc('loc(fused["/p/t.py":60:0, "add"])') == SourceLine("/p/t.py", 60, text="add")
    assert parse_loc('loc("/p/t.py":60:0)') == SourceLine("/p/t.py", 60)


@for_all(("line", "text"), [(0, None), (1, "a"), (2, None), (3, "b = 1"), (4, None), (-1, None)])
def test_a_file_has_as_many_lines_as_it_has(line, text):
    assert text_of_line("a\n\n  b = 1\n", line) == text
