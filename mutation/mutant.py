"""A mutant: a module with one thing changed, and how its syntax tree is changed."""

from __future__ import annotations

import ast
from dataclasses import dataclass
from functools import partial
from operator import setitem
from typing import TYPE_CHECKING, TypeAlias

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    Put: TypeAlias = Callable[[ast.AST], object]


@dataclass(frozen=True)
class Mutant:
    """One change. `change` makes it, in the tree that the mutant was found in."""

    line: int
    what: str
    change: Callable[[], object]
    excuse: str | None = None


def slots(tree: ast.AST) -> Iterator[tuple[ast.AST, Put, ast.AST]]:
    """Every node below the tree, what puts another in its place, and its parent."""
    for parent in ast.walk(tree):
        for field, value in ast.iter_fields(parent):
            if isinstance(value, ast.AST):
                yield value, partial(setattr, parent, field), parent
            elif isinstance(value, list):
                for place, item in enumerate(value):
                    if isinstance(item, ast.AST):
                        yield item, partial(setitem, value, place), parent


def constant(value: object, at: ast.AST) -> ast.Constant:
    """A literal that stands where `at` stood."""
    return ast.copy_location(ast.Constant(value), at)


def shown(node: ast.AST, most: int = 90) -> str:
    """The code of a node, on one line."""
    text = " ".join(ast.unparse(node).split())
    return text if len(text) <= most else f"{text[: most - 3]}..."
