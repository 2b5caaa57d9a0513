"""What the doctor says of the copies of large reports."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ttnn_mcp.session.settings import MB

if TYPE_CHECKING:
    from ttnn_mcp.readers.kept_files import KeptFiles


def space_of(kept: KeptFiles) -> str:
    """What the copies of large reports take, or why there are none."""
    if not kept.most_bytes:
        return "no copies of large reports (--cache-mb 0): each is parsed anew after a restart"
    if not kept.writable():
        return "no copies of large reports, as this folder cannot be written: each is parsed anew after a restart"
    return f"with copies of large reports: {kept.held_bytes() / MB:,.0f} of at most {kept.most_bytes / MB:,.0f} MB"
