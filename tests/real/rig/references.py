"""Runs what scripts of replays are compared with, on torch: a proof asks TTNN alone. For the environment with TTNN.

python references.py SCRIPT ...
"""

from __future__ import annotations

import sys
from pathlib import Path
from types import SimpleNamespace

import torch


def failure(script: Path) -> str:
    """Why the reference of a script cannot be computed of its operands; empty where it can, or where there is none."""
    names: dict = {"__name__": "script"}
    try:
        exec(compile(script.read_text(), str(script), "exec"), names)  # noqa: S102 - what replay_op wrote
        if names["reference"] is None:
            return ""
        operands = names["operands"](names["FACTS"]["settings"])
        names["reference"]([names["_value"](SimpleNamespace(torch=torch), one) for one in operands])
    except Exception as fault:  # noqa: BLE001 - whatever it is, the script would end with it
        return f"{script.name}: {fault!r:.200}"
    return ""


if __name__ == "__main__":
    for told in filter(None, (failure(Path(script)) for script in sys.argv[1:])):
        print(told)  # noqa: T201
