"""Whether what is to be stored, or was stored, is an experiment: all its types, ranges and lengths."""

from __future__ import annotations

from dataclasses import asdict
from functools import cache
from typing import TYPE_CHECKING, Any

from pydantic import TypeAdapter, ValidationError

from ttnn_mcp.errors import QuestionRefused, shown
from ttnn_mcp.experiments.experiment import Experiment, Target

if TYPE_CHECKING:
    from collections.abc import Mapping


@cache
def _adapter(kind: type[Any]) -> TypeAdapter[Any]:
    return TypeAdapter(kind)


def experiment_of(fields: Mapping[str, Any]) -> Experiment | str:
    """The experiment of these fields, or which of them is off."""
    return _built(Experiment, fields)


def target_of(fields: Mapping[str, Any]) -> Target | str:
    """The target of these fields, or which of them is off."""
    return _built(Target, fields)


def check_sound(one: Experiment | Target) -> None:
    """Refuse what would not be read back.

    Raises:
        QuestionRefused: a value is out of range; names the field.
    """
    try:
        _adapter(type(one)).validate_python(asdict(one))
    except (ValidationError, ValueError) as off:
        kind = "experiment" if isinstance(one, Experiment) else "target"
        raise QuestionRefused(
            f"This {kind} cannot be recorded: {_field_of(off)} is missing or out of range. Look at the runs with "
            "open_run: a window without measured time cannot be compared."
        ) from None


def _built(kind: type[Any], fields: Mapping[str, Any]) -> Any:
    try:
        return _adapter(kind).validate_python(dict(fields))
    except (ValidationError, ValueError) as off:
        return f"its {_field_of(off)} cannot be read"


def _field_of(off: Exception) -> str:
    if isinstance(off, ValidationError):
        place = off.errors(include_url=False, include_context=False, include_input=False)[0]["loc"]
        return shown(".".join(map(str, place))) or "content"
    return "text"  # a lone surrogate
