"""A module, everything that can be changed about it, and the tests that must notice."""

from __future__ import annotations

import ast
import re
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from mutation.faults import faults
from mutation.guards import guards
from mutation.scope import ROOT, name_of, tests_of
from mutation.thresholds import thresholds

if TYPE_CHECKING:
    from pathlib import Path

    from mutation.mutant import Mutant

EXCUSE = re.compile(r"# unmoved: (.+)$")


@dataclass(frozen=True)
class Module:
    """`excuses` are by line; a mutant carries that of its own line. `of_faults`: faults are among the mutants."""

    path: Path
    name: str
    tree: ast.Module
    mutants: tuple[Mutant, ...]
    excuses: dict[int, str]
    tests: tuple[Path, ...]
    of_faults: bool = False

    def at(self, line: int) -> str:
        """How a line of it is named towards the reader."""
        return f"{self.path.relative_to(ROOT).as_posix()}:{line}"


def module_of(path: Path, *, of_faults: bool = False) -> Module:
    """Read a module and find its mutants."""
    tree, mutants, excuses = mutants_of(path.read_text(encoding="utf-8"), of_faults=of_faults)
    return Module(path, name_of(path), tree, mutants, excuses, tuple(tests_of(path)), of_faults)


def mutants_of(text: str, *, of_faults: bool = False) -> tuple[ast.Module, tuple[Mutant, ...], dict[int, str]]:
    """A module's tree, its mutants in the order of their lines, and the excuses."""
    tree = ast.parse(text)
    marked = ((number, EXCUSE.search(line)) for number, line in enumerate(text.splitlines(), start=1))
    excuses = {number: match.group(1) for number, match in marked if match}
    planted = faults(tree) if of_faults else ()
    found = sorted((*thresholds(tree), *guards(tree), *planted), key=lambda one: one.line)
    return tree, tuple(replace(one, excuse=excuses.get(one.line)) for one in found), excuses
