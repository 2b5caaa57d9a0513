"""What generated pages are made of."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence


def table(columns: Sequence[str], *rows: Sequence[str]) -> str:
    """A table of Markdown, with the end of its last line."""
    head, *lines = (f"| {' | '.join(row)} |" for row in (columns, *rows))
    return "\n".join([head, "|---" * len(columns) + "|", *lines]) + "\n"
