"""Faults of other kinds, planted where they are asked for: arithmetic, comparisons, results and statements."""

from __future__ import annotations

import ast
from functools import partial
from typing import TYPE_CHECKING

from mutation.guards import FUNCTIONS
from mutation.mutant import Mutant, constant, shown, slots

if TYPE_CHECKING:
    from collections.abc import Iterator

    from mutation.mutant import Put

ARITHMETIC: dict[type[ast.operator], type[ast.operator]] = {
    ast.Add: ast.Sub,
    ast.Sub: ast.Add,
    ast.Mult: ast.Div,
    ast.Div: ast.Mult,
    ast.FloorDiv: ast.Mult,
    ast.Mod: ast.Mult,
    ast.Pow: ast.Mult,
}
COMPARED: dict[type[ast.cmpop], type[ast.cmpop]] = {
    ast.Lt: ast.LtE,
    ast.LtE: ast.Lt,
    ast.Gt: ast.GtE,
    ast.GtE: ast.Gt,
    ast.Eq: ast.NotEq,
    ast.NotEq: ast.Eq,
    ast.In: ast.NotIn,
    ast.NotIn: ast.In,
}
OUTLIVES = ast.Attribute | ast.Subscript  # what is assigned there stays when the function returns


def faults(tree: ast.Module) -> Iterator[Mutant]:
    """All of them, in functions."""
    seen: set[int] = set()
    for function in ast.walk(tree):
        if isinstance(function, FUNCTIONS):
            for node, put, _ in slots(function):
                if id(node) not in seen:  # functions stand in functions
                    seen.add(id(node))
                    yield from _of(node, put)


def _of(node: ast.AST, put: Put) -> Iterator[Mutant]:
    if isinstance(node, ast.BinOp | ast.AugAssign) and type(node.op) in ARITHMETIC:
        other = ARITHMETIC[type(node.op)]()
        yield Mutant(
            node.lineno,
            f"{_named(node.op)} made {_named(other)}: {shown(node)}",
            partial(setattr, node, "op", other),
        )
    elif isinstance(node, ast.Compare) and type(node.ops[0]) in COMPARED:
        other = COMPARED[type(node.ops[0])]()
        what = f"{_named(node.ops[0])} made {_named(other)}: {shown(node)}"
        yield Mutant(node.lineno, what, partial(setattr, node, "ops", [other, *node.ops[1:]]))
    elif isinstance(node, ast.Return) and not _is_none(node.value):
        nothing = partial(setattr, node, "value", constant(None, node))
        yield Mutant(node.lineno, f"nothing returned: {shown(node)}", nothing)
    if _is_of_effect(node):
        yield Mutant(_line(node), f"left out: {shown(node)}", partial(put, ast.copy_location(ast.Pass(), node)))


def _is_of_effect(node: ast.AST) -> bool:
    """Whether a statement does something and gives no name to it."""
    if isinstance(node, ast.Assign):
        return isinstance(node.targets[0], OUTLIVES)
    if isinstance(node, ast.AugAssign):
        return not isinstance(node.op, ast.BitAnd | ast.BitOr)  # those are guards
    return isinstance(node, ast.Expr) and isinstance(node.value, ast.Call)


def _is_none(value: ast.expr | None) -> bool:
    return value is None or (isinstance(value, ast.Constant) and value.value is None)


def _named(operator: ast.AST) -> str:
    return type(operator).__name__


def _line(node: ast.AST) -> int:
    return getattr(node, "lineno", 0)
