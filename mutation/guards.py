"""Guards removed: what a function leaves early for, the terms of its conditions and masks, and a check's needs."""

from __future__ import annotations

import ast
from functools import partial
from typing import TYPE_CHECKING

from mutation.mutant import Mutant, constant, shown, slots

if TYPE_CHECKING:
    from collections.abc import Iterator

    from mutation.mutant import Put

FUNCTIONS = ast.FunctionDef | ast.AsyncFunctionDef
LEAVES = (ast.Return, ast.Continue, ast.Break, ast.Raise)


def guards(tree: ast.Module) -> Iterator[Mutant]:
    """All of them."""
    yield from _records(tree)
    for statement in tree.body:
        for function in statement.body if isinstance(statement, ast.ClassDef) else [statement]:
            if isinstance(function, FUNCTIONS | ast.Assign):  # functions stand in assignments too
                yield from _in_code(function)


def _records(tree: ast.Module) -> Iterator[Mutant]:
    """What a check's record is about, and each of its needs, left out."""
    for node, _, parent in slots(tree):
        if isinstance(node, ast.keyword) and node.arg == "of" and isinstance(parent, ast.Call):
            rest = [one for one in parent.keywords if one is not node]
            yield Mutant(
                node.value.lineno, f"left out: of={shown(node.value)}", partial(setattr, parent, "keywords", rest)
            )
        if isinstance(node, ast.keyword) and node.arg == "needs" and isinstance(node.value, ast.Tuple):
            for item in node.value.elts:
                rest = [one for one in node.value.elts if one is not item]
                without = ast.copy_location(ast.Tuple(rest, ast.Load()), node.value)
                yield Mutant(item.lineno, f"need left out: {shown(item)}", partial(setattr, node, "value", without))


def _in_code(function: ast.FunctionDef | ast.AsyncFunctionDef | ast.Assign) -> Iterator[Mutant]:
    tests = {id(part) for test in _tests(function) for part in ast.walk(test)}
    types = {id(part) for annotation in _types(function) for part in ast.walk(annotation)}
    for node, put, _ in slots(function):
        if id(node) in types:
            continue
        if isinstance(node, ast.If):
            yield _if(node)
        elif isinstance(node, ast.comprehension):
            yield from _filters(node)
        elif isinstance(node, ast.BoolOp) and (isinstance(node.op, ast.And) or id(node) in tests):
            yield from _terms(node, put)
        elif isinstance(node, ast.BinOp | ast.AugAssign) and isinstance(node.op, ast.BitAnd | ast.BitOr):
            yield from _masks(node, put)


def _if(node: ast.If) -> Mutant:
    """One that leaves, or has an else, is never taken; one that lets something pass lets everything pass."""
    never = bool(node.orelse) or isinstance(node.body[-1], LEAVES)
    what = f"{'never' if never else 'always'} taken: if {shown(node.test)}"
    return Mutant(node.lineno, what, partial(setattr, node, "test", constant(not never, node.test)))


def _filters(node: ast.comprehension) -> Iterator[Mutant]:
    for condition in node.ifs:
        rest = [one for one in node.ifs if one is not condition]
        yield Mutant(condition.lineno, f"left out: if {shown(condition)}", partial(setattr, node, "ifs", rest))


def _terms(node: ast.BoolOp, put: Put) -> Iterator[Mutant]:
    """Terms of `and`, and of `or` where it is a condition and no default."""
    for term in node.values:
        rest = [one for one in node.values if one is not term]
        kept = rest[0] if len(rest) == 1 else ast.copy_location(ast.BoolOp(node.op, rest), node)
        yield Mutant(term.lineno, f"left out: {shown(term)}", partial(put, kept))


def _masks(node: ast.BinOp | ast.AugAssign, put: Put) -> Iterator[Mutant]:
    """Terms of `&` and `|`."""
    if isinstance(node, ast.AugAssign):
        yield Mutant(node.lineno, f"left out: {shown(node)}", partial(put, ast.copy_location(ast.Pass(), node)))
        return
    yield Mutant(node.right.lineno, f"left out: {shown(node.right)}", partial(put, node.left))
    if not (isinstance(node.left, ast.BinOp) and isinstance(node.left.op, type(node.op))):
        yield Mutant(node.left.lineno, f"left out: {shown(node.left)}", partial(put, node.right))


def _tests(function: ast.AST) -> Iterator[ast.AST]:
    for node in ast.walk(function):
        if isinstance(node, ast.If | ast.IfExp | ast.While | ast.Assert):
            yield node.test
        elif isinstance(node, ast.comprehension):
            yield from node.ifs


def _types(function: ast.AST) -> Iterator[ast.AST]:
    """Where `|` makes one type of two."""
    for node in ast.walk(function):
        if isinstance(node, ast.AnnAssign | ast.arg) and node.annotation:
            yield node.annotation
        elif isinstance(node, FUNCTIONS) and node.returns:
            yield node.returns
        elif isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "isinstance":
            yield node.args[1]
