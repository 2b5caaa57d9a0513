"""One trial from the start, `python -m mutation.trial <module> <number>`: a process that imports a mutant instead.

Some changes show only so: those in a record, in a default, in what other modules made of a number when they were
imported. It exits with 0 if all tests pass.
"""

from __future__ import annotations

import importlib.abc
import importlib.machinery
import importlib.util
import os
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

from mutation.module import module_of

if TYPE_CHECKING:
    from mutation.module import Module

NOT_NEEDED = ("cacheprovider", "xdist", "unraisableexception")
OPTIONS = ["-x", "-q", "--assert=plain", "--tb=no", *(word for name in NOT_NEEDED for word in ("-p", f"no:{name}"))]


class _Instead(importlib.abc.MetaPathFinder, importlib.machinery.SourceFileLoader):
    """Finds one module, and loads it from its tree."""

    def __init__(self, module: Module) -> None:
        super().__init__(module.name, str(module.path))
        self.tree = module.tree

    def find_spec(self, fullname: str, *_: object):
        if fullname != self.name:
            return None
        return importlib.util.spec_from_file_location(fullname, self.path, loader=self)

    def get_code(self, _: str):
        return compile(self.tree, self.path, "exec")


def is_noticed(module: Module, number: int, seconds: int) -> bool:
    """Whether a test fails, or does not end, with the mutant in the module's place."""
    words = [sys.executable, "-m", "mutation.trial", str(module.path), str(number), *["faults"] * module.of_faults]
    with tempfile.TemporaryDirectory(prefix="lines-") as scratch:
        try:
            done = subprocess.run(
                words,
                check=False,
                timeout=seconds,
                env=os.environ | {"PYTEST_DEBUG_TEMPROOT": scratch},
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
            )
        except subprocess.TimeoutExpired:
            return True
    return done.returncode != 0


def main(path: str, number: str, *faults: str) -> int:
    """Import the mutant, run its tests."""
    import pytest  # noqa: PLC0415

    module = module_of(Path(path), of_faults=bool(faults))
    for name in [name for name in sys.modules if name.startswith("ttnn_mcp")]:
        del sys.modules[name]  # finding the mutants imported them
    module.mutants[int(number)].change()
    sys.meta_path.insert(0, _Instead(module))
    return int(pytest.main([*OPTIONS, *map(str, module.tests)]))


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
