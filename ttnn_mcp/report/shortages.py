"""What went wrong in memory, in one sentence: where, what was asked, what was free, and what helps."""

from __future__ import annotations

from typing import Any

from ttnn_mcp.report.markup import number

Answer = dict[str, Any]


def failure_words(memory: Answer) -> str | None:
    """The first failure of memory_summary; None where nothing failed."""
    if not memory["errors"]:
        return None
    failed = memory["errors"][0]
    line = f" ({failed['line']})" if failed.get("line") else ""
    at = (
        failed["name"]
        if failed.get("operation") is None
        else f"operation {failed['operation']}, {failed['name']}{line}"
    )
    if "ran_out_of" not in failed:
        kind = f": {failed['kind']}" if failed.get("kind") else ""
        return f"{failed['outcome'].capitalize()}: {at}{kind}."
    words = f"Ran out of {failed['ran_out_of']} at {at}: asked {number(failed['asked_bytes'])} B, {_room(failed)}."
    remedy = _remedy(failed)
    return f"{words} {remedy}" if remedy else words


def _room(failed: Answer) -> str:
    largest = failed.get("largest_free_bytes")
    if largest is not None:
        return f"largest hole {number(largest)} B"
    limit = f"there is room for {number(failed['limit_bytes'])} B" if "limit_bytes" in failed else "no room"
    return f"{limit}, {number(failed['short_bytes'])} B too few" if "short_bytes" in failed else limit


def _remedy(failed: Answer) -> str:
    """The first remedy, and whether it is enough."""
    table: Answer | None = failed.get("remedies")
    if not table or not table["rows"]:
        return ""
    first: Answer = dict(zip(table["columns"], table["rows"][0], strict=True))
    enough = {True: "enough", False: "not enough alone"}.get(first["enough"], "not known whether enough")
    bound = "at most " if first["bound"] == "at most" else ""
    return f"What helps: {first['how']} ({bound}{number(first['bytes'])} B: {enough})."
