"""One name per idea: no two classes of the package share one."""

import ast
import re

from tests.for_all import for_all
from tests.house.tree import MODULES, tree_of, where

EACH_TOOL_HAS = {"Arguments", "Answer"}


def test_no_two_classes_have_one_name():
    places: dict[str, list[str]] = {}
    for path in MODULES:
        for node in tree_of(path).body:
            if isinstance(node, ast.ClassDef) and node.name not in EACH_TOOL_HAS:
                places.setdefault(node.name, []).append(where(path))
    assert len(places) > 200
    for name, modules in places.items():
        assert len(modules) == 1, f"{name} names a class in {' and in '.join(modules)}: rename one of them"


CATCH_ALL = {"said", "found", "there", "told", "given", "seen", "thing", "stuff"}


def names_bound(tree: ast.Module) -> dict[str, int]:
    """Every name that a module binds, with a line on which it does."""
    bound: dict[str, int] = {}
    for node in ast.walk(tree):
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            bound[node.id] = node.lineno
        elif isinstance(node, ast.arg):
            bound[node.arg] = node.lineno
    return bound


@for_all("path", MODULES, ids=where)
def test_a_name_tells_what_it_holds(path):
    words = {*re.findall(r"\w+", path.read_text(encoding="utf-8"))}
    if words.isdisjoint(CATCH_ALL):  # most modules: what is not written binds nothing
        return
    names = names_bound(tree_of(path))
    caught = [f"`{name}` at line {names[name]}" for name in sorted(names.keys() & CATCH_ALL)]
    assert not caught, f"{where(path)}: call {', '.join(caught)} by a noun that tells what it holds"


def test_names_are_found_wherever_they_are_bound():
    tree = ast.parse("def f(told, *, seen):\n    for found in told:\n        given = [there for there in found]")
    assert names_bound(tree) == {"told": 1, "seen": 1, "found": 2, "given": 3, "there": 3}
