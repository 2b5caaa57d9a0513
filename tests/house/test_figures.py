"""Numbers in sentences pass one formatter, which refuses what is no number: damaged cells give such.

What is drawn to the right of the wire (`server/`, `shell/`, `report/`) comes from answers, whose numbers `wire.rounded` has judged.
"""

import ast
import re

from tests.house.tree import MODULES, PACKAGE, tree_of, where

# `replay` writes the numbers of its own script, `query` cells of a table, `hardware.py` its own constants
OTHERS = {"report", "server", "shell", "replay", "query", "hardware.py"}
OF_FLOATS = re.compile(r"[+]?,?(\.\d+)?[efg%]$")


def forms(tree):
    for node in ast.walk(tree):
        if isinstance(node, ast.FormattedValue) and isinstance(node.format_spec, ast.JoinedStr):
            for part in node.format_spec.values:
                if isinstance(part, ast.Constant) and OF_FLOATS.match(str(part.value)):
                    yield node.lineno


def test_a_number_in_a_sentence_passes_the_formatter():
    found = [
        f"{where(path)}:{line}"
        for path in MODULES
        if path.relative_to(PACKAGE).parts[0] not in OTHERS
        for line in forms(tree_of(path))
    ]
    assert not found, f"write {{figure(number, '.1f')}} of quoting.py: {', '.join(found)}"


def test_a_form_is_found():
    assert list(forms(ast.parse('f"{a:.1%} {b:,.0f} {c:>3} {d}"\nf"{e:.3g}"'))) == [1, 1, 2]
