"""JSON Schemas as short as they can be: every word of a contract is paid for by every assistant that connects."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Any, TypeAlias, cast

if TYPE_CHECKING:
    from pydantic import BaseModel

JsonSchema: TypeAlias = "dict[str, Any]"


@cache
def schema_of_arguments(model: type[BaseModel]) -> JsonSchema:
    """What may be asked. Computed once (milliseconds per tool), so nobody may change it."""
    schema = slim(model.model_json_schema())
    schema.pop("description", None)  # the class's docstring is for us; the tool's description says it better
    return schema


@cache
def schema_of_answer(model: type[BaseModel]) -> JsonSchema:
    """What comes back. Computed once, so nobody may change it."""
    return slim(model.model_json_schema(mode="serialization"))


def slim(schema: JsonSchema) -> JsonSchema:
    """A JSON Schema without titles, null defaults, and null as the type of a field that may be left out."""
    kept = {key: _slimmed(key, value) for key, value in schema.items() if not _empty(key, value)}
    required = kept.get("required", [])
    for name, part in kept.get("properties", {}).items():
        if name not in required:
            kept["properties"][name] = _without(part, {"type": "null"})
    if {"type": "number"} in kept.get("anyOf", []):  # a whole number is a number already
        kept = _without(kept, {"type": "integer"})
    return kept


def _empty(key: str, value: object) -> bool:
    return (key == "title" and isinstance(value, str)) or (key == "default" and value is None)


def _slimmed(key: str, value: Any) -> Any:
    if key in ("properties", "$defs"):
        return {name: slim(part) for name, part in value.items()}
    if key == "propertyNames":
        return {"type": "string", **slim(value)}  # linters of clients take a description alone for an oversight
    if isinstance(value, dict):
        return slim(cast("JsonSchema", value))
    if key in ("anyOf", "oneOf", "allOf", "prefixItems"):
        return [slim(part) for part in value]
    return value


def _without(schema: JsonSchema, option: JsonSchema) -> JsonSchema:
    """`schema` with one alternative taken out; a single alternative left becomes the schema itself."""
    options = [each for each in schema.get("anyOf", []) if each != option]
    if not options or len(options) == len(schema["anyOf"]):
        return schema
    rest = {key: value for key, value in schema.items() if key != "anyOf"}
    return {**options[0], **rest} if len(options) == 1 else {"anyOf": options, **rest}
