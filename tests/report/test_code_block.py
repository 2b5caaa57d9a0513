"""The code of a fix as a block that runs when it is pasted, whatever the width."""

import ast

from tests.for_all import for_all
from ttnn_mcp.report.code_block import code_block

CONFIG = "`program_config=ttnn.SomeConfig(grid=(8, 8), shards=[ttnn.Shard(1, 2)], name='a')`; keep the rest"


def test_words_are_comments_and_code_stands_between_them():
    assert code_block("once: `w = ttnn.a(w)`, then `ttnn.b(w, x)`; read it back", 80) == [
        "# fill in w, x",
        "# once",
        "w = ttnn.a(w)",
        "# then",
        "ttnn.b(w, x)",
        "# read it back",
    ]
    for words in ("drop both calls", ""):
        assert code_block(words, 80) == []


def test_lines_break_between_arguments_only():
    assert code_block(CONFIG, 40) == [
        "# pass program_config to your call",
        "program_config = ttnn.SomeConfig(",
        "    grid=(8, 8),",
        "    shards=[ttnn.Shard(1, 2)],",
        '    name="a",',
        ")",
        "# keep the rest",
    ]
    assert code_block(CONFIG, 20)[4:8] == [
        "    grid=(8, 8),",
        "    shards=[",
        "        ttnn.Shard(",
        "            1,",
    ]
    empty = code_block("`ttnn.a(of_nothing_at_all=[], made=ttnn.made_of_nothing())`", 20)
    assert empty[-3:-1] == ["    of_nothing_at_all=[],", "    made=ttnn.made_of_nothing(),"]


def test_a_line_is_as_long_as_the_width():
    line = 'program_config = ttnn.SomeConfig(grid=(8, 8), shards=[ttnn.Shard(1, 2)], name="a")'
    assert code_block(CONFIG, len(line))[1] == line
    assert code_block(CONFIG, len(line) - 1)[1] == "program_config = ttnn.SomeConfig("


@for_all("width", [1, 20, 60, 80, 120])
def test_every_width_is_the_same_program(width):
    fix = f"{CONFIG}; `ttnn.a({{ttnn.b(ttnn.c(0, 0), ttnn.d(10, 9))}}, x, key=(1,), **more)`"
    program = ast.parse("\n".join(code_block(fix, width)))
    assert ast.dump(program) == ast.dump(ast.parse("\n".join(code_block(fix, 1000))))


def test_what_is_to_be_filled_in_is_told_once_in_front():
    block = code_block("`y = ttnn.a(x, b=<as now>)`, `ttnn.c(..., d=y)`, `ttnn.e(f, k=len(g), ...)`", 200)
    assert block == [
        (
            "# fill in f, g, x; AS_NOW: as now; REST: the other arguments of your call; "
            "...: the rest of your call, as it is"
        ),
        "y = ttnn.a(x, b=AS_NOW)",
        "ttnn.c(..., d=y)",
        "ttnn.e(f, k=len(g), **REST)",
    ]
    fields = "`math_fidelity=ttnn.Of.LoFi` in its compute_kernel_config, `dtype=ttnn.a`, `fused_activation=ttnn.b`"
    assert code_block(fields, 200)[0] == (
        "# math_fidelity: a field of its compute_kernel_config; fused_activation: a field of its program_config; "
        "pass dtype to your call"
    )


@for_all(
    ("between", "passed"),
    [
        ("; or no config and ", "either program_config or core_grid"),
        ("; keep the rest. or with it ", "either program_config or core_grid"),
        (", ", "program_config, core_grid"),
        ("; with this one or that ", "program_config, core_grid"),
        ("; order by ", "program_config, core_grid"),
        ("; or `dtype=ttnn.a` with ", "either program_config or dtype and core_grid"),
        ("; `core_grid=ttnn.b`, or ", "either program_config and core_grid or core_grid"),
        ("; or `program_config=ttnn.a`, or ", "either program_config or core_grid"),
    ],
)
def test_arguments_that_stand_for_each_other_are_not_passed_together(between, passed):
    """Real TTNN: "Cannot use both user core grid/coordinates and a program config"."""
    block = code_block(f"or as it is: `ttnn.ProgramConfig(a=1)`{between}`core_grid=ttnn.b`", 200)
    assert block[0] == f"# pass {passed} to your call"


@for_all(
    ("code", "line"),
    [
        ("ttnn.Conv2dConfig(a=1)", "conv_config = ttnn.Conv2dConfig(a=1)"),
        ("ttnn.SDPAProgramConfig(a=1)", "program_config = ttnn.SDPAProgramConfig(a=1)"),
        ("ttnn.linear(1)", "ttnn.linear(1)"),
        ("q, k = ttnn.a(1)", "q, k = ttnn.a(1)"),
        ("ttnn.DRAM()", "ttnn.DRAM()"),
        ("slice_config=ttnn.Full", "slice_config = ttnn.Full"),
        ("r.size = 5", "r.size = 5"),
    ],
)
def test_a_config_is_assigned_to_the_argument_that_takes_it(code, line):
    assert line in code_block(f"`{code}`", 80)


def test_comments_fit_the_width():
    block = code_block(f"{'some words ' * 20}`ttnn.a(1)`", 30)
    assert max(map(len, block)) <= 30
    assert all(line.startswith("# ") for line in block[:-1])
