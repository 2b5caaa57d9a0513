"""One name per idea: no two classes of the package share one."""

import ast

import pytest

from tests.house.tree import MODULES, PACKAGE, tree_of, where

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
PLAIN_ROOMS = (
    *("readers", "run", "session", "query", "served", "server", "shell", "tools", "experiments"),
    *("analyses/moves", "analyses/devices", "analyses/roofline", "analyses/comparison", "analyses/dataflow"),
    *("analyses/memory", "analyses/op_kinds", "analyses/settings", "analyses/program_models", "checks"),
)


def names_bound(tree: ast.Module) -> dict[str, int]:
    """Every name that a module binds, with a line on which it does."""
    stored = {
        node.id: node.lineno
        for node in ast.walk(tree)
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)
    }
    return stored | {node.arg: node.lineno for node in ast.walk(tree) if isinstance(node, ast.arg)}


@pytest.mark.parametrize("room", PLAIN_ROOMS)
def test_a_name_tells_what_it_holds(room):
    modules = [path for path in MODULES if path.is_relative_to(PACKAGE / room)]
    assert modules
    for path in modules:
        for name in names_bound(tree_of(path)).keys() & CATCH_ALL:
            line = names_bound(tree_of(path))[name]
            pytest.fail(f"{where(path)}:{line}: call `{name}` by a noun that tells what it holds")
