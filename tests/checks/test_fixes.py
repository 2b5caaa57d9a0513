"""A fix as data: words, and code between backticks."""

import ast

from tests.for_all import for_all
from ttnn_mcp.checks.fixes import FixPart, marked, parts_of, statement_of


@for_all(
    ("fix", "code"),
    [
        ("x = ttnn.to_layout(x, ttnn.TILE_LAYOUT) once", ["x = ttnn.to_layout(x, ttnn.TILE_LAYOUT)"]),
        ("q, k = ttnn.split(x, 2), then k", ["q, k = ttnn.split(x, 2)"]),
        ("y, [w, b] = ttnn.conv2d(x, w)", ["y, [w, b] = ttnn.conv2d(x, w)"]),
        ("program_config=ttnn.A(b=(8, 8)); keep it", ["program_config=ttnn.A(b=(8, 8))"]),
        ("slice_config=ttnn.Conv2dL1FullSliceConfig, from 0.64.0", ["slice_config=ttnn.Conv2dL1FullSliceConfig"]),
        ("g = device.grid(); ttnn.a(g.x)", ["g = device.grid()", "ttnn.a(g.x)"]),
        ("r.size = 7616; done", ["r.size = 7616"]),
        ("scale = norm.weight / torch.sqrt(v); in float32", ["scale = norm.weight / torch.sqrt(v)"]),
        ("ttnn.a(x, b=<as now>)", ["ttnn.a(x, b=<as now>)"]),
        ("ttnn.a(x, b=1, ...)", ["ttnn.a(x, b=1, ...)"]),
        ("by ttnn.relu or inplace=True, dim=-1", []),
        ("merge dims (in ttnn.reshape(x, y), a view), then go", []),
        ("(a) ttnn.relu(x)", ["ttnn.relu(x)"]),
        ("ttnn.relu(x", []),
        ("ttnn.relu(x y)", []),
        ("my.ttnn.relu(x)", []),
        ("while = 3; x", []),
        ("first host = y.cpu(cq_id=1) after it; y.cpu() is a name", ["host = y.cpu(cq_id=1)"]),
    ],
)
def test_code_is_told_apart_from_words(fix, code):
    told = marked(fix)
    assert told.replace("`", "") == fix
    assert [part.text for part in parts_of(told) if part.code] == code


def test_words_lose_what_linked_them_to_the_code():
    assert parts_of("first: `ttnn.a(x)`; then,  `ttnn.b(x)`  # line 3; last") == [
        FixPart("first", code=False),
        FixPart("ttnn.a(x)", code=True),
        FixPart("then", code=False),
        FixPart("ttnn.b(x)", code=True),
        FixPart("line 3; last", code=False),
    ]
    assert parts_of("`ttnn.a(x)`; `ttnn.b(x)`") == [
        FixPart("ttnn.a(x)", code=True),
        FixPart("ttnn.b(x)", code=True),
    ]


def test_a_backtick_of_a_profile_begins_no_code():
    assert marked("delete `x = 1` of ttnn.relu(x)") == "delete 'x = 1' of `ttnn.relu(x)`"


def test_what_is_left_to_the_reader_gets_a_name_in_capitals():
    statement = statement_of("y = ttnn.a(x, b=<as now>, c=<all of gamma>, ...)")
    assert ast.unparse(statement.node) == "y = ttnn.a(x, b=AS_NOW, c=ALL_OF_GAMMA, **REST)"
    assert statement.left == {
        "AS_NOW": "as now", "ALL_OF_GAMMA": "all of gamma", "REST": "the other arguments of your call"
    }  # fmt: skip
    assert statement.argument is None


def test_what_an_argument_is_given_is_assigned_to_its_name():
    statement = statement_of("dtype=ttnn.bfloat8_b")
    assert (ast.unparse(statement.node), statement.argument) == ("dtype = ttnn.bfloat8_b", "dtype")
    assert statement_of("ttnn.a(...)").left == {}
    assert statement_of("import os") is None
