"""Paging: a cursor is the offset of the next page, bound to the question it belongs to."""

from __future__ import annotations

from hashlib import blake2b
from typing import TYPE_CHECKING

from ttnn_mcp.errors import QuestionRefused

if TYPE_CHECKING:
    from ttnn_mcp.tools.tool import Arguments


def offset_of(cursor: str | None, asked: Arguments, run_id: str) -> int:
    """Where the page starts.

    Raises:
        QuestionRefused: the cursor belongs to another question.
    """
    if cursor in (None, "", "0"):  # the first page is the same for every question
        return 0
    offset, _, question = cursor.partition("-")
    if question != _question(asked, run_id) or not offset.isdecimal():
        raise QuestionRefused(
            "This cursor belongs to another question. Ask again without it, then pass next_cursor."
        )
    return int(offset)


def cursor_after(offset: int, asked: Arguments, run_id: str) -> str:
    """The cursor of the page that starts at `offset`."""
    return f"{offset}-{_question(asked, run_id)}"


def _question(asked: Arguments, run_id: str) -> str:
    question = asked.model_dump_json(exclude={"cursor", "run"})
    return blake2b(f"{run_id}{question}".encode(), digest_size=4).hexdigest()
