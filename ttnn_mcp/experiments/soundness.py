"""Checks experiments and targets, before they are stored and when they are read: types, ranges and lengths."""

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
    """The experiment of these fields, or a sentence on the field that is wrong."""
    return _built(Experiment, fields)


def target_of(fields: Mapping[str, Any]) -> Target | str:
    """The target of these fields, or a sentence on the field that is wrong."""
    return _built(Target, fields)


def check_sound(record: Experiment | Target) -> None:
    """Refuse a record that could not be read again.

    Raises:
        QuestionRefused: a value is out of range; names the field.
    """
    try:
        _adapter(type(record)).validate_python(asdict(record))
    except (ValidationError, ValueError) as failure:
        kind = "experiment" if isinstance(record, Experiment) else "target"
        raise QuestionRefused(
            f"This {kind} cannot be recorded: {_field_of(failure)} is missing or out of range. Look at the runs with "
            "open_run: a window without measured time cannot be compared."
        ) from None


def _built(kind: type[Any], fields: Mapping[str, Any]) -> Any:
    try:
        return _adapter(kind).validate_python(dict(fields))
    except (ValidationError, ValueError) as failure:
        return f"its {_field_of(failure)} cannot be read"


def _field_of(failure: Exception) -> str:
    if isinstance(failure, ValidationError):
        place = failure.errors(include_url=False, include_context=False, include_input=False)[0]["loc"]
        return shown(".".join(map(str, place))) or "content"
    return "text"  # a lone surrogate
