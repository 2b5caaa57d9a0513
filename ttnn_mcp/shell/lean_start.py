"""What numpy and pydantic load and no command of ours asks for: a tenth of the CPU time of a short one."""

from __future__ import annotations

import os
import sys
from importlib import import_module
from types import ModuleType

# For the environment, before numpy loads: its library for matrices starts a thread per core, 0.1 s of CPU time each.
ONE_THREAD = ("OPENBLAS_NUM_THREADS", "1")
# For the environment, before pydantic makes a model: else it reads what every package that is installed says of itself.
NO_PLUGINS = ("PYDANTIC_DISABLE_PLUGINS", "__all__")
TYPES = "numpy._typing"  # 40 ms: thousands of names for annotations, of which numpy itself mentions one
PLUGINS = "pydantic.plugin._loader"  # 14 ms: it imports what reads packages before it looks whether it may


def lean_start() -> None:
    """To be called before either is imported; changes nothing that anybody can ask of them."""
    os.environ.setdefault(*ONE_THREAD)
    os.environ.setdefault(*NO_PLUGINS)
    if "numpy" not in sys.modules:
        sys.modules[TYPES] = _Types(TYPES)
    vars(sys.modules.setdefault(PLUGINS, ModuleType(PLUGINS))).setdefault("get_plugins", tuple)


class _Types(ModuleType):
    """Stands for numpy's types while it loads; whoever asks later gets those themselves."""

    def __getattr__(self, name: str) -> object:
        if name.startswith("__"):  # the import system asks whether this is a package
            raise AttributeError(name)
        if sys.modules.get(TYPES) is self:
            del sys.modules[TYPES]
            if name == "NDArray":
                return list
        return getattr(import_module(TYPES), name)
