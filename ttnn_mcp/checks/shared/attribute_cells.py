"""Entries of an op's ATTRIBUTES cell as evidence: the whole cell has a thousand characters and more."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ttnn_mcp.errors import shown
from ttnn_mcp.wire import Evidence

if TYPE_CHECKING:
    from ttnn_mcp.analyses.window_facts import WindowFacts


def cite_attribute(facts: WindowFacts, row: int, key: str) -> Evidence:
    """One entry, as written."""
    said = facts.attributes(row).get(key)
    value = None if said is None else shown(said)
    return Evidence(source=facts.ops.source, row=facts.line(row), column=f"ATTRIBUTES.{key}", value=value)
