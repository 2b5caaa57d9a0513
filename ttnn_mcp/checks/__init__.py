"""The catalogue of checks: every module in the folder of a step, in the order of the steps and of their names."""

from __future__ import annotations

from importlib import import_module
from pkgutil import iter_modules
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ttnn_mcp.checks.check import Check


def _modules_below(package: str, path: list[str]) -> list[str]:
    return [f"{package}.{module.name}" for module in iter_modules(path)]


def __getattr__(name: str) -> tuple[Check, ...]:
    """CATALOGUE, read when it is first asked for: words and fixes of this package are used where no check is."""
    if name != "CATALOGUE":
        raise AttributeError(name)
    steps = [step for step in _modules_below(__name__, [*__path__]) if step.rpartition(".")[2].startswith("step")]
    modules = [module for step in steps for module in _modules_below(step, [*import_module(step).__path__])]
    catalogue: tuple[Check, ...] = tuple(import_module(module).look for module in modules)
    globals()["CATALOGUE"] = catalogue
    return catalogue
