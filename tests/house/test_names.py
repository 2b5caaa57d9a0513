"""One name per idea: no two classes of the package share one."""

import ast

import pytest

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
    stored = {
        node.id: node.lineno
        for node in ast.walk(tree)
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)
    }
    return stored | {node.arg: node.lineno for node in ast.walk(tree) if isinstance(node, ast.arg)}


@pytest.mark.parametrize("path", MODULES, ids=where)
def test_a_name_tells_what_it_holds(path):
    names = names_bound(tree_of(path))
    for name in names.keys() & CATCH_ALL:
        pytest.fail(f"{where(path)}:{names[name]}: call `{name}` by a noun that tells what it holds")
