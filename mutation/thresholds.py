"""Numbers moved: what a module names in capitals, what it imports so named, and what it compares with."""

from __future__ import annotations

import ast
import importlib
from functools import partial
from typing import TYPE_CHECKING

from mutation.mutant import Mutant, constant, shown, slots

if TYPE_CHECKING:
    from collections.abc import Iterator

    from mutation.mutant import Put

MOVE = 0.3  # of the number, up and down: the share by which the review moved them
NOT_A_LINE = {"step"}  # a number of a check's record that is no threshold
PLAIN = {0, 1}  # compared with as they are: none, first, one
NO_PLACE = -1  # so named, it stands for no row: any other number that is none would do


def moved(number: float) -> tuple[float, float]:
    """The number 30 % up and down; whole numbers by one at least."""
    if isinstance(number, int):
        step = max(1, round(abs(number) * MOVE))
        return number + step, number - step
    return number * (1 + MOVE), number * (1 - MOVE)


def thresholds(tree: ast.Module) -> Iterator[Mutant]:
    """All of them."""
    yield from _named(tree)
    yield from _imported(tree)
    for function in ast.walk(tree):
        if isinstance(function, ast.FunctionDef | ast.AsyncFunctionDef):
            yield from _compared(function)


def _is_number(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _moves(node: ast.AST, put: Put, name: str) -> Iterator[Mutant]:
    if isinstance(node, ast.Constant) and _is_number(node.value):
        for value in moved(node.value):
            what = f"{name} moved from {node.value:g} to {value:g}"
            yield Mutant(node.lineno, what, partial(put, constant(value, node)))


def _named(tree: ast.Module) -> Iterator[Mutant]:
    """Numbers in what the module names in capitals, thresholds and tables, and in what stands above its functions."""
    for name, value in _values(tree):
        for node, put, parent in slots(value):
            keyword = parent.arg if isinstance(parent, ast.keyword) else None
            if keyword not in NOT_A_LINE and ast.unparse(parent) != str(NO_PLACE):
                yield from _moves(node, put, f"{name}.{keyword}" if keyword else name)


def _values(tree: ast.Module) -> Iterator[tuple[str, ast.AST]]:
    for statement in tree.body:
        if isinstance(statement, ast.FunctionDef):
            yield from ((statement.name, decorator) for decorator in statement.decorator_list)
        elif isinstance(statement, ast.Assign | ast.AnnAssign) and statement.value is not None:
            target = statement.targets[0] if isinstance(statement, ast.Assign) else statement.target
            if isinstance(target, ast.Name) and target.id.isupper():
                yield target.id, statement


def _imported(tree: ast.Module) -> Iterator[Mutant]:
    """Numbers that other modules of ours name and this one uses: moved for this one only."""
    for place, statement in enumerate(tree.body):
        if not isinstance(statement, ast.ImportFrom) or not (statement.module or "").startswith("ttnn_mcp"):
            continue
        for alias in statement.names:
            value = getattr(importlib.import_module(statement.module or ""), alias.name, None)
            if not alias.name.isupper() or not _is_number(value) or value == NO_PLACE:
                continue
            for number in moved(value):
                assign = ast.Assign([ast.Name(alias.asname or alias.name, ast.Store())], ast.Constant(number))
                ast.fix_missing_locations(ast.copy_location(assign, statement))
                what = f"{alias.name} (imported) moved from {value:g} to {number:g}"
                yield Mutant(alias.lineno, what, partial(tree.body.insert, place + 1, assign))


def _compared(function: ast.FunctionDef | ast.AsyncFunctionDef) -> Iterator[Mutant]:
    """Bare numbers in comparisons, which should have had a name."""
    for node, put, parent in slots(function):
        if isinstance(parent, ast.Compare) and isinstance(node, ast.Constant) and node.value not in PLAIN:
            yield from _moves(node, put, f"number in `{shown(parent)}`")
