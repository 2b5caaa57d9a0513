"""How long an answer is, and how one that is too long is made shorter: its last entries go, and are counted.

A cursor leads to them: it is the offset of the next page, bound to the question it belongs to.
"""

from __future__ import annotations

from hashlib import blake2b
from itertools import islice
from typing import TYPE_CHECKING, Any, TypeVar

from ttnn_mcp.errors import QuestionRefused
from ttnn_mcp.wire import Table, bytes_of

if TYPE_CHECKING:
    from ttnn_mcp.tools.tool import Arguments, Budget
    from ttnn_mcp.wire import Wire

    Answered = TypeVar("Answered", bound=Wire)

# Claude Code saves a result above 50,000 characters to a file and shows the model 2 kB of it. Budgets keep answers
# far below that, so that only a bug or a run like none before meets this limit.
LIMIT_BYTES = 40_000
RAISED_BYTES = 35_000  # what an answer may take when the caller raised `limit`: whoever does wants more


def size_of(budget: Budget, asked: Arguments) -> int:
    """The bytes this answer may take: the budget, or more where the caller asked for a longer page or a whole value."""
    field = type(asked).model_fields.get("limit")
    raised = field is not None and getattr(asked, "limit", None) not in (None, field.default)
    return RAISED_BYTES if raised or getattr(asked, "whole", None) is not None else budget.size


def fitted(answer: Answered, budget: Budget, asked: Arguments, run_id: str) -> Answered:
    """The answer, cut to its budget; `next_cursor` and the `more_` counters say what is left out."""
    room = size_of(budget, asked)
    excess = bytes_of(answer.spoken()) - room
    while excess > 0:
        entries = {name: _entries(answer, name) for name in budget.cut}
        name = max(budget.cut, key=lambda each: bytes_of(entries[each]) if len(entries[each]) > budget.keep else -1)
        count = len(entries[name])
        if count <= budget.keep:
            return answer
        left = count - _surplus(entries[name], excess, budget.keep)
        answer = _shorter(answer, name, left, asked, run_id)
        excess = bytes_of(answer.spoken()) - room
    return answer


def _entries(answer: Wire, name: str) -> list[Any]:
    """The entries of a field as plain JSON values."""
    spoken = answer.spoken().get(name, [])
    if isinstance(getattr(answer, name), Table):
        return spoken["rows"] if spoken else []
    return [*spoken.items()] if isinstance(spoken, dict) else [*spoken]  # pyright: ignore[reportUnknownMemberType,reportUnknownVariableType] - JSON


def _surplus(entries: list[Any], excess: int, keep: int) -> int:
    """How many of the last entries hold `excess` bytes; a third of them at most, so that no field pays alone."""
    most, gone = min(max(1, len(entries) // 3), len(entries) - keep), 0
    for count, entry in enumerate(reversed(entries[-most:]), start=1):
        gone += bytes_of(entry) + 1
        if gone >= excess:
            return count
    return most


def _first(value: Any, left: int) -> Any:
    return dict(islice(value.items(), left)) if isinstance(value, dict) else value[:left]  # pyright: ignore[reportUnknownArgumentType,reportUnknownMemberType,reportUnknownVariableType]


def _shorter(answer: Answered, name: str, left: int, asked: Arguments, run_id: str) -> Answered:
    """The answer with `left` entries in one field."""
    value = getattr(answer, name)
    if isinstance(value, Table):
        gone = len(value.rows) - left
        kept: Any = value.model_copy(update={"rows": value.rows[:left]})
    else:
        gone = len(value) - left
        kept = _first(value, left)
    changes: dict[str, Any] = {name: kept}
    fields = type(answer).model_fields
    if f"more_{name}" in fields:
        changes[f"more_{name}"] = getattr(answer, f"more_{name}") + gone
    if "next_cursor" in fields:
        start = offset_of(getattr(asked, "cursor", None), asked, run_id)
        changes["next_cursor"] = cursor_after(start + left, asked, run_id)
    return answer.model_copy(update=changes)


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
