"""A mutant in the place of a module that is already imported: its functions and numbers change where they stand."""

from __future__ import annotations

import ast
import inspect
import sys
from collections import defaultdict
from dataclasses import dataclass, fields, is_dataclass
from pathlib import Path
from types import CodeType, FunctionType, ModuleType
from typing import TYPE_CHECKING

import numpy as np

from mutation.scope import ROOT, imports_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    from _typeshed import DataclassInstance

    from mutation.module import Module

HIT = "__hit__"  # what functions call that tell that they ran
Place = tuple[str, int]  # a function's name and first line


class UnfitError(Exception):
    """This change shows only in a module that is imported with it."""


@dataclass(frozen=True)
class Live:
    """An imported module and its functions."""

    module: Module
    imported: ModuleType
    functions: dict[Place, list[FunctionType]]

    def replace(self, tree: ast.Module) -> set[Place] | None:
        """Put what the tree says in the place of what stands here.

        Returns:
            The functions that it replaced; None where values changed.

        Raises:
            UnfitError: nothing could be replaced.
        """
        compiled = compile(tree, str(self.module.path), "exec", dont_inherit=True)
        replaced = self._replace_code(compiled)
        if replaced:
            return replaced
        if not self._replace_values(compiled):
            raise UnfitError
        return None

    def _replace_code(self, compiled: CodeType) -> set[Place]:
        replaced: set[Place] = set()
        for place, code in codes(compiled).items():
            for function in self.functions.get(place, []):
                if function.__code__ != code:
                    function.__code__ = code
                    replaced.add(place)
        return replaced

    def _replace_values(self, compiled: CodeType) -> bool:
        fresh = dict(vars(self.imported))
        before = dict(fresh)
        exec(compiled, fresh)  # noqa: S102 - our own module
        changed = [
            key
            for key, new in fresh.items()
            if (key.isupper() or is_dataclass(new)) and key in before and not same(before[key], new)
        ]
        for key in changed:
            if is_dataclass(before[key]):
                _take_over(before[key], fresh[key])
                continue
            vars(self.imported)[key] = fresh[key]
            for other in self._importers_of(key, before[key]):
                vars(other)[key] = fresh[key]
        return bool(changed)

    def _importers_of(self, key: str, value: object) -> list[ModuleType]:
        named = [module for module in list(sys.modules.values()) if vars(module).get(key) is value]
        paths = [(module, Path(str(module.__file__))) for module in named if hasattr(module, "__file__")]
        name = f"{self.imported.__name__}.{key}"
        return [module for module, path in paths if path.is_relative_to(ROOT) and name in imports_of(path)]

    def tell(self) -> None:
        """Let each function tell `HIT` where it stands when it runs."""
        tree = ast.parse(self.module.path.read_text(encoding="utf-8"))
        for node in ast.walk(tree):
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
                line = min([node.lineno, *(decorator.lineno for decorator in node.decorator_list)])
                call = ast.parse(f"{HIT}({self.imported.__name__!r}, {node.name!r}, {line})").body[0]
                for part in ast.walk(call):
                    ast.copy_location(part, node)
                node.body.insert(0, call)
        self._replace_code(compile(tree, str(self.module.path), "exec", dont_inherit=True))


def codes(compiled: CodeType) -> dict[Place, CodeType]:
    """The code of a module's functions and of its classes' methods; what stands twice in a line is left out."""
    found: dict[Place, list[CodeType]] = defaultdict(list)
    for code in _functions_in(compiled):
        found[code.co_name, code.co_firstlineno].append(code)
    return {place: each[0] for place, each in found.items() if len(each) == 1}


def _functions_in(compiled: CodeType) -> Iterator[CodeType]:
    for code in compiled.co_consts:
        if isinstance(code, CodeType) and code.co_flags & inspect.CO_NEWLOCALS:
            yield code
        elif isinstance(code, CodeType):
            yield from _functions_in(code)


def _take_over(record: DataclassInstance, fresh: DataclassInstance) -> None:
    """Put what differs into a record, which others hold; its other values belong to the module that is in use."""
    for each in fields(record):
        value = getattr(fresh, each.name)
        if not same(getattr(record, each.name), value):
            object.__setattr__(record, each.name, value)


def same(old: object, new: object) -> bool:
    """Whether two values are the same; functions by their code. What a module's own classes make counts as the same."""
    if isinstance(old, FunctionType) and isinstance(new, FunctionType):
        return old.__code__ == new.__code__
    if type(old) is not type(new):
        old, new = type(old), type(new)
    if isinstance(old, type) and isinstance(new, type):
        return old.__qualname__ == new.__qualname__
    if is_dataclass(old) and is_dataclass(new) and not isinstance(old, type):
        return all(same(getattr(old, each.name), getattr(new, each.name)) for each in fields(old))
    if isinstance(old, tuple) and isinstance(new, tuple):
        return len(old) == len(new) and all(same(*each) for each in zip(old, new, strict=True))
    if isinstance(old, dict) and isinstance(new, dict):
        return old.keys() == new.keys() and all(same(value, new[key]) for key, value in old.items())
    return np.array_equal(old, new) if isinstance(old, np.ndarray) else bool(old == new)
