"""The texts of prompts: each argument changes what it is about, and a wrong one is named."""

import pytest

from tests.for_all import for_all
from ttnn_mcp.errors import ArgumentsInvalid
from ttnn_mcp.server.prompts import PROMPTS

OF = {prompt.name: prompt for prompt in PROMPTS}


@for_all(
    ("name", "values", "says"),
    [
        ("explain_op", {"op": "57"}, "`op_detail(op=57)`"),
        ("explain_op", {"op": " 57 ", "run": "ab"}, '`op_detail(run="ab", op=57)`'),
        ("explain_op", {"op": "Matmul"}, '`list_ops(op_code="Matmul")` to choose the largest'),
        ("why_slow", {"signpost": "decode"}, "only behind the signpost `decode`"),
        ("why_slow", {}, "the newest run"),
        ("optimize_model", {"step": "3"}, "Work on step 3 of the skill only."),
        ("optimize_model", {"target": "10 ms"}, "The target is 10 ms."),
    ],
)
def test_an_argument_is_worked_into_the_task(name, values, says):
    assert says in OF[name].text(values)


@for_all("name", ["optimize_model", "why_slow"])
def test_what_is_left_blank_is_not_asked_about(name):
    blank = {argument.name: " " for argument in OF[name].arguments}
    assert OF[name].text(blank) == OF[name].text({})


@for_all(
    ("values", "says"),
    [({"op": "57", "runn": "x"}, "unknown argument. Did you mean run?"), ({"op": " "}, "'op' is required")],
)
def test_a_wrong_argument_is_named(values, says):
    with pytest.raises(ArgumentsInvalid, match=says):
        OF["explain_op"].text(values)
