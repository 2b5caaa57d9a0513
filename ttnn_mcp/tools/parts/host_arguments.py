"""What list_ops can obey where a run has no device ops: a memory report alone."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ttnn_mcp.errors import QuestionRefused

if TYPE_CHECKING:
    from ttnn_mcp.tools.tool import Arguments

OBEYED = ("run", "op_code", "min_share", "limit", "cursor", "iteration")  # whatever their value
VALUES = {"group_by": ("none", "op_code"), "sort": ("kernel", "order")}


def refuse_device_arguments(asked: Arguments) -> None:
    """A memory report has no device ops: what would choose among them is refused.

    Raises:
        QuestionRefused: an argument that a memory report alone cannot obey; says what works instead.
    """
    for name, field in type(asked).model_fields.items():
        value = getattr(asked, name)
        if value == field.default or name in OBEYED or value in VALUES.get(name, ()):
            continue
        instead = f"can be {' or '.join(VALUES[name])}" if name in VALUES else "must be left out"
        raise QuestionRefused(
            f"'{name}' needs device times, and this run is a memory report alone: here it {instead}."
        )
