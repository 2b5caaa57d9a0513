"""What is said of arguments that a tool does not take."""

from typing import Literal

import pytest
from pydantic import Field

from tests.for_all import for_all
from ttnn_mcp.errors import ArgumentsInvalid
from ttnn_mcp.tools.answering import validated
from ttnn_mcp.tools.tool import Arguments, Tool
from ttnn_mcp.wire import Wire


class Asked(Arguments):
    run: str
    only: Literal["kernel"] = "kernel"
    few: Literal["a1", "b2", "c3", "d4", "e5", "f6", "g7", "h8"] = "a1"
    many: Literal["alpha", "beta", "gamma", "delta", "eps", "zeta", "eta", "theta", "iota"] = "alpha"
    limit: int = Field(20, le=200)
    either: Literal["last", "all"] | int = "last"


TOOL = Tool(name="made", title="Made", arguments=Asked, answer=Wire, ask=lambda *_: Wire())


@for_all(
    ("arguments", "fault"),
    [
        ({}, "'run' is required."),
        ({"limmit": 3}, "unknown argument 'limmit'. Did you mean limit?"),
        ({"zzzz": 3}, "unknown argument 'zzzz'."),
        ({"only": "gap"}, "'only' is kernel."),
        ({"few": "zz"}, "'few' is a1, b2, c3, d4, e5, f6, g7 or h8."),
        ({"few": "a2"}, "'few' is a1, b2, c3, d4, e5, f6, g7 or h8."),
        ({"many": "gamme"}, "'many' cannot be 'gamme'. Did you mean gamma?"),
        ({"many": 3}, "'many' is one of alpha, beta, gamma, delta, eps, zeta, eta, theta, iota."),
        ({"limit": 201}, "'limit' is 200 or less."),
        ({"limit": "x", "only": 3}, "'only' is kernel. 'limit' is a whole number."),
        ({"either": "lst"}, "'either' is last or all, or is a whole number."),
    ],
)
def test_each_argument_is_named_with_what_it_takes(arguments, fault):
    run = {"run": "demo"} if arguments else {}
    with pytest.raises(ArgumentsInvalid) as wrong:
        validated(TOOL, {**run, **arguments})
    assert str(wrong.value) == f"made: {fault} Accepted: run, only, few, many, limit, either."


def test_what_is_in_order_passes():
    assert validated(TOOL, {"run": "demo", "limit": 200}) == Asked(run="demo", limit=200)
