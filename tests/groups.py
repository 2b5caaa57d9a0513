"""Which tests read the reports beside the checkout (../shared): those form a group of their own, `-m shared`.

Nobody marks them: a test belongs to the group if it, one of its fixtures or a function of the tests that either calls
names `tests.shared_reports.shared` or a path in that folder.
"""

from __future__ import annotations

import inspect
import os
from functools import cache
from pathlib import Path
from types import CodeType, FunctionType, ModuleType
from typing import TYPE_CHECKING, Any

from tests.shared_reports import SHARED, shared

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    import pytest

BESIDE = SHARED.parent


def lies_beside(value: object) -> bool:
    """Whether a value is a path of a report beside the checkout; those under other roofs are made by the tests."""
    if isinstance(value, tuple | list):
        return any(map(lies_beside, value))
    return isinstance(value, Path) and Path(os.path.normpath(value)).is_relative_to(BESIDE)


def reads_shared(item: pytest.Function) -> bool:
    """Whether a test needs reports that may not be there."""
    fixtures = [each.func for several in item._fixtureinfo.name2fixturedefs.values() for each in several]
    arguments = item.callspec.params.values() if hasattr(item, "callspec") else ()
    cases = [value for case in getattr(item.function, "cases", ()) for value in case.values()]
    return any(map(lies_beside, (*arguments, *cases))) or any(map(reaches, [item.function, *fixtures]))


@cache
def reaches(function: Callable[..., Any]) -> bool:
    """Whether a function of the tests, or one it calls, names the reports beside the checkout."""
    waiting, seen = [function], {function}
    while waiting:
        names_it, called = looked_at(waiting.pop())
        if names_it:
            return True
        waiting += called - seen
        seen |= called
    return False


@cache
def looked_at(function: Callable[..., Any]) -> tuple[bool, frozenset[FunctionType]]:
    """(whether a function itself names the reports beside the checkout, the functions of the tests it names)."""
    values = [*names_of(function)]
    called = [inspect.unwrap(value) for value in values if callable(value)]
    ours = [each for each in called if isinstance(each, FunctionType) and each.__module__.startswith("tests.")]
    return any(value is shared or lies_beside(value) for value in values), frozenset(ours)


def names_of(function: Callable[..., Any]) -> Iterator[object]:
    """The values of the names that a function's code mentions: globals, and what it takes from modules of the tests."""
    plain = inspect.unwrap(function)
    plain = (getattr(plain, "hypothesis", None) and plain.hypothesis.inner_test) or plain
    code = getattr(plain, "__code__", None)
    for part in inner_codes(code) if code is not None else ():
        values = [plain.__globals__[name] for name in part.co_names if name in plain.__globals__]
        yield from values
        for module in (value for value in values if isinstance(value, ModuleType)):
            yield from (vars(module)[name] for name in part.co_names if name in vars(module))


def inner_codes(code: CodeType) -> Iterator[CodeType]:
    yield code
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield from inner_codes(constant)
