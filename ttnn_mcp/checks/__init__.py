"""The catalogue of checks: every module in the folder of a step, in the order of the steps and of their names."""

from __future__ import annotations

from importlib import import_module
from pkgutil import iter_modules
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ttnn_mcp.checks.check import Check


def _modules_below(package: str, path: list[str]) -> list[str]:
    return [f"{package}.{module.name}" for module in iter_modules(path)]


STEPS = [name for name in _modules_below(__name__, [*__path__]) if name.rpartition(".")[2].startswith("step")]
CATALOGUE: tuple[Check, ...] = tuple(
    import_module(module).CHECK
    for step in STEPS
    for module in _modules_below(step, [*import_module(step).__path__])
)
