"""The tools. `TOOLS`, of the catalogue, loads with its first use: a call at a shell needs one tool only."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ttnn_mcp.tools.catalogue import TOOLS as TOOLS


def __getattr__(name: str) -> object:
    if name != "TOOLS":
        raise AttributeError(name)
    from ttnn_mcp.tools.catalogue import TOOLS  # noqa: PLC0415 - 0.2 s for the modules that other tools need

    return TOOLS
