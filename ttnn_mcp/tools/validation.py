"""What is wrong with a tool's arguments. Pydantic decides; this module says it in our words."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from difflib import get_close_matches
from typing import TYPE_CHECKING, Any

from pydantic import ValidationError

from ttnn_mcp.errors import ArgumentsInvalid, shown
from ttnn_mcp.quoting import figure

if TYPE_CHECKING:
    from ttnn_mcp.tools.tool import Arguments, Tool

OPTIONS_SHOWN = 8  # so few values are always listed; of more, the nearest is named where there is one
WORDS: dict[str, Callable[[dict[str, Any]], str]] = {
    "int_type": lambda _: "is a whole number",
    "int_parsing": lambda _: "is a whole number",
    "int_from_float": lambda _: "is a whole number",
    "int_parsing_size": lambda _: "is a whole number of ordinary size",
    "float_type": lambda _: "is a number",
    "float_parsing": lambda _: "is a number",
    "finite_number": lambda _: "is a finite number",
    "bool_type": lambda _: "is true or false",
    "bool_parsing": lambda _: "is true or false",
    "string_type": lambda _: "is text",
    "string_unicode": lambda _: "is text that can be encoded as UTF-8",
    "list_type": lambda _: "is a list",
    "tuple_type": lambda _: "is a list",
    "string_too_long": lambda limits: f"has at most {limits['max_length']} characters",
    "string_too_short": lambda limits: f"has at least {limits['min_length']} characters",
    "too_long": lambda limits: f"has at most {limits['max_length']} entries",
    "greater_than_equal": lambda limits: f"is {figure(limits['ge'], 'g')} or more",
    "greater_than": lambda limits: f"is more than {figure(limits['gt'], 'g')}",
    "less_than_equal": lambda limits: f"is {figure(limits['le'], 'g')} or less",
    "less_than": lambda limits: f"is less than {figure(limits['lt'], 'g')}",
}


def validated(tool: Tool[Any, Any], arguments: Mapping[str, object]) -> Arguments:
    """The arguments as the tool takes them.

    Raises:
        ArgumentsInvalid: with the nearest accepted name, or what a value should be.
    """
    try:
        return tool.arguments.model_validate(dict(arguments))
    except ValidationError as invalid:
        accepted = list(tool.arguments.model_fields)
        faults = dict.fromkeys(_faults(invalid, accepted))
        raise ArgumentsInvalid(f"{tool.name}: {' '.join(faults)} Accepted: {', '.join(accepted)}.") from None


def _faults(invalid: ValidationError, accepted: list[str]) -> list[str]:
    """One sentence per argument; where a value may be one of several types, its alternatives in one sentence."""
    by_name: dict[str, list[str]] = {}
    for error in invalid.errors(include_url=False):
        name = shown(error["loc"][0]) if error["loc"] else "arguments"
        by_name.setdefault(name, []).append(_fault(name, dict(error), accepted))
    return [_joined(dict.fromkeys(faults), name) for name, faults in by_name.items()]


def _joined(faults: dict[str, None], name: str) -> str:
    first, *others = faults
    start = f"'{name}' "
    sentence = f"{first}{''.join(', or ' + other.removeprefix(start) for other in others)}"
    return sentence if sentence.endswith("?") else f"{sentence}."


def _fault(name: str, error: dict[str, Any], accepted: list[str]) -> str:
    if error["type"] == "extra_forbidden":
        return f"unknown argument '{name}'{_meant(name, accepted)}"
    if error["type"] == "missing":
        return f"'{name}' is required"
    if error["type"] == "literal_error":
        return f"'{name}' {_options(error)}"
    words = WORDS.get(error["type"])
    return f"'{name}' {words(error.get('ctx', {})) if words else 'has a value that is not accepted'}"


def _options(error: dict[str, Any]) -> str:
    options = [option.strip("'\"") for option in error["ctx"]["expected"].replace(" or ", ", ").split(", ")]
    if len(options) == 1:
        return f"is {options[0]}"
    if len(options) <= OPTIONS_SHOWN:
        return f"is {', '.join(options[:-1])} or {options[-1]}"
    wrong = error["input"]
    meant = _meant(wrong, options) if isinstance(wrong, str) else ""
    return f"cannot be '{shown(wrong)}'{meant}" if meant else f"is one of {', '.join(options)}"


def _meant(name: str, names: list[str]) -> str:
    close = get_close_matches(name.lower(), names, n=1, cutoff=0.5)
    return f". Did you mean {close[0]}?" if close else ""
