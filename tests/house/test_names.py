"""One name per idea: no two classes of the package share one."""

import ast

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
