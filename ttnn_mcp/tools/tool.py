"""What a tool is: a name, closed arguments, a typed answer, and a plain function that leads to it.

A tool declares what it needs; `answering` prepares it. The record knows nothing of MCP: the server offers it over
the protocol, the shell calls it directly, and both validate by the same models. Schemas are as short as they can be:
every word of a contract is paid for by every assistant that connects.
"""

from __future__ import annotations

import inspect
from collections.abc import Awaitable, Callable
from functools import cache
from typing import TYPE_CHECKING, Annotated, Any, Generic, Literal, TypeAlias, TypeVar, cast

from pydantic import BaseModel, ConfigDict, Field

from ttnn_mcp.errors import QuestionRefused
from ttnn_mcp.quoting import figure
from ttnn_mcp.records import dataclass

if TYPE_CHECKING:
    from ttnn_mcp.analyses.devices.host_gaps import Timeline
    from ttnn_mcp.analyses.window_facts import WindowFacts
    from ttnn_mcp.run.run import Run
    from ttnn_mcp.session.session import Session
    from ttnn_mcp.wire import Wire


JsonSchema: TypeAlias = "dict[str, Any]"
Iteration: TypeAlias = Literal["last", "all"] | int
# a wall time that was measured with the profiler off
WallMs: TypeAlias = Annotated[
    Annotated[float, Field(gt=0, allow_inf_nan=False)] | None, Field(description="Of one iteration, profiler off")
]


class Arguments(BaseModel):
    """Base of every tool's arguments: closed, so that a misspelt name is an error."""

    model_config = ConfigDict(frozen=True, extra="forbid", defer_build=True)  # built when first asked


class OfRun(Arguments):
    """Arguments of a tool that looks at one run."""

    run: str | None = Field(None, description="Id, path or 'demo'; default: newest")


class OfWindow(OfRun):
    """Arguments of a tool that looks at some rows of one run."""

    iteration: Iteration = Field("last", description="last (warm) or 1..n")
    start_signpost: str | None = None  # their names say it: only rows after, only rows before
    end_signpost: str | None = None


About: TypeAlias = Literal["session", "run", "window", "replay", "pair"]
Report: TypeAlias = Literal["performance", "memory", "either"]
Asked = TypeVar("Asked", bound=Arguments)
Answered = TypeVar("Answered", bound="Wire")


@dataclass(frozen=True, slots=True)
class Budget:
    """How long an answer may be, and what is left out first.

    Attributes:
        size: bytes of compact JSON.
        cut: fields (tables, lists or mappings, most telling entries first) whose last entries go until the answer
            fits, the longest field first. A field `more_<name>` counts what went; `next_cursor` moves to it.
        keep: entries that stay in each of them, however long the answer is.
    """

    size: int
    cut: tuple[str, ...] = ()
    keep: int = 1


@dataclass(frozen=True, slots=True)
class Tool(Generic[Asked, Answered]):
    """One question the server answers.

    Attributes:
        name: what a client calls.
        title: a few words for people.
        arguments: what may be asked; its fields' descriptions are read by the assistant.
        answer: what comes back.
        ask: the question: a function of the subject and the arguments, called in a worker thread. Its docstring is
            the description the assistant reads.
        about: what the door prepares for `ask`. "run": a Run. "window": the WindowFacts of the rows asked for.
            "replay": the Replayed memory report. "pair": the two runs of a comparison. "session": nothing, the tool
            looks after itself and is awaited.
        opens: how the subject is opened, where it is not the run that `asked.run` names.
        awaited: whether `ask` has threads of its own. It is then awaited on the event loop, so that a caller who
            stops waiting ends it.
        needs: reports without which it refuses.
        alone: the answer on a memory report alone, of a tool that otherwise needs device times.
        replay: whether the memory report, where there is one, is replayed before `ask`.
        warm: a field of the answer that needs a warm window.
        budget: how long the answer may be.
        narrow: arguments that make a long answer shorter; named when an answer is refused for its length.
        writes: true only where a call leaves something behind (in our own store; reports are never written).
        always_loaded: an entry tool: hosts that defer tools should show it from the start.
        search_hint: words by which hosts that defer tools find it.
        view: the URI of the page that a host with MCP Apps shows beside its answer.
        prose: the field of its answer that is a page to read. The server sends the page alone, as plain text: hosts
            would show it as a JSON string, with its lines escaped.
    """

    name: str
    title: str
    arguments: type[Asked]
    answer: type[Answered]
    ask: Callable[[Any, Asked], Answered | Awaitable[Answered]]
    about: About = "session"
    opens: Callable[[Session, Asked], Awaitable[Any]] | None = None
    awaited: bool = False
    needs: tuple[Report, ...] = ()
    alone: Callable[[Run, Asked], Answered | Awaitable[Answered]] | None = None
    replay: bool = False
    warm: str | None = None
    budget: Budget | None = None
    narrow: tuple[str, ...] = ()
    writes: bool = False
    always_loaded: bool = False
    search_hint: str = ""
    view: str = ""
    prose: str = ""

    @property
    def description(self) -> str:
        """What the assistant reads before it calls."""
        return " ".join((inspect.getdoc(self.ask) or "").split())

    @property
    def input_schema(self) -> dict[str, Any]:
        """JSON Schema of the arguments, without what says nothing."""
        return schema_of_arguments(self.arguments)

    @property
    def output_schema(self) -> dict[str, Any]:
        """JSON Schema of the structured answer."""
        return schema_of_answer(self.answer)


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


def refuse_other_rows(facts: WindowFacts, line: Timeline, wall_ms: float | None) -> None:
    """A pass takes no less than its kernels; what they wait for other chips a profile tells only of its own pass.

    Raises:
        QuestionRefused: the wall time is shorter; says what to do.
    """
    if wall_ms is None:
        return
    kernels_ns = max(line.busy_ns, facts.working_ns)
    if wall_ms * 1e6 >= kernels_ns:
        return
    below = f"wall_ms {figure(wall_ms, 'g')} is below the {figure(kernels_ns / 1e6, '.3f')} ms of kernels in this "
    if wall_ms * 1e6 >= facts.working_ns:
        raise QuestionRefused(
            f"{below}window, of which exchanges wait for chips that the host feeds late: profile a traced pass, or "
            "leave wall_ms out."
        )
    raise QuestionRefused(
        f"{below}window: it belongs to other rows. Give the time of one iteration, or choose the window it was "
        "measured on."
    )
