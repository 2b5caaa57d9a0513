"""What a tool is: a name, closed arguments, a typed answer and the question that leads from one to the other.

The record knows nothing of MCP: the server offers it over the protocol, the shell calls it directly, and both
validate by the same models.
"""

from __future__ import annotations

import inspect
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Generic, Literal, TypeAlias, TypeVar, cast

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from ttnn_mcp.errors import ArgumentsInvalid, nearest, shown

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Mapping

    from ttnn_mcp.session.session import Session
    from ttnn_mcp.wire import Wire


JsonSchema: TypeAlias = "dict[str, Any]"


class Arguments(BaseModel):
    """Base of every tool's arguments: closed, so that a misspelt name is an error."""

    model_config = ConfigDict(frozen=True, extra="forbid", defer_build=True)  # built when first asked


class OfRun(Arguments):
    """Arguments of a tool that looks at one run."""

    run: str | None = Field(None, description="Id, path or 'demo'; default: the newest")


class OfWindow(OfRun):
    """Arguments of a tool that looks at some rows of one run."""

    iteration: Literal["last", "all"] | int = Field("last", description="last (warm), all, or 1..n")
    start_signpost: str | None = None  # their names say it: only rows after, only rows before
    end_signpost: str | None = None


Asked = TypeVar("Asked", bound=Arguments)
Answered = TypeVar("Answered", bound="Wire")


@dataclass(frozen=True, slots=True)
class Tool(Generic[Asked, Answered]):
    """One question the server answers.

    `ask`'s docstring is the description the assistant reads. `writes` is true only where a call leaves
    something behind (in our own store; users' reports are never written).
    """

    name: str
    title: str
    arguments: type[Asked]
    answer: type[Answered]
    ask: Callable[[Session, Asked], Awaitable[Answered]]
    writes: bool = False
    always_loaded: bool = False  # an entry tool: hosts that defer tools should show it from the start
    search_hint: str = ""

    @property
    def description(self) -> str:
        """What the assistant reads before it calls."""
        return " ".join((inspect.getdoc(self.ask) or "").split())

    @property
    def input_schema(self) -> dict[str, Any]:
        """JSON Schema of the arguments, without what says nothing."""
        schema = slim(self.arguments.model_json_schema())
        schema.pop("description", None)  # the class's docstring is for us; the tool's description says it better
        return schema

    @property
    def output_schema(self) -> dict[str, Any]:
        """JSON Schema of the structured answer."""
        return slim(self.answer.model_json_schema(mode="serialization"))

    async def call(self, session: Session, given: Mapping[str, object]) -> dict[str, Any]:
        """Validate `given`, ask, and return the structured answer as plain JSON values.

        Raises:
            ArgumentsInvalid: with the nearest accepted name, or what a value should have been.
            TtnnMcpError: what the question itself could not answer.
        """
        try:
            asked = self.arguments.model_validate(dict(given))
        except ValidationError as invalid:
            raise ArgumentsInvalid(self._said_of(invalid)) from None
        return (await self.ask(session, asked)).spoken()

    def _said_of(self, invalid: ValidationError) -> str:
        accepted = list(self.arguments.model_fields)
        said: list[str] = []
        for error in invalid.errors(include_url=False, include_context=False):
            name = shown(error["loc"][0]) if error["loc"] else "arguments"
            if error["type"] == "extra_forbidden":
                hint = nearest(name, accepted, limit=1)
                said.append(f"unknown argument '{name}'.{hint if 'mean' in hint else ''}")
            elif error["type"] == "missing":
                said.append(f"'{name}' is required.")
            else:
                said.append(f"'{name}': {error['msg'][0].lower()}{error['msg'][1:]}.")
        return f"{self.name}: {' '.join(dict.fromkeys(said))} Accepted: {', '.join(accepted)}."


def slim(schema: JsonSchema) -> JsonSchema:
    """A JSON Schema without what says nothing: titles, null defaults, null where a field may be left out."""
    kept = {key: _slimmed(key, value) for key, value in schema.items() if not _silent(key, value)}
    required = kept.get("required", [])
    for name, part in kept.get("properties", {}).items():
        if name not in required:
            kept["properties"][name] = _without(part, {"type": "null"})
    if {"type": "number"} in kept.get("anyOf", []):  # a whole number is a number already
        kept = _without(kept, {"type": "integer"})
    return kept


def _silent(key: str, value: object) -> bool:
    return (key == "title" and isinstance(value, str)) or (key == "default" and value is None)


def _slimmed(key: str, value: Any) -> Any:
    if key in ("properties", "$defs"):
        return {name: slim(part) for name, part in value.items()}
    if isinstance(value, dict):
        return slim(cast("JsonSchema", value))
    if key in ("anyOf", "oneOf", "allOf", "prefixItems"):
        return [slim(part) for part in value]
    return value


def _without(schema: JsonSchema, option: JsonSchema) -> JsonSchema:
    """`schema` with one alternative taken out; a single alternative left becomes the schema itself."""
    options = [one for one in schema.get("anyOf", []) if one != option]
    if not options or len(options) == len(schema["anyOf"]):
        return schema
    rest = {key: value for key, value in schema.items() if key != "anyOf"}
    return {**options[0], **rest} if len(options) == 1 else {"anyOf": options, **rest}
