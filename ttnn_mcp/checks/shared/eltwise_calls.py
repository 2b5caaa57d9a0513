"""The call of an element-wise op, as its row tells it: its own function, and its number."""

from __future__ import annotations

from ttnn_mcp.checks.check import WindowFacts
from ttnn_mcp.checks.shared.activations import BINARY_KIND
from ttnn_mcp.replay.expressions import Unwritable, activations, number

FUNCTIONS = {"ADD": "add", "SUB": "subtract", "MUL": "multiply", "DIV": "divide"}
IN_SHARDS = "memory_config=a.memory_config()"


def call_in_shards(facts: WindowFacts, move: int) -> str:
    """The call that reads what `move` took out of shards, on these shards, `a`."""
    joins = facts.moves.joins
    reader = joins.readers(move)[0]
    operands = _operands(facts, reader, "a, b" if int(joins.makers[reader]) == move else "b, a")
    return f"ttnn.{operands}, {IN_SHARDS}, ...)" if operands else f"{IN_SHARDS} at line {facts.line(reader)}"


def has_second(facts: WindowFacts, row: int) -> bool:
    """Whether the op reads a second tensor."""
    return any(operand.present[row] for operand in facts.ops.inputs[1:2])


def scalar_of(facts: WindowFacts, row: int) -> str | None:
    """The number that a binary op has in place of a second tensor; None where its row prints none."""
    try:
        return number(facts.attributes(row).get("scalar", ""))
    except Unwritable:
        return None


def _operands(facts: WindowFacts, row: int, tensors: str) -> str:
    """'multiply(a, 0.125'; empty for a function that its row does not tell."""
    attributes = facts.attributes(row)
    kind, scalar = BINARY_KIND.search(attributes.get("binary_op_type", "")), scalar_of(facts, row)
    if kind and (scalar or has_second(facts, row)):
        return f"{FUNCTIONS[kind[1]]}({f'a, {scalar}' if scalar else tensors}"
    try:
        chain = activations(attributes.get("op_chain", ""))
    except Unwritable:
        return ""
    return f"unary_chain(a, [{', '.join(chain)}]" if chain else ""
