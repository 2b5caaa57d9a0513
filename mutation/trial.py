"""One trial: a process of its own that imports a mutant instead of its module, and runs the tests of the module.

The parent has imported all that a check stands on (pandas, readers, analyses), and forgot the checks: a child that
it forks imports those anew, which takes milliseconds, and forgets everything when it ends.
"""

from __future__ import annotations

import gc
import importlib.abc
import importlib.machinery
import importlib.util
import io
import os
import signal
import sys
import tempfile
from contextlib import redirect_stdout
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from mutation.module import Module
    from mutation.mutant import Mutant

ANEW = ("tests", *(f"ttnn_mcp.{room}" for room in ("checks", "experiments", "tools", "server", "shell")))
STANDS_ON_ANALYSES = tuple(f"ttnn_mcp.{room}" for room in ("analyses", "session"))  # besides those
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


def warm_up(test: Path) -> None:
    """Run some test here, so that all that is imported on the way is there for every trial; forget the checks."""
    with tempfile.TemporaryDirectory(prefix="lines-") as scratch, redirect_stdout(io.StringIO()):
        _pytest(scratch, [test])
    _forget(ANEW)
    gc.freeze()  # what is here now stays: forks need not look through it


def _forget(rooms: tuple[str, ...]) -> None:
    for name in [name for name in sys.modules if name.startswith(rooms)]:
        del sys.modules[name]


def is_noticed(module: Module, mutant: Mutant | None, seconds: int, *, heard: bool) -> bool:
    """Whether a test fails, or does not end, with the mutant in the module's place; None is the module itself."""
    with tempfile.TemporaryDirectory(prefix="lines-") as scratch:
        child = os.fork()
        if not child:
            _run(module, mutant, seconds, scratch, heard=heard)
        _, status = os.waitpid(child, 0)
    return status != 0


def _run(module: Module, mutant: Mutant | None, seconds: int, scratch: str, *, heard: bool) -> None:
    """In the child: never returns."""
    code = 70
    try:
        signal.alarm(seconds)
        if not heard:
            nowhere = os.open(os.devnull, os.O_WRONLY)
            os.dup2(nowhere, 1)
            os.dup2(nowhere, 2)
        if mutant:
            mutant.change()
        if module.name.startswith(STANDS_ON_ANALYSES):
            _forget(STANDS_ON_ANALYSES)
        sys.meta_path.insert(0, _Instead(module))
        code = _pytest(scratch, module.tests)
    finally:
        os._exit(code)


def _pytest(scratch: str, tests: Sequence[Path]) -> int:
    import pytest  # noqa: PLC0415

    return int(pytest.main([*OPTIONS, f"--basetemp={scratch}/tests", *map(str, tests)]))
