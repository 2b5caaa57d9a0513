"""Which Python has the user's TTNN, for what runs it without a program of the user's own environment around it."""

from __future__ import annotations

import os
import shutil
import sys

from ttnn_mcp.errors import ArgumentsInvalid, shown
from ttnn_mcp.replay.interpreters import VARIABLE

IN_METAL = os.path.join("python_env", "bin", "python")  # noqa: PTH118


def stated_python(asked: str | None) -> str | None:
    """The Python that the option names, else the variable; None where neither does.

    Raises:
        ArgumentsInvalid: what they name cannot be started.
    """
    stated, by = (asked, "--ttnn") if asked else (os.environ.get(VARIABLE), VARIABLE)
    if not stated:
        return None
    program = shutil.which(stated)
    if program is None:
        raise ArgumentsInvalid(
            f"{by} names '{shown(stated)}', and there is no such program: name a Python with TTNN."
        )
    return program


def ttnn_python(asked: str | None) -> str:
    """The stated Python, else that of $TT_METAL_HOME, else the own one.

    Raises:
        ArgumentsInvalid: as `stated_python`.
    """
    home = os.environ.get("TT_METAL_HOME")
    in_metal = shutil.which(os.path.join(home, IN_METAL)) if home else None  # noqa: PTH118
    return stated_python(asked) or in_metal or sys.executable
