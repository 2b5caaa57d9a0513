"""The catalogue of checks, written by hand, in the order of the skill's steps."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ttnn_mcp.checks.check import Check

CATALOGUE: tuple[Check, ...] = ()
